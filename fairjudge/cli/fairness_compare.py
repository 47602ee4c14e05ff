"""``fairjudge fairness overall`` and ``agreement``: coverage reports compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt


def overall(
    reports: Annotated[
        list[Path], typer.Argument(help="JSON of 'fairness coverage', one file a data set.")
    ],
    *,
    measure: Annotated[
        Literal["r_ec", "r_ec_strict", "equal_coverage", "coverage_parity"],
        typer.Option(
            help="What is normalised and averaged; r_ec_strict is R_EC as published (Table 3)."
        ),
    ] = "r_ec",
    json_file: opt.Json = None,
) -> None:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Only systems with a score on every data set are compared.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity
    """
    from fairjudge.api import fairness_comparing

    display.found(fairness_comparing.overall(reports, measure=measure), json_file)


def agreement(
    first: Annotated[Path, typer.Argument(help="JSON of 'fairness coverage' or 'proportional'.")],
    second: Annotated[
        Path | None,
        typer.Argument(
            help="The same summaries by another scorer, or by the other command; without it the "
            "measures of the first are compared among themselves."
        ),
    ] = None,
    *,
    correlation: Annotated[
        Literal["spearman", "pearson", "kendall"], typer.Option(help="What is estimated.")
    ] = "spearman",
    seed: opt.Seed = 0,
    json_file: opt.Json = None,
) -> None:
    """Compare two scorers, or two measures, by their correlation over summaries and systems.

    Two reports of one command: each measure by both scorers. One of coverage and one of
    proportional: every two measures, by summary.

        fairjudge fairness agreement by_embedding.json by_entailment.json

        fairjudge fairness agreement coverage.json shares.json
    """
    from fairjudge.api import fairness_comparing

    display.found(
        fairness_comparing.agreement(first, second, correlation=correlation, seed=seed), json_file
    )
