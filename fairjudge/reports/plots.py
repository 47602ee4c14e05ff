"""Plots of intervals, bins and curves, about 360 pixels wide, which fits a phone.

Matplotlib draws them (the extra ``[plots]``); pages have no plots if it is not installed.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from fairjudge.reports import svg
from fairjudge.reports.drawing import (
    DASHES,
    LINE,
    RULE,
    WIDTH,
    Layout,
    Limits,
    Mark,
    clip,
    draw_legend,
    draw_mark,
    marker_style,
    plain_tick,
    set_linear_ticks,
    shorten_distinctly,
    widen_limits,
)
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 38
_NAME = 44
"""Maximum width of a curve's name, in characters."""
_MAX_STEPPED = 200
"""Maximum ratio of a logarithmic axis's limits for ticks at 1, 2, 5, 10 instead of 1, 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One row: a value with its interval, or ``text`` only if there is no value."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    text: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through (x, y) points, dashed if its mark is hollow."""

    name: str
    points: tuple[tuple[float, float], ...]
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityPlot:
    """Mean human label, with interval, against the judge's mean score in each of ``bins``.

    Both are equal on the diagonal; marks are larger for more items.
    """

    name: str
    bins: Sequence[Mapping[str, Any]]
    scale: Limits
    mark: Mark

    @property
    def empty(self) -> bool:
        """Whether there is no bin."""
        return not self.bins

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        return Layout(340, 330, (0.15, 0.13, 0.82, 0.83))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        limits = widen_limits(*self.scale)
        bins = [items for items in self.bins if items["mean_label"]["value"] is not None]
        n_max = max((items["n"] for items in bins), default=1)
        axes.set(xlim=limits, ylim=limits, xlabel="judge's score", ylabel="mean human label")
        axes.plot(limits, limits, color="black", linestyle=DASHES)
        for items in bins:
            score, label, n = (items[name] for name in ("mean_score", "mean_label", "n"))
            x = clip(score, limits)
            if label["low"] is not None and label["high"] is not None:
                bounds = (clip(label[name], limits) for name in ("low", "high"))
                axes.vlines(x, *bounds, "black")
            sentence = f"score {score:.2f}, humans {label['value']:.2f}, {pluralize(n, 'item')}"
            size = 3 + 5 * math.sqrt(n / n_max)
            y = clip(label["value"], limits)
            draw_mark(axes, self.mark, x, y, size=size, label=sentence)
        set_linear_ticks(axes.xaxis, axes.yaxis)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestPlot:
    """One interval per row, with a line at 0 and dashed borders of ``band``, if any.

    ``integers`` is whether values are integers, such as ranks.
    """

    name: str
    rows: Sequence[ForestRow]
    x_label: str
    span: Limits | None = None
    band: Limits | None = None
    integers: bool = False

    @property
    def empty(self) -> bool:
        """Whether no row has a value."""
        return all(row.value is None for row in self.rows)

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        axes_height, bottom = _ROW * max(len(self.rows), 1), 30 + 16 * len(self._label())
        height = axes_height + bottom + 8
        return Layout(WIDTH, height, (0.04, bottom / height, 0.92, axes_height / height))

    def _label(self) -> list[str]:
        return textwrap.wrap(svg.drawable_text(self.x_label), LINE)

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        n_rows, limits = max(len(self.rows), 1), widen_limits(*(self.span or _span(self.rows)))
        axes.set(xlim=limits, ylim=(n_rows, 0), xlabel="\n".join(self._label()))
        axes.spines["left"].set_visible(False)
        axes.yaxis.set_visible(False)
        axes.grid(visible=False)
        set_linear_ticks(axes.xaxis, integers=self.integers)
        if self.band is not None:
            edges = [clip(edge, limits) for edge in self.band]
            axes.axvspan(*edges, color="#eff0f2")
            _vertical_lines(axes, edges, n_rows, linestyles=[DASHES])
        ticks = [tick for tick in axes.get_xticks() if limits[0] <= tick <= limits[1]]
        _vertical_lines(axes, ticks, n_rows, colors=RULE, linewidths=0.8)
        if limits[0] <= 0 <= limits[1]:
            _vertical_lines(axes, [0.0], n_rows)
        max_widths = [LINE - len(row.text) - 3 for row in self.rows]
        labels = shorten_distinctly([row.label for row in self.rows], max_widths)
        for index, (row, label) in enumerate(zip(self.rows, labels, strict=True)):
            _forest_row(axes, row, label, index, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePlot:
    """Curves with a y axis from 0 and a legend above; empty without points."""

    name: str
    curves: Sequence[Curve]
    x_label: str
    y_label: str
    logarithmic: bool = True

    def _points(self) -> list[tuple[float, float]]:
        points = (point for curve in self.curves for point in curve.points)
        return [point for point in points if all(map(math.isfinite, point))]

    @property
    def empty(self) -> bool:
        """Whether there is no point."""
        return not self._points()

    @property
    def layout(self) -> Layout:
        """The size of the figure and the box of its axes."""
        top, height = 14 + 18 * len(self.curves), 256 + 18 * len(self.curves)
        return Layout(WIDTH, height, (0.15, 46 / height, 0.8, (height - top - 46) / height))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        points = self._points()
        first, last = min(x for x, _ in points), max(x for x, _ in points)
        highest = max(0.0, *(y for _, y in points)) or 1.0
        logarithmic = self.logarithmic and first > 0
        axes.set(
            xscale="log" if logarithmic else "linear", ylim=(0.0, highest),
            xlim=widen_limits(first, last, logarithmic=logarithmic),
            xlabel=svg.drawable_text(self.x_label), ylabel=svg.drawable_text(self.y_label),
        )  # fmt: skip
        for curve in self.curves:
            axes.plot(
                [x for x, _ in curve.points],
                [clip(y, (0.0, highest)) for _, y in curve.points],
                color="black",
                linestyle="-" if curve.mark.filled else DASHES,
                **marker_style(curve.mark, 3.5),
            )
        names = shorten_distinctly(
            [curve.name for curve in self.curves], [_NAME] * len(self.curves)
        )
        draw_legend(axes, axes.get_lines(), names)
        set_linear_ticks(axes.yaxis)
        if not (logarithmic and _set_logarithmic_ticks(axes)):
            set_linear_ticks(axes.xaxis)


def _vertical_lines(axes: Axes, xs: Sequence[float], n_rows: int, **style: Any) -> None:
    """Draw vertical lines at `xs` through the intervals of all rows, but not through texts."""
    for index in range(n_rows):
        axes.vlines(xs, index + 0.44, index + 0.9, **{"colors": "black", "zorder": 1, **style})


def _forest_row(axes: Axes, row: ForestRow, label: str, index: int, limits: Limits) -> None:
    """Draw `label` and the row's text on one line, and the interval below."""
    from matplotlib.transforms import blended_transform_factory

    edges = blended_transform_factory(axes.transAxes, axes.transData)
    axes.text(0, index + 0.3, label, transform=edges)
    axes.text(1, index + 0.3, svg.drawable_text(row.text), ha="right", transform=edges)
    if row.value is None:
        return
    middle = index + 0.67
    if row.low is not None and row.high is not None:
        ends = [clip(end, limits) for end in (row.low, row.high)]
        axes.plot(ends, [middle] * 2, color="black", clip_on=False)
        # Bounds beyond the axis are drawn as arrows.
        arrows = (4 if row.low < limits[0] else "|", 5 if row.high > limits[1] else "|")
        for end, tip in zip(ends, arrows, strict=True):
            axes.plot([end], [middle], color="black", marker=tip, markersize=8, clip_on=False)
    sentence = f"{row.label}: {row.text}"
    draw_mark(axes, row.mark, clip(row.value, limits), middle, size=5.5, label=sentence)


def _span(rows: Sequence[ForestRow]) -> Limits:
    """Return limits around all intervals and 0, with a margin at both ends."""
    candidates = chain.from_iterable((row.value, row.low, row.high) for row in rows)
    bounds = [0.0, *(value for value in candidates if value is not None and math.isfinite(value))]
    low, high = min(bounds), max(bounds)
    margin = 0.04 * (high - low)
    return (low - margin, high + margin) if low < high else (-1.0, 1.0)


def _set_logarithmic_ticks(axes: Axes) -> bool:
    """Set ticks at 1, 2 and 5 times powers of ten; return False if fewer than two fit."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high / low <= _MAX_STEPPED else (1.0,)
    locator = LogLocator(subs=steps, numticks=99)
    axes.xaxis.set_minor_locator(NullLocator())
    if sum(low <= tick <= high for tick in locator.tick_values(low, high)) < 2:
        return False
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(plain_tick)
    return True
