"""Several criteria in one request: the material is sent once, and each criterion has a verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, ProtocolName, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import builtin_scale, fence_articles, fence_questions, support_rule
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.ports import Reply
from fairjudge.outcomes import complete_or_unscored, is_cut_off, saying_cut_off
from fairjudge.parsing import PARSER_VERSION, read_verdict, read_verdicts
from fairjudge.prompting import Fenced, Template, load_template, render
from fairjudge.protocols import Backend, CompletionRequest, ModelRef
from fairjudge.scales import Scale, to_verdict
from fairjudge.signature import signature

OUTPUT_TOKENS_PER_CRITERION = 1024
"""Room for the reasons and the verdict on one criterion."""
_BUILT_IN = ("coverage", "faithfulness")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCriterion:
    """A criterion as one of several: what it asks, in `rule` or a released template, and its scale.

    ``rule`` is None for the built-in aspects, whose templates state them.
    """

    aspect: str
    scale: Scale
    rule: str | None = None

    @property
    def template(self) -> Template | None:
        """Return the template that states a built-in aspect."""
        return None if self.rule else load_template("judge", f"together-{self.aspect}")

    def stated(self, task: JudgeTask) -> str:
        """Return what the prompt says of it, its answers included."""
        if self.template is None:
            return f"{(self.rule or '').strip()}\n\n{self.scale.described}"
        known = {"scale": self.scale.described, "support_rule": support_rule(task)}
        fields: dict[str, str | Fenced] = {name: known[name] for name in self.template.fields}
        return render(self.template, fields)[0].content


def stated_criterion(
    aspect: str, protocol: ProtocolName, *, rule: str | None = None, scale: Scale | None = None
) -> StatedCriterion:
    """Return the criterion of a built-in aspect, or one of one's own by `rule` and `scale`.

    Raises
    ------
    ConfigurationError
        If it cannot be stated among others, or its scale is of another protocol.
    """
    if protocol not in {"likert", "binary"}:
        raise ConfigurationError(
            f"--together takes ratings or yes and no (likert, binary), not {protocol}"
        )
    if rule is None and aspect not in _BUILT_IN:
        raise ConfigurationError(
            f"to judge {aspect!r} with others, its criterion file needs a 'rule': what it asks, in "
            "a few sentences"
        )
    scale = scale or builtin_scale(aspect, protocol)
    if scale.protocol != protocol:
        raise ConfigurationError(f"the scale of {aspect!r} is for {scale.protocol}, not {protocol}")
    return StatedCriterion(aspect=aspect, scale=scale, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherJudge:
    """A model that is asked for all criteria of an item at once.

    Parameters
    ----------
    criteria : mapping
        Aspect to criterion.
    items : mapping
        Task id to the tasks on the same item, one an aspect, itself included; see `tasks_of_items`.
        Each of them asks the same request, which a cache answers but once.
    """

    backend: Backend
    target: ModelRef
    criteria: Mapping[str, StatedCriterion]
    items: Mapping[str, tuple[JudgeTask, ...]] = field(repr=False)
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int | None = None

    @property
    def name(self) -> str:
        """Return ``provider:model``."""
        return str(self.target)

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        stated = [one.template for one in self.criteria.values()]
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": load_template("judge", "together").label,
                "criteria": ",".join(self.criteria),
                "stated": ",".join(one.label for one in stated if one),
                "rules": _digest([one.rule for one in self.criteria.values() if one.rule]),
                "scale": ",".join(one.scale.label for one in self.criteria.values()),
                "parser": PARSER_VERSION,
                "temperature": self.temperature,
                "seed": self.seed,
                "max_output_tokens": self.max_output_tokens,
            }
        )

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`; an empty summary costs no call."""
        if not task.texts[0].strip():
            return Unscored(reason="empty_input", detail="the summary is empty")
        completion = await complete_or_unscored(self.backend, self._request(task))
        if isinstance(completion, Unscored):
            return completion
        return Reply(text=completion.text, cut_off=is_cut_off(completion))

    def _request(self, task: JudgeTask) -> CompletionRequest:
        asked = self.items[task.id]
        stated = [self.criteria[one.aspect] for one in asked]
        material = next((one for one in asked if one.articles), task)
        references = next((one for one in asked if one.questions), task)
        fields: dict[str, str | Fenced] = {
            "articles": fence_articles(material.articles),
            "questions": fence_questions(references.questions),
            "text": Fenced("summary", (task.texts[0],)),
            "criteria": "\n\n".join(
                f"Criterion {json.dumps(one.aspect, ensure_ascii=False)}\n{one.stated(material)}"
                for one in stated
            ),
            "form": _form([one.aspect for one in stated]),
        }
        return self._completion_request(
            load_template("judge", "together"),
            fields,
            task,
            schema=_schema({one.aspect: one.scale.schema for one in stated}),
            n=len(stated),
        )

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        scales = {one.aspect: self.criteria[one.aspect].scale for one in self.items[task.id]}
        named = read_verdicts(reply.text, scales, cut_off=reply.cut_off)
        verdict = named[task.aspect]
        if reply.repaired and all(isinstance(one, Unscored) for one in named.values()):
            # Who was asked for one verdict alone need not say on what.
            scale = scales[task.aspect]
            verdict = read_verdict(reply.text, scale, aspect=task.aspect, cut_off=reply.cut_off)
        if isinstance(verdict, Unscored):
            return saying_cut_off(verdict) if reply.cut_off else verdict
        value = verdict if isinstance(verdict, int | float) else to_verdict(verdict, "ab")
        return self._judgement(task, value=value, raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; asks for this criterion's verdict alone."""
        scale = self.criteria[task.aspect].scale
        fields: dict[str, str | Fenced] = {
            "reply": Fenced("reply", (reply.text,)),
            "criterion": task.aspect,
            "scale": scale.prompt_line,
        }
        request = self._completion_request(
            load_template("judge", "repair-together"),
            fields,
            task,
            schema=scale.schema_or_none,
            n=1,
        )
        completion = await complete_or_unscored(self.backend, request)
        if isinstance(completion, Unscored):
            return completion
        return Reply(text=completion.text, cut_off=is_cut_off(completion), repaired=True)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(task, unscored=why.reason, raw=why.raw, detail=why.detail)

    def _completion_request(
        self,
        template: Template,
        fields: Mapping[str, str | Fenced],
        task: JudgeTask,
        *,
        schema: Mapping[str, Any],
        n: int,
    ) -> CompletionRequest:
        repeat = task.repeat or 0
        return CompletionRequest(
            target=self.target,
            messages=render(template, fields),
            response_schema=schema,
            temperature=self.temperature,
            seed=None if self.seed is None else self.seed + repeat,
            max_output_tokens=self.max_output_tokens or n * OUTPUT_TOKENS_PER_CRITERION,
            sample_index=repeat,
        )

    def _judgement(self, task: JudgeTask, **outcome: Any) -> Judgement:
        return judgement_of(
            task,
            judge=self.name,
            scored_by="llm",
            signature=self.signature,
            together=[one.aspect for one in self.items[task.id]],
            **outcome,
        )


def together_tasks(by_aspect: Sequence[Sequence[JudgeTask]]) -> tuple[JudgeTask, ...]:
    """Return the tasks of several aspects, those on one item side by side."""
    if len(by_aspect) == 1:
        return tuple(by_aspect[0])
    items: dict[tuple[str, tuple[str, ...]], list[JudgeTask]] = {}
    for tasks in by_aspect:
        for task in tasks:
            items.setdefault((task.eid, task.systems), []).append(task)
    clusters: dict[str, list[JudgeTask]] = {}
    for (eid, _), tasks in items.items():
        clusters.setdefault(eid, []).extend(tasks)
    return tuple(task for tasks in clusters.values() for task in tasks)


def tasks_of_items(tasks: Iterable[JudgeTask]) -> dict[str, tuple[JudgeTask, ...]]:
    """Map each task's id to all tasks on its item, its repeat apart."""
    items: dict[tuple[object, ...], list[JudgeTask]] = {}
    for task in tasks:
        items.setdefault((task.eid, task.systems, task.repeat), []).append(task)
    return {task.id: tuple(some) for some in items.values() for task in some}


def _digest(rules: Sequence[str]) -> str | None:
    return hashlib.sha256("\0".join(rules).encode()).hexdigest()[:8] if rules else None


def _form(aspects: Sequence[str]) -> str:
    entry = '{"reasoning": "...", "verdict": "..."}'
    return "{" + ", ".join(f"{json.dumps(a, ensure_ascii=False)}: {entry}" for a in aspects) + "}"


def _schema(by_aspect: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(by_aspect),
        "required": list(by_aspect),
        "additionalProperties": False,
    }
