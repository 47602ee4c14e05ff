"""Interfaces of the parts of reference building.

`Builder` contains the parts of the paper's pipeline, each with an LLM and a local implementation;
`ArticleBuilder` the parts of the pipeline that asks all questions about an article in one call.
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
"""Groups of indices of answers, largest group first; a partition unless documented otherwise."""


def sort_groups(groups: Sequence[Sequence[int]]) -> Groups:
    """Return `groups` sorted: members ascending, largest group first, ties by first member."""
    sorted_groups = [tuple(sorted(group)) for group in groups if group]
    return tuple(sorted(sorted_groups, key=lambda group: (-len(group), group)))


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

        `cluster` are all articles on the story, including `article`.
        """


class Consolidator(Protocol):
    """Groups the answers to one question by meaning."""

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """Return a partition of ``range(len(answers))``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterResult:
    """The result of the post-filter: invalid answers (indices over all groups), and diversity."""

    invalid: frozenset[int]
    diverse: bool


class PostFilter(Protocol):
    """Checks one question and its answer groups."""

    async def check(self, question: QuestionAnswers) -> FilterResult | Unscored:
        """Return the invalid answers, and whether the remaining groups differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """The parts of the paper's pipeline.

    ``seed_writer`` writes the first, cheap questions. ``post_filter`` is None if no model can judge
    answers. ``signature`` identifies the parts.
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
    """The answers of one article; ``n_absent`` answers that it does not contain were dropped.

    ``problem`` describes the invalid items of a reply whose other items are valid.
    """

    found: tuple[LocatedAnswer, ...]
    n_absent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSet:
    """The answers to one question, to be grouped; ``index`` is the question's index."""

    index: int
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups of answers to one question, by index, and the invalid answers.

    An answer may be in several groups. ``labels`` and ``disputed`` have one entry per group, or are
    None: its meaning, and the answers whose articles reject it while attributing it to others.
    ``rivals`` are pairs of groups that exclude each other, None if unknown. If the model did not
    group the answers, ``problem`` describes how they were grouped and why, and ``reason`` is the
    reason of the failed call.
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
    """A missed answer in the group with index ``group`` of its question."""

    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionResult:
    """The result of the second pass: missed answers, doubtful labels, and unsupported passages.

    ``doubtful`` has (question index, group index, ``aid``) of members whose article does not
    support the group's label; ``unsupported`` has (question index, group index, index in the group)
    of passages that do not support it. ``n_absent`` and ``problem`` are as in `ArticleAnswers`.
    """

    missed: tuple[MissedAnswer, ...] = ()
    doubtful: tuple[tuple[int, int, str], ...] = ()
    unsupported: tuple[tuple[int, int, int], ...] = ()
    n_absent: int = 0
    problem: str = ""


class ClusterWriter(Protocol):
    """Writes questions on which the articles of a story differ."""

    async def write(
        self, articles: Sequence[Article], *, n: int, min_sources: int
    ) -> tuple[Question, ...] | Unscored:
        """Return up to `n` questions, each answered by `min_sources` of `articles`."""


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

        `questions` are all questions of the story, including those without an answer set.
        """


class Completer(Protocol):
    """Searches articles again for missed answers."""

    async def complete(
        self, questions: Sequence[QuestionAnswers], articles: Sequence[Article]
    ) -> CompletionResult | Unscored:
        """Return the answers of `articles` that are missing in `questions`, and errors in these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleBuilder:
    """The parts of the pipeline by article; ``signature`` identifies them.

    ``completer`` is None if there is no second pass.
    """

    writer: ClusterWriter
    answerer: ArticleAnswerer
    grouper: Grouper
    completer: Completer | None
    signature: str
