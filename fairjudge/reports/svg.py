"""Matplotlib figures as inline SVG of a page, and as files for a paper.

The page's policy forbids inline styles, so Matplotlib's styles become attributes; ids are removed
unless shapes refer to them. The page's style sheet sets the font, and inverts colours in dark mode.
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
"""Matplotlib's SVG unit is a point, shown as a pixel of the page."""
_REMOVED_TAGS = frozenset({"metadata", "style", "clipPath"})
FILE_TYPES = ("svg", "pdf", "png")
_DOTS_PER_INCH = 300
"""Resolution of PNG files."""
_LONGEST_NAME = 60
_TOOLTIP_PREFIX = "says "
"""Prefix of the id of an artist with a tooltip, which is the rest of the id."""


@dataclass(frozen=True, slots=True)
class SavedFigures:
    """The files of the figures drawn so far in ``folder``, one per type in `FILE_TYPES`."""

    folder: Path
    paths: list[Path] = field(default_factory=list)

    @property
    def n_figures(self) -> int:
        """Number of figures drawn."""
        return len(self.paths) // len(FILE_TYPES)

    def save(self, figure: Figure, name: str) -> None:
        """Write a figure to files named by its number and the beginning of its title."""
        title = re.sub(r"\W+", "-", drawable_text(name).partition(": ")[0].casefold()).strip("-")
        stem = f"{self.n_figures + 1:02d}-{title[:_LONGEST_NAME].rstrip('-')}".rstrip("-")
        for suffix in FILE_TYPES:
            path = self.folder / f"{stem}.{suffix}"
            # Omit dates, so that files are reproducible.
            metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
            figure.savefig(path, dpi=_DOTS_PER_INCH, facecolor="white", metadata=metadata)
            self.paths.append(path)


_TARGET: ContextVar[SavedFigures | None] = ContextVar("saved figures", default=None)


@contextmanager
def save_figures(folder: Path) -> Iterator[SavedFigures]:
    """Also write every figure drawn in the block to `folder`, which is created.

    Raises
    ------
    InputError
        If the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be a folder: {error.strerror}", path=folder) from None
    files = SavedFigures(folder)
    with _set_target(files):
        yield files


def suppress_saving() -> AbstractContextManager[None]:
    """Draw figures without writing files, for example to validate a page."""
    return _set_target(None)


@contextmanager
def _set_target(figures: SavedFigures | None) -> Iterator[None]:
    token = _TARGET.set(figures)
    try:
        yield
    finally:
        _TARGET.reset(token)


def can_draw() -> bool:
    """Return whether Matplotlib, the extra ``[plots]``, is installed."""
    try:
        import matplotlib as mpl  # noqa: F401  # only whether it is there
    except ImportError:
        return False
    return True


@contextmanager
def figure_style(name: str) -> Iterator[None]:
    """Draw the plot called `name` in FairJudge's style; restore the user's style afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's own font has them
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE | {"svg.hashsalt": drawable_text(name)})
        yield


def on_axes(drawing: Drawing, axes: Axes | None = None) -> Axes:
    """Draw on `axes`, or on the axes of a new pyplot figure, and return them.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    if not can_draw():
        raise MissingExtraError("plot", extra="plots")
    with figure_style(drawing.name):
        if axes is None:
            from matplotlib import pyplot as plt

            layout = drawing.layout
            axes = plt.figure(figsize=_inches(layout)).add_axes(layout.box)
        axes.spines[["top", "right"]].set_visible(False)
        drawing.draw(axes)
    return axes


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as an SVG element with a text alternative.

    Returns ``""`` if the drawing is empty or Matplotlib is not installed.
    """
    if drawing.empty or not can_draw():
        return ""
    from matplotlib.figure import Figure

    layout = drawing.layout
    with figure_style(drawing.name):
        figure = Figure(figsize=_inches(layout), dpi=_POINTS_PER_INCH, frameon=False)
        drawing.draw(figure.add_axes(layout.box))
        return _element(figure, drawing.name)


def _inches(layout: Layout) -> tuple[float, float]:
    return layout.width / _POINTS_PER_INCH, layout.height / _POINTS_PER_INCH


def drawable_text(text: str) -> str:
    """Return `text` without characters that cannot be drawn: controls and lone surrogates."""
    return printable(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tooltip(text: str) -> str:
    """Return the id (``gid``) of an artist with the tooltip `text`."""
    return f"{_TOOLTIP_PREFIX}{drawable_text(text)}"


def _element(figure: Figure, name: str) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    files = _TARGET.get()
    if files is not None:
        files.save(figure, name)
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(buffer)
    root = ET.fromstring(buffer.getvalue())  # noqa: S314  # Matplotlib's own
    width, height = (figure.get_size_inches() * _POINTS_PER_INCH).round().astype(int)
    _simplify(root)
    root.attrib = {
        "viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height),
        "role": "img", "aria-label": drawable_text(name),
    }  # fmt: skip
    title = ET.Element("title")
    title.text = drawable_text(name)
    root.insert(0, title)
    return ET.tostring(root, encoding="unicode")


def _simplify(node: ET.Element) -> None:
    """Keep shapes, texts and their styles; remove clipping, which the drawings do not need."""
    node.tag, node.tail = _bare(node.tag), None
    if node.tag not in {"text", "tspan"}:
        node.text = None
    for pair in node.attrib.pop("style", "").split(";"):
        style, _, value = pair.partition(":")
        if value and not style.strip().startswith("font"):
            node.set(style.strip(), value.strip())
    node.attrib = {_bare(name): _round_numbers(value) for name, value in node.attrib.items()}
    node.attrib.pop("clip-path", None)
    if node.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del node.attrib["transform"]
    title = "" if node.tag == "path" else node.attrib.pop("id", "")
    children = [child for child in node if _bare(child.tag) not in _REMOVED_TAGS]
    node[:] = []
    if title.startswith(_TOOLTIP_PREFIX):
        ET.SubElement(node, "title").text = title.removeprefix(_TOOLTIP_PREFIX)
    for child in children:
        _simplify(child)
        bare = child.tag == "g" and not child.attrib and child.find("title") is None
        node.extend(child if bare else [child])


def _round_numbers(value: str) -> str:
    """Shorten the numbers of an attribute to four digits: a tenth of a pixel."""
    if value.startswith(_TOOLTIP_PREFIX):
        return value
    return " ".join(re.sub(r"-?\d+\.\d+", lambda n: f"{float(n[0]):.4g}", value).split())


def _bare(name: str) -> str:
    """Return a name without its namespace, which HTML does not need."""
    return name.rpartition("}")[2]
