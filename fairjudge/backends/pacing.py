"""Adapts to a server: fewer calls at once after a 429, and no more a minute than allowed."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairjudge.backends.http import DEFAULT_MAX_WAIT_SECONDS
from fairjudge.backends.limiting import Ending, Limit
from fairjudge.backends.patience import check_wait, count_wait
from fairjudge.backends.ports import AnyRequest, Clock, Sleep
from fairjudge.backends.token_counts import max_input_tokens, output_limit_tokens
from fairjudge.errors import ConfigurationError, RateLimitError, ServerError
from fairjudge.ports import Completion, Decisions

_MINUTE_SECONDS = 60.0
_NOTHING = 1e-9
"""Less than this is rounding."""
_REST_SECONDS = 0.5
_ON_THE_WAY_SECONDS = 2.0
"""How long a request may take to the server: its minute there begins when it arrives."""
_STEP_SECONDS = 0.1
_SHRINK = 0.5
"""What a 429 leaves of the calls at once: additive increase, multiplicative decrease as in TCP
(Chiu and Jain 1989), which settles near what the server takes whoever else asks it."""


class Allowance:
    """What may be taken a minute: never more than `per_minute` in any 60 seconds, and evenly.

    Two rules hold at once. What was taken in the last 60 seconds is summed up, so that no minute
    has more. And a bucket that holds a second's worth and fills at an even rate spreads it, so that
    a minute's worth is not asked for at once; an amount above that waits for a full bucket and
    leaves a debt. `what` is its name in an error.
    """

    def __init__(self, per_minute: float, *, what: str, clock: Clock = time.monotonic) -> None:
        self._per_minute = per_minute
        self._what = what
        self._clock = clock
        self._rate = per_minute / _MINUTE_SECONDS
        self._burst = max(1.0, self._rate)
        self._level = self._burst
        self._filled_at = clock()
        self._taken: deque[_Taken] = deque()
        self._sum = 0.0

    def seconds_until(self, amount: float) -> float:
        """Return how long to wait until `amount` may be taken; raise if that is never."""
        if amount > self._per_minute:
            raise ConfigurationError(
                f"one request may take {amount:.0f} {self._what}, more than the "
                f"{self._per_minute:.0f} a minute that are allowed"
            )
        self._pass_time()
        missing = min(amount, self._burst) - self._level
        over, until = self._sum + amount - self._per_minute, 0.0
        for taken in self._taken:
            if over <= _NOTHING:
                break
            over -= taken.amount
            until = taken.at + _MINUTE_SECONDS - self._clock()
        return max(missing / self._rate if missing > _NOTHING else 0.0, until)

    def take(self, amount: float) -> _Taken:
        """Take `amount` for a call that begins now; return what `correct` needs."""
        self._pass_time()
        taken = _Taken(at=self._clock() + _ON_THE_WAY_SECONDS, amount=amount)
        self._taken.append(taken)
        self._sum += amount
        self._level -= amount
        return taken

    def correct(self, taken: _Taken, amount: float | None = None) -> None:
        """Note that the call ended, so reached the server before now; book `amount`, if given."""
        taken.at = min(taken.at, self._clock())
        if amount is not None:
            change, taken.amount = amount - taken.amount, amount
            self._level -= change
            self._sum += 0.0 if taken.past else change

    def _pass_time(self) -> None:
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        while self._taken and now - self._taken[0].at >= _MINUTE_SECONDS:
            taken = self._taken.popleft()
            taken.past = True
            self._sum -= taken.amount


@dataclass(slots=True, kw_only=True)
class _Taken:
    """`at` is when the server had it at the latest; `past`: more than a minute ago."""

    at: float
    amount: float
    past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call under way: after how many shrinkings it began, and what was taken for it."""

    n_shrunk: int
    taken: Mapping[str, _Taken]


class AdaptiveLimiter(Limit):
    """How many calls may be under way, and how many may begin.

    Belongs inside the retries, so that every attempt counts and a request that waits to be asked
    again keeps no other from being asked.

    After a 429 the number at once is halved (once for all calls that were under way together) and
    none begins for the time that the server asked for, or a moment. Every reply lets it grow by its
    own reciprocal: by about one each time that as many were answered. Waiting calls go in the order
    in which they came. No 60 seconds have more than the rates: tokens are set aside by an estimate
    (prompt and full reply) and booked as the server counted them.

    ``limit`` calls at once are allowed now: those given at first and at the most, 1 at the least.
    ``max_wait_seconds`` is the longest wait for which a server's word keeps other calls from
    beginning; how long it does counts for their own waiting (`fairjudge.backends.patience`).
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
        self._highest = float(limit)
        self._max_wait_seconds = max_wait_seconds
        self._clock = clock
        self._sleep = sleep
        rates = {"requests": requests_per_minute, "tokens": tokens_per_minute}
        self._allowances = {
            what: Allowance(per_minute, what=what, clock=clock)
            for what, per_minute in rates.items()
            if per_minute is not None
        }
        self._turn = asyncio.Lock()
        self._room = asyncio.Event()
        self._under_way = 0
        self._n_shrunk = 0
        self._closed_until = clock()
        self._closed_seconds = 0.0
        self._then: Callable[[], object] | None = None

    async def begin(self, request: AnyRequest) -> Call:
        """See `Limit`."""
        closed_before = self._closed_so_far()
        async with self._turn:
            while self._then is not None or self._under_way >= int(self.limit):
                self._room.clear()
                await self._room.wait()
            while (closed_seconds := self._closed_until - self._clock()) > 0:
                check_wait(self._closed_so_far() - closed_before + closed_seconds)
                await self._sleep(closed_seconds)
            count_wait(self._closed_so_far() - closed_before)
            taken = {what: await self._take(what, request) for what in self._allowances}
            self._under_way += 1
            return Call(n_shrunk=self._n_shrunk, taken=taken)

    async def end(self, call: Call, ending: Ending) -> None:
        """See `Limit`: give the place back, and learn from the end."""
        self._under_way -= 1
        error, tokens = ending.error, None
        if ending.reply is not None:
            self.limit = min(self._highest, self.limit + 1.0 / self.limit)
            tokens = _counted_tokens(ending.reply)
        elif isinstance(error, RateLimitError | ServerError):
            asked_seconds = error.retry_after_seconds
            # 503 and 529 with a Retry-After say the same as 429 does.
            if isinstance(error, RateLimitError) or asked_seconds is not None:
                self._shrink(call, asked_seconds or _REST_SECONDS)
        for what, taken in call.taken.items():
            self._allowances[what].correct(taken, tokens if what == "tokens" else None)
        self._room.set()
        if self._then is not None and self._under_way == 0:
            self._then()

    def _shrink(self, call: Call, asked_seconds: float) -> None:
        if call.n_shrunk != self._n_shrunk:
            return
        self.limit = max(1.0, self.limit * _SHRINK)
        self._n_shrunk += 1
        heeded = asked_seconds <= self._max_wait_seconds
        until = self._clock() + (asked_seconds if heeded else _REST_SECONDS)
        self._closed_seconds = self._closed_so_far() + until - self._clock()
        self._closed_until = until

    def _closed_so_far(self) -> float:
        """Return how many seconds until now were ones in which no call might begin."""
        return self._closed_seconds - max(0.0, self._closed_until - self._clock())

    def stop(self, *, then: Callable[[], object]) -> int:
        """Begin no more calls; call `then` when none is under way; return how many are."""
        self._then = then
        if self._under_way == 0:
            then()
        return self._under_way

    async def _take(self, what: str, request: AnyRequest) -> _Taken:
        allowance, amount = self._allowances[what], 1.0
        if what == "tokens":
            amount = max_input_tokens(request) + output_limit_tokens(request)
        while wait_seconds := allowance.seconds_until(amount):
            # In short steps: a reply may give back, meanwhile, what was set aside for it.
            await self._sleep(min(wait_seconds, _STEP_SECONDS))
        return allowance.take(amount)


def _counted_tokens(reply: Completion | Decisions) -> float | None:
    usage = reply.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return float(usage.input_tokens + usage.output_tokens)
