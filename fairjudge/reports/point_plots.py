"""Plots of points with intervals, of systems both ways or by look, and of two distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairjudge.reports import svg
from fairjudge.reports.drawing import (
    DASHES,
    PLAIN,
    WIDTH,
    Layout,
    Limits,
    Mark,
    above_axes,
    apart,
    draw_mark,
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
