"""Replies kept in PostgreSQL, and the claims by which machines agree who asks.

A claim is a row: whoever inserts it asks, and the others wait for the reply. Each cache object is
an owner, which says every few seconds that it is alive; the claims of one that has not said so for
a while may be taken over.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from fairjudge.cache.rows import CacheReport, CacheStats, CheckedRow, check_row, encode_row
from fairjudge.cache.secret import new_secret
from fairjudge.errors import StoreError
from fairjudge.records.address import StoreAddress
from fairjudge.records.server import SCHEMA, Server

LEASE_SECONDS = 15.0
"""An owner that was silent for so long counts as dead."""
_PAGE = 500

_GET = f"SELECT stored FROM {SCHEMA}.replies WHERE key = %s"  # noqa: S608  # a constant
_PUT = f"""
WITH done AS (DELETE FROM {SCHEMA}.claims WHERE key = %s AND owner = %s)
INSERT INTO {SCHEMA}.replies (key, stored) VALUES (%s, %s)
ON CONFLICT (key) DO UPDATE SET stored = EXCLUDED.stored
"""  # noqa: S608
# Taken over from an owner that is dead, which a fresh claim does not show: its owner's own row may
# be younger than what this statement sees. After a restart of the server, those alive first get the
# time to say so.
_CLAIM = f"""
INSERT INTO {SCHEMA}.claims AS held (key, owner, ticket) VALUES (%s, %s, %s)
ON CONFLICT (key) DO UPDATE SET owner = EXCLUDED.owner, ticket = EXCLUDED.ticket, claimed_at = now()
WHERE held.ticket = EXCLUDED.ticket OR (
    held.claimed_at < now() - make_interval(secs => %s)
    AND pg_postmaster_start_time() < now() - make_interval(secs => %s)
    AND NOT EXISTS (
        SELECT FROM {SCHEMA}.owners WHERE owner = held.owner AND alive_until > now()
    )
)
RETURNING true
"""  # noqa: S608
_ALIVE = f"""
INSERT INTO {SCHEMA}.owners (owner, alive_until) VALUES (%s, now() + make_interval(secs => %s))
ON CONFLICT (owner) DO UPDATE SET alive_until = EXCLUDED.alive_until
"""  # noqa: S608
_RELEASE = f"DELETE FROM {SCHEMA}.claims WHERE key = %s AND owner = %s"  # noqa: S608
_LEAVE = f"""
WITH left_behind AS (DELETE FROM {SCHEMA}.claims WHERE owner = %s)
DELETE FROM {SCHEMA}.owners WHERE owner = %s OR alive_until < now() - interval '1 day'
"""  # noqa: S608
_MOVE_ASIDE = f"""
WITH bad AS (DELETE FROM {SCHEMA}.replies WHERE key = %s AND stored = %s RETURNING key, stored)
INSERT INTO {SCHEMA}.quarantine (key, problem, stored) SELECT key, %s, stored FROM bad
"""  # noqa: S608
_NEXT = f"SELECT key, stored FROM {SCHEMA}.replies WHERE key > %s ORDER BY key LIMIT {_PAGE}"  # noqa: S608
_STATS = f"""
SELECT (SELECT count(*) FROM {SCHEMA}.replies),
       pg_total_relation_size('{SCHEMA}.replies'),
       (SELECT count(*) FROM {SCHEMA}.quarantine)
"""  # noqa: S608
_MAKE_SECRET = f"INSERT INTO {SCHEMA}.secrets (secret) VALUES (%s) ON CONFLICT DO NOTHING"  # noqa: S608
_SECRET = f"SELECT secret FROM {SCHEMA}.secrets"  # noqa: S608
_CLEAR = f"""
WITH gone AS (DELETE FROM {SCHEMA}.replies RETURNING 1) SELECT count(*) FROM gone
"""  # noqa: S608


class PostgresCache:
    """JSON values by key, in a database that any number of machines share.

    What is damaged is never an answer: a bad row is moved to the table ``quarantine``, `warn` is
    told, and the entry counts as absent. Values are JSON with a checksum; nothing is ever pickled.
    Safe to use from several threads. An owner's claims hold for ``lease_seconds`` after its last
    sign of life. ``patience_seconds`` and what is raised are as for `Server`.
    """

    def __init__(
        self,
        address: StoreAddress,
        *,
        warn: Callable[[str], None] | None = None,
        lease_seconds: float | None = None,
        patience_seconds: float | None = None,
    ) -> None:
        self.path = address.shown
        self._warn = warn or logging.getLogger(__name__).warning
        self._server = Server(address, patience_seconds=patience_seconds)
        self._owner = uuid.uuid4().hex
        self._lease_seconds = LEASE_SECONDS if lease_seconds is None else lease_seconds
        self._alive: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closing = threading.Event()

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value kept under `key`, or None."""
        stored = ((key, value) for (value,) in self._server.run(_GET, (key,)))
        return next((row.value for row in self._checked(stored) if row.problem is None), None)

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep `value` under `key`, and end this cache's claim on it, in one step."""
        stored = encode_row(key, value).encode("utf-8", "surrogatepass")
        self._server.run(_PUT, (key, self._owner, key, stored))

    def claim(self, key: str, *, ticket: str) -> bool:
        """Say whether the caller, who names himself by `ticket`, is to ask for `key`.

        He then looks once more whether the value is there (it may have come between), asks, and
        ends the claim by `put` or `release`. False means that another one is asking now.
        """
        self._say_alive()
        lease = self._lease_seconds
        return bool(self._server.run(_CLAIM, (key, self._owner, ticket, lease, lease)))

    def release(self, key: str) -> None:
        """End the claim on `key` without a value; where the server is away, its lease ends it."""
        with suppress(StoreError):
            self._server.run(_RELEASE, (key, self._owner))

    def check(self) -> None:
        """Do nothing while the server answers; wait for it, or raise, where it does not."""
        self._server.run("SELECT 1")

    def items(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield every sound (key, value) by key; bad rows are moved aside."""
        return ((row.key, row.value) for row in self._checked(self._rows()) if row.problem is None)

    def stats(self) -> CacheStats:
        """Count what is there."""
        ((n_entries, size_bytes, n_quarantined),) = self._server.run(_STATS)
        return CacheStats(
            path=self.path,
            n_entries=n_entries,
            size_bytes=size_bytes,
            n_quarantined=n_quarantined,
        )

    def verify(self) -> CacheReport:
        """Read every row and move the bad ones aside."""
        n_sound, refused = 0, []
        for row in self._checked(self._rows()):
            if row.problem is None:
                n_sound += 1
            else:
                refused.append(str(row))
        return CacheReport(n_sound=n_sound, refused=tuple(refused))

    def sync(self) -> None:
        """Do nothing: the server has on disk what it took."""

    def clear(self) -> int:
        """Remove every entry and return how many; what is in quarantine stays."""
        ((n_cleared,),) = self._server.run(_CLEAR)
        return int(n_cleared)

    def secret(self) -> bytes:
        """Return what requests are sealed with: the same on all machines, made when first asked."""
        found = self._server.run(_SECRET)
        if not found:
            self._server.run(_MAKE_SECRET, (new_secret(),))
            found = self._server.run(_SECRET)
        return bytes(found[0][0])

    def close(self) -> None:
        """Give up this cache's claims and close its connections."""
        self._closing.set()
        if self._alive is not None:
            self._alive.join()
            with suppress(StoreError):
                self._server.run(_LEAVE, (self._owner, self._owner))
        self._server.close()

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        last = ""
        while page := self._server.run(_NEXT, (last,)):
            last = page[-1][0]
            yield from page

    def _checked(self, rows: Iterable[tuple[str, bytes]]) -> Iterator[CheckedRow]:
        """Yield every row, after moving it aside where it is bad."""
        for key, stored in rows:
            checked = check_row(key, stored, errors="surrogatepass")
            if checked.problem is not None:
                self._move_aside(key, stored, checked.problem)
            yield checked

    def _move_aside(self, key: str, stored: bytes, problem: str) -> None:
        self._server.run(_MOVE_ASIDE, (key, stored, problem))
        self._warn(
            f"the store {self.path} held a bad row {key[:12]} ({problem}); "
            "moved to its table quarantine, to be asked for again"
        )

    def _say_alive(self) -> None:
        """Say so now, once, and from a thread from then on."""
        with self._starting:
            if self._alive is None:
                self._server.run(_ALIVE, (self._owner, self._lease_seconds))
                self._alive = threading.Thread(target=self._stay_alive, daemon=True)
                self._alive.start()

    def _stay_alive(self) -> None:
        while not self._closing.wait(self._lease_seconds / 5):
            with suppress(StoreError):  # whoever asks for something is told
                self._server.run(_ALIVE, (self._owner, self._lease_seconds))
