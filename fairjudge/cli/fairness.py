"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.cli import display, fairness_changes, fairness_checks, fairness_compare
from fairjudge.cli import fairness_options as fair_opt
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.terminal import say

if TYPE_CHECKING:
    from fairjudge.analysis.fairness import FairnessInput
    from fairjudge.datasets import BadLine
    from fairjudge.fairness.coverage_report import CoverageOptions
    from fairjudge.fairness.proportional_report import ProportionalOptions

app = Application(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
    no_args_is_help=True,
)


@app.command("coverage")
@opt.taking(source=fair_opt.fairness_source, options=fair_opt.coverage_options)
def coverage(
    source: FairnessInput,
    *,
    scorer: Annotated[
        str,
        typer.Option(
            help="What says how far a document supports a sentence: embedding[:MODEL] (cosine "
            "similarity), entailment[:MODEL], matrix:FILE (given numbers), or judgements:FILE "
            "(a judge's verdicts by article)."
        ),
    ] = "embedding",
    max_words: Annotated[
        int, typer.Option(min=0, help="Words of a document chunk; 0 for single sentences.")
    ] = 100,
    options: CoverageOptions,
    units: Annotated[
        Path | None,
        typer.Option(
            help="Units of the summaries by 'fairjudge split', one fact each; without them the "
            "summaries' sentences are the units."
        ),
    ] = None,
    save_supports: Annotated[
        Path | None, typer.Option(help="Keep the scores, to be read by --scorer matrix:FILE.")
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            help="Supports by people for a random part of the summaries, in the format of "
            "--save-supports; corrects the means by prediction-powered inference."
        ),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether summaries cover documents of every value alike: Equal Coverage, Coverage Parity.

    Equal Coverage (EC) is the mean difference between a value's coverage and that of all
    documents; R_EC the share of summaries where it is significant; Coverage Parity (CP) says
    whether the same value keeps being over- or under-represented. 0 is fair for all three.

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.analysis.fairness import COVERAGE_SCORERS, coverage_fairness, parse_scorer
    from fairjudge.api.findings import Findings
    from fairjudge.fairness.coverage_json import coverage_json

    with display.bars(quiet=quiet) as shown:
        outcome = coverage_fairness(
            source,
            scorer=parse_scorer(scorer, COVERAGE_SCORERS),
            options=options,
            max_words=max_words,
            human=human,
            save_supports=save_supports,
            units=units,
            progress=shown.counter("scoring clusters"),
        )
    found = Findings("fairness coverage", coverage_json(outcome.report))
    display.found(found, json_file)
    _finish(found, outcome.bad_lines, max_unscored)


@app.command("proportional")
@opt.taking(source=fair_opt.fairness_source, options=fair_opt.proportional_options)
def proportional(
    source: FairnessInput,
    *,
    scorer: Annotated[
        str,
        typer.Option(
            help="How summaries are attributed to values: unigrams, bert_score[:MODEL], "
            "bart_score[:MODEL], or matrix:FILE (given scores by value)."
        ),
    ] = "unigrams",
    options: ProportionalOptions,
    human: Annotated[
        Path | None,
        typer.Option(
            help="How people share out a random part of the summaries among the values: eid, "
            "system, shares; corrects the means by prediction-powered inference."
        ),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether every value gets its share of the summaries: BUR, UER, AUC and SOF.

    BUR is the share of summaries that under-represent some value, UER the mean shortfall, AUC the
    BUR averaged over all tolerances, SOF how unevenly the shortfall falls on values. All in
    percent; 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.analysis.fairness import (
        PROPORTIONAL_SCORERS,
        parse_scorer,
        proportional_fairness,
    )
    from fairjudge.api.findings import Findings
    from fairjudge.fairness.proportional_json import proportional_json

    with display.bars(quiet=quiet) as shown:
        outcome = proportional_fairness(
            source,
            scorer=parse_scorer(scorer, PROPORTIONAL_SCORERS),
            options=options,
            human=human,
            progress=shown.counter("scoring sets"),
        )
    found = Findings("fairness proportional", proportional_json(outcome.report))
    display.found(found, json_file)
    _finish(found, outcome.bad_lines, max_unscored)


def _finish(report: Mapping[str, Any], bad_lines: Sequence[BadLine], limit: float) -> None:
    """Name skipped lines, and say by the exit code whether too much is unscored."""
    for bad in bad_lines:
        say(f"skipped line {bad.line}: {bad.problem}", err=True)
    excluded = report["excluded"]
    display.finish(
        sum(entry["reason"] == "unscored" for entry in excluded),
        len(report["samples"]) + len(excluded),
        limit=limit,
        what=("summary", "summaries"),
    )


app.command("compare")(fairness_changes.compare)
app.command("overall")(fairness_compare.overall)
app.command("agreement")(fairness_compare.agreement)
app.command("chunk-size")(fairness_checks.chunk_size)
app.command("oracle")(fairness_checks.oracle)
