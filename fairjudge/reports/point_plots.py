"""Plots of points with intervals, of bars, and of tables, whose cells are shaded by share."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairjudge.reports import svg
from fairjudge.reports.drawing import (
    DASHES,
    LETTER,
    PLAIN,
    WIDTH,
    Layout,
    Limits,
    Mark,
    above_axes,
    apart,
    draw_mark,
    length,
    linear,
    short,
    short_apart,
    within,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _BELOW = 52, 44
_NAMES, _LONGEST_NAME = 134, 17
"""Pixels beside a scatter plot for the names of points, and characters of one."""
_LINE = 15
"""Pixels from a name to the next one."""
_GREY = "#6b737c"
_HEIGHT = 246


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value with its interval on either axis, each as `figure` has it in JSON."""

    name: str
    x: Mapping[str, Any]
    y: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPlot:
    """Points with intervals both ways; names stand beside the axes, each with a line to its point.

    Where both axes have one scale, a dashed line says where both are equal.
    """

    name: str
    points: Sequence[Point]
    across: str
    up: str
    same_scale: bool = True

    def _defined_points(self) -> list[Point]:
        return [p for p in self.points if None not in (p.x.get("value"), p.y.get("value"))]

    @property
    def empty(self) -> bool:
        """Whether fewer than two points have both values."""
        return len(self._defined_points()) < 2

    @property
    def layout(self) -> Layout:
        """The size of the figure, and where its axes stand."""
        tall = max(_HEIGHT - _BELOW, _LINE * len(self._defined_points()))
        height, across = tall + _BELOW + 8, WIDTH - _LEFT - _NAMES
        return Layout(
            WIDTH, height, (_LEFT / WIDTH, _BELOW / height, across / WIDTH, tall / height)
        )

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        points = self._defined_points()
        across, up = (_limits([getattr(p, axis) for p in points]) for axis in ("x", "y"))
        if self.same_scale:
            across = up = (min(across[0], up[0]), max(across[1], up[1]))
            axes.plot(across, up, color="black", linestyle=DASHES, linewidth=1)
        axes.set(
            xlim=across, ylim=up, xlabel=svg.drawable(self.across), ylabel=svg.drawable(self.up)
        )
        linear(axes.xaxis, axes.yaxis)
        for p in points:
            x, y = p.x["value"], p.y["value"]
            for ends, line in ((p.x, axes.hlines), (p.y, axes.vlines)):
                if ends.get("low") is not None and ends.get("high") is not None:
                    line(y if line == axes.hlines else x, ends["low"], ends["high"], _GREY)
            text = f"{p.name}: {self.across} {x:.2f}, {self.up} {y:.2f}"
            draw_mark(axes, PLAIN, x, y, size=4, label=text)
        self._names(axes, points, up)

    def _names(self, axes: Axes, points: Sequence[Point], limits: Limits) -> None:
        """Name the points from the lowest to the highest, no two on one line."""
        layout = self.layout
        gap = _LINE / (layout.height * layout.box[3])
        low, high = limits
        ordered = sorted(points, key=lambda p: (p.y["value"], p.x["value"]))
        heights = [(p.y["value"] - low) / (high - low) for p in ordered]
        names = short_apart([p.name for p in ordered], [_LONGEST_NAME] * len(ordered))
        for p, name, place in zip(ordered, names, spread(heights, gap), strict=True):
            axes.annotate(
                name, (p.x["value"], p.y["value"]), (1.06, place),
                textcoords="axes fraction", va="center", annotation_clip=False,
                arrowprops={"arrowstyle": "-", "linestyle": ":", "color": _GREY, "linewidth": 0.8,
                            "shrinkA": 1, "shrinkB": 3, "zorder": 1.5},
            )  # fmt: skip


def spread(targets: Sequence[float], gap: float) -> list[float]:
    """Return ascending positions in [0, 1] near `targets`, at least `gap` apart if they fit."""
    gap = min(gap, 1 / max(len(targets) - 1, 1))
    places: list[float] = []
    for n, height in enumerate(targets):
        least = places[-1] + gap if places else 0.0
        places.append(min(max(height, least), 1 - gap * (len(targets) - 1 - n)))
    return places


def _limits(figures: Sequence[Mapping[str, Any]]) -> Limits:
    """Return an axis that holds all intervals, with a little room at both ends."""
    values = [f[end] for f in figures for end in ("value", "low", "high") if f.get(end) is not None]
    low, high = apart(min(values), max(values))
    room = 0.05 * (high - low)
    return low - room, high + room


@dataclass(frozen=True, slots=True, kw_only=True)
class LooksPlot:
    """A change at each look with its interval, a line at 0, and a dashed one at ``-margin``.

    ``changes`` has one figure a look, as JSON has it; a look without a value leaves a gap.
    """

    name: str
    changes: Sequence[Mapping[str, Any]]
    up: str
    margin: float | None = None

    @property
    def empty(self) -> bool:
        """Whether fewer than two looks have a value."""
        return sum(change.get("value") is not None for change in self.changes) < 2

    @property
    def layout(self) -> Layout:
        """The size of the figure, and where its axes stand."""
        return Layout(WIDTH, _HEIGHT, (0.17, _BELOW / _HEIGHT, 0.8, 1 - (_BELOW + 10) / _HEIGHT))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        looks = enumerate(self.changes, 1)
        defined = {n: change for n, change in looks if change.get("value") is not None}
        edge = {"value": -(self.margin or 0.0)}
        axes.set(
            xlim=(0.5, len(self.changes) + 0.5),
            ylim=_limits([*defined.values(), edge, {"value": 0.0}]),
            xlabel="look", ylabel=svg.drawable(self.up),
        )  # fmt: skip
        axes.axhline(0, color="black", linewidth=1)
        if self.margin is not None:
            axes.axhline(edge["value"], color="black", linestyle=DASHES, linewidth=1)
        for n, change in defined.items():
            if change.get("low") is not None and change.get("high") is not None:
                axes.vlines(n, change["low"], change["high"], _GREY)
            label = f"look {n}: {change['value']:.3f}"
            draw_mark(axes, PLAIN, n, change["value"], size=3, label=label)
        linear(axes.yaxis)
        linear(axes.xaxis, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One distribution: how often each level occurs, in percent."""

    name: str
    mark: Mark
    percent: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPlot:
    """Distributions over the same ``levels``, side by side."""

    name: str
    levels: Sequence[str]
    series: Sequence[Bars]
    across: str

    @property
    def empty(self) -> bool:
        """Whether there is no bar."""
        return not any(any(bars.percent) for bars in self.series)

    @property
    def layout(self) -> Layout:
        """The size of the figure, and where its axes stand."""
        return Layout(WIDTH, _HEIGHT, (0.15, _BELOW / _HEIGHT, 0.82, 1 - (_BELOW + 30) / _HEIGHT))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        highest = max(max(bars.percent) for bars in self.series)
        wide = 0.8 / len(self.series)
        axes.set(
            xlim=(-0.6, len(self.levels) - 0.4), ylim=(0.0, within(1.08 * highest, (1.0, 100.0))),
            xlabel=svg.drawable(self.across), ylabel="percent",
        )  # fmt: skip
        axes.grid(visible=False, axis="x")
        containers = []
        for n, bars in enumerate(self.series):
            places = [level - 0.4 + (n + 0.5) * wide for level in range(len(self.levels))]
            filled = bars.mark.filled
            container = axes.bar(
                places, bars.percent, wide, color=bars.mark.colour if filled else "white",
                edgecolor=bars.mark.colour, linewidth=1.5,
            )  # fmt: skip
            for level, percent, bar in zip(self.levels, bars.percent, container, strict=True):
                bar.set_gid(svg.tooltip(f"{bars.name}, {level}: {percent:.0f} %"))
            containers.append(container)
        axes.set_xticks(range(len(self.levels)), [short(level, 14) for level in self.levels])
        linear(axes.yaxis)
        above_axes(axes, containers, [bars.name for bars in self.series], columns=len(containers))


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
