"""The local parts of reference building, behind the ports that LLM parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.protocols import Embedder
from fairjudge.references.consolidation import consolidate
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Groups
from fairjudge.text.sentences import split_sentences


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

    async def answer(self, question: str, article: Article) -> tuple[str, ...] | Unscored:
        """See `fairjudge.references.ports.Answerer`."""
        return self.references.answer_question(question, article)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConsolidator:
    """Groups answers by sentence embeddings; an answer's context is the sentence it stands in."""

    embedder: Embedder

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        content = {article.aid: article.content for article in articles}
        contexts = [_context(answer.answer, content[answer.aid]) for answer in answers]
        texts = [answer.answer for answer in answers]
        return consolidate(question, texts, contexts=contexts, embedder=self.embedder)


def _context(answer: str, content: str) -> str | None:
    """Return the sentence of `content` that `answer` stands in, or None if it is not verbatim."""
    start = content.find(answer)
    if start < 0:
        return None
    return next((s.text for s in split_sentences(content) if s.start <= start < s.end), None)
