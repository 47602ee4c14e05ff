"""Rows of a run's records: JSON that ends in a checksum of what stands before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_KEY = b',"checksum":"'
_DIGITS = 16
_LENGTH = len(_KEY) + _DIGITS + 2
"""Bytes from the comma before the checksum to the closing brace."""


def seal(row: Mapping[str, Any]) -> bytes:
    """Return `row`, which is not empty, as one line of JSON with its checksum as the last key."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", errors="replace").removesuffix(b"}")
    return body + _KEY + _checksum(body) + b'"}'


def unseal(line: bytes) -> dict[str, Any] | None:
    """Return the row of a line without its checksum; None where it is not as `seal` wrote it."""
    body = line[:-_LENGTH]
    if line[-_LENGTH:] != _KEY + _checksum(body) + b'"}':
        return None
    try:
        row = json.loads(body + b"}")
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:_DIGITS].encode()
