"""Answers from a cache that several machines share, and lets only one of them ask."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from fairjudge.backends.caching import CallsUnderWay, SingleFlight, entry, is_kept, stored_reply
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyRequest, Ask, Reply, Request, Warn
from fairjudge.ports import SharedCache

_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 1.0


class SharedCaching(SingleFlight):
    """`Caching` over a cache of several machines: what one of them asks, no other does.

    A request that another machine has under way is waited for. Where that one fails, the next asks
    itself. The cache is read and written in threads, for the server it lies on is not near. What
    another machine asked meanwhile is a hit.
    """

    def __init__(self, *, cache: SharedCache, warn: Warn | None = None) -> None:
        super().__init__(warn=warn)
        self._cache = cache
        self._writes = CallsUnderWay()

    async def aclose(self) -> None:
        """See `SingleFlight.aclose`; a reply that is being stored is paid for, so waited for."""
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
        # Shielded: one caller that gives up must not cancel the call the others wait for.
        return await asyncio.shield(task)

    async def _find_or_ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        ticket = uuid.uuid4().hex
        wait_seconds = _FIRST_WAIT_SECONDS
        while (found := await self._stored(key, request)) is None:
            if await asyncio.to_thread(self._cache.claim, key, ticket=ticket):
                return await self._ask(key, request, ask)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_LONGEST_WAIT_SECONDS, 2 * wait_seconds)
        self.hits += 1
        reply: Reply = found
        return reply

    async def _ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Ask, the claim being ours, and end it: with the reply, or without."""
        claimed = True
        try:
            # It may have come before the claim.
            reply: Reply | None = await self._stored(key, request)
            if reply is not None:
                self.hits += 1
                return reply
            self.misses += 1
            reply = await ask(request)
            if is_kept(reply):
                claimed = False  # the write ends it, also where nobody waits for it any more
                put = asyncio.to_thread(self._cache.put, key, entry(request, reply))
                await asyncio.shield(self._writes.begin(key, put))
            return reply
        finally:
            if claimed:
                await asyncio.to_thread(self._cache.release, key)

    async def _stored(self, key: str, request: AnyRequest) -> Any:
        value = await asyncio.to_thread(self._cache.get, key)
        return stored_reply(key, request, value, warn=self._warn)
