"""Tables of ``fairness coverage`` and ``fairness proportional``, from their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasures
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.reports.directions import direction_notes, title_with_direction
from fairjudge.reports.figures import (
    Json,
    bounds,
    first_items,
    interval,
    sentence,
    undefined_reason,
)
from fairjudge.reports.row_tables import keyed_rows, nested_rows, table
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
    "included, as in the published results.",
    "untestable": "R_EC counts {summaries} as fair whose sets are too small to test: even the most "
    "extreme assignment of values has p of 0.05 or more.",
}
"""Notes on samples that are fair by definition."""


_OF_DOMINANCE = {"unfair_share": "R_EC", "mean_difference": "mean difference"}


def settings_note(report: Json) -> str:
    """Return a note with the report's signature, for reproducibility."""
    return f"Settings (for reproducibility): {report['signature']}"


def coverage_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the tables of measures, of values (two), and of sets dominated by a value.

    The findings test the first table by value, over all summaries of a value. The table of
    dominated sets is missing if no value dominates any.
    """
    rows = [
        {**row, "side": {figures["over"]: "over", figures["under"]: "under"}.get(row["of"], "")}
        for system, figures in report["systems"].items()
        for row in keyed_rows(figures["by_value"], "of", system=system)
    ]
    title = "Coverage of each value minus the mean coverage, over all its summaries"
    return (
        _measures(
            report,
            f"Coverage by {report['attribute']}",
            COVERAGE,
            "R_EC: share of summaries whose Equal Coverage is significant. As published, p is the "
            "share of permutations with strictly greater inequality.",
        ),
        _differences(report, title, "coverage_by_value", digits=4),
        table(
            "Difference to the mean coverage, if a value is the most or least covered",
            "system: {system} | value: {of} | summaries> {n} | difference> {mean:number.4}"
            " | 95 % interval> {row:bounds.4} | p (Holm)> {row:holm} | side: {side}",
            rows,
            notes=[settings_note(report)],
        ),
        *_dominance_tables(report),
    )


def _dominance_tables(report: Json) -> Iterator[TextTable]:
    """Yield the largest differences of measures between sets dominated by different values."""
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
        for system, figures in report["systems"].items()
        if (dominance := figures.get("dominance"))
        for key, name in _OF_DOMINANCE.items()
        if (difference := dominance[key]).get("value") is not None
    ]
    if rows:
        yield table(
            "Largest difference between sets dominated by different values",
            "system: {system} | measure: {measure} | more in sets of: {sets[0]}"
            " | than of: {sets[1]} | difference> {difference:value.4}"
            " | 95 % interval> {difference:bounds.4} | p> {difference:p}",
            rows,
            notes=[
                "In brackets: number of samples in which most documents have the value. p: of no "
                "difference between any two, by permutation of the samples over the sets."
            ],
        )


def _differences(report: Json, title: str, values: str, digits: int) -> TextTable:
    """Return the differences in the field `values`, by system and value, with their tests."""
    return table(
        title,
        "system: {system} | value: {of} | summaries> {n} | difference> "
        f"{{difference:value.{digits}}} | 95 % interval> {{difference:bounds.{digits}}}"
        " | p (Holm)> {difference:holm}",
        nested_rows(report["systems"], "system", values, "of"),
    )


def proportional_tables(report: Json) -> tuple[TextTable, TextTable, TextTable]:
    """Return the table of measures, then two tables by system and value in percent."""
    title = f"Proportional representation by {report['attribute']}"
    difference_title = "Share of the summary minus the target share, in percentage points"
    novel_shares = [
        f"{system} {interval(figures['novel_terms'], digits=1)}"
        for system, figures in report["systems"].items()
        if "novel_terms" in figures
    ]
    remarks = [
        f"Terms of summaries that are in no document, in percent: {first_items(novel_shares, 5)}."
    ] * bool(novel_shares)
    return (
        _measures(report, title, PROPORTIONAL, *remarks),
        _differences(report, difference_title, "by_value", digits=2),
        table(
            "Summaries that under-represent a value, in percent, and the mean shortfall",
            "system: {system} | value: {of} | summaries %> {under:interval.1}"
            " | shortfall (points)> {shortfall:interval}",
            nested_rows(report["systems"], "system", "by_value", "of"),
            notes=[settings_note(report)],
        ),
    )


def _measures(report: Json, title: str, measures: Family, *remarks: str) -> TextTable:
    systems = report["systems"]
    units = {measure.unit for measure in measures.shown}
    in_percent = ", in percent" if units == {"percent"} else ""
    in_report = [m for m in measures.shown if any(m.key in figures for figures in systems.values())]
    return table(
        title_with_direction(f"{title}{in_percent}", in_report or measures.shown),
        "system: {system} | measure: {measure} | summaries> {n} | value> {value}"
        " | 95 % interval> {bounds}",
        [
            {**row, "system": system}
            for system, figures in systems.items()
            for row in _measure_rows(figures, measures, with_units=len(units) > 1)
        ],
        notes=(
            *(
                f"{system}: {reason}."
                for system, figures in systems.items()
                if (reason := _undefined_reason(figures, measures))
            ),
            *(
                text.format(summaries=pluralize(n, "summary", "summaries"))
                for name, text in _COUNTED.items()
                if (n := sum(figures.get(name) or 0 for figures in systems.values()))
            ),
            *direction_notes(in_report),
            *remarks,
            *map(sentence, report["notes"]),
            *_exclusion_notes(report),
        ),
    )


def _undefined_reason(system: Json, measures: Family) -> str:
    """Return the reason why the system's first measure has no value, or ""."""
    return undefined_reason(
        next((system[measure.key] for measure in measures.shown if measure.key in system), None)
    )


def _measure_rows(system: Json, measures: Family, *, with_units: bool) -> Iterator[Json]:
    """Yield a system's measures, corrected by human labels, and bounds for a scorer error.

    Labels have units if the measures have different ones. Measures that the JSON lacks (earlier
    versions) are omitted.
    """
    labels = {
        measure.key: measure.label_with_unit if with_units else measure.label
        for measure in measures.shown
    }
    for measure in measures.shown:
        if (figure := system.get(measure.key)) is not None:
            parameter = system.get(measure.parameter)
            suffix = "" if parameter is None else f", {measure.parameter} {parameter:g}"
            yield _row(f"{labels[measure.key]}{suffix}", figure.get("n", 0), figure, measure)
    corrected_measures, error_bounds = (
        system.get("corrected") or {},
        system.get("sensitivity") or {},
    )
    for measure in measures.shown:
        if (figure := corrected_measures.get(measure.key)) is not None:
            label = f"{labels[measure.key]}, corrected by human labels"
            yield _row(label, figure.get("n_labelled", 0), figure, measure)
    for measure in measures.shown:
        if (figure := error_bounds.get(measure.key)) is not None:
            label = f"{labels[measure.key]}, bounds for an error of {error_bounds['error_rate']:g}"
            yield {**_row(label, 0, figure, measure), "n": "", "value": ""}


def _row(label: str, n: int, figure: Json, measure: Measure) -> Json:
    return {
        "measure": label,
        "n": n,
        "value": number(figure.get("value"), digits=measure.digits),
        "bounds": bounds(figure, digits=measure.digits),
    }


def _exclusion_notes(report: Json) -> Iterator[str]:
    by_reason: dict[str, dict[str, list[str]]] = {}
    for exclusion in report["excluded"]:
        by_system = by_reason.setdefault(exclusion["reason"], {})
        by_system.setdefault(exclusion["system"], []).append(exclusion["eid"])
    for reason, eids_by_system in sorted(by_reason.items()):
        texts = (
            f"{len(eids)} by {name} ({first_items(eids, 5)})"
            for name, eids in eids_by_system.items()
        )
        counts = "; ".join(texts)
        yield f"Excluded, {EXCLUDED.get(reason, reason)}: {counts}"


def sweep_table(systems: Mapping[str, Json]) -> TextTable:
    """Return BUR at each tau, one column per system."""
    points = [system["sweep"] for system in systems.values()]
    return TextTable(
        title="BUR in percent, by tau",
        columns=columns("tau", *systems, numbers=("tau", *systems)),
        rows=tuple(
            (number(at_tau[0]["tau"]), *(interval(point, digits=1) for point in at_tau))
            for at_tau in zip(*points, strict=True)
        ),
    )
