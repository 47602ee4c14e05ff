"""Quarantine for damaged rows and databases: kept for inspection, never read as replies."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import uuid
from pathlib import Path

from diskcache.core import DBNAME

FOLDER = "quarantine"
_ROWS = "rows.jsonl"
_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "encrypted")


def is_damage(error: Exception) -> bool:
    """Return whether `error` means that the database itself is broken, not busy or full."""
    return any(sign in str(error) for sign in _DAMAGE)


def count(folder: Path) -> int:
    """Return the number of rows and databases in the quarantine of the cache `folder`."""
    place = folder / FOLDER
    databases = list(place.glob(f"*/{DBNAME}"))
    rows = place / _ROWS
    n_rows = len(rows.read_bytes().splitlines()) if rows.exists() else 0
    return len(databases) + n_rows


def keep_row(folder: Path, key: str, problem: str, stored: bytes) -> None:
    """Append a bad row to the quarantine, in base64, since it may hold any bytes."""
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    line = {"key": key, "problem": problem, "stored_base64": base64.b64encode(stored).decode()}
    with (place / _ROWS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def move_database(folder: Path) -> Path | None:
    """Move the broken database of the cache `folder` to the quarantine and return its new folder.

    Returns None where another process has already replaced it by a sound one.
    """
    if _is_sound(folder / DBNAME):
        return None
    place = folder / FOLDER / uuid.uuid4().hex[:12]
    place.mkdir(parents=True)
    for suffix in ("", "-wal", "-shm"):
        source = folder / (DBNAME + suffix)
        if source.exists():
            os.replace(source, place / source.name)  # noqa: PTH105
    return place


def _is_sound(database: Path) -> bool:
    if not database.exists():
        return True
    try:
        connection = sqlite3.connect(database, timeout=10)
        try:
            state = connection.execute("PRAGMA quick_check(1)").fetchone()
            connection.execute("SELECT key, raw, mode, filename, value FROM Cache LIMIT 1")
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False
    return bool(state and state[0] == "ok")
