"""Limits: what admits a request, and learns how it ended."""

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

_NOT_BILLED = (RateLimitError, ServerError, BadRequestError, AuthenticationError, DeniedError)
"""Answered with an error status, for which no provider charges."""
_FREE = Usage(input_tokens=0, output_tokens=0)


@dataclass(slots=True)
class Ending:
    """How a request ended: with a reply or an error."""

    reply: Completion | Decisions | None = None
    error: BaseException | None = None

    @property
    def usage(self) -> Usage | None:
        """What the request is billed for: counts, unknown ones, or None if it was never sent."""
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


class Limit:
    """Admits requests: a number at once, a rate, a budget. This one admits all."""

    async def begin(self, request: AnyRequest) -> Any:
        """Wait until `request` may be asked; return what `end` needs, or raise."""

    async def end(self, begun: Any, ending: Ending) -> None:
        """Learn how the request ended."""


class Limiting(Middleware):
    """Asks within `limits`: begun in the order given, and ended in the other, whatever happens."""

    def __init__(self, *limits: Limit) -> None:
        self._limits = limits

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        ending = Ending()
        begun: list[tuple[Limit, Any]] = []
        try:
            for limit in self._limits:
                begun.append((limit, await limit.begin(request)))  # noqa: PERF401
            reply = ending.reply = await ask(request)
        except BaseException as error:
            ending.error = error
            raise
        finally:
            await _end(begun, ending)
        return reply


async def _end(begun: list[tuple[Limit, Any]], ending: Ending) -> None:
    """End what was begun, the last first, and all of it whatever one of them raises."""
    if begun:
        limit, place = begun.pop()
        try:
            await limit.end(place, ending)
        finally:
            await _end(begun, ending)


class Concurrency(Limit):
    """Admits at most `limit` requests at once; the others wait their turn.

    Belongs outside the retries, so that a request which waits for a busy server keeps its place.
    """

    def __init__(self, limit: int) -> None:
        self._places = asyncio.Semaphore(limit)

    async def begin(self, request: AnyRequest) -> None:  # noqa: ARG002
        """See `Limit`."""
        await self._places.acquire()

    async def end(self, begun: None, ending: Ending) -> None:  # noqa: ARG002
        """See `Limit`."""
        self._places.release()


class StoreCheck(Limit):
    """Admits no request while its reply could not be kept.

    Belongs inside all that waits: what waits for a place or another attempt would otherwise still
    be asked, and paid for, after the store went away.
    """

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    async def begin(self, request: AnyRequest) -> None:  # noqa: ARG002
        """See `Limit`."""
        await asyncio.to_thread(self._cache.check)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of several replies, as far as servers counted them.

    ``input`` are all of the prompts; ``cached_input`` those of them that the provider knew from
    earlier prompts, which it bills for less.
    """

    input: int = 0
    cached_input: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input,
            cached_input=self.cached_input + other.cached_input,
            output=self.output + other.output,
        )

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input - other.input,
            cached_input=self.cached_input - other.cached_input,
            output=self.output - other.output,
        )


class TokenCount(Limit):
    """Admits every request, and adds to ``tokens`` what it took, refusals included."""

    def __init__(self) -> None:
        self.tokens = Tokens()

    async def end(self, begun: None, ending: Ending) -> None:  # noqa: ARG002
        """See `Limit`."""
        if ending.usage is not None:
            self.tokens += Tokens(
                input=ending.usage.input_tokens or 0,
                cached_input=ending.usage.cached_input_tokens or 0,
                output=ending.usage.output_tokens or 0,
            )
