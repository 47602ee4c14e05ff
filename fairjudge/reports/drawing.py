"""A Matplotlib figure that becomes inline SVG of a page.

What Matplotlib writes is not yet fit for a page: it carries inline styles, which the page's policy
refuses, fixed colours, and ids that would meet those of the next plot. So a drawing is made in
colours that stand for classes of ``page.css``, and of Matplotlib's SVG only shapes, places and
classes are kept; the style sheet gives colours, widths, dashes and the font, in light, dark and
print. Texts from files never reach Matplotlib, which would take ``$`` for a formula and warn of
letters that its font lacks: each stands in by a key until the SVG is written.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.etree import ElementTree as ET

from fairjudge.reports.markup import Markup, element

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Anchor: TypeAlias = Literal["left", "center", "right"]

LINE, DASHED, GRID, BAND = "#f10001", "#f10002", "#f10003", "#f10004"
CURVE, DASHED_CURVE, FULL, HOLLOW = "#f10005", "#f10006", "#f10007", "#f10008"
_CLASSES = {
    LINE: "line",
    DASHED: "dashed",
    GRID: "grid",
    BAND: "band",
    CURVE: "curve",
    DASHED_CURVE: "curve dashed",
    FULL: "full",
    HOLLOW: "hollow",
}
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fairjudge",
    "text.parse_math": False,
    "font.size": 12,
    "axes.edgecolor": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.major.size": 4,
    "ytick.major.size": 0,
    "ytick.major.pad": 6,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.borderpad": 0,
    "legend.borderaxespad": 0,
}
_POINTS_PER_INCH = 72
"""Matplotlib's unit of SVG; a point of it is a pixel of the page's style sheet here."""
_HREF = ("href", "{http://www.w3.org/1999/xlink}href")


def can_draw() -> bool:
    """Return whether Matplotlib, the extra ``[plots]``, is installed."""
    try:
        import matplotlib as mpl  # noqa: F401  # only whether it is there
    except ImportError:
        return False
    return True


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in our style, whatever the user's own is, and leave that as it was."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


class Drawing:
    """A figure of `width` x `height` pixels; use it within `house_style`."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        size = (width / _POINTS_PER_INCH, height / _POINTS_PER_INCH)
        self.figure: Figure = Figure(figsize=size, dpi=_POINTS_PER_INCH)
        self._said: dict[str, str] = {}

    def axes(self, *, left: float, right: float, top: float, bottom: float) -> Axes:
        """Return axes on these pixels, counted from the top left."""
        place = (
            left / self.width,
            1 - bottom / self.height,
            (right - left) / self.width,
            (bottom - top) / self.height,
        )
        return self.figure.add_axes(place)

    def key(self, said: str) -> str:
        """Return the id of an artist whose text, or else tooltip, shall be `said`."""
        key = f"said-{len(self._said)}"
        self._said[key] = said
        return key

    def text(
        self, said: str, x: float, y: float, *, anchor: Anchor = "left", upward: bool = False
    ) -> None:
        """Set a line of text on the baseline at (x, y), in pixels from the top left."""
        from matplotlib.transforms import IdentityTransform

        self.figure.text(
            x,
            self.height - y,
            "x",
            gid=self.key(said),
            transform=IdentityTransform(),
            ha=anchor,
            rotation=90 if upward else 0,
            rotation_mode="anchor",
        )

    def markup(self, name: str) -> Markup:
        """Return the drawing as an element, named for those who do not see it."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        written = io.StringIO()
        FigureCanvasSVG(self.figure).print_svg(written, metadata={"Date": None})
        root = ET.fromstring(written.getvalue())  # noqa: S314  # no text of others' in it
        outlines = {
            str(path.get("id")): str(path.get("d"))
            for path in root.iter()
            if _tag(path) == "path" and path.get("id")
        }
        return element(
            "svg",
            element("title", name),
            *_leaves(root, outlines, self._said, None),
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            width=self.width,
            height=self.height,
            role="img",
            aria_label=name,
        )


def _leaves(
    node: ET.Element,
    outlines: Mapping[str, str],
    texts: Mapping[str, str],
    said: str | None,
) -> Iterator[Markup]:
    """Yield the shapes and texts below `node` in their order, without groups, styles and ids."""
    said = texts.get(node.get("id", ""), said)
    match _tag(node):
        case "text":
            yield _text(node, (node.text or "") if said is None else said)
        case "path":
            yield from _shape(node, node.get("d", ""), said)
        case "use":
            href = next(value for name in _HREF if (value := node.get(name)))
            at = f"translate({_rounded(node.get('x', '0'))} {_rounded(node.get('y', '0'))})"
            yield from _shape(node, outlines[href.removeprefix("#")], said, transform=at)
        case "svg" | "g":
            for child in node:
                yield from _leaves(child, outlines, texts, said)


def _text(node: ET.Element, said: str) -> Markup:
    turn = node.get("transform", "")
    return element(
        "text",
        said,
        x=_rounded(node.get("x", "0")),
        y=_rounded(node.get("y", "0")),
        text_anchor=_styles(node).get("text-anchor"),
        transform=None if turn.startswith(("rotate(0 ", "rotate(-0 ")) else _rounded(turn) or None,
    )


def _shape(
    node: ET.Element, outline: str, said: str | None, transform: str | None = None
) -> Iterator[Markup]:
    """Yield a path of the class that its colour stands for; nothing in another colour."""
    styles = _styles(node)
    class_ = _CLASSES.get(styles.get("fill", "")) or _CLASSES.get(styles.get("stroke", ""))
    if class_ is not None and outline:
        title = [] if said is None else [element("title", said)]
        yield element("path", *title, d=_rounded(outline), transform=transform, class_=class_)


def _tag(node: ET.Element) -> str:
    return str(node.tag).rpartition("}")[2]


def _styles(node: ET.Element) -> dict[str, str]:
    pairs = (one.partition(":") for one in node.get("style", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _rounded(written: str) -> str:
    """Round the numbers in `written` to hundredths of a pixel, on one line."""
    shorter = re.sub(
        r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), written
    )
    return " ".join(shorter.split())
