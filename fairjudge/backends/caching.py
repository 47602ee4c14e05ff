"""Middlewares that answer repeated requests from the cache of one or of several machines."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request, Warn
from fairjudge.cache.claims import Claims, short_key
from fairjudge.errors import CacheError
from fairjudge.parsing.outcomes import is_broken_off
from fairjudge.ports import Cache, Completion, CompletionRequest, Decisions, SharedCache

T = TypeVar("T")

_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 0.5


class InFlightCalls:
    """Open calls by key and event loop, so that equal ones share one task."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[int, str], asyncio.Task[Any]] = {}

    def find(self, key: str) -> asyncio.Task[Any] | None:
        """Return the open call for `key`, or None."""
        return self._tasks.get(_place(key))

    def begin(self, key: str, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a call for `key`; there must be no open one."""
        place = _place(key)
        task = asyncio.create_task(call)
        self._tasks[place] = task
        task.add_done_callback(lambda done: self._finish(place, done))
        return task

    async def end(self) -> None:
        """Cancel the calls of the running event loop and wait for their end."""
        for task in self._tasks_of_loop():
            task.cancel()
        await self.wait()

    async def wait(self) -> None:
        """Wait for the end of the calls of the running event loop, also if they fail."""
        await asyncio.gather(*self._tasks_of_loop(), return_exceptions=True)

    def _tasks_of_loop(self) -> list[asyncio.Task[Any]]:
        loop = id(asyncio.get_running_loop())
        return [task for (place, _), task in self._tasks.items() if place == loop]

    def _finish(self, place: tuple[int, str], task: asyncio.Task[Any]) -> None:
        self._tasks.pop(place, None)
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio logs the error as never retrieved


def _place(key: str) -> tuple[int, str]:
    return id(asyncio.get_running_loop()), key


class SingleFlight(Middleware):
    """Base class of middlewares over a cache: one call for equal requests, with counts.

    ``hits`` were answered from the cache or by an open call, ``misses`` were not. ``earlier`` are
    the hits on stored replies that this object did not request: an earlier run paid for them.
    """

    def __init__(self, *, warn: Warn | None) -> None:
        self._warn = warn
        self._under_way = InFlightCalls()
        self.hits = 0
        self.misses = 0
        self.earlier = 0
        self._requested: set[int] = set()

    def _count_stored(self, key: str) -> None:
        self.hits += 1
        self.earlier += short_key(key) not in self._requested

    def _count_reply(self, key: str) -> None:
        self._requested.add(short_key(key))

    async def aclose(self) -> None:
        """Cancel calls that are no longer awaited; the cache stays open."""
        await self._under_way.end()


class Caching(SingleFlight):
    """Stores every reply, and never sends the same request twice.

    Errors, refusals and empty replies raise and are never stored, and neither are decisions with a
    refused question. A reply cut off by the token limit (``finish_reason == "length"``) is stored:
    the limit is part of the key, so that the same request would be cut off again. Concurrent
    requests with one key share one call.

    Budgets and retries must be inside, so that hits are free.

    With ``claims`` of the processes that share the cache, an open request of another process is
    waited for. ``warn`` is called for a stored reply that is invalid, whose request is sent again;
    ``on_cache_error`` is called for a reply that cannot be stored, which is returned all the same;
    without it the error is raised.
    """

    def __init__(
        self,
        *,
        cache: Cache,
        claims: Claims | None = None,
        warn: Warn | None = None,
        on_cache_error: Callable[[CacheError], None] | None = None,
    ) -> None:
        super().__init__(warn=warn)
        self._cache = cache
        self._claims = claims
        self._on_cache_error = on_cache_error

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        key = request_key(request)
        task = self._under_way.find(key)
        if task is not None:
            self.hits += 1
        else:
            stored: Reply | None
            stored, claimed = self._find_or_claim(key, request)
            if stored is not None:
                return stored
            task = self._under_way.begin(key, self._ask(key, request, ask, claimed=claimed))
            task.add_done_callback(lambda _: self._release(key))
        # Shielded: a caller that is cancelled must not cancel the call for the others.
        return await asyncio.shield(task)

    async def _ask(
        self, key: str, request: Request, ask: Ask[Request, Reply], *, claimed: bool
    ) -> Reply:
        stored: Reply | None
        wait_seconds = _FIRST_WAIT_SECONDS
        while not claimed:
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_LONGEST_WAIT_SECONDS, 2 * wait_seconds)
            stored, claimed = self._find_or_claim(key, request)
            if stored is not None:
                return stored
        self.misses += 1
        reply = await ask(request)
        self._count_reply(key)
        try:
            if is_cacheable(reply):
                self._cache.put(key, entry(request, reply))
        except CacheError as error:
            if self._on_cache_error is None:
                raise
            self._on_cache_error(error)
        return reply

    def _find_or_claim(self, key: str, request: AnyRequest) -> tuple[Any, bool]:
        """Return the stored reply, or None and whether this process must make the call.

        The claim comes first, so that a reply is seen that another process stored before it
        released its claim.
        """
        claimed = self._claims is None or self._claims.take(key)
        stored = stored_reply(key, request, self._cache.get(key), warn=self._warn)
        if stored is None:
            return None, claimed
        self._count_stored(key)
        if claimed:
            self._release(key)
        return stored, False

    def _release(self, key: str) -> None:
        if self._claims is not None:
            self._claims.release(key)


def stored_reply(
    key: str, request: AnyRequest, value: Mapping[str, Any] | None, *, warn: Warn | None
) -> Any:
    """Parse the reply to `request` from a cache's `value`; None if there is no valid one."""
    if value is None:
        return None
    kind = Completion if isinstance(request, CompletionRequest) else Decisions
    try:
        reply = kind.model_validate(value["reply"])
        return reply if is_cacheable(reply) else None
    except (KeyError, TypeError, ValidationError):
        if warn is not None:
            warn(f"the cache's entry {key[:12]} is not a reply; asking again")
        return None


def is_cacheable(reply: Completion | Decisions) -> bool:
    """Return whether `reply` may be stored: not with a refusal, and not if it broke off."""
    if isinstance(reply, Decisions):
        return not reply.refused
    return reply.finish_reason != "refusal" and not is_broken_off(reply)


def entry(request: AnyRequest, reply: Completion | Decisions) -> dict[str, Any]:
    """Return the value that a cache stores for `reply`."""
    fields = reply.model_dump(mode="json", exclude_defaults=True)
    return {"model": str(request.target), "reply": fields}


_FIRST_SHARED_WAIT_SECONDS = 0.05
_LONGEST_SHARED_WAIT_SECONDS = 1.0


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
        wait_seconds = _FIRST_SHARED_WAIT_SECONDS
        while (stored := await self._stored(key, request)) is None:
            if await asyncio.to_thread(self._cache.claim, key, ticket=ticket):
                return await self._ask(key, request, ask)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_LONGEST_SHARED_WAIT_SECONDS, 2 * wait_seconds)
        self._count_stored(key)
        reply: Reply = stored
        return reply

    async def _ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Make the call under this process's claim, and end the claim with or without a reply."""
        claimed = True
        try:
            # Another machine may have stored it just before the claim.
            reply: Reply | None = await self._stored(key, request)
            if reply is not None:
                self._count_stored(key)
                return reply
            self.misses += 1
            reply = await ask(request)
            self._count_reply(key)
            if is_cacheable(reply):
                claimed = False  # the write ends the claim, also if the caller was cancelled
                write = asyncio.to_thread(self._cache.put, key, entry(request, reply))
                await asyncio.shield(self._writes.begin(key, write))
            return reply
        finally:
            if claimed:
                await asyncio.to_thread(self._cache.release, key)

    async def _stored(self, key: str, request: AnyRequest) -> Any:
        value = await asyncio.to_thread(self._cache.get, key)
        return stored_reply(key, request, value, warn=self._warn)
