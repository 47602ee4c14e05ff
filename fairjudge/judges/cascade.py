"""A cascade: a local scorer first, and a language model only where that one is unsure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import Thresholds
from fairjudge.judges.ports import Judge, Reply, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJudge:
    """Takes the local score at or below `low` and at or above `high`; else asks `judge`.

    Every row is by this cascade; ``routed`` says who scored it, and ``local_value`` what the local
    scorer said. A local scorer that cannot score an item is unsure of it.
    """

    local: Judge
    judge: Judge
    low: float
    high: float

    @property
    def name(self) -> str:
        """Return both names."""
        return f"cascade({self.local.name}>{self.judge.name})"

    @property
    def signature(self) -> str:
        """Return what can change a verdict: both judges and the thresholds."""
        return f"cascade:{self.low:g}-{self.high:g};{self.local.signature};{self.judge.signature}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if task.protocol == "pairwise":
            raise ConfigurationError("a cascade routes single summaries; pairs have no threshold")
        quick = await self.local.ask(task)
        if isinstance(quick, Unscored) and quick.reason == "empty_input":
            return quick
        value = quick.value if isinstance(quick, Judgement) else None
        if isinstance(quick, Judgement) and isinstance(value, int | float) and self._sure(value):
            return self._signed(quick, routed="local", local_value=value)
        answer = await self.judge.ask(task)
        if isinstance(answer, Judgement):
            return self._signed(answer, routed="judge", local_value=value)
        return answer

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        found = writing(self.judge).read(task, reply)
        return self._signed(found, routed="judge") if isinstance(found, Judgement) else found

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await writing(self.judge).repair(task, reply)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._signed(self.judge.unscored(task, why), routed="judge")

    def _sure(self, value: float) -> bool:
        return value <= self.low or value >= self.high

    def _signed(self, row: Judgement, **extra: object) -> Judgement:
        known = {"judge": self.name, "signature": self.signature}
        return Judgement.model_validate(row.to_json() | known | extra)


def thresholds_from(found: Mapping[str, Any]) -> Thresholds:
    """Return the thresholds in what ``fairjudge cascade`` wrote."""
    return float(found["low"]), float(found["high"])
