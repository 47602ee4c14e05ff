"""Sharding a run over a Ray cluster: same rows as in one process, from many machines.

Shards are whole clusters of articles, so that batches of questions and of texts are what they are
in one process. Calls of an API run in Ray tasks, behind one gate for the whole cluster; models
that are loaded (scorers, on GPUs where there are) run in actors, which keep them. What a worker
that dies had in hand is done again by another one: its answered calls come from the cache.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.app.models import ModelOptions, Spent
from fairjudge.app.ray_gate import Gate, GateTotals
from fairjudge.app.ray_worker import (
    BuildingShard,
    BuildingWork,
    JudgingShard,
    JudgingWork,
    ShardOutcome,
    Worker,
    run_shard,
)
from fairjudge.domain import JudgeTask
from fairjudge.errors import MissingExtraError, RunError

Work = JudgingWork | BuildingWork
Shard = JudgingShard | BuildingShard
Submit = Callable[[Shard, Sequence[Any]], tuple[Any, Any]]
"""Called with a shard and the workers of those under way; returns its outcome's reference and its
worker."""

SHARD_SIZE = 64
"""Tasks in a shard, rounded up to whole clusters."""
_NAMESPACE = "fairjudge"
_PARTING_SECONDS = 10
_MOST_DEATHS = 10
"""A shard that ends so many workers ends the run."""


@dataclass(slots=True, kw_only=True)
class ClusterSpent:
    """What a cluster asked of a model, once it is done."""

    totals: GateTotals | None = None
    n_cached: int = 0

    def spent(self, model: ModelOptions) -> Spent | None:
        """Return it in the form of a run in one process; None for the embedded default."""
        if model.target is None:
            return None
        if self.totals is None:
            return Spent(n_calls=0, n_cached=self.n_cached, cost_usd=0.0)
        known = self.totals.n_unpriced == 0
        return Spent(
            n_calls=self.totals.n_calls,
            n_cached=self.n_cached,
            cost_usd=self.totals.cost_usd if known else None,
        )


def judging_shards(
    tasks: Sequence[JudgeTask], pending: Callable[[str], bool]
) -> tuple[JudgingShard, ...]:
    """Cut `tasks` into shards of whole clusters, leaving out clusters with nothing pending."""
    clusters: dict[str, list[JudgeTask]] = {}
    for task in tasks:
        clusters.setdefault(task.eid, []).append(task)
    shards: list[JudgingShard] = []
    some: list[JudgeTask] = []
    left: list[str] = []
    for cluster in clusters.values():
        asked = [task.id for task in cluster if pending(task.id)]
        if not asked:
            continue
        some += cluster
        left += asked
        if len(left) >= SHARD_SIZE:
            shards.append(JudgingShard(tasks=tuple(some), pending=tuple(left)))
            some, left = [], []
    if left:
        shards.append(JudgingShard(tasks=tuple(some), pending=tuple(left)))
    return tuple(shards)


def run_on_cluster(
    work: Work, shards: Sequence[Shard], *, in_actors: bool, spent: ClusterSpent
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `shards` as they come, in no order; fill in `spent` at the end.

    The cluster is that of RAY_ADDRESS, or the one this machine takes part in, or else one of this
    machine alone, for as long as this runs.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    RunError
        If the cluster cannot be used, or a shard cannot be done; what was yielded is done.
    """
    if not shards:
        return
    ray = _ray()
    try:
        with redirect_stdout(sys.stderr), _connected(ray):  # Ray prints of dead workers
            yield from _run(ray, work, shards, in_actors=in_actors, spent=spent)
    except (ray.exceptions.RayError, ConnectionError) as error:
        why = " ".join(str(error).split())[-500:]
        raise RunError(
            f"the Ray cluster failed: {why}; what is done is kept, and the same command goes on "
            "from there"
        ) from None


def _run(
    ray: Any, work: Work, shards: Sequence[Shard], *, in_actors: bool, spent: ClusterSpent
) -> Iterator[dict[str, Any]]:
    gate = _start_gate(ray, work.model)
    model = work.model
    ungated = replace(
        model, max_calls=None, max_cost=None, rpm=None, tpm=None, prices=None, on_retry=None
    )
    rated = model.rpm is not None or model.tpm is not None
    open_ended = replace(work, model=ungated, rated=rated)
    submit = (_actors if in_actors else _tasks)(ray, open_ended, gate)
    most = _most_at_once(ray, work.model, in_actors=in_actors)
    left = list(reversed(shards))
    under_way: dict[Any, Any] = {}
    try:
        while left or under_way:
            while left and len(under_way) < most:
                reference, worker = submit(left.pop(), list(under_way.values()))
                under_way[reference] = worker
            (done, *_), _ = ray.wait(list(under_way), num_returns=1)
            del under_way[done]
            outcome: ShardOutcome = ray.get(done)
            if outcome.error is not None:
                raise RunError(outcome.error)
            spent.n_cached += outcome.n_cached
            yield from outcome.rows
    finally:
        with suppress(ray.exceptions.RayError):
            spent.totals = ray.get(gate.totals.remote(), timeout=_PARTING_SECONDS)
            ray.kill(gate)


def _tasks(ray: Any, work: Work, gate: Any) -> Submit:
    shared = ray.put(work)
    # A task waits for replies most of the time: many fit on one core.
    remote = ray.remote(num_cpus=0.1, max_retries=_MOST_DEATHS, scheduling_strategy="SPREAD")(
        run_shard
    )
    return lambda shard, _busy: (remote.remote(shared, gate, shard), None)


def _actors(ray: Any, work: Work, gate: Any) -> Submit:
    resources = _actor_resources(ray)
    remote = ray.remote(**resources, max_restarts=_MOST_DEATHS, max_task_retries=_MOST_DEATHS)(
        Worker
    )
    actors = [remote.remote(work, gate) for _ in range(_n_actors(ray))]

    def submit(shard: Shard, busy: Sequence[Any]) -> tuple[Any, Any]:
        idlest = min(actors, key=busy.count)
        return idlest.run.remote(shard), idlest

    return submit


def _actor_resources(ray: Any) -> dict[str, float]:
    return {"num_gpus": 1} if ray.cluster_resources().get("GPU", 0) >= 1 else {"num_cpus": 1}


def _n_actors(ray: Any) -> int:
    resources = ray.cluster_resources()
    return max(1, int(resources.get("GPU", 0)) or int(resources.get("CPU", 1)))


def _most_at_once(ray: Any, model: ModelOptions, *, in_actors: bool) -> int:
    """Return how many shards are handed out: enough to use every place, or every actor."""
    return 2 * _n_actors(ray) if in_actors else model.concurrency // SHARD_SIZE + 2


def _start_gate(ray: Any, model: ModelOptions) -> Any:
    """Start the gate on this machine: it must not die with a worker's."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    rates = {"requests": model.rpm, "tokens": model.tpm}
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    remote = ray.remote(num_cpus=0, max_concurrency=100_000)(Gate)
    return remote.options(
        name=f"gate-{uuid.uuid4().hex[:12]}", namespace=_NAMESPACE, scheduling_strategy=here
    ).remote(most=model.concurrency, budget=model.budget(), rates=rates)


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    """Take part in a cluster, unless this process already does."""
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
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--engine ray", extra="ray") from None
    return ray
