"""Sends one of the requests that begin alike first, so that the provider knows it for the rest."""

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
"""About 1,024 tokens: providers keep no shorter beginning."""
_KEPT_SECONDS = 240.0
"""How long after its last use a beginning is counted on; providers keep it for five minutes."""
_GATHERING_SECONDS = 0.05
"""How long the first waits for another to show: what nobody else begins with is not marked."""
_MAX_BLOCKS = 4096


def shared_texts(request: AnyRequest) -> list[str]:
    """Return what other requests are likely to begin with too, a text for each message.

    Nothing where it is too short.
    """
    for number, message in enumerate(request.messages):
        if message.shared:
            texts = [before.content for before in request.messages[:number]]
            texts.append(message.content[: message.shared])
            return texts if sum(map(len, texts)) >= LEAST_CHARACTERS else []
    return []


def block_key(request: AnyRequest) -> str | None:
    """Return what identifies the beginning that `request` shares, None where there is none.

    Providers read a schema before the messages, so requests with another one begin in another way.
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
class _Block:
    """One beginning: how many asked with it, who is sent first now, and until when it is known."""

    n_wanted: int = 0
    shared: asyncio.Event = field(default_factory=asyncio.Event)
    leader: asyncio.Event | None = None
    known_until: float = float("-inf")


class Warming(Middleware):
    """Lets one request of those that begin alike through first, then the rest.

    Where the first fails, the rest go as well. A request that turns out to be alone does not say
    what it shares, which some providers bill. Belongs inside the cache, whose hits need no server,
    and outside the limit on calls in flight: who waits here keeps no place.
    """

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._blocks: dict[str, _Block] = {}

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        key = block_key(request)
        if key is None:
            return await ask(_alone(request))
        block = self._block(key)
        block.n_wanted += 1
        if block.n_wanted > 1:
            block.shared.set()
        while block.known_until < self._clock():
            if block.leader is None:
                return await self._lead(block, request, ask)
            await block.leader.wait()
        block.known_until = self._clock() + _KEPT_SECONDS
        return await ask(request)

    async def _lead(self, block: _Block, request: Request, ask: Ask[Request, Reply]) -> Reply:
        leader = block.leader = asyncio.Event()
        shared = False
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GATHERING_SECONDS):
                    await block.shared.wait()
            shared = block.shared.is_set()
            return await ask(request if shared else _alone(request))
        finally:
            if shared:
                block.known_until = self._clock() + _KEPT_SECONDS
            block.leader = None
            leader.set()

    def _block(self, key: str) -> _Block:
        if len(self._blocks) >= _MAX_BLOCKS and key not in self._blocks:
            now = self._clock()
            self._blocks = {
                name: block
                for name, block in self._blocks.items()
                if block.leader is not None or block.known_until >= now
            }
        return self._blocks.setdefault(key, _Block())


def _alone(request: Request) -> Request:
    """Return `request` without a word of what it shares."""
    messages = tuple(
        message.model_copy(update={"shared": 0}) if message.shared else message
        for message in request.messages
    )
    return request.model_copy(update={"messages": messages})
