"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from fairjudge.cli import fairness_changes, fairness_checks, fairness_compare
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.app.fairness import FairnessInput

app = typer.Typer(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
    no_args_is_help=True,
)


_Clusters: TypeAlias = Annotated[
    Path, typer.Argument(help="Clusters whose articles carry attributes.")
]
_Summaries: TypeAlias = Annotated[Path, typer.Option(help="Summaries: eid, system, text.")]
_Attribute: TypeAlias = Annotated[
    str, typer.Option(help="Name of the articles' attribute, such as sentiment or party.")
]
_Bins: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Ascending cut points that group a numeric attribute, such as 18,30,65."),
]
_Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]


@app.command("coverage")
def coverage(
    clusters: _Clusters,
    *,
    summaries: _Summaries,
    attribute: _Attribute,
    scorer: Annotated[
        str,
        typer.Option(
            help="What says how far a document supports a sentence: embedding[:MODEL] (cosine "
            "similarity), entailment[:MODEL], matrix:FILE (given numbers), or judgements:FILE "
            "(a judge's verdicts by article)."
        ),
    ] = "embedding",
    variant: Annotated[
        Literal["paper", "released"],
        typer.Option(help="As the paper defines the measures, or as its authors' code does."),
    ] = "paper",
    max_words: Annotated[
        int, typer.Option(min=0, help="Words of a document chunk; 0 for single sentences.")
    ] = 100,
    permutations: Annotated[
        int, typer.Option(min=1, help="Random relabellings where not all can be gone through.")
    ] = 5000,
    units: Annotated[
        Path | None,
        typer.Option(
            help="Units of the summaries by 'fairjudge split', one fact each; without them the "
            "summaries' sentences are the units."
        ),
    ] = None,
    bins: _Bins = None,
    seed: _Seed = 0,
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
    error_rate: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Assumed scorer error, for a worst-case band."),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
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
    from fairjudge.cli import display, fairness_tables, progress
    from fairjudge.fairness.coverage_json import coverage_json
    from fairjudge.fairness.coverage_report import CoverageOptions

    with progress.display(quiet=quiet) as shown:
        outcome = coverage_fairness(
            _source(clusters, summaries, attribute=attribute, bins=bins, skip_bad=skip_bad),
            scorer=parse_scorer(scorer, COVERAGE_SCORERS),
            options=CoverageOptions(
                variant=variant, n_permutations=permutations, seed=seed, error_rate=error_rate
            ),
            max_words=max_words,
            human=human,
            save_supports=save_supports,
            units=units,
            progress=lambda total: progress.counter(shown, "scoring clusters", total=total),
        )
    if json_file != "-":
        fairness_tables.show(fairness_tables.coverage_tables(outcome.report), outcome.bad_lines)
    display.write_json(json_file, coverage_json(outcome.report))
    systems = outcome.report.systems.values()
    display.finish(
        sum(entry.reason == "unscored" for system in systems for entry in system.excluded),
        sum(len(system.samples) + len(system.excluded) for system in systems),
        most=max_unscored,
        what="summaries",
    )


@app.command("proportional")
def proportional(
    clusters: _Clusters,
    *,
    summaries: _Summaries,
    attribute: _Attribute,
    scorer: Annotated[
        str,
        typer.Option(
            help="How summaries are attributed to values: unigrams, bert_score[:MODEL], "
            "bart_score[:MODEL], or matrix:FILE (given scores by value)."
        ),
    ] = "unigrams",
    target: Annotated[
        str,
        typer.Option(help="Wanted shares: 'ratio' (as in the source), 'equal', or a JSON file."),
    ] = "ratio",
    tau: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Part of its share that a value must reach (BUR)."),
    ] = 0.8,
    bins: _Bins = None,
    seed: _Seed = 0,
    human: Annotated[
        Path | None,
        typer.Option(
            help="How people share out a random part of the summaries among the values: eid, "
            "system, shares; corrects the means by prediction-powered inference."
        ),
    ] = None,
    error_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Assumed part of a summary given to wrong values, for a worst-case band.",
        ),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether every value gets its share of the summaries: BUR, UER, AUC and SOF.

    BUR is the share of summaries that under-represent some value, UER the mean shortfall, AUC the
    BUR averaged over all tolerances, SOF how unevenly the shortfall falls on values. All in
    percent; 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.app.fairness import (
        PROPORTIONAL_SCORERS,
        parse_scorer,
        proportional_fairness,
        read_target,
    )
    from fairjudge.cli import display, fairness_tables, progress
    from fairjudge.fairness.proportional_json import proportional_json
    from fairjudge.fairness.proportional_report import ProportionalOptions

    with progress.display(quiet=quiet) as shown:
        outcome = proportional_fairness(
            _source(clusters, summaries, attribute=attribute, bins=bins, skip_bad=skip_bad),
            scorer=parse_scorer(scorer, PROPORTIONAL_SCORERS),
            options=ProportionalOptions(
                target=read_target(target), tau=tau, seed=seed, error_rate=error_rate
            ),
            human=human,
            progress=lambda total: progress.counter(shown, "scoring sets", total=total),
        )
    if json_file != "-":
        fairness_tables.show(fairness_tables.proportional_tables(outcome.report), outcome.bad_lines)
    display.write_json(json_file, proportional_json(outcome.report))
    systems = outcome.report.systems.values()
    display.finish(
        sum(entry.reason == "unscored" for system in systems for entry in system.excluded),
        sum(len(system.samples) + len(system.excluded) for system in systems),
        most=max_unscored,
        what="summaries",
    )


def _source(
    clusters: Path, summaries: Path, *, attribute: str, bins: str | None, skip_bad: bool
) -> FairnessInput:
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


app.command("compare")(fairness_changes.compare)
app.command("overall")(fairness_compare.overall)
app.command("agreement")(fairness_compare.agreement)
app.command("chunk-size")(fairness_checks.chunk_size)
app.command("oracle")(fairness_checks.oracle)
