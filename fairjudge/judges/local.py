"""Judging by a local scorer: no language model, no wording to read, no call to pay for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from fairjudge.domain import Answer, ChecklistEntry, Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.checklist import Group, credited_entry, groups_of, share_covered
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.mappings import SupportMapping
from fairjudge.signature import signature
from fairjudge.text.closest import PassageFinder
from fairjudge.text.quoting import find_quote


class Support(Protocol):
    """Measures how far a task's evidence supports a text."""

    @property
    def name(self) -> str:
        """Return what the judge is called."""
        ...

    @property
    def scored_by(self) -> Literal["embedding", "entailment"]:
        """Return what records say of the scorer."""
        ...

    @property
    def mapping(self) -> SupportMapping:
        """Return how support becomes a verdict."""
        ...

    @property
    def model(self) -> Mapping[str, str]:
        """Return the fingerprint of the model, under what it is called in signatures."""
        ...

    def measure(self, asked: Sequence[tuple[JudgeTask, str]]) -> Sequence[float | Unscored]:
        """Return the support of each text, in [0, 1], by what its task's aspect judges against.

        The tasks are of one aspect, and each text is one of its task's.
        """
        ...

    def answers(self, text: str, answers: Sequence[Answer]) -> Sequence[float] | Unscored:
        """Return how far `text`, a summary, supports each of `answers`, in [0, 1]."""
        ...


AHEAD = 32
"""Texts measured at once: a model that reads pairs is quicker on many."""
_Asked: TypeAlias = tuple[JudgeTask, str]
_Key: TypeAlias = tuple[str, ...]
_Block: TypeAlias = dict[_Key, _Asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJudge:
    """Judges faithfulness or coverage by a support; a text is measured once, whatever its pairs.

    Parameters
    ----------
    tasks
        What it will be asked, as far as that is known, in an order that does not change: their
        texts are measured in blocks.

    Raises
    ------
    ConfigurationError
        If `aspect` is another one.
    """

    aspect: str
    support: Support
    tasks: Iterable[JudgeTask] = ()
    _known: dict[_Key, float | Unscored] = field(default_factory=dict)
    _waiting: dict[_Key, _Block] = field(default_factory=dict)
    _coming: Iterator[_Asked] = field(init=False)

    def __post_init__(self) -> None:
        coming = ((task, text) for task in self.tasks for text in task.texts if text.strip())
        object.__setattr__(self, "_coming", coming)
        if self.aspect not in {"faithfulness", "coverage"}:
            raise ConfigurationError(
                f"without an LLM only faithfulness and coverage can be judged, not {self.aspect!r}"
            )

    @property
    def name(self) -> str:
        """Return the support's name."""
        return self.support.name

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        scorer = self.support.mapping.name
        return signature({"judge": self.name, "scorer": scorer, **self.support.model})

    async def ask(self, task: JudgeTask) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return Unscored(reason="empty_input", detail="the summary is empty")
        if task.protocol == "checklist":
            return self._checklist(task)
        supports: list[float] = []
        for text in task.texts:
            found = self._measured(task, text)
            if isinstance(found, Unscored):
                return found
            supports.append(found)
        value = self.support.mapping.value(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports])

    def _checklist(self, task: JudgeTask) -> Judgement | Unscored:
        """Cover the answers whose support reaches the threshold, and a group by its best one."""
        text, groups = task.texts[0], groups_of(task.questions)
        found = self.support.answers(text, [a for group in groups for a in group.answers])
        if isinstance(found, Unscored):
            return found
        if not groups:
            return Unscored(reason="empty_input", detail="no reference answer")
        finder, supports = PassageFinder([text]), iter(found)
        entries = [
            self._entry(group, [float(next(supports)) for _ in group.answers], text, finder)
            for group in groups
        ]
        return self._judgement(task, value=share_covered(entries), checklist=entries)

    def _entry(
        self, group: Group, supports: Sequence[float], text: str, finder: PassageFinder
    ) -> ChecklistEntry:
        """Return a group's entry; the quote is the passage that shares most words with it."""
        best = max(supports)
        least = self.support.mapping.binary_threshold
        covered = [place for place, support in enumerate(supports) if support >= least]
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


def _key(asked: _Asked) -> _Key:
    task, text = asked
    return (text, task.eid, task.unit, task.protocol)
