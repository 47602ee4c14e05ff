"""Tables of two runs side by side; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.figures import Json, interval
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted

_FIGURES = {
    "agreement": "items with the same value",
    "shift": "mean shift, second less first",
    "distance": "mean distance",
    "order": "Kendall's tau-b of the items",
}


def comparison_tables(report: Json) -> tuple[TextTable, ...]:
    """Return a table of figures and one of systems for each aspect, protocol and judge."""
    return tuple(
        table
        for group in report["groups"]
        for table in (_figures(group), *([_systems(group)] if group["systems"] else []))
    )


def group_title(group: Json) -> str:
    """Name aspect, protocol and judges."""
    names = group["first"], group["second"]
    who = names[0] if names[0] == names[1] else f"{names[0]} and {names[1]}"
    return f"{group['aspect']}, {group['protocol']}, by {who}"


def _figures(group: Json) -> TextTable:
    rows = [(words, interval(group[name])) for name, words in _FIGURES.items()]
    return TextTable(
        title=f"Two runs: {group_title(group)}",
        columns=columns("figure", "value", numbers=("value",)),
        rows=tuple(rows),
        notes=_notes(group),
    )


def _notes(group: Json) -> tuple[str, ...]:
    notes = [
        f"{counted(group['n_items'], 'item')} scored in both runs, in "
        f"{counted(group['n_documents'], 'document')}. Which run is right, only labels tell."
    ]
    alone = {
        "in the first run alone": group["n_only_first"],
        "in the second run alone": group["n_only_second"],
        "without a score in the first": group["n_unscored_first"],
        "without a score in the second": group["n_unscored_second"],
    }
    left_out = ", ".join(f"{n} {words}" for words, n in alone.items() if n)
    return (*notes, f"Left out: {left_out}.") if left_out else tuple(notes)


def _systems(group: Json) -> TextTable:
    rows = tuple(
        (one["system"], number(one["first"]), number(one["second"]), interval(one["shift"]))
        for one in group["systems"]
    )
    return TextTable(
        title=f"Systems in both runs: {group_title(group)}",
        columns=columns("system", "first", "second", "shift", numbers=("first", "second", "shift")),
        rows=rows,
        notes=(),
    )
