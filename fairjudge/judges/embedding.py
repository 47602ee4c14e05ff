"""Judging without a language model: support by embeddings and lexical signals.

It knows wording, not truth: a claim that nobody made but that uses the articles' words, or a true
one in other words, misleads it. Every judgement says ``scored_by: embedding``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fairjudge.domain import Article, Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.coverage_support import coverage_support
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.mappings import EMBEDDING_MAPPING
from fairjudge.judges.ports import Reply
from fairjudge.judges.support import (
    SourceIndex,
    index_sources,
    sentence_support,
    summary_support,
)
from fairjudge.protocols import Embedder
from fairjudge.signature import signature
from fairjudge.text.statements import statement_texts

NAME = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportJudge:
    """Measures faithfulness (support of each sentence) or coverage (support of each answer).

    Support in [0, 1] becomes a verdict by `fairjudge.judges.mappings`. Indexes of articles are
    kept while the object lives.
    """

    aspect: str
    embedder: Embedder
    _indexes: dict[tuple[str, ...], SourceIndex] = field(default_factory=dict)
    _supports: dict[tuple[str, ...], float | Unscored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.aspect not in {"faithfulness", "coverage"}:
            raise ConfigurationError(
                f"without an LLM only faithfulness and coverage can be judged, not {self.aspect!r}"
            )

    @property
    def name(self) -> str:
        """Return ``"local"``."""
        return NAME

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        return signature(
            {
                "judge": self.name,
                "scorer": EMBEDDING_MAPPING.name,
                "encoder": self.embedder.fingerprint,
            }
        )

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return Unscored(reason="empty_input", detail="the summary is empty")
        supports = [self._support(task, text) for text in task.texts]
        failed = next((found for found in supports if isinstance(found, Unscored)), None)
        if failed is not None:
            return failed
        scored = [found for found in supports if not isinstance(found, Unscored)]
        value = EMBEDDING_MAPPING.value(task.protocol, *scored)
        return self._judgement(task, value=value, support=[round(s, 6) for s in scored])

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:  # noqa: ARG002
        """Never called: this judge writes nothing."""
        return Unscored(reason="unparseable", detail="a local judge has no reply to read")

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:  # noqa: ARG002
        """Never called: this judge writes nothing."""
        return Unscored(reason="unparseable", detail="a local judge has no reply to repair")

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(task, unscored=why.reason, detail=why.detail)

    def _judgement(self, task: JudgeTask, **outcome: object) -> Judgement:
        return judgement_of(
            task, judge=self.name, scored_by="embedding", signature=self.signature, **outcome
        )

    def _support(self, task: JudgeTask, text: str) -> float | Unscored:
        """Return the support of `text`, measured once whatever pairs and orders it stands in."""
        key = (text, task.eid, task.unit)
        if key not in self._supports:
            self._supports[key] = self._measure(task, text)
        return self._supports[key]

    def _measure(self, task: JudgeTask, text: str) -> float | Unscored:
        sentences = statement_texts(text)
        if not sentences:
            return Unscored(reason="empty_input", detail="the summary has no sentence")
        if self.aspect == "coverage":
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
