"""Answers from a cache that several machines share, and lets only one of them ask."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fairjudge.backends.caching import AnsweringOnce, CallsUnderWay, entry, is_kept, stored_reply
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyBackend, Warn, aclose, decision_port, text_port
from fairjudge.protocols import (
    Completion,
    CompletionRequest,
    DecisionRequest,
    Decisions,
    SharedCache,
)

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)

_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 1.0


class SharedCachingBackend(AnsweringOnce):
    """`CachingBackend` over a cache of several machines: what one of them asks, no other does.

    A request that another machine has under way is waited for. Where that one fails, the next asks
    itself. The cache is read and written in threads, for the server it lies on is not near.

    Parameters
    ----------
    inner : Backend or DecisionBackend
        Asked on a miss. Budgets and retries belong inside, so that hits are free.
    cache : SharedCache
        Such as `fairjudge.stores.replies.PostgresCache`.
    warn : callable, optional
        Told about a stored reply that no longer reads as one; it is asked for again.

    Attributes
    ----------
    hits, misses : int
        As for `CachingBackend`; what another machine asked meanwhile is a hit.
    """

    def __init__(self, inner: AnyBackend, *, cache: SharedCache, warn: Warn | None = None) -> None:
        super().__init__(inner, warn=warn)
        self._cache = cache
        self._writes = CallsUnderWay()

    async def aclose(self) -> None:
        """See `AnsweringOnce.aclose`; a reply that is being stored is paid for, so waited for."""
        await super().aclose()
        await self._writes.wait()

    async def _answer(
        self, request: Request, ask: Callable[[Request], Awaitable[Reply]], kind: type[Reply]
    ) -> Reply:
        key = request_key(request)
        task = self._under_way.find(key)
        if task is not None:
            self.hits += 1
        else:
            task = self._under_way.begin(key, self._find_or_ask(key, request, ask, kind))
        # Shielded: one caller that gives up must not cancel the call the others wait for.
        return await asyncio.shield(task)

    async def _find_or_ask(
        self,
        key: str,
        request: Request,
        ask: Callable[[Request], Awaitable[Reply]],
        kind: type[Reply],
    ) -> Reply:
        ticket = uuid.uuid4().hex
        wait_seconds = _FIRST_WAIT_SECONDS
        while (found := await self._stored(key, kind)) is None:
            if await asyncio.to_thread(self._cache.claim, key, ticket=ticket):
                return await self._ask(key, request, ask, kind)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_LONGEST_WAIT_SECONDS, 2 * wait_seconds)
        self.hits += 1
        return found

    async def _ask(
        self,
        key: str,
        request: Request,
        ask: Callable[[Request], Awaitable[Reply]],
        kind: type[Reply],
    ) -> Reply:
        """Ask, the claim being ours, and end it: with the reply, or without."""
        claimed = True
        try:
            found = await self._stored(key, kind)  # it may have come before the claim
            if found is not None:
                self.hits += 1
                return found
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

    async def _stored(self, key: str, kind: type[Reply]) -> Reply | None:
        value = await asyncio.to_thread(self._cache.get, key)
        return stored_reply(key, value, kind, warn=self._warn)


class CheckingBackend:
    """Lets no request through to `inner` while its reply could not be kept.

    Belongs inside the limit on calls in flight: what waits there for a place would otherwise still
    be asked, and paid for, after the store went away.
    """

    def __init__(self, inner: AnyBackend, *, cache: SharedCache) -> None:
        self._inner = inner
        self._cache = cache

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request` once the store answers."""
        await asyncio.to_thread(self._cache.check)
        return await text_port(self._inner)(request)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request` once the store answers."""
        await asyncio.to_thread(self._cache.check)
        return await decision_port(self._inner)(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)
