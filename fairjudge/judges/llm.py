"""Judging with a language model that writes its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.criteria import Criterion
from fairjudge.judges.ports import Reply
from fairjudge.outcomes import complete_or_unscored
from fairjudge.parsing import PARSER_VERSION, read_verdict
from fairjudge.prompting import Fenced, Template, load_template, render
from fairjudge.protocols import Backend, CompletionRequest, ModelRef
from fairjudge.scales import Position, to_verdict
from fairjudge.signature import signature


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudge:
    """A model, a criterion and its sampling parameters.

    ``max_output_tokens`` must leave room for the reasons that come before the verdict.
    """

    backend: Backend
    target: ModelRef
    criterion: Criterion
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 1024

    @property
    def name(self) -> str:
        """Return ``provider:model``."""
        return str(self.target)

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": self.criterion.template.label,
                "scale": self.criterion.scale.label,
                "parser": PARSER_VERSION,
                "temperature": self.temperature,
                "seed": self.seed,
            }
        )

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`; empty and identical summaries cost no call."""
        if not all(text.strip() for text in task.texts):
            return Unscored(reason="empty_input", detail="the summary is empty")
        if len(set(task.texts)) < len(task.texts):
            return self._judgement(task, value="tie", raw=None)
        criterion = self.criterion
        return await self._complete(criterion.template, criterion.fields_for(task), repaired=False)

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        verdict = read_verdict(reply.text, self.criterion.scale)
        if isinstance(verdict, Unscored):
            return verdict
        return self._judgement(task, value=_in_terms_of_systems(verdict, task), raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:  # noqa: ARG002
        """See `fairjudge.judges.ports.Judge`; the model sees its reply, not the material."""
        fields: dict[str, str | Fenced] = {
            "reply": Fenced("reply", (reply.text,)),
            "scale": self.criterion.scale.prompt_line,
        }
        return await self._complete(load_template("judge", "repair"), fields, repaired=True)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(task, unscored=why.reason, raw=why.raw, detail=why.detail)

    async def _complete(
        self, template: Template, fields: dict[str, str | Fenced], *, repaired: bool
    ) -> Reply | Unscored:
        request = CompletionRequest(
            target=self.target,
            messages=render(template, fields),
            response_schema=self.criterion.scale.schema,
            temperature=self.temperature,
            seed=self.seed,
            max_output_tokens=self.max_output_tokens,
        )
        completion = await complete_or_unscored(self.backend, request)
        if isinstance(completion, Unscored):
            return completion
        return Reply(text=completion.text, repaired=repaired)

    def _judgement(self, task: JudgeTask, **outcome: Any) -> Judgement:
        return judgement_of(
            task, judge=self.name, scored_by="llm", signature=self.signature, **outcome
        )


def _in_terms_of_systems(verdict: float | Position, task: JudgeTask) -> float | str:
    if isinstance(verdict, int | float):
        return verdict
    return to_verdict(verdict, task.order or "ab")


def judgement_of(task: JudgeTask, **rest: Any) -> Judgement:
    """Return a judgement on `task`; `rest` are the record's other fields."""
    systems = (
        {"system": task.systems[0]}
        if len(task.systems) == 1
        else {"system_a": task.systems[0], "system_b": task.systems[1], "order": task.order}
    )
    return Judgement.model_validate(
        {
            "eid": task.eid,
            **systems,
            "aspect": task.aspect,
            "protocol": task.protocol,
            "unit": task.unit,
            "value": None,
            "unscored": None,
            "raw": None,
            "probabilities": None,
            **rest,
        }
    )
