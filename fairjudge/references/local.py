"""References without an LLM: points that sources make, under topics, and numbers that differ.

Statements of different articles that say the same are a point (`points`), and so is what one alone
says; points that speak of the same are under one question, "What do the sources say of ...?"
(`topics`), with an answer group a point. Numbers that differ under one question have questions of
their own (`counts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fairjudge.domain import Answer, Article
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.references.counts import count_questions
from fairjudge.references.points import Point, PointFinder
from fairjudge.references.topics import topics_of
from fairjudge.text.usable import usable

AnswerGroups: TypeAlias = tuple[tuple[Answer, ...], ...]


@dataclass(slots=True)
class LocalReferences:
    """Questions with grouped answers for clusters, without an LLM.

    What was worked out of a cluster is kept for as long as the object lives. Not safe for several
    threads.
    """

    embedder: Embedder
    models: TrainedModels
    _known: dict[tuple[tuple[str, str], ...], Mapping[str, AnswerGroups]] = field(
        default_factory=dict
    )

    def generate_questions(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[str, ...]:
        """Return up to `n_questions` questions on a cluster, the best first."""
        return tuple(self._questions(articles))[:n_questions]

    def answer_question(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...]:
        """Return what `article`, one of `cluster`, answers, word for word; often nothing.

        Only questions that `generate_questions` returns have answers.
        """
        groups = self._questions(cluster).get(question, ())
        return tuple(one for group in groups for one in group if one.aid == article.aid)

    def groups_of(self, question: str, cluster: Sequence[Article]) -> AnswerGroups:
        """Return the answers of all articles, grouped."""
        return self._questions(cluster).get(question, ())

    def _questions(self, articles: Sequence[Article]) -> Mapping[str, AnswerGroups]:
        key = tuple((article.aid, article.content) for article in articles)
        if key not in self._known:
            kept, _ = usable(articles)
            self._known[key] = self._worked_out(kept) if len(kept) > 1 else {}
        return self._known[key]

    def _worked_out(self, articles: Sequence[Article]) -> dict[str, AnswerGroups]:
        points = PointFinder(embedder=self.embedder, models=self.models).find(articles)
        topics = topics_of(points, articles)
        by_topic = {topic.question: tuple(map(_answers, topic.points)) for topic in topics}
        return by_topic | count_questions(articles, self.models)


def _answers(point: Point) -> tuple[Answer, ...]:
    return tuple(Answer(aid=one.aid, answer=one.text) for one in point.statements)
