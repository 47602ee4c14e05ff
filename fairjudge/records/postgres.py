"""A run whose manifest and rows are in the shared store, so that any machine can resume it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairjudge.errors import RunError
from fairjudge.records.address import StoreAddress
from fairjudge.records.folder import CORRUPT_ROW_MESSAGE, RunStore
from fairjudge.records.sealed import seal, unseal
from fairjudge.records.server import SCHEMA, Server

_PAGE = 1000
_TAKE = f"""
INSERT INTO {SCHEMA}.runs (run, name, manifest) VALUES (%s, %s, %s) ON CONFLICT (run) DO NOTHING
"""  # noqa: S608  # a constant
_MANIFEST = f"SELECT manifest FROM {SCHEMA}.runs WHERE run = %s"  # noqa: S608
_APPEND = f"""
INSERT INTO {SCHEMA}.run_rows (run, kind, place, content) VALUES (%s, %s, %s, %s)
ON CONFLICT (run, kind, place) DO NOTHING
"""  # noqa: S608
_COUNT = f"""
SELECT coalesce(max(place), 0) FROM {SCHEMA}.run_rows WHERE run = %s AND kind = %s
"""  # noqa: S608
_READ = f"""
SELECT place, content FROM {SCHEMA}.run_rows WHERE run = %s AND kind = %s AND place > %s
ORDER BY place LIMIT {_PAGE}
"""  # noqa: S608
_AT = f"""
SELECT place, content FROM {SCHEMA}.run_rows WHERE run = %s AND kind = %s AND place = ANY(%s)
"""  # noqa: S608
LOCK_SECONDS = 10.0
"""Maximum wait for the lock of a run whose process has just been killed."""
_SESSION = """
SELECT set_config('synchronous_commit', 'off', false),
       set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false)
"""
"""Rows are committed asynchronously. Checkpoints are synchronous, and the write-ahead log is
sequential, so that a durable checkpoint implies durable rows before it. Because of the keepalives,
a machine that lost power loses its lock within a minute."""


class StoredRun(RunStore):
    """One run in the store; the same name is the same run on every machine. See `RunStore`."""

    def __init__(
        self,
        name: str,
        *,
        identity: Mapping[str, Any],
        address: StoreAddress,
    ) -> None:
        self._name = name.encode("utf-8", "replace").decode()
        super().__init__(Path(name), display_name=f"{self._name} in {address}", identity=identity)
        self.address = address
        self._key = hashlib.sha256(self._name.encode()).hexdigest()[:32]
        self._open_server: Server | None = None
        self._n_rows: dict[str, int] = {}

    def _open(self) -> None:
        self._open_server = Server(
            self.address,
            max_connections=1,  # it holds the lock
            prepare=self._lock,
        )

    def _close(self) -> None:
        self._server.close()
        self._open_server = None
        self._n_rows.clear()

    @property
    def _server(self) -> Server:
        if self._open_server is None:
            raise RunError(f"{self}: this run is not open")
        return self._open_server

    @contextmanager
    def _any_server(self) -> Iterator[Server]:
        """Yield the open server, or a temporary one."""
        if self._open_server is not None:
            yield self._open_server
            return
        server = Server(self.address)
        try:
            yield server
        finally:
            server.close()

    def append(self, name: str, row: Mapping[str, Any]) -> int:
        """See `RunStore`; positions are 1-based."""
        if name not in self._n_rows:
            ((self._n_rows[name],),) = self._server.run(_COUNT, (self._key, name))
        self._n_rows[name] += 1
        self._server.run(_APPEND, (self._key, name, self._n_rows[name], seal(row)))
        return self._n_rows[name]

    def rows_with_offsets(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """See `RunStore`."""
        for position, row in self._rows(self._server, name):
            if row is not None:
                yield position, row

    def _rows(self, server: Server, name: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
        last = 0
        while page := server.run(_READ, (self._key, name, last)):
            yield from ((position, unseal(content)) for position, content in page)
            last = page[-1][0]

    def rows_at(self, name: str, positions: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunStore`."""
        with self._any_server() as server:
            contents = dict(server.run(_AT, (self._key, name, list(positions))))
        rows = [
            unseal(contents[position]) if position in contents else None for position in positions
        ]
        return self._check_rows(name, rows)

    def peek(self, name: str) -> list[dict[str, Any]]:
        """Return the rows called `name` without opening the run; none if it does not exist.

        Another process may be writing them.
        """
        with self._any_server() as server:
            return self._check_rows(name, [row for _, row in self._rows(server, name)])

    def _check_rows(self, name: str, rows: Sequence[dict[str, Any] | None]) -> list[dict[str, Any]]:
        valid_rows = [row for row in rows if row is not None]
        if len(valid_rows) < len(rows):
            raise RunError(f"{self}: {name} contains a row {CORRUPT_ROW_MESSAGE}")
        return valid_rows

    def sync(self) -> None:
        """Do nothing: committed rows are already durable on the server."""

    def thread(self, name: str) -> str:
        """See `RunStore`."""
        return f"{self._key}/{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}"

    def forget_checkpoints(self) -> None:
        """Delete this run's checkpoints; a finished run needs only its rows."""
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            self._server.run(
                f"DELETE FROM {SCHEMA}.{table} WHERE thread_id LIKE %s",  # noqa: S608
                (f"{self._key}/%",),
            )

    def _manifest(self, manifest: str) -> str:
        self._server.run(_TAKE, (self._key, self._name, manifest))
        ((stored_manifest,),) = self._server.run(_MANIFEST, (self._key,))
        return str(stored_manifest)

    def _lock(self, connection: Any) -> None:
        """Acquire the run's lock, which is released when `connection` closes."""
        number = int(self._key[:15], 16)
        deadline = time.monotonic() + LOCK_SECONDS
        connection.execute(_SESSION)
        while True:
            ((has_lock,),) = connection.execute("SELECT pg_try_advisory_lock(%s)", (number,))
            if has_lock:
                return
            if time.monotonic() > deadline:
                raise RunError(
                    f"{self}: another run of this name is in progress, or was killed less than a "
                    "minute ago"
                )
            time.sleep(0.1)
