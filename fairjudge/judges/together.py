"""Judge several criteria in one request, which contains the material once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, ProtocolName, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import ASPECTS
from fairjudge.judges.criteria import (
    BUILTIN_SCALES,
    fence_articles,
    fence_questions,
    rule_scale,
    support_rule,
)
from fairjudge.judges.llm import WritingModel, repair_messages
from fairjudge.judges.ports import Reply
from fairjudge.parsing import PARSER_VERSION, read_verdict, read_verdicts
from fairjudge.parsing.outcomes import with_cut_off
from fairjudge.prompting import Fenced, Template, json_object, load_template, render
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Scale

OUTPUT_TOKENS_PER_CRITERION = 1024
"""Enough for the reasoning and the verdict on one criterion."""
_ENTRY = '{"reasoning": "...", "verdict": "..."}'


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCriterion:
    """One of several criteria of a request: a `rule` or a released template, and a scale.

    ``rule`` is None for the built-in aspects, which have templates.
    """

    aspect: str
    scale: Scale
    rule: str | None = None

    @property
    def template(self) -> Template | None:
        """Return the template of a built-in aspect."""
        return None if self.rule else load_template("judge", f"together-{self.aspect}")

    def prompt_text(self, task: JudgeTask) -> str:
        """Return the criterion's text in the prompt, with its answers."""
        if self.template is None:
            return f"{(self.rule or '').strip()}\n\n{self.scale.answer_lines}"
        values = {"scale": self.scale.answer_lines, "support_rule": support_rule(task)}
        fields: dict[str, str | Fenced] = {name: values[name] for name in self.template.fields}
        return render(self.template, fields)[0].content


def joint_criterion(
    aspect: str, protocol: ProtocolName, *, rule: str | None = None, scale: Scale | None = None
) -> JointCriterion:
    """Return the criterion of a built-in aspect, or a custom criterion with `rule` and `scale`.

    Raises `ConfigurationError` if the criterion cannot be judged with other criteria, or its scale
    has another protocol.
    """
    if not PROTOCOLS[protocol].judges_parts:
        raise ConfigurationError(f"--together requires protocol likert or binary, not {protocol}")
    if rule is None and aspect not in ASPECTS:
        raise ConfigurationError(
            f"to judge {aspect!r} together with other aspects, its criterion file needs a 'rule': "
            "the criterion in a few sentences"
        )
    scale = scale or (rule_scale(protocol) if rule else BUILTIN_SCALES[aspect][protocol])
    if scale.protocol != protocol:
        raise ConfigurationError(f"the scale of {aspect!r} is for {scale.protocol}, not {protocol}")
    return JointCriterion(aspect=aspect, scale=scale, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointJudge(WritingModel):
    """A model that judges all criteria of an item in one request.

    ``criteria`` are by aspect. ``items`` maps a task's id to all tasks on the same item, one per
    aspect; see `tasks_by_item`. All tasks of an item send the same request, which is one call
    thanks to the cache.
    """

    criteria: Mapping[str, JointCriterion]
    items: Mapping[str, tuple[JudgeTask, ...]] = field(repr=False)

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts."""
        templates = [criterion.template for criterion in self.criteria.values()]
        rules = [criterion.rule for criterion in self.criteria.values() if criterion.rule]
        digest = hashlib.sha256("\0".join(rules).encode()).hexdigest()
        return self._signature(
            load_template("judge", "together"),
            {
                "criteria": ",".join(self.criteria),
                "stated": ",".join(template.label for template in templates if template),
                "rules": digest[:8] if rules else None,
                "scale": ",".join(criterion.scale.label for criterion in self.criteria.values()),
                "parser": PARSER_VERSION,
            },
        )

    async def _ask(self, task: JudgeTask) -> Reply | Unscored:
        item_tasks = self.items[task.id]
        criteria = {
            json.dumps(item_task.aspect, ensure_ascii=False): self.criteria[item_task.aspect]
            for item_task in item_tasks
        }
        material = next((item_task for item_task in item_tasks if item_task.articles), task)
        references = next((item_task for item_task in item_tasks if item_task.questions), task)
        fields: dict[str, str | Fenced] = {
            "articles": fence_articles(material.articles),
            "questions": fence_questions(references.questions),
            "text": Fenced("summary", (task.texts[0],)),
            "criteria": "\n\n".join(
                f"Criterion {name}\n{criterion.prompt_text(material)}"
                for name, criterion in criteria.items()
            ),
            "form": "{" + ", ".join(f"{name}: {_ENTRY}" for name in criteria) + "}",
        }
        request = self._request(
            task,
            render(load_template("judge", "together"), fields),
            json_object(
                {criterion.aspect: criterion.scale.schema for criterion in criteria.values()}
            ),
            max_output_tokens=self._limit(len(criteria)),
        )
        return await self._reply(request)

    def _limit(self, n_criteria: int) -> int:
        return self.max_output_tokens or n_criteria * OUTPUT_TOKENS_PER_CRITERION

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        scales = {
            item_task.aspect: self.criteria[item_task.aspect].scale
            for item_task in self.items[task.id]
        }
        verdicts = read_verdicts(reply.text, scales, cut_off=reply.cut_off)
        verdict = verdicts[task.aspect]
        if reply.repaired and all(isinstance(outcome, Unscored) for outcome in verdicts.values()):
            # The repair prompt asks for one verdict only, so the criterion's name may be missing.
            scale = scales[task.aspect]
            verdict = read_verdict(reply.text, scale, aspect=task.aspect, cut_off=reply.cut_off)
        if isinstance(verdict, Unscored):
            return with_cut_off(verdict) if reply.cut_off else verdict
        return self._judgement(task, value=verdict, raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; asks only for this criterion's verdict."""
        scale = self.criteria[task.aspect].scale
        request = self._request(
            task,
            repair_messages(
                reply, scale.prompt_line, prompt="repair-together", criterion=task.aspect
            ),
            scale.nullable_schema,
            max_output_tokens=self._limit(1),
        )
        return await self._reply(request, repaired=True)

    def _judgement(self, task: JudgeTask, **outcome: Any) -> Judgement:
        aspects = [item_task.aspect for item_task in self.items[task.id]]
        return super(JointJudge, self)._judgement(task, together=aspects, **outcome)


def joint_tasks(by_aspect: Sequence[Sequence[JudgeTask]]) -> tuple[JudgeTask, ...]:
    """Return the tasks of several aspects, ordered so that tasks on one item are adjacent."""
    if len(by_aspect) == 1:
        return tuple(by_aspect[0])
    clusters: dict[str, dict[tuple[str, ...], list[JudgeTask]]] = {}
    for task in chain.from_iterable(by_aspect):
        clusters.setdefault(task.eid, {}).setdefault(task.systems, []).append(task)
    return tuple(
        task for items in clusters.values() for item_tasks in items.values() for task in item_tasks
    )


def tasks_by_item(tasks: Iterable[JudgeTask]) -> dict[str, tuple[JudgeTask, ...]]:
    """Return a mapping of each task's id to all tasks on the same item and repeat."""
    items: dict[tuple[object, ...], list[JudgeTask]] = {}
    for task in tasks:
        items.setdefault((task.eid, task.systems, task.repeat), []).append(task)
    return {task.id: tuple(item_tasks) for item_tasks in items.values() for task in item_tasks}
