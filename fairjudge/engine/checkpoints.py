"""A run's checkpoints, in its folder or in the shared store; they never hold executable code."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fairjudge.errors import RunError, needs_extra
from fairjudge.records.folder import RunStore
from fairjudge.records.postgres import StoredRun
from fairjudge.records.server import CONNECTION, SCHEMA

T = TypeVar("T")

_MIGRATING = 0x66_6A_63_70
"""PostgreSQL advisory lock under which LangGraph's tables are made and migrated."""


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
            f"{run}: the checkpoints cannot be used: {why}; what is done is kept, and the same "
            "command resumes"
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
