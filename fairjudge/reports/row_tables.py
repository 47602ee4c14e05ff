"""Tables of JSON, each made by a template of its columns."""

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
_SHOWN: Final[Mapping[str, Callable[..., str]]] = {
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
"""The formats of a field; ``.3`` after one says how many decimals, of "cut" how many characters."""


class _Cell(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        name, _, digits = format_spec.partition(".")
        return _SHOWN[name](value, **({"digits": int(digits)} if digits else {}))


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
    """Return a table with a row for each of `rows`; empty notes are left out.

    `columns` names each heading, with ``:`` where text follows and ``>`` where numbers do, which
    stand right, and what it shows of a row: ``"system: {system} | gain> {gain:interval.3}"``.
    ``{row}`` is the row itself. `fields` makes further fields of a row, by name. Of more rows than
    `limit` a note says how many are not shown.
    """
    every = list(rows)
    matches = [_COLUMN.fullmatch(column) or _no_column(column) for column in columns.split("|")]
    shows = {":": _Text(), ">": _Cell()}
    filled = (
        {"row": row, **row, **{name: make(row) for name, make in fields.items()}}
        for row in every[:limit]
    )
    return TextTable(
        title=title,
        columns=tuple(
            Column(heading=match["heading"], align="right" if match["mark"] == ">" else "left")
            for match in matches
        ),
        rows=tuple(
            tuple(shows[match["mark"]].vformat(match["cell"], (), row) for match in matches)
            for row in filled
        ),
        notes=tuple(filter(None, (hidden_note(every, limit), *notes))),
    )


def hidden_note(rows: Sequence[Any], limit: int | None) -> str:
    """Say how many rows a table of `limit` does not show; "" where it shows all."""
    n_hidden = len(rows) - len(rows[:limit])
    return f"... and {n_hidden} more (see --json)" if n_hidden else ""


def side_by_side(
    title: str,
    heading: str,
    words: Mapping[Any, str],
    sides: Mapping[str, Mapping[Any, Any]],
    *,
    show: Callable[[Any], str] = interval,
    notes: Iterable[str] = (),
) -> TextTable:
    """Return a row for each figure that has `words`, and a column for each side."""
    return TextTable(
        title=title,
        columns=(Column(heading=heading), *(Column(heading=side, align="right") for side in sides)),
        rows=tuple(
            (word, *(show(side.get(name)) for side in sides.values()))
            for name, word in words.items()
        ),
        notes=tuple(filter(None, notes)),
    )


def rows_of(items: Mapping[str, Json], name: str, **more: Any) -> Iterator[Json]:
    """Yield the values of `items` as rows, each with its key in the field `name`."""
    for key, entry in items.items():
        yield {**entry, **more, name: key}


def rows_within(items: Mapping[str, Json], name: str, within: str, inner: str) -> Iterator[Json]:
    """Yield the rows in the field `within` of each value of `items`, with both keys."""
    for key, entry in items.items():
        yield from rows_of(entry.get(within, {}), inner, **{name: key})


SPENT_COLUMNS: Final = (
    "calls> {n_calls} | from the cache> {n_cached} | tokens in> {tokens_in}"
    " | tokens out> {tokens_out} | US dollars> {cost_usd:dollars}"
)
"""Columns of a table whose rows `spent_row` completes."""


def spent_row(spent: Json, **more: str | float | None) -> Json:
    """Return the fields of `SPENT_COLUMNS` from ``spent`` of a command's JSON, and `more`."""
    tokens = spent.get("tokens") or {}
    counts = {"tokens_in": tokens.get("input", "-"), "tokens_out": tokens.get("output", "-")}
    return {**spent, **counts, **more}
