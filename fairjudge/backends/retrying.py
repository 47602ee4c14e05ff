"""Asks again when it was the server's or the network's fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.errors import (
    BackendError,
    ConnectionFailedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import Completion, CompletionRequest, DecisionRequest, Decisions

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)
Sleep = Callable[[float], Awaitable[None]]

TRANSIENT = (RateLimitError, ServerError, RequestTimeoutError, ConnectionFailedError)
_KINDS: Mapping[type[BackendError], str] = MappingProxyType(
    {
        RateLimitError: "429",
        ServerError: "5xx",
        RequestTimeoutError: "timeout",
        ConnectionFailedError: "connection",
    }
)


def kind_of(error: BackendError) -> str:
    """Return in a word what was retried: ``429``, ``5xx``, ``timeout`` or ``connection``."""
    return next((word for kind, word in _KINDS.items() if isinstance(error, kind)), "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently to ask again.

    ``max_attempts`` counts the first one. Waits are random below an exponential bound that starts
    at ``first_wait_seconds`` and stops growing at ``longest_wait_seconds``; a server's Retry-After
    is obeyed instead where it is longer. No wait begins that would bring one request's waiting
    above ``total_wait_seconds``: the last error is raised then.
    """

    max_attempts: int = 6
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    total_wait_seconds: float = 300.0


class RetryingBackend:
    """Repeats a request that failed on 429, 5xx, a timeout or a broken connection.

    Every other error is raised at once: asking again changes nothing about a wrong key, a bad
    request, a refusal or an empty reply.

    Parameters
    ----------
    inner : Backend or DecisionBackend
        What to ask.
    policy : RetryPolicy, optional
        How often, and how long to wait.
    sleep : callable, optional
        Awaited with the seconds of each wait; tests pass their own.
    retried : callable, optional
        Told of the error before each further attempt.
    """

    def __init__(
        self,
        inner: AnyBackend,
        *,
        policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
        retried: Callable[[BackendError], None] | None = None,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._retried = retried
        self._backoff = wait_random_exponential(
            multiplier=self._policy.first_wait_seconds, max=self._policy.longest_wait_seconds
        )

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, asking again as the policy says."""
        return await self._persist(request, text_port(self._inner))

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, asking again as the policy says."""
        return await self._persist(request, decision_port(self._inner))

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)

    async def _persist(self, request: Request, ask: Callable[[Request], Awaitable[Reply]]) -> Reply:
        # Most requests need no second attempt, and tenacity takes longer than all else here.
        try:
            return await ask(request)
        except TRANSIENT as error:
            failed: list[BackendError] = [error]

        async def attempt(request: Request) -> Reply:
            if failed:
                raise failed.pop()
            return await ask(request)

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(TRANSIENT),
            wait=self._wait_seconds,
            stop=self._gives_up,
            sleep=self._sleep,
            before_sleep=self._tell,
            reraise=True,
        )
        return await attempts(attempt, request)

    def _wait_seconds(self, state: RetryCallState) -> float:
        return max(self._backoff(state), _asked_wait_seconds(_error(state)))

    def _gives_up(self, state: RetryCallState) -> bool:
        waited_seconds = state.idle_for + state.upcoming_sleep
        return (
            state.attempt_number >= self._policy.max_attempts
            or waited_seconds > self._policy.total_wait_seconds
        )

    def _tell(self, state: RetryCallState) -> None:
        error = _error(state)
        if self._retried is not None and isinstance(error, BackendError):
            self._retried(error)


def _error(state: RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _asked_wait_seconds(error: BaseException | None) -> float:
    """Return the Retry-After that came with `error`, or 0."""
    if isinstance(error, RateLimitError | ServerError):
        return error.retry_after_seconds or 0.0
    return 0.0
