"""What the judge graph asks of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.ports import Wire


class Sample(Wire):
    """A text that a model wrote. ``cut_off`` says that the limit on its tokens ended it."""

    text: str
    cut_off: bool = False


class Reply(Sample):
    """What a model wrote, before it is read. JSON through and through, for checkpoints.

    ``masses`` and ``off_scale`` are the probabilities of the scale's answers where the server gave
    them for each token, ``why_no_masses`` says why they were asked for and could not be had;
    ``others`` the further samples of the same prompt, None where one failed.
    """

    repaired: bool = False
    masses: Mapping[str, float] | None = None
    off_scale: float = 0.0
    why_no_masses: str | None = None
    others: tuple[Sample | None, ...] = ()


class Judge(Protocol):
    """Answers tasks."""

    @property
    def name(self) -> str:
        """Return what records name it."""
        ...

    @property
    def signature(self) -> str:
        """Return all that can change its verdicts, in one line."""
        ...

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """Judge `task`; a judge whose model writes returns what it wrote: see `WritingJudge`."""
        ...

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """Return the judgement that says why there is no score."""
        ...


@runtime_checkable
class WritingJudge(Judge, Protocol):
    """Answers tasks in two steps, so that reading can be repeated without asking again."""

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """Turn what the model wrote into a judgement."""
        ...

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """Ask once more for the verdict of a reply that could not be read."""
        ...


def writing(judge: Judge) -> WritingJudge:
    """Return `judge`, which returned a `Reply`, as one that reads it.

    `TypeError` if it has no methods for that.
    """
    if isinstance(judge, WritingJudge):
        return judge
    raise TypeError(f"{type(judge).__name__} returned a reply, but has no read and repair")
