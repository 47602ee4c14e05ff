"""A cascade under a promise of agreement: who is sure enough answers, else another judge is asked.

What is promised, and from which confidence on, comes from labels
(`fairjudge.calibration.guarantees`). It holds for the judge that it was fitted on, asked in the
same way.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairjudge.calibration.answers import Answer, answers, max_answers
from fairjudge.domain import Judgement, JudgeTask, Unscored, Verdict
from fairjudge.errors import InputError
from fairjudge.files import read_file
from fairjudge.judges.asking import Promise, Thresholds
from fairjudge.judges.cascade import Cascade
from fairjudge.judges.llm import EMPTY_SUMMARY
from fairjudge.judges.ports import Judge, Reply, writing
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.schema import without_schema


def promise_of(rows: Sequence[Judgement], *, threshold: float | None) -> Promise:
    """Return the promise that `threshold` is for the judge, aspect and protocol of `rows`."""
    signatures = {row.signature for row in rows}
    times = Counter((row.eid, row.system, row.system_a, row.system_b, row.unit, row.order)
                    for row in rows)  # fmt: skip
    return Promise(
        judge=rows[0].judge,
        aspect=rows[0].aspect,
        protocol=rows[0].protocol,
        threshold=threshold,
        signature=signatures.pop() if len(signatures) == 1 else None,
        repeats=max(times.values()),
        n_answers=max_answers(rows),
    )


def read_cascade(path: Path) -> Thresholds | Promise:
    """Read what ``calibrate cascade`` wrote: two thresholds, or with --guarantee a promise.

    `InputError` if the file is neither.
    """
    try:
        found = without_schema(json.loads(read_file(path)), path)
        if "threshold" in found:
            return _promise(found)
        return float(found["low"]), float(found["high"])
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        problem = f"expected JSON as 'fairjudge calibrate cascade' writes it: {error!r}"
        raise InputError(problem, path=path) from None


def _promise(found: Mapping[str, Any]) -> Promise:
    threshold, signature = found["threshold"], found["signature"]
    return Promise(
        judge=str(found["judge"]),
        aspect=str(found["aspect"]),
        protocol=str(found["protocol"]),
        threshold=None if threshold is None else float(threshold),
        signature=None if signature is None else str(signature),
        repeats=int(found["repeats"]),
        n_answers=int(found["n_answers"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedCascade(Cascade):
    """Keeps the answers of `first` that are sure enough; else asks `judge`.

    ``first_confidence`` says how sure the first was, and ``first_value`` what it said. Of a pair
    both orders are asked of the first, and kept together. An item that the first could not score
    is the other judge's.
    """

    promise: Promise

    @property
    def _sure_said(self) -> str:
        return f"promise:{self.promise.threshold:.6g};{self.promise.repeats}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return EMPTY_SUMMARY
        rows = await asyncio.gather(*(_settled(self.first, one) for one in self._asked(task)))
        lost = [row for row in rows if isinstance(row, Unscored)]
        retryable = next((one for one in lost if one.reason in RETRYABLE), None)
        if retryable is not None:
            return retryable
        scored = [row for row in rows if isinstance(row, Judgement) and row.value is not None]
        more: dict[str, Any] = {}
        if scored and not lost:
            (answer,) = answers(scored, n_answers=self.promise.n_answers).values()
            value = _value(answer, task)
            more = {"first_value": value, "first_confidence": answer.confidence}
            if answer.confidence >= (self.promise.threshold or 0.0):
                # what is kept is what the promise speaks of, not the row of one repeat
                kept = {"value": value, "unscored": None, "probabilities": None}
                return self._signed(scored[0], task, routed="first", **kept, **more)
        found = await self.judge.ask(task)
        if isinstance(found, Judgement):
            return self._signed(found, task, routed="judge", **more)
        return found

    def _asked(self, task: JudgeTask) -> list[JudgeTask]:
        numbers: Sequence[int | None] = (
            range(self.promise.repeats) if self.promise.repeats > 1 else (None,)
        )
        orders = PROTOCOLS[task.protocol].orders
        return [replace(task, order=order, repeat=number) for order in orders for number in numbers]


async def _settled(judge: Judge, task: JudgeTask) -> Judgement | Unscored:
    """Ask, read, and where the reply cannot be read repair, as the judging graph does."""
    answer = await judge.ask(task)
    if not isinstance(answer, Reply):
        return answer
    writer = writing(judge)
    read = writer.read(task, answer)
    if not isinstance(read, Unscored) or read.reason != "unparseable":
        return read
    again = await writer.repair(task, answer)
    return read if isinstance(again, Unscored) else writer.read(task, again)


def _value(answer: Answer, task: JudgeTask) -> float | Verdict:
    """Return the answer in terms of the task: who is first by name need not be a."""
    if not PROTOCOLS[task.protocol].paired:
        return answer.value
    if answer.value == 0.0:
        return "tie"
    in_order = task.systems[0] <= task.systems[1]
    return "a" if (answer.value > 0) == in_order else "b"
