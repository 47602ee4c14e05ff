"""Send one request with a shared prefix first, so that the provider caches it for the others."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from dataclasses import dataclass, field

from fairjudge.backends.ports import AnyRequest, Ask, Clock, Middleware, Reply, Request
from fairjudge.ports import CompletionRequest

LEAST_CHARACTERS = 4096
"""About 1,024 tokens; providers do not cache shorter prefixes."""
_CACHED_SECONDS = 240.0
"""How long a prefix counts as cached after its last use; providers keep it for five minutes."""
_GATHERING_SECONDS = 0.05
"""How long the first request waits for a second one; a prefix of one request is not marked."""
_MAX_PREFIXES = 4096


def shared_texts(request: AnyRequest) -> list[str]:
    """Return the texts of the prefix that other requests are likely to share, one per message.

    Empty if it is shorter than `LEAST_CHARACTERS`.
    """
    for number, message in enumerate(request.messages):
        if message.shared:
            texts = [before.content for before in request.messages[:number]]
            texts.append(message.content[: message.shared])
            return texts if sum(map(len, texts)) >= LEAST_CHARACTERS else []
    return []


def prefix_key(request: AnyRequest) -> str | None:
    """Return a hash of the shared prefix of `request`, None if it has none.

    Providers put the schema before the messages, so that it is part of the prefix.
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
    """State of a shared prefix: its number of requests, the leading one, and the cache's expiry."""

    n_wanted: int = 0
    shared: asyncio.Event = field(default_factory=asyncio.Event)
    leader: asyncio.Event | None = None
    known_until: float = float("-inf")


class Warming(Middleware):
    """Lets one request with a shared prefix through first, then the others.

    If the first fails, the next one leads. A request without others does not mark its prefix, since
    some providers charge for writing it. Must be inside the cache, whose hits need no server, and
    outside the limit on concurrency, so that waiting requests occupy no place.
    """

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._prefixes: dict[str, _Prefix] = {}

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        key = prefix_key(request)
        if key is None:
            return await ask(_unmarked(request))
        prefix = self._prefix(key)
        prefix.n_wanted += 1
        if prefix.n_wanted > 1:
            prefix.shared.set()
        while prefix.known_until < self._clock():
            if prefix.leader is None:
                return await self._lead(prefix, request, ask)
            await prefix.leader.wait()
        prefix.known_until = self._clock() + _CACHED_SECONDS
        return await ask(request)

    async def _lead(self, prefix: _Prefix, request: Request, ask: Ask[Request, Reply]) -> Reply:
        leader = prefix.leader = asyncio.Event()
        shared = False
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GATHERING_SECONDS):
                    await prefix.shared.wait()
            shared = prefix.shared.is_set()
            return await ask(request if shared else _unmarked(request))
        finally:
            if shared:
                prefix.known_until = self._clock() + _CACHED_SECONDS
            prefix.leader = None
            leader.set()

    def _prefix(self, key: str) -> _Prefix:
        if len(self._prefixes) >= _MAX_PREFIXES and key not in self._prefixes:
            now = self._clock()
            self._prefixes = {
                name: prefix
                for name, prefix in self._prefixes.items()
                if prefix.leader is not None or prefix.known_until >= now
            }
        return self._prefixes.setdefault(key, _Prefix())


def _unmarked(request: Request) -> Request:
    """Return `request` without the mark of its shared prefix."""
    messages = tuple(
        message.model_copy(update={"shared": 0}) if message.shared else message
        for message in request.messages
    )
    return request.model_copy(update={"messages": messages})
