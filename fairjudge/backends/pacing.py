"""Adaptive concurrency (halved after a 429) and limits per minute on requests and tokens."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairjudge.backends.http import DEFAULT_MAX_WAIT_SECONDS
from fairjudge.backends.limiting import CallOutcome, Limit
from fairjudge.backends.patience import check_wait, count_wait
from fairjudge.backends.ports import AnyRequest, Clock, Sleep
from fairjudge.backends.token_counts import max_input_tokens, output_limit_tokens
from fairjudge.errors import ConfigurationError, RateLimitError, ServerError
from fairjudge.ports import Completion, Decisions

_MINUTE_SECONDS = 60.0
_EPSILON = 1e-9
"""Smaller amounts count as rounding errors."""
_DEFAULT_PAUSE_SECONDS = 0.5
_TRANSIT_SECONDS = 2.0
"""Maximum time until a request reaches the server, whose minute begins on arrival."""
_STEP_SECONDS = 0.1
_SHRINK = 0.5
"""Factor of the concurrency after a 429: additive increase, multiplicative decrease as in TCP (Chiu
and Jain 1989), which converges to the server's capacity even with other clients."""


class Allowance:
    """A rate limit: at most `per_minute` in any 60 seconds, evenly spread.

    Two rules apply together. A sliding window sums the amounts of the last 60 seconds, so that no
    minute exceeds the limit. A token bucket with the capacity of one second spreads requests over
    the minute; a larger amount waits for a full bucket and leaves a negative level. `unit` is the
    noun in error messages.
    """

    def __init__(self, per_minute: float, *, unit: str, clock: Clock = time.monotonic) -> None:
        self._per_minute = per_minute
        self._unit = unit
        self._clock = clock
        self._rate = per_minute / _MINUTE_SECONDS
        self._burst = max(1.0, self._rate)
        self._level = self._burst
        self._updated_at = clock()
        self._bookings: deque[_Booking] = deque()
        self._sum = 0.0

    def seconds_until(self, amount: float) -> float:
        """Return the wait until `amount` is allowed; raise `ConfigurationError` if it never is."""
        if amount > self._per_minute:
            raise ConfigurationError(
                f"one request may use {amount:.0f} {self._unit}, more than the limit of "
                f"{self._per_minute:.0f} per minute"
            )
        self._advance()
        shortfall = min(amount, self._burst) - self._level
        excess, wait_seconds = self._sum + amount - self._per_minute, 0.0
        for booking in self._bookings:
            if excess <= _EPSILON:
                break
            excess -= booking.amount
            wait_seconds = booking.arrival + _MINUTE_SECONDS - self._clock()
        return max(shortfall / self._rate if shortfall > _EPSILON else 0.0, wait_seconds)

    def book(self, amount: float) -> _Booking:
        """Book `amount` for a call that begins now; return the booking, for `correct`."""
        self._advance()
        booking = _Booking(arrival=self._clock() + _TRANSIT_SECONDS, amount=amount)
        self._bookings.append(booking)
        self._sum += amount
        self._level -= amount
        return booking

    def correct(self, booking: _Booking, amount: float | None = None) -> None:
        """Set the latest arrival of an ended call to now; correct its amount if not None."""
        booking.arrival = min(booking.arrival, self._clock())
        if amount is not None:
            change, booking.amount = amount - booking.amount, amount
            self._level -= change
            self._sum += 0.0 if booking.is_expired else change

    def _advance(self) -> None:
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._updated_at) * self._rate)
        self._updated_at = now
        while self._bookings and now - self._bookings[0].arrival >= _MINUTE_SECONDS:
            booking = self._bookings.popleft()
            booking.is_expired = True
            self._sum -= booking.amount


@dataclass(slots=True, kw_only=True)
class _Booking:
    """A booked amount, its latest arrival at the server, and whether it left the window."""

    arrival: float
    amount: float
    is_expired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An open call: the number of earlier reductions of the limit, and its bookings by unit."""

    n_shrunk: int
    bookings: Mapping[str, _Booking]


class AdaptiveLimiter(Limit):
    """A limit on the rates and on the concurrency, which adapts to the server's replies.

    Must be inside the retries, so that every attempt counts and a request waiting for its retry
    does not block others.

    After a 429 the concurrency is halved (once for all calls that were open at the same time), and
    no call begins during the wait requested by the server, or a short pause. Every reply increases
    the concurrency by its reciprocal, so by about one per round of replies. Waiting calls begin in
    order of arrival. The rates hold in any 60 seconds: tokens are booked by an estimate (prompt and
    full reply) and corrected to the server's counts.

    ``limit`` is the current concurrency, between 1 and the initial value. ``max_wait_seconds`` is
    the maximum wait requested by a server that also applies to other calls, where it counts towards
    their total wait (`fairjudge.backends.patience`).
    """

    def __init__(
        self,
        *,
        limit: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        max_wait_seconds: float = DEFAULT_MAX_WAIT_SECONDS,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.limit = float(limit)
        self._max_limit = float(limit)
        self._max_wait_seconds = max_wait_seconds
        self._clock = clock
        self._sleep = sleep
        rates = {"requests": requests_per_minute, "tokens": tokens_per_minute}
        self._allowances = {
            unit: Allowance(per_minute, unit=unit, clock=clock)
            for unit, per_minute in rates.items()
            if per_minute is not None
        }
        self._turn = asyncio.Lock()
        self._room_event = asyncio.Event()
        self._n_open = 0
        self._n_shrunk = 0
        self._closed_until = clock()
        self._closed_seconds = 0.0
        self._on_idle: Callable[[], object] | None = None

    async def begin(self, request: AnyRequest) -> Call:
        """See `Limit`."""
        closed_at_start = self._closed_so_far()
        async with self._turn:
            while self._on_idle is not None or self._n_open >= int(self.limit):
                self._room_event.clear()
                await self._room_event.wait()
            while (closed_seconds := self._closed_until - self._clock()) > 0:
                check_wait(self._closed_so_far() - closed_at_start + closed_seconds)
                await self._sleep(closed_seconds)
            count_wait(self._closed_so_far() - closed_at_start)
            bookings = {unit: await self._book(unit, request) for unit in self._allowances}
            self._n_open += 1
            return Call(n_shrunk=self._n_shrunk, bookings=bookings)

    async def end(self, call: Call, outcome: CallOutcome) -> None:
        """See `Limit`; free the slot, and adapt the limit."""
        self._n_open -= 1
        error, tokens = outcome.error, None
        if outcome.reply is not None:
            self.limit = min(self._max_limit, self.limit + 1.0 / self.limit)
            tokens = _billed_tokens(outcome.reply)
        elif isinstance(error, RateLimitError | ServerError):
            requested_seconds = error.retry_after_seconds
            # 503 and 529 with a Retry-After mean the same as 429.
            if isinstance(error, RateLimitError) or requested_seconds is not None:
                self._shrink(call, requested_seconds or _DEFAULT_PAUSE_SECONDS)
        for unit, booking in call.bookings.items():
            self._allowances[unit].correct(booking, tokens if unit == "tokens" else None)
        self._room_event.set()
        if self._on_idle is not None and self._n_open == 0:
            self._on_idle()

    def _shrink(self, call: Call, requested_seconds: float) -> None:
        if call.n_shrunk != self._n_shrunk:
            return
        self.limit = max(1.0, self.limit * _SHRINK)
        self._n_shrunk += 1
        is_obeyed = requested_seconds <= self._max_wait_seconds
        until = self._clock() + (requested_seconds if is_obeyed else _DEFAULT_PAUSE_SECONDS)
        self._closed_seconds = self._closed_so_far() + until - self._clock()
        self._closed_until = until

    def _closed_so_far(self) -> float:
        """Return the total seconds so far in which no call was allowed to begin."""
        return self._closed_seconds - max(0.0, self._closed_until - self._clock())

    def stop(self, *, on_idle: Callable[[], object]) -> int:
        """Admit no more calls, call `on_idle` when none is open; return the number of open ones."""
        self._on_idle = on_idle
        if self._n_open == 0:
            on_idle()
        return self._n_open

    async def _book(self, unit: str, request: AnyRequest) -> _Booking:
        allowance, amount = self._allowances[unit], 1.0
        if unit == "tokens":
            amount = max_input_tokens(request) + output_limit_tokens(request)
        while wait_seconds := allowance.seconds_until(amount):
            # In short steps, since replies may correct their estimates during the wait.
            await self._sleep(min(wait_seconds, _STEP_SECONDS))
        return allowance.book(amount)


def _billed_tokens(reply: Completion | Decisions) -> float | None:
    usage = reply.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return float(usage.input_tokens + usage.output_tokens)
