"""A plot of a table: each cell is as blue as its share is high, and holds its number."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairjudge.reports import svg
from fairjudge.reports.drawing import LETTER, WIDTH, Layout, length, short, short_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NARROWEST, _WIDEST = 42, 72
"""Pixels of a cell; where more columns do not fit, the figure is wider and its box scrolls."""
_LONGEST_ROW, _LONGEST_COLUMN = 20, 16
"""Characters of a label; the whole one is in the tooltip of each cell."""
_EDGE, _TITLE = 6, 22
FULL = "#7fb2e5"
"""A share of 1. Black letters have a contrast of 4.5 and more on every shade up to it, and so have
the light ones that the page's style sheet makes of them where the reader prefers dark: it turns all
colours round, and on darker shades no letter is legible both ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number as text, with a smaller ``note`` under it; ``share``, 0 to 1, is its shade."""

    text: str
    share: float | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPlot:
    """Named rows and columns of cells; None is a cell without a value."""

    name: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell | None]]
    down: str
    across: str

    @property
    def empty(self) -> bool:
        """Whether no cell has a value."""
        return not any(cell for cells in self.cells for cell in cells)

    def _cell(self) -> tuple[float, float]:
        """Return the width and the height of a cell."""
        room = (WIDTH - self._left_margin() - _EDGE) / max(len(self.columns), 1)
        noted = any(cell and cell.note for cells in self.cells for cell in cells)
        two_lines = noted or any(length(row) > _LONGEST_ROW for row in self.rows)
        return min(max(room, _NARROWEST), _WIDEST), 34 if two_lines else 24

    def _left_margin(self) -> float:
        longest = max(map(length, (*self.rows, f"{self.down}   ")))
        return min(longest, _LONGEST_ROW) * LETTER + 2 * _EDGE

    def _upright(self) -> bool:
        """Say whether names of columns are too long to stand beside one another."""
        return max(map(length, self.columns), default=0) * LETTER > self._cell()[0] - _EDGE

    def _top(self) -> float:
        longest = min(max(map(length, self.columns), default=0), _LONGEST_COLUMN)
        return _TITLE + (longest * LETTER + 2 * _EDGE if self._upright() else _TITLE)

    @property
    def layout(self) -> Layout:
        """The size of the figure, and where its axes stand."""
        width, height = self._cell()
        across, down = width * len(self.columns), height * len(self.rows)
        left_margin, top = self._left_margin(), self._top()
        whole = (left_margin + across + _EDGE, top + down + _EDGE)
        return Layout(
            *whole, (left_margin / whole[0], _EDGE / whole[1], across / whole[0], down / whole[1])
        )

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        n_rows, n_columns = len(self.rows), len(self.columns)
        axes.set(xlim=(0, n_columns), ylim=(n_rows, 0))
        axes.grid(visible=False)
        axes.xaxis.tick_top()
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0)
        axes.set_xticks(
            [place + 0.5 for place in range(n_columns)],
            short_apart(self.columns, [_LONGEST_COLUMN] * len(self.columns)),
            rotation=90 if self._upright() else 0,
        )
        axes.set_yticks(
            [place + 0.5 for place in range(n_rows)],
            [_in_two_lines(name) for name in self.rows],
            linespacing=1.0,
        )
        self._titles(axes)
        for y, (row, cells) in enumerate(zip(self.rows, self.cells, strict=True)):
            for x, (column, cell) in enumerate(zip(self.columns, cells, strict=True)):
                _draw_cell(axes, x, y, cell, text_of_cell=f"{row}, {column}")

    def _titles(self, axes: Axes) -> None:
        """Draw the titles of rows and columns above their labels, on one line."""
        above = self._top() - _EDGE - 8
        sides = (("right", -_EDGE, f"{self.down} ↓"), ("left", 2, f"{self.across} →"))
        for ha, away, text in sides:
            axes.annotate(
                svg.drawable(text), (0, 1), (away, above), xycoords="axes fraction",
                textcoords="offset points", ha=ha, va="center", fontweight="bold",
            )  # fmt: skip


def _in_two_lines(name: str) -> str:
    """Return a label wrapped at words, each line as short as `_LONGEST_ROW`."""
    name = svg.drawable(name)
    if length(name) <= _LONGEST_ROW:
        return name
    first, *lines_below = textwrap.wrap(name, _LONGEST_ROW) or [""]
    lines = [first, " ".join(lines_below)] if lines_below else [first]
    return "\n".join(short(line, _LONGEST_ROW) for line in lines)


def _draw_cell(axes: Axes, x: int, y: int, cell: Cell | None, *, text_of_cell: str) -> None:
    from matplotlib.patches import Rectangle

    share = None if cell is None else cell.share
    text, note = ("–", "") if cell is None else (cell.text, cell.note)
    axes.add_patch(
        Rectangle(
            (x, y), 1, 1, facecolor=_shade(share), edgecolor="white", linewidth=1.5,
            gid=svg.tooltip(f"{text_of_cell}: {text}{f', {note}' if note else ''}"),
        )
    )  # fmt: skip
    middle = y + (0.34 if note else 0.5)
    style = {"ha": "center", "va": "center", "color": "black"}
    axes.text(x + 0.5, middle, svg.drawable(text), **style)
    if note:
        axes.text(x + 0.5, y + 0.74, svg.drawable(note), fontsize=10, **style)


def _shade(share: float | None) -> tuple[float, float, float] | str:
    """Return white for 0, `FULL` for 1, what lies between, and grey for no value."""
    if share is None:
        return "#eff0f2"
    full = [int(FULL[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (1 - min(max(share, 0.0), 1.0) * (1 - channel) for channel in full)
    return red, green, blue
