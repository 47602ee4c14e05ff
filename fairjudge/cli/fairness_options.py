"""Options that the commands of ``fairjudge fairness`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.analysis.fairness import FairnessInput
    from fairjudge.fairness.coverage_report import CoverageOptions
    from fairjudge.fairness.proportional_report import ProportionalOptions

Bins: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Increasing cut points that group a numeric attribute, such as 18,30,65."),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]


def fairness_source(
    clusters: Annotated[Path, typer.Argument(help="Clusters whose articles carry attributes.")],
    *,
    summaries: Annotated[Path, typer.Option(help="Summaries: eid, system, text.")],
    attribute: Annotated[
        str, typer.Option(help="Name of the articles' attribute, such as sentiment or party.")
    ],
    bins: Bins = None,
    skip_bad: opt.SkipBad = False,
) -> FairnessInput:
    """Return what the measures read."""
    from fairjudge.analysis.fairness import FairnessInput

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
    seed: Seed = 0,
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
    terms: Annotated[
        Literal["own", "nltk"],
        typer.Option(
            help="What unigrams are: stems without SMART's stop words, or all as in the code of "
            "FairSumm's authors, for their figures to the last digit (extra 'nltk', and its data)."
        ),
    ] = "own",
    seed: Seed = 0,
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
    from fairjudge.analysis.fairness import read_target, read_terms
    from fairjudge.fairness.proportional_report import ProportionalOptions

    return ProportionalOptions(
        target=read_target(target),
        tau=tau,
        normaliser=read_terms(terms),
        released=terms == "nltk",
        seed=seed,
        error_rate=error_rate,
    )
