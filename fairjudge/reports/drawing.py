"""Marks, colours, axes and label lengths shared by all figures.

Marks differ by shape, fill and dashes, never by colour alone. Squares are the judge, diamonds are
humans; hollow marks and dashed lines are baselines.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from fairjudge.reports import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Shape: TypeAlias = Literal["square", "circle", "triangle", "diamond"]
Limits: TypeAlias = tuple[float, float]

JUDGE_COLOUR, HUMAN_COLOUR = "#0b4f8a", "#b3500b"
"""Blue and orange of equal darkness, distinguishable with every kind of colour vision."""
RULE, DASHES = "#d5d9de", (0, (4, 3))
WIDTH = 360
LINE = 54
"""Average characters per line of `WIDTH` pixels."""
_MOST_TICKS = 12
LETTER = 6.8
"""Pixels of an average character in Matplotlib's default font, which is wide."""
_MARKERS: dict[Shape, str] = {"square": "s", "diamond": "D", "circle": "o", "triangle": "^"}


class Layout(NamedTuple):
    """A figure's size in pixels, and the box of its axes: left, bottom, width, height in [0, 1]."""

    width: float
    height: float
    box: tuple[float, float, float, float]


class Drawing(Protocol):
    """A figure as a value, drawn as SVG on a page or on Matplotlib's axes in a program.

    ``name`` is its text alternative; the part before the first colon is the title.
    """

    @property
    def name(self) -> str:
        """The text alternative."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    @property
    def layout(self) -> Layout:
        """The figure's size and the box of its axes."""

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A shape, filled or hollow."""

    shape: Shape
    filled: bool

    @property
    def colour(self) -> str:
        """The colour of lines and fills: that of humans for a diamond, else the judge's."""
        return HUMAN_COLOUR if self.shape == "diamond" else JUDGE_COLOUR


JUDGE_MARK = Mark(shape="square", filled=True)
BASELINE_MARK = Mark(shape="circle", filled=False)
HUMAN_MARK = Mark(shape="diamond", filled=True)
_SHAPES: tuple[Shape, ...] = ("square", "circle", "triangle")
CURVE_MARKS = tuple(Mark(shape=_SHAPES[n % 3], filled=n % 2 == 0) for n in range(6))
"""Distinct curve styles; at most this many curves are drawn."""


def widen_limits(low: float, high: float, *, logarithmic: bool = False) -> Limits:
    """Return the limits of an axis, widened if they are equal."""
    if low < high:
        return low, high
    return (low / 2, low * 2) if logarithmic else (low - 0.5, low + 0.5)


def clip(value: float, limits: Limits) -> float:
    """Return `value` clipped to `limits`."""
    return min(max(value, limits[0]), limits[1])


def set_linear_ticks(*axes: Axis, integers: bool = False) -> None:
    """Set ticks at 1, 2 and 5 times powers of ten; only at integers if `integers`."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    for axis in axes:
        low, high = axis.get_view_interval()
        by_steps = MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=integers)
        is_per_rank = integers and abs(high - low) <= _MOST_TICKS
        axis.set_major_locator(MultipleLocator(1) if is_per_rank else by_steps)
        axis.set_major_formatter(plain_tick)


def draw_legend(
    axes: Axes, handles: Sequence[Any], names: Sequence[str], *, columns: int = 1
) -> None:
    """Draw a legend above the axes, so that it covers no values."""
    axes.legend(
        handles, list(map(svg.drawable_text, names)), loc="lower left", bbox_to_anchor=(-0.16, 1.0),
        borderaxespad=0.2, handlelength=2.6, ncols=columns,
    )  # fmt: skip


def plain_tick(tick: float, _index: int | None = None) -> str:
    """Return a tick's number without trailing zeros."""
    return f"{tick:.4g}"


def draw_mark(axes: Axes, mark: Mark, x: float, y: float, *, size: float, label: str) -> None:
    """Draw a mark with `label` as its tooltip."""
    style = marker_style(mark, size)
    axes.plot([x], [y], linestyle="", gid=svg.tooltip(label), zorder=3, **style)


def marker_style(mark: Mark, size: float) -> dict[str, Any]:
    """Return the marker style of a line; `size` is half the width of a square."""
    return {
        "marker": _MARKERS[mark.shape],
        "markersize": size * (1.8 if mark.shape == "diamond" else 2.0),
        "markerfacecolor": mark.colour if mark.filled else "white",
        "markeredgecolor": "black",
        "clip_on": False,
    }


def label_width(label: str) -> float:
    """Return the width of `label` in average characters."""
    return sum(map(_width, svg.drawable_text(label)))


def shorten_label(label: str, max_width: int = 44) -> str:
    """Return `label` cut to the width of `max_width` average characters, at least one character."""
    label = svg.drawable_text(label)
    ends = list(accumulate(map(_width, label)))
    if not ends or ends[-1] <= max_width:
        return label
    return label[: max(sum(end <= max_width - 1 for end in ends), 1)] + "…"


def shorten_distinctly(labels: Sequence[str], max_widths: Sequence[int]) -> list[str]:
    """Return `labels` cut to `max_widths`: at the end, or in the middle to keep them distinct.

    Judges of the same name with different settings differ in their last characters.
    """
    cut_labels = [
        shorten_label(label, max_width) for label, max_width in zip(labels, max_widths, strict=True)
    ]
    full_labels = [svg.drawable_text(label) for label in labels]
    return [
        _middle(label, max_width)
        if cut_label != label
        and any(
            other_label != label and other_label.startswith(cut_label.removesuffix("…"))
            for other_label in full_labels
        )
        else cut_label
        for label, cut_label, max_width in zip(full_labels, cut_labels, max_widths, strict=True)
    ]


def _middle(label: str, max_width: int) -> str:
    """Return the beginning and the end of `label`, together at most `max_width` wide."""
    head, tail = (
        sum(end <= (max_width - 1) / 2 for end in accumulate(map(_width, side)))
        for side in (label, reversed(label))
    )
    return f"{label[: max(head, 1)]}…{label[len(label) - tail :]}"


def _width(character: str) -> float:
    """Return a character's approximate width in average characters of a sans-serif font."""
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 2.0
    if character in "MWmw@%":
        return 1.6
    return 1.2 if character.isupper() else 1.0
