"""Several criteria in one request: the material is sent once, and each criterion has a verdict."""

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
    builtin_scale,
    fence_articles,
    fence_questions,
    support_rule,
)
from fairjudge.judges.llm import EMPTY_SUMMARY, WritingModel
from fairjudge.judges.ports import Reply
from fairjudge.parsing import PARSER_VERSION, read_verdict, read_verdicts
from fairjudge.parsing.outcomes import saying_cut_off
from fairjudge.prompting import Fenced, Template, json_object, load_template, render
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.signature import signature
from fairjudge.scales import Scale

OUTPUT_TOKENS_PER_CRITERION = 1024
"""Room for the reasons and the verdict on one criterion."""
_ENTRY = '{"reasoning": "...", "verdict": "..."}'


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

    Refuse one that cannot be stated among others, or whose scale is of another protocol.
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
    scale = scale or builtin_scale(aspect, protocol)
    if scale.protocol != protocol:
        raise ConfigurationError(f"the scale of {aspect!r} is for {scale.protocol}, not {protocol}")
    return StatedCriterion(aspect=aspect, scale=scale, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherJudge(WritingModel):
    """A model that is asked for all criteria of an item at once.

    ``criteria`` are by aspect. ``items`` maps a task's id to the tasks on the same item, one an
    aspect, itself included; see `tasks_of_items`. Each of them asks the same request, which a
    cache answers but once.
    """

    criteria: Mapping[str, StatedCriterion]
    items: Mapping[str, tuple[JudgeTask, ...]] = field(repr=False)

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        stated = [one.template for one in self.criteria.values()]
        rules = [one.rule for one in self.criteria.values() if one.rule]
        digest = hashlib.sha256("\0".join(rules).encode()).hexdigest()
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": load_template("judge", "together").label,
                "criteria": ",".join(self.criteria),
                "stated": ",".join(one.label for one in stated if one),
                "rules": digest[:8] if rules else None,
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
            return EMPTY_SUMMARY
        asked = self.items[task.id]
        stated = {
            json.dumps(one.aspect, ensure_ascii=False): self.criteria[one.aspect] for one in asked
        }
        material = next((one for one in asked if one.articles), task)
        references = next((one for one in asked if one.questions), task)
        fields: dict[str, str | Fenced] = {
            "articles": fence_articles(material.articles),
            "questions": fence_questions(references.questions),
            "text": Fenced("summary", (task.texts[0],)),
            "criteria": "\n\n".join(
                f"Criterion {name}\n{one.stated(material)}" for name, one in stated.items()
            ),
            "form": "{" + ", ".join(f"{name}: {_ENTRY}" for name in stated) + "}",
        }
        request = self._request(
            task,
            render(load_template("judge", "together"), fields),
            json_object({one.aspect: one.scale.schema for one in stated.values()}),
            max_output_tokens=self._limit(len(stated)),
        )
        return await self._reply(request)

    def _limit(self, n_criteria: int) -> int:
        return self.max_output_tokens or n_criteria * OUTPUT_TOKENS_PER_CRITERION

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
        return self._judgement(task, value=verdict, raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; asks for this criterion's verdict alone."""
        scale = self.criteria[task.aspect].scale
        fields: dict[str, str | Fenced] = {
            "reply": Fenced("reply", (reply.text,)),
            "criterion": task.aspect,
            "scale": scale.prompt_line,
        }
        request = self._request(
            task,
            render(load_template("judge", "repair-together"), fields),
            scale.schema_or_none,
            max_output_tokens=self._limit(1),
        )
        return await self._reply(request, repaired=True)

    def _judgement(self, task: JudgeTask, **outcome: Any) -> Judgement:
        together = [one.aspect for one in self.items[task.id]]
        return super(TogetherJudge, self)._judgement(task, together=together, **outcome)


def together_tasks(by_aspect: Sequence[Sequence[JudgeTask]]) -> tuple[JudgeTask, ...]:
    """Return the tasks of several aspects, those on one item side by side."""
    if len(by_aspect) == 1:
        return tuple(by_aspect[0])
    clusters: dict[str, dict[tuple[str, ...], list[JudgeTask]]] = {}
    for task in chain.from_iterable(by_aspect):
        clusters.setdefault(task.eid, {}).setdefault(task.systems, []).append(task)
    return tuple(task for items in clusters.values() for some in items.values() for task in some)


def tasks_of_items(tasks: Iterable[JudgeTask]) -> dict[str, tuple[JudgeTask, ...]]:
    """Map each task's id to all tasks on its item, its repeat apart."""
    items: dict[tuple[object, ...], list[JudgeTask]] = {}
    for task in tasks:
        items.setdefault((task.eid, task.systems, task.repeat), []).append(task)
    return {task.id: tuple(some) for some in items.values() for task in some}
