"""Tables of two runs side by side; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.figures import Json, protocol_of, tally
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_FIGURES = {
    "agreement": "items with the same value",
    "shift": "mean shift, second less first",
    "distance": "mean distance",
    "order": "Kendall's tau-b of the items",
}


def comparison_tables(report: Json) -> tuple[TextTable, ...]:
    """Return a table of figures and one of systems for each aspect, protocol and judge."""
    return tuple(one for group in report["groups"] for one in _tables(group))


def group_title(group: Json) -> str:
    """Name aspect, protocol and judges."""
    names = group["first"], group["second"]
    who = names[0] if names[0] == names[1] else f"{names[0]} and {names[1]}"
    return f"{group['aspect']}, {protocol_of(group)}, by {who}"


def _tables(group: Json) -> Iterator[TextTable]:
    left_out = {
        "in the first run alone": group["n_only_first"],
        "in the second run alone": group["n_only_second"],
        "without a score in the first": group["n_unscored_first"],
        "without a score in the second": group["n_unscored_second"],
    }
    yield side_by_side(
        f"Two runs: {group_title(group)}",
        "figure",
        _FIGURES,
        {"value": group},
        notes=(
            f"{pluralize(group['n_items'], 'item')} scored in both runs, in "
            f"{pluralize(group['n_documents'], 'document')}. Which run is right, only labels tell.",
            f"Left out: {tally(left_out)}." if any(left_out.values()) else "",
        ),
    )
    if group["systems"]:
        yield table(
            f"Systems in both runs: {group_title(group)}",
            "system: {system} | first> {first:number} | second> {second:number}"
            " | shift> {shift:interval}",
            group["systems"],
        )
