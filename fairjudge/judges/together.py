"""Judge several criteria in one request: material sent once, a verdict for each criterion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, ProtocolName, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import (
    ASPECTS,
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
class StatedCriterion:
    """One of several criteria: its text (a `rule` or a released template) and its scale.

    ``rule`` is None for the built-in aspects, which have templates.
    """

    aspect: str
    scale: Scale
    rule: str | None = None

    @property
    def template(self) -> Template | None:
        """Return the template of a built-in aspect."""
        return None if self.rule else load_template("judge", f"together-{self.aspect}")

    def stated(self, task: JudgeTask) -> str:
        """Return the criterion's text in the prompt, with its answers."""
        if self.template is None:
            return f"{(self.rule or '').strip()}\n\n{self.scale.answer_lines}"
        values = {"scale": self.scale.answer_lines, "support_rule": support_rule(task)}
        fields: dict[str, str | Fenced] = {name: values[name] for name in self.template.fields}
        return render(self.template, fields)[0].content


def stated_criterion(
    aspect: str, protocol: ProtocolName, *, rule: str | None = None, scale: Scale | None = None
) -> StatedCriterion:
    """Return the criterion of a built-in aspect, or a custom one by `rule` and `scale`.

    Raises `ConfigurationError` for one that cannot be combined with others, or whose scale is of
    another protocol.
    """
    if not PROTOCOLS[protocol].judges_parts:
        raise ConfigurationError(
            f"--together takes ratings or yes and no (likert, binary), not {protocol}"
        )
    if rule is None and aspect not in ASPECTS:
        raise ConfigurationError(
            f"to judge {aspect!r} with others, its criterion file needs a 'rule': what it asks, in "
            "a few sentences"
        )
    scale = scale or (rule_scale(protocol) if rule else BUILTIN_SCALES[aspect][protocol])
    if scale.protocol != protocol:
        raise ConfigurationError(f"the scale of {aspect!r} is for {scale.protocol}, not {protocol}")
    return StatedCriterion(aspect=aspect, scale=scale, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherJudge(WritingModel):
    """A model that judges all criteria of an item in one request.

    ``criteria`` are by aspect. ``items`` maps a task's id to the tasks on the same item, one per
    aspect, itself included; see `tasks_of_items`. Each of them sends the same request, which the
    cache makes one call.
    """

    criteria: Mapping[str, StatedCriterion]
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
        stated = {
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
                f"Criterion {name}\n{criterion.stated(material)}"
                for name, criterion in stated.items()
            ),
            "form": "{" + ", ".join(f"{name}: {_ENTRY}" for name in stated) + "}",
        }
        request = self._request(
            task,
            render(load_template("judge", "together"), fields),
            json_object(
                {criterion.aspect: criterion.scale.schema for criterion in stated.values()}
            ),
            max_output_tokens=self._limit(len(stated)),
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
            # The repair prompt asks for one verdict only, so the reply need not name the criterion.
            scale = scales[task.aspect]
            verdict = read_verdict(reply.text, scale, aspect=task.aspect, cut_off=reply.cut_off)
        if isinstance(verdict, Unscored):
            return with_cut_off(verdict) if reply.cut_off else verdict
        return self._judgement(task, value=verdict, raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; asks for this criterion's verdict alone."""
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
        together = [item_task.aspect for item_task in self.items[task.id]]
        return super(TogetherJudge, self)._judgement(task, together=together, **outcome)


def together_tasks(by_aspect: Sequence[Sequence[JudgeTask]]) -> tuple[JudgeTask, ...]:
    """Return the tasks of several aspects, with those on one item adjacent."""
    if len(by_aspect) == 1:
        return tuple(by_aspect[0])
    clusters: dict[str, dict[tuple[str, ...], list[JudgeTask]]] = {}
    for task in chain.from_iterable(by_aspect):
        clusters.setdefault(task.eid, {}).setdefault(task.systems, []).append(task)
    return tuple(
        task for items in clusters.values() for item_tasks in items.values() for task in item_tasks
    )


def tasks_of_items(tasks: Iterable[JudgeTask]) -> dict[str, tuple[JudgeTask, ...]]:
    """Return a mapping of each task's id to all tasks on the same item and repeat."""
    items: dict[tuple[object, ...], list[JudgeTask]] = {}
    for task in tasks:
        items.setdefault((task.eid, task.systems, task.repeat), []).append(task)
    return {task.id: tuple(item_tasks) for item_tasks in items.values() for task in item_tasks}
