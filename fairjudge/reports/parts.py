"""Parts of a page, as values; `fairjudge.reports.pages` renders them as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from fairjudge.reports.drawing import WIDTH, Drawing
from fairjudge.reports.tables import TextTable


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section."""

    text: str
    level: int = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text followed by ``code``; a paragraph of kind "paper" appears only in print."""

    text: str
    kind: Literal["", "note", "strong", "paper"] = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure with its caption; not shown if it is empty."""

    figure: Drawing
    caption: str = ""

    @property
    def broad(self) -> bool:
        """Whether the figure is wider than a phone, so that its box scrolls."""
        return self.figure.layout.width > WIDTH


@dataclass(frozen=True, slots=True)
class Group:
    """Parts side by side on wide screens: a plot and its table, or a row of plots.

    In print, a "dense" group has its "board" groups in two columns without plots; "unprinted"
    groups are omitted.
    """

    parts: tuple[Part, ...]
    kind: Literal["beside", "row", "board", "dense", "unprinted"] = "beside"


@dataclass(frozen=True, slots=True)
class Fold:
    """A collapsible section; it is printed if it is open or ``printed`` is set."""

    summary: str
    parts: tuple[Part, ...]
    open: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Placeholder:
    """An empty element that the page's script fills with the view called ``label``."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Codes:
    """A list of signatures or the like."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Verbatim text in a box with a label."""

    text: str
    label: str


Part: TypeAlias = (
    Heading | Paragraph | Plot | TextTable | Group | Fold | Placeholder | Codes | Verbatim
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a page with its heading; the table of contents links to ``id``.

    ``printed`` is whether it is printed by default.
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    printed: bool = True


def fold_headings(parts: Iterable[Part], *, level: int, open_first: bool = False) -> list[Part]:
    """Return `parts` with the content under each heading of `level` as a fold."""
    unfolded_parts: list[Part] = []
    content = unfolded_parts
    folds: list[tuple[str, list[Part]]] = []
    for part in parts:
        if isinstance(part, Heading) and part.level == level:
            content = []
            folds.append((part.text, content))
        else:
            content.append(part)
    result = [Fold(text, tuple(folded_parts)) for text, folded_parts in folds]
    if open_first and result:
        result[0] = replace(result[0], open=True)
    return [*unfolded_parts, *result]


def figures_in(parts: Iterable[Part]) -> Iterator[Drawing]:
    """Yield the nonempty figures of parts, including those of nested parts."""
    for part in parts:
        if isinstance(part, Plot):
            yield from () if part.figure.empty else (part.figure,)
        elif isinstance(part, Group | Fold):
            yield from figures_in(part.parts)


def notes(texts: Sequence[str]) -> list[Paragraph]:
    """Return remarks as paragraphs of kind "note", as sentences."""
    return [Paragraph(f"{text[:1].upper()}{text[1:].rstrip('.')}.", "note") for text in texts]
