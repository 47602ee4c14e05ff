"""The local parts of reference building, behind the ports that LLM parts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.ports import Embedder
from fairjudge.references.consolidation import consolidate
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Asked, Consolidator, Grouping, Groups, sort_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuestionWriter:
    """Asks of a whole cluster what its sources say: one article alone shows no topic."""

    references: LocalReferences

    async def write(
        self,
        articles: Sequence[Article],  # noqa: ARG002  # the whole cluster is cheap to read
        *,
        cluster: Sequence[Article],
        n: int,
    ) -> tuple[str, ...] | Unscored:
        """See `fairjudge.references.ports.QuestionWriter`."""
        return self.references.generate_questions(cluster, n_questions=n)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAnswerer:
    """Quotes the statements of an article."""

    references: LocalReferences

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...] | Unscored:
        """See `fairjudge.references.ports.Answerer`."""
        return self.references.answer_question(question, article, cluster=cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalConsolidator:
    """Groups answers as they were found: a group a point, or a number."""

    references: LocalReferences

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        places = {(answer.aid, answer.answer): i for i, answer in enumerate(answers)}
        groups = self.references.groups_of(question, articles)
        found = [[places.get((one.aid, one.answer)) for one in group] for group in groups]
        return sort_groups([[i for i in group if i is not None] for group in found])


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConsolidator:
    """Groups answers by sentence embeddings, each with its gloss or its article as context."""

    embedder: Embedder

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        content = {article.aid: article.content for article in articles}
        return consolidate(
            question,
            [answer.answer for answer in answers],
            contexts=[answer.gloss or content[answer.aid] for answer in answers],
            embedder=self.embedder,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsAlone:
    """A grouper that takes no answer for invalid and labels nothing."""

    consolidator: Consolidator

    async def group(
        self, asked: Sequence[Asked], questions: Sequence[str], articles: Sequence[Article]
    ) -> tuple[Grouping | Unscored, ...]:
        """See `fairjudge.references.ports.Grouper`."""
        found = [
            await self.consolidator.group(questions[one.index], one.answers, articles)
            for one in asked
        ]
        return tuple(one if isinstance(one, Unscored) else Grouping(groups=one) for one in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenNeeded:
    """A consolidator that is made when it is first asked: most runs never need it."""

    make: Callable[[], Consolidator]

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        return await self.make().group(question, answers, articles)
