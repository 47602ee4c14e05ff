"""The local parts of reference building, with the same interfaces as the LLM parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.ports import Embedder
from fairjudge.references.consolidation import consolidate
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import AnswerSet, Consolidator, Grouping, Groups, sort_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuestionWriter:
    """Writes questions on a whole cluster, since topics need several articles."""

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
    """Answers with statements of an article, verbatim."""

    references: LocalReferences

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...] | Unscored:
        """See `fairjudge.references.ports.Answerer`."""
        return self.references.answer_question(question, article, cluster=cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalConsolidator:
    """Groups answers as `LocalReferences` does: by point, or by number."""

    references: LocalReferences

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        places = {(answer.aid, answer.answer): i for i, answer in enumerate(answers)}
        groups = self.references.groups_of(question, articles)
        indices = [
            [places.get((answer.aid, answer.answer)) for answer in group] for group in groups
        ]
        return sort_groups([[i for i in group if i is not None] for group in indices])


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConsolidator:
    """Groups answers by sentence embeddings; the context of each is its gloss or its article."""

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
    """A `Grouper` without invalid answers and labels."""

    consolidator: Consolidator

    async def group(
        self,
        answer_sets: Sequence[AnswerSet],
        questions: Sequence[str],
        articles: Sequence[Article],
    ) -> tuple[Grouping | Unscored, ...]:
        """See `fairjudge.references.ports.Grouper`."""
        groupings = [
            await self.consolidator.group(questions[answer_set.index], answer_set.answers, articles)
            for answer_set in answer_sets
        ]
        return tuple(
            groups if isinstance(groups, Unscored) else Grouping(groups=groups)
            for groups in groupings
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyConsolidator:
    """A `Consolidator` that is created when it is needed, since most runs do not need one."""

    make: Callable[[], Consolidator]

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        return await self.make().group(question, answers, articles)
