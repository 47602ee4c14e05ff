"""``fairjudge fairness overall`` and ``agreement``: coverage reports compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.fairness.agreement import ScorerAgreement


def overall(
    reports: Annotated[
        list[Path], typer.Argument(help="JSON of 'fairness coverage', one file a data set.")
    ],
    *,
    measure: Annotated[
        Literal["r_ec", "equal_coverage", "coverage_parity"],
        typer.Option(help="What is normalised and averaged."),
    ] = "r_ec",
    json_file: opt.Json = None,
) -> None:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Only systems with a score on every data set are compared.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity
    """
    from fairjudge.analysis.fairness_compare import overall_of_files
    from fairjudge.api.findings import Findings
    from fairjudge.domain import Undefined
    from fairjudge.records.results import figure

    found = overall_of_files(reports, measure=measure)
    figures = {
        "measure": measure,
        "systems": {
            system: figure(score)
            if isinstance(score, Undefined)
            else {"value": score.value, "normalised": dict(score.normalised)}
            for system, score in found.items()
        },
    }
    display.found(Findings("fairness overall", figures), json_file)


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
    from fairjudge.analysis.fairness_compare import agreement_of_files
    from fairjudge.api.findings import Findings

    agreements = agreement_of_files(first, second, seed=seed)
    named = {
        "equal_coverage": agreements.equal_coverage,
        "coverage_parity": agreements.coverage_parity,
    }
    figures = {name: _json(result) for name, result in named.items()}
    display.found(Findings("fairness agreement", figures), json_file)


def _json(result: ScorerAgreement) -> dict[str, Any]:
    from fairjudge.records.results import figure

    return {"n": result.n, "n_unmatched": result.n_unmatched} | figure(result.rho, keep=())
