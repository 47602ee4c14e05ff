"""``fairjudge references``: validate references with human labels and human answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.options.building import MinSources
from fairjudge.options.declaring import Opt

app = Application(help="Validate references with human labels and human answers.")


@app.command()
def apply(
    references: Annotated[Path, Opt("The labelled references (JSON or JSONL).", argument=True)],
    labels: Annotated[Path, Opt("Labels written by 'annotate --task answers'.", argument=True)],
    *,
    output: opt.Output,
    min_sources: MinSources = 0.3,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Drop answers labelled invalid, and check again which questions to keep.

    A question is kept if enough sources still answer it, with at least two groups of answers.

    fairjudge references apply references.jsonl labels.jsonl -o validated.jsonl
    """
    from fairjudge.datasets import read_labels, read_references, write_records
    from fairjudge.references.steps import Validity
    from fairjudge.references.validating import apply_validity
    from fairjudge.reports.kinds import make_tables, with_findings
    from fairjudge.reports.reference_tables import validated_json

    result = apply_validity(
        display.read(read_references, references, skip_bad=skip_bad).records,
        display.read(read_labels, labels, skip_bad=skip_bad).records,
        validity=Validity(min_source_share=min_sources),
    )
    write_records(output, result.references)
    report = with_findings("references apply", validated_json(result))
    display.show_report(report, json_file, make_tables("references apply", report))


@app.command()
def recall(
    references: Annotated[Path, Opt("References to evaluate (JSON or JSONL).", argument=True)],
    people: Annotated[
        Path, Opt("References with human answers to the same questions.", argument=True)
    ],
    *,
    overlap: Annotated[
        float,
        Opt(
            "Minimum word-overlap F1 at which two answers of an article count as equal.",
            ge=0.0,
            le=1.0,
        ),
    ] = 0.5,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Measure recall and precision of answers against human answers, per article.

    fairjudge references recall references.jsonl people.jsonl
    """
    from fairjudge.datasets import read_references
    from fairjudge.records.results import to_json
    from fairjudge.references.validating import compare_answers
    from fairjudge.reports.kinds import make_tables

    result = compare_answers(
        display.read(read_references, references, skip_bad=skip_bad).records,
        display.read(read_references, people, skip_bad=skip_bad).records,
        min_overlap=overlap,
    )
    report = to_json(result)
    display.show_report(report, json_file, make_tables("references recall", report))
