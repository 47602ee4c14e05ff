"""Rows of a run: lines of JSON whose last key is a checksum of the text before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_KEY = b',"checksum":"'
_DIGITS = 16
_LENGTH = len(_KEY) + _DIGITS + 2
"""Number of bytes from the comma before the checksum to the closing brace."""


def seal(row: Mapping[str, Any]) -> bytes:
    """Return a non-empty `row` as one line of JSON with its checksum as the last key."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", errors="replace").removesuffix(b"}")
    return body + _KEY + _checksum(body) + b'"}'


def unseal(line: bytes) -> dict[str, Any] | None:
    """Return the row of a line without its checksum; None if `seal` did not write the line."""
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
