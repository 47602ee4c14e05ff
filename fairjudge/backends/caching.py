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
_MAX_WAIT_SECONDS = 0.5


class InFlightCalls:
    """Open calls by key and event loop, so that equal ones share one task."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[int, str], asyncio.Task[Any]] = {}

    def find(self, key: str) -> asyncio.Task[Any] | None:
        """Return the open call for `key`, or None."""
        return self._tasks.get(_loop_key(key))

    def begin(self, key: str, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a call for `key`, which must not have an open call."""
        loop_key = _loop_key(key)
        task = asyncio.create_task(call)
        self._tasks[loop_key] = task
        task.add_done_callback(lambda done: self._finish(loop_key, done))
        return task

    async def end(self) -> None:
        """Cancel the calls of the running event loop and wait until they end."""
        for task in self._tasks_of_loop():
            task.cancel()
        await self.wait()

    async def wait(self) -> None:
        """Wait until all calls of the running event loop end, even if some fail."""
        await asyncio.gather(*self._tasks_of_loop(), return_exceptions=True)

    def _tasks_of_loop(self) -> list[asyncio.Task[Any]]:
        loop = id(asyncio.get_running_loop())
        return [task for (task_loop, _), task in self._tasks.items() if task_loop == loop]

    def _finish(self, loop_key: tuple[int, str], task: asyncio.Task[Any]) -> None:
        self._tasks.pop(loop_key, None)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it


def _loop_key(key: str) -> tuple[int, str]:
    return id(asyncio.get_running_loop()), key


class SingleFlight(Middleware):
    """Base class of middlewares over a cache: equal requests share one call, and are counted.

    ``hits`` is the number of requests answered from the cache or by an open call, ``misses`` the
    number of others. ``earlier`` is the number of hits on replies that earlier runs paid for.
    """

    def __init__(self, *, warn: Warn | None) -> None:
        self._warn = warn
        self._open_calls = InFlightCalls()
        self.hits = 0
        self.misses = 0
        self.earlier = 0
        self._requested: set[int] = set()

    def _count_hit(self, key: str) -> None:
        self.hits += 1
        self.earlier += short_key(key) not in self._requested

    def _count_reply(self, key: str) -> None:
        self._requested.add(short_key(key))

    async def aclose(self) -> None:
        """Cancel calls that are no longer awaited; do not close the cache."""
        await self._open_calls.end()


class Caching(SingleFlight):
    """A middleware that stores every reply, and never sends the same request twice.

    Errors, refusals, empty replies and decisions with a refused question are never stored. A reply
    truncated at the token limit (``finish_reason == "length"``) is stored: the limit is part of
    the key, so that the same request would be truncated again. Concurrent requests with
    one key share one call.

    Budgets and retries must be inside, so that hits are free.

    ``claims`` are those of the processes that share the cache: an open request of another process
    is awaited. ``warn`` is called if a stored reply is invalid; its request is sent again.
    ``on_cache_error`` is called if a reply cannot be stored; the reply is returned nevertheless.
    Without it, the error is raised.
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
        task = self._open_calls.find(key)
        if task is not None:
            self.hits += 1
        else:
            cached_reply: Reply | None
            cached_reply, has_claim = self._find_or_claim(key, request)
            if cached_reply is not None:
                return cached_reply
            task = self._open_calls.begin(key, self._ask(key, request, ask, has_claim=has_claim))
            task.add_done_callback(lambda _: self._release(key))
        # Shielded: a caller that is cancelled must not cancel the call for the others.
        return await asyncio.shield(task)

    async def _ask(
        self, key: str, request: Request, ask: Ask[Request, Reply], *, has_claim: bool
    ) -> Reply:
        cached_reply: Reply | None
        wait_seconds = _FIRST_WAIT_SECONDS
        while not has_claim:
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_MAX_WAIT_SECONDS, 2 * wait_seconds)
            cached_reply, has_claim = self._find_or_claim(key, request)
            if cached_reply is not None:
                return cached_reply
        self.misses += 1
        reply = await ask(request)
        self._count_reply(key)
        try:
            if is_cacheable(reply):
                self._cache.put(key, cache_entry(request, reply))
        except CacheError as error:
            if self._on_cache_error is None:
                raise
            self._on_cache_error(error)
        return reply

    def _find_or_claim(self, key: str, request: AnyRequest) -> tuple[Any, bool]:
        """Return the stored reply, or None and whether this process must make the call.

        The claim comes first, so that a reply stored by another process before it released its
        claim is found.
        """
        has_claim = self._claims is None or self._claims.claim(key)
        cached_reply = stored_reply(key, request, self._cache.get(key), warn=self._warn)
        if cached_reply is None:
            return None, has_claim
        self._count_hit(key)
        if has_claim:
            self._release(key)
        return cached_reply, False

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
            warn(f"the cache's entry {key[:12]} is not a reply; the request is repeated")
        return None


def is_cacheable(reply: Completion | Decisions) -> bool:
    """Return whether `reply` may be stored: neither a refusal nor an incomplete reply."""
    if isinstance(reply, Decisions):
        return not reply.refused
    return reply.finish_reason != "refusal" and not is_broken_off(reply)


def cache_entry(request: AnyRequest, reply: Completion | Decisions) -> dict[str, Any]:
    """Return the value that a cache stores for `reply`."""
    fields = reply.model_dump(mode="json", exclude_defaults=True)
    return {"model": str(request.target), "reply": fields}


_FIRST_SHARED_WAIT_SECONDS = 0.05
_MAX_SHARED_WAIT_SECONDS = 1.0


class SharedCaching(SingleFlight):
    """`Caching` over a cache shared by several machines, without duplicate calls between them.

    An open request of another machine is awaited; if it fails, the next machine makes the call.
    The cache is read and written in threads, since its server is remote. A reply stored by another
    machine during the wait is a hit.
    """

    def __init__(self, *, cache: SharedCache, warn: Warn | None = None) -> None:
        super().__init__(warn=warn)
        self._cache = cache
        self._writes = InFlightCalls()

    async def aclose(self) -> None:
        """See `SingleFlight.aclose`; also wait until all replies are stored."""
        await super().aclose()
        await self._writes.wait()

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `fairjudge.backends.ports.Middleware`."""
        key = request_key(request)
        task = self._open_calls.find(key)
        if task is not None:
            self.hits += 1
        else:
            task = self._open_calls.begin(key, self._find_or_ask(key, request, ask))
        # Shielded: a caller that is cancelled must not cancel the call for the others.
        return await asyncio.shield(task)

    async def _find_or_ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        ticket = uuid.uuid4().hex
        wait_seconds = _FIRST_SHARED_WAIT_SECONDS
        while (cached_reply := await self._read_stored(key, request)) is None:
            if await asyncio.to_thread(self._cache.claim, key, ticket=ticket):
                return await self._ask(key, request, ask)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(_MAX_SHARED_WAIT_SECONDS, 2 * wait_seconds)
        self._count_hit(key)
        reply: Reply = cached_reply
        return reply

    async def _ask(self, key: str, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """Make the call under this process's claim, and release the claim afterwards."""
        has_claim = True
        try:
            # Another machine may have stored the reply just before the claim.
            reply: Reply | None = await self._read_stored(key, request)
            if reply is not None:
                self._count_hit(key)
                return reply
            self.misses += 1
            reply = await ask(request)
            self._count_reply(key)
            if is_cacheable(reply):
                has_claim = False  # the write releases the claim, even if the caller is cancelled
                write = asyncio.to_thread(self._cache.put, key, cache_entry(request, reply))
                await asyncio.shield(self._writes.begin(key, write))
            return reply
        finally:
            if has_claim:
                await asyncio.to_thread(self._cache.release, key)

    async def _read_stored(self, key: str, request: AnyRequest) -> Any:
        value = await asyncio.to_thread(self._cache.get, key)
        return stored_reply(key, request, value, warn=self._warn)
