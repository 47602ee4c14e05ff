"""Open a run: its identity, its folder or store, its graph."""

from __future__ import annotations

import gc
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from fairjudge import __version__
from fairjudge.datasets import Loaded
from fairjudge.domain import Record
from fairjudge.engine.costs import SPENT
from fairjudge.engine.models import RunCost, print_note, run_cost
from fairjudge.errors import InputError
from fairjudge.options.models import Model
from fairjudge.records.folder import RunFolder, RunStore
from fairjudge.records.postgres import StoredRun
from fairjudge.records.spending import FILE, SpendingFile
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """Counts, cost and failures of a run, whose results are returned separately.

    ``bad_lines`` are the skipped lines; ``spent`` is None for the embedded default;
    ``was_finished`` is whether the run was already complete when it was opened.
    """

    bad_lines: tuple[str, ...]
    spent: RunCost | None
    run: Path | str
    was_finished: bool = False


_FOREIGN_CHECKPOINT_ERRORS = (
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""The errors of LangGraph on a checkpoint that it did not write."""


def digest(records: Iterable[Record]) -> str:
    """Return the SHA-256 of `records`, which identifies a run's inputs independently of paths."""
    total = hashlib.sha256()
    for record in records:
        text = json.dumps(record.to_json(), sort_keys=True, ensure_ascii=False)
        total.update(text.encode("utf-8", errors="replace") + b"\n")
    return total.hexdigest()


def bad_lines(*files: Loaded[Any]) -> tuple[str, ...]:
    """Return ``path:line: problem`` of each line of `files` skipped by ``--skip-bad``."""
    return tuple(
        f"{file.path}:{bad_line.line}: {bad_line.problem}"
        for file in files
        for bad_line in file.bad
    )


def check_writable(output: Path) -> None:
    """Raise `InputError` if `output` cannot be written, before work is done for it."""
    if str(output) == "-":
        return
    folder = output.parent
    if not folder.is_dir():
        raise InputError("the folder for this output does not exist; create it first", path=output)
    if output.is_dir():
        raise InputError("expected a file to write, this is a folder", path=output)
    if output.suffixes[-2:] == [".csv", ".gz"] or output.suffix == ".csv":
        raise InputError("records are written as .json or .jsonl, not as .csv", path=output)
    if output.exists() and not output.is_file():
        return  # a pipe or a device
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"the folder for this output cannot be written to: {error.strerror}"
        raise InputError(reason, path=output) from None


def make_folder(folder: Path) -> None:
    """Create `folder` with its parents if it does not exist; raise `InputError` on failure."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create this folder: {error.strerror}", path=folder) from None


def open_run(
    folder: Path | None, *, command: str, model: Model, identity: Mapping[str, Any]
) -> RunStore:
    """Return the run in `folder`, or of that name in the store of `model`, not yet locked.

    Without `folder`, the run is stored next to the cache under a hash of its identity, so that the
    same command finds it again and a different command does not.
    """
    run_identity = {"command": command, "version": __version__, **identity}
    text = json.dumps(run_identity, sort_keys=True)
    name = f"{command}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    if model.address is not None:
        run_name = name if folder is None else folder.as_posix()
        return StoredRun(run_name, identity=run_identity, address=model.address)
    return RunFolder(folder or model.cache_folder / "runs" / name, identity=run_identity)


def record_spending(run: RunStore, model: Model) -> AbstractContextManager[SpendingFile]:
    """Record the spending of `model` on `run`, so that it counts even if this process is killed."""
    # A run in a store has no folder: its spending is recorded on this machine.
    path = run.path / FILE if isinstance(run, RunFolder) else spending_path(model, str(run))
    return record_spending_in(path, model)


def spending_path(model: Model, name: str) -> Path:
    """Return the spending file of a run called `name` that has no folder."""
    name_hash = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return model.cache_folder / "runs" / f"{name_hash}.{FILE}"


@contextmanager
def record_spending_in(path: Path, model: Model) -> Iterator[SpendingFile]:
    """Record the spending of `model` in the file at `path`; print a note on earlier calls."""
    file = SpendingFile(path)
    if file.earlier.n_calls and model.is_limited and not model.budget.is_recorded:
        n_calls = pluralize(file.earlier.n_calls, "call")
        print_note(f"{n_calls} of earlier, killed processes count towards the limits")
    with model.budget.record_in(file):
        yield file


@contextmanager
def record_cost(run: RunStore, model: Model, cost: Callable[[], RunCost | None]) -> Iterator[None]:
    """Append the calls and costs of this process to ``spent.jsonl``, even after an error.

    The calls of killed processes, which could not do so, are appended as a separate row.
    """
    with record_spending(run, model) as file:
        try:
            yield
        finally:
            own_cost, earlier = cost(), file.earlier
            timestamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            if earlier.n_calls:
                run.append(SPENT, {"when": timestamp, **run_cost(earlier).to_json()})
            if own_cost is not None:
                run.append(SPENT, {"when": timestamp, **own_cost.to_json()})


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """Run Python's garbage collector less often in the block.

    Inputs and libraries are about a million long-lived objects; scanning them repeatedly took a
    fifth of a run's time. Reference counting still frees all objects without cycles.
    """
    old_threshold = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*old_threshold)
        gc.unfreeze()


async def start(
    graph: CompiledStateGraph[Any, Any], *, thread: str, context: object, max_concurrency: int
) -> dict[str, Any]:
    """Run `graph` from its beginning and return its final state."""
    state: dict[str, Any] = await graph.ainvoke(
        {}, _config(thread, max_concurrency), context=context
    )
    return state


async def resume(
    graph: CompiledStateGraph[Any, Any], *, thread: str, context: object, max_concurrency: int
) -> dict[str, Any] | None:
    """Finish an interrupted run of `graph` and return its state, or None without checkpoints.

    Checkpoints that this program did not write are deleted; the run then restarts from its rows,
    which are stored separately.
    """
    config = _config(thread, max_concurrency)
    try:
        snapshot = await graph.aget_state(config)
        if snapshot.created_at is None:
            return None
        # Not `snapshot.next`, which omits finished steps without a checkpoint.
        if not snapshot.tasks:
            return dict(snapshot.values)
        state: dict[str, Any] = await graph.ainvoke(None, config, context=context)
    except _FOREIGN_CHECKPOINT_ERRORS:
        if isinstance(graph.checkpointer, BaseCheckpointSaver):
            await graph.checkpointer.adelete_thread(thread)
        return None
    return state


def _config(thread: str, max_concurrency: int) -> RunnableConfig:
    return {
        "configurable": {"thread_id": thread},
        "max_concurrency": max_concurrency,
        "recursion_limit": 100,
    }
