"""Run on a Ray cluster: the same rows as in one process, from many machines.

Shards are whole clusters of articles, so that batches of questions and texts are the same as in one
process. Ray Data distributes them, each as one row in its own block. API calls run in tasks, behind
one gate for the whole Ray cluster; loaded models (scorers, on GPUs if there are any) run in actors,
which keep them in memory. If a worker dies, another one repeats its shard; answered calls come from
the cache.

Rate limits and budgets apply to all workers together: they may spend the rest of the model's
budget, to which their spending is charged.
"""

from __future__ import annotations

import logging
import os
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from fairjudge.backends import loads_its_model
from fairjudge.backends.budgeting import Budget
from fairjudge.backends.limiting import Tokens
from fairjudge.domain import Judgement, JudgeTask
from fairjudge.engine.built import BuildBook
from fairjudge.engine.interrupts import stop_on_interrupt
from fairjudge.engine.models import RunCost, run_cost
from fairjudge.engine.progress import BuildProgress
from fairjudge.engine.ray_gate import Gate
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import record_cost
from fairjudge.errors import RunError, needs_extra
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.building import ResolvedBuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.records.folder import RunStore
from fairjudge.records.spending import NO_SPENDING, Spending
from fairjudge.run.ray_worker import (
    BuildingWork,
    JudgingShard,
    JudgingWork,
    Shard,
    ShardOutcome,
    Work,
    Worker,
    as_row,
    from_row,
    read_option_files,
    run_shard,
)

SHARD_SIZE = 64
"""Number of tasks per shard, rounded up to whole clusters."""
_NAMESPACE = "fairjudge"
_PARTING_SECONDS = 10
_MAX_DEATHS = 10
"""The run ends if this many workers die on one shard."""


def judge_on_ray(
    book: JudgementBook,
    *,
    options: JudgeOptions,
    plan: JudgingPlan,
    model: Model,
    progress: Callable[[int], None],
) -> RunCost | None:
    """Judge all pending tasks, and retry unscored ones that may succeed."""
    book.reopen_retryable()
    progress(book.n_done)
    # Local paths are not valid on other machines: send the contents of files.
    work = JudgingWork(
        options=replace(options, prompt=None, scale=None),
        files=read_option_files(options),
        plan=plan,
        model=model,
    )

    def record(row: dict[str, Any]) -> None:
        book.record(row["position"], Judgement.model_validate(row["judgement"]))
        progress(1)

    shards = judging_shards(book.tasks, book.is_done)
    loads = options.fallback != "none" or options.cascade is not None
    return _work(work, shards, loads=loads, record=record, run=book.run)


def build_on_ray(
    book: BuildBook,
    *,
    options: ResolvedBuildOptions,
    model: Model,
    progress: BuildProgress,
) -> RunCost | None:
    """Build a reference for every cluster without one."""

    def record(row: dict[str, Any]) -> None:
        book.record(row)
        progress.end(row["eid"])

    work = BuildingWork(options=options, model=model)
    loads = options.consolidation == "embedding"
    return _work(work, book.pending(), loads=loads, record=record, run=book.run)


def _work(
    work: Work,
    shards: Sequence[Shard],
    *,
    loads: bool,
    record: Callable[[dict[str, Any]], None],
    run: RunStore,
) -> RunCost | None:
    """Process `shards`, in actors if a model has to be loaded."""
    model = work.model
    budget = model.budget
    in_actors = loads or model.llm is None or loads_its_model(model.llm)
    usage = ClusterUsage()
    with record_cost(run, model, lambda: usage.cost(model)):
        model_with_rest_of_budget = replace(
            model, max_calls=budget.calls_left, max_cost=budget.usd_left
        )
        work = replace(work, model=model_with_rest_of_budget)
        try:
            for row in run_on_cluster(work, shards, in_actors=in_actors, usage=usage):
                record(row)
                usage.book(budget)
        finally:
            usage.book(budget)
    run.sync()
    return usage.cost(model)


@dataclass(slots=True, kw_only=True)
class ClusterUsage:
    """Usage of a model by a Ray cluster; ``booked`` is the part already charged to the budget."""

    totals: Spending = NO_SPENDING
    n_cached: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    booked: Spending = NO_SPENDING

    def book(self, budget: Budget) -> None:
        """Charge the spending since the last call to `budget`."""
        budget.book(self.totals - self.booked)
        self.booked = self.totals

    def cost(self, model: Model) -> RunCost | None:
        """Return the cost, as for a run in one process; None for the local backend."""
        if model.llm is None:
            return None
        return run_cost(self.totals, n_cached=self.n_cached, tokens=self.tokens)


def judging_shards(
    tasks: Sequence[JudgeTask], is_done: Callable[[int], bool]
) -> tuple[JudgingShard, ...]:
    """Divide `tasks` into shards of whole clusters, except finished clusters."""
    clusters: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        clusters.setdefault(task.eid, []).append(position)
    shards: list[tuple[dict[int, JudgeTask], list[int]]] = []
    for cluster in clusters.values():
        pending = [position for position in cluster if not is_done(position)]
        if not pending:
            continue
        if not shards or len(shards[-1][1]) >= SHARD_SIZE:
            shards.append(({}, []))
        shard, positions = shards[-1]
        shard.update({position: tasks[position] for position in cluster})
        positions += pending
    return tuple(JudgingShard(tasks=shard, pending=tuple(positions)) for shard, positions in shards)


def run_on_cluster(
    work: Work, shards: Sequence[Shard], *, in_actors: bool, usage: ClusterUsage
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `shards` as they finish, in any order; fill in `usage`.

    The Ray cluster is the one at RAY_ADDRESS, or one that this machine is part of, or else a
    temporary one on this machine.
    """
    if not shards:
        return
    ray = _ray()
    try:
        # Ray prints messages about dead workers to stdout.
        with stop_on_interrupt(), redirect_stdout(sys.stderr), _connect(ray):
            yield from _run(ray, work, shards, in_actors=in_actors, usage=usage)
    except (ray.exceptions.RayError, ConnectionError) as error:
        reason = " ".join(str(error).split())[-500:]
        raise RunError(
            f"the Ray cluster failed: {reason}; finished work is kept; rerun the command to resume"
        ) from None


def _run(
    ray: Any, work: Work, shards: Sequence[Shard], *, in_actors: bool, usage: ClusterUsage
) -> Iterator[dict[str, Any]]:
    gate = _start_gate(ray, work.model)
    model = work.model
    unlimited_model = replace(
        model,
        max_calls=None,
        max_cost=None,
        requests_per_minute=None,
        tokens_per_minute=None,
        prices=None,
        on_retry=None,
    )
    make_map_arguments = _in_actors if in_actors else _in_tasks
    work = replace(work, model=unlimited_model)
    map_arguments = make_map_arguments(ray, work, gate, len(shards))
    try:
        for outcome in _outcomes(ray, shards, map_arguments):
            if outcome.error is not None:
                raise RunError(outcome.error)
            usage.n_cached += outcome.n_cached
            usage.tokens += outcome.tokens
            usage.totals = ray.get(gate.totals.remote())
            yield from outcome.rows
    finally:
        with suppress(ray.exceptions.RayError):
            usage.totals = ray.get(gate.totals.remote(), timeout=_PARTING_SECONDS)
            ray.kill(gate)


def _outcomes(
    ray: Any, shards: Sequence[Shard], map_arguments: dict[str, Any]
) -> Iterator[ShardOutcome]:
    """Yield the outcomes of `shards` as they finish; `map_arguments` are for Ray's `map`."""
    dataset = ray.data.from_items(list(map(as_row, shards)), override_num_blocks=len(shards))
    dataset.context.enable_progress_bars = False
    dataset.context.execution_no_progress_timeout_s = -1  # a shard takes as long as its calls
    with warnings.catch_warnings():
        # The options for numbers of retries (default: no limit) are deprecated, with no successor.
        warnings.simplefilter("ignore", DeprecationWarning)
        outcomes = dataset.map(**map_arguments)
    # No prefetching, which would delay an outcome until the next one is available.
    for table in outcomes.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        yield from map(from_row, table.to_pylist())


def _in_tasks(ray: Any, work: Work, gate: Any, n_shards: int) -> dict[str, Any]:
    limit = work.model.concurrency // SHARD_SIZE + 2  # enough for full concurrency
    return {
        "fn": run_shard,
        "fn_kwargs": {"work": work, "gate": gate},
        "compute": ray.data.TaskPoolStrategy(size=min(limit, n_shards)),
        "num_cpus": 0.1,  # tasks mostly wait for replies: many fit on one core
        "max_retries": _MAX_DEATHS,
    }


def _in_actors(ray: Any, work: Work, gate: Any, n_shards: int) -> dict[str, Any]:
    resources = ray.cluster_resources()
    n_gpus = int(resources.get("GPU", 0))
    limit = n_gpus or max(1, int(resources.get("CPU", 1)))
    # One shard per actor, so that none waits while another actor is idle.
    pool = ray.data.ActorPoolStrategy(size=min(limit, n_shards), max_tasks_in_flight_per_actor=1)
    return {
        "fn": Worker,
        "fn_constructor_kwargs": {"work": work, "gate": gate},
        "compute": pool,
        **({"num_gpus": 1, "num_cpus": 0} if n_gpus else {"num_cpus": 1}),
        "max_task_retries": _MAX_DEATHS,
    }


def _start_gate(ray: Any, model: Model) -> Any:
    """Start the gate on this machine, so that it survives the failure of a worker's machine."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    rates = {"requests": model.requests_per_minute, "tokens": model.tokens_per_minute}
    this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    remote = ray.remote(num_cpus=0, max_concurrency=100_000)(Gate)
    return remote.options(
        name=f"gate-{uuid.uuid4().hex[:12]}", namespace=_NAMESPACE, scheduling_strategy=this_node
    ).remote(max_concurrent=model.concurrency, budget=model.new_budget(), rates=rates)


@contextmanager
def _connect(ray: Any) -> Iterator[None]:
    """Connect to a Ray cluster, unless already connected."""
    if ray.is_initialized():
        yield
        return
    quiet = {"namespace": _NAMESPACE, "log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        if os.environ.get("RAY_ADDRESS"):
            raise
        ray.init(include_dashboard=False, **quiet)
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with needs_extra("--engine ray", extra="ray"):
        import ray
        import ray.data
    logging.getLogger("ray.data").setLevel("CRITICAL")  # errors are raised as well
    return ray
