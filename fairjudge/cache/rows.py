"""A row of a cache: a checksum of key and value, then the value as JSON; never a pickle.

And what caches, in a folder as in a store, say of their rows.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fairjudge.errors import CacheError


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What a cache holds; `size_bytes` is the room its database takes."""

    path: Path | str
    n_entries: int
    size_bytes: int
    n_quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """What the check of a whole cache found; what was refused has been moved aside.

    `refused` has one line for each bad row (its key and why), or one for a broken database.
    """

    n_sound: int
    refused: tuple[str, ...]


class CheckedRow(NamedTuple):
    """A row's value, or what is wrong with it."""

    key: str
    problem: str | None
    value: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.key}: {self.problem}"


class RefusedRowError(CacheError):
    """A row is not what this cache writes."""


def encode_row(key: str, value: Mapping[str, Any]) -> str:
    """Return the row for `value`: eight hexadecimal digits of checksum, then JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{_checksum(key, text):08x}{text}"


def decode_row(key: str, row: str) -> dict[str, Any]:
    """Return the value of a row; raise `RefusedRowError` if it is not as it was written."""
    text = row[8:]
    if row[:8] != f"{_checksum(key, text):08x}":
        raise RefusedRowError("its checksum does not fit")
    value = json.loads(text)
    if not isinstance(value, dict):
        raise RefusedRowError("it is not a JSON object")
    return value


def check_row(key: str, stored: bytes, *, errors: str = "strict") -> CheckedRow:
    """Read a row from its bytes; `errors` is how these became text."""
    try:
        return CheckedRow(key, None, decode_row(key, stored.decode("utf-8", errors)))
    except (RefusedRowError, ValueError) as error:
        return CheckedRow(key, str(error), {})


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), zlib.crc32(key.encode()))
