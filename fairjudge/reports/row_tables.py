"""Tables of JSON rows from a template of their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any, Final, NoReturn

from fairjudge.reports.figures import (
    Json,
    bounds,
    cut,
    dollars,
    holm,
    in_percent,
    interval,
    p_value,
    percent,
    share_in_percent,
    tally,
)
from fairjudge.reports.tables import Column, TextTable, number

_COLUMN = re.compile(r"\s*(?P<heading>[^:>]*)(?P<mark>[:>])\s*(?P<cell>.*?)\s*")
_FORMATS: Final[Mapping[str, Callable[..., str]]] = {
    "": lambda value: f"{value:,}" if type(value) is int else str(value),
    "bounds": bounds,
    "cut": lambda text, digits: cut(text, longest=digits),
    "dollars": dollars,
    "g": lambda value: f"{value:g}",
    "holm": holm,
    "interval": interval,
    "list": lambda items: ", ".join(items) or "-",
    "number": number,
    "p": p_value,
    "percent": percent,
    "points": lambda share, digits=1: interval(in_percent(share), digits=digits),
    "share": share_in_percent,
    "tally": tally,
    "value": lambda figure, digits=2: number(figure.get("value"), digits=digits),
}
"""Formats of a field; ``.3`` after one is the number of decimals, or of characters for "cut"."""


class _Cell(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        name, _, digits = format_spec.partition(".")
        return _FORMATS[name](value, **({"digits": int(digits)} if digits else {}))


class _Text(_Cell):
    def format_field(self, value: Any, format_spec: str) -> str:
        if not format_spec and not isinstance(value, str):
            raise TypeError(f"expected text, found {value!r}")
        return super().format_field(value, format_spec)


def _no_column(text: str) -> NoReturn:
    raise ValueError(f"no heading, mark and cell of a column: {text!r}")


def table(
    title: str,
    columns: str,
    rows: Iterable[Json],
    /,
    *,
    notes: Iterable[str] = (),
    limit: int | None = None,
    **fields: Callable[[Json], Any],
) -> TextTable:
    """Return a table with one row per item of `rows`; empty notes are omitted.

    `columns` contains headings and templates of cells: ``"system: {system} | gain>
    {gain:interval.3}"``. ``:`` precedes left-aligned text, ``>`` right-aligned numbers. ``{row}``
    is the row itself. `fields` are functions that compute additional fields of a row. If there are
    more than `limit` rows, a note has the number of hidden ones.
    """
    all_rows = list(rows)
    matches = [_COLUMN.fullmatch(column) or _no_column(column) for column in columns.split("|")]
    formatters = {":": _Text(), ">": _Cell()}
    rows_with_fields = (
        {"row": row, **row, **{name: make(row) for name, make in fields.items()}}
        for row in all_rows[:limit]
    )
    return TextTable(
        title=title,
        columns=tuple(
            Column(heading=match["heading"], align="right" if match["mark"] == ">" else "left")
            for match in matches
        ),
        rows=tuple(
            tuple(formatters[match["mark"]].vformat(match["cell"], (), row) for match in matches)
            for row in rows_with_fields
        ),
        notes=tuple(filter(None, (hidden_note(all_rows, limit), *notes))),
    )


def hidden_note(rows: Sequence[Any], limit: int | None) -> str:
    """Return a note with the number of rows beyond `limit`, or "" without any."""
    n_hidden = len(rows) - len(rows[:limit])
    return f"... and {n_hidden} more (see --json)" if n_hidden else ""


def side_by_side(
    title: str,
    heading: str,
    labels: Mapping[Any, str],
    sides: Mapping[str, Mapping[Any, Any]],
    *,
    format_cell: Callable[[Any], str] = interval,
    notes: Iterable[str] = (),
) -> TextTable:
    """Return a table of `sides` (columns) by statistic (rows); `words` are the rows' labels."""
    return TextTable(
        title=title,
        columns=(Column(heading=heading), *(Column(heading=side, align="right") for side in sides)),
        rows=tuple(
            (label, *(format_cell(side.get(name)) for side in sides.values()))
            for name, label in labels.items()
        ),
        notes=tuple(filter(None, notes)),
    )


def keyed_rows(items: Mapping[str, Json], name: str, **fields: Any) -> Iterator[Json]:
    """Yield the values of `items` as rows, each with its key in the field `name`, and `fields`."""
    for key, entry in items.items():
        yield {**entry, **fields, name: key}


def nested_rows(
    items: Mapping[str, Json], name: str, field: str, inner_name: str
) -> Iterator[Json]:
    """Yield the rows in `field` of each value of `items`, with both keys as fields."""
    for key, entry in items.items():
        yield from keyed_rows(entry.get(field, {}), inner_name, **{name: key})


SPENT_COLUMNS: Final = (
    "calls> {n_calls} | from the cache> {n_cached} | tokens in> {tokens_in}"
    " | tokens out> {tokens_out} | US dollars> {cost_usd:dollars}"
)
"""Columns of calls and cost; `spent_row` makes their fields."""


def spent_row(spent: Json, **fields: str | float | None) -> Json:
    """Return the fields of `SPENT_COLUMNS` from ``spent`` of a command's JSON, and `fields`."""
    tokens = spent.get("tokens") or {}
    counts = {"tokens_in": tokens.get("input", "-"), "tokens_out": tokens.get("output", "-")}
    return {**spent, **counts, **fields}
