"""The keys of requests in the cache, in recordings and in replays."""

from __future__ import annotations

import hashlib
import json

from fairjudge.backends.ports import AnyRequest

CACHE_VERSION = 1
"""Increased when stored replies may no longer be valid for the same requests."""


def request_key(request: AnyRequest) -> str:
    """Return the SHA-256 (hex) of everything that can change the reply to `request`.

    The hash is over canonical JSON (sorted keys, no spaces, UTF-8) of all fields of the request,
    its kind and `CACHE_VERSION`; each message's text is replaced by its SHA-256. Concurrency,
    timeouts, retries, the run and the secret of the fences are not part of a request.
    """
    return _digest(request, {"messages"})


def prompt_key(request: AnyRequest) -> str:
    """Return the hash of `request_key` without the target: the key of a prompt for any model."""
    return _digest(request, {"messages", "target"})


def _digest(request: AnyRequest, excluded_fields: set[str]) -> str:
    # Without None: fields added by later versions, None by default, must not change keys.
    fields = request.model_dump(mode="json", exclude=excluded_fields, exclude_none=True)
    fields["messages"] = [[m.role, _sha256(m.content), *m.fences] for m in request.messages]
    fields["kind"] = type(request).__name__
    fields["cache_version"] = CACHE_VERSION
    return _sha256(json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
