"""Judging and building with the items sharded over a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fairjudge.app.building import BuildOptions
from fairjudge.app.judging import JudgeOptions, is_passing, kept_judgements
from fairjudge.app.models import ModelOptions, Spent
from fairjudge.app.ray_engine import ClusterSpent, judging_shards, run_on_cluster
from fairjudge.app.ray_worker import (
    BuildingShard,
    BuildingWork,
    JudgingWork,
    files_of,
    without_files,
)
from fairjudge.app.runs import Run, noting_spent
from fairjudge.backends import loads_its_model
from fairjudge.domain import Cluster, Judgement, JudgeTask
from fairjudge.judges.aggregate import with_pair_verdicts
from fairjudge.judges.tasks import JudgingPlan


def judge_on_cluster(
    tasks: Sequence[JudgeTask],
    *,
    options: JudgeOptions,
    plan: JudgingPlan,
    model: ModelOptions,
    run: Run,
    rows: str,
    progress: Callable[[int], None],
) -> tuple[tuple[Judgement, ...], Spent | None]:
    """Do what `fairjudge.app.judging.judge_tasks` does, on a cluster; say what it cost.

    Raises
    ------
    MissingExtraError, RunError
        As `run_on_cluster`.
    """
    before = kept_judgements(run, rows)
    kept = {task: judgement for task, judgement in before.items() if not is_passing(judgement)}
    progress(len(kept))
    spent = ClusterSpent()
    work = JudgingWork(
        options=without_files(options), files=files_of(options), plan=plan, model=model
    )
    shards = judging_shards(tasks, lambda task: task not in kept)
    in_actors = _loads_its_model(model) or options.fallback != "none" or options.cascade is not None
    with noting_spent(run, lambda: spent.spent(model)):
        for row in run_on_cluster(work, shards, in_actors=in_actors, spent=spent):
            run.append(rows, row)
            kept[row["task"]] = Judgement.model_validate(row["judgement"])
            progress(1)
    run.sync()
    ordered = with_pair_verdicts([kept[task.id] for task in tasks])
    return tuple(ordered), spent.spent(model)


def build_on_cluster(
    clusters: Iterable[Cluster],
    *,
    options: BuildOptions,
    model: ModelOptions,
    run: Run,
    done: Callable[[str, dict[str, Any]], None],
) -> Spent | None:
    """Build each of `clusters` on a cluster of machines; call `done` with its ``eid`` and row.

    Raises
    ------
    MissingExtraError, RunError
        As `run_on_cluster`.
    """
    spent = ClusterSpent()
    shards = [BuildingShard(cluster=cluster) for cluster in clusters]
    work = BuildingWork(options=options, model=model)
    in_actors = _loads_its_model(model) or options.consolidation == "embedding"
    with noting_spent(run, lambda: spent.spent(model)):
        for row in run_on_cluster(work, shards, in_actors=in_actors, spent=spent):
            done(row["eid"], row)
    return spent.spent(model)


def _loads_its_model(model: ModelOptions) -> bool:
    return model.target is None or loads_its_model(model.target)
