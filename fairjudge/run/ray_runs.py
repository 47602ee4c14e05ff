"""Working on a run's items on a Ray cluster; what a run records is as in one process.

Rates and budgets hold for all workers together. What is left of a ``budget`` that is shared with
others takes the place of what ``model`` allows, and what was spent is booked there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from fairjudge.backends import loads_its_model
from fairjudge.backends.budgeting import Budget
from fairjudge.domain import Judgement
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.records import RunStore
from fairjudge.run.builders import SettledOptions
from fairjudge.run.built import BuildBook
from fairjudge.run.material import JudgeOptions
from fairjudge.run.models import ModelOptions, Spent
from fairjudge.run.progress import BuildProgress
from fairjudge.run.ray_engine import ClusterSpent, Shard, Work, judging_shards, run_on_cluster
from fairjudge.run.ray_worker import BuildingShard, BuildingWork, JudgingWork, files_of
from fairjudge.run.recorded import JudgementBook
from fairjudge.run.runs import noting_spent


def judge_on_ray(
    book: JudgementBook,
    *,
    options: JudgeOptions,
    plan: JudgingPlan,
    model: ModelOptions,
    budget: Budget | None,
    progress: Callable[[int], None],
) -> Spent | None:
    """Judge every task that is not judged, and again what another try may score."""
    book.reopen_retryable()
    progress(book.n_done)
    # Paths name nothing on another machine.
    work = JudgingWork(
        options=replace(options, prompt=None, scale=None),
        files=files_of(options),
        plan=plan,
        model=model,
    )

    def record(row: dict[str, Any]) -> None:
        book.record(row["position"], Judgement.model_validate(row["judgement"]))
        progress(1)

    shards = judging_shards(book.tasks, book.is_done)
    loads = options.fallback != "none" or options.cascade is not None
    return _work(work, shards, loads=loads, record=record, run=book.run, budget=budget)


def build_on_ray(
    book: BuildBook,
    *,
    options: SettledOptions,
    model: ModelOptions,
    budget: Budget | None,
    progress: BuildProgress,
) -> Spent | None:
    """Build a reference for every cluster that has none."""

    def record(row: dict[str, Any]) -> None:
        book.record(row)
        progress.end(row["eid"])

    work = BuildingWork(options=options, model=model)
    shards = [BuildingShard(cluster=cluster) for cluster in book.pending()]
    loads = options.consolidation == "embedding"
    return _work(work, shards, loads=loads, record=record, run=book.run, budget=budget)


def _work(
    work: Work,
    shards: Sequence[Shard],
    *,
    loads: bool,
    record: Callable[[dict[str, Any]], None],
    run: RunStore,
    budget: Budget | None,
) -> Spent | None:
    """Work on `shards`, in actors where a model is loaded for it."""
    model = work.model
    if budget is not None:
        left = replace(model, max_calls=budget.calls_left, max_cost=budget.usd_left)
        work = replace(work, model=left)
    in_actors = loads or model.target is None or loads_its_model(model.target)
    spent = ClusterSpent()
    with noting_spent(run, lambda: spent.spent(model)):
        for row in run_on_cluster(work, shards, in_actors=in_actors, spent=spent):
            record(row)
    if budget is not None:
        budget.book(**asdict(spent.totals))
    run.sync()
    return spent.spent(model)
