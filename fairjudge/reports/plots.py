"""Plots as inline SVG: told apart by shape, fill and dashes, never by colour alone.

Matplotlib draws them (the extra ``[plots]``); where it is not installed every plot is empty. All
are about 360 units wide: legible on a phone as they are, and side by side on a desk.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fairjudge.reports import svg
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Shape: TypeAlias = Literal["square", "diamond", "circle"]
Limits: TypeAlias = tuple[float, float]

_WIDTH = 360
_ROW = 38
_LINE = 54
"""Characters that fit beside one another."""
_MAX_STEPPED = 200
"""High to low of a logarithmic axis up to which its ticks are 1, 2, 5, 10 and not 1, 10."""
_FULL, _DASHES = "#0b4f8a", (0, (4, 3))
_MARKERS: dict[Shape, str] = {"square": "s", "diamond": "D", "circle": "o"}


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
class Curve:
    """A line through (x, y) points, dashed where its mark is hollow."""

    name: str
    points: tuple[tuple[float, float], ...]
    mark: Mark


_SHAPES: tuple[Shape, ...] = ("square", "circle", "diamond")
CURVE_MARKS = tuple(Mark(shape=_SHAPES[n % 3], filled=n % 2 == 0) for n in range(6))
"""What tells curves apart: so many are drawn."""


def reliability_plot(
    bins: Sequence[Mapping[str, Any]], *, scale: Limits, name: str, mark: Mark
) -> str:
    """Plot people's mean label, with interval, against the judge's mean score in each of `bins`.

    On the diagonal they agree; a mark is larger for more items.
    """
    if not svg.can_draw():
        return ""
    limits = _apart(*scale)
    known = [one for one in bins if one["mean_label"]["value"] is not None]
    most = max((one["n"] for one in known), default=1)
    with svg.house_style(name):
        drawn = svg.figure(340, 330)
        axes = drawn.add_axes((0.15, 0.13, 0.82, 0.83))
        axes.set(xlim=limits, ylim=limits, xlabel="judge's score", ylabel="people's mean label")
        axes.plot(limits, limits, color="black", linestyle=_DASHES)
        for one in known:
            score, label, n = one["mean_score"], one["mean_label"], one["n"]
            across = _within(score, limits)
            if label["low"] is not None and label["high"] is not None:
                ends = (_within(label[end], limits) for end in ("low", "high"))
                axes.vlines(across, *ends, "black")
            sentence = f"score {score:.2f}, people {label['value']:.2f}, {pluralize(n, 'item')}"
            size = 3 + 5 * math.sqrt(n / most)
            _mark(axes, mark, across, _within(label["value"], limits), size=size, said=sentence)
        _linear(axes.xaxis, axes.yaxis)
        return svg.to_svg(drawn, name)


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    name: str,
    across: str,
    span: Limits | None = None,
    band: Limits | None = None,
) -> str:
    """Plot one interval a row, with a line at 0 and, given a `band`, its two dashed borders."""
    if not svg.can_draw():
        return ""
    limits = _apart(*(span or _span(rows)))
    label = textwrap.wrap(svg.shown(across), _LINE)
    height, below = _ROW * max(len(rows), 1), 30 + 16 * len(label)
    with svg.house_style(name):
        drawn = svg.figure(_WIDTH, height + below + 8)
        axes = drawn.add_axes(
            (0.04, below / (height + below + 8), 0.92, height / (height + below + 8))
        )
        axes.set(xlim=limits, ylim=(max(len(rows), 1), 0), xlabel="\n".join(label))
        axes.spines["left"].set_visible(False)
        axes.yaxis.set_visible(False)
        axes.grid(visible=False)
        _linear(axes.xaxis)
        if band is not None:
            axes.axvspan(*(_within(edge, limits) for edge in band), color="#eff0f2")
            _upright(
                axes, [_within(edge, limits) for edge in band], len(rows), linestyles=[_DASHES]
            )
        ticks = [tick for tick in axes.get_xticks() if limits[0] <= tick <= limits[1]]
        _upright(axes, ticks, len(rows), colors="#d5d9de", linewidths=0.8)
        if limits[0] <= 0 <= limits[1]:
            _upright(axes, [0.0], len(rows))
        for place, row in enumerate(rows):
            _forest_row(axes, row, place, limits)
        return svg.to_svg(drawn, name)


def curve_plot(
    curves: Sequence[Curve], *, name: str, across: str, up: str, logarithmic: bool = True
) -> str:
    """Plot curves from 0 upwards, each named at the top; nothing where there is no point."""
    points = [point for curve in curves for point in curve.points if all(map(math.isfinite, point))]
    if not points or not svg.can_draw():
        return ""
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    highest = max(0.0, *(y for _, y in points)) or 1.0
    logarithmic = logarithmic and first > 0
    top, height = 14 + 18 * len(curves), 256 + 18 * len(curves)
    with svg.house_style(name):
        drawn = svg.figure(_WIDTH, height)
        axes = drawn.add_axes((0.15, 46 / height, 0.8, (height - top - 46) / height))
        axes.set(
            xscale="log" if logarithmic else "linear", ylim=(0.0, highest),
            xlim=_apart(first, last, logarithmic=logarithmic),
            xlabel=svg.shown(across), ylabel=svg.shown(up),
        )  # fmt: skip
        for curve in curves:
            axes.plot(
                [x for x, _ in curve.points],
                [_within(y, (0.0, highest)) for _, y in curve.points],
                color="black",
                linestyle="-" if curve.mark.filled else _DASHES,
                label=_short(curve.name),
                **_marker(curve.mark, 3.5),
            )
        names = [_short(curve.name) for curve in curves]
        drawn.legend(axes.get_lines(), names, loc="upper left", handlelength=2.6)
        _linear(axes.yaxis)
        if not (logarithmic and _logarithmic(axes)):
            _linear(axes.xaxis)
        return svg.to_svg(drawn, name)


def _upright(axes: Axes, xs: Sequence[float], n_rows: int, **style: Any) -> None:
    """Draw upright lines beside the intervals of all rows, and none through the texts above."""
    for place in range(n_rows):
        axes.vlines(xs, place + 0.44, place + 0.9, **{"colors": "black", "zorder": 1, **style})


def _forest_row(axes: Axes, row: ForestRow, place: int, limits: Limits) -> None:
    """Draw label and figures on one line, the interval below it."""
    from matplotlib.transforms import blended_transform_factory

    edges = blended_transform_factory(axes.transAxes, axes.transData)
    label = _short(row.label, _LINE - len(row.text) - 3)
    axes.text(0, place + 0.3, label, transform=edges)
    axes.text(1, place + 0.3, svg.shown(row.text), ha="right", transform=edges)
    if row.value is None:
        return
    middle = place + 0.67
    if row.low is not None and row.high is not None:
        ends = [_within(end, limits) for end in (row.low, row.high)]
        axes.plot(ends, [middle] * 2, color="black", marker="|", markersize=8, clip_on=False)
    sentence = f"{row.label}: {row.text}"
    _mark(axes, row.mark, _within(row.value, limits), middle, size=5.5, said=sentence)


def _span(rows: Sequence[ForestRow]) -> Limits:
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


def _apart(low: float, high: float, *, logarithmic: bool = False) -> Limits:
    """Return the ends of an axis; around a single value where there is no more."""
    if low < high:
        return low, high
    return (low / 2, low * 2) if logarithmic else (low - 0.5, low + 0.5)


def _within(value: float, limits: Limits) -> float:
    return min(max(value, limits[0]), limits[1])


def _linear(*axes: Axis) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(_plain)


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
    axes.xaxis.set_major_formatter(_plain)
    return True


def _plain(tick: float, _place: int | None = None) -> str:
    return f"{tick:.4g}"


def _mark(axes: Axes, mark: Mark, x: float, y: float, *, size: float, said: str) -> None:
    marker = _marker(mark, size)
    axes.plot([x], [y], linestyle="", gid=svg.tooltip(said), zorder=3, **marker)


def _marker(mark: Mark, size: float) -> dict[str, Any]:
    """Return how a line shows its points; `size` is half the width of a square."""
    return {
        "marker": _MARKERS[mark.shape],
        "markersize": size * (1.8 if mark.shape == "diamond" else 2.0),
        "markerfacecolor": _FULL if mark.filled else "white",
        "markeredgecolor": "black",
        "clip_on": False,
    }


def _short(label: str, longest: int = 44) -> str:
    """Return what of `label` takes the room of `longest` usual characters, one at least."""
    label = svg.shown(label)
    ends = list(accumulate(map(_width, label)))
    if not ends or ends[-1] <= longest:
        return label
    return label[: max(sum(end <= longest - 1 for end in ends), 1)] + "…"


def _width(character: str) -> float:
    """Return how much room a character takes beside a usual one, about, in sans-serif type."""
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 2.0
    if character in "MWmw@%":
        return 1.6
    return 1.2 if character.isupper() else 1.0
