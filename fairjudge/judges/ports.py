"""Interfaces of judges, as the judging graph uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.ports import Wire


class Sample(Wire):
    """A text by a model; ``cut_off`` is True if it reached the limit of output tokens."""

    text: str
    cut_off: bool = False


class Reply(Sample):
    """A model's reply before it is parsed; all fields are JSON, for checkpoints.

    ``masses`` and ``off_scale`` are probabilities of the scale's answers, if the server returned
    token probabilities. If it did not, ``why_no_masses`` is the reason. ``others`` are further
    samples of the same prompt, None for a failed sample.
    """

    repaired: bool = False
    masses: Mapping[str, float] | None = None
    off_scale: float = 0.0
    why_no_masses: str | None = None
    others: tuple[Sample | None, ...] = ()


class Judge(Protocol):
    """Judges tasks."""

    @property
    def name(self) -> str:
        """Return the judge's name in records."""

    @property
    def signature(self) -> str:
        """Return everything that can change the judge's verdicts, in one line."""

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """Judge `task`, unless it is ``unscored``; a `WritingJudge` returns its model's reply."""

    def unscored_judgement(self, task: JudgeTask, outcome: Unscored) -> Judgement:
        """Return a judgement without a score, with the reason in `outcome`."""


@runtime_checkable
class WritingJudge(Judge, Protocol):
    """Judges tasks in two steps, so that parsing can be repeated without a new call."""

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """Parse the model's reply into a judgement."""

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """Ask the model again for the verdict of a reply that could not be parsed."""


def as_writing_judge(judge: Judge) -> WritingJudge:
    """Return `judge`, which returned a `Reply`, as a `WritingJudge`.

    Raises `TypeError` if it lacks the methods.
    """
    if isinstance(judge, WritingJudge):
        return judge
    raise TypeError(f"{type(judge).__name__} returned a reply but lacks methods read and repair")
