"""``fairjudge fairness compare``: what each variant of a summarizer did to fairness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.cli import options as opt
from fairjudge.reports.tables import TextTable, columns, number, print_table

if TYPE_CHECKING:
    from fairjudge.app.fairness_changes import ChangeReport
    from fairjudge.fairness.comparison import Change

_TITLES: Mapping[str, str] = {
    "equal_coverage": "EC",
    "r_ec": "R_EC",
    "coverage_parity": "CP",
    "bur": "BUR %",
    "uer": "UER %",
    "auc": "AUC %",
    "sof": "SOF %",
}
HEADS = ("n", "baseline", "here", "change", "95 % interval", "p (Holm)")


def compare(
    reports: Annotated[
        list[Path],
        typer.Argument(
            help="JSON of 'fairness coverage', of 'fairness proportional', or one of each."
        ),
    ],
    *,
    baseline: Annotated[
        str, typer.Option(help="The system that all others are compared with, by name.")
    ],
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    json_file: opt.Json = None,
) -> None:
    r"""Tell what each variant did to every fairness measure, beside a baseline.

    Systems are compared on the samples that both have, by bootstrap over these samples. A
    difference below 0 is fairer. P-values are corrected over all variants and measures shown.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """
    from fairjudge.app.fairness_changes import changes_of_files
    from fairjudge.cli import display

    found = changes_of_files(reports, baseline=baseline, seed=seed, n_resamples=resamples)
    if json_file != "-":
        for table in _tables(found):
            print_table(table)
    display.write_json(json_file, _json(found, seed=seed, resamples=resamples))


def _scale(change: Change) -> float:
    """Return what turns the measure to the unit of its own report."""
    return 100.0 if _TITLES[change.measure].endswith("%") else 1.0


def _tables(found: ChangeReport) -> list[TextTable]:
    """Return one table a system; what holds for all stands under the last."""
    comparison = found.comparison
    by_system: dict[str, list[Change]] = {}
    for change in comparison.changes:
        by_system.setdefault(change.variant_name, []).append(change)
    tables = [
        TextTable(
            title=f"{system} beside {comparison.baseline}; below 0 is fairer",
            columns=columns("measure", *HEADS, numbers=HEADS),
            rows=tuple(map(change_row, changes)),
        )
        for system, changes in by_system.items()
    ]
    return [*tables[:-1], replace(tables[-1], notes=tuple(_notes(found)))]


def _notes(found: ChangeReport) -> list[str]:
    comparison = found.comparison
    unpaired = sorted({c.variant_name for c in comparison.changes if c.n_unpaired})
    return [
        "EC: Equal Coverage; R_EC: share of summaries in which it is significant; CP: Coverage "
        "Parity.",
        f"p (Holm) is over the family of all {comparison.family} differences shown; --json has "
        "Benjamini-Hochberg's too.",
        *([f"Samples that only one has were left out: {', '.join(unpaired)}."] if unpaired else []),
        *(
            f"Left out of {measure}, {system}: "
            + ", ".join(f"{n} {reason}" for reason, n in reasons.items())
            for measure, by_system in found.excluded.items()
            for system, reasons in by_system.items()
            if reasons
        ),
        *(f"{note[:1].upper()}{note[1:]}." for note in found.notes),
        *(f"Signature of {name}: {text}" for name, text in found.signatures.items()),
    ]


def change_row(change: Change) -> tuple[str, ...]:
    """Return one measure as cells: its name, then those of `HEADS`."""
    from fairjudge.domain import Undefined

    first = (_TITLES[change.measure], str(change.n))
    difference, scale = change.difference, _scale(change)
    digits = 2 if scale > 1.0 else 4
    if isinstance(difference, Undefined) or change.baseline is None or change.variant is None:
        return (*first, *["-"] * (len(HEADS) - 1))
    low, high = difference.low, difference.high
    return (
        *first,
        number(change.baseline * scale, digits=digits),
        number(change.variant * scale, digits=digits),
        f"{difference.value * scale:+.{digits}f}",
        "-"
        if low is None or high is None
        else f"{low * scale:+.{digits}f} to {high * scale:+.{digits}f}",
        number(change.p_holm, digits=4),
    )


def _json(found: ChangeReport, *, seed: int, resamples: int) -> dict[str, Any]:
    from fairjudge.signature import signature

    systems: dict[str, dict[str, Any]] = {}
    for change in found.comparison.changes:
        systems.setdefault(change.variant_name, {})[change.measure] = change_json(change)
    return {
        "baseline": found.comparison.baseline,
        "family": {"tests": found.comparison.family, "over": "all systems and measures here"},
        "systems": systems,
        "excluded": found.excluded,
        "notes": list(found.notes),
        "signatures": dict(found.signatures),
        "signature": signature(
            {
                "measure": "change",
                "baseline": found.comparison.baseline,
                "resamples": resamples,
                "seed": seed,
            }
        ),
    }


def change_json(change: Change) -> dict[str, Any]:
    """Return one measure as JSON, in the unit of its own report."""
    from fairjudge.fairness._reporting import figure

    scale = _scale(change)
    return {
        "n": change.n,
        "n_unpaired": change.n_unpaired,
        "baseline": None if change.baseline is None else change.baseline * scale,
        "value": None if change.variant is None else change.variant * scale,
        "difference": figure(change.difference, scale=scale)
        | {"p_holm": change.p_holm, "q_value": change.q_value},
        "relative": change.relative,
    }
