"""One table, shown on a terminal or written as Markdown. Numbers come in finished, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.text.printable import printable

Align: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading; text is left-aligned and may wrap, numbers stand right."""

    heading: str
    align: Align = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table with what must be said under it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def columns(*headings: str, numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return one column a heading; those in `numbers` stand right."""
    return tuple(
        Column(heading=heading, align="right" if heading in numbers else "left")
        for heading in headings
    )


def number(value: float | None, *, digits: int = 2) -> str:
    """Return `value` with `digits` decimals, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(table: TextTable) -> None:
    """Show `table` on standard output, as wide as the terminal; nothing in it is markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(printable(table.title), "bold"), soft_wrap=True)
    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        right = column.align == "right"
        shown.add_column(
            column.heading,
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    for row in table.rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    console.print(shown)
    for note in table.notes:
        console.print(Text(printable(note)), soft_wrap=True)


def to_markdown(table: TextTable) -> str:
    """Return `table` as GitHub Markdown."""
    heads = [column.heading for column in table.columns]
    rules = ["--:" if column.align == "right" else "---" for column in table.columns]
    lines = [f"**{_cell(table.title)}**", "", _line(heads), _line(rules)]
    lines += [_line([_cell(cell) for cell in row]) for row in table.rows]
    lines += [f"\n{_cell(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
