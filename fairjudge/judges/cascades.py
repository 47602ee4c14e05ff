"""Cascades: a cheap judge first, and a second judge only where the first is unsure.

`CascadeJudge` routes by two thresholds of a local score. `PromisedCascade` keeps the confident
answers of its first judge with a guaranteed agreement: the guarantee and its threshold are fitted
on labels (`fairjudge.calibration.guarantees`), and hold for that judge with its settings only.
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
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.files import read_file
from fairjudge.judges.asking import Promise, Thresholds
from fairjudge.judges.llm import EMPTY_SUMMARY
from fairjudge.judges.ports import Judge, Reply, writing
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.schema import without_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Keeps the confident verdicts of `first`, and calls `judge` for the others.

    Every judgement is signed by the cascade; its ``routed`` names the judge that scored it.
    """

    first: Judge
    judge: Judge

    @property
    def name(self) -> str:
        """Return the names of both judges."""
        return f"cascade({self.first.name}>{self.judge.name})"

    @property
    def signature(self) -> str:
        """Return everything that can change a verdict: both judges and the condition of routing."""
        return f"cascade:{self._routing_label};{self.first.signature};{self.judge.signature}"

    @property
    def _routing_label(self) -> str:
        raise NotImplementedError

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        outcome = writing(self.judge).read(task, reply)
        if isinstance(outcome, Unscored):
            return outcome
        return self._signed(outcome, task, routed="judge")

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await writing(self.judge).repair(task, reply)

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._signed(self.judge.unscored(task, why), task, routed="judge")

    def _signed(self, row: Judgement, task: JudgeTask, **extra: object) -> Judgement:
        """Return `row` with the cascade's signature, and with order and repeat of `task`.

        The first judge may have been called in another order or for several repeats.
        """
        task_fields = {"order": task.order, "repeat": task.repeat}
        fields = {name: value for name, value in row.to_json().items() if name not in task_fields}
        present_fields = {name: value for name, value in task_fields.items() if value is not None}
        by = {"judge": self.name, "signature": self.signature}
        return Judgement.model_validate(fields | present_fields | by | extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJudge(Cascade):
    """Keeps a local scorer's scores up to `low` and from `high` on; else calls `judge`.

    ``local_value`` is the local score. An item without one goes to `judge`.
    """

    low: float
    high: float

    @property
    def _routing_label(self) -> str:
        return f"{self.low:g}-{self.high:g}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if PROTOCOLS[task.protocol].paired:
            raise ConfigurationError("a cascade routes single summaries; pairs have no threshold")
        quick = await self.first.ask(task)
        if isinstance(quick, Unscored) and quick.reason == "empty_input":
            return quick
        value = quick.value if isinstance(quick, Judgement) else None
        sure = isinstance(value, int | float) and not self.low < value < self.high
        if isinstance(quick, Judgement) and sure:
            return self._signed(quick, task, routed="local", local_value=value)
        answer = await self.judge.ask(task)
        if isinstance(answer, Judgement):
            return self._signed(answer, task, routed="judge", local_value=value)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedCascade(Cascade):
    """Keeps the answers of `first` with enough confidence; else calls `judge`.

    ``first_confidence`` and ``first_value`` are the first judge's. It judges both orders of a pair,
    which are kept or rejected together. An item that it could not score goes to `judge`.
    """

    promise: Promise

    @property
    def _routing_label(self) -> str:
        return f"promise:{self.promise.threshold:.6g};{self.promise.repeats}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return EMPTY_SUMMARY
        rows = await asyncio.gather(
            *(_judged(self.first, single_task) for single_task in self._single_tasks(task))
        )
        failures = [row for row in rows if isinstance(row, Unscored)]
        retryable = next((failure for failure in failures if failure.reason in RETRYABLE), None)
        if retryable is not None:
            return retryable
        scored = [row for row in rows if isinstance(row, Judgement) and row.value is not None]
        more: dict[str, Any] = {}
        if scored and not failures:
            (answer,) = answers(scored, n_answers=self.promise.n_answers).values()
            value = _value(answer, task)
            more = {"first_value": value, "first_confidence": answer.confidence}
            if answer.confidence >= (self.promise.threshold or 0.0):
                # The promise is about the combined answer, not about the row of one repeat.
                overrides = {"value": value, "unscored": None, "probabilities": None}
                return self._signed(scored[0], task, routed="first", **overrides, **more)
        outcome = await self.judge.ask(task)
        if isinstance(outcome, Judgement):
            return self._signed(outcome, task, routed="judge", **more)
        return outcome

    def _single_tasks(self, task: JudgeTask) -> list[JudgeTask]:
        numbers: Sequence[int | None] = (
            range(self.promise.repeats) if self.promise.repeats > 1 else (None,)
        )
        orders = PROTOCOLS[task.protocol].orders
        return [replace(task, order=order, repeat=number) for order in orders for number in numbers]


async def _judged(judge: Judge, task: JudgeTask) -> Judgement | Unscored:
    """Ask, parse, and repair an unparseable reply once, as the judging graph does."""
    answer = await judge.ask(task)
    if not isinstance(answer, Reply):
        return answer
    writer = writing(judge)
    outcome = writer.read(task, answer)
    if not isinstance(outcome, Unscored) or outcome.reason != "unparseable":
        return outcome
    again = await writer.repair(task, answer)
    return outcome if isinstance(again, Unscored) else writer.read(task, again)


def _value(answer: Answer, task: JudgeTask) -> float | Verdict:
    """Return the answer's value for the task; an answer's pair is sorted by name, a task's not."""
    if not PROTOCOLS[task.protocol].paired:
        return answer.value
    if answer.value == 0.0:
        return "tie"
    in_order = task.systems[0] <= task.systems[1]
    return "a" if (answer.value > 0) == in_order else "b"


def promise_of(rows: Sequence[Judgement], *, threshold: float | None) -> Promise:
    """Return the promise with `threshold` for the judge, aspect and protocol of `rows`."""
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
    """Read a file of ``calibrate cascade``: two thresholds, or with --guarantee a promise.

    Raises `InputError` if the file is neither.
    """
    try:
        content = without_schema(json.loads(read_file(path)), path)
        if "threshold" in content:
            return _promise(content)
        return float(content["low"]), float(content["high"])
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


def _promise(content: Mapping[str, Any]) -> Promise:
    threshold, signature = content["threshold"], content["signature"]
    return Promise(
        judge=str(content["judge"]),
        aspect=str(content["aspect"]),
        protocol=str(content["protocol"]),
        threshold=None if threshold is None else float(threshold),
        signature=None if signature is None else str(signature),
        repeats=int(content["repeats"]),
        n_answers=int(content["n_answers"]),
    )
