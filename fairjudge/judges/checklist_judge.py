"""Judging by a checklist: one call a summary, or one for each of its parts.

What is listed is the business of a `ChecklistForm`: groups of answers that a summary covers
(`fairjudge.judges.checklist`), or its own statements that articles support
(`fairjudge.judges.statements`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.checklist import CoverageForm
from fairjudge.judges.llm import EMPTY_SUMMARY, WritingModel
from fairjudge.judges.ports import Reply, Sample
from fairjudge.judges.statements import StatementsForm
from fairjudge.parsing.outcomes import saying_cut_off
from fairjudge.ports import Message
from fairjudge.prompting import Fenced, load_template, render
from fairjudge.records.signature import signature

DEFAULT_OUTPUT_TOKENS = 4096
"""Room for the entries of one part, each with a quote."""
Entries: TypeAlias = tuple[Any, ...]


class ChecklistForm(Protocol):
    """What one kind of checklist asks about, part by part, and how replies are read."""

    prompt: str
    """Names of the prompt, and of the one that asks for a reply once more."""
    repair_prompt: str
    schema: Mapping[str, Any]
    nothing: Unscored
    """Why there is no score where there is nothing to list."""
    version: Mapping[str, int]
    """What of the parts and the reader is in the signature."""

    def parts(self, task: JudgeTask) -> Sequence[Any]:
        """Return what one call each asks about."""
        ...

    def fields(self, task: JudgeTask, part: Any) -> dict[str, str | Fenced]:
        """Return what fills the prompt."""
        ...

    def repair_fields(self, part: Any) -> dict[str, str]:
        """Return what fills the prompt that asks once more, but for what is wrong."""
        ...

    def read(self, task: JudgeTask, part: Any, text: str) -> Entries | Unscored:
        """Return the entries of a reply, or what is wrong with it, in words of ours alone."""
        ...

    def verdict(self, entries: Entries) -> dict[str, Any]:
        """Return the fields of the judgement that all entries come to."""
        ...


FORMS: Mapping[str, ChecklistForm] = {
    "coverage": CoverageForm(),
    "faithfulness": StatementsForm(),
}
"""The kind of checklist of each aspect that has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistJudge(WritingModel):
    """A model that gives a verdict on each thing of a list, and the words that it rests on.

    The replies to a task's parts are one `Reply`: ``others`` holds them all, ``text`` joins them.
    One part that fails leaves the whole item without a score.
    """

    form: ChecklistForm = FORMS["coverage"]
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        limit = self.max_output_tokens
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": load_template("judge", self.form.prompt).label,
                **self.form.version,
                "temperature": self.temperature,
                "seed": self.seed,
                "max_output_tokens": None if limit == DEFAULT_OUTPUT_TOKENS else limit,
            }
        )

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`; an empty summary costs no call."""
        if not task.texts[0].strip():
            return EMPTY_SUMMARY
        parts = self.form.parts(task)
        if not parts:
            return self.form.nothing
        requests = [
            self._request(task, self._messages(task, part), self.form.schema) for part in parts
        ]
        return _together(await asyncio.gather(*map(self._reply, requests)))

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        read = self._read(task, reply)
        failed = [one for one in read if isinstance(one, Unscored)]
        if failed:
            said = " / ".join(dict.fromkeys(one.detail for one in failed))
            return replace(failed[0], detail=said, raw=reply.text)
        entries = tuple(entry for one in read if not isinstance(one, Unscored) for entry in one)
        return self._judgement(task, **self.form.verdict(entries), raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`.

        Only the parts that cannot be used are asked again: the model is shown its reply and what is
        wrong with it.
        """
        parts = zip(self.form.parts(task), _samples(reply), strict=True)
        read = self._read(task, reply)
        replies = await asyncio.gather(
            *(
                self._again(task, part, one, why)
                for (part, one), why in zip(parts, read, strict=True)
            )
        )
        return _together(replies, repaired=True)

    async def _again(
        self, task: JudgeTask, part: Any, given: Sample, read: Entries | Unscored
    ) -> Sample | Unscored:
        """Return what is `given` where it could be read, else a new reply."""
        if not isinstance(read, Unscored):
            return given
        fields = {"problems": f"{read.detail}.", **self.form.repair_fields(part)}
        wrong = render(load_template("judge", self.form.repair_prompt), fields)
        message = Message(role="assistant", content=given.text.strip() or "(nothing)")
        messages = (*self._messages(task, part), message, *wrong)
        return await self._reply(self._request(task, messages, self.form.schema))

    def _messages(self, task: JudgeTask, part: Any) -> tuple[Message, ...]:
        return render(load_template("judge", self.form.prompt), self.form.fields(task, part))

    def _read(self, task: JudgeTask, reply: Reply) -> list[Entries | Unscored]:
        found: list[Entries | Unscored] = []
        for part, sample in zip(self.form.parts(task), _samples(reply), strict=True):
            read = self.form.read(task, part, sample.text)
            if isinstance(read, Unscored) and sample.cut_off:
                read = saying_cut_off(read)
            found.append(read)
        return found


def _samples(reply: Reply) -> list[Sample]:
    return [one for one in reply.others if one is not None]


def _together(replies: Sequence[Sample | Unscored], *, repaired: bool = False) -> Reply | Unscored:
    """Return the replies to all parts as one, or the first reason why one is missing."""
    samples = []
    for reply in replies:
        if isinstance(reply, Unscored):
            return reply
        samples.append(Sample(text=reply.text, cut_off=reply.cut_off))
    return Reply(
        text="\n\n".join(sample.text for sample in samples),
        cut_off=any(sample.cut_off for sample in samples),
        others=tuple(samples),
        repaired=repaired,
    )
