"""A limit on the model calls of a whole Ray cluster: concurrency, rates and budget.

`Gate` is plain Python that Ray runs as a named actor; `GateLimit` is its client in each worker. The
slots of a worker that dies during calls are freed after `LEASE_SECONDS`; the budget reserved for
its calls remains reserved, since they may have been billed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeAlias, cast

from fairjudge.backends.budgeting import Budget, Reservation, likely_usage
from fairjudge.backends.limiting import CallOutcome, Limit
from fairjudge.backends.pacing import Allowance
from fairjudge.backends.ports import AnyRequest, Clock, Sleep
from fairjudge.errors import BudgetExceededError, ConfigurationError
from fairjudge.ports import ModelRef, Usage
from fairjudge.records.spending import Spending

Admission: TypeAlias = Reservation | BudgetExceededError | ConfigurationError | None
"""The reserved cost, the error to raise, or None for a worker that must call again."""

LEASE_SECONDS = 20.0
"""The time without a renewal after which a worker counts as dead."""


class Gate:
    """A limit of `max_concurrent` concurrent calls of all workers, within `budget`.

    ``rates`` are the maximum ``requests`` and ``tokens`` per minute, None for no limit. The slots
    of a worker are freed ``lease_seconds`` after its last renewal.
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
        self._n_in_flight: Counter[str] = Counter()
        self._last_seen: dict[str, float] = {}
        self._slot_event = asyncio.Event()
        self._turn = asyncio.Lock()
        limits = {unit: rate for unit, rate in (rates or {}).items() if rate is not None}
        self._allowances = {
            unit: Allowance(rate, unit=unit, clock=clock) for unit, rate in limits.items()
        }

    async def enter(self, worker: str, target: ModelRef, likely: Usage) -> Admission:
        """Wait for a slot, reserve the call's likely cost, and wait until the rates admit it.

        An error is returned, not raised, since Ray wraps the errors of an actor. None is returned
        to a worker whose lease expired while it waited: if alive, it calls again; if dead, it must
        not occupy a slot. The token count is an estimate that is not corrected afterwards.
        """
        self._last_seen[worker] = self._clock()
        while self._n_in_flight.total() >= self._max_concurrent:
            self._slot_event.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._slot_event.wait(), self._lease_seconds / 4)
            self._expire_leases()
            if worker not in self._last_seen:
                return None
        self._n_in_flight[worker] += 1
        try:
            reservation = await self._budget.reserve(target, likely)
        except BudgetExceededError as error:
            self._free_slot(worker)
            return error
        try:
            await self._wait_for_rates((likely.input_tokens or 0) + (likely.output_tokens or 0))
        except ConfigurationError as error:
            await self.leave(worker, reservation, None)
            return error
        return reservation

    async def leave(self, worker: str, reservation: Reservation, usage: Usage | None) -> None:
        """Free the slot of a call and settle its cost."""
        self._last_seen[worker] = self._clock()
        self._budget.settle(reservation, usage)
        self._free_slot(worker)

    async def renew_lease(self, worker: str) -> None:
        """Renew the lease of `worker`."""
        self._last_seen[worker] = self._clock()

    async def totals(self) -> Spending:
        """Return the spending so far."""
        return self._budget.booked

    async def _wait_for_rates(self, tokens: float) -> None:
        async with self._turn:
            for unit, allowance in self._allowances.items():
                amount = tokens if unit == "tokens" else 1.0
                while wait_seconds := allowance.seconds_until(amount):
                    await self._sleep(wait_seconds)
                allowance.book(amount)

    def _free_slot(self, worker: str) -> None:
        if self._n_in_flight[worker] > 0:  # else its lease expired, and its slot was freed
            self._n_in_flight[worker] -= 1
            self._slot_event.set()

    def _expire_leases(self) -> None:
        limit = self._clock() - self._lease_seconds
        for worker in [name for name, seen_at in self._last_seen.items() if seen_at < limit]:
            del self._last_seen[worker]
            self._n_in_flight.pop(worker, None)


class _Remote:
    """A proxy to call the methods of a Ray actor like those of a local object."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name).remote


def remote_gate(handle: Any) -> Gate:
    """Return a proxy for the `Gate` in the Ray actor of `handle`."""
    return cast("Gate", _Remote(handle))


class GateLimit(Limit):
    """A `Limit` on the concurrency, the budget and the rates of the whole cluster."""

    def __init__(self, gate: Gate, *, worker: str) -> None:
        self._gate = gate
        self._worker = worker
        self._heartbeat: asyncio.Task[None] | None = None

    async def begin(self, request: AnyRequest) -> Reservation:
        """See `Limit`."""
        if self._heartbeat is None:
            self._heartbeat = asyncio.create_task(self._keep_lease())
        likely, admission = likely_usage(request), None
        while admission is None:
            admission = await self._gate.enter(self._worker, request.target, likely)
        if isinstance(admission, Exception):
            raise admission
        return admission

    async def end(self, token: Reservation, outcome: CallOutcome) -> None:
        """See `Limit`."""
        await self._gate.leave(self._worker, token, outcome.usage)

    async def aclose(self) -> None:
        """Stop renewing this worker's lease."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            with suppress(asyncio.CancelledError):
                await self._heartbeat

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            await self._gate.renew_lease(self._worker)
