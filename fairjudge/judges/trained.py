"""Judge by the small trained models of the embedded default, without a language model.

Faithfulness: for each statement of the summary, the maximum probability over passages of the
articles that the passage supports the statement, as a whole or as the mean of its clauses; names
and numbers that no article has lower it, and verbatim statements have probability 1. The score is
the mean over statements, or for yes or no the minimum (yes means that all are supported). Coverage:
the maximum probability over passages of the summary that the passage covers an answer; a group has
that of its best answer, and the score is the mean over groups. Balance: coverage of the statements
of each article (`fairjudge.judges.balance`). Passages are selected by embeddings
(`fairjudge.judges.passages`) and read by `fairjudge.ports.TrainedModels`.
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
"""A passage, a statement, and the number of the statement's names and numbers in no text."""
TaskText: TypeAlias = tuple[JudgeTask, str]
"""A task, and the one of its texts to be measured."""

NO_ARTICLE = Unscored(reason="empty_input", detail="no article has a sentence")
NO_ANSWER = Unscored(reason="empty_input", detail="no reference answer has text")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSupport:
    """The support of one statement of a summary by articles, in [0, 1].

    ``articles`` are the indices of the supporting articles, the best first; ``near`` is the nearest
    sentence of the best one, "" if there is none.
    """

    statement: str
    support: float
    articles: tuple[int, ...]
    near: str


SUPPORTED_FROM = 0.5
"""Minimum support with which a passage, and so its article, supports a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedSupport:
    """Support measured by the trained models, in [0, 1].

    ``scorer`` is the version, in signatures, of this computation and of the mapping to verdicts.
    Articles and summaries are split and embedded once per object.
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

        All tasks have the same aspect, and each text is one of its task's texts. The models read
        all pairs in one batch, which is faster.
        """
        self._vectoriser.add(
            [sentence for task, text in task_texts for sentence in _to_embed(task, text)]
        )
        reading = _Reading()
        coverage = any(task.aspect == "coverage" for task, _ in task_texts)
        settle = self._covered if coverage else self._supported
        deferred = [settle(task, text, reading) for task, text in task_texts]
        probabilities = reading.read(self.models, coverage=coverage)
        return [
            support if isinstance(support, Unscored) else support(probabilities)
            for support in deferred
        ]

    def answers(self, text: str, answers: Sequence[Answer]) -> Sequence[float] | Unscored:
        """Return the support of each of `answers` by the summary `text`."""
        return self._units(text, [unit_of(answer) for answer in answers])

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
        reading = _Reading()
        deferred = [
            self._statement_support(statement, sources, reading) for statement in statements
        ]
        probabilities = reading.read(self.models, coverage=False)
        return tuple(
            self._located(statement, sources, support(probabilities), probabilities)
            for statement, support in zip(statements, deferred, strict=True)
        )

    def _located(
        self, statement: str, sources: Passages, support: float, probabilities: _Probabilities
    ) -> StatementSupport:
        """Return a statement's support with the articles that give it, alone or combined."""
        lacking = sources.vocabulary.lacks(statement)
        if sources.holds(statement):
            holders = sources.holders(statement)
            return StatementSupport(
                statement=statement, support=support, articles=holders, near=statement
            )
        near = [
            (probabilities.get((passage, statement, lacking), 0.0), owner, sentence)
            for owner, sentence, passage in sources.nearest(self._vectoriser.rows([statement])[0])
        ]
        near.sort(key=lambda candidate: -candidate[0])
        supporting = [candidate for candidate in near if candidate[0] >= SUPPORTED_FROM]
        owners = dict.fromkeys(owner for _, owner, _ in supporting or near)
        return StatementSupport(
            statement=statement, support=support, articles=tuple(owners), near=near[0][2]
        )

    def sources(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[SourceCovered, ...] | Unscored:
        """Return the coverage by the summary `text` of each article that has statements."""
        return by_source(articles, lambda units: self._units(text, units))

    def _units(self, text: str, units: Sequence[str]) -> list[float] | Unscored:
        """Return the probability that `text` covers each of `units`."""
        self._vectoriser.add([*statement_texts(text), *units])
        summary = self._passages_of((text,))
        if summary is None:
            return NO_SENTENCE
        reading = _Reading()
        deferred = [self._unit_coverage(unit, summary, reading) for unit in units]
        probabilities = reading.read(self.models, coverage=True)
        return [support(probabilities) for support in deferred]

    def _supported(self, task: JudgeTask, text: str, reading: _Reading) -> _Deferred | Unscored:
        statements = statement_texts(text)
        if not statements:
            return NO_SENTENCE
        sources = self._passages_of(tuple(article.content for article in task.articles))
        if sources is None:
            return NO_ARTICLE
        parts = [self._statement_support(statement, sources, reading) for statement in statements]
        return _combined(min if PROTOCOLS[task.protocol].yes_no else _mean, parts)

    def _covered(self, task: JudgeTask, text: str, reading: _Reading) -> _Deferred | Unscored:
        summary = self._passages_of((text,))
        if summary is None:
            return NO_SENTENCE
        groups = [group for question in task.questions for group in question.answer_groups if group]
        if not groups:
            return NO_ANSWER
        parts = [
            _combined(max, [self._unit_coverage(unit_of(a), summary, reading) for a in group])
            for group in groups
        ]
        return _combined(_mean, parts)

    def _statement_support(self, statement: str, sources: Passages, reading: _Reading) -> _Deferred:
        """Return the support of a statement, or the mean over its clauses if that is larger.

        Different articles may support different clauses.
        """
        lacks = sources.vocabulary.lacks
        whole = self._support_by(statement, sources, reading, lacking=lacks(statement))
        clauses = clauses_of(statement)
        if len(clauses) == 1:
            return whole
        parts = [
            self._support_by(clause, sources, reading, lacking=lacks(clause)) for clause in clauses
        ]
        return _combined(max, [whole, _combined(_mean, parts)])

    def _support_by(
        self, statement: str, passages: Passages, reading: _Reading, *, lacking: int
    ) -> _Deferred:
        if passages.holds(statement):
            return lambda _: 1.0
        near = passages.near(self._vectoriser.rows([statement])[0])
        return reading.best([(passage, statement, lacking) for passage in near])

    def _unit_coverage(self, unit: str, summary: Passages, reading: _Reading) -> _Deferred:
        if summary.holds(unit):
            return lambda _: 1.0
        near = summary.nearest_and_joined(self._vectoriser.rows([unit])[0])
        return reading.best([(passage, unit, 0) for passage in near])

    def _passages_of(self, texts: tuple[str, ...]) -> Passages | None:
        if texts not in self._passages:
            self._passages[texts] = passages_of(texts, self._vectoriser)
        return self._passages[texts]


def by_source(
    articles: Sequence[Article], cover: Callable[[Sequence[str]], Sequence[float] | Unscored]
) -> tuple[SourceCovered, ...] | Unscored:
    """Return the mean coverage of each article's statements; `cover` gives it for statements."""
    statements = {article.aid: statements_of(article.content) for article in articles}
    units = [unit for article_statements in statements.values() for unit in article_statements]
    covered = cover(units) if units else NO_ARTICLE
    if isinstance(covered, Unscored):
        return covered
    values = iter(covered)
    return tuple(
        SourceCovered(
            aid=aid, covered=round(min(1.0, fmean(next(values) for _ in article_statements)), 6)
        )
        for aid, article_statements in statements.items()
        if article_statements
    )


def unit_of(answer: Answer) -> str:
    """Return an answer in self-contained words: its gloss if it has one."""
    return answer.gloss or answer.answer


def _to_embed(task: JudgeTask, text: str) -> list[str]:
    groups = (group for question in task.questions for group in question.answer_groups)
    units = [unit_of(answer) for group in groups for answer in group]
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
_Deferred: TypeAlias = Callable[[_Probabilities], float]
"""Computes a number in [0, 1] from the probabilities of pairs, once the models have read these."""


@dataclass(slots=True)
class _Reading:
    """The distinct pairs that the models will read in one batch."""

    pairs: dict[Pair, None] = field(default_factory=dict)

    def best(self, pairs: Sequence[Pair]) -> _Deferred:
        self.pairs |= dict.fromkeys(pairs)
        return lambda probabilities: max(probabilities[pair] for pair in pairs)

    def read(self, models: TrainedModels, *, coverage: bool) -> _Probabilities:
        pairs = [(passage, statement) for passage, statement, _ in self.pairs]
        if not pairs:
            return {}
        lacking = [lacking for *_, lacking in self.pairs]
        probabilities = models.covered(pairs) if coverage else models.supported(pairs, lacking)
        return dict(zip(self.pairs, probabilities.tolist(), strict=True))


def _combined(
    statistic: Callable[[Iterable[float]], float], parts: Sequence[_Deferred]
) -> _Deferred:
    return lambda probabilities: statistic(part(probabilities) for part in parts)


def _mean(values: Iterable[float]) -> float:
    return min(1.0, fmean(values))
