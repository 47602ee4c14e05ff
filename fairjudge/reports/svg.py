"""A Matplotlib figure as inline SVG of a page, and as files for a paper.

The page's policy refuses inline styles, so what Matplotlib writes as styles becomes attributes; its
ids go, but those that shapes refer to. The page's style sheet gives the font, and turns the
colours round where the reader prefers dark.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from fairjudge.errors import InputError, MissingExtraError
from fairjudge.text.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fairjudge.reports.drawing import Drawing, Layout

_STYLE = {
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.parse_math": False,
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 1.2,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d5d9de",
    "ytick.major.size": 0,
    "ytick.major.pad": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
}
_POINTS_PER_INCH = 72
"""Matplotlib's unit of SVG, here a pixel of the page."""
_DROPPED = frozenset({"metadata", "style", "clipPath"})
FILE_TYPES = ("svg", "pdf", "png")
_DOTS_PER_INCH = 300
"""Of a PNG."""
_LONGEST_NAME = 60
_SAYS = "says "
"""Begins the id of an artist that has a tooltip, which is the rest."""


@dataclass(frozen=True, slots=True)
class SavedFigures:
    """The files of the figures drawn so far, `FILE_TYPES` of each, in ``folder``."""

    folder: Path
    paths: list[Path] = field(default_factory=list)

    @property
    def n_figures(self) -> int:
        """How many figures were drawn."""
        return len(self.paths) // len(FILE_TYPES)

    def save(self, figure: Figure, name: str) -> None:
        """Write a figure to a file named by its number and the beginning of its title."""
        title = re.sub(r"\W+", "-", drawable(name).partition(": ")[0].casefold()).strip("-")
        stem = f"{self.n_figures + 1:02d}-{title[:_LONGEST_NAME].rstrip('-')}".rstrip("-")
        for suffix in FILE_TYPES:
            path = self.folder / f"{stem}.{suffix}"
            # Without the time, so that the same figures make the same files.
            dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
            figure.savefig(path, dpi=_DOTS_PER_INCH, facecolor="white", metadata=dated)
            self.paths.append(path)


_SAVED: ContextVar[SavedFigures | None] = ContextVar("saved figures", default=None)


@contextmanager
def saved_figures(folder: Path) -> Iterator[SavedFigures]:
    """Also write every figure that is drawn in the block to `folder`, which is made.

    Raises
    ------
    InputError
        If there can be no such folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be a folder: {error.strerror}", path=folder) from None
    saved = SavedFigures(folder)
    with _saving(saved):
        yield saved


def no_saved_figures() -> AbstractContextManager[None]:
    """Draw without writing files, such as of a page that is only a check."""
    return _saving(None)


@contextmanager
def _saving(figures: SavedFigures | None) -> Iterator[None]:
    token = _SAVED.set(figures)
    try:
        yield
    finally:
        _SAVED.reset(token)


def can_draw() -> bool:
    """Return whether Matplotlib, the extra ``[plots]``, is installed."""
    try:
        import matplotlib as mpl  # noqa: F401  # only whether it is there
    except ImportError:
        return False
    return True


@contextmanager
def house_style(name: str) -> Iterator[None]:
    """Draw the plot called `name` in our style, and leave the user's own as it was."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's own font has them
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE | {"svg.hashsalt": drawable(name)})
        yield


def on_axes(drawing: Drawing, axes: Axes | None = None) -> Axes:
    """Draw on `axes`, or on those of a new figure of pyplot's, and return them.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    if not can_draw():
        raise MissingExtraError("plot", extra="plots")
    with house_style(drawing.name):
        if axes is None:
            from matplotlib import pyplot as plt

            layout = drawing.layout
            axes = plt.figure(figsize=_inches(layout)).add_axes(layout.box)
        axes.spines[["top", "right"]].set_visible(False)
        drawing.draw(axes)
    return axes


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as an SVG element with a text alternative.

    Nothing where there is nothing to draw, or nothing to draw with.
    """
    if drawing.empty or not can_draw():
        return ""
    from matplotlib.figure import Figure

    layout = drawing.layout
    with house_style(drawing.name):
        figure = Figure(figsize=_inches(layout), dpi=_POINTS_PER_INCH, frameon=False)
        drawing.draw(figure.add_axes(layout.box))
        return _element(figure, drawing.name)


def _inches(layout: Layout) -> tuple[float, float]:
    return layout.width / _POINTS_PER_INCH, layout.height / _POINTS_PER_INCH


def drawable(text: str) -> str:
    """Return `text` without what cannot be drawn: control characters, halves of letters."""
    return printable(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tooltip(text: str) -> str:
    """Return the id (``gid``) of an artist that shall say `text` under the pointer."""
    return f"{_SAYS}{drawable(text)}"


def _element(figure: Figure, name: str) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    saved = _SAVED.get()
    if saved is not None:
        saved.save(figure, name)
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(buffer)
    root = ET.fromstring(buffer.getvalue())  # noqa: S314  # Matplotlib's own
    width, height = (figure.get_size_inches() * _POINTS_PER_INCH).round().astype(int)
    _simplify(root)
    root.attrib = {
        "viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height),
        "role": "img", "aria-label": drawable(name),
    }  # fmt: skip
    title = ET.Element("title")
    title.text = drawable(name)
    root.insert(0, title)
    return ET.tostring(root, encoding="unicode")


def _simplify(node: ET.Element) -> None:
    """Keep shapes, texts and their styles; drop clipping, which our drawings do not need."""
    node.tag, node.tail = _bare(node.tag), None
    if node.tag not in {"text", "tspan"}:
        node.text = None
    for pair in node.attrib.pop("style", "").split(";"):
        style, _, value = pair.partition(":")
        if value and not style.strip().startswith("font"):
            node.set(style.strip(), value.strip())
    node.attrib = {_bare(name): _rounded(value) for name, value in node.attrib.items()}
    node.attrib.pop("clip-path", None)
    if node.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del node.attrib["transform"]
    title = "" if node.tag == "path" else node.attrib.pop("id", "")
    children = [child for child in node if _bare(child.tag) not in _DROPPED]
    node[:] = []
    if title.startswith(_SAYS):
        ET.SubElement(node, "title").text = title.removeprefix(_SAYS)
    for child in children:
        _simplify(child)
        bare = child.tag == "g" and not child.attrib and child.find("title") is None
        node.extend(child if bare else [child])


def _rounded(value: str) -> str:
    """Shorten the numbers of an attribute to four digits: a tenth of a pixel."""
    if value.startswith(_SAYS):
        return value
    return " ".join(re.sub(r"-?\d+\.\d+", lambda n: f"{float(n[0]):.4g}", value).split())


def _bare(name: str) -> str:
    """Return a name without its namespace, which HTML does not need."""
    return name.rpartition("}")[2]
