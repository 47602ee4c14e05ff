"""Plots of points with intervals, of bars, and of matrices with shaded cells."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairjudge.reports import svg
from fairjudge.reports.drawing import (
    DASHES,
    JUDGE_MARK,
    LETTER,
    WIDTH,
    Layout,
    Limits,
    Mark,
    clip,
    draw_legend,
    draw_mark,
    label_width,
    set_linear_ticks,
    shorten_distinctly,
    shorten_label,
    widen_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _BELOW = 52, 44
_NAMES, _LONGEST_NAME = 134, 17
"""Pixels beside a scatter plot for the names of points, and maximum width of a name."""
_LINE = 15
"""Pixels between the baselines of two names."""
_GREY = "#6b737c"
_HEIGHT = 246


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An estimate with its interval on each axis, as JSON (``value``, ``low``, ``high``)."""

    name: str
    x: Mapping[str, Any]
    y: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterPlot:
    """Points with two intervals; names are beside the axes, connected to their points by lines.

    If both axes have the same scale, both values are equal on a dashed line.
    """

    name: str
    points: Sequence[Point]
    x_label: str
    y_label: str
    same_scale: bool = True

    def _defined_points(self) -> list[Point]:
        return [p for p in self.points if None not in (p.x.get("value"), p.y.get("value"))]

    @property
    def empty(self) -> bool:
        """Whether fewer than two points have both values."""
        return len(self._defined_points()) < 2

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        axes_height = max(_HEIGHT - _BELOW, _LINE * len(self._defined_points()))
        height, axes_width = axes_height + _BELOW + 8, WIDTH - _LEFT - _NAMES
        return Layout(
            WIDTH,
            height,
            (_LEFT / WIDTH, _BELOW / height, axes_width / WIDTH, axes_height / height),
        )

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        points = self._defined_points()
        x_limits, y_limits = (_limits([getattr(p, axis) for p in points]) for axis in ("x", "y"))
        if self.same_scale:
            x_limits = y_limits = (min(x_limits[0], y_limits[0]), max(x_limits[1], y_limits[1]))
            axes.plot(x_limits, y_limits, color="black", linestyle=DASHES, linewidth=1)
        axes.set(
            xlim=x_limits,
            ylim=y_limits,
            xlabel=svg.drawable_text(self.x_label),
            ylabel=svg.drawable_text(self.y_label),
        )
        set_linear_ticks(axes.xaxis, axes.yaxis)
        for p in points:
            x, y = p.x["value"], p.y["value"]
            for estimate, line in ((p.x, axes.hlines), (p.y, axes.vlines)):
                if estimate.get("low") is not None and estimate.get("high") is not None:
                    line(y if line == axes.hlines else x, estimate["low"], estimate["high"], _GREY)
            text = f"{p.name}: {self.x_label} {x:.2f}, {self.y_label} {y:.2f}"
            draw_mark(axes, JUDGE_MARK, x, y, size=4, label=text)
        self._names(axes, points, y_limits)

    def _names(self, axes: Axes, points: Sequence[Point], limits: Limits) -> None:
        """Draw the names of the points from lowest to highest, without overlap."""
        layout = self.layout
        gap = _LINE / (layout.height * layout.box[3])
        low, high = limits
        sorted_points = sorted(points, key=lambda p: (p.y["value"], p.x["value"]))
        heights = [(p.y["value"] - low) / (high - low) for p in sorted_points]
        names = shorten_distinctly(
            [p.name for p in sorted_points], [_LONGEST_NAME] * len(sorted_points)
        )
        for p, name, position in zip(sorted_points, names, spread(heights, gap), strict=True):
            axes.annotate(
                name, (p.x["value"], p.y["value"]), (1.06, position),
                textcoords="axes fraction", va="center", annotation_clip=False,
                arrowprops={"arrowstyle": "-", "linestyle": ":", "color": _GREY, "linewidth": 0.8,
                            "shrinkA": 1, "shrinkB": 3, "zorder": 1.5},
            )  # fmt: skip


def spread(targets: Sequence[float], gap: float) -> list[float]:
    """Return ascending positions in [0, 1] near `targets`, at least `gap` apart if they fit."""
    gap = min(gap, 1 / max(len(targets) - 1, 1))
    positions: list[float] = []
    for n, height in enumerate(targets):
        minimum = positions[-1] + gap if positions else 0.0
        positions.append(min(max(height, minimum), 1 - gap * (len(targets) - 1 - n)))
    return positions


def _limits(figures: Sequence[Mapping[str, Any]]) -> Limits:
    """Return limits around all intervals, with a margin at both ends."""
    values = [
        figure[name]
        for figure in figures
        for name in ("value", "low", "high")
        if figure.get(name) is not None
    ]
    low, high = widen_limits(min(values), max(values))
    margin = 0.05 * (high - low)
    return low - margin, high + margin


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksPlot:
    """The change at each check with its interval, a line at 0, and a dashed one at ``-margin``.

    ``changes`` contains one estimate per check, as JSON; a check without a value leaves a gap.
    """

    name: str
    changes: Sequence[Mapping[str, Any]]
    y_label: str
    margin: float | None = None

    @property
    def empty(self) -> bool:
        """Whether fewer than two checks have a value."""
        return sum(change.get("value") is not None for change in self.changes) < 2

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        return Layout(WIDTH, _HEIGHT, (0.17, _BELOW / _HEIGHT, 0.8, 1 - (_BELOW + 10) / _HEIGHT))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        checks = enumerate(self.changes, 1)
        estimates = {n: change for n, change in checks if change.get("value") is not None}
        edge = {"value": -(self.margin or 0.0)}
        axes.set(
            xlim=(0.5, len(self.changes) + 0.5),
            ylim=_limits([*estimates.values(), edge, {"value": 0.0}]),
            xlabel="check", ylabel=svg.drawable_text(self.y_label),
        )  # fmt: skip
        axes.axhline(0, color="black", linewidth=1)
        if self.margin is not None:
            axes.axhline(edge["value"], color="black", linestyle=DASHES, linewidth=1)
        for n, change in estimates.items():
            if change.get("low") is not None and change.get("high") is not None:
                axes.vlines(n, change["low"], change["high"], _GREY)
            label = f"check {n}: {change['value']:.3f}"
            draw_mark(axes, JUDGE_MARK, n, change["value"], size=3, label=label)
        set_linear_ticks(axes.yaxis)
        set_linear_ticks(axes.xaxis, integers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One distribution: the percentage of each level."""

    name: str
    mark: Mark
    percent: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPlot:
    """Distributions over the same ``levels``, side by side."""

    name: str
    levels: Sequence[str]
    series: Sequence[Bars]
    x_label: str

    @property
    def empty(self) -> bool:
        """Whether there is no bar."""
        return not any(any(bars.percent) for bars in self.series)

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        return Layout(WIDTH, _HEIGHT, (0.15, _BELOW / _HEIGHT, 0.82, 1 - (_BELOW + 30) / _HEIGHT))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        highest = max(max(bars.percent) for bars in self.series)
        bar_width = 0.8 / len(self.series)
        axes.set(
            xlim=(-0.6, len(self.levels) - 0.4), ylim=(0.0, clip(1.08 * highest, (1.0, 100.0))),
            xlabel=svg.drawable_text(self.x_label), ylabel="percent",
        )  # fmt: skip
        axes.grid(visible=False, axis="x")
        containers = []
        for n, bars in enumerate(self.series):
            positions = [level - 0.4 + (n + 0.5) * bar_width for level in range(len(self.levels))]
            is_filled = bars.mark.filled
            container = axes.bar(
                positions, bars.percent, bar_width,
                color=bars.mark.colour if is_filled else "white",
                edgecolor=bars.mark.colour, linewidth=1.5,
            )  # fmt: skip
            for level, percent, bar in zip(self.levels, bars.percent, container, strict=True):
                bar.set_gid(svg.tooltip(f"{bars.name}, {level}: {percent:.0f} %"))
            containers.append(container)
        axes.set_xticks(
            range(len(self.levels)), [shorten_label(level, 14) for level in self.levels]
        )
        set_linear_ticks(axes.yaxis)
        draw_legend(axes, containers, [bars.name for bars in self.series], columns=len(containers))


_NARROWEST, _WIDEST = 42, 72
"""Minimum and maximum width of a cell in pixels; with many columns the figure scrolls."""
_LONGEST_ROW, _LONGEST_COLUMN = 20, 16
"""Maximum width of labels; tooltips of cells have them in full."""
_EDGE, _TITLE = 6, 22
FULL = "#7fb2e5"
"""Colour of a share of 1. On every shade up to it black text has a contrast of at least 4.5, also
after the page's style sheet inverts all colours in dark mode; on darker shades no text colour is
legible in both modes."""


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
    row_title: str
    column_title: str

    @property
    def empty(self) -> bool:
        """Whether no cell has a value."""
        return not any(cell for cells in self.cells for cell in cells)

    def _cell(self) -> tuple[float, float]:
        """Return the width and the height of a cell."""
        cell_width = (WIDTH - self._left_margin() - _EDGE) / max(len(self.columns), 1)
        has_notes = any(cell and cell.note for cells in self.cells for cell in cells)
        two_lines = has_notes or any(label_width(row) > _LONGEST_ROW for row in self.rows)
        return min(max(cell_width, _NARROWEST), _WIDEST), 34 if two_lines else 24

    def _left_margin(self) -> float:
        longest = max(map(label_width, (*self.rows, f"{self.row_title}   ")))
        return min(longest, _LONGEST_ROW) * LETTER + 2 * _EDGE

    def _has_vertical_names(self) -> bool:
        """Return whether names of columns are too long for horizontal text."""
        return max(map(label_width, self.columns), default=0) * LETTER > self._cell()[0] - _EDGE

    def _top(self) -> float:
        longest = min(max(map(label_width, self.columns), default=0), _LONGEST_COLUMN)
        return _TITLE + (longest * LETTER + 2 * _EDGE if self._has_vertical_names() else _TITLE)

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        width, height = self._cell()
        axes_width, axes_height = width * len(self.columns), height * len(self.rows)
        left_margin, top = self._left_margin(), self._top()
        size = (left_margin + axes_width + _EDGE, top + axes_height + _EDGE)
        return Layout(
            *size,
            (left_margin / size[0], _EDGE / size[1], axes_width / size[0], axes_height / size[1]),
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
            [index + 0.5 for index in range(n_columns)],
            shorten_distinctly(self.columns, [_LONGEST_COLUMN] * len(self.columns)),
            rotation=90 if self._has_vertical_names() else 0,
        )
        axes.set_yticks(
            [index + 0.5 for index in range(n_rows)],
            [_in_two_lines(name) for name in self.rows],
            linespacing=1.0,
        )
        self._titles(axes)
        for y, (row, cells) in enumerate(zip(self.rows, self.cells, strict=True)):
            for x, (column, cell) in enumerate(zip(self.columns, cells, strict=True)):
                _draw_cell(axes, x, y, cell, text_of_cell=f"{row}, {column}")

    def _titles(self, axes: Axes) -> None:
        """Draw the titles of rows and columns above their labels, on one line."""
        height = self._top() - _EDGE - 8
        sides = (("right", -_EDGE, f"{self.row_title} ↓"), ("left", 2, f"{self.column_title} →"))
        for ha, offset, text in sides:
            axes.annotate(
                svg.drawable_text(text), (0, 1), (offset, height), xycoords="axes fraction",
                textcoords="offset points", ha=ha, va="center", fontweight="bold",
            )  # fmt: skip


def _in_two_lines(name: str) -> str:
    """Return a label wrapped at words to at most two lines of `_LONGEST_ROW` characters."""
    name = svg.drawable_text(name)
    if label_width(name) <= _LONGEST_ROW:
        return name
    first, *lines_below = textwrap.wrap(name, _LONGEST_ROW) or [""]
    lines = [first, " ".join(lines_below)] if lines_below else [first]
    return "\n".join(shorten_label(line, _LONGEST_ROW) for line in lines)


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
    axes.text(x + 0.5, middle, svg.drawable_text(text), **style)
    if note:
        axes.text(x + 0.5, y + 0.74, svg.drawable_text(note), fontsize=10, **style)


def _shade(share: float | None) -> tuple[float, float, float] | str:
    """Return a colour between white (0) and `FULL` (1); grey for None."""
    if share is None:
        return "#eff0f2"
    full = [int(FULL[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (1 - min(max(share, 0.0), 1.0) * (1 - channel) for channel in full)
    return red, green, blue
