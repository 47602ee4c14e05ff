"""Judging by the small trained models of the embedded default: no language model, no call.

Faithfulness: how surely some passage of the articles supports each statement of the summary, as a
whole or clause by clause, less so for each of its names and numbers that no article has, then the
mean over statements, or for yes or no the least (yes is that every statement is supported); what
stands in an article word for word is supported. Coverage: how surely some passage of the summary
covers each answer, a group as its best covered answer, then the mean over groups. Balance: how
surely the summary covers each statement of each article (`fairjudge.judges.balance`). Passages are
chosen by embeddings (`fairjudge.judges.passages`) and read by the models of
`fairjudge.ports.TrainedModels`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeAlias

from fairjudge.domain import Answer, Article, JudgeTask, SourceCovered, Unscored
from fairjudge.judges.balance import statements_of
from fairjudge.judges.passages import Passages, Vectoriser, passages_of
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.statements import clauses_of, statement_texts

Pair: TypeAlias = tuple[str, str, int]
"""A passage, what is asked of it, and how many names and numbers of that all texts lack."""
Asked: TypeAlias = tuple[JudgeTask, str]
"""A task, and the one of its texts that is measured."""

NO_SENTENCE = Unscored(reason="empty_input", detail="the summary has no sentence")
NO_ARTICLE = Unscored(reason="empty_input", detail="no article has a sentence")
NO_ANSWER = Unscored(reason="empty_input", detail="no reference answer has text")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSupport:
    """How far articles support one statement of a summary, in [0, 1].

    ``articles`` are the places of those that do, the best first; ``near`` is the sentence of that
    one which is nearest, empty where there is none.
    """

    statement: str
    support: float
    articles: tuple[int, ...]
    near: str


SUPPORTED_FROM = 0.5
"""Support from which on a passage, or an article by it, supports a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedSupport:
    """Support by trained models, in [0, 1].

    ``scorer`` names in signatures how support comes about and becomes a verdict. Articles and
    summaries are split and embedded once while the object lives.
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
        """Return what names the weights and the encoder."""
        return {"model": self.models.identity, "encoder": self.embedder.fingerprint}

    def measure(self, asked: Sequence[Asked]) -> list[float | Unscored]:
        """Return the support of each text by what its task's aspect judges against.

        The tasks are of one aspect, and each text is one of its task's. All are measured at once,
        which is quicker.
        """
        self._vectoriser.add(
            [sentence for task, text in asked for sentence in _to_embed(task, text)]
        )
        reading = _Reading()
        coverage = any(task.aspect == "coverage" for task, _ in asked)
        settle = self._covered if coverage else self._supported
        settled = [settle(task, text, reading) for task, text in asked]
        found = reading.read(self.models, coverage=coverage)
        return [one if isinstance(one, Unscored) else one(found) for one in settled]

    def answers(self, text: str, answers: Sequence[Answer]) -> Sequence[float] | Unscored:
        """Return how far `text`, a summary, supports each of `answers`."""
        return self._units(text, [unit_of(answer) for answer in answers])

    def statements(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[StatementSupport, ...] | Unscored:
        """Return how far `articles` support each statement of `text`, a summary, and which do."""
        statements = statement_texts(text)
        if not statements:
            return NO_SENTENCE
        clauses = [clause for statement in statements for clause in clauses_of(statement)]
        self._vectoriser.add([*statements, *clauses])
        sources = self._of(tuple(article.content for article in articles))
        if sources is None:
            return NO_ARTICLE
        reading = _Reading()
        asked = [self._ask_in_parts(statement, sources, reading) for statement in statements]
        found = reading.read(self.models, coverage=False)
        return tuple(
            self._located(statement, sources, one(found), found)
            for statement, one in zip(statements, asked, strict=True)
        )

    def _located(
        self, statement: str, sources: Passages, support: float, found: _Found
    ) -> StatementSupport:
        """Say which articles support a statement: by a passage, or by what they say together."""
        lacking = sources.vocabulary.lacks(statement)
        if sources.holds(statement):
            holders = sources.holders(statement)
            return StatementSupport(
                statement=statement, support=support, articles=holders, near=statement
            )
        near = [
            (found.get((passage, statement, lacking), 0.0), owner, sentence)
            for owner, sentence, passage in sources.nearest(self._vectoriser.rows([statement])[0])
        ]
        near.sort(key=lambda one: -one[0])
        alone = [one for one in near if one[0] >= SUPPORTED_FROM]
        owners = dict.fromkeys(owner for _, owner, _ in alone or near)
        return StatementSupport(
            statement=statement, support=support, articles=tuple(owners), near=near[0][2]
        )

    def sources(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[SourceCovered, ...] | Unscored:
        """Return how far `text`, a summary, covers the statements of each article that has any."""
        statements = {article.aid: statements_of(article.content) for article in articles}
        units = [unit for some in statements.values() for unit in some]
        if not units:
            return NO_ARTICLE
        found = self._units(text, units)
        return found if isinstance(found, Unscored) else by_source(statements, found)

    def _units(self, text: str, units: Sequence[str]) -> list[float] | Unscored:
        """Return how surely `text` covers each of `units`."""
        self._vectoriser.add([*statement_texts(text), *units])
        summary = self._of((text,))
        if summary is None:
            return NO_SENTENCE
        reading = _Reading()
        asked = [self._ask_covered(unit, summary, reading) for unit in units]
        found = reading.read(self.models, coverage=True)
        return [one(found) for one in asked]

    def _supported(self, task: JudgeTask, text: str, reading: _Reading) -> _Later | Unscored:
        statements = statement_texts(text)
        if not statements:
            return NO_SENTENCE
        sources = self._of(tuple(article.content for article in task.articles))
        if sources is None:
            return NO_ARTICLE
        parts = [self._ask_in_parts(statement, sources, reading) for statement in statements]
        return _least(parts) if PROTOCOLS[task.protocol].yes_no else _mean(parts)

    def _covered(self, task: JudgeTask, text: str, reading: _Reading) -> _Later | Unscored:
        summary = self._of((text,))
        if summary is None:
            return NO_SENTENCE
        groups = [group for question in task.questions for group in question.answer_groups if group]
        if not groups:
            return NO_ANSWER
        return _mean(
            [
                _best([self._ask_covered(unit_of(a), summary, reading) for a in group])
                for group in groups
            ]
        )

    def _ask_in_parts(self, statement: str, sources: Passages, reading: _Reading) -> _Later:
        """Ask for a statement, or the mean of its clauses: articles may support one each."""
        lacks = sources.vocabulary.lacks
        whole = self._ask(statement, sources, reading, lacking=lacks(statement))
        clauses = clauses_of(statement)
        if len(clauses) == 1:
            return whole
        parts = [self._ask(clause, sources, reading, lacking=lacks(clause)) for clause in clauses]
        return _best([whole, _mean(parts)])

    def _ask(
        self, statement: str, passages: Passages, reading: _Reading, *, lacking: int
    ) -> _Later:
        if passages.holds(statement):
            return lambda _: 1.0
        near = passages.near(self._vectoriser.rows([statement])[0])
        return reading.best([(passage, statement, lacking) for passage in near])

    def _ask_covered(self, unit: str, summary: Passages, reading: _Reading) -> _Later:
        if summary.holds(unit):
            return lambda _: 1.0
        near = summary.nearest_and_joined(self._vectoriser.rows([unit])[0])
        return reading.best([(passage, unit, 0) for passage in near])

    def _of(self, texts: tuple[str, ...]) -> Passages | None:
        if texts not in self._passages:
            self._passages[texts] = passages_of(texts, self._vectoriser)
        return self._passages[texts]


def by_source(
    statements: Mapping[str, Sequence[str]], covered: Sequence[float]
) -> tuple[SourceCovered, ...]:
    """Return the mean of what is covered of each source's statements, given in their order."""
    each = iter(covered)
    return tuple(
        SourceCovered(aid=aid, covered=round(min(1.0, fmean(next(each) for _ in some)), 6))
        for aid, some in statements.items()
        if some
    )


def unit_of(answer: Answer) -> str:
    """Return an answer in words that stand alone: its gloss where it has one."""
    return answer.gloss or answer.answer


def _to_embed(task: JudgeTask, text: str) -> list[str]:
    groups = (group for question in task.questions for group in question.answer_groups)
    units = [unit_of(answer) for group in groups for answer in group]
    sources = () if task.aspect == "coverage" else task.articles
    texts = [text, *(article.content for article in sources)]
    sentences = [sentence for one in texts for sentence in statement_texts(one)]
    clauses = () if task.aspect == "coverage" else map(clauses_of, statement_texts(text))
    return [*units, *sentences, *(clause for some in clauses for clause in some)]


_Found: TypeAlias = Mapping[Pair, float]
_Later: TypeAlias = Callable[[_Found], float]
"""A number in [0, 1], once the pairs that it rests on are read."""


@dataclass(slots=True)
class _Reading:
    """Pairs to be read, each once, however many statements ask for it."""

    pairs: dict[Pair, None] = field(default_factory=dict)

    def best(self, pairs: Sequence[Pair]) -> _Later:
        self.pairs |= dict.fromkeys(pairs)
        return lambda found: max(found[pair] for pair in pairs)

    def read(self, models: TrainedModels, *, coverage: bool) -> _Found:
        asked = [(passage, statement) for passage, statement, _ in self.pairs]
        if not asked:
            return {}
        lacking = [lacking for *_, lacking in self.pairs]
        found = models.covered(asked) if coverage else models.supported(asked, lacking)
        return dict(zip(self.pairs, found.tolist(), strict=True))


def _mean(parts: Sequence[_Later]) -> _Later:
    return lambda found: min(1.0, fmean(part(found) for part in parts))


def _least(parts: Sequence[_Later]) -> _Later:
    return lambda found: min(part(found) for part in parts)


def _best(parts: Sequence[_Later]) -> _Later:
    return lambda found: max(part(found) for part in parts)
