"""Storage of events: SQLite in WAL mode, one writer, append-only."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self, get_args

from filelock import FileLock

from fairjudge.annotation.board import Event, EventKind
from fairjudge.errors import RunError
from fairjudge.files import check_regular
from fairjudge.records.folder import acquire_lock

_VERSION = "1"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, item TEXT NOT NULL, annotator TEXT NOT NULL, kind TEXT NOT NULL,
    value TEXT, note TEXT NOT NULL, reason TEXT NOT NULL, shown TEXT, seconds REAL,
    at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
    key TEXT PRIMARY KEY, annotator TEXT NOT NULL
);
"""
_INSERT = "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT = """SELECT item, annotator, kind, value, note, reason, shown, seconds, at FROM events
ORDER BY number"""
_FIELDS = ("item", "annotator", "kind", "value", "note", "reason", "shown", "seconds", "at")


class Store:
    """The events of one job, locked against a second process while open.

    Items are stored by name, so that a job over the same items may be planned again (a larger
    budget, another overlap). A commit is on disk when `append` returns. `identity` is a hash of the
    task and its items. Raises RunError if the database is in use, has another identity, or cannot
    be used.
    """

    def __init__(self, path: Path, *, identity: str, items: Sequence[str]) -> None:
        self.path = path
        self._names = tuple(items)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        busy = f"{path}: another 'fairjudge annotate' is using it"
        acquire_lock(self._lock, busy=busy, unusable=f"{path}: cannot be used")
        with ExitStack() as cleanup:
            cleanup.callback(self._lock.release)
            self._open()
            cleanup.callback(self._database.close)
            self._check_facts(identity)
            cleanup.pop_all()

    def _open(self) -> None:
        check_regular(self.path)
        try:
            self.path.touch(mode=0o600, exist_ok=True)
            # The caller's lock ensures that only one thread at a time uses the connection.
            self._database = sqlite3.connect(self.path, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise RunError(f"{self.path}: cannot be used: {error}") from None

    def _check_facts(self, identity: str) -> None:
        if self.fact("version", _VERSION) != _VERSION:
            raise RunError(f"{self.path}: made by another version of FairJudge")
        if self.fact("identity", identity) != identity:
            raise RunError(
                f"{self.path}: contains labels of another task or of other texts; use the same "
                "files, task and scale to continue, or another --output"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and release its lock."""
        self._database.close()
        self._lock.release()

    def fact(self, name: str, default: str) -> str:
        """Return the stored fact `name`; store `default` first if there is none."""
        with self._check_damage(), self._database as open_database:
            open_database.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, default))
            row = open_database.execute("SELECT value FROM facts WHERE name = ?", (name,))
            return str(row.fetchone()[0])

    def secret(self, name: str) -> str:
        """Return a random secret of this job, generated once and then stored."""
        return self.fact(name, secrets.token_urlsafe(24))

    def append(self, events: Sequence[Event], sessions: Mapping[str, str] | None = None) -> None:
        """Store events, and sessions (key to annotator), in one transaction.

        They are on disk when this returns. Raises RunError if they cannot be written.
        """
        rows = []
        for event in events:
            value = None if event.value is None else json.dumps(event.value)
            columns = {"item": self._names[event.item], "value": value}
            rows.append([columns.get(name, getattr(event, name)) for name in _FIELDS])
        try:
            with self._database as open_database:
                open_database.executemany(_INSERT, rows)
                open_database.executemany(
                    "INSERT OR REPLACE INTO sessions VALUES (?, ?)", (sessions or {}).items()
                )
        except sqlite3.Error as error:
            raise RunError(f"{self.path}: cannot write: {error}") from None

    def events(self) -> Iterator[Event]:
        """Yield all events in order. Raises RunError if one is damaged."""
        with self._check_damage():
            rows = self._database.execute(_SELECT).fetchall()
        for row in rows:
            with self._check_damage():
                event = self._event(row)
            yield event

    def _event(self, row: Sequence[Any]) -> Event:
        fields = dict(zip(_FIELDS, row, strict=True))
        value = fields["value"]
        fields["value"] = None if value is None else json.loads(value)
        if fields["kind"] not in get_args(EventKind):
            raise ValueError(f"unknown kind of event: {fields['kind']!r}")
        return Event(**fields | {"item": self._numbers[fields["item"]]})

    def sessions(self) -> dict[str, str]:
        """Return the annotators of all sessions by key."""
        with self._check_damage():
            return dict(self._database.execute("SELECT key, annotator FROM sessions"))

    @contextmanager
    def _check_damage(self) -> Iterator[None]:
        """Turn the errors of a damaged database into a RunError with its path."""
        try:
            yield
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            raise RunError(
                f"{self.path}: damaged: {error}; restore it from a copy, or move it away with "
                "its -wal and -shm and the labels file, and start again"
            ) from None
