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
    first: Annotated[Path, typer.Argument(help="JSON of 'fairness coverage' by one scorer.")],
    second: Annotated[Path, typer.Argument(help="The same summaries by another scorer.")],
    *,
    seed: opt.Seed = 0,
    json_file: opt.Json = None,
) -> None:
    """Compare two scorers by Spearman correlation: Equal Coverage by summary, Parity by system.

    fairjudge fairness agreement by_embedding.json by_entailment.json
    """
    from fairjudge.api import fairness_comparing

    display.found(fairness_comparing.agreement(first, second, seed=seed), json_file)
