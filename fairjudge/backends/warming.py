"""Send one request with a shared prefix first, so that the provider caches it for the rest."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from dataclasses import dataclass, field

from fairjudge.backends.ports import AnyRequest, Ask, Clock, Middleware, Reply, Request
from fairjudge.ports import CompletionRequest

MIN_SHARED_CHARACTERS = 4096
"""About 1,024 tokens; providers do not cache shorter prefixes."""
_CACHED_SECONDS = 240.0
"""Time that a prefix counts as cached after its last use; providers cache it for five minutes."""
_FIRST_WAIT_SECONDS = 0.05
"""Time that the first request waits for a second one; the prefix of a single one is unmarked."""
_MAX_PREFIXES = 4096


def shared_texts(request: AnyRequest) -> list[str]:
    """Return the texts of the prefix that other requests are likely to share, one per message.

    Empty if it is shorter than `MIN_SHARED_CHARACTERS`.
    """
    for number, message in enumerate(request.messages):
        if message.shared:
            texts = [earlier.content for earlier in request.messages[:number]]
            texts.append(message.content[: message.shared])
            return texts if sum(map(len, texts)) >= MIN_SHARED_CHARACTERS else []
    return []


def prefix_key(request: AnyRequest) -> str | None:
    """Return a hash of the shared prefix of `request`, or None without one.

    It includes the schema, which providers put before the messages.
    """
    texts = shared_texts(request)
    if not texts:
        return None
    digest = hashlib.sha256()
    if isinstance(request, CompletionRequest) and request.response_schema is not None:
        digest.update(json.dumps(request.response_schema, sort_keys=True, default=dict).encode())
    for message, text in zip(request.messages, texts, strict=False):
        digest.update(f"\0{message.role}\0{text}".encode())
    return digest.hexdigest()


@dataclass(slots=True)
class _Prefix:
    """State of a shared prefix: number of requests, event of the leading one, and cache expiry."""

    n_requests: int = 0
    shared_event: asyncio.Event = field(default_factory=asyncio.Event)
    leader: asyncio.Event | None = None
    cached_until: float = float("-inf")


class Warming(Middleware):
    """A middleware that sends one request with a shared prefix first, then the rest.

    If the first fails, the next one leads. The prefix of a single request is not marked, since some
    providers charge for caching it. Must be inside the cache, whose hits need no server, and
    outside the limit on concurrency, so that waiting requests occupy no slot.
    """

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._prefixes: dict[str, _Prefix] = {}

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        key = prefix_key(request)
        if key is None:
            return await ask(_without_mark(request))
        prefix = self._prefix(key)
        prefix.n_requests += 1
        if prefix.n_requests > 1:
            prefix.shared_event.set()
        while prefix.cached_until < self._clock():
            if prefix.leader is None:
                return await self._lead(prefix, request, ask)
            await prefix.leader.wait()
        prefix.cached_until = self._clock() + _CACHED_SECONDS
        return await ask(request)

    async def _lead(self, prefix: _Prefix, request: Request, ask: Ask[Request, Reply]) -> Reply:
        leader = prefix.leader = asyncio.Event()
        is_shared = False
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_WAIT_SECONDS):
                    await prefix.shared_event.wait()
            is_shared = prefix.shared_event.is_set()
            return await ask(request if is_shared else _without_mark(request))
        finally:
            if is_shared:
                prefix.cached_until = self._clock() + _CACHED_SECONDS
            prefix.leader = None
            leader.set()

    def _prefix(self, key: str) -> _Prefix:
        if len(self._prefixes) >= _MAX_PREFIXES and key not in self._prefixes:
            now = self._clock()
            self._prefixes = {
                name: prefix
                for name, prefix in self._prefixes.items()
                if prefix.leader is not None or prefix.cached_until >= now
            }
        return self._prefixes.setdefault(key, _Prefix())


def _without_mark(request: Request) -> Request:
    """Return `request` without the mark of its shared prefix."""
    messages = tuple(
        message.model_copy(update={"shared": 0}) if message.shared else message
        for message in request.messages
    )
    return request.model_copy(update={"messages": messages})
