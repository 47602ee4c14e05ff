"""``fairjudge calibrate`` and ``calibrate apply``: measure and calibrate judges."""

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
    calibration_call=opt.call_of(calibrating.calibrate, repeatable={"judgements": ""}),
    reporting=reporting_with_page,
)
def calibrate(
    *,
    calibration_call: opt.Call[Calibration],
    list_unmatched: Annotated[bool, Opt("List all unmatched items in the JSON.")] = False,
    save: Annotated[
        Path | None, Opt("Write the fitted calibrators to this file (JSON).", panel="Output")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Compare judges with human labels: agreement, errors, calibration, number of labels needed.

    fairjudge calibrate judgements.jsonl --labels labels.jsonl --annotators 'expert*'

    With judgements by several protocols, reports which agrees best, its cost, and whether the
    difference is significant.

    fairjudge calibrate likert.jsonl binary.jsonl pairwise.jsonl --labels labels.jsonl
    """
    from fairjudge.analysis.judged_inputs import read_judged
    from fairjudge.reports.kinds import make_tables
    from fairjudge.scores.missing import count_missing

    values = calibration_call.values
    if values["support"] and (values["summaries"] is None or values["clusters"] is None):
        raise typer.BadParameter("--support requires --summaries and --clusters")
    labels, paths = values["labels"].name, values["judgements"]
    judged_inputs = read_judged(paths, skip_bad=reporting.skip_bad)
    display.say_skipped(judged_inputs.bad)
    rows = judged_inputs.rows
    calibration = calibration_call(skip_bad=reporting.skip_bad, judgements=judged_inputs)
    names = ", ".join(path.name for path in paths)
    report = calibration.to_dict(list_unmatched=list_unmatched, judgements=names, labels=labels)
    display.show_report(report, reporting.json_file, make_tables("calibrate", report))
    reporting.write_page(lambda: _page(report, rows))
    if save is not None:
        if calibration.not_calibrated:
            say("No calibrator for " + "; for ".join(calibration.not_calibrated), err=True)
        calibration.save(save)
    display.finish_judging(count_missing(rows), limit=max_unscored, noun=("judgement",))


@app.command("apply")
def apply(
    calibrator: Annotated[Path, Opt("File written by 'calibrate --save' (JSON).", argument=True)],
    judgements: Annotated[
        list[Path],
        Opt(
            "Judgements to calibrate (.jsonl); members of a jury may be in several files.",
            argument=True,
        ),
    ],
    *,
    output: opt.Output,
    summaries: Annotated[Path | None, Opt("Summaries, if the jury has covariates.")] = None,
    clusters: Annotated[Path | None, Opt("Clusters, if the jury has covariates.")] = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Replace a judge's scores by calibrated scores; the field 'uncalibrated' has the originals.

    fairjudge calibrate apply calibrator.json judgements.jsonl -o calibrated.jsonl

    With a fitted jury, every item that a member judged gets the jury's score.

    fairjudge calibrate apply jury.json gpt.jsonl claude.jsonl -o calibrated.jsonl
    """
    from fairjudge.analysis.calibrating import apply_to, read_calibrators
    from fairjudge.datasets import read_clusters, read_judgements, read_summaries, write_records

    read = partial(display.read_optional, skip_bad=skip_bad)
    result = apply_to(
        read_calibrators(calibrator),
        [row for path in judgements for row in read(read_judgements, path)],
        summaries=read(read_summaries, summaries),
        clusters=read(read_clusters, clusters),
    )
    write_records(output, result.judgements)
    sentences = [
        f"{pluralize(result.n_calibrated, 'judgement')} calibrated",
        f"{result.n_outside} of them outside the range of scores with labels",
        f"{result.n_other} of another judge, aspect or protocol unchanged",
        f"{result.n_unscored} unscored",
    ]
    if result.n_by_juries:
        sentences.insert(0, f"{pluralize(result.n_by_juries, 'judgement')} by juries")
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
