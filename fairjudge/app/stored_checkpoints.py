"""A run's checkpoints in the shared store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from fairjudge.errors import MissingExtraError, RunError
from fairjudge.stores.runs import StoredRun
from fairjudge.stores.server import CONNECTION, SCHEMA

_MIGRATING = 0x66_6A_63_70
"""The advisory lock under which LangGraph's tables are made and brought up to date."""


@asynccontextmanager
async def stored_checkpoints(run: StoredRun) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the checkpoints of `run`, and delete them when it has ended well.

    Raises
    ------
    RunError
        If the server goes away.
    MissingExtraError
        If the package of LangGraph's checkpoints in PostgreSQL is not installed.
    """
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import AsyncConnection, Error
        from psycopg.rows import dict_row
    except ImportError:
        raise MissingExtraError("--store postgresql://", extra="postgres") from None
    try:
        async with await AsyncConnection.connect(
            run.address.url, autocommit=True, row_factory=dict_row, **CONNECTION
        ) as connection:
            await connection.execute(f"SET search_path TO {SCHEMA}")
            # Plain values only: the store's rows may not name code to be run on reading them.
            saver = AsyncPostgresSaver(
                connection, serde=JsonPlusSerializer(allowed_msgpack_modules=())
            )
            await _make_tables(connection, saver)
            yield saver
    except Error as error:
        why = run.address.without_secrets(error)
        raise RunError(
            f"{run}: the checkpoints cannot be used: {why}; what is done is kept, and the same "
            "command goes on from there"
        ) from None
    run.forget_checkpoints()


async def _make_tables(connection: Any, saver: Any) -> None:
    """Make LangGraph's tables, one machine at a time.

    The lock is tried and not waited for: its making of indexes waits for whatever others wait in.
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
