"""The work on a cluster's machines: shards of a run's items, and their outcomes."""

from __future__ import annotations

import asyncio
import pickle  # nosec B403
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from fairjudge.backends.limiting import Tokens
from fairjudge.domain import Cluster, Judgement, JudgeTask
from fairjudge.engine.build_work import build_cluster, graph_for
from fairjudge.engine.models import Models, open_models
from fairjudge.engine.ray_gate import GateLimit, remote_gate
from fairjudge.errors import FairJudgeError
from fairjudge.graphs.judge import JudgeDeps, build_chunk_graph
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.building import ResolvedBuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.builders import make_builder
from fairjudge.run.judges import make_fallback, make_judge


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingShard:
    """The tasks of whole clusters by their positions in the run.

    Those at the positions ``pending`` are to be judged; the others complete the batches.
    """

    tasks: Mapping[int, JudgeTask]
    pending: tuple[int, ...]


Shard: TypeAlias = JudgingShard | Cluster
"""A cluster is a shard of a building run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOutcome:
    """The rows of a shard, in order, or the error that ends the whole run."""

    rows: tuple[dict[str, Any], ...]
    n_cached: int
    tokens: Tokens = field(default_factory=Tokens)
    error: str | None = None


def as_row(value: Shard | ShardOutcome) -> dict[str, bytes]:
    """Return `value` as a row of Ray Data: bytes, in which Arrow looks for no schema.

    Pickled like everything that Ray moves, so that articles shared by tasks are stored once.
    """
    return {"pickle": pickle.dumps(value)}


def from_row(row: Mapping[str, bytes]) -> Any:
    """Return the value of a row of `as_row`."""
    return pickle.loads(row["pickle"])  # noqa: S301  # nosec B301


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingWork:
    """How shards of a judging run are worked on; ``files`` are the contents of options' paths."""

    options: JudgeOptions
    files: Mapping[str, tuple[str, bytes]]
    plan: JudgingPlan
    model: Model

    async def rows(self, shard: JudgingShard, models: Models) -> tuple[dict[str, Any], ...]:
        """Judge the pending tasks of `shard` and return a row for each."""
        with tempfile.TemporaryDirectory() as folder:
            paths = _write_files(self.files, Path(folder))
            options = replace(self.options, prompt=paths.get("prompt"), scale=paths.get("scale"))
            tasks = tuple(shard.tasks.values())
            judge = make_judge(models, options, plan=self.plan, tasks=tasks)
        judgements: dict[int, Judgement] = {}
        deps = JudgeDeps(
            tasks=[shard.tasks[position] for position in shard.pending],
            judge=judge,
            fallback=make_fallback(models, options.fallback, aspect=self.plan.aspect),
            record=judgements.__setitem__,
            is_done=judgements.__contains__,
        )
        await build_chunk_graph().ainvoke({"start": 0, "stop": len(shard.pending)}, context=deps)
        return tuple(
            {"position": position, "judgement": judgements[place].to_json()}
            for place, position in enumerate(shard.pending)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingWork:
    """How shards of a building run, which are clusters, are worked on."""

    options: ResolvedBuildOptions
    model: Model

    async def rows(self, shard: Cluster, models: Models) -> tuple[dict[str, Any], ...]:
        """Build the reference of the cluster `shard` and return its row."""
        builder = make_builder(models, self.options)
        row = await build_cluster(
            graph_for(builder),
            shard,
            builder=builder,
            options=self.options,
            concurrency=self.model.concurrency,
        )
        return (row,)


Work: TypeAlias = JudgingWork | BuildingWork


class Worker:
    """Works on shards, one after the other, with models that stay open between them.

    ``gate`` is the handle of the cluster's gate.
    """

    def __init__(self, work: Work, gate: Any) -> None:
        self._work = work
        self._gate = remote_gate(gate)
        self._name = uuid.uuid4().hex
        self._loop = asyncio.new_event_loop()
        self._open = AsyncExitStack()
        self._models: Models | None = None

    def __call__(self, row: Mapping[str, bytes]) -> dict[str, bytes]:
        """Work on the shard in `row` (`as_row`), and return its outcome as a row."""
        return as_row(self.run(from_row(row)))

    def run(self, shard: Any) -> ShardOutcome:
        """Work on one shard. A deliberate error is returned: Ray would wrap and pickle it."""
        n_cached, tokens = self._spent()
        try:
            if self._models is None:
                gate = GateLimit(self._gate, worker=self._name)
                opened = open_models(self._work.model, limits=[gate])
                self._models = self._loop.run_until_complete(self._open.enter_async_context(opened))
            rows = self._loop.run_until_complete(self._work.rows(shard, self._models))
        except FairJudgeError as error:
            return ShardOutcome(rows=(), n_cached=0, error=str(error))
        n_cached_now, tokens_now = self._spent()
        return ShardOutcome(rows=rows, n_cached=n_cached_now - n_cached, tokens=tokens_now - tokens)

    def close(self) -> None:
        """Close the models."""
        self._loop.run_until_complete(self._open.aclose())
        self._loop.close()

    def _spent(self) -> tuple[int, Tokens]:
        spent = None if self._models is None else self._models.cost()
        return (0, Tokens()) if spent is None else (spent.n_cached, spent.tokens)


def run_shard(row: Mapping[str, bytes], *, work: Work, gate: Any) -> dict[str, bytes]:
    """Work on one shard with models opened for it alone: clients of an API are cheap to open."""
    worker = Worker(work, gate)
    try:
        return worker(row)
    finally:
        worker.close()


def files_of(options: JudgeOptions) -> dict[str, tuple[str, bytes]]:
    """Return name and content of every file that `options` name, for machines that lack them."""
    paths = {name: getattr(options, name) for name in ("prompt", "scale")}
    return {name: (path.name, path.read_bytes()) for name, path in paths.items() if path}


def _write_files(files: Mapping[str, tuple[str, bytes]], folder: Path) -> dict[str, Path]:
    paths = {}
    for name, (file, content) in files.items():
        (folder / name).mkdir()
        paths[name] = folder / name / file
        paths[name].write_bytes(content)
    return paths
