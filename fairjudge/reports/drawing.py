"""What every figure shares: its marks and colours, its axes, and how long a label may be.

Marks tell things apart by shape, fill and dashes, never by colour alone. Squares are the judge,
diamonds people; hollow marks and dashes are what these are compared with.
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

JUDGE, PEOPLE = "#0b4f8a", "#b3500b"
"""Blue and orange of alike darkness: they differ to all kinds of colour vision."""
RULE, DASHES = "#d5d9de", (0, (4, 3))
WIDTH = 360
LINE = 54
"""Characters that fit beside one another in `WIDTH`."""
_MOST_TICKS = 12
LETTER = 6.8
"""Pixels of a usual character, in Matplotlib's own wide font."""
_MARKERS: dict[Shape, str] = {"square": "s", "diamond": "D", "circle": "o", "triangle": "^"}


class Layout(NamedTuple):
    """A figure's pixels, and the part of it that the axes take: left, bottom, width, height."""

    width: float
    height: float
    box: tuple[float, float, float, float]


class Drawing(Protocol):
    """A figure as a value: on a page it is SVG, in a program it is drawn on Matplotlib's axes.

    ``name`` says what is in it to those who do not see it; its part before a colon is the title.
    """

    @property
    def name(self) -> str:
        """What the figure shows, in words."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    @property
    def layout(self) -> Layout:
        """The figure's size, and where its axes stand."""

    def draw(self, axes: Axes) -> None:
        """Draw on `axes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A shape, filled or hollow."""

    shape: Shape
    filled: bool

    @property
    def colour(self) -> str:
        """The colour of lines and fills: people's for a diamond, else the judge's."""
        return PEOPLE if self.shape == "diamond" else JUDGE


PLAIN = Mark(shape="square", filled=True)
OTHER = Mark(shape="circle", filled=False)
BY_PEOPLE = Mark(shape="diamond", filled=True)
_SHAPES: tuple[Shape, ...] = ("square", "circle", "triangle")
CURVE_MARKS = tuple(Mark(shape=_SHAPES[n % 3], filled=n % 2 == 0) for n in range(6))
"""Distinct curve styles; at most this many curves are drawn."""


def apart(low: float, high: float, *, logarithmic: bool = False) -> Limits:
    """Return the ends of an axis, widened if there is only one value."""
    if low < high:
        return low, high
    return (low / 2, low * 2) if logarithmic else (low - 0.5, low + 0.5)


def within(value: float, limits: Limits) -> float:
    """Return `value`, or the end of the axis beyond which it lies."""
    return min(max(value, limits[0]), limits[1])


def linear(*axes: Axis, whole: bool = False) -> None:
    """Tick at 1, 2 and 5 times powers of ten, at `whole` numbers alone where these are ranks."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    for axis in axes:
        low, high = axis.get_view_interval()
        by_steps = MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=whole)
        is_per_rank = whole and abs(high - low) <= _MOST_TICKS
        axis.set_major_locator(MultipleLocator(1) if is_per_rank else by_steps)
        axis.set_major_formatter(plain_tick)


def above_axes(
    axes: Axes, handles: Sequence[Any], names: Sequence[str], *, columns: int = 1
) -> None:
    """Draw a legend above the axes, where it hides no values."""
    axes.legend(
        handles, list(map(svg.drawable, names)), loc="lower left", bbox_to_anchor=(-0.16, 1.0),
        borderaxespad=0.2, handlelength=2.6, ncols=columns,
    )  # fmt: skip


def plain_tick(tick: float, _place: int | None = None) -> str:
    """Return a tick's number without trailing zeros."""
    return f"{tick:.4g}"


def draw_mark(axes: Axes, mark: Mark, x: float, y: float, *, size: float, label: str) -> None:
    """Draw a mark with `label` as its tooltip."""
    style = marker(mark, size)
    axes.plot([x], [y], linestyle="", gid=svg.tooltip(label), zorder=3, **style)


def marker(mark: Mark, size: float) -> dict[str, Any]:
    """Return how a line shows its points; `size` is half the width of a square."""
    return {
        "marker": _MARKERS[mark.shape],
        "markersize": size * (1.8 if mark.shape == "diamond" else 2.0),
        "markerfacecolor": mark.colour if mark.filled else "white",
        "markeredgecolor": "black",
        "clip_on": False,
    }


def length(label: str) -> float:
    """Return how many usual characters take the room of `label`."""
    return sum(map(_width, svg.drawable(label)))


def short(label: str, longest: int = 44) -> str:
    """Return what of `label` takes the room of `longest` usual characters, one at least."""
    label = svg.drawable(label)
    ends = list(accumulate(map(_width, label)))
    if not ends or ends[-1] <= longest:
        return label
    return label[: max(sum(end <= longest - 1 for end in ends), 1)] + "…"


def short_apart(labels: Sequence[str], longest: Sequence[int]) -> list[str]:
    """Return `labels`, each in its room: cut at the end, or in the middle if another begins alike.

    Judges of one name and other settings differ in their last characters.
    """
    cut = [short(label, room) for label, room in zip(labels, longest, strict=True)]
    full = [svg.drawable(label) for label in labels]
    return [
        _middle(label, room)
        if shortened != label
        and any(other != label and other.startswith(shortened.removesuffix("…")) for other in full)
        else shortened
        for label, shortened, room in zip(full, cut, longest, strict=True)
    ]


def _middle(label: str, longest: int) -> str:
    """Return the beginning and the end of `label`, as much of both as has room."""
    head, tail = (
        sum(end <= (longest - 1) / 2 for end in accumulate(map(_width, side)))
        for side in (label, reversed(label))
    )
    return f"{label[: max(head, 1)]}…{label[len(label) - tail :]}"


def _width(character: str) -> float:
    """Return how much room a character takes beside a usual one, about, in sans-serif type."""
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 2.0
    if character in "MWmw@%":
        return 1.6
    return 1.2 if character.isupper() else 1.0
