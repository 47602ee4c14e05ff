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
"""Errors with a status, which no provider bills."""
_FREE = Usage(input_tokens=0, output_tokens=0)


@dataclass(slots=True)
class CallOutcome:
    """The outcome of a request: a reply or an error."""

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
        is_refusal = isinstance(error, RefusedError) and error.status is not None
        if is_refusal or isinstance(error, _NOT_BILLED):
            return _FREE
        unsent = isinstance(error, WaitTooLongError) or (
            isinstance(error, ConnectionFailedError) and error.unsent
        )
        is_own_error = isinstance(error, FairJudgeError) and not isinstance(error, BackendError)
        return None if unsent or is_own_error else Usage()


class Limit(Middleware):
    """Base class of limits on concurrency, rates or a budget; admits all requests."""

    async def begin(self, request: AnyRequest) -> Any:
        """Wait until `request` may be sent; return the value for `end`, or raise."""

    async def end(self, token: Any, outcome: CallOutcome) -> None:
        """Record the outcome of an admitted request."""

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        token, outcome = await self.begin(request), CallOutcome()
        try:
            reply = outcome.reply = await ask(request)
        except BaseException as error:
            outcome.error = error
            raise
        finally:
            await self.end(token, outcome)
        return reply


class Concurrency(Middleware):
    """A limit of `limit` concurrent requests; further requests wait.

    Must be outside the retries, so that a request waiting for a retry keeps its slot.
    """

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        async with self._slots:
            return await ask(request)


class StoreCheck(Middleware):
    """A check before each request that its reply can be stored.

    Must be inside all middlewares that wait: otherwise a waiting request would be sent, and paid
    for, after the store became unreachable.
    """

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        await asyncio.to_thread(self._cache.check)
        return await ask(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens(Counts):
    """Token counts of several replies, as reported by servers.

    ``input`` is the total of the prompts; ``cached_input`` the part that the provider read from its
    prompt cache, at a lower price.
    """

    input: int = 0
    cached_input: int = 0
    output: int = 0


class TokenCount(Limit):
    """A `Limit` that admits all requests, and adds their usage to ``tokens``."""

    def __init__(self) -> None:
        self.tokens = Tokens()

    async def end(self, token: None, outcome: CallOutcome) -> None:  # noqa: ARG002
        """See `Limit`."""
        usage, earlier_tokens = outcome.usage, self.tokens
        if usage is not None:
            self.tokens = Tokens(
                input=earlier_tokens.input + (usage.input_tokens or 0),
                cached_input=earlier_tokens.cached_input + (usage.cached_input_tokens or 0),
                output=earlier_tokens.output + (usage.output_tokens or 0),
            )
