"""Plots of intervals, bins and curves, about 360 units wide, which fits a phone.

Matplotlib draws them (the extra ``[plots]``); where it is not installed pages have none.
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
    above_axes,
    apart,
    draw_mark,
    linear,
    marker,
    plain_tick,
    short_apart,
    within,
)
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 38
_NAME = 44
"""Characters of a curve's name."""
_MAX_STEPPED = 200
"""High to low of a logarithmic axis up to which its ticks are 1, 2, 5, 10 and not 1, 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One row: a value with its interval; without a value, ``text`` alone says why."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    text: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through (x, y) points, dashed where its mark is hollow."""

    name: str
    points: tuple[tuple[float, float], ...]
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityPlot:
    """People's mean label, with interval, against the judge's mean score in each of ``bins``.

    On the diagonal they agree; a mark is larger for more items.
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
        """The size of the figure, and where its axes stand."""
        return Layout(340, 330, (0.15, 0.13, 0.82, 0.83))

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        limits = apart(*self.scale)
        bins = [items for items in self.bins if items["mean_label"]["value"] is not None]
        most = max((items["n"] for items in bins), default=1)
        axes.set(xlim=limits, ylim=limits, xlabel="judge's score", ylabel="people's mean label")
        axes.plot(limits, limits, color="black", linestyle=DASHES)
        for items in bins:
            score, label, n = (items[name] for name in ("mean_score", "mean_label", "n"))
            across = within(score, limits)
            if label["low"] is not None and label["high"] is not None:
                ends = (within(label[end], limits) for end in ("low", "high"))
                axes.vlines(across, *ends, "black")
            sentence = f"score {score:.2f}, people {label['value']:.2f}, {pluralize(n, 'item')}"
            size = 3 + 5 * math.sqrt(n / most)
            up = within(label["value"], limits)
            draw_mark(axes, self.mark, across, up, size=size, label=sentence)
        linear(axes.xaxis, axes.yaxis)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestPlot:
    """One interval a row, with a line at 0 and, given a ``band``, its two dashed borders.

    ``whole`` says that values are whole numbers, such as ranks.
    """

    name: str
    rows: Sequence[ForestRow]
    across: str
    span: Limits | None = None
    band: Limits | None = None
    whole: bool = False

    @property
    def empty(self) -> bool:
        """Whether no row has a value: the table beside it says why."""
        return all(row.value is None for row in self.rows)

    @property
    def layout(self) -> Layout:
        """The size of the figure, and where its axes stand."""
        height, below = _ROW * max(len(self.rows), 1), 30 + 16 * len(self._label())
        whole = height + below + 8
        return Layout(WIDTH, whole, (0.04, below / whole, 0.92, height / whole))

    def _label(self) -> list[str]:
        return textwrap.wrap(svg.drawable(self.across), LINE)

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""
        n_rows, limits = max(len(self.rows), 1), apart(*(self.span or _span(self.rows)))
        axes.set(xlim=limits, ylim=(n_rows, 0), xlabel="\n".join(self._label()))
        axes.spines["left"].set_visible(False)
        axes.yaxis.set_visible(False)
        axes.grid(visible=False)
        linear(axes.xaxis, whole=self.whole)
        if self.band is not None:
            edges = [within(edge, limits) for edge in self.band]
            axes.axvspan(*edges, color="#eff0f2")
            _upright(axes, edges, n_rows, linestyles=[DASHES])
        ticks = [tick for tick in axes.get_xticks() if limits[0] <= tick <= limits[1]]
        _upright(axes, ticks, n_rows, colors=RULE, linewidths=0.8)
        if limits[0] <= 0 <= limits[1]:
            _upright(axes, [0.0], n_rows)
        rooms = [LINE - len(row.text) - 3 for row in self.rows]
        labels = short_apart([row.label for row in self.rows], rooms)
        for place, (row, label) in enumerate(zip(self.rows, labels, strict=True)):
            _forest_row(axes, row, label, place, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePlot:
    """Curves from 0 upwards, each named at the top; empty without points."""

    name: str
    curves: Sequence[Curve]
    across: str
    up: str
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
        """The size of the figure, and where its axes stand."""
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
            xlim=apart(first, last, logarithmic=logarithmic),
            xlabel=svg.drawable(self.across), ylabel=svg.drawable(self.up),
        )  # fmt: skip
        for curve in self.curves:
            axes.plot(
                [x for x, _ in curve.points],
                [within(y, (0.0, highest)) for _, y in curve.points],
                color="black",
                linestyle="-" if curve.mark.filled else DASHES,
                **marker(curve.mark, 3.5),
            )
        names = short_apart([curve.name for curve in self.curves], [_NAME] * len(self.curves))
        above_axes(axes, axes.get_lines(), names)
        linear(axes.yaxis)
        if not (logarithmic and _logarithmic(axes)):
            linear(axes.xaxis)


def _upright(axes: Axes, xs: Sequence[float], n_rows: int, **style: Any) -> None:
    """Draw upright lines beside the intervals of all rows, and none through the texts above."""
    for place in range(n_rows):
        axes.vlines(xs, place + 0.44, place + 0.9, **{"colors": "black", "zorder": 1, **style})


def _forest_row(axes: Axes, row: ForestRow, label: str, place: int, limits: Limits) -> None:
    """Draw `label` and figures on one line, the interval below it."""
    from matplotlib.transforms import blended_transform_factory

    edges = blended_transform_factory(axes.transAxes, axes.transData)
    axes.text(0, place + 0.3, label, transform=edges)
    axes.text(1, place + 0.3, svg.drawable(row.text), ha="right", transform=edges)
    if row.value is None:
        return
    middle = place + 0.67
    if row.low is not None and row.high is not None:
        ends = [within(end, limits) for end in (row.low, row.high)]
        axes.plot(ends, [middle] * 2, color="black", clip_on=False)
        # An interval that the axis is too short for ends in an arrow.
        arrows = (4 if row.low < limits[0] else "|", 5 if row.high > limits[1] else "|")
        for end, tip in zip(ends, arrows, strict=True):
            axes.plot([end], [middle], color="black", marker=tip, markersize=8, clip_on=False)
    sentence = f"{row.label}: {row.text}"
    draw_mark(axes, row.mark, within(row.value, limits), middle, size=5.5, label=sentence)


def _span(rows: Sequence[ForestRow]) -> Limits:
    """Return a span around all intervals and 0, with a little room at both ends."""
    ends = chain.from_iterable((row.value, row.low, row.high) for row in rows)
    bounds = [0.0, *(end for end in ends if end is not None and math.isfinite(end))]
    low, high = min(bounds), max(bounds)
    room = 0.04 * (high - low)
    return (low - room, high + room) if low < high else (-1.0, 1.0)


def _logarithmic(axes: Axes) -> bool:
    """Tick at 1, 2 and 5 times powers of ten; say False where fewer than two fit."""
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
