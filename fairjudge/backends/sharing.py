"""Middleware over a cache shared by several machines, of which only one makes each call."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from fairjudge.backends.caching import (
    InFlightCalls,
    SingleFlight,
    entry,
    is_cacheable,
    stored_reply,
)
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyRequest, Ask, Reply, Request, Warn
from fairjudge.ports import SharedCache

_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 1.0


class SharedCaching(SingleFlight):
    """`Caching` over a cache of several machines, without repeated calls between them.

    An open request of another machine is waited for; if it fails, the next machine makes the call.
    The cache is read and written in threads, since its server is remote. A reply that another
    machine stored meanwhile is a hit.
    """

    def __init__(self, *, cache: SharedCache, warn: Warn | None = None) -> None:
        super().__init__(warn=warn)
        self._cache = cache
        self._writes = InFlightCalls()

    async def aclose(self) -> None:
        """See `SingleFlight.aclose`; also wait until replies, which are paid for, are stored."""
        await super().aclose()
        await self._writes.wait()

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `fairjudge.backends.ports.Middleware`."""
        key = request_key(request)
        task = self._under_way.find(key)
        if task is not None:
            self.hits += 1
        else:
            task = self._under_way.begin(key, self._find_or_ask(key, request, ask))
        # Shielded: a caller that is cancelled must not cancel the call for the others.
        return await asyncio.shield(task)

    async def _find_or_ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        ticket = uuid.uuid4().hex
        wait_seconds = _FIRST_WAIT_SECONDS
        while (stored := await self._stored(key, request)) is None:
            if await asyncio.to_thread(self._cache.claim, key, ticket=ticket):
                return await self._ask(key, request, ask)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_LONGEST_WAIT_SECONDS, 2 * wait_seconds)
        self.hits += 1
        reply: Reply = stored
        return reply

    async def _ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Make the call under this process's claim, and end the claim with or without a reply."""
        claimed = True
        try:
            # Another machine may have stored it just before the claim.
            reply: Reply | None = await self._stored(key, request)
            if reply is not None:
                self.hits += 1
                return reply
            self.misses += 1
            reply = await ask(request)
            if is_cacheable(reply):
                claimed = False  # the write ends the claim, also if nobody awaits it any more
                write = asyncio.to_thread(self._cache.put, key, entry(request, reply))
                await asyncio.shield(self._writes.begin(key, write))
            return reply
        finally:
            if claimed:
                await asyncio.to_thread(self._cache.release, key)

    async def _stored(self, key: str, request: AnyRequest) -> Any:
        value = await asyncio.to_thread(self._cache.get, key)
        return stored_reply(key, request, value, warn=self._warn)
