"""The content of an item's page: plain text without markup and without names of systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.annotation.items import Item
from fairjudge.annotation.moves import ListEntry, label_value
from fairjudge.annotation.passages import Mark, MarkedPassage, Marks
from fairjudge.annotation.tasks import LabelTask
from fairjudge.domain import Article
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Scale

PieceKind: TypeAlias = Mark | Literal[""]

_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of text and its mark, or ""."""

    text: str
    kind: PieceKind = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextView:
    """One text; ``marked`` is true if the most similar passage is in it."""

    heading: str
    source: str
    paragraphs: tuple[tuple[Piece, ...], ...]
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """The texts of one column."""

    title: str
    texts: tuple[TextView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer: its number, text and meaning, its key, and whether it is the current label."""

    level: int
    text: str
    meaning: str
    key: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """The content of an item's page. ``below`` is collapsed under the panes."""

    panes: tuple[Pane, ...]
    below: Pane | None
    question: str
    statement: str
    wordings: tuple[str, ...]
    choices: tuple[Choice, ...]
    note: str
    skipped: str


def item_view(task: LabelTask, item: Item, entry: ListEntry, marks: Marks) -> ItemView:
    """Return the view of `item` for one annotator."""
    decision = entry.decision
    panes, below = _panes(task, item, entry, marks)
    return ItemView(
        panes=panes,
        below=below,
        question=item.question,
        statement=item.statement,
        wordings=item.wordings,
        choices=tuple(choices(task.scale, chosen=_current_level(task.scale, entry))),
        note=decision.note if decision else "",
        skipped=decision.reason if decision and decision.kind == "skip" else "",
    )


def choices(scale: Scale, *, chosen: int | None = None) -> Iterator[Choice]:
    """Yield the answers in the order of the buttons: yes before no, else as on the scale."""
    levels = list(enumerate(scale.levels))
    yes_no = PROTOCOLS[scale.protocol].yes_no and len(levels) == 2
    for level, answer in reversed(levels) if yes_no else levels:
        yield Choice(
            level=level,
            text=answer.answer,
            meaning=answer.anchor,
            key=("n", "y")[level] if yes_no else _digit(scale, level),
            chosen=level == chosen,
        )


def _digit(scale: Scale, level: int) -> str:
    """Return the key of an answer: the answer if all are digits, else its position (0 for 10)."""
    if all(len(answer) == 1 and answer.isdecimal() for answer in scale.answers):
        return scale.answers[level]
    return str((level + 1) % 10) if level < 10 else ""


def _current_level(scale: Scale, entry: ListEntry) -> int | None:
    if entry.label is None:
        return None
    values = [label_value(level, entry.shown) for level in scale.levels]
    return values.index(entry.label.value) if entry.label.value in values else None


def _panes(
    task: LabelTask, item: Item, entry: ListEntry, marks: Marks
) -> tuple[tuple[Pane, ...], Pane | None]:
    all_numbers = range(len(item.articles))
    source_numbers = [n for n in all_numbers if item.articles[n].aid in item.sources]
    match task.name:
        case "answers":
            other_numbers = [n for n in all_numbers if n not in source_numbers]
            panes = (
                _articles("Where the answer was found", item, source_numbers, marks),
                _articles("Other articles", item, other_numbers, marks),
            )
            return tuple(pane for pane in panes if pane.texts), None
        case "coverage":
            quotes = {
                n: quote for n in source_numbers if (quote := _find_quote(item, item.articles[n]))
            }
            source = _articles("Where the answer was found", item, source_numbers, quotes)
            return (source, _summary("Summary", item.texts[0], marks.get(0))), None
        case "preference":
            texts = item.texts if entry.shown == "ab" else item.texts[::-1]
            pair = tuple(
                _summary(title, text)
                for title, text in zip(("First summary", "Second summary"), texts, strict=True)
            )
            return pair, _articles("Articles", item, all_numbers, {})
        case _:
            mark = None
            if item.place is not None:
                mark = MarkedPassage(start=item.place.start, end=item.place.end, mark="asked")
            articles = _articles("Articles", item, all_numbers, marks, attribute=task.attribute)
            return (_summary("Summary", item.texts[0], mark), articles), None


def _find_quote(item: Item, article: Article) -> MarkedPassage | None:
    for wording in (item.statement, *item.wordings):
        start = article.content.find(wording) if wording else -1
        if start >= 0:
            return MarkedPassage(start=start, end=start + len(wording), mark="near")
    return None


def _summary(title: str, text: str, mark: MarkedPassage | None = None) -> Pane:
    return Pane(title=title, texts=(_text(text, mark),))


def _articles(
    title: str,
    item: Item,
    numbers: Iterable[int],
    marks: Mapping[int, MarkedPassage],
    *,
    attribute: str = "",
) -> Pane:
    texts = []
    for number in numbers:
        article = item.articles[number]
        heading = article.title or f"Article {number + 1}"
        if (value := article.attributes.get(attribute)) is not None:
            heading += f" ({attribute}: {value})"
        view = _text(article.content, marks.get(number), heading, article.domain)
        texts.append(view)
    return Pane(title=title, texts=tuple(texts))


def _text(text: str, mark: MarkedPassage | None, heading: str = "", source: str = "") -> TextView:
    return TextView(
        heading=heading,
        source=source,
        paragraphs=paragraphs(text, (mark,) if mark else ()),
        marked=mark is not None and mark.mark == "best",
    )


def paragraphs(text: str, marks: Sequence[MarkedPassage]) -> tuple[tuple[Piece, ...], ...]:
    """Split `text` into non-empty lines, and lines into pieces where a mark begins or ends.

    `marks` are in order and do not overlap.
    """
    text = text.replace("\r", "\n")  # of equal length, so that the marks' offsets stay valid
    lines = ((line.start(), line.end()) for line in _LINE.finditer(text))
    return tuple(
        tuple(_pieces(text, start, end, marks)) for start, end in lines if text[start:end].strip()
    )


def _pieces(text: str, start: int, end: int, marks: Sequence[MarkedPassage]) -> Iterator[Piece]:
    for mark in marks:
        low, high = max(start, mark.start), min(end, mark.end)
        if low < high:
            if start < low:
                yield Piece(text=text[start:low])
            yield Piece(text=text[low:high], kind=mark.mark)
            start = high
    if start < end:
        yield Piece(text=text[start:end])
