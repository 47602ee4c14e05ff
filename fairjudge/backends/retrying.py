"""Retry requests after errors of the server or the network, unless no server ever answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from fairjudge.backends.http import DEFAULT_MAX_WAIT_SECONDS
from fairjudge.backends.patience import Patience, request_patience
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

_ATTEMPTS_BEFORE_FIRST_REPLY = 2
"""Maximum attempts at a server that has not answered any request yet."""
_DENIALS_IN_A_ROW = 10
"""Number of consecutive denials after which the key itself counts as denied."""
_WARN_FROM_SECONDS = 2.0
"""Minimum wait for a warning."""
_KINDS: Mapping[type[BackendError], str] = {
    NoReplyError: "no reply",
    RateLimitError: "429",
    ServerError: "5xx",
    RequestTimeoutError: "timeout",
    ConnectionFailedError: "connection",
    MismatchedReplyError: "mismatch",
}
TRANSIENT = tuple(_KINDS)


def error_kind(error: BackendError) -> str:
    """Return the kind of a retried error: ``429``, ``5xx``, ``timeout``, ``connection``, ..."""
    if isinstance(error, ServerError) and error.status is not None and error.status < 500:
        return str(error.status)
    return next((word for kind, word in _KINDS.items() if isinstance(error, kind)), "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The number of attempts and the waits between them.

    ``max_attempts`` includes the first one. Waits are random below an exponential bound from
    ``first_wait_seconds`` to ``longest_wait_seconds``; a longer Retry-After of the server replaces
    them. ``max_wait_seconds`` is the maximum total wait of one request, between its attempts and in
    pauses requested by the server: random waits are shortened to it, and if the server requests
    more, the request fails. If the total wait between attempts would exceed
    ``total_wait_seconds``, the last error is raised.
    """

    max_attempts: int = 6
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    max_wait_seconds: float = DEFAULT_MAX_WAIT_SECONDS
    total_wait_seconds: float = 300.0


class Retrying(Middleware):
    """A middleware that retries requests after 429, 5xx, a timeout or a failed connection.

    Other errors are raised at once: a retry does not help against a wrong key, a bad request, a
    refusal or an empty reply. ``on_retry`` is called with the error before each retry; ``warn`` is
    called for the first long wait requested by a server, and for the first that is too long.

    With ``fail_if_never_reached``, a server that was never reached ends the run, so that a thousand
    items are not retried one by one against a mistyped URL. Until the first reply, a connection
    that fails twice, and a missing model or path (404), raise `ConfigurationError`. A server that
    denies a request or fails counts as reached.

    Before the first reply, a denied key ends the run too. After it, a single denied request raises
    `DeniedError`, and only ten consecutive denials with status 401 or 402 raise
    `AuthenticationError`. A 403 may concern the content, which can be similar in many consecutive
    items.
    """

    def __init__(
        self,
        *,
        policy: RetryPolicy | None = None,
        fail_if_never_reached: bool = False,
        sleep: Sleep = asyncio.sleep,
        on_retry: Callable[[BackendError], None] = lambda _: None,
        warn: Warn | None = None,
    ) -> None:
        self._policy = policy or RetryPolicy()
        self._is_reached = not fail_if_never_reached
        self._has_reply = False
        self._has_earlier_reply = False
        self._n_denied = 0
        self._sleep = sleep
        self._on_retry = on_retry
        self._warn = warn
        self._warned_kinds: set[str] = set()
        self._backoff = wait_random_exponential(
            multiplier=self._policy.first_wait_seconds, max=self._policy.longest_wait_seconds
        )

    def note_earlier_reply(self) -> None:
        """Note that the run received replies earlier; a 403 or 404 then concerns only one item."""
        self._has_earlier_reply = True

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        patience = Patience(max_wait_seconds=self._policy.max_wait_seconds)
        context_token = request_patience.set(patience)
        try:
            # Most requests need no retry, and tenacity is slow.
            try:
                with self._track_reachability(request):
                    return await ask(request)
            except TRANSIENT as error:
                first_error = error
            return await self._retry(request, ask, first_error, patience)
        finally:
            request_patience.reset(context_token)

    async def _retry(
        self,
        request: Request,
        ask: Ask[Request, Reply],
        first_error: BackendError,
        patience: Patience,
    ) -> Reply:
        async def pause(seconds: float) -> None:
            patience.waited_seconds += seconds
            await self._sleep(seconds)

        def wait_seconds(state: RetryCallState) -> float:
            asked_seconds = self._retry_after_seconds(request, state, patience)
            return max(asked_seconds, min(self._backoff(state), patience.remaining_seconds))

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(TRANSIENT),
            wait=wait_seconds,
            stop=lambda state: self._gives_up(state) or patience.remaining_seconds <= 0.0,
            sleep=pause,
            before_sleep=lambda state: self._on_retry(_error(state)),
            reraise=True,
        )
        try:
            async for attempt in attempts:
                with attempt:
                    if attempt.retry_state.attempt_number == 1:
                        raise first_error
                    with self._track_reachability(request):
                        reply = await ask(request)
        except ConnectionFailedError as error:
            if self._is_reached:
                raise
            problem = "no answer can be read" if error.malformed else "no server answers"
            raise ConfigurationError(f"{request.target}: {problem}: {error}") from None
        return reply

    @contextmanager
    def _track_reachability(self, request: AnyRequest) -> Iterator[None]:
        """Record whether the server answers; raise errors that end the run (see the class)."""
        try:
            yield
        except NotFoundError as error:
            if self._is_reached or self._has_earlier_reply:
                raise
            problem = f"{request.target}: {error}; check the model's name and the base URL"
            raise ConfigurationError(problem) from None
        except ConnectionFailedError:
            raise
        except AuthenticationError as error:
            self._is_reached = True
            if not self._concerns_one_request(error):
                raise
            raise DeniedError(str(error)) from None
        except BackendError:
            self._is_reached = True
            raise
        self._is_reached = self._has_reply = True
        self._n_denied = 0

    def _concerns_one_request(self, error: AuthenticationError) -> bool:
        """Return whether a denial concerns one request, not the key."""
        if error.status in {403, 451}:
            return self._has_reply or self._has_earlier_reply
        self._n_denied += 1
        return self._has_reply and self._n_denied < _DENIALS_IN_A_ROW

    def _gives_up(self, state: RetryCallState) -> bool:
        waited_seconds = state.idle_for + state.upcoming_sleep
        return (
            state.attempt_number
            >= (self._policy.max_attempts if self._is_reached else _ATTEMPTS_BEFORE_FIRST_REPLY)
            or waited_seconds > self._policy.total_wait_seconds
        )

    def _retry_after_seconds(
        self, request: Request, state: RetryCallState, patience: Patience
    ) -> float:
        """Return the Retry-After of the last error in seconds, or 0; raise if it is too long."""
        error = _error(state)
        retry_after = isinstance(error, RateLimitError | ServerError) and error.retry_after_seconds
        seconds = retry_after or 0.0
        if retry_after and (problem := patience.problem_of_wait(seconds)):
            sentence = f"{request.target} {problem}; requests without a reply have no result"
            self._warn_once("too long", sentence)
            raise WaitTooLongError(f"{error}; it {problem}") from None
        if seconds >= _WARN_FROM_SECONDS:
            sentence = f"{request.target} asks to wait, first for {seconds:,.0f} s"
            self._warn_once("long", sentence)
        return seconds

    def _warn_once(self, kind: str, sentence: str) -> None:
        if self._warn is not None and kind not in self._warned_kinds:
            self._warned_kinds.add(kind)
            self._warn(sentence)


def _error(state: RetryCallState) -> Any:
    return state.outcome and state.outcome.exception()
