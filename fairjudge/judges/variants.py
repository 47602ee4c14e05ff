"""One model under several wordings of its prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.ports import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsJudge:
    """Answers each task by the prompt that the task's ``variant`` names.

    Every row is signed by its own prompt; the judges are one model under one name.
    """

    by_variant: Mapping[str, LlmJudge]

    @property
    def first(self) -> LlmJudge:
        """Return the judge by the first prompt."""
        return next(iter(self.by_variant.values()))

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.first.name

    @property
    def signature(self) -> str:
        """Return the signatures of all prompts."""
        return " | ".join(judge.signature for judge in self.by_variant.values())

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        return await self._judge(task).ask(task)

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return self._judge(task).read(task, reply)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await self._judge(task).repair(task, reply)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judge(task).unscored(task, why)

    def _judge(self, task: JudgeTask) -> LlmJudge:
        return self.first if task.variant is None else self.by_variant[task.variant]
