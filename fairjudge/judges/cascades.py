"""Cascades: a cheap judge first, and a second judge only where the first is unsure.

`CascadeJudge` routes by two thresholds of a local score. `GuaranteedCascade` keeps the confident
answers of its first judge with a guaranteed agreement: the guarantee and its threshold are fitted
on labels (`fairjudge.calibration.guarantees`), and apply only to that judge with its settings.
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
from fairjudge.judges.asking import GuaranteedThreshold, Thresholds
from fairjudge.judges.ports import Judge, Reply, as_writing_judge
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.schema import without_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Keeps the confident verdicts of `first`, and calls `judge` for all other tasks.

    Every judgement has the cascade's signature; ``routed`` says which judge scored it.
    """

    first: Judge
    judge: Judge

    @property
    def name(self) -> str:
        """Return the names of both judges."""
        return f"cascade({self.first.name}>{self.judge.name})"

    @property
    def signature(self) -> str:
        """Return everything that can change a verdict: both judges and the routing rule."""
        return f"cascade:{self._routing_label};{self.first.signature};{self.judge.signature}"

    @property
    def _routing_label(self) -> str:
        raise NotImplementedError

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        outcome = as_writing_judge(self.judge).read(task, reply)
        if isinstance(outcome, Unscored):
            return outcome
        return self._sign(outcome, task, routed="judge")

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        return await as_writing_judge(self.judge).repair(task, reply)

    def unscored_judgement(self, task: JudgeTask, outcome: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._sign(self.judge.unscored_judgement(task, outcome), task, routed="judge")

    def _sign(self, row: Judgement, task: JudgeTask, **extra: object) -> Judgement:
        """Return `row` with the cascade's signature and the order and repeat of `task`.

        The first judge may have been called in another order or for several repeats.
        """
        task_fields = {"order": task.order, "repeat": task.repeat}
        fields = {name: value for name, value in row.to_json().items() if name not in task_fields}
        present_fields = {name: value for name, value in task_fields.items() if value is not None}
        by = {"judge": self.name, "signature": self.signature}
        return Judgement.model_validate(fields | present_fields | by | extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJudge(Cascade):
    """Keeps a local score that is at most `low` or at least `high`; else calls `judge`.

    ``local_value`` is the local score. An item without a local score is judged by `judge`.
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
        if task.unscored is not None:
            return task.unscored
        local_outcome = await self.first.ask(task)
        if isinstance(local_outcome, Unscored) and local_outcome.reason == "empty_input":
            return local_outcome
        value = local_outcome.value if isinstance(local_outcome, Judgement) else None
        is_confident = isinstance(value, int | float) and not self.low < value < self.high
        if isinstance(local_outcome, Judgement) and is_confident:
            return self._sign(local_outcome, task, routed="local", local_value=value)
        answer = await self.judge.ask(task)
        if isinstance(answer, Judgement):
            return self._sign(answer, task, routed="judge", local_value=value)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteedCascade(Cascade):
    """Keeps the answers of `first` with enough confidence; else calls `judge`.

    ``first_confidence`` and ``first_value`` are the first judge's. It judges both orders of a pair,
    which are kept or rejected together. An item that it cannot score is judged by `judge`.
    """

    guarantee: GuaranteedThreshold

    @property
    def _routing_label(self) -> str:
        return f"promise:{self.guarantee.threshold:.6g};{self.guarantee.repeats}"

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if task.unscored is not None:
            return task.unscored
        rows = await asyncio.gather(
            *(
                _judge_with_repair(self.first, single_task)
                for single_task in self._single_tasks(task)
            )
        )
        failures = [row for row in rows if isinstance(row, Unscored)]
        retryable = next((failure for failure in failures if failure.reason in RETRYABLE), None)
        if retryable is not None:
            return retryable
        judgements = [row for row in rows if isinstance(row, Judgement) and row.value is not None]
        first_fields: dict[str, Any] = {}
        if judgements and not failures:
            (answer,) = answers(judgements, n_answers=self.guarantee.n_answers).values()
            value = _value(answer, task)
            first_fields = {"first_value": value, "first_confidence": answer.confidence}
            if answer.confidence >= (self.guarantee.threshold or 0.0):
                # The guarantee covers the combined answer, not the row of one repeat.
                overrides = {"value": value, "unscored": None, "probabilities": None}
                return self._sign(judgements[0], task, routed="first", **overrides, **first_fields)
        outcome = await self.judge.ask(task)
        if isinstance(outcome, Judgement):
            return self._sign(outcome, task, routed="judge", **first_fields)
        return outcome

    def _single_tasks(self, task: JudgeTask) -> list[JudgeTask]:
        numbers: Sequence[int | None] = (
            range(self.guarantee.repeats) if self.guarantee.repeats > 1 else (None,)
        )
        orders = PROTOCOLS[task.protocol].orders
        return [replace(task, order=order, repeat=number) for order in orders for number in numbers]


async def _judge_with_repair(judge: Judge, task: JudgeTask) -> Judgement | Unscored:
    """Ask, parse, and repair an unparseable reply once, as the judging graph does."""
    answer = await judge.ask(task)
    if not isinstance(answer, Reply):
        return answer
    writer = as_writing_judge(judge)
    outcome = writer.read(task, answer)
    if not isinstance(outcome, Unscored) or outcome.reason != "unparseable":
        return outcome
    repaired_reply = await writer.repair(task, answer)
    return outcome if isinstance(repaired_reply, Unscored) else writer.read(task, repaired_reply)


def _value(answer: Answer, task: JudgeTask) -> float | Verdict:
    """Return the answer's value for `task`; the pair of an answer is sorted by name."""
    if not PROTOCOLS[task.protocol].paired:
        return answer.value
    if answer.value == 0.0:
        return "tie"
    in_order = task.systems[0] <= task.systems[1]
    return "a" if (answer.value > 0) == in_order else "b"


def guaranteed_threshold(
    rows: Sequence[Judgement], *, threshold: float | None
) -> GuaranteedThreshold:
    """Return the guarantee with `threshold` for the judge, aspect and protocol of `rows`."""
    signatures = {row.signature for row in rows}
    repeats_by_item = Counter((row.eid, row.system, row.system_a, row.system_b, row.unit, row.order)
                    for row in rows)  # fmt: skip
    return GuaranteedThreshold(
        judge=rows[0].judge,
        aspect=rows[0].aspect,
        protocol=rows[0].protocol,
        threshold=threshold,
        signature=signatures.pop() if len(signatures) == 1 else None,
        repeats=max(repeats_by_item.values()),
        n_answers=max_answers(rows),
    )


def read_cascade(path: Path) -> Thresholds | GuaranteedThreshold:
    """Read a file written by ``calibrate cascade``: two thresholds, or a guaranteed threshold.

    Raises `InputError` if the file contains neither.
    """
    try:
        content = without_schema(json.loads(read_file(path)), path)
        if "threshold" in content:
            return _read_guarantee(content)
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


def _read_guarantee(content: Mapping[str, Any]) -> GuaranteedThreshold:
    threshold, signature = content["threshold"], content["signature"]
    return GuaranteedThreshold(
        judge=str(content["judge"]),
        aspect=str(content["aspect"]),
        protocol=str(content["protocol"]),
        threshold=None if threshold is None else float(threshold),
        signature=None if signature is None else str(signature),
        repeats=int(content["repeats"]),
        n_answers=int(content["n_answers"]),
    )
