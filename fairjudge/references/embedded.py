"""The local parts of reference building, behind the ports that LLM parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.protocols import Embedder
from fairjudge.references.consolidation import consolidate
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Groups


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuestionWriter:
    """Words questions on a whole cluster: without understanding, one article shows no topic."""

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
    """Quotes sentences and clauses."""

    references: LocalReferences

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[str, ...] | Unscored:
        """See `fairjudge.references.ports.Answerer`."""
        return self.references.answer_question(question, article, cluster=cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConsolidator:
    """Groups answers by sentence embeddings, each with its article as context."""

    embedder: Embedder

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        content = {article.aid: article.content for article in articles}
        return consolidate(
            question,
            [answer.answer for answer in answers],
            contexts=[content[answer.aid] for answer in answers],
            embedder=self.embedder,
        )
