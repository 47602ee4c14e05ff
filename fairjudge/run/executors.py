"""The port of the engines that work on a run's items, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fairjudge.backends.budgeting import Budget
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.building import SettledOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.references.ports import ArticleBuilder, Builder
from fairjudge.run.built import BuildBook
from fairjudge.run.in_process import InProcess
from fairjudge.run.models import Models, Spent
from fairjudge.run.progress import BuildProgress
from fairjudge.run.recorded import JudgementBook


class Executor(Protocol):
    """Does the work that a run's book lacks, and records it there.

    What a run records is the same whoever does the work. Rates and budgets hold for all of an
    executor's workers together. Each method returns what was spent, None for the embedded default.
    """

    async def judge(
        self,
        book: JudgementBook,
        *,
        judge: Judge,
        options: JudgeOptions,
        plan: JudgingPlan,
        progress: Callable[[int], None],
    ) -> Spent | None:
        """Judge every task that is not judged, and again what another try may score."""
        ...

    async def build(
        self,
        book: BuildBook,
        *,
        builder: Builder | ArticleBuilder,
        options: SettledOptions,
        progress: BuildProgress,
    ) -> Spent | None:
        """Build a reference for every cluster that has none."""
        ...


def executor_for(model: Model, models: Models, *, budget: Budget | None) -> Executor:
    """Return the engine that `model` names, with `models` opened from it in this process."""
    if model.engine == "local":
        return InProcess(models=models, concurrency=model.concurrency)
    from fairjudge.run.ray_runs import OnRay

    return OnRay(model=model, budget=budget)
