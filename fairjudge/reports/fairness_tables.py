"""Tables of the ``fairness`` commands, made of their JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.measures import FairnessMeasures
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.registry import shown_measures
from fairjudge.reports.figures import Json, bounds, holm, interval, named, sentence, tally, why
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
    return (
        _measures(
            report,
            f"Coverage by {report['attribute']}; 0 is fair",
            COVERAGE,
            "R_EC: share of summaries whose Equal Coverage is significant. As published, p is the "
            "share of relabellings that are more unequal, without the equal ones.",
        ),
        _tested(report),
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
            "measure": name
            if difference["of_value"] is None
            else f"{name} of {difference['of_value']}",
            "first": _subset(dominance, difference["dominated_by"][0]),
            "second": _subset(dominance, difference["dominated_by"][1]),
            "found": difference,
        }
        for system, of in report["systems"].items()
        if (dominance := of.get("dominance"))
        for key, name in _OF_DOMINANCE.items()
        if (difference := dominance[key]).get("value") is not None
    ]
    if rows:
        yield table(
            "Largest difference between the sets that different values dominate",
            "system: {system} | measure: {measure} | more in sets of: {first} | than of: {second}"
            " | difference> {found:value.4} | 95 % interval> {found:bounds.4} | p> {found:p}",
            rows,
            notes=[
                "In brackets: the samples in which most documents have the value. p: of no "
                "difference between any two, by permutation of the samples over the sets."
            ],
        )


def _subset(dominance: Json, value: str) -> str:
    return f"{value} ({dominance['n_by_value'][value]})"


def _tested(report: Json) -> TextTable:
    rows = rows_within(report["systems"], "system", "coverage_by_value", "of")
    return table(
        "Coverage of each value minus the mean coverage, over all its summaries",
        "system: {system} | value: {of} | summaries> {n} | difference> {difference:value.4}"
        " | 95 % interval> {difference:bounds.4} | p (Holm)> {difference:holm}",
        rows,
    )


def proportional_tables(report: Json) -> tuple[TextTable, TextTable, TextTable]:
    """Return one row a system and measure, then two tables by system and value; in percent."""
    values = list(rows_within(report["systems"], "system", "by_value", "of"))
    title = f"Proportional representation by {report['attribute']}, in percent; 0 is fair"
    novel = [
        f"{system} {interval(figures['novel_terms'], digits=1)}"
        for system, figures in report["systems"].items()
        if "novel_terms" in figures
    ]
    remarks = [f"Terms of summaries that no document has, in percent: {named(novel, 5)}."] * bool(
        novel
    )
    return (
        _measures(report, title, PROPORTIONAL, *remarks),
        table(
            "Share of the summary minus the wanted share, in percentage points",
            "system: {system} | value: {of} | summaries> {n} | difference> {difference:value.2}"
            " | 95 % interval> {difference:bounds.2} | p (Holm)> {difference:holm}",
            values,
        ),
        table(
            "Summaries that under-represent a value, in percent, and the mean shortfall",
            "system: {system} | value: {of} | summaries %> {under:interval.1}"
            " | shortfall (points)> {shortfall:interval}",
            values,
            notes=[settings_note(report)],
        ),
    )


def _measures(report: Json, title: str, measures: Family, *remarks: str) -> TextTable:
    systems = report["systems"]
    return table(
        title,
        "system: {system} | measure: {measure} | summaries> {n} | value> {value}"
        " | 95 % interval> {bounds}",
        [
            {**row, "system": system}
            for system, figures in systems.items()
            for row in _figures_of(figures, measures)
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


def _figures_of(system: Json, measures: Family) -> Iterator[Json]:
    """Yield the measures, those corrected by people, and the bands of an assumed scorer error.

    A measure that the JSON lacks is left out: an earlier version did not have it.
    """
    for measure in measures.shown:
        if (figure := system.get(measure.key)) is not None:
            parameter = system.get(measure.parameter)
            label = (
                measure.label
                if parameter is None
                else f"{measure.label}, {measure.parameter} {parameter:g}"
            )
            yield _row(label, figure.get("n", 0), figure, measure)
    corrected, assumed = system.get("corrected") or {}, system.get("sensitivity") or {}
    for measure in measures.shown:
        if (figure := corrected.get(measure.key)) is not None:
            label = f"{measure.label}, corrected by people"
            yield _row(label, figure.get("n_labelled", 0), figure, measure)
    for measure in measures.shown:
        if (figure := assumed.get(measure.key)) is not None:
            label = f"{measure.label}, bounds for an error of {assumed['error_rate']:g}"
            between = bounds(figure, digits=measure.digits)
            yield {"measure": label, "n": "", "value": "", "bounds": between}


def _row(label: str, n: int, figure: Json, measure: Measure) -> Json:
    return {
        "measure": label,
        "n": n,
        "value": number(figure.get("value"), digits=measure.digits),
        "bounds": bounds(figure, digits=measure.digits),
    }


_TOGETHER = " with "


def label_of(key: str) -> str:
    """Return a measure's label with its unit; the key itself where the measure is not known."""
    measures = shown_measures()
    return _TOGETHER.join(
        part if (measure := measures.get(part)) is None else measure.label_with_unit
        for part in key.split(_TOGETHER)
    )


def is_fairer(key: str, difference: float) -> bool:
    """Whether a change of the measure by `difference` makes a system fairer."""
    measure = shown_measures().get(key)
    return difference < 0 if measure is None else measure.is_fairer(difference)


def _left_out(report: Json) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for exclusion in report["excluded"]:
        by_reason.setdefault(exclusion["reason"], []).append(exclusion["eid"])
    for reason, eids in sorted(by_reason.items()):
        yield f"Excluded, {EXCLUDED.get(reason, reason)}: {len(eids)} ({named(eids, 5)})"


def sweep_table(systems: Mapping[str, Json]) -> TextTable:
    """Return BUR at each tau; a column a system."""
    taus = [point["tau"] for point in next(iter(systems.values()))["sweep"]]
    return TextTable(
        title="BUR in percent, by tau",
        columns=columns("tau", *systems, numbers=("tau", *systems)),
        rows=tuple(
            (
                number(tau),
                *(interval(system["sweep"][place], digits=1) for system in systems.values()),
            )
            for place, tau in enumerate(taus)
        ),
    )


def overall_table(report: Json) -> TextTable:
    """Return the rank of systems over several data sets."""
    ranked = sum("normalised" in figures for figures in report["systems"].values())
    of = f"of {pluralize(ranked, 'system')}"
    title = f"Overall {report['measure']} {of}; 0 is the fairest on every data set"
    if report.get("scaling") == "none":
        title = f"Mean {report['measure']} over reports, {of}"
    return table(
        title,
        "system: {system} | overall> {found:interval.3} | by report: {sets}",
        [
            {
                "system": system,
                "found": figures,
                "sets": why(figures)
                or ", ".join(f"{n} {v:.3f}" for n, v in figures["normalised"].items()),
            }
            for system, figures in report["systems"].items()
        ],
    )


def agreement_table(report: Json) -> TextTable:
    """Return how two scorers, or measures, agree."""
    correlations = agreements(report)
    name = str(report.get("correlation", "spearman")).capitalize()
    compared = "measures" if any(_TOGETHER in key for key in correlations) else "scorers"
    return table(
        f"{name} correlation of two {compared}",
        "measure: {measure} | n> {found[n]} | in one report only> {found[n_unmatched]}"
        " | rho> {found:value} | 95 % interval> {found:bounds} | p> {found:p}",
        [
            {"measure": label_of(key), "found": correlation}
            for key, correlation in correlations.items()
        ],
        notes=[
            f"{label_of(key)}: {reason}."
            for key, correlation in correlations.items()
            if (reason := why(correlation))
        ],
    )


def people_tables(report: Json) -> tuple[TextTable, TextTable]:
    """Return which measure agrees better with people, by summary and over groups of summaries."""
    systems = report["systems"]
    return (
        table(
            "Summaries in which a measure of fairness agrees with people",
            "system: {system} | summaries> {n} | Equal Coverage alone> {equal_coverage}"
            " | Proportional alone> {proportional} | both or neither> {neither}"
            " | difference> {difference:interval} | p> {difference:p}",
            [
                {"system": name, "n": comparison["n"], **comparison["summaries"]}
                for name, comparison in systems.items()
            ],
            notes=[
                "Of a summary that leans to a value, a measure agrees by which that value is over-"
                "represented most; of a fair one, the measure whose value is nearer to 0, each as "
                "a part of its largest value here. Difference: mean of 1, -1 and 0."
            ],
        ),
        table(
            "Share of resampled groups in which a measure finds the value that people find",
            "system: {system} | groups> {n} | Coverage Parity> {coverage_parity:number.3}"
            " | SOF> {sof:number.3}",
            [{"system": name, **comparison["groups"]} for name, comparison in systems.items()],
        ),
    )


def temperature_table(report: Json) -> TextTable:
    """Return how a scorer's shares go with people's at each temperature."""
    return table(
        f"{str(report['correlation']).capitalize()} correlation of shares with people's",
        "temperature> {shown} | shares> {n} | correlation> {row:value.3}"
        " | 95 % interval> {row:bounds.3} | : {best}",
        [
            {
                "n": 0,
                **row,
                "shown": f"{row['temperature']:g}",
                "best": "best" if row["temperature"] == report["best"] else "",
            }
            for row in report["temperatures"]
        ],
    )


def agreements(report: Json) -> Mapping[str, Json]:
    """Return the measures of ``fairness agreement``, beside which its findings stand."""
    return {key: figure for key, figure in report.items() if isinstance(figure, Mapping)}


def changes_tables(report: Json) -> tuple[TextTable, ...]:
    """Return one table a system of what it changed; what holds for all stands under the last."""
    systems = report["systems"]
    return tuple(
        changes_table(
            f"{system} minus {report['baseline']}; below 0 is fairer",
            changes,
            notes=tuple(_change_notes(report)) if system == list(systems)[-1] else (),
        )
        for system, changes in systems.items()
    )


def changes_table(
    title: str,
    changes: Mapping[str, Json],
    *,
    sides: tuple[str, str] = ("baseline", "here"),
    notes: tuple[str, ...] = (),
) -> TextTable:
    """Return one row a measure: its value on both `sides`, and the difference."""
    heads = ("n", *sides, "change", "95 % interval", "p (Holm)")
    first, second = ("baseline", "value") if sides[0] == "baseline" else sides
    rows, measures = [], shown_measures()
    for name, figures in changes.items():
        digits, change = measures[name].digits if name in measures else 4, figures["difference"]
        values = (figures[first], figures[second], change.get("value"))
        rows.append(
            (
                label_of(name),
                str(figures["n"]),
                *(number(value, digits=digits) for value in values),
                bounds(change, digits=digits),
                holm(change),
            )
        )
    reasons = {
        reason: label_of(name)
        for name, figures in changes.items()
        if (reason := why(figures["difference"]))
    }
    return TextTable(
        title=title,
        columns=columns("measure", *heads, numbers=heads),
        rows=tuple(rows),
        notes=(*(f"Change not estimated: {reason}." for reason in reasons), *notes),
    )


def _change_notes(report: Json) -> Iterator[str]:
    keys = {key for changes in report["systems"].values() for key in changes}
    for measure in shown_measures().values():
        if measure.direction == "higher" and measure.key in keys:
            yield f"{measure.label}: above 0 is fairer."
    yield "R_EC: share of summaries in which Equal Coverage is significant."
    yield (
        f"p (Holm) is over the family of all {report['family']['tests']} differences shown; --json "
        "has Benjamini-Hochberg's too."
    )
    unpaired = sorted(
        system
        for system, changes in report["systems"].items()
        if any(change["n_unpaired"] for change in changes.values())
    )
    if unpaired:
        yield f"Excluded samples that only one has: {', '.join(unpaired)}."
    for measure, by_system in report["excluded"].items():
        for system, reasons in by_system.items():
            if reasons:
                yield f"Excluded from {measure}, {system}: {tally(reasons, EXCLUDED)}."
    yield from map(sentence, report["notes"])
    yield from (
        f"Settings of {name} (for reproducibility): {text}"
        for name, text in report["signatures"].items()
    )


def chunk_size_table(report: Json) -> TextTable:
    """Return the share of supported sentences by system and chunk size."""
    heads = ("words", "clusters", "share", "95 % interval")
    return TextTable(
        title="Share of summary sentences that some document supports, by chunk size",
        columns=columns("system", *heads, "", numbers=heads),
        rows=tuple(
            (
                system,
                str(row["max_words"] or "sentence"),
                str(row.get("n", 0)),
                number(row["value"], digits=3),
                bounds(row, digits=3),
                "best" if row["max_words"] == figures["best"] else "",
            )
            for system, figures in {"all": report, **report["systems"]}.items()
            for row in figures["identified"]
        ),
        notes=(
            *map(sentence, report["notes"]),
            settings_note(report),
        ),
    )


def oracle_table(report: Json) -> TextTable:
    """Return the measures of biased beside those of balanced pseudo-summaries."""
    excluded = tally(report["excluded_by_reason"])
    return changes_table(
        f"Biased minus balanced pseudo-summaries of {report['n']} sets; for a valid scorer far "
        "above 0",
        report["measures"],
        sides=("balanced", "biased"),
        notes=(
            f"Pseudo-summaries join {pluralize(report['documents'], 'document')}, "
            "or as many as there are.",
            *((f"Sets excluded: {excluded}.",) if excluded else ()),
            *map(sentence, report["notes"]),
            settings_note(report),
        ),
    )
