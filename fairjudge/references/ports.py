"""What reference building asks of its parts.

`Builder` holds the parts of the paper's pipeline, each with an LLM and a local implementation;
`ArticleBuilder` those of the pipeline that asks an article all questions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from fairjudge.domain import (
    Answer,
    Article,
    QuestionAnswers,
    QuestionKind,
    Unscored,
    UnscoredReason,
)

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Groups of answers by index, largest group first; a partition, where no more is said."""


def sort_groups(groups: Sequence[Sequence[int]]) -> Groups:
    """Return `groups` sorted: members ascending, largest group first, ties by first member."""
    whole = [tuple(sorted(group)) for group in groups if group]
    return tuple(sorted(whole, key=lambda group: (-len(group), group)))


class QuestionWriter(Protocol):
    """Asks questions about a story."""

    async def write(
        self, articles: Sequence[Article], *, cluster: Sequence[Article], n: int
    ) -> tuple[str, ...] | Unscored:
        """Return up to `n` questions, written on the representative `articles` of `cluster`."""


class Answerer(Protocol):
    """Finds the answers of one article to one question."""

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...] | Unscored:
        """Return near-verbatim spans of `article`; none is a legitimate and common outcome.

        `cluster` holds all articles on the story, `article` among them.
        """


class Consolidator(Protocol):
    """Groups the answers to one question by meaning."""

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """Return a partition of ``range(len(answers))``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The post-filter's findings: answers to drop (by position in reading order), and diversity."""

    invalid: frozenset[int]
    diverse: bool


class PostFilter(Protocol):
    """Checks one question and its answer groups."""

    async def check(self, question: QuestionAnswers) -> Checked | Unscored:
        """Say which answers are invalid and whether the groups differ without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """The parts that build references together.

    ``seed_writer`` asks the first, cheap questions. ``post_filter`` is None where no model can
    judge answers. ``signature`` says what the parts are.
    """

    seed_writer: QuestionWriter
    writer: QuestionWriter
    answerer: Answerer
    consolidator: Consolidator
    post_filter: PostFilter | None
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, whether its answers exclude each other, and the answers that its writer saw."""

    text: str
    kind: QuestionKind | None = None
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An answer to the question at ``index``, and where its article holds it (see `Passage`)."""

    index: int
    answer: Answer
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What one article answers; ``n_absent`` answers do not stand in it and were left out.

    ``problem`` says what of a reply could not be read, where the rest could.
    """

    found: tuple[Found, ...]
    n_absent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Answers that are to be sorted, and the place of their question among all of its story."""

    index: int
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The answers to one question by position: those that are invalid, and groups of the rest.

    An answer may stand in several groups. ``labels`` and ``disputed`` have one entry a group, or
    are None: what it says, and the answers whose articles say that others hold it and reject it.
    ``rivals`` are pairs of groups that exclude each other, None where nobody said. ``problem`` says
    how the groups were made otherwise than by the model, and why; ``reason`` is that of the call
    that failed.
    """

    groups: Groups
    labels: tuple[str, ...] | None = None
    disputed: Groups | None = None
    rivals: tuple[tuple[int, int], ...] | None = None
    invalid: frozenset[int] = field(default_factory=frozenset)
    problem: str = ""
    reason: UnscoredReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """An answer to a question, by its place, that belongs to the group at ``group``."""

    question: int
    group: int
    answer: Answer
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What a second reading found: answers that were missed, and labels that it did not find.

    ``doubtful`` are places of a question and a group of it, and the ``aid`` of a member whose
    article does not say the label. ``n_absent`` and ``problem`` are as in `Answered`.
    """

    missed: tuple[Missed, ...] = ()
    doubtful: tuple[tuple[int, int, str], ...] = ()
    n_absent: int = 0
    problem: str = ""


class ClusterWriter(Protocol):
    """Asks for the points on which the articles of a story differ."""

    async def write(
        self, articles: Sequence[Article], *, n: int, at_least: int
    ) -> tuple[Question, ...] | Unscored:
        """Return up to `n` questions that `at_least` of `articles` answer."""


class ArticleAnswerer(Protocol):
    """Finds the answers of one article to many questions."""

    async def answer(self, questions: Sequence[Question], article: Article) -> Answered | Unscored:
        """Return all answers that stand in `article`."""


class Grouper(Protocol):
    """Filters and groups the answers to questions of one story."""

    async def group(
        self, asked: Sequence[Asked], questions: Sequence[str], articles: Sequence[Article]
    ) -> tuple[Grouping | Unscored, ...]:
        """Return, for each of `asked`, what is invalid and groups of the rest.

        `questions` are all of the story, asked or not.
        """


class Completer(Protocol):
    """Reads articles once more for answers that were missed."""

    async def complete(
        self, questions: Sequence[QuestionAnswers], articles: Sequence[Article]
    ) -> Completed | Unscored:
        """Return what `articles` say beside what `questions` have of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleBuilder:
    """The parts of the pipeline by article; ``signature`` says what they are.

    ``completer`` is None where articles are read once.
    """

    writer: ClusterWriter
    answerer: ArticleAnswerer
    grouper: Grouper
    completer: Completer | None
    signature: str
