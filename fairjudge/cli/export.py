"""``fairjudge data export``: write records in the formats of other tools."""

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
        Path, Opt("Judgements, references or summaries (.jsonl), to match --to.", argument=True)
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
        Opt("Output format; see below."),
    ],
    aspect: Annotated[str | None, Opt("Only export judgements of this aspect.")] = None,
    system: Annotated[str | None, Opt("Only export judgements of this system.")] = None,
    judge: Annotated[str | None, Opt("Only export judgements by this judge.")] = None,
    summaries: Annotated[
        Path | None,
        Opt("With --to label-studio or nuggetizer-assignments: the judged summaries."),
    ] = None,
    references: Annotated[
        Path | None, Opt("With --to nuggetizer-assignments: the references of the checklists.")
    ] = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    r"""Write judgements, references or summaries in the format of another tool.

    Judgements: csv and parquet have one row per judgement (parquet needs the extra [parquet]);
    inspect-scores is the JSONL of Inspect's precomputed_scores; otel has OpenTelemetry's
    gen_ai.evaluation.result events as OTLP JSON lines; label-studio has tasks with predictions,
    which 'data import' can read again after annotation; trec-eval is a leaderboard;
    nuggetizer-assignments are coverage checklists. See docs/formats.md.

    References: nuggetbank, nuggetizer or argkp. Summaries: trec-run. See docs/interchange.md.

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
        raise typer.BadParameter(f"--to {to} uses no summaries", param_hint="--summaries")
    if to not in TARGETS:
        if aspect or system or judge:
            raise typer.BadParameter("--aspect, --system and --judge only apply to judgements")
        record_reader: Any = read_references if to in REFERENCE_TARGETS else read_summaries
        exported = export_records(
            display.read(record_reader, records, skip_bad=skip_bad).records, output, to=to
        )
        say(f"{pluralize(exported.n_rows, 'row')} written to {output}", err=True)
        return
    loaded = display.read(read_judgements, records, skip_bad=skip_bad)
    judgements = tuple(select(loaded, aspect=aspect, system=system, judge=judge))
    if not judgements:
        raise InputError("contains no judgement of this aspect, system and judge", path=records)
    exported = export_judgements(
        judgements,
        output,
        to=to,
        summaries=display.read_optional(read_summaries, summaries, skip_bad=skip_bad),
        references=display.read_optional(read_references, references, skip_bad=skip_bad),
        observed_unix_nano=time.time_ns(),
    )
    text = f"{pluralize(len(judgements), 'judgement')} of {len(loaded)}: "
    text += f"{pluralize(exported.n_rows, 'row')} written to {output}"
    if exported.n_left_out:
        kind = "without a checklist" if to == "nuggetizer-assignments" else "without a score"
        text += f"; {exported.n_left_out} {kind} excluded"
    say(text, err=True)
