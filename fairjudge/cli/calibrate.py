"""``fairjudge calibrate`` and ``fairjudge apply``: how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.domain import Judgement


def calibrate(
    judgements: Annotated[
        list[Path],
        typer.Argument(
            help="Judgements, .jsonl or .json, of one protocol or of several; also run folders and "
            "what 'judge --json' wrote, which say what was spent."
        ),
    ],
    *,
    labels: Annotated[Path, typer.Option(help="Human labels: .jsonl, .json or .csv.")],
    annotators: Annotated[
        list[str] | None,
        typer.Option(help="Only use labels by annotators with such names, e.g. 'expert*'."),
    ] = None,
    label_scale: opt.LabelScale = None,
    method: Annotated[
        Literal["isotonic", "logistic", "linear", "ordinal"],
        typer.Option(help="Curve from the judge's score to the human score."),
    ] = "isotonic",
    summaries: Annotated[
        Path | None, typer.Option(help="Summaries, for baselines and groups by length.")
    ] = None,
    clusters: Annotated[
        Path | None, typer.Option(help="Clusters, for lead overlap and groups by outlet.")
    ] = None,
    support: Annotated[
        bool,
        typer.Option(
            "--support",
            help="Given --summaries and --clusters: support by the embedded default (extra "
            "[local], no LLM) as one more baseline; takes minutes for a hundred documents.",
        ),
    ] = False,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATTERN",
            help="Compare errors between families of systems too: a name and a shell pattern of "
            "system names, such as 'openai=gpt-*'. Repeatable; the first that fits counts.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the fitted calibrators here, as JSON.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Cost margin of the alternative annotator test: 0.2 for experts, 0.15 for skilled "
            "annotators, 0.1 for a crowd.",
        ),
    ] = 0.2,
    resamples: opt.Resamples = 2000,
    seed: opt.Seed = 0,
    list_unmatched: Annotated[
        bool, typer.Option("--list-unmatched", help="Name all unmatched items in the JSON.")
    ] = False,
    disagreements: Annotated[
        int,
        typer.Option(
            min=0,
            help="Items on which judge and people differ most, with both reasons, in the JSON.",
        ),
    ] = 20,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables as Markdown here.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write one self-contained page with plots here.")
    ] = None,
) -> None:
    """Measure judges against people: agreement, errors, calibration, and how many labels you need.

    fairjudge calibrate judgements.jsonl --labels labels.jsonl --annotators 'expert*'

    Several protocols are put side by side: which agrees best, what it costs, whether it leads.

    fairjudge calibrate likert.jsonl binary.jsonl pairwise.jsonl --labels labels.jsonl
    """
    from fairjudge.analysis.judged_inputs import read_judged
    from fairjudge.api import calibrating
    from fairjudge.datasets import read_clusters, read_labels, read_summaries
    from fairjudge.records.folder import write_output
    from fairjudge.reports.kinds import tables_of
    from fairjudge.reports.tables import to_markdown
    from fairjudge.scores.missing import missing_of

    if support and (summaries is None or clusters is None):
        raise typer.BadParameter("--support needs --summaries and --clusters")
    judged = read_judged(judgements, skip_bad=skip_bad)
    display.say_skipped(judged.bad)
    rows = judged.rows
    calibration = calibrating.calibrate(
        judged,
        display.read(read_labels, labels, skip_bad=skip_bad),
        method=method,
        annotators=tuple(annotators or ("*",)),
        label_scale=opt.label_scale(label_scale),
        summaries=display.read(read_summaries, summaries, skip_bad=skip_bad) if summaries else None,
        clusters=display.read(read_clusters, clusters, skip_bad=skip_bad) if clusters else None,
        support=support,
        families=[_family(text) for text in family or ()],
        margin=margin,
        n_disagreements=disagreements,
        n_resamples=resamples,
        seed=seed,
    )
    report = calibration.to_dict(
        list_unmatched=list_unmatched,
        judgements=", ".join(path.name for path in judgements),
        labels=labels.name,
    )
    tables = tables_of("calibrate", report)
    display.report(report, json_file, tables)
    if markdown is not None:
        write_output(markdown, "\n".join(map(to_markdown, tables)))
    if html is not None:
        write_output(html, _page(report, rows))
    if save is not None:
        if calibration.not_calibrated:
            say("No calibrator for " + "; for ".join(calibration.not_calibrated), err=True)
        calibration.save(save)
    display.finish_judging(missing_of(rows), limit=max_unscored, what=("judgement",))


def apply(
    calibrator: Annotated[Path, typer.Argument(help="What 'calibrate --save' wrote.")],
    judgements: Annotated[Path, typer.Argument(help="Judgements to calibrate.")],
    *,
    output: opt.Output,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Replace a judge's scores by calibrated ones; the originals are kept as 'uncalibrated'.

    fairjudge apply calibrator.json judgements.jsonl -o calibrated.jsonl
    """
    from fairjudge.analysis.calibrating import read_calibrators
    from fairjudge.calibration.applying import apply_calibrators
    from fairjudge.datasets import read_judgements, write_records

    applied = apply_calibrators(
        read_calibrators(calibrator),
        list(display.read(read_judgements, judgements, skip_bad=skip_bad)),
    )
    write_records(output, applied.judgements)
    sentences = [
        f"{pluralize(applied.n_calibrated, 'judgement')} calibrated",
        f"{applied.n_outside} of them outside the scores that people labelled",
        f"{applied.n_other} of another judge, aspect or protocol left as they were",
        f"{applied.n_unscored} unscored",
    ]
    say("; ".join(sentences), err=True)


def _family(text: str) -> tuple[str, str]:
    name, found, pattern = text.partition("=")
    if not (name and found and pattern):
        raise typer.BadParameter(f"expected NAME=PATTERN, got {text!r}", param_hint="--family")
    return name, pattern


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
