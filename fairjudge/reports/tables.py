"""Tables of text for a terminal, or as Markdown, LaTeX or CSV."""

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
    """Split a cell into parts that are never broken: words, and numbers with units and intervals.

    In a column of numbers, a value and its interval may be on two lines.
    """
    if _BOUNDS.fullmatch(cell):
        return [cell]
    return (_PARTS if is_number else _UNITS).findall(cell)


def wrap(cell: str, width: int, *, is_number: bool) -> str:
    """Wrap `cell` to lines of at most `width` columns of a terminal; longer pieces stay whole."""
    from rich.cells import cell_len

    lines: list[str] = []
    for paragraph in cell.splitlines():
        line = ""
        for piece in pieces(paragraph, is_number=is_number):
            candidate = f"{line} {piece}" if line else piece
            if line and cell_len(candidate) > width:
                lines.append(line)
                candidate = piece
            line = candidate
        lines.append(line)
    return "\n".join(lines)


TableFormat: TypeAlias = Literal["text", "markdown", "latex", "csv"]
TABLE_FORMAT: ContextVar[TableFormat] = ContextVar("how tables are printed", default="text")
Align: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading and alignment; left-aligned text may wrap."""

    heading: str
    align: Align = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table with its notes.

    ``links`` contains, for each row, the link target of its first cell on a page, or "". The last
    ``n_optional`` columns are hidden before numbers are wrapped.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    n_optional: int = 0


def columns(*headings: str, numbers: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return one column per heading; those in `numbers` are right-aligned."""
    return tuple(
        Column(heading=heading, align="right" if heading in numbers else "left")
        for heading in headings
    )


def number(value: float | None, *, digits: int = 2) -> str:
    """Return `value` with `digits` decimals, or a dash for None."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # no "-0.00"


def terminal_width() -> int:
    """Return the width of standard output in characters."""
    from rich.console import Console

    return Console().width


def to_text(table: TextTable, *, width: int | None = None) -> str:
    """Return the output of `print_table`, without colours."""
    from rich.console import Console

    buffer = StringIO()
    # In a notebook, Rich would ignore `file` and write colours.
    console = Console(
        highlight=False,
        file=buffer,
        width=width or terminal_width(),
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
    )
    _show(table, console)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


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
    soft_wrap = not console.is_terminal  # files and pipes have one sentence per line
    console.print(Text(table.title, "bold"), soft_wrap=soft_wrap)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    table = _with_short_ids(table, console.width)
    fit = _fit_columns(table, console.width)
    for index, width in fit.widths.items():
        column = table.columns[index]
        grid.add_column(Text(column.heading), justify=column.align, width=width, overflow="fold")
    for row in table.rows:
        grid.add_row(
            *(
                Text(wrap(row[index], width, is_number=_is_number(table, index)))
                for index, width in fit.widths.items()
            )
        )
    if table.rows:
        console.print(grid)
    if fit.hidden:
        names = ", ".join(table.columns[index].heading for index in fit.hidden)
        sentence = f"Columns hidden (terminal too narrow): {names}. --json has all."
        console.print(Text(sentence), soft_wrap=soft_wrap)
    for note in table.notes:
        console.print(Text(note), soft_wrap=soft_wrap)


def _printable(table: TextTable) -> TextTable:
    """Return `table` without control characters, which system names may contain."""
    return replace(
        _with_cells(table, printable),
        title=printable(table.title),
        notes=tuple(map(printable, table.notes)),
    )


def _with_cells(table: TextTable, show: Callable[[str], str]) -> TextTable:
    """Return `table` with `show` applied to each heading and cell."""
    return replace(
        table,
        columns=tuple(replace(column, heading=show(column.heading)) for column in table.columns),
        rows=tuple(tuple(map(show, row)) for row in table.rows),
    )


_ID_LENGTHS = (40, 32, 24, 16)
"""Maximum lengths of ids in a table that is too wide; the first that hides the least is used."""


def _with_short_ids(table: TextTable, width: int) -> TextTable:
    """Return `table` with ids shortened in the middle, if more of it then fits into `width`."""
    best, best_fit = table, _fit_columns(table, width)
    for limit in _ID_LENGTHS:
        if best_fit.lost == (0, False):
            break
        headings = (column.heading for column in table.columns)
        short_ids = shorten_ids(chain(headings, *table.rows), limit=limit)
        candidate = _with_cells(table, short_ids.__getitem__)
        fit = _fit_columns(candidate, width)
        if fit.lost < best_fit.lost:
            best, best_fit = candidate, fit
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
"""Characters between two columns of a Rich table; there is one more at each edge."""


def _fit_columns(table: TextTable, width: int) -> _Fit:
    """Return the columns that fit into `width` with their widths, and the others.

    The minimum width of a column is its longest word; for numbers, the longest cell if all but the
    optional columns fit then. If columns do not fit, the last ones are hidden, never the first.
    """
    indices = list(range(len(table.columns)))
    for whole_numbers in (True, False):
        min_widths = {
            index: _widest(table, index, whole_cells=whole_numbers and _is_number(table, index))
            for index in range(len(table.columns))
        }
        for n in range(len(indices), len(indices) - table.n_optional - 1, -1):
            widths = {index: min_widths[index] for index in indices[:n]}
            if _total_width(widths.values()) <= width:
                return _Fit(
                    widths=_widen(table, widths, width),
                    hidden=tuple(indices[n:]),
                    whole_numbers=whole_numbers,
                )
    while len(indices) > 1 and _total_width(min_widths[index] for index in indices) > width:
        indices.pop()
    widths = {index: min_widths[index] for index in indices}
    if len(widths) == 1:
        widths[0] = min(widths[0], width - 2)
    return _Fit(
        widths=_widen(table, widths, width),
        hidden=tuple(range(len(indices), len(table.columns))),
        whole_numbers=False,
    )


def _widen(table: TextTable, min_widths: dict[int, int], width: int) -> dict[int, int]:
    """Distribute the remaining width to columns that need it, numbers first."""
    widths, free_width = dict(min_widths), width - _total_width(min_widths.values())
    for index in sorted(min_widths, key=lambda index: table.columns[index].align != "right"):
        extra = min(_widest(table, index, whole_cells=True) - min_widths[index], max(free_width, 0))
        widths[index], free_width = min_widths[index] + extra, free_width - extra
    return widths


def _total_width(widths: Iterable[int]) -> int:
    every = list(widths)
    return sum(every) + _BETWEEN * (len(every) - 1) + 2


def _widest(table: TextTable, index: int, *, whole_cells: bool) -> int:
    """Return the width of the widest cell of a column, or of its widest word."""
    from rich.cells import cell_len

    heading, is_number = table.columns[index].heading, _is_number(table, index)
    parts = heading.splitlines() if whole_cells else heading.split()
    for row in table.rows:
        cell = row[index]
        parts += cell.splitlines() if whole_cells else pieces(cell, is_number=is_number)
    return max(map(cell_len, parts), default=0)


def _is_number(table: TextTable, index: int) -> bool:
    return table.columns[index].align == "right"


def to_markdown(table: TextTable) -> str:
    """Return `table` as GitHub Markdown."""
    headers = [_cell(column.heading) for column in table.columns]
    rules = ["--:" if column.align == "right" else "---" for column in table.columns]
    lines = [f"**{_cell(table.title)}**", "", _line(headers), _line(rules)]
    lines += [_line([_cell(cell) for cell in row]) for row in table.rows]
    lines += [f"\n{_cell(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    """Return `text` on one line, escaped so that it opens no cell, tag, link or image."""
    for mark, replacement in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("](", "]\\(")):
        text = text.replace(mark, replacement)
    return " ".join(printable(text).split())


def to_csv(table: TextTable) -> str:
    """Return `table` as CSV after a line with its title; notes are omitted.

    Integers have no separators; a cell that a spreadsheet would interpret as a formula gets an
    apostrophe in front.
    """
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(column.heading for column in table.columns)
    writer.writerows([_csv_cell(printable(cell)) for cell in row] for row in table.rows)
    return f"# {printable(table.title)}\n{buffer.getvalue()}"


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
    "[": "{[}",  # at the start of a row it would open an optional argument
}


def _latex(text: str) -> str:
    """Return `text` on one line, with LaTeX's special characters escaped."""
    return " ".join("".join(_LATEX.get(mark, mark) for mark in printable(text)).split())


WRITERS: Mapping[TableFormat, Callable[[TextTable], str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
}
"""Writers of the formats other than text."""


_ID = re.compile(r"[!-~]+")
"""A word of ASCII characters; other scripts, which may lack spaces, are not shortened."""
_WORD = re.compile(r"\S+")
_STEP = 4
"""Step, in characters, by which shortened ids are extended until they differ."""


def shorten_ids(texts: Iterable[str], *, limit: int) -> dict[str, str]:
    """Map `texts` to their forms with ids shortened to `limit` characters.

    Different ids stay different: those that would be equal keep a longer start or end.
    """
    distinct_texts = list(dict.fromkeys(texts))
    start, end = limit // 2, (limit - 1) // 2
    groups: dict[str, set[str]] = defaultdict(set)
    for word in _WORD.findall("\n".join(distinct_texts)):
        if _ID.fullmatch(word):
            groups[_shorten(word, start, end)].add(word)
    short_ids: dict[str, str] = {}
    for group in groups.values():
        short_ids |= _distinct(group, start, end)
    return {
        text: _WORD.sub(lambda word: short_ids.get(word[0], word[0]), text)
        for text in distinct_texts
    }


def _distinct(words: set[str], start: int, end: int) -> dict[str, str]:
    """Return forms of `words` that differ, with longer starts or else longer ends."""
    extra = 0
    while True:
        for ends in ((start + extra, end), (start, end + extra)):
            short_words = {word: _shorten(word, *ends) for word in words}
            if len(set(short_words.values())) == len(words):
                return short_words
        extra += _STEP


def _shorten(word: str, start: int, end: int) -> str:
    return word if len(word) <= start + 1 + end else f"{word[:start]}…{word[-end:]}"
