"""Tables of two runs side by side; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from fairjudge.reports.figures import Json, interval, protocol_of, significant_sign, tally
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import TextTable, columns
from fairjudge.text.counting import percentage, pluralize

_FIGURES = {
    "agreement": "items with the same value",
    "shift": "mean shift, second minus first",
    "distance": "mean distance",
    "order": "Kendall's tau-b of the items",
}


def comparison_tables(report: Json) -> tuple[TextTable, ...]:
    """Return tables of differing settings and of the results by aspect, protocol and judge.

    That is a table of figures, one of systems, a confusion table, and the items furthest apart.
    """
    return (*settings_table(report), *chain.from_iterable(map(group_tables, report["groups"])))


def settings_table(report: Json) -> tuple[TextTable, ...]:
    """Return a table of the files and of the settings in which they differ, if there is any."""
    rows = [*report.get("settings", ())]
    if files := report.get("files"):
        names = ("file", "written")
        rows[:0] = [
            {"setting": name, **{run: [files[run][name]] for run in ("first", "second")}}
            for name in names
        ]
    spec = "setting: {setting} | first: {first:list} | second: {second:list}"
    title = "What was compared, and where its settings differ"
    return (table(title, spec, rows),) if rows else ()


def group_title(group: Json) -> str:
    """Name aspect, protocol and judges."""
    names = group["first"], group["second"]
    judges = names[0] if names[0] == names[1] else f"{names[0]} and {names[1]}"
    return f"{group['aspect']}, {protocol_of(group)}, by {judges}"


def group_tables(group: Json) -> Iterator[TextTable]:
    """Yield the tables of one aspect, protocol and judge."""
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
            f"{pluralize(group['n_documents'], 'document')}. Labels show which is better.",
            f"Excluded: {tally(left_out)}." if any(left_out.values()) else "",
        ),
    )
    if group["systems"]:
        yield table(
            f"Systems in both runs: {group_title(group)}",
            "system: {system} | first> {first:number} | second> {second:number}"
            " | shift> {shift:interval}",
            group["systems"],
        )
    if group.get("confusion"):
        yield _confusion(group)
    if group.get("largest"):
        yield _largest(group)


def _confusion(group: Json) -> TextTable:
    """Return how often a value of the first run became which of the second, in % of its row."""
    confusion = group["confusion"]
    names = [f"{value:g}" for value in confusion["columns"]]
    rows = []
    for value, counts in zip(confusion["rows"], confusion["counts"], strict=True):
        total = sum(counts)
        shares = [f"{n} ({percentage(n / total)})" if n else "0" for n in counts]
        rows.append((f"{value:g}", *shares, str(total)))
    return TextTable(
        title=f"Values of the first run (rows) and of the second (columns): {group_title(group)}",
        columns=columns("first", *names, "items", numbers=(*names, "items")),
        rows=tuple(rows),
        notes=("In brackets: share of the row.",),
    )


def _largest(group: Json) -> TextTable:
    """Return the items that differ most; a page links them to the judgements that it has."""
    items = group["largest"]
    largest = table(
        f"Items that differ most: {group_title(group)}",
        "cluster: {eid} | system: {systems} | part: {unit} | first> {first:g} | second> {second:g}",
        items,
        notes=(f"{len(items)} of {pluralize(group['n_changed'], 'item')} that changed.",),
        systems=lambda item: " - ".join(filter(None, (item["system"], item.get("system_b")))),
    )
    addresses = [item.get("address", "") for item in items]
    return replace(largest, links=tuple(at and f"#judgement-{at}" for at in addresses))


def comparison_findings(report: Json) -> Iterator[str]:
    """Yield whether the second run judges higher or lower, and how often both agree."""
    for group in report["groups"]:
        judges = {1: "judges higher", -1: "judges lower"}.get(
            significant_sign(group["shift"]), "judges neither significantly higher nor lower"
        )
        yield (
            f"In {group['aspect']} the second run {judges} (shift {interval(group['shift'])}); "
            f"the same value for a share of {interval(group['agreement'])} of "
            f"{pluralize(group['n_items'], 'item')}."
        )
