"""Judge by a checklist: one call per summary, or one per part of a long list.

A `ChecklistForm` defines the items of the list: groups of answers that the summary may cover
(`fairjudge.judges.checklist`), or statements of the summary that articles may support
(`fairjudge.judges.statements`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.judges.checklist import CoverageForm
from fairjudge.judges.llm import WritingModel
from fairjudge.judges.ports import Reply, Sample
from fairjudge.judges.statements import StatementsForm
from fairjudge.parsing.outcomes import with_cut_off
from fairjudge.ports import Message
from fairjudge.prompting import load_template, render

DEFAULT_OUTPUT_TOKENS = 4096
"""Enough for the entries of one part, each with a quote."""
Entries: TypeAlias = tuple[Any, ...]
ChecklistForm: TypeAlias = CoverageForm | StatementsForm
"""A kind of checklist: its parts (one call each), its prompts, and how replies are parsed."""
FORMS: Mapping[str, ChecklistForm] = {
    "coverage": CoverageForm(),
    "faithfulness": StatementsForm(),
}
"""The form of each aspect that has a checklist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistJudge(WritingModel):
    """A model that writes a verdict and a quote for each item of a list.

    The replies to all parts of a task are one `Reply`: ``others`` lists them, ``text`` joins them.
    If one part fails, the whole item is unscored.
    """

    form: ChecklistForm = FORMS["coverage"]
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    default_output_tokens = DEFAULT_OUTPUT_TOKENS

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts."""
        return self._signature(load_template("judge", self.form.prompt), self.form.version)

    async def _ask(self, task: JudgeTask) -> Reply | Unscored:
        parts = self.form.parts(task)
        if not parts:
            return self.form.no_items
        requests = [
            self._request(task, self._messages(task, part), self.form.schema) for part in parts
        ]
        return _join_replies(await asyncio.gather(*map(self._reply, requests)))

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        outcomes = self._parse_parts(task, reply)
        failures = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
        if failures:
            detail = " / ".join(dict.fromkeys(failure.detail for failure in failures))
            return replace(failures[0], detail=detail, raw=reply.text)
        entries = tuple(
            entry for outcome in outcomes if not isinstance(outcome, Unscored) for entry in outcome
        )
        return self._judgement(task, **self.form.verdict(entries), raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`.

        Only unusable parts are repeated; the prompt contains the reply and its problems.
        """
        parts = zip(self.form.parts(task), _samples(reply), strict=True)
        outcomes = self._parse_parts(task, reply)
        replies = await asyncio.gather(
            *(
                self._repair_sample(task, part, sample, outcome)
                for (part, sample), outcome in zip(parts, outcomes, strict=True)
            )
        )
        return _join_replies(replies, repaired=True)

    async def _repair_sample(
        self, task: JudgeTask, part: Any, sample: Sample, outcome: Entries | Unscored
    ) -> Sample | Unscored:
        """Return `sample` if it could be parsed, else a new reply."""
        if not isinstance(outcome, Unscored):
            return sample
        fields = {"problems": f"{outcome.detail}.", **self.form.repair_fields(part)}
        repair_prompt = render(load_template("judge", self.form.repair_prompt), fields)
        message = Message(role="assistant", content=sample.text.strip() or "(nothing)")
        messages = (*self._messages(task, part), message, *repair_prompt)
        return await self._reply(self._request(task, messages, self.form.schema))

    def _messages(self, task: JudgeTask, part: Any) -> tuple[Message, ...]:
        return render(load_template("judge", self.form.prompt), self.form.fields(task, part))

    def _parse_parts(self, task: JudgeTask, reply: Reply) -> list[Entries | Unscored]:
        outcomes: list[Entries | Unscored] = []
        parts: Sequence[Any] = self.form.parts(task)
        for part, sample in zip(parts, _samples(reply), strict=True):
            outcome = self.form.read(task, part, sample.text)
            if isinstance(outcome, Unscored) and sample.cut_off:
                outcome = with_cut_off(outcome)
            outcomes.append(outcome)
        return outcomes


def _samples(reply: Reply) -> list[Sample]:
    return [sample for sample in reply.others if sample is not None]


def _join_replies(
    replies: Sequence[Sample | Unscored], *, repaired: bool = False
) -> Reply | Unscored:
    """Return the replies to all parts as one, or the first failure."""
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
