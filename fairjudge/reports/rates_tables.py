"""Tables of a yes-or-no judge's error rates and of corrected prevalence; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.calibration_tables import group_title
from fairjudge.reports.figures import Json, interval
from fairjudge.reports.tables import TextTable, columns
from fairjudge.text.printable import counted

_RATES = {
    "sensitivity": "sensitivity: says yes where people do",
    "specificity": "specificity: says no where people do",
    "positive_predictive_value": "people say yes where it does",
    "negative_predictive_value": "people say no where it does",
}
_WAYS = ("judged", "labelled", "corrected", "ppi")


def rates_tables(report: Json) -> tuple[TextTable, ...]:
    """Return error rates and prevalence of every group that has them."""
    groups = [group for group in report["groups"] if group.get("rates")]
    return tuple(table for group in groups for table in (_errors(group), _prevalence(group)))


def _errors(group: Json) -> TextTable:
    rates = group["rates"]
    items = counted(rates["n_yes"] + rates["n_no"], "labelled item")
    notes = [f"Yes by people: {rates['n_yes']} of {items}; no: {rates['n_no']}."]
    if rates["n_split"]:
        notes.append(f"Left out: {rates['n_split']} on which annotators are split in halves.")
    return TextTable(
        title=f"Error rates, {group_title(group)}",
        columns=columns("rate", "value", numbers=("value",)),
        rows=tuple((words, interval(rates[name])) for name, words in _RATES.items()),
        notes=tuple(notes),
    )


def _prevalence(group: Json) -> TextTable:
    rates = group["rates"]
    found = rates["prevalence"]
    if "judged" not in found:
        return TextTable(
            title=f"Share of yes, {group_title(group)}",
            columns=columns("items", "share"),
            rows=(),
            notes=(f"None: {found['why']}.",),
        )
    rows = [("all systems", found), *rates["by_system"].items()]
    why = found["corrected"].get("why")
    return TextTable(
        title=f"Share of yes among items without a label, {group_title(group)}",
        columns=columns("items", "n", *_WAYS, numbers=("n", *_WAYS)),
        rows=tuple(
            (name, str(one["n"]), *(interval(one[way]) for way in _WAYS)) for name, one in rows
        ),
        notes=(
            "judged: the judge's word. labelled: labels alone, all systems. corrected: Rogan and "
            "Gladen, where the judge errs as often on these items as on the labelled ones, however "
            "common yes is. ppi: PPI++, where the labelled items are a random draw of all.",
            *((f"No correction: {why}.",) if why else ()),
        ),
    )
