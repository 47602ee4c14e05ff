"""The PostgreSQL server of a shared store: connections, tables, errors.

All statements are idempotent, so that after a lost connection the statement is repeated on a new
one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, LifoQueue
from typing import TYPE_CHECKING, Any

from fairjudge.errors import StoreError, needs_extra
from fairjudge.records.address import StoreAddress

if TYPE_CHECKING:
    import psycopg

SCHEMA = "fairjudge"
PATIENCE_SECONDS = 30.0
"""Maximum wait for an unreachable server; a restart or a failover takes less."""
_MAX_CONNECTIONS = 8
_CONNECT_SECONDS = 10
_TABLES_LOCK = 0x66_6A_73_74
"""PostgreSQL advisory lock for creating tables; concurrent CREATE ... IF NOT EXISTS may fail."""

CONNECTION: dict[str, Any] = {
    "connect_timeout": _CONNECT_SECONDS,
    "application_name": "fairjudge",
    "prepare_threshold": None,  # statement-level poolers lose prepared statements
    # Each side detects within a minute that the other machine is down.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""Parameters of every connection."""

_LAST_TABLE = f"{SCHEMA}.secrets"
_TABLES = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.replies (
    key text PRIMARY KEY,
    stored bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.quarantine (
    key text NOT NULL,
    problem text NOT NULL,
    stored bytea NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.owners (
    owner text PRIMARY KEY,
    alive_until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.claims (
    key text PRIMARY KEY,
    owner text NOT NULL,
    ticket text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.runs (
    run text PRIMARY KEY,
    name text NOT NULL,
    manifest text NOT NULL
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.run_rows (
    run text NOT NULL,
    kind text NOT NULL,
    place bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (run, kind, place)
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.secrets (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    secret bytea NOT NULL
);
"""


class Server:
    """A thread-safe pool of connections to one database, opened when needed.

    A statement waits up to ``patience_seconds`` (by default `PATIENCE_SECONDS`) for an unreachable
    server; after one such wait has failed, the next statements do not wait. At most
    ``max_connections`` are open at a time. ``prepare`` is called with every new connection before
    its first use. An unreachable server, and tables that cannot be created, raise `StoreError`.
    """

    def __init__(
        self,
        address: StoreAddress,
        *,
        patience_seconds: float | None = None,
        max_connections: int = _MAX_CONNECTIONS,
        prepare: Callable[[Any], None] | None = None,
    ) -> None:
        self.address = address
        self._patience_seconds = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        self._given_up = False
        self._prepare = prepare
        with needs_extra("--store postgresql://", extra="postgres"):
            import psycopg
        self._psycopg: Any = psycopg
        self._idle: LifoQueue[psycopg.Connection[Any]] = LifoQueue()
        self._free_connections = threading.BoundedSemaphore(max_connections)
        self._make_tables()

    def run(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one idempotent statement and return its rows; raise `StoreError` if it fails."""
        deadline = time.monotonic() + (0.0 if self._given_up else self._patience_seconds)
        wait_seconds = 0.1
        while True:
            try:
                return self._run_once(statement, parameters)
            except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
                if time.monotonic() + wait_seconds > deadline:
                    self._given_up = True
                    raise self.error("became unreachable", error) from None
            except self._psycopg.Error as error:
                raise self.error("cannot be used", error) from None
            time.sleep(wait_seconds)
            wait_seconds = min(2.0, wait_seconds * 2)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def error(self, problem: str, error: Exception) -> StoreError:
        """Return the error for a user: store, problem and reason, without the password."""
        reason = self.address.without_secrets(error) or type(error).__name__
        return StoreError(
            f"the store {self.address} {problem}: {reason}; finished work is kept; run the same "
            "command to resume"
        )

    def _run_once(self, statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._connection() as connection:
            cursor = connection.execute(statement, parameters or None)
            self._given_up = False
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        with self._free_connections:
            try:
                connection = self._idle.get_nowait()
            except Empty:
                connection = self._connect()
            try:
                yield connection
            finally:
                if connection.broken or connection.closed:
                    connection.close()
                else:
                    self._idle.put(connection)

    def _connect(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            self.address.url, autocommit=True, **CONNECTION
        )
        if self._prepare is not None:
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _make_tables(self) -> None:
        try:
            if self._run_once("SELECT to_regclass(%s)", (_LAST_TABLE,)) != [(None,)]:
                return  # not every user has the right to create tables
            with self._connection() as connection, connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLES_LOCK,))
                connection.execute(_TABLES)
        except self._psycopg.Error as error:
            self.close()
            unreachable = isinstance(error, self._psycopg.OperationalError)
            problem = "cannot be reached" if unreachable else "cannot be used"
            raise self.error(problem, error) from None
