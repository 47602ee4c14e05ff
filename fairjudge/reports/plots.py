"""Plots as inline SVG: told apart by shape, fill and dashes, never by colour alone.

Matplotlib draws them (the extra ``[plots]``), by `fairjudge.reports.drawing`; where it is not
installed every plot is empty. Colours come from the page's style sheet, so that they follow light
and dark. All are 360 units wide: legible on a phone as they are, and side by side on a desk.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fairjudge.reports.drawing import (
    BAND,
    CURVE,
    DASHED,
    DASHED_CURVE,
    FULL,
    HOLLOW,
    LINE,
    Drawing,
    can_draw,
    house_style,
)
from fairjudge.reports.markup import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Shape: TypeAlias = Literal["square", "diamond", "circle"]

_WIDTH = 360
_MARGIN = 14
_ROW = 38
_LINE = 54
"""Characters that fit beside one another."""
_MOST_STEPPED = 200
"""High to low of a logarithmic axis up to which its ticks are 1, 2, 5, 10 and not 1, 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A shape, filled or hollow."""

    shape: Shape
    filled: bool


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
class ReliabilityPoint:
    """A bin: people's mean label, with interval, against the judge's mean score, of `n` items."""

    score: float
    label: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through (x, y) points."""

    name: str
    points: tuple[tuple[float, float], ...]
    mark: Mark
    dashed: bool


def reliability_plot(
    points: Sequence[ReliabilityPoint], *, scale: tuple[float, float], name: str, mark: Mark
) -> Markup:
    """Plot people's mean label against the judge's score; on the diagonal they agree."""
    if not can_draw():
        return Markup("")
    low, high = _apart(*scale)
    most = max((point.n for point in points), default=1)
    with house_style():
        drawing = Drawing(340, 330)
        axes = drawing.axes(left=48, right=328, top=12, bottom=292)
        axes.set(xlim=(low, high), ylim=(low, high))
        _line(axes, (low, high), (low, high), DASHED)
        for point in points:
            across = _within(point.score, low, high)
            if point.low is not None and point.high is not None:
                ends = [_within(end, low, high) for end in (point.low, point.high)]
                _line(axes, (across, across), ends, LINE)
            said = f"score {point.score:.2f}, people {point.label:.2f}, {point.n} items"
            size = 3 + 5 * math.sqrt(point.n / most)
            up = _within(point.label, low, high)
            _mark(axes, mark, across, up, size=size, key=drawing.key(said))
        _frame(drawing, axes, across="judge's score", up="people's mean label")
        return drawing.markup(name)


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    name: str,
    across: str,
    span: tuple[float, float] | None = None,
    band: tuple[float, float] | None = None,
) -> Markup:
    """Plot one interval a row, with a line at 0 and, given a `band`, its two dashed borders."""
    if not can_draw():
        return Markup("")
    low, high = _apart(*(span or _span(rows)))
    said = textwrap.wrap(across, _LINE)
    bottom = 10 + _ROW * len(rows)
    with house_style():
        drawing = Drawing(_WIDTH, bottom + 29 + 15 * len(said))
        axes = drawing.axes(left=_MARGIN, right=_WIDTH - _MARGIN, top=8, bottom=bottom)
        axes.set(xlim=(low, high), ylim=(bottom, 8))  # down is pixels
        axes.spines["left"].set_visible(False)
        axes.yaxis.set_visible(False)
        _linear(axes.xaxis)
        if band is not None:
            left, right = (_within(edge, low, high) for edge in band)
            axes.axvspan(left, right, color=BAND, zorder=0.6)
            for edge in (left, right):
                _line(axes, (edge, edge), (8, bottom), DASHED)
        if low <= 0 <= high:
            _line(axes, (0, 0), (8, bottom), LINE)
        for place, row in enumerate(rows):
            _forest_row(drawing, axes, row, 14 + _ROW * place)
        for place, line in enumerate(said):
            drawing.text(line, _WIDTH / 2, bottom + 36 + 15 * place, anchor="center")
        return drawing.markup(name)


def curve_plot(
    curves: Sequence[Curve], *, name: str, across: str, up: str, logarithmic: bool = True
) -> Markup:
    """Plot curves from 0 upwards, each named at the top; nothing where there is no point."""
    points = [point for curve in curves for point in curve.points if all(map(math.isfinite, point))]
    if not points or not can_draw():
        return Markup("")
    top = 14 + 18 * len(curves)
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    highest = max(0.0, *(y for _, y in points)) or 1.0
    logarithmic = logarithmic and first > 0
    with house_style():
        drawing = Drawing(_WIDTH, top + 242)
        axes = drawing.axes(left=52, right=_WIDTH - 18, top=top, bottom=top + 200)
        if logarithmic:
            axes.set_xscale("log")
        axes.set(xlim=_apart(first, last, logarithmic=logarithmic), ylim=(0.0, highest))
        for curve in curves:
            _curve(axes, curve, highest)
        shown = drawing.figure.legend(
            axes.get_lines(), ["x"] * len(curves), loc="upper left",
            bbox_to_anchor=(52 / drawing.width, 1 - 4 / drawing.height),
        )  # fmt: skip
        for curve, text in zip(curves, shown.get_texts(), strict=True):
            text.set_gid(drawing.key(_short(curve.name)))
        _frame(drawing, axes, across=across, up=up)
        return drawing.markup(name)


def _forest_row(drawing: Drawing, axes: Axes, row: ForestRow, top: float) -> None:
    """Draw label and figures on one line, the interval below it."""
    drawing.text(_short(row.label, _LINE - len(row.text) - 2), _MARGIN, top + 8)
    drawing.text(row.text, _WIDTH - _MARGIN, top + 8, anchor="right")
    if row.value is None:
        return
    limits, middle = axes.get_xlim(), top + 20
    if row.low is not None and row.high is not None:
        ends = [_within(end, *limits) for end in (row.low, row.high)]
        _line(axes, ends, (middle, middle), LINE, caps=True)
    key = drawing.key(f"{row.label}: {row.text}")
    _mark(axes, row.mark, _within(row.value, *limits), middle, size=5.5, key=key)


def _curve(axes: Axes, curve: Curve, highest: float) -> None:
    axes.plot(
        [x for x, _ in curve.points],
        [_within(y, 0.0, highest) for _, y in curve.points],
        color=DASHED_CURVE if curve.dashed else CURVE,
        **_marker(curve.mark, 3.5),
    )


def _span(rows: Sequence[ForestRow]) -> tuple[float, float]:
    """Return a span around all intervals and 0, with a little room at both ends."""
    known = [
        value
        for row in rows
        for value in (row.value, row.low, row.high)
        if value is not None and math.isfinite(value)
    ]
    low, high = min([0.0, *known]), max([0.0, *known])
    room = 0.04 * (high - low)
    return (low - room, high + room) if low < high else (-1.0, 1.0)


def _apart(low: float, high: float, *, logarithmic: bool = False) -> tuple[float, float]:
    """Return the ends of an axis; around a single value where there is no more."""
    if low < high:
        return low, high
    return (low / 2, low * 2) if logarithmic else (low - 0.5, low + 0.5)


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _frame(drawing: Drawing, axes: Axes, *, across: str, up: str) -> None:
    """Set ticks, and names below and beside the axes."""
    _linear(axes.yaxis)
    if axes.get_xscale() == "log":
        _logarithmic(axes)
    else:
        _linear(axes.xaxis)
    left, right, bottom, top = (
        axes.bbox.x0, axes.bbox.x1, drawing.height - axes.bbox.y0, drawing.height - axes.bbox.y1,
    )  # fmt: skip
    drawing.text(across, (left + right) / 2, bottom + 34, anchor="center")
    drawing.text(up, 12, (top + bottom) / 2, anchor="center", upward=True)


def _linear(axis: Axis) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(_plain)


def _logarithmic(axes: Axes) -> None:
    """Tick at 1, 2 and 5 times powers of ten; as on a linear axis where fewer than two fit."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high / low <= _MOST_STEPPED else (1.0,)
    locator = LogLocator(subs=steps, numticks=99)
    axes.xaxis.set_minor_locator(NullLocator())
    if sum(low <= tick <= high for tick in locator.tick_values(low, high)) < 2:
        _linear(axes.xaxis)
        return
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(_plain)


def _plain(tick: float, _place: int | None = None) -> str:
    return f"{tick:.4g}"


def _line(
    axes: Axes, xs: Sequence[float], ys: Sequence[float], colour: str, *, caps: bool = False
) -> None:
    axes.plot(
        xs, ys, color=colour, marker="|" if caps else "", markersize=8, clip_on=False, zorder=2
    )


def _mark(axes: Axes, mark: Mark, x: float, y: float, *, size: float, key: str) -> None:
    axes.plot([x], [y], linestyle="", gid=key, zorder=3, **_marker(mark, size))


def _marker(mark: Mark, size: float) -> dict[str, Any]:
    """Return how a line shows its points; `size` is half the width of a square."""
    colour = FULL if mark.filled else HOLLOW
    return {
        "marker": _MARKERS[mark.shape],
        "markersize": size * (1.8 if mark.shape == "diamond" else 2.0),
        "markerfacecolor": colour,
        "markeredgecolor": colour,
        "clip_on": False,
    }


_MARKERS: dict[Shape, str] = {"square": "s", "diamond": "D", "circle": "o"}


def _short(label: str, longest: int = 44) -> str:
    return label if len(label) <= longest else label[: max(longest - 1, 1)] + "…"
