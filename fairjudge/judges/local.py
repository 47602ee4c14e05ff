"""Judging by a local scorer: no language model, no wording to read, no call to pay for."""

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
    SourceCovered,
    StatementEntry,
    Unscored,
    Verdict,
)
from fairjudge.errors import ConfigurationError
from fairjudge.judges.balance import BALANCE, balance_of
from fairjudge.judges.checklist import NO_ANSWERS, Group, credited_entry, groups_of, share_covered
from fairjudge.judges.entailment import EntailmentSupport
from fairjudge.judges.llm import EMPTY_SUMMARY, judgement_of
from fairjudge.judges.statements import share_supported
from fairjudge.judges.trained import Asked, StatementSupport, TrainedSupport
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.signature import signature
from fairjudge.text.closest import PassageFinder
from fairjudge.text.quoting import find_quote

Support: TypeAlias = TrainedSupport | EntailmentSupport
"""Measures how far a task's evidence supports a text, in [0, 1]."""
YES_FROM = 0.5
"""Support from which on the verdict is yes; set in advance, as is the margin of a tie."""
TIE_BELOW = 0.05
"""Difference of support below which a pair is a tie."""
AHEAD = 32
"""Texts measured at once: a model that reads pairs is quicker on many."""
_Key: TypeAlias = tuple[str, ...]
_Block: TypeAlias = dict[_Key, Asked]


def verdict_of(protocol: ProtocolName, *supports: float) -> float | Verdict:
    """Return the value of a judgement by one support in [0, 1], or for a pair by two.

    The mappings are fixed and monotone: they add no information, and a calibrator
    (`fairjudge.calibration`) is the way to people's own scale. A rating from 1 to 5 is linear in
    support and not rounded, so that order stays. `ValueError` if a support is outside [0, 1].
    """
    for support in supports:
        if not 0 <= support <= 1:
            raise ValueError(f"expected a support from 0 to 1, got {support!r}")
    if PROTOCOLS[protocol].paired:
        lead = supports[0] - supports[1]
        if abs(lead) < TIE_BELOW:
            return "tie"
        return "a" if lead > 0 else "b"
    return 1 + 4 * supports[0] if PROTOCOLS[protocol].graded else float(supports[0] >= YES_FROM)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJudge:
    """Judges faithfulness, coverage or balance by a support.

    A text is measured once, whatever pairs it stands in.
    ``tasks`` are what it will be asked, as far as that is known, in an order that does not change:
    their texts are measured in blocks. `ConfigurationError` if `aspect` is another one.
    """

    aspect: str
    support: Support
    tasks: Iterable[JudgeTask] = ()
    _known: dict[_Key, float | Unscored] = field(default_factory=dict)
    _sources: dict[_Key, tuple[SourceCovered, ...] | Unscored] = field(default_factory=dict)
    _waiting: dict[_Key, _Block] = field(default_factory=dict)
    _coming: Iterator[Asked] = field(init=False)

    def __post_init__(self) -> None:
        coming = ((task, text) for task in self.tasks for text in task.texts if text.strip())
        object.__setattr__(self, "_coming", coming)
        if self.aspect not in {"faithfulness", "coverage", BALANCE}:
            raise ConfigurationError(
                "the local backend can judge coverage, faithfulness and balance; "
                f"{self.aspect!r} needs an LLM: give one by --backend provider:model"
            )

    @property
    def name(self) -> str:
        """Return the support's name."""
        return self.support.name

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        scorer = self.support.scorer
        return signature({"judge": self.name, "scorer": scorer, **self.support.model})

    async def ask(self, task: JudgeTask) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return EMPTY_SUMMARY
        if PROTOCOLS[task.protocol].itemized:
            listed = self._checklist if task.aspect == "coverage" else self._statements
            return listed(task)
        if task.aspect == BALANCE:
            return self._balance(task)
        supports: list[float] = []
        for text in task.texts:
            found = self._measured(task, text)
            if isinstance(found, Unscored):
                return found
            supports.append(found)
        value = verdict_of(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports])

    def _balance(self, task: JudgeTask) -> Judgement | Unscored:
        """Judge by the sources that are covered least; of a single summary, name them all."""
        found: list[tuple[SourceCovered, ...]] = []
        for text in task.texts:
            key = _key((task, text))
            if key not in self._sources:
                self._sources[key] = self.support.sources(text, task.articles)
            sources = self._sources[key]
            if isinstance(sources, Unscored):
                return sources
            found.append(sources)
        supports = [balance_of(sources) for sources in found]
        about = {"sources": found[0]} if len(found) == 1 else {}
        value = verdict_of(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports], **about)

    def _checklist(self, task: JudgeTask) -> Judgement | Unscored:
        """Cover the answers whose support reaches the threshold, and a group by its best one."""
        text, groups = task.texts[0], groups_of(task.questions)
        found = self.support.answers(text, [a for group in groups for a in group.answers])
        if isinstance(found, Unscored):
            return found
        if not groups:
            return NO_ANSWERS
        finder, supports = PassageFinder([text]), iter(found)
        entries = [
            self._entry(group, [float(next(supports)) for _ in group.answers], text, finder)
            for group in groups
        ]
        return self._judgement(task, value=share_covered(entries), checklist=entries)

    def _statements(self, task: JudgeTask) -> Judgement | Unscored:
        """Support the statements whose support reaches the threshold; the others are absent."""
        found = self.support.statements(task.texts[0], task.articles)
        if isinstance(found, Unscored):
            return found
        entries = [_statement(number, one, task.articles) for number, one in enumerate(found)]
        return self._judgement(task, value=share_supported(entries), statements=entries)

    def _entry(
        self, group: Group, supports: Sequence[float], text: str, finder: PassageFinder
    ) -> ChecklistEntry:
        """Return a group's entry; the quote is the passage that shares most words with it."""
        best = max(supports)
        covered = [place for place, support in enumerate(supports) if support >= YES_FROM]
        quote = ""
        if covered:
            near = finder.closest(group.answers[supports.index(best)].answer)
            span = None if near is None else find_quote(near.text, text)
            quote = "" if span is None else text[span.start : span.end]
        return credited_entry(
            group, 1 if covered else 0, covered, quote=quote, support=round(best, 6)
        )

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(task, unscored=why.reason, detail=why.detail)

    def _judgement(self, task: JudgeTask, **outcome: object) -> Judgement:
        return judgement_of(
            task,
            judge=self.name,
            scored_by=self.support.scored_by,
            signature=self.signature,
            **outcome,
        )

    def _measured(self, task: JudgeTask, text: str) -> float | Unscored:
        key = _key((task, text))
        if key not in self._known:
            block = self._block_of(key) or {key: (task, text)}
            self._known.update(zip(block, self.support.measure(list(block.values())), strict=True))
        return self._known[key]

    def _block_of(self, key: _Key) -> _Block | None:
        """Return what a text is measured with: the same whatever was asked before.

        What is read in one pass moves a model's numbers a little, so that a run that was killed
        would else end with others.
        """
        while key not in self._waiting:
            block: _Block = {}
            for one in self._coming:
                name = _key(one)
                if name not in self._known and name not in self._waiting:
                    block[name] = one
                if len(block) == AHEAD:
                    break
            if not block:
                return None
            self._waiting.update(dict.fromkeys(block, block))
        found = self._waiting[key]
        for name in found:
            del self._waiting[name]
        return found


def _statement(number: int, found: StatementSupport, articles: Sequence[Article]) -> StatementEntry:
    """Return a statement's entry; the quote is the nearest sentence of the best article."""
    supported = found.support >= YES_FROM and bool(found.articles)
    named = [articles[place] for place in found.articles] if supported else []
    span = find_quote(found.near, named[0].content) if named else None
    quote = named[0].content[span.start : span.end] if span is not None else ""
    return StatementEntry(
        sentence=number,
        statement=found.statement,
        verdict="supported" if supported else "absent",
        articles=tuple(article.aid for article in named),
        quote=quote,
        support=round(found.support, 6),
    )


def _key(asked: Asked) -> _Key:
    task, text = asked
    return (text, task.eid, task.unit, task.protocol)
