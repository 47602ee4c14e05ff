"""Judge by the small trained models of the embedded default, without a language model.

Faithfulness: for each statement of the summary, the maximum over passages of the articles of the
probability that the passage supports the statement, or the mean over the statement's clauses if
larger. Names and numbers that occur in no article lower it; verbatim statements have probability 1.
The score is the mean over statements, or their minimum for yes or no (yes means that all are
supported).

Coverage: for each answer, the maximum over passages of the summary of the probability that the
passage covers the answer. A group counts as its best answer; the score is the mean over groups.

Balance: coverage of the statements of each article (`fairjudge.judges.balance`).

Passages are selected by embeddings (`fairjudge.judges.passages`) and scored by
`fairjudge.ports.TrainedModels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeAlias

from fairjudge.domain import Answer, Article, JudgeTask, SourceCovered, Unscored
from fairjudge.judges.balance import statements_of
from fairjudge.judges.passages import Passages, Vectoriser, passages_of
from fairjudge.judges.statements import NO_SENTENCE
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.statements import clauses_of, statement_texts

Pair: TypeAlias = tuple[str, str, int]
"""A passage, a statement, and how many names and numbers of the statement occur in no text."""
TaskText: TypeAlias = tuple[JudgeTask, str]
"""A task, and which of its texts to measure."""

NO_ARTICLE = Unscored(reason="empty_input", detail="no article has a sentence")
NO_ANSWER = Unscored(reason="empty_input", detail="no reference answer has text")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSupport:
    """The support of one statement of a summary by articles, in [0, 1].

    ``articles`` are the indices of the supporting articles, the best first; ``near`` is the nearest
    sentence of the best article, "" if there is none.
    """

    statement: str
    support: float
    articles: tuple[int, ...]
    near: str


SUPPORTED_FROM = 0.5
"""Minimum probability from which a passage, and so its article, supports a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedSupport:
    """Support measured by the trained models, in [0, 1].

    ``scorer`` is the version of this computation and of the mapping to verdicts, for signatures.
    Each article and summary is split and embedded once.
    """

    models: TrainedModels
    embedder: Embedder
    name: str = "local"
    scored_by: Literal["embedding", "entailment"] = "embedding"
    scorer: str = "trained-v3"
    _vectoriser: Vectoriser = field(init=False)
    _passages: dict[tuple[str, ...], Passages | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_vectoriser", Vectoriser(self.embedder))

    @property
    def model(self) -> Mapping[str, str]:
        """Return the identities of the weights and the encoder, for signatures."""
        return {"model": self.models.identity, "encoder": self.embedder.fingerprint}

    def measure(self, task_texts: Sequence[TaskText]) -> list[float | Unscored]:
        """Return the support of each text by the evidence of its task.

        All tasks have the same aspect, and each text is one of its task's texts. The models score
        all pairs in one batch, which is faster.
        """
        self._vectoriser.add(
            [sentence for task, text in task_texts for sentence in _to_embed(task, text)]
        )
        batch = _PairBatch()
        coverage = any(task.aspect == "coverage" for task, _ in task_texts)
        support_of = self._coverage_of_answers if coverage else self._support_of_statements
        computations = [support_of(task, text, batch) for task, text in task_texts]
        probabilities = batch.read(self.models, coverage=coverage)
        return [
            support if isinstance(support, Unscored) else support(probabilities)
            for support in computations
        ]

    def answers(self, text: str, answers: Sequence[Answer]) -> Sequence[float] | Unscored:
        """Return the support of each of `answers` by the summary `text`."""
        return self._units(text, [self_contained_text(answer) for answer in answers])

    def statements(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[StatementSupport, ...] | Unscored:
        """Return the support of each statement of the summary `text` by `articles`."""
        statements = statement_texts(text)
        if not statements:
            return NO_SENTENCE
        clauses = [clause for statement in statements for clause in clauses_of(statement)]
        self._vectoriser.add([*statements, *clauses])
        sources = self._passages_of(tuple(article.content for article in articles))
        if sources is None:
            return NO_ARTICLE
        batch = _PairBatch()
        computations = [
            self._statement_support(statement, sources, batch) for statement in statements
        ]
        probabilities = batch.read(self.models, coverage=False)
        return tuple(
            self._with_articles(statement, sources, support(probabilities), probabilities)
            for statement, support in zip(statements, computations, strict=True)
        )

    def _with_articles(
        self, statement: str, sources: Passages, support: float, probabilities: _Probabilities
    ) -> StatementSupport:
        """Return a statement's support with its supporting articles, or else the nearest ones."""
        n_missing = sources.vocabulary.lacks(statement)
        if sources.contains(statement):
            indices = sources.indices_of_texts_with(statement)
            return StatementSupport(
                statement=statement, support=support, articles=indices, near=statement
            )
        candidates = [
            (probabilities.get((passage, statement, n_missing), 0.0), owner, sentence)
            for owner, sentence, passage in sources.nearest(self._vectoriser.rows([statement])[0])
        ]
        candidates.sort(key=lambda candidate: -candidate[0])
        supporting_candidates = [
            candidate for candidate in candidates if candidate[0] >= SUPPORTED_FROM
        ]
        owners = dict.fromkeys(owner for _, owner, _ in supporting_candidates or candidates)
        return StatementSupport(
            statement=statement, support=support, articles=tuple(owners), near=candidates[0][2]
        )

    def sources(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[SourceCovered, ...] | Unscored:
        """Return how far the summary `text` covers each article that has statements."""
        return by_source(articles, lambda units: self._units(text, units))

    def _units(self, text: str, units: Sequence[str]) -> list[float] | Unscored:
        """Return the probability that `text` covers each of `units`."""
        self._vectoriser.add([*statement_texts(text), *units])
        summary = self._passages_of((text,))
        if summary is None:
            return NO_SENTENCE
        batch = _PairBatch()
        computations = [self._unit_coverage(unit, summary, batch) for unit in units]
        probabilities = batch.read(self.models, coverage=True)
        return [support(probabilities) for support in computations]

    def _support_of_statements(
        self, task: JudgeTask, text: str, batch: _PairBatch
    ) -> _Computation | Unscored:
        statements = statement_texts(text)
        if not statements:
            return NO_SENTENCE
        sources = self._passages_of(tuple(article.content for article in task.articles))
        if sources is None:
            return NO_ARTICLE
        parts = [self._statement_support(statement, sources, batch) for statement in statements]
        return _combine(min if PROTOCOLS[task.protocol].yes_no else _mean, parts)

    def _coverage_of_answers(
        self, task: JudgeTask, text: str, batch: _PairBatch
    ) -> _Computation | Unscored:
        summary = self._passages_of((text,))
        if summary is None:
            return NO_SENTENCE
        groups = [group for question in task.questions for group in question.answer_groups if group]
        if not groups:
            return NO_ANSWER
        parts = [
            _combine(
                max,
                [
                    self._unit_coverage(self_contained_text(answer), summary, batch)
                    for answer in group
                ],
            )
            for group in groups
        ]
        return _combine(_mean, parts)

    def _statement_support(
        self, statement: str, sources: Passages, batch: _PairBatch
    ) -> _Computation:
        """Return the support of a statement, or the mean over its clauses if larger.

        Different articles may support different clauses.
        """
        n_missing = sources.vocabulary.lacks
        statement_support = self._support_by(
            statement, sources, batch, n_missing=n_missing(statement)
        )
        clauses = clauses_of(statement)
        if len(clauses) == 1:
            return statement_support
        parts = [
            self._support_by(clause, sources, batch, n_missing=n_missing(clause))
            for clause in clauses
        ]
        return _combine(max, [statement_support, _combine(_mean, parts)])

    def _support_by(
        self, statement: str, passages: Passages, batch: _PairBatch, *, n_missing: int
    ) -> _Computation:
        if passages.contains(statement):
            return lambda _: 1.0
        passages_nearby = passages.near(self._vectoriser.rows([statement])[0])
        return batch.best([(passage, statement, n_missing) for passage in passages_nearby])

    def _unit_coverage(self, unit: str, summary: Passages, batch: _PairBatch) -> _Computation:
        if summary.contains(unit):
            return lambda _: 1.0
        passages = summary.nearest_passage_and_sentences(self._vectoriser.rows([unit])[0])
        return batch.best([(passage, unit, 0) for passage in passages])

    def _passages_of(self, texts: tuple[str, ...]) -> Passages | None:
        if texts not in self._passages:
            self._passages[texts] = passages_of(texts, self._vectoriser)
        return self._passages[texts]


def by_source(
    articles: Sequence[Article], cover: Callable[[Sequence[str]], Sequence[float] | Unscored]
) -> tuple[SourceCovered, ...] | Unscored:
    """Return the mean coverage of each article's statements; `cover` measures statements."""
    statements = {article.aid: statements_of(article.content) for article in articles}
    units = [unit for article_statements in statements.values() for unit in article_statements]
    coverage = cover(units) if units else NO_ARTICLE
    if isinstance(coverage, Unscored):
        return coverage
    values = iter(coverage)
    return tuple(
        SourceCovered(
            aid=aid, covered=round(min(1.0, fmean(next(values) for _ in article_statements)), 6)
        )
        for aid, article_statements in statements.items()
        if article_statements
    )


def self_contained_text(answer: Answer) -> str:
    """Return an answer in self-contained words: its gloss if available."""
    return answer.gloss or answer.answer


def _to_embed(task: JudgeTask, text: str) -> list[str]:
    groups = (group for question in task.questions for group in question.answer_groups)
    units = [self_contained_text(answer) for group in groups for answer in group]
    sources = () if task.aspect == "coverage" else task.articles
    texts = [text, *(article.content for article in sources)]
    sentences = [sentence for embedded_text in texts for sentence in statement_texts(embedded_text)]
    clauses = () if task.aspect == "coverage" else map(clauses_of, statement_texts(text))
    return [
        *units,
        *sentences,
        *(clause for statement_clauses in clauses for clause in statement_clauses),
    ]


_Probabilities: TypeAlias = Mapping[Pair, float]
_Computation: TypeAlias = Callable[[_Probabilities], float]
"""Computes a number in [0, 1] from the probabilities of pairs, once these are known."""


@dataclass(slots=True)
class _PairBatch:
    """The distinct pairs to be scored in one batch."""

    pairs: dict[Pair, None] = field(default_factory=dict)

    def best(self, pairs: Sequence[Pair]) -> _Computation:
        self.pairs |= dict.fromkeys(pairs)
        return lambda probabilities: max(probabilities[pair] for pair in pairs)

    def read(self, models: TrainedModels, *, coverage: bool) -> _Probabilities:
        pairs = [(passage, statement) for passage, statement, _ in self.pairs]
        if not pairs:
            return {}
        n_missing = [n_missing for *_, n_missing in self.pairs]
        probabilities = (
            models.coverage_probabilities(pairs)
            if coverage
            else models.support_probabilities(pairs, n_missing)
        )
        return dict(zip(self.pairs, probabilities.tolist(), strict=True))


def _combine(
    statistic: Callable[[Iterable[float]], float], parts: Sequence[_Computation]
) -> _Computation:
    return lambda probabilities: statistic(part(probabilities) for part in parts)


def _mean(values: Iterable[float]) -> float:
    return min(1.0, fmean(values))
