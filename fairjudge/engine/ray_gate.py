"""One gate for the model calls of a whole cluster: places, money and calls.

`Gate` is plain Python that Ray runs as a named actor; `GateLimit` stands at the workers. A
worker that dies in the middle of calls says nothing more, and after a while its places are free
again; what was set aside for its calls stays so, since they may have been billed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from fairjudge.backends.budgeting import Budget, Reservation, likely_usage
from fairjudge.backends.limiting import Ending, Limit
from fairjudge.backends.pacing import Allowance
from fairjudge.backends.ports import AnyRequest, Clock, Sleep
from fairjudge.backends.token_counts import max_input_tokens, output_limit_tokens
from fairjudge.errors import BudgetExceededError, ConfigurationError
from fairjudge.ports import ModelRef, Usage

Entered: TypeAlias = Reservation | str | None
"""What is set aside, or why nothing is; None for a worker that is to come again."""

LEASE_SECONDS = 20.0
"""A worker that was silent for so long counts as dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTotals:
    """What went through a gate."""

    n_calls: int = 0
    cost_usd: float = 0.0
    n_unpriced: int = 0


class Gate:
    """Lets at most `max_concurrent` calls of all workers be in flight, while `budget` lasts.

    ``rates`` are the most ``requests`` and ``tokens`` a minute, None where there is no limit. After
    ``lease_seconds`` of silence a worker's places are given to others.
    """

    def __init__(
        self,
        *,
        max_concurrent: int,
        budget: Budget,
        rates: Mapping[str, float | None] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._max_concurrent = max_concurrent
        self._budget = budget
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._sleep = sleep
        self._held: Counter[str] = Counter()
        self._heard: dict[str, float] = {}
        self._left = asyncio.Event()
        self._turn = asyncio.Lock()
        given = {what: rate for what, rate in (rates or {}).items() if rate is not None}
        self._allowances = {
            what: Allowance(rate, what=what, clock=clock) for what, rate in given.items()
        }

    async def enter(self, worker: str, target: ModelRef, likely: Usage) -> Entered:
        """Wait for a place and set the call's likely cost aside; return it, or why there is none.

        Why, and not an error: errors of an actor reach the caller wrapped. None for a worker that
        was thought dead while it waited: it may come again, and one that is dead takes no place.
        """
        self._heard[worker] = self._clock()
        while self._held.total() >= self._max_concurrent:
            self._left.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), self._lease_seconds / 4)
            self._expire_leases()
            if worker not in self._heard:
                return None
        self._held[worker] += 1
        try:
            return await self._budget.reserve(target, likely)
        except BudgetExceededError as error:
            self._give_back(worker)
            return str(error)

    async def leave(self, worker: str, reserved: Reservation, usage: Usage | None) -> None:
        """Give a place back and book what the call cost."""
        self._heard[worker] = self._clock()
        self._budget.settle(reserved, usage)
        self._give_back(worker)

    async def take_turn(self, tokens: float) -> str | None:
        """Wait until one more request of so many tokens keeps to the rates, or say why none will.

        What is taken is an estimate and is not corrected afterwards.
        """
        async with self._turn:
            for what, allowance in self._allowances.items():
                amount = tokens if what == "tokens" else 1.0
                try:
                    while wait_seconds := allowance.seconds_until(amount):
                        await self._sleep(wait_seconds)
                except ConfigurationError as error:
                    return str(error)
                allowance.take(amount)
        return None

    async def stay(self, worker: str) -> None:
        """Take note that `worker` is alive."""
        self._heard[worker] = self._clock()

    async def totals(self) -> GateTotals:
        """Return what went through so far."""
        budget = self._budget
        return GateTotals(
            n_calls=budget.n_calls, cost_usd=budget.cost_usd, n_unpriced=budget.n_unpriced
        )

    def _give_back(self, worker: str) -> None:
        if self._held[worker] > 0:  # else it was thought dead, and its place is another's
            self._held[worker] -= 1
            self._left.set()

    def _expire_leases(self) -> None:
        limit = self._clock() - self._lease_seconds
        for worker in [name for name, heard in self._heard.items() if heard < limit]:
            del self._heard[worker]
            self._held.pop(worker, None)


class _Remote:
    """Calls the methods of a Ray actor as if they were those of an object in this process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name).remote


def remote_gate(handle: Any) -> Gate:
    """Return the `Gate` in another process, over the handle of its Ray actor."""
    return cast("Gate", _Remote(handle))


class GateRates(Limit):
    """A `Limit` that admits an attempt when the cluster's gate says that it is its turn."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def begin(self, request: AnyRequest) -> None:
        """See `Limit`."""
        why = await self._gate.take_turn(max_input_tokens(request) + output_limit_tokens(request))
        if why is not None:
            raise ConfigurationError(why)


class GateLimit(Limit):
    """A `Limit` that admits an attempt when the cluster's gate does."""

    def __init__(self, gate: Gate, *, worker: str) -> None:
        self._gate = gate
        self._worker = worker
        self._staying: asyncio.Task[None] | None = None

    async def begin(self, request: AnyRequest) -> Reservation:
        """See `Limit`."""
        if self._staying is None:
            self._staying = asyncio.create_task(self._stay())
        likely, entered = likely_usage(request), None
        while entered is None:
            entered = await self._gate.enter(self._worker, request.target, likely)
        if isinstance(entered, str):
            raise BudgetExceededError(entered)
        return entered

    async def end(self, begun: Reservation, ending: Ending) -> None:
        """See `Limit`."""
        await self._gate.leave(self._worker, begun, ending.usage)

    async def aclose(self) -> None:
        """Say no more that this worker is alive."""
        if self._staying is not None:
            self._staying.cancel()
            with suppress(asyncio.CancelledError):
                await self._staying

    async def _stay(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            await self._gate.stay(self._worker)
