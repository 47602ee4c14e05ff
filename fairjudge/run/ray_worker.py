"""Workers of a Ray cluster: shards of a run's items, and their outcomes."""

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

    Tasks at the positions ``pending`` are to be judged; the others complete batches.
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
    """Return `value` as a row of Ray Data: bytes, for which Arrow needs no schema.

    Pickled like everything that Ray transfers, so that articles shared by tasks are stored once.
    """
    return {"pickle": pickle.dumps(value)}


def from_row(row: Mapping[str, bytes]) -> Any:
    """Return the value of a row of `as_row`."""
    return pickle.loads(row["pickle"])  # noqa: S301  # nosec B301


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingWork:
    """The work on shards of a judging run; ``files`` has the contents of files in options."""

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
            {"position": position, "judgement": judgements[number].to_json()}
            for number, position in enumerate(shard.pending)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingWork:
    """The work on shards (clusters) of a building run."""

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
    """Processes shards one after the other, with models that stay open in between.

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
        """Process the shard in `row` (see `as_row`), and return its outcome as a row."""
        return as_row(self.run(from_row(row)))

    def run(self, shard: Any) -> ShardOutcome:
        """Process a shard; return FairJudge's errors, which Ray would wrap and pickle."""
        n_cached, tokens = self._spent()
        try:
            if self._models is None:
                gate = GateLimit(self._gate, worker=self._name)
                models_context = open_models(self._work.model, limits=[gate])
                self._models = self._loop.run_until_complete(
                    self._open.enter_async_context(models_context)
                )
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
    """Process a shard with newly opened models: API clients are cheap to open."""
    worker = Worker(work, gate)
    try:
        return worker(row)
    finally:
        worker.close()


def read_option_files(options: JudgeOptions) -> dict[str, tuple[str, bytes]]:
    """Return the name and content of every file in `options`, for other machines."""
    paths = {name: getattr(options, name) for name in ("prompt", "scale")}
    return {name: (path.name, path.read_bytes()) for name, path in paths.items() if path}


def _write_files(files: Mapping[str, tuple[str, bytes]], folder: Path) -> dict[str, Path]:
    paths = {}
    for name, (file, content) in files.items():
        (folder / name).mkdir()
        paths[name] = folder / name / file
        paths[name].write_bytes(content)
    return paths
