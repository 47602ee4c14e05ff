"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from fairjudge.cli import fairness_changes, fairness_checks, fairness_compare
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.app.fairness import FairnessInput
    from fairjudge.fairness.coverage_report import CoverageOptions
    from fairjudge.fairness.proportional_report import ProportionalOptions

app = typer.Typer(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
    no_args_is_help=True,
)


_Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]


def fairness_source(
    clusters: Annotated[Path, typer.Argument(help="Clusters whose articles carry attributes.")],
    *,
    summaries: Annotated[Path, typer.Option(help="Summaries: eid, system, text.")],
    attribute: Annotated[
        str, typer.Option(help="Name of the articles' attribute, such as sentiment or party.")
    ],
    bins: Annotated[
        str | None,
        typer.Option(help="Ascending cut points that group a numeric attribute, such as 18,30,65."),
    ] = None,
    skip_bad: opt.SkipBad = False,
) -> FairnessInput:
    """Return what the measures read."""
    from fairjudge.app.fairness import FairnessInput

    return FairnessInput(
        clusters=clusters,
        summaries=summaries,
        attribute=attribute,
        bins=read_bins(bins),
        skip_bad=skip_bad,
    )


def read_bins(text: str | None) -> tuple[float, ...]:
    """Return the cut points of ``--bins``.

    Raises
    ------
    typer.BadParameter
        One is not a number.
    """
    try:
        return tuple(float(cut) for cut in text.split(",")) if text else ()
    except ValueError:
        raise typer.BadParameter(f"expected numbers, not {text!r}", param_hint="--bins") from None


def coverage_options(
    *,
    variant: Annotated[
        Literal["paper", "released"],
        typer.Option(help="As the paper defines the measures, or as its authors' code does."),
    ] = "paper",
    permutations: Annotated[
        int, typer.Option(min=1, help="Random relabellings where not all can be gone through.")
    ] = 5000,
    seed: _Seed = 0,
    error_rate: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Assumed scorer error, for a worst-case band."),
    ] = None,
) -> CoverageOptions:
    """Return how coverage is measured."""
    from fairjudge.fairness.coverage_report import CoverageOptions

    return CoverageOptions(
        variant=variant, n_permutations=permutations, seed=seed, error_rate=error_rate
    )


@app.command("coverage")
@opt.taking(source=fairness_source, options=coverage_options)
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
    from fairjudge.app.fairness import COVERAGE_SCORERS, coverage_fairness, parse_scorer
    from fairjudge.cli import fairness_tables, progress
    from fairjudge.fairness.coverage_json import coverage_json

    with progress.display(quiet=quiet) as shown:
        outcome = coverage_fairness(
            source,
            scorer=parse_scorer(scorer, COVERAGE_SCORERS),
            options=options,
            max_words=max_words,
            human=human,
            save_supports=save_supports,
            units=units,
            progress=lambda total: progress.counter(shown, "scoring clusters", total=total),
        )
    if json_file != "-":
        fairness_tables.show(fairness_tables.coverage_tables(outcome.report), outcome.bad_lines)
    _finish(coverage_json(outcome.report), json_file, max_unscored)


def proportional_options(
    *,
    target: Annotated[
        str,
        typer.Option(help="Wanted shares: 'ratio' (as in the source), 'equal', or a JSON file."),
    ] = "ratio",
    tau: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Part of its share that a value must reach (BUR)."),
    ] = 0.8,
    seed: _Seed = 0,
    error_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Assumed part of a summary given to wrong values, for a worst-case band.",
        ),
    ] = None,
) -> ProportionalOptions:
    """Return how shares are measured."""
    from fairjudge.app.fairness import read_target
    from fairjudge.fairness.proportional_report import ProportionalOptions

    return ProportionalOptions(
        target=read_target(target), tau=tau, seed=seed, error_rate=error_rate
    )


@app.command("proportional")
@opt.taking(source=fairness_source, options=proportional_options)
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
    from fairjudge.app.fairness import PROPORTIONAL_SCORERS, parse_scorer, proportional_fairness
    from fairjudge.cli import fairness_tables, progress
    from fairjudge.fairness.proportional_json import proportional_json

    with progress.display(quiet=quiet) as shown:
        outcome = proportional_fairness(
            source,
            scorer=parse_scorer(scorer, PROPORTIONAL_SCORERS),
            options=options,
            human=human,
            progress=lambda total: progress.counter(shown, "scoring sets", total=total),
        )
    if json_file != "-":
        fairness_tables.show(fairness_tables.proportional_tables(outcome.report), outcome.bad_lines)
    _finish(proportional_json(outcome.report), json_file, max_unscored)


def _finish(report: Mapping[str, Any], json_file: str | None, most: float) -> None:
    """Write `report`, and say by the exit code whether too much of it is unscored."""
    from fairjudge.cli import display

    display.write_json(json_file, report)
    excluded = report["excluded"]
    display.finish(
        sum(entry["reason"] == "unscored" for entry in excluded),
        len(report["samples"]) + len(excluded),
        most=most,
        what="summaries",
    )


app.command("compare")(fairness_changes.compare)
app.command("overall")(fairness_compare.overall)
app.command("agreement")(fairness_compare.agreement)
app.command("chunk-size")(fairness_checks.chunk_size)
app.command("oracle")(fairness_checks.oracle)
