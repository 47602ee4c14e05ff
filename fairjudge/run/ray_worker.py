"""The work on a cluster's machines: shards of a run's items, and their outcomes."""

from __future__ import annotations

import asyncio
import json
import pickle  # nosec B403
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from fairjudge.backends.limiting import Limit, Tokens
from fairjudge.domain import Cluster, Judgement, JudgeTask
from fairjudge.engine.build_work import build_one, graph_for
from fairjudge.engine.models import Models, open_models
from fairjudge.engine.ray_gate import GateLimit, GateRates, remote_gate
from fairjudge.errors import FairJudgeError
from fairjudge.graphs.judge import JudgeDeps, build_chunk_graph
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.building import SettledOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.run.builders import make_builder
from fairjudge.run.judges import make_fallback, make_judge


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingShard:
    """Whole clusters' tasks by their positions in the run.

    Those that are ``pending`` are to be judged; the others shape batches.
    """

    tasks: Mapping[int, JudgeTask]
    pending: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingShard:
    """One cluster to build a reference of."""

    cluster: Cluster


Shard: TypeAlias = JudgingShard | BuildingShard


def as_row(shard: Shard) -> dict[str, bytes]:
    """Return `shard` as a row of Ray Data: bytes, in which Arrow looks for no schema.

    Pickled, as all that Ray moves: the articles that tasks share are there once.
    """
    return {"shard": pickle.dumps(shard)}


def from_row(row: Mapping[str, bytes]) -> Shard:
    """Return the shard of which `as_row` made `row`."""
    shard: Shard = pickle.loads(row["shard"])  # noqa: S301  # nosec B301
    return shard


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOutcome:
    """The rows that a shard gave, in order; or why the whole run cannot go on."""

    rows: tuple[dict[str, Any], ...]
    n_cached: int
    tokens: Tokens = field(default_factory=Tokens)
    error: str | None = None

    def as_row(self) -> dict[str, str]:
        """Return it as a row of Ray Data: one JSON text."""
        return {"outcome": json.dumps(asdict(self))}

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> ShardOutcome:
        """Return the outcome of which `as_row` made `row`."""
        outcome = json.loads(row["outcome"])
        values = {"rows": tuple(outcome["rows"]), "tokens": Tokens(**outcome["tokens"])}
        return cls(**outcome | values)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingWork:
    """How shards of a judging run are worked on. ``files`` are the contents of options' paths.

    ``rated``: the gate has rates to keep.
    """

    options: JudgeOptions
    files: Mapping[str, tuple[str, bytes]]
    plan: JudgingPlan
    model: Model
    rated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildingWork:
    """How shards of a building run are worked on."""

    options: SettledOptions
    model: Model
    rated: bool = False


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

    def __call__(self, row: Mapping[str, bytes]) -> dict[str, str]:
        """Work on the shard of which `as_row` made `row`, and return its outcome as a row."""
        return self.run(from_row(row)).as_row()

    def run(self, shard: Shard) -> ShardOutcome:
        """Work on one shard. A deliberate error is returned: Ray would wrap and pickle it."""
        n_cached, tokens = self._spent()
        try:
            if self._models is None:
                self._models = self._loop.run_until_complete(
                    self._open.enter_async_context(
                        open_models(self._work.model, limits=self._limits())
                    )
                )
            rows = self._loop.run_until_complete(_rows(shard, self._work, self._models))
        except FairJudgeError as error:
            return ShardOutcome(rows=(), n_cached=0, error=str(error))
        n_cached_now, tokens_now = self._spent()
        return ShardOutcome(rows=rows, n_cached=n_cached_now - n_cached, tokens=tokens_now - tokens)

    def close(self) -> None:
        """Close the models."""
        self._loop.run_until_complete(self._open.aclose())
        self._loop.close()

    def _limits(self) -> list[Limit]:
        gate = GateLimit(self._gate, worker=self._name)
        self._open.push_async_callback(gate.aclose)
        return [gate, GateRates(self._gate)] if self._work.rated else [gate]

    def _spent(self) -> tuple[int, Tokens]:
        spent = None if self._models is None else self._models.spent()
        return (0, Tokens()) if spent is None else (spent.n_cached, spent.tokens)


def run_shard(row: Mapping[str, bytes], *, work: Work, gate: Any) -> dict[str, str]:
    """Work on one shard with models opened for it alone: clients of an API are cheap to open."""
    worker = Worker(work, gate)
    try:
        return worker(row)
    finally:
        worker.close()


async def _rows(shard: Shard, work: Work, models: Models) -> tuple[dict[str, Any], ...]:
    if isinstance(work, JudgingWork) and isinstance(shard, JudgingShard):
        return await _judge(shard, work, models)
    if isinstance(work, BuildingWork) and isinstance(shard, BuildingShard):
        builder = make_builder(models, work.options)
        row = await build_one(
            graph_for(builder),
            shard.cluster,
            builder=builder,
            options=work.options,
            concurrency=work.model.concurrency,
        )
        return (row,)
    raise TypeError(f"{type(shard).__name__} is no part of {type(work).__name__}")


async def _judge(
    shard: JudgingShard, work: JudgingWork, models: Models
) -> tuple[dict[str, Any], ...]:
    options = work.options
    with tempfile.TemporaryDirectory() as folder:
        paths = _written(work.files, Path(folder))
        local_options = replace(options, prompt=paths.get("prompt"), scale=paths.get("scale"))
        tasks = tuple(shard.tasks.values())
        judge = make_judge(models, local_options, plan=work.plan, tasks=tasks)
    judgements: dict[int, Judgement] = {}
    deps = JudgeDeps(
        tasks=[shard.tasks[position] for position in shard.pending],
        judge=judge,
        fallback=make_fallback(models, options.fallback, aspect=work.plan.aspect),
        record=judgements.__setitem__,
        is_done=judgements.__contains__,
    )
    await build_chunk_graph().ainvoke({"start": 0, "stop": len(shard.pending)}, context=deps)
    return tuple(
        {"position": position, "judgement": judgements[place].to_json()}
        for place, position in enumerate(shard.pending)
    )


def files_of(options: JudgeOptions) -> dict[str, tuple[str, bytes]]:
    """Return name and content of every file that `options` name, for machines that lack them."""
    paths = {name: getattr(options, name) for name in ("prompt", "scale")}
    return {name: (path.name, path.read_bytes()) for name, path in paths.items() if path}


def _written(files: Mapping[str, tuple[str, bytes]], folder: Path) -> dict[str, Path]:
    paths = {}
    for name, (file, content) in files.items():
        (folder / name).mkdir()
        paths[name] = folder / name / file
        paths[name].write_bytes(content)
    return paths
