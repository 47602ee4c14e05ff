"""A run whose manifest and rows lie in the shared store, so that any machine may resume it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fairjudge.errors import RunError
from fairjudge.records import SCHEMA_VERSION, differences
from fairjudge.stores.address import StoreAddress
from fairjudge.stores.server import SCHEMA, Server

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
LOCK_SECONDS = 10.0
"""How long the end of a killed run may take to reach the server."""
_SESSION = """
SELECT set_config('synchronous_commit', 'off', false),
       set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false)
"""
"""Rows need not reach the disk one by one: checkpoints do, later, and the log that makes them
durable is written in order. A machine that lost power loses its lock within a minute."""


class StoredRun:
    """One run in the store, locked while open; what `fairjudge.records.RunFolder` is in a folder.

    Parameters
    ----------
    name : str
        The run's name; the same name is the same run on every machine.
    identity : mapping
        As for `fairjudge.records.RunFolder`.
    address : StoreAddress
    patience_seconds : float, optional
        As for `Server`.
    """

    def __init__(
        self,
        name: str,
        *,
        identity: Mapping[str, Any],
        address: StoreAddress,
        patience_seconds: float | None = None,
    ) -> None:
        self.address = address
        self.path = Path(name)
        self._name = name.encode("utf-8", "replace").decode()
        self.shown = f"{self._name} in {address}"
        self._key = hashlib.sha256(self._name.encode()).hexdigest()[:32]
        self._identity = json.loads(json.dumps(identity))
        self._patience_seconds = patience_seconds
        self._opened: Server | None = None
        self._n_rows: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._opened = Server(
            self.address,
            patience_seconds=self._patience_seconds,
            most_connections=1,  # the one that holds the lock
            prepare=self._lock,
        )
        try:
            self._check_manifest()
        except BaseException:
            self._opened.close()
            raise
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        self._opened = None
        self._n_rows.clear()

    def __str__(self) -> str:
        return self.shown

    @property
    def _server(self) -> Server:
        if self._opened is None:
            raise RunError(f"{self}: this run is not open")
        return self._opened

    def append(self, name: str, row: Mapping[str, Any]) -> None:
        """Append one row to those called `name`."""
        if name not in self._n_rows:
            ((self._n_rows[name],),) = self._server.run(_COUNT, (self._key, name))
        self._n_rows[name] += 1
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        content = text.encode("utf-8", errors="replace")
        self._server.run(_APPEND, (self._key, name, self._n_rows[name], content))

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows called `name` in the order in which they were appended."""
        last = 0
        while page := self._server.run(_READ, (self._key, name, last)):
            for place, content in page:
                yield self._row(name, place, content)
            last = page[-1][0]

    def peek(self, name: str) -> list[dict[str, Any]]:
        """Return the rows called `name` without opening the run; none where there is no such run.

        Another one may be writing them.
        """
        self._opened = Server(self.address, patience_seconds=self._patience_seconds)
        try:
            return list(self.read(name))
        finally:
            self._opened.close()
            self._opened = None

    def sync(self) -> None:
        """Do nothing: the server keeps what it took."""

    def thread(self, name: str) -> str:
        """Return what the checkpoints of this run's `name` are kept under."""
        return f"{self._key}/{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}"

    def forget_checkpoints(self) -> None:
        """Delete this run's checkpoints, once it is finished: its rows say all."""
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            self._server.run(
                f"DELETE FROM {SCHEMA}.{table} WHERE thread_id LIKE %s",  # noqa: S608
                (f"{self._key}/%",),
            )

    def _row(self, name: str, place: int, content: bytes) -> dict[str, Any]:
        try:
            row = json.loads(content)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise RunError(
                f"{self}: row {place} of {name} is not one that this run wrote; choose another "
                "--run name (the store keeps every reply)"
            )
        return row

    def _check_manifest(self) -> None:
        text = json.dumps({"schema": SCHEMA_VERSION, "identity": self._identity})
        self._server.run(_TAKE, (self._key, self._name, text))
        ((manifest,),) = self._server.run(_MANIFEST, (self._key,))
        try:
            found = dict(json.loads(manifest)["identity"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RunError(f"{self}: not a run's manifest; choose another --run name") from None
        if found != self._identity:
            raise RunError(
                f"{self}: this is another run (it differs in "
                f"{', '.join(differences(found, self._identity))}); give the same arguments to "
                "resume it, or another --run name"
            )

    def _lock(self, connection: Any) -> None:
        """Take the run's lock for as long as `connection` lives."""
        number = int(self._key[:15], 16)
        deadline = time.monotonic() + LOCK_SECONDS
        connection.execute(_SESSION)
        while True:
            ((taken,),) = connection.execute("SELECT pg_try_advisory_lock(%s)", (number,))
            if taken:
                return
            if time.monotonic() > deadline:
                raise RunError(
                    f"{self}: another run of this name is under way, or died within the last minute"
                )
            time.sleep(0.1)
