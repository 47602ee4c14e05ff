"""Plots as inline SVG: told apart by shape, fill and dashes, never by colour alone.

Colours come from the page's style sheet, so that they follow light and dark. All are 360 units
wide: legible on a phone as they are, and side by side on a desk.

Drawn here and not by a plotting library: Matplotlib's SVG carries inline styles, which the page's
policy refuses, fixes its colours, measures text in a font that the reader may not have, and takes
``$`` in a label, which may come from any file, for the start of a formula.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.reports.markup import Markup, element

Shape: TypeAlias = Literal["square", "diamond", "circle"]

_WIDTH = 360
_ROW = 38
_LINE = 54
"""Characters that fit beside one another."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Values from `low` to `high` on pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, here = (
            (math.log(self.low), math.log(self.high), math.log(value))
            if self.logarithmic
            else (self.low, self.high, value)
        )
        share = (here - low) / ((high - low) or 1.0)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            return [tick for tick in every if self.low <= tick <= self.high]
        span = (self.high - self.low) or 1.0
        raw = span / 6
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * one for one in (1, 2, 5, 10) if power * one >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [place * step for place in range(first, math.floor(self.high / step + 1e-9) + 1)]


def reliability_plot(
    points: Sequence[ReliabilityPoint], *, scale: tuple[float, float], name: str, mark: Mark
) -> Markup:
    """Plot people's mean label against the judge's score; on the diagonal they agree."""
    x = _Axis(low=scale[0], high=scale[1], start=48, end=328)
    y = _Axis(low=scale[0], high=scale[1], start=292, end=12)
    most = max((point.n for point in points), default=1)
    diagonal = _line(x.start, y.start, x.end, y.end, class_="dashed")
    drawn = [diagonal]
    for point in points:
        across = x.at(point.score)
        if point.low is not None and point.high is not None:
            drawn.append(_line(across, y.at(point.low), across, y.at(point.high)))
        said = f"score {point.score:.2f}, people {point.label:.2f}, {point.n} items"
        size = 3 + 5 * math.sqrt(point.n / most)
        drawn.append(_shape(mark, across, y.at(point.label), size=size, said=said))
    return _plot(
        *_frame(x, y, across="judge's score", up="people's mean label"),
        *drawn,
        width=340,
        height=330,
        name=name,
    )


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    name: str,
    across: str,
    span: tuple[float, float] | None = None,
    band: tuple[float, float] | None = None,
) -> Markup:
    """Plot one interval a row, with a line at 0 and, given a `band`, its two dashed borders."""
    low, high = span or _span(rows)
    x = _Axis(low=low, high=high, start=14, end=_WIDTH - 14)
    bottom = 10 + _ROW * len(rows)
    drawn = [_line(x.at(tick), 8, x.at(tick), bottom, class_="grid") for tick in x.ticks()]
    if band is not None:
        left, right = x.at(band[0]), x.at(band[1])
        drawn.append(
            element("rect", x=left, y=8, width=right - left, height=bottom - 8, class_="band")
        )
        drawn += [_line(edge, 8, edge, bottom, class_="dashed") for edge in (left, right)]
    if low <= 0 <= high:
        drawn.append(_line(x.at(0), 8, x.at(0), bottom))
    for place, row in enumerate(rows):
        drawn += _forest_row(row, x, 14 + _ROW * place)
    drawn.append(_line(x.start, bottom, x.end, bottom))
    drawn += _ticks_across(x, bottom)
    said = textwrap.wrap(across, _LINE)
    for place, line in enumerate(said):
        drawn.append(_text(line, _WIDTH / 2, bottom + 36 + 15 * place, anchor="middle"))
    return _plot(*drawn, width=_WIDTH, height=bottom + 29 + 15 * len(said), name=name)


def curve_plot(
    curves: Sequence[Curve], *, name: str, across: str, up: str, logarithmic: bool = True
) -> Markup:
    """Plot curves from 0 upwards, each named at the top; nothing where there is no point."""
    xs = [point[0] for curve in curves for point in curve.points]
    ys = [point[1] for curve in curves for point in curve.points]
    if not xs:
        return Markup("")
    top = 14 + 18 * len(curves)
    x = _Axis(low=min(xs), high=max(xs), start=52, end=_WIDTH - 14, logarithmic=logarithmic)
    y = _Axis(low=0.0, high=max(ys) or 1.0, start=top + 200, end=top)
    drawn = []
    for place, curve in enumerate(curves):
        placed = [(x.at(point[0]), y.at(point[1])) for point in curve.points]
        drawn.append(
            element(
                "polyline",
                points=" ".join(f"{left:.1f},{up_to:.1f}" for left, up_to in placed),
                class_="curve dashed" if curve.dashed else "curve",
            )
        )
        drawn += [_shape(curve.mark, left, up_to, size=3.5) for left, up_to in placed]
        at = 10 + 18 * place
        drawn += [_shape(curve.mark, 60, at, size=5), _text(_short(curve.name), 72, at + 4)]
    frame = _frame(x, y, across=across, up=up)
    return _plot(*frame, *drawn, width=_WIDTH, height=y.start + 42, name=name)


def _forest_row(row: ForestRow, x: _Axis, top: float) -> Iterator[Markup]:
    """Yield label and figures on one line, the interval below it."""
    yield _text(_short(row.label, _LINE - len(row.text) - 2), x.start, top + 8)
    yield _text(row.text, x.end, top + 8, anchor="end")
    if row.value is None:
        return
    middle = top + 20
    if row.low is not None and row.high is not None:
        left, right = x.at(row.low), x.at(row.high)
        yield _line(left, middle, right, middle)
        yield from (_line(end, middle - 4, end, middle + 4) for end in (left, right))
    yield _shape(row.mark, x.at(row.value), middle, size=5.5, said=f"{row.label}: {row.text}")


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


def _plot(*drawn: Markup, width: float, height: float, name: str) -> Markup:
    return element(
        "svg",
        element("title", name),
        *drawn,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=name,
    )


def _frame(x: _Axis, y: _Axis, *, across: str, up: str) -> Iterator[Markup]:
    for tick in y.ticks():
        yield _line(x.start, y.at(tick), x.end, y.at(tick), class_="grid")
        yield _text(f"{tick:g}", x.start - 6, y.at(tick) + 4, anchor="end")
    yield _line(x.start, y.start, x.end, y.start)
    yield _line(x.start, y.start, x.start, y.end)
    yield from _ticks_across(x, y.start)
    yield _text(across, (x.start + x.end) / 2, y.start + 34, anchor="middle")
    middle = (y.start + y.end) / 2
    yield _text(up, 12, middle, anchor="middle", transform=f"rotate(-90 14 {middle:g})")


def _ticks_across(x: _Axis, bottom: float) -> Iterator[Markup]:
    for tick in x.ticks():
        yield _line(x.at(tick), bottom, x.at(tick), bottom + 4)
        yield _text(f"{tick:.4g}", x.at(tick), bottom + 17, anchor="middle")


def _line(x1: float, y1: float, x2: float, y2: float, *, class_: str = "line") -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def _text(
    text: str, x: float, y: float, *, anchor: str = "start", transform: str | None = None
) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, transform=transform)


def _shape(mark: Mark, x: float, y: float, *, size: float, said: str = "") -> Markup:
    title = (element("title", said),) if said else ()
    return _SHAPES[mark.shape](x, y, size, "full" if mark.filled else "hollow", title)


def _square(x: float, y: float, size: float, class_: str, title: tuple[Markup, ...]) -> Markup:
    side = 2 * size
    return element("rect", *title, x=x - size, y=y - size, width=side, height=side, class_=class_)


def _diamond(x: float, y: float, size: float, class_: str, title: tuple[Markup, ...]) -> Markup:
    reach = 1.3 * size
    corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
    points = " ".join(f"{left:.1f},{top:.1f}" for left, top in corners)
    return element("polygon", *title, points=points, class_=class_)


def _circle(x: float, y: float, size: float, class_: str, title: tuple[Markup, ...]) -> Markup:
    return element("circle", *title, cx=x, cy=y, r=size, class_=class_)


_SHAPES: dict[Shape, Callable[[float, float, float, str, tuple[Markup, ...]], Markup]] = {
    "square": _square,
    "diamond": _diamond,
    "circle": _circle,
}


def _short(label: str, longest: int = 44) -> str:
    return label if len(label) <= longest else label[: max(longest - 1, 1)] + "…"
