"""The cache on disk: diskcache without pickle, shared by processes, checked on every read.

A row is one line of text: a checksum of key and value, then the value as JSON. diskcache's own
serialization falls back to pickle, which can execute code planted by anyone with write access to
the folder (CVE-2025-69872); a row in that mode is quarantined and never unpickled.
"""

from __future__ import annotations

import base64
import functools
import json
import logging
import os
import sqlite3
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import diskcache
from diskcache.core import DBNAME, MODE_RAW, UNKNOWN

from fairjudge.cache.claims import Claims
from fairjudge.cache.rows import (
    CacheReport,
    CacheStats,
    CheckedRow,
    InvalidRowError,
    check_row,
    decode_row,
    encode_row,
)
from fairjudge.cache.secret import folder_secret
from fairjudge.errors import CacheError

Warn = Callable[[str], None]

BUSY_TIMEOUT_SECONDS = 10.0
BUSY_ATTEMPTS = 6

_INVALID_MODE = "it is not text written by this cache (mode {}), so it is not read"
_SETTINGS: Mapping[str, Any] = {
    "eviction_policy": "none",  # reading a row must not write one
    "statistics": 0,
    "cull_limit": 0,
    "size_limit": 2**62,
    "disk_min_file_size": 2**31,  # all values are stored in the database
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    "sqlite_mmap_size": 2**28,
    "sqlite_auto_vacuum": 0,
    "sqlite_wal_autocheckpoint": 4000,
}
QUARANTINE = "quarantine"
"""The folder of damaged rows and databases: kept for inspection, never read as replies."""
_QUARANTINED_ROWS = "rows.jsonl"
_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "encrypted")
_CHECKPOINT_BYTES = 2**22
"""The size of the write-ahead log from which `ReplyCache.sync` checkpoints it, well below the 4,000
pages at which SQLite does so during a write."""


class JsonDisk(diskcache.Disk):  # type: ignore[misc]
    """A diskcache storage of JSON text under text keys, without pickle or files."""

    def put(self, key: object) -> tuple[str, bool]:
        """Return the database key."""
        if not isinstance(key, str):
            raise TypeError(f"a cache key must be text, not {key!r}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return the cache key of a database key."""
        if not isinstance(key, str) or not raw:
            raise InvalidRowError("its key is not text")
        return key

    def store(self, value: Any, read: object, key: Any = UNKNOWN) -> tuple[int, int, None, str]:
        """Return the columns of the row of `value`: size, mode, file name and text."""
        if read:
            raise TypeError("a cache value must be JSON, not a file")
        text = encode_row(key, value)
        return len(text), MODE_RAW, None, text

    def fetch(self, mode: int, filename: str | None, value: object, read: object) -> str:
        """Return the text of a row; `decode_row` checks it."""
        if mode != MODE_RAW or filename is not None or not isinstance(value, str) or read:
            raise InvalidRowError(_INVALID_MODE.format(mode))
        return value


def default_cache_dir() -> Path:
    """Return the user's cache folder for FairJudge (it need not exist)."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "fairjudge"


class ReplyCache:
    """JSON values by key, in a folder that any number of processes may share.

    Damaged data is never returned: a bad row is moved to ``quarantine/rows.jsonl``, a broken
    database to ``quarantine/``. Then `warn` (by default the logger) is called, and the entry counts
    as absent. The folder, by default `default_cache_dir`, is created if absent; an unusable folder
    raises `CacheError`.
    """

    def __init__(self, path: str | Path | None = None, *, warn: Warn | None = None) -> None:
        self.path = default_cache_dir() if path is None else Path(path)
        self._warn = warn or logging.getLogger(__name__).warning
        self._warn_once = functools.cache(self._warn)
        self._disk = self._open()
        self.claims = Claims(self.path)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value stored under `key`, or None."""
        try:
            row = self._disk.get(key)
            return None if row is None else decode_row(key, row)
        except (InvalidRowError, ValueError) as error:
            self._quarantine(key, str(error))
        except sqlite3.DatabaseError as error:
            if "decode to UTF-8" in str(error):
                self._quarantine(key, "it is not UTF-8")
            else:
                self._recover(error)
        return None

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Store `value`, a JSON object, under `key`.

        Raises `CacheError` if it cannot be written (disk full, folder read-only, database locked
        for a minute).
        """
        for may_recover in (True, False):
            try:
                self._write(key, value)
            except (sqlite3.DatabaseError, diskcache.Timeout, OSError) as error:
                is_damaged = isinstance(error, sqlite3.DatabaseError) and _is_damage(error)
                if not (is_damaged and may_recover):
                    sentence = (
                        f"cannot write to the cache {self.path}: {error or 'it remains locked'}"
                    )
                    raise CacheError(sentence) from error
                self._recover(error)
            else:
                return

    def items(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield all valid (key, value) pairs in the order stored; bad rows are quarantined."""
        try:
            yield from ((row.key, row.value) for row in self._check_rows() if row.problem is None)
        except sqlite3.DatabaseError as error:
            self._recover(error)

    def stats(self) -> CacheStats:
        """Return the number of entries and their size."""
        files = [file for file in self.path.glob(f"{DBNAME}*") if file.is_file()]
        return CacheStats(
            path=self.path,
            n_entries=self._query("SELECT count(*) FROM Cache")[0][0],
            size_bytes=sum(file.stat().st_size for file in files),
            n_quarantined=_n_quarantined(self.path),
        )

    def verify(self) -> CacheReport:
        """Read every row and quarantine the bad ones."""
        n_sound, bad_rows = 0, []
        try:
            self._check_database()
            for row in self._check_rows():
                if row.problem is None:
                    n_sound += 1
                else:
                    bad_rows.append(str(row))
        except sqlite3.DatabaseError as error:
            if not self._recover(error):
                raise CacheError(f"cannot read the cache {self.path}: {error}") from error
            bad_rows.append(f"the database: {error}")
        return CacheReport(n_sound=n_sound, refused=tuple(bad_rows))

    def clear(self) -> int:
        """Remove every entry and return their number; the quarantine stays."""
        return int(self._disk.clear(retry=True))

    def sync(self) -> None:
        """Force every entry to disk; before that, an entry survives a kill but not a power cut.

        SQLite's write-ahead log is synced as a whole: one wait for many entries. May run in a
        thread while other threads read and write.
        """
        try:
            log = os.open(self.path / f"{DBNAME}-wal", os.O_RDWR)
        except OSError:  # without a log all entries are in the database, which SQLite syncs
            return
        try:
            os.fsync(log)
            if os.fstat(log).st_size >= _CHECKPOINT_BYTES:
                self._query("PRAGMA wal_checkpoint(PASSIVE)")
        except (OSError, sqlite3.Error) as error:
            self._warn_once(f"cannot write to the cache {self.path}: {error!r}")
        finally:
            os.close(log)

    def secret(self) -> bytes:
        """Return the secret for marks around untrusted text, shared by all users of this folder."""
        return folder_secret(self.path)

    def close(self) -> None:
        """Close this thread's connection, and release this process's claims."""
        self.claims.close()
        self._disk.close()

    def _check_database(self) -> None:
        ((state,),) = self._query("PRAGMA quick_check(1)")
        if state != "ok":
            raise sqlite3.DatabaseError(f"malformed: {state}")

    def _open(self) -> Any:
        for _ in range(BUSY_ATTEMPTS):
            try:
                return diskcache.Cache(
                    str(self.path), timeout=BUSY_TIMEOUT_SECONDS, disk=JsonDisk, **_SETTINGS
                )
            except OSError as error:
                raise CacheError(f"cannot use {self.path} as a cache folder: {error}") from error
            except Exception as error:
                # diskcache reads its settings from the database: a damaged one raises anything.
                if _is_damage(error):
                    self._warn_quarantined(error, _quarantine_database(self.path))
                elif "locked" not in str(error) and not self._forget_settings(error):
                    raise CacheError(f"cannot use the cache {self.path}: {error}") from error
        raise CacheError(f"cannot open the cache {self.path}: it remains locked or damaged")

    def _forget_settings(self, error: Exception) -> bool:
        """Delete diskcache's settings, to be recreated; return whether there were any."""
        try:
            n_settings = self._query("SELECT count(*) FROM Settings")[0][0]
            self._query("DELETE FROM Settings")
        except sqlite3.Error:
            return False
        if n_settings:
            self._warn(
                f"the cache {self.path} contained damaged settings ({error}); they were recreated"
            )
        return bool(n_settings)

    def _write(self, key: str, value: Mapping[str, Any]) -> None:
        for attempt in range(BUSY_ATTEMPTS):
            try:
                self._disk.set(key, value)
            except diskcache.Timeout:
                # diskcache raises Timeout for any failed BEGIN; only a busy database recovers.
                if attempt == BUSY_ATTEMPTS - 1 or not os.access(self.path / DBNAME, os.W_OK):
                    raise
            else:
                return

    def _recover(self, error: Exception) -> bool:
        """Replace a damaged database by a new one; return whether it was damaged."""
        if not _is_damage(error):
            self._warn_once(f"the cache {self.path} cannot be used now: {error}")
            return False
        self._disk.close()
        self._warn_quarantined(error, _quarantine_database(self.path))
        self._disk = self._open()
        return True

    def _check_rows(self) -> Iterator[CheckedRow]:
        """Yield all rows in the order stored, after quarantining bad ones."""
        last = -(2**63)
        while batch := self._select("rowid > ? ORDER BY rowid LIMIT 500", last):
            last = batch[-1].rowid
            for row in batch:
                checked_row = row.check()
                if checked_row.problem is not None:
                    self._remove(row, checked_row.problem)
                yield checked_row

    def _select(self, condition: str, parameter: object) -> list[_Row]:
        columns = self._query(f"SELECT {_Row.COLUMNS} FROM Cache WHERE {condition}", parameter)  # noqa: S608
        return [_Row(*row) for row in columns]

    def _query(self, sql: str, *parameters: object) -> list[Any]:
        with closing(
            sqlite3.connect(self.path / DBNAME, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None)
        ) as database:
            return database.execute(sql, parameters).fetchall()

    def _quarantine(self, key: str, reason: str) -> None:
        try:
            for row in self._select("raw = 1 AND key = ?", key):
                self._remove(row, reason)
        except (sqlite3.Error, OSError) as error:
            self._warn_once(
                f"the cache {self.path} contains a bad row that cannot be removed: {error}"
            )

    def _remove(self, row: _Row, problem: str) -> None:
        _quarantine_row(self.path, row.name, problem, row.value)
        self._query("DELETE FROM Cache WHERE rowid = ?", row.rowid)
        self._warn(
            f"the cache {self.path} contained a bad row {row.name[:12]} ({problem}); "
            f"it was moved to {QUARANTINE}, and its request will be repeated"
        )

    def _warn_quarantined(self, error: Exception, folder: Path | None) -> None:
        if folder is not None:
            self._warn(
                f"the cache database was damaged ({error}); it was moved to {folder} and recreated"
            )


@dataclass(frozen=True, slots=True)
class _Row:
    """A raw database row, read as bytes: a damaged row may have any type in any column."""

    rowid: int
    key: bytes
    value: bytes
    mode: int
    form: str

    COLUMNS: ClassVar[str] = (
        "rowid, ifnull(CAST(key AS BLOB), x''), ifnull(CAST(value AS BLOB), x''), mode,"
        " typeof(key) || ' ' || raw || ' ' || typeof(value) || ' ' || ifnull(filename, '')"
    )

    @property
    def name(self) -> str:
        return self.key.decode("utf-8", "replace")

    def check(self) -> CheckedRow:
        if self.mode != MODE_RAW or self.form != "text 1 text ":
            return CheckedRow(self.name, _INVALID_MODE.format(self.mode), {})
        return check_row(self.name, self.value)


def _is_damage(error: Exception) -> bool:
    """Return whether `error` means that the database is damaged, not busy or full."""
    return any(sign in str(error) for sign in _DAMAGE)


def _n_quarantined(folder: Path) -> int:
    """Return the number of rows and databases in the quarantine of the cache `folder`."""
    quarantine = folder / QUARANTINE
    databases = list(quarantine.glob(f"*/{DBNAME}"))
    rows = quarantine / _QUARANTINED_ROWS
    n_rows = len(rows.read_bytes().splitlines()) if rows.exists() else 0
    return len(databases) + n_rows


def _quarantine_row(folder: Path, key: str, problem: str, content: bytes) -> None:
    """Append a bad row to the quarantine, in base64, since it may contain any bytes."""
    quarantine = folder / QUARANTINE
    quarantine.mkdir(exist_ok=True)
    line = {"key": key, "problem": problem, "stored_base64": base64.b64encode(content).decode()}
    with (quarantine / _QUARANTINED_ROWS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _quarantine_database(folder: Path) -> Path | None:
    """Move the damaged database of the cache `folder` to the quarantine and return its new folder.

    Returns None if another process has already replaced it.
    """
    if _is_sound(folder / DBNAME):
        return None
    target = folder / QUARANTINE / uuid.uuid4().hex[:12]
    target.mkdir(parents=True)
    for suffix in ("", "-wal", "-shm"):
        source = folder / (DBNAME + suffix)
        if source.exists():
            os.replace(source, target / source.name)  # noqa: PTH105
    return target


def _is_sound(database: Path) -> bool:
    if not database.exists():
        return True
    try:
        with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_SECONDS)) as connection:
            state = connection.execute("PRAGMA quick_check(1)").fetchone()
            connection.execute("SELECT key, raw, mode, filename, value FROM Cache LIMIT 1")
    except sqlite3.DatabaseError:
        return False
    return bool(state and state[0] == "ok")
