"""Interfaces of the parts of reference building.

`Builder` holds the parts of the paper's pipeline, each with an LLM and a local implementation;
`ArticleBuilder` holds those of the pipeline that asks all questions about an article at once.
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
"""Groups of answers by index, largest group first; a partition unless stated otherwise."""


def sort_groups(groups: Sequence[Sequence[int]]) -> Groups:
    """Return `groups` sorted: members ascending, largest group first, ties by first member."""
    whole = [tuple(sorted(group)) for group in groups if group]
    return tuple(sorted(whole, key=lambda group: (-len(group), group)))


class QuestionWriter(Protocol):
    """Writes questions about a story."""

    async def write(
        self, articles: Sequence[Article], *, cluster: Sequence[Article], n: int
    ) -> tuple[str, ...] | Unscored:
        """Return up to `n` questions on the representative `articles` of `cluster`."""


class Answerer(Protocol):
    """Extracts the answers of one article to one question."""

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...] | Unscored:
        """Return near-verbatim spans of `article`; an empty tuple is common and valid.

        `cluster` has all articles on the story, including `article`.
        """


class Consolidator(Protocol):
    """Groups the answers to one question by meaning."""

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """Return a partition of ``range(len(answers))``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterResult:
    """Result of the post-filter: invalid answers (by position over all groups), and diversity."""

    invalid: frozenset[int]
    diverse: bool


class PostFilter(Protocol):
    """Checks one question and its answer groups."""

    async def check(self, question: QuestionAnswers) -> FilterResult | Unscored:
        """Return the invalid answers, and whether the groups differ without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """The parts of the paper's pipeline.

    ``seed_writer`` writes the first, cheap questions. ``post_filter`` is None without a model that
    can judge answers. ``signature`` identifies the parts.
    """

    seed_writer: QuestionWriter
    writer: QuestionWriter
    answerer: Answerer
    consolidator: Consolidator
    post_filter: PostFilter | None
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, its kind (whether answers exclude each other), and answers seen by its writer."""

    text: str
    kind: QuestionKind | None = None
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedAnswer:
    """An answer to the question at ``index``, with its position in the article (see `Passage`)."""

    index: int
    answer: Answer
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleAnswers:
    """The answers of one article; ``n_absent`` others were dropped, since it does not contain them.

    ``problem`` describes the invalid items of a reply whose other items are valid.
    """

    found: tuple[LocatedAnswer, ...]
    n_absent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSet:
    """The answers to one question, to be grouped; ``index`` is that of the question."""

    index: int
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The grouped answers to one question, by position, and the invalid ones.

    An answer may be in several groups. ``labels`` and ``disputed`` have one entry per group, or are
    None: its meaning, and the answers whose articles reject it while attributing it to others.
    ``rivals`` are pairs of groups that exclude each other, None if unknown. If the groups are not
    by the model, ``problem`` says how they were made and why, and ``reason`` is that of the failed
    call.
    """

    groups: Groups
    labels: tuple[str, ...] | None = None
    disputed: Groups | None = None
    rivals: tuple[tuple[int, int], ...] | None = None
    invalid: frozenset[int] = field(default_factory=frozenset)
    problem: str = ""
    reason: UnscoredReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedAnswer(LocatedAnswer):
    """A missed answer of the group with index ``group`` of its question."""

    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionResult:
    """Result of the second pass: missed answers, doubtful labels, and unsupported passages.

    ``doubtful`` has (question index, group index, ``aid``) of members whose article does not
    support the group's label; ``unsupported`` has (question index, group index, position in the
    group) of passages that do not say it. ``n_absent`` and ``problem`` are as in `ArticleAnswers`.
    """

    missed: tuple[MissedAnswer, ...] = ()
    doubtful: tuple[tuple[int, int, str], ...] = ()
    unsupported: tuple[tuple[int, int, int], ...] = ()
    n_absent: int = 0
    problem: str = ""


class ClusterWriter(Protocol):
    """Writes questions on which the articles of a story differ."""

    async def write(
        self, articles: Sequence[Article], *, n: int, at_least: int
    ) -> tuple[Question, ...] | Unscored:
        """Return up to `n` questions, each answered by `at_least` of `articles`."""


class ArticleAnswerer(Protocol):
    """Extracts the answers of one article to many questions."""

    async def answer(
        self, questions: Sequence[Question], article: Article
    ) -> ArticleAnswers | Unscored:
        """Return all answers in `article`."""


class Grouper(Protocol):
    """Filters and groups the answers to questions of one story."""

    async def group(
        self,
        answer_sets: Sequence[AnswerSet],
        questions: Sequence[str],
        articles: Sequence[Article],
    ) -> tuple[Grouping | Unscored, ...]:
        """Return a grouping for each of `answer_sets`.

        `questions` are all questions of the story, also those without a set here.
        """


class Completer(Protocol):
    """Reads articles again for missed answers."""

    async def complete(
        self, questions: Sequence[QuestionAnswers], articles: Sequence[Article]
    ) -> CompletionResult | Unscored:
        """Return the answers of `articles` that `questions` lack, and what it finds wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleBuilder:
    """The parts of the pipeline by article; ``signature`` identifies them.

    ``completer`` is None without a second pass.
    """

    writer: ClusterWriter
    answerer: ArticleAnswerer
    grouper: Grouper
    completer: Completer | None
    signature: str
