"""Judging by a checklist: one call a summary for all groups of answers, in blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fairjudge.domain import ChecklistEntry, Judgement, JudgeTask, Unscored
from fairjudge.judges.checklist import (
    GROUPS_PER_CALL,
    NO_ANSWERS,
    SCHEMA,
    Block,
    blocks_of,
    fence_groups,
    groups_of,
    read_block,
    share_covered,
)
from fairjudge.judges.llm import EMPTY_SUMMARY, WritingModel
from fairjudge.judges.ports import Reply, Sample
from fairjudge.parsing.outcomes import saying_cut_off
from fairjudge.ports import Message
from fairjudge.prompting import Fenced, load_template, render
from fairjudge.records.signature import signature

DEFAULT_OUTPUT_TOKENS = 4096
"""Room for the entries of `GROUPS_PER_CALL` groups, each with a quote."""
READER_VERSION = 1
"""Of what `read_block` takes; part of the signature."""
Entries: TypeAlias = tuple[ChecklistEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistJudge(WritingModel):
    """A model that says of each group of answers whether a summary covers it, and by which words.

    The replies to a task's blocks are one `Reply`: ``others`` holds them all, ``text`` joins them.
    One block that fails leaves the whole item without a score.
    """

    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        limit = self.max_output_tokens
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": load_template("judge", "coverage-checklist").label,
                "block": GROUPS_PER_CALL,
                "reader": READER_VERSION,
                "temperature": self.temperature,
                "seed": self.seed,
                "max_output_tokens": None if limit == DEFAULT_OUTPUT_TOKENS else limit,
            }
        )

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`; an empty summary costs no call."""
        if not task.texts[0].strip():
            return EMPTY_SUMMARY
        blocks = _blocks(task)
        if not blocks:
            return NO_ANSWERS
        requests = [self._request(task, _messages(task, block), SCHEMA) for block in blocks]
        return _together(await asyncio.gather(*map(self._reply, requests)))

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        read = _read(task, reply)
        failed = [one for one in read if isinstance(one, Unscored)]
        if failed:
            said = " / ".join(dict.fromkeys(one.detail for one in failed))
            return replace(failed[0], detail=said, raw=reply.text)
        entries = [entry for one in read if not isinstance(one, Unscored) for entry in one]
        return self._judgement(
            task, value=share_covered(entries), checklist=entries, raw=reply.text
        )

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`.

        Only the blocks that cannot be used are asked again: the model is shown its reply and what
        is wrong with it.
        """
        blocks, read = zip(_blocks(task), _samples(reply), strict=True), _read(task, reply)
        replies = await asyncio.gather(
            *(
                self._again(task, block, one, why)
                for (block, one), why in zip(blocks, read, strict=True)
            )
        )
        return _together(replies, repaired=True)

    async def _again(
        self, task: JudgeTask, block: Block, given: Sample, read: Entries | Unscored
    ) -> Sample | Unscored:
        """Return what is `given` where it could be read, else a new reply."""
        if not isinstance(read, Unscored):
            return given
        fields: dict[str, str | Fenced] = {
            "problems": f"{read.detail}.",
            "n_groups": str(len(block)),
        }
        wrong = render(load_template("judge", "checklist-repair"), fields)
        message = Message(role="assistant", content=given.text.strip() or "(nothing)")
        messages = (*_messages(task, block), message, *wrong)
        return await self._reply(self._request(task, messages, SCHEMA))


def _messages(task: JudgeTask, block: Block) -> tuple[Message, ...]:
    fields: dict[str, str | Fenced] = {
        "groups": fence_groups(block, task.articles),
        "text": Fenced("summary", (task.texts[0],)),
        "n_groups": str(len(block)),
    }
    return render(load_template("judge", "coverage-checklist"), fields)


def _blocks(task: JudgeTask) -> tuple[Block, ...]:
    groups = groups_of(task.questions)
    return blocks_of(groups) if groups else ()


def _samples(reply: Reply) -> list[Sample]:
    return [one for one in reply.others if one is not None]


def _together(replies: Sequence[Sample | Unscored], *, repaired: bool = False) -> Reply | Unscored:
    """Return the replies to all blocks as one, or the first reason why one is missing."""
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


def _read(task: JudgeTask, reply: Reply) -> list[Entries | Unscored]:
    entriess: list[Entries | Unscored] = []
    for block, sample in zip(_blocks(task), _samples(reply), strict=True):
        read = read_block(sample.text, block, task.texts[0])
        entriess.append(
            saying_cut_off(read) if isinstance(read, Unscored) and sample.cut_off else read
        )
    return entriess
