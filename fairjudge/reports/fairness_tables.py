"""Tables of ``fairness coverage`` and ``fairness proportional``, made of their JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasures
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.reports.figures import Json, bounds, first_items, interval, sentence, why
from fairjudge.reports.row_tables import rows_of, rows_within, table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.stats.measures import Measure
from fairjudge.text.counting import pluralize

Family: TypeAlias = FairnessMeasures[Any, Any, Any]

EXCLUDED = {
    "no_values": "no document has a value",
    "one_value": "all their documents share one value",
    "no_text": "no text in any document that has a value",
    "empty_summary": "empty summary",
    "no_support": "no document supports the summary",
    "target_absent": "the target leaves no value of the set",
    "unscored": "not scored",
}
_COUNTED = {
    "one_value": "In {summaries} all documents of the set have one value: fair by definition, and "
    "counted, as in the published figures.",
    "untestable": "R_EC counts {summaries} as fair whose sets are too small to tell: even the most "
    "extreme assignment of values has p of 0.05 or more.",
}
"""Notes on samples that are fair by definition."""


_OF_DOMINANCE = {"unfair_share": "R_EC", "mean_difference": "mean difference"}


def settings_note(report: Json) -> str:
    """Return the signature, by which a figure can be reproduced."""
    return f"Settings (for reproducibility): {report['signature']}"


def coverage_tables(report: Json) -> tuple[TextTable, ...]:
    """Return one row a system and measure, two tables by system and value, the sets' differences.

    The first of those by value has the figures that the findings test, over all summaries of a
    value. The last, on values that dominate sets, is there where some values do.
    """
    values = [
        {**row, "side": {figures["over"]: "over", figures["under"]: "under"}.get(row["of"], "")}
        for system, figures in report["systems"].items()
        for row in rows_of(figures["by_value"], "of", system=system)
    ]
    tested = "Coverage of each value minus the mean coverage, over all its summaries"
    return (
        _measures(
            report,
            f"Coverage by {report['attribute']}",
            COVERAGE,
            "R_EC: share of summaries whose Equal Coverage is significant. As published, p is the "
            "share of relabellings that are more unequal, without the equal ones.",
        ),
        _differences(report, tested, "coverage_by_value", digits=4),
        table(
            "Difference to the mean coverage, where a value is the most or least covered",
            "system: {system} | value: {of} | summaries> {n} | difference> {mean:number.4}"
            " | 95 % interval> {row:bounds.4} | p (Holm)> {row:holm} | side: {side}",
            values,
            notes=[settings_note(report)],
        ),
        *_dominance_tables(report),
    )


def _dominance_tables(report: Json) -> Iterator[TextTable]:
    """Yield how far measures differ between the sets that different values dominate."""
    rows = [
        {
            "system": system,
            "measure": name if (value := difference["of_value"]) is None else f"{name} of {value}",
            "sets": [
                f"{value} ({dominance['n_by_value'][value]})"
                for value in difference["dominated_by"]
            ],
            "difference": difference,
        }
        for system, of in report["systems"].items()
        if (dominance := of.get("dominance"))
        for key, name in _OF_DOMINANCE.items()
        if (difference := dominance[key]).get("value") is not None
    ]
    if rows:
        yield table(
            "Largest difference between the sets that different values dominate",
            "system: {system} | measure: {measure} | more in sets of: {sets[0]}"
            " | than of: {sets[1]} | difference> {difference:value.4}"
            " | 95 % interval> {difference:bounds.4} | p> {difference:p}",
            rows,
            notes=[
                "In brackets: the samples in which most documents have the value. p: of no "
                "difference between any two, by permutation of the samples over the sets."
            ],
        )


def _differences(report: Json, title: str, values: str, digits: int) -> TextTable:
    """Return the difference of each system and value of the field `values`, with its test."""
    return table(
        title,
        "system: {system} | value: {of} | summaries> {n} | difference> "
        f"{{difference:value.{digits}}} | 95 % interval> {{difference:bounds.{digits}}}"
        " | p (Holm)> {difference:holm}",
        rows_within(report["systems"], "system", values, "of"),
    )


def proportional_tables(report: Json) -> tuple[TextTable, TextTable, TextTable]:
    """Return one row a system and measure, then two tables by system and value in percent."""
    title = f"Proportional representation by {report['attribute']}"
    minus = "Share of the summary minus the wanted share, in percentage points"
    novel = [
        f"{system} {interval(figures['novel_terms'], digits=1)}"
        for system, figures in report["systems"].items()
        if "novel_terms" in figures
    ]
    remarks = [
        f"Terms of summaries that no document has, in percent: {first_items(novel, 5)}."
    ] * bool(novel)
    return (
        _measures(report, title, PROPORTIONAL, *remarks),
        _differences(report, minus, "by_value", digits=2),
        table(
            "Summaries that under-represent a value, in percent, and the mean shortfall",
            "system: {system} | value: {of} | summaries %> {under:interval.1}"
            " | shortfall (points)> {shortfall:interval}",
            rows_within(report["systems"], "system", "by_value", "of"),
            notes=[settings_note(report)],
        ),
    )


def _measures(report: Json, title: str, measures: Family, *remarks: str) -> TextTable:
    systems = report["systems"]
    units = {measure.unit for measure in measures.shown}
    in_percent = ", in percent" if units == {"percent"} else ""
    return table(
        f"{title}{in_percent}; 0 is fair",
        "system: {system} | measure: {measure} | summaries> {n} | value> {value}"
        " | 95 % interval> {bounds}",
        [
            {**row, "system": system}
            for system, figures in systems.items()
            for row in _figures_of(figures, measures, with_units=len(units) > 1)
        ],
        notes=(
            *(
                f"{system}: {reason}."
                for system, figures in systems.items()
                if (reason := _why_none(figures, measures))
            ),
            *(
                text.format(summaries=pluralize(n, "summary", "summaries"))
                for name, text in _COUNTED.items()
                if (n := sum(figures.get(name) or 0 for figures in systems.values()))
            ),
            *_directions(measures, systems.values()),
            *remarks,
            *map(sentence, report["notes"]),
            *_left_out(report),
        ),
    )


def _why_none(system: Json, measures: Family) -> str:
    """Return why the first measure that the system has is without a value."""
    return why(
        next((system[measure.key] for measure in measures.shown if measure.key in system), None)
    )


def _directions(measures: Family, systems: Collection[Json]) -> Iterator[str]:
    """Name the measures of which higher values are fairer: the title says that 0 is."""
    for measure in measures.shown:
        if measure.direction == "higher" and any(measure.key in system for system in systems):
            yield f"{measure.label}: higher is fairer."


def _figures_of(system: Json, measures: Family, *, with_units: bool) -> Iterator[Json]:
    """Yield the measures, those corrected by people, and the bands of an assumed scorer error.

    Labels have units where the measures have several. A measure that the JSON lacks is left out: an
    earlier version did not have it.
    """
    labels = {
        measure.key: measure.label_with_unit if with_units else measure.label
        for measure in measures.shown
    }
    for measure in measures.shown:
        if (figure := system.get(measure.key)) is not None:
            parameter = system.get(measure.parameter)
            at = "" if parameter is None else f", {measure.parameter} {parameter:g}"
            yield _row(f"{labels[measure.key]}{at}", figure.get("n", 0), figure, measure)
    corrected, assumed = system.get("corrected") or {}, system.get("sensitivity") or {}
    for measure in measures.shown:
        if (figure := corrected.get(measure.key)) is not None:
            label = f"{labels[measure.key]}, corrected by people"
            yield _row(label, figure.get("n_labelled", 0), figure, measure)
    for measure in measures.shown:
        if (figure := assumed.get(measure.key)) is not None:
            label = f"{labels[measure.key]}, bounds for an error of {assumed['error_rate']:g}"
            yield {**_row(label, 0, figure, measure), "n": "", "value": ""}


def _row(label: str, n: int, figure: Json, measure: Measure) -> Json:
    return {
        "measure": label,
        "n": n,
        "value": number(figure.get("value"), digits=measure.digits),
        "bounds": bounds(figure, digits=measure.digits),
    }


def _left_out(report: Json) -> Iterator[str]:
    by_reason: dict[str, dict[str, list[str]]] = {}
    for exclusion in report["excluded"]:
        by_system = by_reason.setdefault(exclusion["reason"], {})
        by_system.setdefault(exclusion["system"], []).append(exclusion["eid"])
    for reason, of in sorted(by_reason.items()):
        texts = (f"{len(eids)} by {name} ({first_items(eids, 5)})" for name, eids in of.items())
        counts = "; ".join(texts)
        yield f"Excluded, {EXCLUDED.get(reason, reason)}: {counts}"


def sweep_table(systems: Mapping[str, Json]) -> TextTable:
    """Return BUR at each tau; a column a system."""
    points = [system["sweep"] for system in systems.values()]
    return TextTable(
        title="BUR in percent, by tau",
        columns=columns("tau", *systems, numbers=("tau", *systems)),
        rows=tuple(
            (number(at_tau[0]["tau"]), *(interval(point, digits=1) for point in at_tau))
            for at_tau in zip(*points, strict=True)
        ),
    )
