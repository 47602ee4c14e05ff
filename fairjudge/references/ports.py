"""What reference building asks of its parts; each has an LLM and a local implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""A partition of answers by index, largest group first."""


class QuestionWriter(Protocol):
    """Asks questions about a story."""

    async def write(
        self, articles: Sequence[Article], *, cluster: Sequence[Article], n: int
    ) -> tuple[str, ...] | Unscored:
        """Return up to `n` questions, written on the representative `articles` of `cluster`."""
        ...


class Answerer(Protocol):
    """Finds the answers of one article to one question."""

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[str, ...] | Unscored:
        """Return near-verbatim spans of `article`; none is a legitimate and common outcome.

        `cluster` holds all articles on the story, `article` among them.
        """
        ...


class Consolidator(Protocol):
    """Groups the answers to one question by meaning."""

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """Return a partition of ``range(len(answers))``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The post-filter's findings: answers to drop (by position in reading order), and diversity."""

    invalid: frozenset[int]
    diverse: bool


class PostFilter(Protocol):
    """Checks one question and its answer groups."""

    async def check(self, question: QuestionAnswers) -> Checked | Unscored:
        """Say which answers are invalid and whether the groups differ without them."""
        ...


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
