"""``fairjudge fairness overall`` and ``agreement``: coverage reports compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.cli import options as opt
from fairjudge.domain import Estimate, Undefined
from fairjudge.reports.tables import TextTable, columns, number, print_table

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
    from fairjudge.app.fairness_compare import overall_of_files
    from fairjudge.cli import display

    found = overall_of_files(reports, measure=measure)
    if json_file != "-":
        rows = [
            (system, "-", score.why)
            if isinstance(score, Undefined)
            else (
                system,
                number(score.value, digits=3),
                ", ".join(f"{name} {value:.3f}" for name, value in score.normalised.items()),
            )
            for system, score in found.items()
        ]
        print_table(
            TextTable(
                title=f"Overall {measure}; 0 is the fairest on every data set",
                columns=columns("system", "overall", "by data set", numbers=("overall",)),
                rows=tuple(rows),
            )
        )
    display.write_json(
        json_file,
        {
            "measure": measure,
            "systems": {
                system: {"value": None, "undefined": score.why}
                if isinstance(score, Undefined)
                else {"value": score.value, "normalised": dict(score.normalised)}
                for system, score in found.items()
            },
        },
    )


def agreement(
    first: Annotated[Path, typer.Argument(help="JSON of 'fairness coverage' by one scorer.")],
    second: Annotated[Path, typer.Argument(help="The same summaries by another scorer.")],
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    json_file: opt.Json = None,
) -> None:
    """Compare two scorers by Spearman correlation: Equal Coverage by summary, Parity by system.

    fairjudge fairness agreement by_embedding.json by_entailment.json
    """
    from fairjudge.app.fairness_compare import agreement_of_files
    from fairjudge.cli import display

    found = agreement_of_files(first, second, seed=seed)
    named = {"equal_coverage": found.equal_coverage, "coverage_parity": found.coverage_parity}
    if json_file != "-":
        print_table(
            TextTable(
                title="Spearman correlation of two scorers",
                columns=columns(
                    "measure", "n", "rho", "95 % interval", "p",
                    numbers=("n", "rho", "95 % interval", "p"),
                ),
                rows=tuple(_row(name, result) for name, result in named.items()),
            )
        )  # fmt: skip
    display.write_json(json_file, {name: _json(result) for name, result in named.items()})


def _row(name: str, result: ScorerAgreement) -> tuple[str, ...]:
    rho = result.rho
    if isinstance(rho, Undefined):
        return name, str(result.n), "-", rho.why, "-"
    return (
        name,
        str(result.n),
        number(rho.value, digits=3),
        f"{number(rho.low, digits=3)} to {number(rho.high, digits=3)}",
        number(rho.p_value, digits=4),
    )


def _json(result: ScorerAgreement) -> dict[str, Any]:
    rho = result.rho
    shown: dict[str, Any] = {"n": result.n, "n_unmatched": result.n_unmatched}
    if isinstance(rho, Estimate):
        return shown | {
            "value": rho.value, "low": rho.low, "high": rho.high, "p_value": rho.p_value
        }  # fmt: skip
    return shown | {"value": None, "undefined": rho.why}
