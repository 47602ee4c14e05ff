"""The in-process engine: LangGraph graphs with the run's checkpoints.

Checkpoints are in the run's folder or in the shared store, and never contain executable code.
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

_TABLES_LOCK = 0x66_6A_63_70
"""PostgreSQL advisory lock for creating and migrating LangGraph's tables."""
_THREAD = "judge"
_CHUNK = 64
"""Minimum number of tasks between two checkpoints; half the concurrent calls if that is more."""
_SYNC_SECONDS = 0.5
"""Minimum time between two syncs to disk; a power cut loses at most the work of this time."""
_CALLS_PER_CLUSTER = 8
"""Typical number of concurrent calls of a cluster, to determine how many are built at once."""


async def judge_tasks(
    book: JudgementBook,
    *,
    judge: Judge,
    fallback: Judge | None,
    concurrency: int,
    progress: Callable[[int], None],
    sync: Callable[[], None] = lambda: None,
) -> None:
    """Judge the pending tasks of `book`.

    A killed run is resumed first. Then tasks left unscored because of a server error or an
    exhausted budget are retried. ``sync`` forces cached replies to disk.
    """
    run = book.run

    def record(position: int, judgement: Judgement) -> None:
        book.record(position, judgement)
        progress(1)

    synced_at = time.monotonic()

    async def settle() -> None:
        nonlocal synced_at
        if time.monotonic() - synced_at >= _SYNC_SECONDS:
            synced_at = time.monotonic()
            await asyncio.to_thread(_call_all, sync, run.sync)

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
    # Enough chunks to use the full concurrency despite slow replies.
    limit = 2 * concurrency // chunk_size + 2
    async with checkpoints(run) as saver:
        graph = build_judge_graph(checkpointer=saver)
        run_options: Any = {
            "thread": run.thread(_THREAD),
            "context": deps,
            "max_concurrency": limit,
        }
        await resume(graph, **run_options)
        book.reopen_retryable()
        await start(graph, **run_options)
    _call_all(sync, run.sync)


def _call_all(*calls: Callable[[], None]) -> None:
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
    """Build the pending clusters of `book`, several at once if `concurrency` permits.

    A cluster with missing answers because of a server error or an exhausted budget is rebuilt when
    the command is rerun, with its earlier answers from the cache.
    """
    # A late import: it needs SciPy's clustering, which judging does not.
    from fairjudge.engine.build_work import build_cluster, graph_for

    async with checkpoints(book.run) as saver:
        graph = graph_for(builder, checkpointer=saver)

        async def build(cluster: Cluster) -> None:
            thread = book.run.thread(f"{cluster.eid}#{book.n_attempts[cluster.eid]}")
            row = await build_cluster(
                graph,
                cluster,
                thread=thread,
                builder=builder,
                options=options,
                concurrency=concurrency,
                progress=progress.stages(cluster.eid),
            )
            book.record(row)
            await saver.adelete_thread(thread)  # each step stores all articles again
            progress.end(cluster.eid)

        await _run_all(
            build, book.pending(), max_concurrent=max(1, concurrency // _CALLS_PER_CLUSTER)
        )


async def _run_all(
    work: Callable[[Cluster], Awaitable[None]], clusters: Iterable[Cluster], *, max_concurrent: int
) -> None:
    """Await `work` on all `clusters` concurrently; the first error cancels the rest."""
    queue = iter(clusters)

    async def worker() -> None:
        for cluster in queue:
            await work(cluster)

    workers = [asyncio.create_task(worker()) for _ in range(max_concurrent)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def checkpoints(run: RunStore) -> AbstractAsyncContextManager[BaseCheckpointSaver[Any]]:
    """Open the checkpoints of `run`; those in a store are deleted after success."""
    return _postgres_saver(run) if isinstance(run, StoredRun) else _sqlite_saver(run.path)


def _saver(make: Any, connection: Any) -> Any:
    """Return a saver that only decodes plain values, so that its rows cannot import code."""
    return make(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=()))


@asynccontextmanager
async def _sqlite_saver(folder: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    path = folder / "checkpoints.sqlite"
    try:
        async with _open_database(path) as connection:
            # A sync per step would take longer than the step; what a power cut loses here is
            # restored from the run's rows and the cache.
            await connection.execute("PRAGMA synchronous=NORMAL")
            saver = _saver(AsyncSqliteSaver, connection)
            await saver.setup()  # deleting a thread requires the tables
            yield saver
    except sqlite3.Error as error:
        raise RunError(
            f"{path}: cannot use the checkpoints: {error}; delete that file to restart the "
            "run; recorded and cached work is not repeated"
        ) from None


@asynccontextmanager
async def _open_database(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """Open a database, and close it even when an interrupt cancels this task.

    aiosqlite's thread calls back into the event loop, which must therefore outlive the connection.
    """
    connection = aiosqlite.connect(path)
    try:
        await _finish(connection)
        yield connection
    finally:
        await _finish(connection.close())


async def _finish(work: Awaitable[T]) -> T:
    """Await `work`, which takes milliseconds; raise a cancellation only after it ends."""
    task = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        raise cancellation
    return task.result()


@asynccontextmanager
async def _postgres_saver(run: StoredRun) -> AsyncIterator[BaseCheckpointSaver[Any]]:
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
        reason = run.address.without_secrets(error)
        raise RunError(
            f"{run}: the checkpoints cannot be used: {reason}; finished work is kept; run the same "
            "command to resume"
        ) from None
    run.forget_checkpoints()


async def _make_tables(connection: Any, saver: Any) -> None:
    """Create LangGraph's tables, one machine at a time.

    The lock is polled: CREATE INDEX CONCURRENTLY waits for all open statements, so that a statement
    waiting for the lock would cause a deadlock.
    """
    while not await _call_lock_function(connection, "pg_try_advisory_lock"):
        await asyncio.sleep(0.1)
    try:
        await saver.setup()
    finally:
        await _call_lock_function(connection, "pg_advisory_unlock")


async def _call_lock_function(connection: Any, function: str) -> bool:
    cursor = await connection.execute(f"SELECT {function}(%s) AS answer", (_TABLES_LOCK,))
    return bool((await cursor.fetchone())["answer"])
