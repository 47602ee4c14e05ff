"""What identifies a request: the key of the cache, of recordings and of replays."""

from __future__ import annotations

import hashlib
import json

from fairjudge.backends.ports import AnyRequest

CACHE_VERSION = 1
"""Raised whenever the same request may no longer be answered by what was stored for it."""


def request_key(request: AnyRequest) -> str:
    """Return the SHA-256 (hex) of everything that can change the reply to `request`.

    Every field of the request enters, with the kind of request and `CACHE_VERSION`: canonical JSON
    (sorted keys, no spaces, UTF-8) in which each message's text stands as its own SHA-256, which
    keeps long prompts cheap. Concurrency, timeouts, retries and the run are no part of a request,
    and neither is the secret that its fences are sealed with: a reply is found again under another.
    """
    return _digest(request, {"messages"})


def prompt_key(request: AnyRequest) -> str:
    """Return the same as `request_key` without the target: what was asked, whoever was asked."""
    return _digest(request, {"messages", "target"})


def _digest(request: AnyRequest, left_out: set[str]) -> str:
    # Without None: a field that a later version adds, unset by default, changes no key.
    fields = request.model_dump(mode="json", exclude=left_out, exclude_none=True)
    fields["messages"] = [[m.role, _sha256(m.content), *m.fences] for m in request.messages]
    fields["kind"] = type(request).__name__
    fields["cache_version"] = CACHE_VERSION
    return _sha256(json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
