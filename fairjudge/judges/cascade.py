"""Cascades: a cheap judge first, and a second judge only where the first is unsure."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.ports import Judge, Reply, writing
from fairjudge.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Keeps the confident verdicts of `first`, and calls `judge` for the others.

    Every judgement is signed by the cascade; its ``routed`` names the judge that scored it.
    """

    first: Judge
    judge: Judge

    @property
    def name(self) -> str:
        """Return the names of both judges."""
        return f"cascade({self.first.name}>{self.judge.name})"

    @property
    def signature(self) -> str:
        """Return everything that can change a verdict: both judges and the condition of routing."""
        return f"cascade:{self._routing_label};{self.first.signature};{self.judge.signature}"

    @property
    def _routing_label(self) -> str:
        raise NotImplementedError

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        outcome = writing(self.judge).read(task, reply)
        return (
            self._signed(outcome, task, routed="judge")
            if isinstance(outcome, Judgement)
            else outcome
        )

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await writing(self.judge).repair(task, reply)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._signed(self.judge.unscored(task, why), task, routed="judge")

    def _signed(self, row: Judgement, task: JudgeTask, **extra: object) -> Judgement:
        """Return `row` with the cascade's signature, and with order and repeat of `task`.

        The first judge may have been called in another order or for several repeats.
        """
        task_fields = {"order": task.order, "repeat": task.repeat}
        fields = {name: value for name, value in row.to_json().items() if name not in task_fields}
        present_fields = {name: value for name, value in task_fields.items() if value is not None}
        by = {"judge": self.name, "signature": self.signature}
        return Judgement.model_validate(fields | present_fields | by | extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJudge(Cascade):
    """Keeps a local scorer's scores up to `low` and from `high` on; else calls `judge`.

    ``local_value`` is the local score. An item without one goes to `judge`.
    """

    low: float
    high: float

    @property
    def _routing_label(self) -> str:
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
