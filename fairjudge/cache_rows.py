"""A row of a cache: a checksum of key and value, then the value as JSON; never a pickle."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from fairjudge.errors import CacheError


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


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), zlib.crc32(key.encode()))
