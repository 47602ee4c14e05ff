"""What a page is made of, as values: `fairjudge.reports.pages` makes HTML of them."""

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
    """Text, with ``code`` after it; of the kind "paper" it stands on paper only."""

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
        """Whether it has more columns than a phone is wide, so that its box scrolls."""
        return self.figure.layout.width > WIDTH


@dataclass(frozen=True, slots=True)
class Group:
    """Parts side by side where there is room: a plot and its table, or a row of plots.

    Of a "dense" group paper has the "board" groups in two columns, without figures; it leaves an
    "unprinted" group out.
    """

    parts: tuple[Part, ...]
    kind: Literal["beside", "row", "board", "dense", "unprinted"] = "beside"


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that a reader unfolds; paper has them where they are unfolded, or ``printed``."""

    summary: str
    parts: tuple[Part, ...]
    open: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page's script puts `what`."""

    id: str
    what: str


@dataclass(frozen=True, slots=True)
class Codes:
    """A list of signatures or the like."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Verbatim text in a box with a label."""

    text: str
    label: str


Part: TypeAlias = Heading | Paragraph | Plot | TextTable | Group | Fold | Place | Codes | Verbatim


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page with its heading; ``id`` is what the contents link to.

    ``printed`` says whether paper has it where a reader does not ask for everything.
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    printed: bool = True


def folded(parts: Iterable[Part], *, level: int, open_first: bool = False) -> list[Part]:
    """Return `parts` with the content of each heading of `level` folded under it."""
    before: list[Part] = []
    under = before
    folds: list[tuple[str, list[Part]]] = []
    for part in parts:
        if isinstance(part, Heading) and part.level == level:
            under = []
            folds.append((part.text, under))
        else:
            under.append(part)
    result = [Fold(text, tuple(content)) for text, content in folds]
    if open_first and result:
        result[0] = replace(result[0], open=True)
    return [*before, *result]


def figures_in(parts: Iterable[Part]) -> Iterator[Drawing]:
    """Yield the figures of parts, and of the parts within these, but empty ones."""
    for part in parts:
        if isinstance(part, Plot):
            yield from () if part.figure.empty else (part.figure,)
        elif isinstance(part, Group | Fold):
            yield from figures_in(part.parts)


def notes(texts: Sequence[str]) -> list[Paragraph]:
    """Return remarks as sentences in small type."""
    return [Paragraph(f"{text[:1].upper()}{text[1:].rstrip('.')}.", "note") for text in texts]
