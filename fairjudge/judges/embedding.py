"""Judging without a language model: support by embeddings and lexical signals.

It knows wording, not truth: a claim that nobody made but that uses the articles' words, or a true
one in other words, misleads it. Every judgement says ``scored_by: embedding``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fairjudge.domain import Article, JudgeTask, Unscored
from fairjudge.judges.coverage_support import coverage_support
from fairjudge.judges.mappings import EMBEDDING_MAPPING, SupportMapping
from fairjudge.judges.support import (
    SourceIndex,
    index_sources,
    sentence_support,
    summary_support,
)
from fairjudge.protocols import Embedder
from fairjudge.text.statements import statement_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSupport:
    """Support of each sentence by the articles, or of each answer by the summary.

    A `fairjudge.judges.local.Support`. Indexes of articles are kept while the object lives.
    """

    embedder: Embedder
    name: str = "local"
    scored_by: Literal["embedding"] = "embedding"
    mapping: SupportMapping = EMBEDDING_MAPPING
    _indexes: dict[tuple[str, ...], SourceIndex] = field(default_factory=dict)

    @property
    def model(self) -> Mapping[str, str]:
        """Return the encoder's fingerprint."""
        return {"encoder": self.embedder.fingerprint}

    def measure(self, task: JudgeTask, text: str) -> float | Unscored:
        """See `fairjudge.judges.local.Support`."""
        sentences = statement_texts(text)
        if not sentences:
            return Unscored(reason="empty_input", detail="the summary has no sentence")
        if task.aspect == "coverage":
            return coverage_support(task.questions, sentences, embedder=self.embedder).summary
        index = self._index(task.articles)
        if isinstance(index, Unscored):
            return index
        return summary_support(sentence_support(sentences, index, embedder=self.embedder))

    def _index(self, articles: Sequence[Article]) -> SourceIndex | Unscored:
        texts = tuple(article.content for article in articles)
        if texts not in self._indexes:
            split = [statement_texts(content) for content in texts]
            if not any(split):
                return Unscored(reason="empty_input", detail="no article has a sentence")
            self._indexes[texts] = index_sources(split, embedder=self.embedder)
        return self._indexes[texts]
