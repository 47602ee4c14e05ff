"""A cascade: a local scorer first, and a language model only where that one is unsure."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.ports import Judge, Reply, writing
from fairjudge.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Takes what `first` is sure of; else asks `judge`.

    Every row is by the cascade; ``routed`` says who scored it.
    """

    first: Judge
    judge: Judge

    @property
    def name(self) -> str:
        """Return both names."""
        return f"cascade({self.first.name}>{self.judge.name})"

    @property
    def signature(self) -> str:
        """Return what can change a verdict: both judges and what is sure."""
        return f"cascade:{self._sure_said};{self.first.signature};{self.judge.signature}"

    @property
    def _sure_said(self) -> str:
        raise NotImplementedError

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        found = writing(self.judge).read(task, reply)
        return self._signed(found, task, routed="judge") if isinstance(found, Judgement) else found

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await writing(self.judge).repair(task, reply)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._signed(self.judge.unscored(task, why), task, routed="judge")

    def _signed(self, row: Judgement, task: JudgeTask, **extra: object) -> Judgement:
        """Return `row` as one on `task`: the first judge may be asked otherwise, and often."""
        asked = {"order": task.order, "repeat": task.repeat}
        fields = {name: value for name, value in row.to_json().items() if name not in asked}
        known = {name: value for name, value in asked.items() if value is not None}
        by = {"judge": self.name, "signature": self.signature}
        return Judgement.model_validate(fields | known | by | extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJudge(Cascade):
    """Takes a local scorer's score at or below `low` and at or above `high`; else asks `judge`.

    ``local_value`` is what the local scorer said. One that cannot score an item is unsure of it.
    """

    low: float
    high: float

    @property
    def _sure_said(self) -> str:
        return f"{self.low:g}-{self.high:g}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if PROTOCOLS[task.protocol].paired:
            raise ConfigurationError("a cascade routes single summaries; pairs have no threshold")
        quick = await self.first.ask(task)
        if isinstance(quick, Unscored) and quick.reason == "empty_input":
            return quick
        value = quick.value if isinstance(quick, Judgement) else None
        sure = isinstance(value, int | float) and not self.low < value < self.high
        if isinstance(quick, Judgement) and sure:
            return self._signed(quick, task, routed="local", local_value=value)
        answer = await self.judge.ask(task)
        if isinstance(answer, Judgement):
            return self._signed(answer, task, routed="judge", local_value=value)
        return answer
