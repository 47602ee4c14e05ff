"""Asks again when it was the server's or the network's fault, unless there is no server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from fairjudge.backends.http import DEFAULT_MAX_WAIT_SECONDS
from fairjudge.backends.patience import Patience, of_request
from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request, Sleep, Warn
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    ConfigurationError,
    ConnectionFailedError,
    DeniedError,
    MismatchedReplyError,
    NoReplyError,
    NotFoundError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    WaitTooLongError,
)

_UNMET_ATTEMPTS = 2
"""At a server that nobody has met yet."""
_DENIALS_IN_A_ROW = 10
"""Requests denied one after the other, none answered between: the key itself is denied by then."""
_SAID_FROM_SECONDS = 2.0
"""A shorter wait than this needs no word."""
_KINDS: Mapping[type[BackendError], str] = {
    NoReplyError: "no reply",
    RateLimitError: "429",
    ServerError: "5xx",
    RequestTimeoutError: "timeout",
    ConnectionFailedError: "connection",
    MismatchedReplyError: "mismatch",
}
TRANSIENT = tuple(_KINDS)


def kind_of(error: BackendError) -> str:
    """Return in a word what was retried: ``429``, ``5xx``, ``timeout``, ``connection``, ..."""
    if isinstance(error, ServerError) and error.status is not None and error.status < 500:
        return str(error.status)
    return next((word for kind, word in _KINDS.items() if isinstance(error, kind)), "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently to ask again.

    ``max_attempts`` counts the first one. Waits are random below an exponential bound that starts
    at ``first_wait_seconds`` and stops growing at ``longest_wait_seconds``; a server's Retry-After
    is obeyed instead where it is longer. ``max_wait_seconds`` is the most that one request may wait
    in all, between its attempts and for a server that asked for a pause: where more is asked for,
    the request is given up, and random waits become shorter. No wait begins that would bring the
    waits between attempts above ``total_wait_seconds``: the last error is raised then.
    """

    max_attempts: int = 6
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    max_wait_seconds: float = DEFAULT_MAX_WAIT_SECONDS
    total_wait_seconds: float = 300.0


class Retrying(Middleware):
    """Repeats a request that failed on 429, 5xx, a timeout or a broken connection.

    Every other error is raised at once: asking again changes nothing about a wrong key, a bad
    request, a refusal or an empty reply. ``retried`` is told of the error before each further
    attempt; ``warn`` of waits that a server asks for: of the first long one, and of the first too
    long.

    With ``ends_unmet``, a server that was never met ends the run: a thousand items are not to be
    retried one by one against a mistyped address. Until something is answered, a connection that
    fails twice, and a model or path that is not there (404), raise `ConfigurationError`. A server
    that says no, or that stumbles, was met.

    A key that is not accepted ends the run too, before the first answer. After it, no single item
    does: a request that is denied raises `DeniedError`. Only ten of status 401 or 402 in a row,
    none answered between, raise `AuthenticationError`; a 403 may be about texts, of which many that
    stand together can be alike.
    """

    def __init__(
        self,
        *,
        policy: RetryPolicy | None = None,
        ends_unmet: bool = False,
        sleep: Sleep = asyncio.sleep,
        retried: Callable[[BackendError], None] = lambda _: None,
        warn: Warn | None = None,
    ) -> None:
        self._policy = policy or RetryPolicy()
        self._met = not ends_unmet
        self._answered = False
        self._answered_before = False
        self._n_denied = 0
        self._sleep = sleep
        self._retried = retried
        self._warn = warn
        self._said: set[str] = set()
        self._backoff = wait_random_exponential(
            multiplier=self._policy.first_wait_seconds, max=self._policy.longest_wait_seconds
        )

    def note_answered_before(self) -> None:
        """Note that an earlier start was answered: a 403 or 404 is one item's from the first on."""
        self._answered_before = True

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        patience = Patience(max_wait_seconds=self._policy.max_wait_seconds)
        before = of_request.set(patience)
        try:
            # Most requests need no second attempt, and tenacity takes longer than all else here.
            try:
                with self._meeting(request):
                    return await ask(request)
            except TRANSIENT as error:
                failed = error
            return await self._ask_again(request, ask, failed, patience)
        finally:
            of_request.reset(before)

    async def _ask_again(
        self,
        request: Request,
        ask: Ask[Request, Reply],
        failed: BackendError,
        patience: Patience,
    ) -> Reply:
        async def pause(seconds: float) -> None:
            patience.spend(seconds)
            await self._sleep(seconds)

        def wait_seconds(state: RetryCallState) -> float:
            asked = self._asked_seconds(request, state, patience)
            return max(asked, min(self._backoff(state), patience.left_seconds))

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(TRANSIENT),
            wait=wait_seconds,
            stop=lambda state: self._gives_up(state) or patience.left_seconds <= 0.0,
            sleep=pause,
            before_sleep=lambda state: self._retried(_error(state)),
            reraise=True,
        )
        try:
            async for attempt in attempts:
                with attempt:
                    if attempt.retry_state.attempt_number == 1:
                        raise failed
                    with self._meeting(request):
                        reply = await ask(request)
        except ConnectionFailedError as error:
            if self._met:
                raise
            problem = "no answer can be read" if error.malformed else "no server answers"
            raise ConfigurationError(f"{request.target}: {problem}: {error}") from None
        return reply

    @contextmanager
    def _meeting(self, request: AnyRequest) -> Iterator[None]:
        """Take note of a server that answers; raise if it lacks what nobody has met yet."""
        try:
            yield
        except NotFoundError as error:
            if self._met or self._answered_before:
                raise
            raise ConfigurationError(f"{request.target}: {error}") from None
        except ConnectionFailedError:
            raise
        except AuthenticationError as error:
            self._met = True
            if not self._is_one_items(error):
                raise
            raise DeniedError(str(error)) from None
        except BackendError:
            self._met = True
            raise
        self._met = self._answered = True
        self._n_denied = 0

    def _is_one_items(self, error: AuthenticationError) -> bool:
        """Say whether a denial is of one request, and not of the key."""
        if error.status in {403, 451}:
            return self._answered or self._answered_before
        self._n_denied += 1
        return self._answered and self._n_denied < _DENIALS_IN_A_ROW

    def _gives_up(self, state: RetryCallState) -> bool:
        waited_seconds = state.idle_for + state.upcoming_sleep
        return (
            state.attempt_number >= (self._policy.max_attempts if self._met else _UNMET_ATTEMPTS)
            or waited_seconds > self._policy.total_wait_seconds
        )

    def _asked_seconds(self, request: Request, state: RetryCallState, patience: Patience) -> float:
        """Return the Retry-After that came with the last error, or 0; raise if it is too long."""
        error = _error(state)
        asked = isinstance(error, RateLimitError | ServerError) and error.retry_after_seconds
        seconds = asked or 0.0
        if asked and (wish := patience.too_long(seconds)):
            said = f"{request.target} {wish}; what it does not answer stays without result"
            self._say_once("too long", said)
            raise WaitTooLongError(f"{error}; it {wish}") from None
        if seconds >= _SAID_FROM_SECONDS:
            said = f"{request.target} asks for waits, the first of {seconds:,.0f} s"
            self._say_once("long", said)
        return seconds

    def _say_once(self, kind: str, sentence: str) -> None:
        if self._warn is not None and kind not in self._said:
            self._said.add(kind)
            self._warn(sentence)


def _error(state: RetryCallState) -> Any:
    return state.outcome and state.outcome.exception()
