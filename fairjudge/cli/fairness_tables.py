"""Fairness reports as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fairjudge.cli.terminal import say
from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.reports.tables import TextTable, columns, number, print_table

if TYPE_CHECKING:
    from fairjudge.calibration.ppi import PpiMean
    from fairjudge.datasets import BadLine
    from fairjudge.fairness._reporting import Excluded
    from fairjudge.fairness.coverage_report import CoverageReport, SystemCoverage
    from fairjudge.fairness.judge_error import Band
    from fairjudge.fairness.proportional_report import ProportionalReport, SystemProportional

_WORDS: Mapping[str, str] = {
    "no_values": "no document has a value",
    "one_value": "one value only",
    "no_text": "no text in any document that has a value",
    "empty_summary": "empty summary",
    "no_support": "no document supports the summary",
    "target_absent": "the target leaves no value of the set",
    "unscored": "not scored",
}


def show(tables: Sequence[TextTable], bad_lines: Sequence[BadLine]) -> None:
    """Print `tables`, and what was skipped."""
    for table in tables:
        print_table(table)
    for bad in bad_lines:
        say(f"skipped line {bad.line}: {bad.problem}", err=True)


def coverage_tables(report: CoverageReport) -> tuple[TextTable, TextTable]:
    """Return one row a system and measure, and one row a system and value."""
    rows, by_value = [], []
    for system, result in report.systems.items():
        parity = result.parity
        rows += _measure_rows(
            system,
            {
                "Equal Coverage": result.equal.mean,
                "R_EC": result.equal.unfair_share,
                "Coverage Parity": parity.value if isinstance(parity, CoverageParity) else parity,
            },
            digits=4,
        )
        rows += _coverage_error_rows(system, result)
        if isinstance(parity, CoverageParity):
            by_value += _value_rows(system, parity)
    n_untestable = sum(result.equal.n_untestable for result in report.systems.values())
    untestable = (
        f"R_EC counts {n_untestable} summaries as fair whose sets are too small to tell: even the "
        "most extreme assignment of values has p of 0.05 or more."
    )
    return (
        TextTable(
            title=f"Coverage by {report.attribute}; 0 is fair",
            columns=_MEASURE_COLUMNS,
            rows=tuple(rows),
            notes=(
                *((untestable,) if n_untestable else ()),
                *_notes(report.notes, (e for r in report.systems.values() for e in r.excluded)),
            ),
        ),
        TextTable(
            title="Difference to the mean coverage, where a value is the most or least covered",
            columns=columns(*_VALUE_HEADS, "", numbers=_VALUE_HEADS[2:]),
            rows=tuple(by_value),
            notes=(f"Signature: {report.signature}",),
        ),
    )


def _value_rows(system: str, parity: CoverageParity) -> list[tuple[str, ...]]:
    marks = {parity.over: "over", parity.under: "under"}
    return [
        (
            system,
            value,
            str(entry.n),
            *_figure(entry.mean, digits=4),
            number(entry.p_holm, digits=4),
            marks.get(value, ""),
        )
        for value, entry in parity.by_value.items()
    ]


def proportional_tables(report: ProportionalReport) -> tuple[TextTable, TextTable]:
    """Return one row a system and measure, and one row a system and value; in percent."""
    rows: list[tuple[str, ...]] = []
    by_value: list[tuple[str, ...]] = []
    n_one_value = 0
    for system, result in report.systems.items():
        measures = result.measures
        n_one_value += result.n_one_value
        if isinstance(measures, Undefined):
            rows.append((system, f"none: {measures.why}", "0", "-", "-"))
            continue
        rows += _measure_rows(
            system,
            {
                f"BUR, tau {measures.tau:g}": measures.bur,
                "UER": measures.uer,
                "AUC": measures.auc,
                "SOF": measures.sof,
            },
            digits=2,
            scale=100.0,
        )
        rows += _share_error_rows(system, result)
        by_value += [
            (
                system,
                value,
                str(entry.n),
                *_figure(entry.difference, digits=2, scale=100.0),
                number(entry.p_holm, digits=4),
            )
            for value, entry in measures.by_value.items()
        ]
    one_value = (
        f"{n_one_value} summaries of sets in which one value holds all documents are counted as "
        "fair, as the published figures do; --json has the figures without them."
    )
    return (
        TextTable(
            title=f"Proportional representation by {report.attribute}, in percent; 0 is fair",
            columns=_MEASURE_COLUMNS,
            rows=tuple(rows),
            notes=(
                *((one_value,) if n_one_value else ()),
                *_notes(report.notes, (e for r in report.systems.values() for e in r.excluded)),
            ),
        ),
        TextTable(
            title="Share of the summary less the wanted share, in points",
            columns=columns(*_VALUE_HEADS, numbers=_VALUE_HEADS[2:]),
            rows=tuple(by_value),
            notes=(f"Signature: {report.signature}",),
        ),
    )


def _coverage_error_rows(system: str, result: SystemCoverage) -> list[tuple[str, ...]]:
    """Return the means corrected by people, and the band of an assumed scorer error."""
    rows = []
    if result.corrected is not None:
        corrected = {
            "Equal Coverage": result.corrected.equal_coverage,
            "R_EC": result.corrected.unfair_share,
        }
        rows += _corrected_rows(system, corrected, digits=4)
    if result.sensitivity is not None:
        band = {"Equal Coverage": result.sensitivity.equal_coverage}
        rows += _band_rows(system, band, result.sensitivity.error_rate, digits=4)
    return rows


def _share_error_rows(system: str, result: SystemProportional) -> list[tuple[str, ...]]:
    """Likewise for Proportional Representation, in percent."""
    rows = []
    people, assumed = result.corrected, result.sensitivity
    if people is not None:
        corrected = {"BUR": people.bur, "UER": people.uer, "AUC": people.auc}
        rows += _corrected_rows(system, corrected, digits=2, scale=100.0)
    if assumed is not None and not isinstance(assumed, Undefined):
        bands = {"BUR": assumed.bur, "UER": assumed.uer, "AUC": assumed.auc, "SOF": assumed.sof}
        rows += _band_rows(system, bands, assumed.error_rate, digits=2, scale=100.0)
    return rows


def _corrected_rows(
    system: str, means: Mapping[str, PpiMean | Undefined], *, digits: int, scale: float = 1.0
) -> list[tuple[str, ...]]:
    return [
        (
            system,
            f"{name}, corrected by people",
            "0" if isinstance(mean, Undefined) else str(mean.n_labelled),
            *_figure(
                mean if isinstance(mean, Undefined) else mean.ppi_plus, digits=digits, scale=scale
            ),
        )
        for name, mean in means.items()
    ]


def _band_rows(
    system: str, bands: Mapping[str, Band], rate: float, *, digits: int, scale: float = 1.0
) -> list[tuple[str, ...]]:
    return [
        (
            system,
            f"{name}, bounds for an error of {rate:g}",
            "",
            "",
            f"{band.low * scale:.{digits}f} to {band.high * scale:.{digits}f}",
        )
        for name, band in bands.items()
    ]


_MEASURE_COLUMNS = columns(
    "system", "measure", "n", "value", "95 % interval", numbers=("n", "value", "95 % interval")
)
_VALUE_HEADS = ("system", "value", "n", "difference", "95 % interval", "p (Holm)")


def _measure_rows(
    system: str,
    measures: Mapping[str, Estimate | Undefined],
    *,
    digits: int,
    scale: float = 1.0,
) -> list[tuple[str, ...]]:
    return [
        (
            system,
            name,
            str(figure.n) if isinstance(figure, Estimate) else "0",
            *_figure(figure, digits=digits, scale=scale),
        )
        for name, figure in measures.items()
    ]


def _notes(notes: Sequence[str], excluded: Iterable[Excluded]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for entry in excluded:
        by_reason.setdefault(entry.reason, []).append(entry.eid)
    listed = [
        f"Left out, {_WORDS[reason]}: {len(eids)} ({', '.join(eids[:5])}"
        f"{', ...' if len(eids) > 5 else ''})"
        for reason, eids in sorted(by_reason.items())
    ]
    return (*(f"{note[:1].upper()}{note[1:]}." for note in notes), *listed)


def _figure(figure: Estimate | Undefined, *, digits: int, scale: float = 1.0) -> tuple[str, str]:
    """Return value and interval, dashes where there are none."""
    if isinstance(figure, Undefined):
        return "-", "-"
    value = number(figure.value * scale, digits=digits)
    if figure.low is None or figure.high is None:
        return value, "-"
    return value, f"{figure.low * scale:.{digits}f} to {figure.high * scale:.{digits}f}"
