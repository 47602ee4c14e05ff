"""Opening a run: its identity, its folder, its graph."""

from __future__ import annotations

import gc
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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
from fairjudge.engine.models import Spent, print_note
from fairjudge.errors import InputError
from fairjudge.options.models import Model
from fairjudge.records.folder import RunFolder, RunStore
from fairjudge.records.postgres import StoredRun
from fairjudge.records.spending import FILE, SpendingFile
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """What every run comes to, beside its results.

    ``bad_lines`` were left out; ``spent`` is None for the embedded default. ``was_finished``: an
    earlier start had left nothing to do.
    """

    bad_lines: tuple[str, ...]
    spent: Spent | None
    run: Path | str
    was_finished: bool = False


_NOT_OURS = (AttributeError, LookupError, NotImplementedError, TypeError, ValueError)
"""What LangGraph raises where a checkpoint holds something else than it wrote."""


def digest(records: Iterable[Record]) -> str:
    """Return sha256 over what was read, so that a run is tied to its inputs and not to paths."""
    total = hashlib.sha256()
    for record in records:
        text = json.dumps(record.to_json(), sort_keys=True, ensure_ascii=False)
        total.update(text.encode("utf-8", errors="replace") + b"\n")
    return total.hexdigest()


def bad_lines(*files: Loaded[Any]) -> tuple[str, ...]:
    """Return what was left out of `files` under ``--skip-bad``: place and problem."""
    return tuple(f"{file.path}:{bad.line}: {bad.problem}" for file in files for bad in file.bad)


def check_writable(output: Path) -> None:
    """Refuse an output that cannot be written, before any work is done for it."""
    if str(output) == "-":
        return
    folder = output.parent
    if not folder.is_dir():
        raise InputError("the folder for this output does not exist", path=output)
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
    """Make `folder` if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make this folder: {error.strerror}", path=folder) from None


def open_run(
    folder: Path | None, *, command: str, model: Model, identity: Mapping[str, Any]
) -> RunStore:
    """Return the run's folder, not yet entered; the run of that name in `model`'s store, if any.

    Without `folder` it lies beside the cache and is named by the identity, so that the same command
    finds it again and another command does not.
    """
    whole = {"command": command, "version": __version__, **identity}
    text = json.dumps(whole, sort_keys=True)
    name = f"{command}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    if model.address is not None:
        named = name if folder is None else folder.as_posix()
        return StoredRun(named, identity=whole, address=model.address)
    return RunFolder(folder or model.cache_folder / "runs" / name, identity=whole)


@contextmanager
def recording_spending(run: RunStore, model: Model) -> Iterator[SpendingFile]:
    """Record what `model` spends on `run`, so that it counts where this start is killed."""
    # A run in a store has no folder: its spending is recorded on this machine.
    path = run.path / FILE if isinstance(run, RunFolder) else spending_path(model, str(run))
    with recording_in(path, model) as file:
        yield file


def spending_path(model: Model, name: str) -> Path:
    """Return where spending is recorded of what is called `name` and has no folder."""
    digested = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return model.cache_folder / "runs" / f"{digested}.{FILE}"


@contextmanager
def recording_in(path: Path, model: Model) -> Iterator[SpendingFile]:
    """Record what `model` spends in the file at `path`; say so where killed starts left some."""
    file = SpendingFile(path)
    if file.earlier.n_calls and model.is_limited and not model.budget.is_recorded:
        n_calls = pluralize(file.earlier.n_calls, "call")
        print_note(f"{n_calls} of earlier starts, which were killed, count for the limits too")
    with model.budget.recording(file):
        yield file


@contextmanager
def noting_spent(run: RunStore, model: Model, spent: Callable[[], Spent | None]) -> Iterator[None]:
    """Add what this start of the run asked of `model` to ``spent.jsonl``, also if it breaks off.

    What starts asked that were killed, and could not add it themselves, has a row of its own.
    """
    with recording_spending(run, model) as file:
        try:
            yield
        finally:
            asked, before = spent(), file.earlier
            when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            if before.n_calls:
                cost = None if before.n_unpriced else before.cost_usd
                killed = Spent(n_calls=before.n_calls, n_cached=0, cost_usd=cost)
                run.append(SPENT, {"when": when, **asdict(killed)})
            if asked is not None:
                run.append(SPENT, {"when": when, **asdict(asked)})


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """Let Python look for cycles less often while a run makes many short-lived values.

    Inputs and libraries are a million values that stay; to look through them again and again takes
    a fifth of a run's time. What is made here is freed by counting references all the same.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
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
    """Bring a killed run of `graph` to its end and return its state; None where there is none.

    Checkpoints that this program did not write are deleted: what the run recorded is kept
    elsewhere, and the run begins anew with that.
    """
    config = _config(thread, max_concurrency)
    try:
        kept = await graph.aget_state(config)
        if kept.created_at is None:
            return None
        # `kept.next` leaves out steps that are done and whose checkpoint is still to come.
        if not kept.tasks:
            return dict(kept.values)
        state: dict[str, Any] = await graph.ainvoke(None, config, context=context)
    except _NOT_OURS:
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
