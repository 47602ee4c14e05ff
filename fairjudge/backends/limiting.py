"""Limits that admit requests, and adapt to the outcome of each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ConnectionFailedError,
    DeniedError,
    FairJudgeError,
    RateLimitError,
    RefusedError,
    ServerError,
    WaitTooLongError,
)
from fairjudge.ports import Completion, Decisions, SharedCache, Usage
from fairjudge.records.spending import Counts

_NOT_BILLED = (RateLimitError, ServerError, BadRequestError, AuthenticationError, DeniedError)
"""Errors with a status, for which no provider charges."""
_FREE = Usage(input_tokens=0, output_tokens=0)


@dataclass(slots=True)
class Ending:
    """The end of a request: a reply or an error."""

    reply: Completion | Decisions | None = None
    error: BaseException | None = None

    @property
    def usage(self) -> Usage | None:
        """The billed usage, with None for unknown counts; None if the request was never sent."""
        if self.reply is not None:
            return self.reply.usage
        error = self.error
        if isinstance(error, BackendError) and error.usage is not None:
            return Usage.model_validate(error.usage)
        refused = isinstance(error, RefusedError) and error.status is not None
        if refused or isinstance(error, _NOT_BILLED):
            return _FREE
        unsent = isinstance(error, WaitTooLongError) or (
            isinstance(error, ConnectionFailedError) and error.unsent
        )
        ours = isinstance(error, FairJudgeError) and not isinstance(error, BackendError)
        return None if unsent or ours else Usage()


class Limit(Middleware):
    """Base class of limits on concurrency, rates or a budget; admits every request."""

    async def begin(self, request: AnyRequest) -> Any:
        """Wait until `request` may be sent; return the value for `end`, or raise."""

    async def end(self, token: Any, ending: Ending) -> None:
        """Record the end of a request that has begun."""

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        token, ending = await self.begin(request), Ending()
        try:
            reply = ending.reply = await ask(request)
        except BaseException as error:
            ending.error = error
            raise
        finally:
            await self.end(token, ending)
        return reply


class Concurrency(Middleware):
    """Admits at most `limit` concurrent requests; the others wait.

    Must be outside the retries, so that a request that waits for a busy server keeps its place.
    """

    def __init__(self, limit: int) -> None:
        self._places = asyncio.Semaphore(limit)

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        async with self._places:
            return await ask(request)


class StoreCheck(Middleware):
    """Admits no request while its reply could not be stored.

    Must be inside everything that waits: a request that waits for a place or a retry would
    otherwise be sent, and paid for, after the store went away.
    """

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        await asyncio.to_thread(self._cache.check)
        return await ask(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens(Counts):
    """Token counts of several replies, as far as servers reported them.

    ``input`` is the total of the prompts; ``cached_input`` the part that the provider read from its
    prompt cache, at a lower price.
    """

    input: int = 0
    cached_input: int = 0
    output: int = 0


class TokenCount(Limit):
    """Admits every request, and adds its usage to ``tokens``, also for refusals."""

    def __init__(self) -> None:
        self.tokens = Tokens()

    async def end(self, token: None, ending: Ending) -> None:  # noqa: ARG002
        """See `Limit`."""
        usage, before = ending.usage, self.tokens
        if usage is not None:
            self.tokens = Tokens(
                input=before.input + (usage.input_tokens or 0),
                cached_input=before.cached_input + (usage.cached_input_tokens or 0),
                output=before.output + (usage.output_tokens or 0),
            )
