"""The cache in PostgreSQL, with claims so that only one machine makes a call.

A claim is a row: the process that inserts it makes the call, and the others wait for the reply.
Each cache object is an owner that renews its lease every few seconds; claims of an owner whose
lease has expired may be taken over.
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
"""The time without a renewal after which an owner counts as dead."""
_PAGE = 500

_GET = f"SELECT stored FROM {SCHEMA}.replies WHERE key = %s"  # noqa: S608  # a constant
_PUT = f"""
WITH done AS (DELETE FROM {SCHEMA}.claims WHERE key = %s AND owner = %s)
INSERT INTO {SCHEMA}.replies (key, stored) VALUES (%s, %s)
ON CONFLICT (key) DO UPDATE SET stored = EXCLUDED.stored
"""  # noqa: S608
# A claim is taken over only from a dead owner. It must be older than the lease, since the row of a
# new owner may be younger than this statement's snapshot; and the server must have been up for that
# long, so that live owners could renew their leases after a restart.
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

    Damaged data is never returned: a bad row is moved to the table ``quarantine``, `warn` is
    called, and the entry counts as absent. Values are JSON with a checksum, never pickles. The
    cache is thread-safe. An owner's claims expire ``lease_seconds`` after its last renewal.
    ``patience_seconds`` and the errors are those of `Server`.
    """

    def __init__(
        self,
        address: StoreAddress,
        *,
        warn: Callable[[str], None] | None = None,
        lease_seconds: float | None = None,
        patience_seconds: float | None = None,
    ) -> None:
        self.path = address.display_name
        self._warn = warn or logging.getLogger(__name__).warning
        self._server = Server(address, patience_seconds=patience_seconds)
        self._owner = uuid.uuid4().hex
        self._lease_seconds = LEASE_SECONDS if lease_seconds is None else lease_seconds
        self._renewal_thread: threading.Thread | None = None
        self._start_lock = threading.Lock()
        self._close_event = threading.Event()

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value stored under `key`, or None."""
        rows = ((key, content) for (content,) in self._server.run(_GET, (key,)))
        return next((row.value for row in self._check_rows(rows) if row.problem is None), None)

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Store `value` under `key` and release this cache's claim on it, in one transaction."""
        content = encode_row(key, value).encode("utf-8", "surrogatepass")
        self._server.run(_PUT, (key, self._owner, key, content))

    def claim(self, key: str, *, ticket: str) -> bool:
        """Return whether the caller, identified by `ticket`, must make the call for `key`.

        If so, the caller first reads the value again, since another process may have stored it,
        makes the call, and releases the claim with `put` or `release`. False means that another
        process is making the call.
        """
        self._start_renewal()
        lease = self._lease_seconds
        return bool(self._server.run(_CLAIM, (key, self._owner, ticket, lease, lease)))

    def release(self, key: str) -> None:
        """Release the claim on `key` without a value; if the server is unreachable, it expires."""
        with suppress(StoreError):
            self._server.run(_RELEASE, (key, self._owner))

    def check(self) -> None:
        """Wait until the server answers; raise `StoreError` if it does not."""
        self._server.run("SELECT 1")

    def items(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield every valid (key, value), sorted by key; bad rows are quarantined."""
        return (
            (row.key, row.value) for row in self._check_rows(self._rows()) if row.problem is None
        )

    def stats(self) -> CacheStats:
        """Return the number of entries and their size."""
        ((n_entries, size_bytes, n_quarantined),) = self._server.run(_STATS)
        return CacheStats(
            path=self.path,
            n_entries=n_entries,
            size_bytes=size_bytes,
            n_quarantined=n_quarantined,
        )

    def verify(self) -> CacheReport:
        """Read every row and quarantine the bad ones."""
        n_sound, bad_rows = 0, []
        for row in self._check_rows(self._rows()):
            if row.problem is None:
                n_sound += 1
            else:
                bad_rows.append(str(row))
        return CacheReport(n_sound=n_sound, refused=tuple(bad_rows))

    def sync(self) -> None:
        """Do nothing: the server has written committed rows to disk."""

    def clear(self) -> int:
        """Remove every entry and return their number; the quarantine stays."""
        ((n_cleared,),) = self._server.run(_CLEAR)
        return int(n_cleared)

    def secret(self) -> bytes:
        """Return the secret for marks around untrusted text, shared by all machines."""
        rows = self._server.run(_SECRET)
        if not rows:
            self._server.run(_MAKE_SECRET, (new_secret(),))
            rows = self._server.run(_SECRET)
        return bytes(rows[0][0])

    def close(self) -> None:
        """Release this cache's claims and close its connections."""
        self._close_event.set()
        if self._renewal_thread is not None:
            self._renewal_thread.join()
            with suppress(StoreError):
                self._server.run(_LEAVE, (self._owner, self._owner))
        self._server.close()

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        last = ""
        while page := self._server.run(_NEXT, (last,)):
            last = page[-1][0]
            yield from page

    def _check_rows(self, rows: Iterable[tuple[str, bytes]]) -> Iterator[CheckedRow]:
        """Yield all rows, after quarantining bad ones."""
        for key, content in rows:
            checked_row = check_row(key, content, errors="surrogatepass")
            if checked_row.problem is not None:
                self._quarantine(key, content, checked_row.problem)
            yield checked_row

    def _quarantine(self, key: str, content: bytes, problem: str) -> None:
        self._server.run(_MOVE_ASIDE, (key, content, problem))
        self._warn(
            f"the store {self.path} contained a bad row {key[:12]} ({problem}); "
            "it was moved to the table quarantine, and its request will be repeated"
        )

    def _start_renewal(self) -> None:
        """Start the thread that renews the lease, at the first call."""
        with self._start_lock:
            if self._renewal_thread is None:
                self._server.run(_ALIVE, (self._owner, self._lease_seconds))
                self._renewal_thread = threading.Thread(target=self._renew_lease, daemon=True)
                self._renewal_thread.start()

    def _renew_lease(self) -> None:
        while not self._close_event.wait(self._lease_seconds / 5):
            with suppress(StoreError):  # raised by the next call that needs the server
                self._server.run(_ALIVE, (self._owner, self._lease_seconds))
