"""Judge by a local scorer, without a language model and without costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fairjudge.domain import (
    Article,
    ChecklistEntry,
    Judgement,
    JudgeTask,
    ProtocolName,
    ScoredBy,
    SourceCovered,
    StatementEntry,
    Unscored,
    Verdict,
)
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import LOCAL_ASPECTS
from fairjudge.judges.balance import BALANCE, balance_score
from fairjudge.judges.checklist import NO_ANSWERS, Group, credited_entry, groups_of, share_covered
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.llm import SignedJudge
from fairjudge.judges.statements import share_supported
from fairjudge.judges.trained import StatementSupport, TaskText, TrainedSupport
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.signature import signature
from fairjudge.scales import verdict_from_lead
from fairjudge.text.closest import PassageFinder
from fairjudge.text.quoting import find_quote

Support: TypeAlias = TrainedSupport | EntailmentSupport
"""Measures the support of a text by a task's evidence, in [0, 1]."""
YES_FROM = 0.5
"""Minimum support for the verdict yes; fixed in advance, as is `TIE_BELOW`."""
TIE_BELOW = 0.05
"""Difference of support below which a pair is a tie."""
BLOCK_SIZE = 32
"""Number of texts per block: a cross-encoder is faster on batches."""
_Key: TypeAlias = tuple[str, ...]
_Block: TypeAlias = dict[_Key, TaskText]


def check_local_aspect(aspect: str) -> None:
    """Raise `ConfigurationError` for an aspect that needs an LLM."""
    if aspect not in LOCAL_ASPECTS:
        raise ConfigurationError(
            "the local backend can judge coverage, faithfulness and balance; "
            f"{aspect!r} needs an LLM: pass one with --backend provider:model"
        )


def verdict_of(protocol: ProtocolName, *supports: float) -> float | Verdict:
    """Return the value of a judgement for one support in [0, 1], or for the two of a pair.

    The mappings are fixed and monotone; to predict human ratings use a calibrator
    (`fairjudge.calibration`). A rating from 1 to 5 is linear in the support and not rounded, to
    preserve the order. Raises `ValueError` if a support is outside [0, 1].
    """
    for support in supports:
        if not 0 <= support <= 1:
            raise ValueError(f"expected a support from 0 to 1, got {support!r}")
    if PROTOCOLS[protocol].paired:
        return verdict_from_lead(supports[0] - supports[1], TIE_BELOW)
    return 1 + 4 * supports[0] if PROTOCOLS[protocol].graded else float(supports[0] >= YES_FROM)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJudge(SignedJudge):
    """Judges faithfulness, coverage or balance by a `Support`.

    Each text is measured once, even if it occurs in several pairs.
    ``tasks`` are the expected tasks, in a fixed order; their texts are measured in blocks. Raises
    `ConfigurationError` for other aspects.
    """

    aspect: str
    support: Support
    tasks: Iterable[JudgeTask] = ()
    _supports: dict[_Key, float | Unscored] = field(default_factory=dict)
    _sources: dict[_Key, tuple[SourceCovered, ...] | Unscored] = field(default_factory=dict)
    _pending_blocks: dict[_Key, _Block] = field(default_factory=dict)
    _task_texts: Iterator[TaskText] = field(init=False)

    def __post_init__(self) -> None:
        task_texts = (
            (task, text) for task in self.tasks if task.unscored is None for text in task.texts
        )
        object.__setattr__(self, "_task_texts", task_texts)
        check_local_aspect(self.aspect)

    @property
    def name(self) -> str:
        """Return the support's name."""
        return self.support.name

    @property
    def scored_by(self) -> ScoredBy:
        """Return the kind of model that measures the support."""
        return self.support.scored_by

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts."""
        scorer = self.support.scorer
        return signature({"judge": self.name, "scorer": scorer, **self.support.model})

    async def _ask(self, task: JudgeTask) -> Judgement | Unscored:
        if PROTOCOLS[task.protocol].itemized:
            list_judgement = self._checklist if task.aspect == "coverage" else self._statements
            return list_judgement(task)
        if task.aspect == BALANCE:
            return self._balance(task)
        supports: list[float] = []
        for text in task.texts:
            support = self._measure(task, text)
            if isinstance(support, Unscored):
                return support
            supports.append(support)
        value = verdict_of(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports])

    def _balance(self, task: JudgeTask) -> Judgement | Unscored:
        """Judge by the least covered sources; for a single summary, list all sources."""
        sources_by_text: list[tuple[SourceCovered, ...]] = []
        for text in task.texts:
            key = _key((task, text))
            if key not in self._sources:
                self._sources[key] = self.support.sources(text, task.articles)
            sources = self._sources[key]
            if isinstance(sources, Unscored):
                return sources
            sources_by_text.append(sources)
        supports = [balance_score(sources) for sources in sources_by_text]
        fields = {"sources": sources_by_text[0]} if len(sources_by_text) == 1 else {}
        value = verdict_of(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports], **fields)

    def _checklist(self, task: JudgeTask) -> Judgement | Unscored:
        """Return a checklist; an answer is covered from support `YES_FROM`, a group by its best."""
        text, groups = task.texts[0], groups_of(task.questions)
        answer_supports = self.support.answers(text, [a for group in groups for a in group.answers])
        if isinstance(answer_supports, Unscored):
            return answer_supports
        if not groups:
            return NO_ANSWERS
        finder, supports = PassageFinder([text]), iter(answer_supports)
        entries = [
            self._entry(group, [float(next(supports)) for _ in group.answers], text, finder)
            for group in groups
        ]
        return self._judgement(task, value=share_covered(entries), checklist=entries)

    def _statements(self, task: JudgeTask) -> Judgement | Unscored:
        """Return the statements; a support of at least `YES_FROM` means supported, less absent."""
        statement_supports = self.support.statements(task.texts[0], task.articles)
        if isinstance(statement_supports, Unscored):
            return statement_supports
        entries = [
            _statement(number, statement_support, task.articles)
            for number, statement_support in enumerate(statement_supports)
        ]
        return self._judgement(task, value=share_supported(entries), statements=entries)

    def _entry(
        self, group: Group, supports: Sequence[float], text: str, finder: PassageFinder
    ) -> ChecklistEntry:
        """Return a group's entry; the quote is the passage most similar to its best answer."""
        best = max(supports)
        indices = [place for place, support in enumerate(supports) if support >= YES_FROM]
        quote = ""
        if indices:
            passage = finder.closest(group.answers[supports.index(best)].answer)
            span = None if passage is None else find_quote(passage.text, text)
            quote = "" if span is None else text[span.start : span.end]
        return credited_entry(
            group, 1 if indices else 0, indices, quote=quote, support=round(best, 6)
        )

    def _measure(self, task: JudgeTask, text: str) -> float | Unscored:
        key = _key((task, text))
        if key not in self._supports:
            block = self._block_of(key) or {key: (task, text)}
            self._supports.update(
                zip(block, self.support.measure(list(block.values())), strict=True)
            )
        return self._supports[key]

    def _block_of(self, key: _Key) -> _Block | None:
        """Return the block of texts that is measured in one batch with `key`.

        Blocks do not depend on the order of calls: a batch's composition changes a model's output
        slightly, so a resumed run could otherwise differ from an uninterrupted run.
        """
        while key not in self._pending_blocks:
            block: _Block = {}
            for task_text in self._task_texts:
                text_key = _key(task_text)
                if text_key not in self._supports and text_key not in self._pending_blocks:
                    block[text_key] = task_text
                if len(block) == BLOCK_SIZE:
                    break
            if not block:
                return None
            self._pending_blocks.update(dict.fromkeys(block, block))
        waiting_block = self._pending_blocks[key]
        for text_key in waiting_block:
            del self._pending_blocks[text_key]
        return waiting_block


def _statement(
    number: int, statement_support: StatementSupport, articles: Sequence[Article]
) -> StatementEntry:
    """Return a statement's entry; the quote is the nearest sentence of the best article."""
    is_supported = statement_support.support >= YES_FROM and bool(statement_support.articles)
    supporting_articles = (
        [articles[index] for index in statement_support.articles] if is_supported else []
    )
    span = (
        find_quote(statement_support.near, supporting_articles[0].content)
        if supporting_articles
        else None
    )
    quote = supporting_articles[0].content[span.start : span.end] if span is not None else ""
    return StatementEntry(
        sentence=number,
        statement=statement_support.statement,
        verdict="supported" if is_supported else "absent",
        articles=tuple(article.aid for article in supporting_articles),
        quote=quote,
        support=round(statement_support.support, 6),
    )


def _key(task_text: TaskText) -> _Key:
    task, text = task_text
    return (text, task.eid, task.unit, task.protocol)
