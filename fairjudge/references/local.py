"""Build references without an LLM: points by topic, and differing numbers.

A point is a set of equivalent statements of different articles, or a statement of one article only
(`points`). Points on the same topic are under one question, "What do the sources say of ...?"
(`topics`), each as an answer group. Differing numbers have questions of their own (`counts`).
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

    The result of each cluster is cached in the object. Not thread-safe.
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
        """Return the verbatim answers of `article`, one of `cluster`; often none.

        Only questions that `generate_questions` returns have answers.
        """
        groups = self._questions(cluster).get(question, ())
        return tuple(answer for group in groups for answer in group if answer.aid == article.aid)

    def groups_of(self, question: str, cluster: Sequence[Article]) -> AnswerGroups:
        """Return the grouped answers of all articles."""
        return self._questions(cluster).get(question, ())

    def _questions(self, articles: Sequence[Article]) -> Mapping[str, AnswerGroups]:
        key = tuple((article.aid, article.content) for article in articles)
        if key not in self._known:
            usable_articles, _ = usable(articles)
            self._known[key] = self._worked_out(usable_articles) if len(usable_articles) > 1 else {}
        return self._known[key]

    def _worked_out(self, articles: Sequence[Article]) -> dict[str, AnswerGroups]:
        points = PointFinder(embedder=self.embedder, models=self.models).find(articles)
        topics = topics_of(points, articles)
        by_topic = {topic.question: tuple(map(_answers, topic.points)) for topic in topics}
        return by_topic | count_questions(articles, self.models)


def _answers(point: Point) -> tuple[Answer, ...]:
    return tuple(Answer(aid=statement.aid, answer=statement.text) for statement in point.statements)
