"""One table, for a terminal or as Markdown, LaTeX or CSV. Numbers come in finished, as text."""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from fairjudge.text.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

_BOUND = r"[-+]?(?:[\d.,]*\d|inf)"
_INTERVAL = rf"\[{_BOUND}, {_BOUND}\]\S*"
_VALUE = rf"{_BOUND}(?: %)?"
_COMPARED = rf"(?:=|<=?|>=?) {_VALUE}\S*"
_SHARE = rf"\(?{_VALUE}(?: \({_BOUND}-{_BOUND}\))?\S*"
_PARTS = re.compile(rf"{_COMPARED}|{_INTERVAL}|{_SHARE}|\S+")
_UNITS = re.compile(rf"(?:\S+ )?{_COMPARED}|(?:{_VALUE} )?{_INTERVAL}|{_SHARE}|\S+")
_BOUNDS = re.compile(rf"{_BOUND}, {_BOUND}")


def pieces(cell: str, *, is_number: bool) -> list[str]:
    """Return what no line may break: words, and figures with their units and intervals.

    A column of numbers may have a value and its interval on two lines.
    """
    if _BOUNDS.fullmatch(cell):
        return [cell]
    return (_PARTS if is_number else _UNITS).findall(cell)


def wrapped(cell: str, width: int, *, is_number: bool) -> str:
    """Return `cell` in lines of at most `width` columns of a terminal, longer pieces whole."""
    from rich.cells import cell_len

    lines: list[str] = []
    for paragraph in cell.splitlines():
        line = ""
        for piece in pieces(paragraph, is_number=is_number):
            longer = f"{line} {piece}" if line else piece
            if line and cell_len(longer) > width:
                lines.append(line)
                longer = piece
            line = longer
        lines.append(line)
    return "\n".join(lines)


TableFormat: TypeAlias = Literal["text", "markdown", "latex", "csv"]
TABLE_FORMAT: ContextVar[TableFormat] = ContextVar("how tables are printed", default="text")
Align: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading; text is left-aligned and may wrap, numbers stand right."""

    heading: str
    align: Align = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table with its notes.

    ``links`` has for each row what its first cell links to on a page, empty where nothing. The last
    ``n_optional`` columns are hidden before numbers are wrapped.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    n_optional: int = 0


def columns(*headings: str, numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return one column a heading; those in `numbers` stand right."""
    return tuple(
        Column(heading=heading, align="right" if heading in numbers else "left")
        for heading in headings
    )


def number(value: float | None, *, digits: int = 2) -> str:
    """Return `value` with `digits` decimals, or a dash where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # no "-0.00"


def terminal_width() -> int:
    """Return how many characters a line of standard output has room for."""
    from rich.console import Console

    return Console().width


def to_text(table: TextTable, *, width: int | None = None) -> str:
    """Return what `print_table` shows, without colours."""
    from rich.console import Console

    into = StringIO()
    # In a notebook a console shows what it prints, and writes colours, whatever its file is.
    console = Console(
        highlight=False,
        file=into,
        width=width or terminal_width(),
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
    )
    _show(table, console)
    return "\n".join(line.rstrip() for line in into.getvalue().splitlines())


def print_table(table: TextTable) -> None:
    """Show `table` on standard output, in `TABLE_FORMAT`; as text it is as wide as the terminal."""
    write = WRITERS.get(TABLE_FORMAT.get())
    if write is not None:
        sys.stdout.write(f"{write(table)}\n")
        return
    from rich.console import Console

    _show(table, Console(highlight=False))


def _show(table: TextTable, console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = _printable(table)
    whole = not console.is_terminal  # what is searched or kept has its sentences in one line
    console.print(Text(table.title, "bold"), soft_wrap=whole)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    table = _with_short_ids(table, console.width)
    fit = _fit_columns(table, console.width)
    for place, width in fit.widths.items():
        column = table.columns[place]
        grid.add_column(Text(column.heading), justify=column.align, width=width, overflow="fold")
    for row in table.rows:
        grid.add_row(
            *(
                Text(wrapped(row[place], width, is_number=_is_number(table, place)))
                for place, width in fit.widths.items()
            )
        )
    if table.rows:
        console.print(grid)
    if fit.hidden:
        names = ", ".join(table.columns[place].heading for place in fit.hidden)
        sentence = f"Columns hidden (terminal too narrow): {names}. --json has all."
        console.print(Text(sentence), soft_wrap=whole)
    for note in table.notes:
        console.print(Text(note), soft_wrap=whole)


def _printable(table: TextTable) -> TextTable:
    """Return `table` without control characters, which names of systems may contain."""
    return replace(
        _with_cells(table, printable),
        title=printable(table.title),
        notes=tuple(map(printable, table.notes)),
    )


def _with_cells(table: TextTable, show: Callable[[str], str]) -> TextTable:
    """Return `table` with each heading and cell as `show` returns it."""
    return replace(
        table,
        columns=tuple(replace(column, heading=show(column.heading)) for column in table.columns),
        rows=tuple(tuple(map(show, row)) for row in table.rows),
    )


_ID_LENGTHS = (40, 32, 24, 16)
"""How long ids may be in a table that is too wide; the first is taken that shows the most."""


def _with_short_ids(table: TextTable, width: int) -> TextTable:
    """Return `table` with ids shortened in the middle where that lets `width` show more of it."""
    best, most = table, _fit_columns(table, width)
    for limit in _ID_LENGTHS:
        if most.lost == (0, False):
            break
        headings = (column.heading for column in table.columns)
        short = shorten_ids(chain(headings, *table.rows), limit=limit)
        shortened = _with_cells(table, short.__getitem__)
        fit = _fit_columns(shortened, width)
        if fit.lost < most.lost:
            best, most = shortened, fit
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """The columns that fit with their widths, and the indices of the others."""

    widths: Mapping[int, int]
    hidden: tuple[int, ...]
    whole_numbers: bool

    @property
    def lost(self) -> tuple[int, bool]:
        return len(self.hidden), not self.whole_numbers


_BETWEEN = 3
"""Cells between two columns, as Rich draws them; one more stands at either edge."""


def _fit_columns(table: TextTable, width: int) -> _Fit:
    """Return the columns that fit into `width` with their widths, and the others.

    A column may be as narrow as its longest word, numbers as their longest cell where all but the
    optional columns have room for that. Where words do not fit side by side, the last columns go,
    never the first.
    """
    places = list(range(len(table.columns)))
    for whole_numbers in (True, False):
        least = {
            place: _widest(table, place, whole=whole_numbers and _is_number(table, place))
            for place in range(len(table.columns))
        }
        for n in range(len(places), len(places) - table.n_optional - 1, -1):
            widths = {place: least[place] for place in places[:n]}
            if _total_width(widths.values()) <= width:
                return _Fit(
                    widths=_widened(table, widths, width),
                    hidden=tuple(places[n:]),
                    whole_numbers=whole_numbers,
                )
    while len(places) > 1 and _total_width(least[place] for place in places) > width:
        places.pop()
    widths = {place: least[place] for place in places}
    if len(widths) == 1:
        widths[0] = min(widths[0], width - 2)
    return _Fit(
        widths=_widened(table, widths, width),
        hidden=tuple(range(len(places), len(table.columns))),
        whole_numbers=False,
    )


def _widened(table: TextTable, least: dict[int, int], width: int) -> dict[int, int]:
    """Give what room is left to the columns that want it, those of numbers first."""
    widths, room = dict(least), width - _total_width(least.values())
    for place in sorted(least, key=lambda place: table.columns[place].align != "right"):
        more = min(_widest(table, place, whole=True) - least[place], max(room, 0))
        widths[place], room = least[place] + more, room - more
    return widths


def _total_width(widths: Iterable[int]) -> int:
    every = list(widths)
    return sum(every) + _BETWEEN * (len(every) - 1) + 2


def _widest(table: TextTable, place: int, *, whole: bool) -> int:
    """Return the width of the widest cell of a column, or of its widest word."""
    from rich.cells import cell_len

    heading, is_number = table.columns[place].heading, _is_number(table, place)
    parts = heading.splitlines() if whole else heading.split()
    for row in table.rows:
        cell = row[place]
        parts += cell.splitlines() if whole else pieces(cell, is_number=is_number)
    return max(map(cell_len, parts), default=0)


def _is_number(table: TextTable, place: int) -> bool:
    return table.columns[place].align == "right"


def to_markdown(table: TextTable) -> str:
    """Return `table` as GitHub Markdown."""
    heads = [_cell(column.heading) for column in table.columns]
    rules = ["--:" if column.align == "right" else "---" for column in table.columns]
    lines = [f"**{_cell(table.title)}**", "", _line(heads), _line(rules)]
    lines += [_line([_cell(cell) for cell in row]) for row in table.rows]
    lines += [f"\n{_cell(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    """Return `text` on one line that ends no cell and opens no tag, link or picture."""
    for mark, escaped in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("](", "]\\(")):
        text = text.replace(mark, escaped)
    return " ".join(printable(text).split())


def to_csv(table: TextTable) -> str:
    """Return `table` as CSV after a line with its title; notes are left out.

    Whole numbers have no separators; a cell that a spreadsheet would take for a formula begins with
    an apostrophe.
    """
    into = StringIO()
    writer = csv.writer(into, lineterminator="\n")
    writer.writerow(column.heading for column in table.columns)
    writer.writerows([_csv_cell(printable(cell)) for cell in row] for row in table.rows)
    return f"# {printable(table.title)}\n{into.getvalue()}"


def _csv_cell(cell: str) -> str:
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+", cell):
        return cell.replace(",", "")
    number = re.fullmatch(r"[-+]?[\d.,%]*", cell) is not None
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@"} and not number else cell


def to_latex(table: TextTable) -> str:
    r"""Return `table` as a LaTeX float with the rules of the package booktabs."""
    align = "".join("r" if column.align == "right" else "l" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        _latex_row([column.heading for column in table.columns]),
        r"\midrule",
        *map(_latex_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_latex(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


_LATEX = {
    **{mark: rf"\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # after a row's end it would open an optional argument
}


def _latex(text: str) -> str:
    """Return `text` on one line, with LaTeX's special characters escaped."""
    return " ".join("".join(_LATEX.get(mark, mark) for mark in printable(text)).split())


WRITERS: Mapping[TableFormat, Callable[[TextTable], str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
}
"""How a table is written in each format but that of a terminal."""


_ID = re.compile(r"[!-~]+")
"""A word of ASCII characters; text in scripts without spaces is never shortened."""
_WORD = re.compile(r"\S+")
_MORE = 4
"""Characters more that ids keep at one end where they would be equal."""


def shorten_ids(texts: Iterable[str], *, limit: int) -> dict[str, str]:
    """Return `texts` by their whole form, ids in them of more than `limit` characters shortened.

    Different ids stay different: those that would be equal keep a longer start or end.
    """
    every = list(dict.fromkeys(texts))
    start, end = limit // 2, (limit - 1) // 2
    groups: dict[str, set[str]] = defaultdict(set)
    for word in _WORD.findall("\n".join(every)):
        if _ID.fullmatch(word):
            groups[_shortened(word, start, end)].add(word)
    short: dict[str, str] = {}
    for group in groups.values():
        short |= _distinct(group, start, end)
    return {text: _WORD.sub(lambda word: short.get(word[0], word[0]), text) for text in every}


def _distinct(words: set[str], start: int, end: int) -> dict[str, str]:
    """Return forms of `words` that differ, with longer starts or else longer ends."""
    more = 0
    while True:
        for ends in ((start + more, end), (start, end + more)):
            short = {word: _shortened(word, *ends) for word in words}
            if len(set(short.values())) == len(words):
                return short
        more += _MORE


def _shortened(word: str, start: int, end: int) -> str:
    return word if len(word) <= start + 1 + end else f"{word[:start]}…{word[-end:]}"
