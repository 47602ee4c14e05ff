"""The in-process engine: LangGraph graphs with the run's checkpoints.

Checkpoints are in the run's folder or in the shared store, and never hold executable code.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fairjudge.domain import Cluster, Judgement
from fairjudge.engine.built import BuildBook
from fairjudge.engine.progress import SILENT, BuildProgress
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import resume, start
from fairjudge.errors import RunError, needs_extra
from fairjudge.graphs.judge import JudgeDeps, build_judge_graph
from fairjudge.judges.ports import Judge
from fairjudge.options.building import ResolvedBuildOptions
from fairjudge.records.folder import RunStore
from fairjudge.records.postgres import StoredRun
from fairjudge.records.server import CONNECTION, SCHEMA
from fairjudge.references.ports import ArticleBuilder, Builder

T = TypeVar("T")

_MIGRATING = 0x66_6A_63_70
"""PostgreSQL advisory lock under which LangGraph's tables are made and migrated."""
_THREAD = "judge"
_CHUNK = 64
"""Minimum of tasks between two checkpoints; from 128 concurrent calls on, half their number."""
_SYNC_SECONDS = 0.5
"""Minimum time between two syncs to disk; a power cut loses at most this much."""
_CALLS_PER_CLUSTER = 8
"""Typical number of concurrent calls of a cluster; with more places, several are built at once."""


async def judge_tasks(
    book: JudgementBook,
    *,
    judge: Judge,
    fallback: Judge | None,
    concurrency: int,
    progress: Callable[[int], None],
    sync: Callable[[], None] = lambda: None,
) -> None:
    """Judge the tasks of `book` that its run does not hold yet.

    A killed run is resumed first. Then tasks that earlier starts left unscored because of a server
    error or an exhausted budget are tried again. ``sync`` forces cached replies to disk.
    """
    run = book.run

    def record(position: int, judgement: Judgement) -> None:
        book.record(position, judgement)
        progress(1)

    settled = time.monotonic()

    async def settle() -> None:
        nonlocal settled
        if time.monotonic() - settled >= _SYNC_SECONDS:
            settled = time.monotonic()
            await asyncio.to_thread(_call_each, sync, run.sync)

    chunk_size = max(_CHUNK, concurrency // 2)
    deps = JudgeDeps(
        tasks=book.tasks,
        judge=judge,
        fallback=fallback,
        record=record,
        is_done=book.is_done,
        settle=settle,
        chunk_size=chunk_size,
    )
    progress(book.n_done - book.n_retryable)
    limit = 2 * concurrency // chunk_size + 2  # enough that slow replies leave no place idle
    async with checkpoints(run) as saver:
        graph = build_judge_graph(checkpointer=saver)
        how: Any = {"thread": run.thread(_THREAD), "context": deps, "max_concurrency": limit}
        await resume(graph, **how)
        book.reopen_retryable()
        await start(graph, **how)
    _call_each(sync, run.sync)


def _call_each(*calls: Callable[[], None]) -> None:
    for call in calls:
        call()


async def build_references(
    book: BuildBook,
    *,
    builder: Builder | ArticleBuilder,
    options: ResolvedBuildOptions,
    concurrency: int,
    progress: BuildProgress = SILENT,
) -> None:
    """Build the pending clusters of `book`, several at once where `concurrency` leaves room.

    A cluster that lost answers to a server error or an exhausted budget is rebuilt by the
    next run of the same command, with its earlier answers from the cache.
    """
    # Not above: it imports SciPy's clustering, which judging does not need.
    from fairjudge.engine.build_work import build_one, graph_for

    async with checkpoints(book.run) as saver:
        graph = graph_for(builder, checkpointer=saver)

        async def build(cluster: Cluster) -> None:
            thread = book.run.thread(f"{cluster.eid}#{book.n_attempts[cluster.eid]}")
            row = await build_one(
                graph,
                cluster,
                thread=thread,
                builder=builder,
                options=options,
                concurrency=concurrency,
                progress=progress.stages(cluster.eid),
            )
            book.record(row)
            await saver.adelete_thread(thread)  # every step stores the articles once more
            progress.end(cluster.eid)

        await _each(build, book.pending(), at_once=max(1, concurrency // _CALLS_PER_CLUSTER))


async def _each(
    work: Callable[[Cluster], Awaitable[None]], clusters: Iterable[Cluster], *, at_once: int
) -> None:
    """Await `work` on all `clusters`, `at_once` at a time; the first error cancels the others."""
    queue = iter(clusters)

    async def worker() -> None:
        for cluster in queue:
            await work(cluster)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def checkpoints(run: RunStore) -> AbstractAsyncContextManager[BaseCheckpointSaver[Any]]:
    """Open the checkpoints of `run`; those in a store are deleted after success."""
    return _stored(run) if isinstance(run, StoredRun) else _embedded(run.path)


def _saver(make: Any, connection: Any) -> Any:
    """Return a saver that reads plain values only, so that its rows cannot make it import code."""
    return make(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=()))


@asynccontextmanager
async def _embedded(folder: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    path = folder / "checkpoints.sqlite"
    try:
        async with _connected(path) as connection:
            # To wait for the disk at every step would cost more than the step; what a power cut
            # loses here is restored from the run's rows and the cache.
            await connection.execute("PRAGMA synchronous=NORMAL")
            saver = _saver(AsyncSqliteSaver, connection)
            await saver.setup()  # a thread may be deleted before any is stored: tables must exist
            yield saver
    except sqlite3.Error as error:
        raise RunError(
            f"{path}: cannot use the checkpoints: {error}; without that file the run starts anew, "
            "and what it has recorded or cached is not asked again"
        ) from None


@asynccontextmanager
async def _connected(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open a database, and close it even when an interrupt cancels this task.

    aiosqlite's thread answers to the event loop, which must therefore outlive the connection.
    """
    connection = aiosqlite.connect(path)
    try:
        await _shielded(connection)
        yield connection
    finally:
        await _shielded(connection.close())


async def _shielded(work: Awaitable[T]) -> T:
    """Await `work`, which takes milliseconds; a cancellation is raised after it has ended."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


@asynccontextmanager
async def _stored(run: StoredRun) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    with needs_extra("--store postgresql://", extra="postgres"):
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import AsyncConnection, Error
        from psycopg.rows import dict_row
    try:
        async with await AsyncConnection.connect(
            run.address.url, autocommit=True, row_factory=dict_row, **CONNECTION
        ) as connection:
            await connection.execute(f"SET search_path TO {SCHEMA}")
            saver = _saver(AsyncPostgresSaver, connection)
            await _make_tables(connection, saver)
            yield saver
    except Error as error:
        why = run.address.without_secrets(error)
        raise RunError(
            f"{run}: the checkpoints cannot be used: {why}; finished work is kept; run the same "
            "command to resume"
        ) from None
    run.forget_checkpoints()


async def _make_tables(connection: Any, saver: Any) -> None:
    """Create LangGraph's tables, one machine at a time.

    The lock is polled, not waited for: CREATE INDEX CONCURRENTLY waits for every open statement,
    so that one blocked in a lock would block it (deadlock).
    """
    while not await _answer(connection, "pg_try_advisory_lock"):
        await asyncio.sleep(0.1)
    try:
        await saver.setup()
    finally:
        await _answer(connection, "pg_advisory_unlock")


async def _answer(connection: Any, function: str) -> bool:
    cursor = await connection.execute(f"SELECT {function}(%s) AS answer", (_MIGRATING,))
    return bool((await cursor.fetchone())["answer"])
