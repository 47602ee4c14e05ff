"""Rows of a cache: a checksum of key and value, then the value as JSON; never a pickle.

Also contains the reports of both caches, on disk and in PostgreSQL.
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
    """Number of entries and size of a cache; ``size_bytes`` is the size of its database."""

    path: Path | str
    n_entries: int
    size_bytes: int
    n_quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """Result of checking a whole cache; bad rows have been quarantined.

    ``refused`` has one line per bad row (key and problem), or one for a damaged database.
    """

    n_sound: int
    refused: tuple[str, ...]


class CheckedRow(NamedTuple):
    """A row's value, or the problem with the row."""

    key: str
    problem: str | None
    value: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.key}: {self.problem}"


class InvalidRowError(CacheError):
    """A row does not have the format of this cache."""


def encode_row(key: str, value: Mapping[str, Any]) -> str:
    """Return the row for `value`: its checksum (CRC-32, eight hexadecimal digits), then JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{_checksum(key, text):08x}{text}"


def decode_row(key: str, row: str) -> dict[str, Any]:
    """Return the value of a row; raise `InvalidRowError` if it is not valid."""
    text = row[8:]
    if row[:8] != f"{_checksum(key, text):08x}":
        raise InvalidRowError("its checksum does not match")
    value = json.loads(text)
    if not isinstance(value, dict):
        raise InvalidRowError("it is not a JSON object")
    return value


def check_row(key: str, content: bytes, *, errors: str = "strict") -> CheckedRow:
    """Decode a row from its bytes; `errors` is that of `bytes.decode`."""
    try:
        return CheckedRow(key, None, decode_row(key, content.decode("utf-8", errors)))
    except (InvalidRowError, ValueError) as error:
        return CheckedRow(key, str(error), {})


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), zlib.crc32(key.encode()))
