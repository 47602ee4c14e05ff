"""Tables of the ``fairness`` commands that compare reports or validate measures and scorers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from fairjudge.fairness.registry import shown_measures
from fairjudge.reports.directions import (
    DIFFERENCES,
    PLANTED,
    VALUES,
    direction_notes,
    title_with_direction,
)
from fairjudge.reports.fairness_tables import EXCLUDED, settings_note
from fairjudge.reports.figures import Json, bounds, holm, sentence, tally, undefined_reason
from fairjudge.reports.row_tables import keyed_rows, table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.stats.measures import Measure
from fairjudge.text.counting import pluralize

PAIR_SEPARATOR = " with "


def measure_label(key: str) -> str:
    """Return a measure's label with its unit, or the key itself if the measure is unknown."""
    measures = shown_measures()
    return PAIR_SEPARATOR.join(
        part if (measure := measures.get(part)) is None else measure.label_with_unit
        for part in key.split(PAIR_SEPARATOR)
    )


def is_fairer(key: str, difference: float) -> bool:
    """Return whether a change of the measure by `difference` makes a system fairer."""
    measure = shown_measures().get(key)
    return difference < 0 if measure is None else measure.is_fairer(difference)


def known_measures(keys: Collection[str]) -> list[Measure]:
    """Return the measures of `keys`, in the order of the registries."""
    return [measure for measure in shown_measures().values() if measure.key in keys]


def agreement_sign(key: str) -> int:
    """Return the sign of the correlation of two measures that agree on which systems are fairer."""
    directions = {m.direction for m in known_measures(key.split(PAIR_SEPARATOR))}
    return 1 if len(directions) < 2 else -1


def overall_table(report: Json) -> TextTable:
    """Return the rank of systems over several data sets."""
    n_ranked = sum("normalised" in figures for figures in report["systems"].values())
    number_of_systems = f"of {pluralize(n_ranked, 'system')}"
    title = f"Overall {report['measure']} {number_of_systems}; 0 is the fairest on every data set"
    if report.get("scaling") == "none":
        title = f"Mean {report['measure']} over reports, {number_of_systems}"
        if not is_fairer(report["measure"], -1.0):
            title += f"; {VALUES['higher']}"

    def by_report(figures: Json) -> str:
        shares = figures.get("normalised", {}).items()
        return undefined_reason(figures) or ", ".join(
            f"{name} {share:.3f}" for name, share in shares
        )

    return table(
        title,
        "system: {system} | overall> {row:interval.3} | by report: {by_report}",
        keyed_rows(report["systems"], "system"),
        by_report=by_report,
    )


def agreement_table(report: Json) -> TextTable:
    """Return the correlations of two scorers or measures."""
    correlations = agreements(report)
    name = str(report.get("correlation", "spearman")).capitalize()
    noun = "measures" if any(PAIR_SEPARATOR in key for key in correlations) else "scorers"
    return table(
        f"{name} correlation of two {noun}",
        "measure: {label} | n> {n} | in one report only> {n_unmatched}"
        " | rho> {row:value} | 95 % interval> {row:bounds} | p> {row:p}",
        keyed_rows(correlations, "key"),
        label=lambda row: measure_label(row["key"]),
        notes=[
            *(
                f"{measure_label(key)}: {reason}."
                for key, correlation in correlations.items()
                if (reason := undefined_reason(correlation))
            ),
            *(
                f"{measure_label(key)}: below 0 they agree, since higher values of one are fairer."
                for key in correlations
                if agreement_sign(key) < 0
            ),
        ],
    )


def people_tables(report: Json) -> tuple[TextTable, TextTable]:
    """Return the agreement of measures with human leanings, by summary and over groups."""
    systems = report["systems"]
    return (
        table(
            "Summaries in which a measure of fairness agrees with humans",
            "system: {system} | summaries> {n} | Equal Coverage only> {equal_coverage}"
            " | Proportional only> {proportional} | both or neither> {neither}"
            " | difference> {difference:interval} | p> {difference:p}",
            [
                {"system": name, "n": comparison["n"], **comparison["summaries"]}
                for name, comparison in systems.items()
            ],
            notes=[
                "If a summary leans to a value, a measure agrees if that value is the most over-"
                "represented one; if it is fair, the measure closer to 0 agrees, each relative to "
                "its maximum here. Difference: mean of 1, -1 and 0."
            ],
        ),
        table(
            "Share of resampled groups in which a measure finds the same value as humans",
            "system: {system} | groups> {n} | Coverage Parity> {coverage_parity:number.3}"
            " | SOF> {sof:number.3}",
            [{"system": name, **comparison["groups"]} for name, comparison in systems.items()],
        ),
    )


def temperature_table(report: Json) -> TextTable:
    """Return the correlation of a scorer's shares with human shares at each temperature."""
    return table(
        f"{str(report['correlation']).capitalize()} correlation with human shares",
        "temperature> {temperature:g} | shares> {n} | correlation> {row:value.3}"
        " | 95 % interval> {row:bounds.3} | : {best}",
        report["temperatures"],
        n=lambda row: row.get("n", 0),
        best=lambda row: "best" if row["temperature"] == report["best"] else "",
    )


def agreements(report: Json) -> Mapping[str, Json]:
    """Return the correlations in a report of ``fairness agreement``, by measure."""
    return {key: figure for key, figure in report.items() if isinstance(figure, Mapping)}


def changes_tables(report: Json) -> tuple[TextTable, ...]:
    """Return one table of changes per system; common notes are under the last."""
    systems = report["systems"]
    return tuple(
        changes_table(
            title_with_direction(
                f"{system} minus {report['baseline']}", known_measures(changes), DIFFERENCES
            ),
            changes,
            notes=_change_notes(report) if system == list(systems)[-1] else (),
        )
        for system, changes in systems.items()
    )


def changes_table(
    title: str,
    changes: Mapping[str, Json],
    *,
    sides: Mapping[str, str] = MappingProxyType({"baseline": "baseline", "here": "value"}),
    notes: Iterable[str] = (),
) -> TextTable:
    """Return one row per measure: its value on both `sides`, and the difference."""
    headers = ("n", *sides, "change", "95 % interval", "p (Holm)")
    rows, measures = [], shown_measures()
    for name, figures in changes.items():
        digits, change = measures[name].digits if name in measures else 4, figures["difference"]
        values = (*(figures[side] for side in sides.values()), change.get("value"))
        cells = (number(value, digits=digits) for value in values)
        interval = bounds(change, digits=digits)
        rows.append((measure_label(name), str(figures["n"]), *cells, interval, holm(change)))
    reasons = dict.fromkeys(
        filter(None, (undefined_reason(row["difference"]) for row in changes.values()))
    )
    return TextTable(
        title=title,
        columns=columns("measure", *headers, numbers=headers),
        rows=tuple(rows),
        notes=(*(f"Change not estimated: {reason}." for reason in reasons), *notes),
    )


def _change_notes(report: Json) -> Iterator[str]:
    keys = {key for changes in report["systems"].values() for key in changes}
    yield from direction_notes(known_measures(keys), DIFFERENCES)
    yield "R_EC: share of summaries in which Equal Coverage is significant."
    yield (
        f"p (Holm) is over the family of all {report['family']['tests']} differences shown; --json "
        "has Benjamini-Hochberg's too."
    )
    unpaired_systems = sorted(
        system
        for system, changes in report["systems"].items()
        if any(change["n_unpaired"] for change in changes.values())
    )
    if unpaired_systems:
        yield f"Samples in only one of the systems excluded: {', '.join(unpaired_systems)}."
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
    """Return the share of supported sentences, by system and chunk size."""
    return table(
        "Share of summary sentences that some document supports, by chunk size",
        "system: {system} | words> {words} | clusters> {n} | share> {row:value.3}"
        " | 95 % interval> {row:bounds.3} | : {best}",
        [
            {**row, "system": system, "best": "best" if row["max_words"] == figures["best"] else ""}
            for system, figures in {"all": report, **report["systems"]}.items()
            for row in figures["identified"]
        ],
        notes=(*map(sentence, report["notes"]), settings_note(report)),
        words=lambda row: str(row["max_words"] or "sentence"),
        n=lambda row: row.get("n", 0),
    )


def oracle_table(report: Json) -> TextTable:
    """Return the measures of biased and of balanced pseudo-summaries."""
    exclusions = tally(report["excluded_by_reason"])
    measures = known_measures(report["measures"])
    title = f"Biased minus balanced pseudo-summaries of {report['n']} sets"
    return changes_table(
        title_with_direction(title, measures, PLANTED),
        report["measures"],
        sides={"balanced": "balanced", "biased": "biased"},
        notes=(
            f"Pseudo-summaries concatenate {pluralize(report['documents'], 'document')}, or all "
            "if there are fewer.",
            *direction_notes(measures, PLANTED),
            *((f"Sets excluded: {exclusions}.",) if exclusions else ()),
            *map(sentence, report["notes"]),
            settings_note(report),
        ),
    )
