"""``fairjudge data export``: judgements and references in the formats of other tools."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize


def export(
    records: Annotated[
        Path, Opt("Judgements; or references or summaries, for their formats.", argument=True)
    ],
    *,
    output: opt.Output,
    to: Annotated[
        Literal[
            "csv",
            "parquet",
            "inspect-scores",
            "otel",
            "label-studio",
            "trec-eval",
            "nuggetizer-assignments",
            "nuggetbank",
            "nuggetizer",
            "argkp",
            "trec-run",
        ],
        Opt("The format."),
    ],
    aspect: Annotated[str | None, Opt("Only judgements of this aspect.")] = None,
    system: Annotated[str | None, Opt("Only judgements of this system.")] = None,
    judge: Annotated[str | None, Opt("Only judgements by this judge.")] = None,
    summaries: Annotated[
        Path | None,
        Opt("For label-studio and nuggetizer-assignments: the summaries that were judged."),
    ] = None,
    references: Annotated[
        Path | None, Opt("For nuggetizer-assignments: the references of the checklists.")
    ] = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    r"""Write judgements, references or summaries for another tool.

    csv and parquet have one row a judgement (parquet needs the extra [parquet]). inspect-scores is
    the JSONL of Inspect's precomputed_scores, otel holds OpenTelemetry's gen_ai.evaluation.result
    events as OTLP JSON lines, label-studio tasks with predictions, which 'data import' reads back
    once people have annotated them, trec-eval a leaderboard, nuggetizer-assignments checklists of
    coverage. See docs/formats.md.

    References are written as nuggetbank, nuggetizer or argkp, summaries as trec-run. See
    docs/interchange.md.

        fairjudge data export judgements.jsonl -o judgements.csv --to csv

        fairjudge data export references.jsonl -o bank.jsonl --to nuggetbank
    """
    from fairjudge.datasets import read_judgements, read_references, read_summaries
    from fairjudge.errors import InputError
    from fairjudge.exporting.targets import (
        REFERENCE_TARGETS,
        TARGETS,
        export_judgements,
        export_records,
        select,
    )

    if summaries is not None and to not in {"label-studio", "nuggetizer-assignments"}:
        raise typer.BadParameter("--to " + to + " shows no texts", param_hint="--summaries")
    if to not in TARGETS:
        if aspect or system or judge:
            raise typer.BadParameter("--aspect, --system and --judge choose among judgements")
        record_reader: Any = read_references if to in REFERENCE_TARGETS else read_summaries
        exported = export_records(
            display.read(record_reader, records, skip_bad=skip_bad).records, output, to=to
        )
        say(f"{pluralize(exported.n_rows, 'row')} written to {output}", err=True)
        return
    loaded = display.read(read_judgements, records, skip_bad=skip_bad)
    chosen = tuple(select(loaded, aspect=aspect, system=system, judge=judge))
    if not chosen:
        raise InputError("holds no judgement of that aspect, system and judge", path=records)
    exported = export_judgements(
        chosen,
        output,
        to=to,
        summaries=display.read_any(read_summaries, summaries, skip_bad=skip_bad),
        references=display.read_any(read_references, references, skip_bad=skip_bad),
        observed_unix_nano=time.time_ns(),
    )
    text = f"{pluralize(len(chosen), 'judgement')} of {len(loaded)}: "
    text += f"{pluralize(exported.n_rows, 'row')} written to {output}"
    if exported.n_left_out:
        kind = "that are no checklist" if to == "nuggetizer-assignments" else "without a score"
        text += f"; {exported.n_left_out} {kind} excluded"
    say(text, err=True)
