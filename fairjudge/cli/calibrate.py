"""``fairjudge calibrate`` and ``calibrate apply``: how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.api import calibrating
from fairjudge.api.calibrating import Calibration
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.align import align
from fairjudge.cli.application import Application
from fairjudge.cli.cascade import cascade
from fairjudge.cli.reporting import Reporting, reporting_with_page
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.domain import Judgement


app = Application(name="calibrate")


@app.command("calibrate", no_args_is_help=True)
@opt.with_options(
    calibration_of=opt.call_of(calibrating.calibrate, several={"judgements": ""}),
    reporting=reporting_with_page,
)
def calibrate(
    *,
    calibration_of: opt.Call[Calibration],
    list_unmatched: Annotated[bool, Opt("Name all unmatched items in the JSON.")] = False,
    save: Annotated[
        Path | None, Opt("Write the fitted calibrators here, as JSON.", panel="Output")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure judges against people: agreement, errors, calibration, and how many labels you need.

    fairjudge calibrate judgements.jsonl --labels labels.jsonl --annotators 'expert*'

    Several protocols are compared: which agrees best, its cost, and whether its lead is
    significant.

    fairjudge calibrate likert.jsonl binary.jsonl pairwise.jsonl --labels labels.jsonl
    """
    from fairjudge.analysis.judged_inputs import read_judged
    from fairjudge.reports.kinds import tables_of
    from fairjudge.scores.missing import count_missing

    values = calibration_of.values
    if values["support"] and (values["summaries"] is None or values["clusters"] is None):
        raise typer.BadParameter("--support needs --summaries and --clusters")
    labels, paths = values["labels"].name, values["judgements"]
    judged = read_judged(paths, skip_bad=reporting.skip_bad)
    display.say_skipped(judged.bad)
    rows = judged.rows
    calibration = calibration_of(skip_bad=reporting.skip_bad, judgements=judged)
    names = ", ".join(path.name for path in paths)
    report = calibration.to_dict(list_unmatched=list_unmatched, judgements=names, labels=labels)
    display.report(report, reporting.json_file, tables_of("calibrate", report))
    reporting.page(lambda: _page(report, rows))
    if save is not None:
        if calibration.not_calibrated:
            say("No calibrator for " + "; for ".join(calibration.not_calibrated), err=True)
        calibration.save(save)
    display.finish_judging(count_missing(rows), limit=max_unscored, noun=("judgement",))


@app.command("apply")
def apply(
    calibrator: Annotated[Path, Opt("What 'calibrate --save' wrote.", argument=True)],
    judgements: Annotated[
        list[Path],
        Opt("Judgements to calibrate; a jury's members may be in several files.", argument=True),
    ],
    *,
    output: opt.Output,
    summaries: Annotated[Path | None, Opt("Summaries, for a jury's covariates.")] = None,
    clusters: Annotated[Path | None, Opt("Clusters, for a jury's covariates.")] = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Replace a judge's scores by calibrated ones; the originals are kept as 'uncalibrated'.

    fairjudge calibrate apply calibrator.json judgements.jsonl -o calibrated.jsonl

    A fitted jury gives every item that one of its members judged the jury's score.

    fairjudge calibrate apply jury.json gpt.jsonl claude.jsonl -o calibrated.jsonl
    """
    from fairjudge.analysis.calibrating import apply_to, read_calibrators
    from fairjudge.datasets import read_clusters, read_judgements, read_summaries, write_records

    read = partial(display.read_any, skip_bad=skip_bad)
    applied = apply_to(
        read_calibrators(calibrator),
        [row for path in judgements for row in read(read_judgements, path)],
        summaries=read(read_summaries, summaries),
        clusters=read(read_clusters, clusters),
    )
    write_records(output, applied.judgements)
    sentences = [
        f"{pluralize(applied.n_calibrated, 'judgement')} calibrated",
        f"{applied.n_outside} of them outside the scores that people labelled",
        f"{applied.n_other} of another judge, aspect or protocol left as they were",
        f"{applied.n_unscored} unscored",
    ]
    if applied.n_by_juries:
        sentences.insert(0, f"{pluralize(applied.n_by_juries, 'judgement')} by juries")
    say("; ".join(sentences), err=True)


app.command("align")(align)
app.command("cascade")(cascade)


def _page(report: Mapping[str, Any], rows: Sequence[Judgement]) -> str:
    from fairjudge.auditing.reports import position_report
    from fairjudge.protocols import PROTOCOLS
    from fairjudge.reports.calibration_page import calibration_page

    position = (
        position_report(rows, labels=None, close_within=0.5)["groups"]
        if any(PROTOCOLS[row.protocol].paired for row in rows)
        else ()
    )
    return calibration_page(report, position=position)
