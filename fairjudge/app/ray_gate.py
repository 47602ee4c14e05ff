"""One gate for the model calls of a whole cluster: places, money and calls.

`Gate` is plain Python that Ray runs as a named actor; `GatedBackend` stands at the workers. A
worker that dies in the middle of calls says nothing more, and after a while its places are free
again; what was set aside for its calls stays so, since they may have been billed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fairjudge.backends.budgeting import (
    Budget,
    estimated_input_tokens,
    likely_usage,
    output_limit_tokens,
)
from fairjudge.backends.pacing import Allowance
from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.errors import BudgetExceededError, ConfigurationError
from fairjudge.protocols import (
    Completion,
    CompletionRequest,
    DecisionRequest,
    Decisions,
    ModelRef,
    Usage,
)

Request = TypeVar("Request", CompletionRequest, DecisionRequest)
Reply = TypeVar("Reply", Completion, Decisions)

LEASE_SECONDS = 20.0
"""A worker that was silent for so long counts as dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTotals:
    """What went through a gate."""

    n_calls: int
    cost_usd: float
    n_unpriced: int


class Gate:
    """Lets at most `most` calls of all workers be in flight, while `budget` lasts.

    Parameters
    ----------
    most : int
    budget : Budget
    rates : mapping, optional
        Most ``requests`` and ``tokens`` in any minute; None where there is no limit.
    lease_seconds : float
        After so long a silence a worker's places are given to others.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        *,
        most: int,
        budget: Budget,
        rates: Mapping[str, float | None] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._budget = budget
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._held: Counter[str] = Counter()
        self._heard: dict[str, float] = {}
        self._left = asyncio.Event()
        self._turn = asyncio.Lock()
        given = {what: rate for what, rate in (rates or {}).items() if rate is not None}
        self._allowances = {what: Allowance(rate, what=what) for what, rate in given.items()}

    async def enter(self, worker: str, target: ModelRef, likely: Usage) -> float | str | None:
        """Wait for a place and set the call's likely cost aside; return it, or why there is none.

        Why, and not an error: errors of an actor reach the caller wrapped. None for a worker that
        was thought dead while it waited: it may come again, and one that is dead takes no place.
        """
        self._heard[worker] = self._clock()
        while self._held.total() >= self._most:
            self._left.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), self._lease_seconds / 4)
            self._bury_the_silent()
            if worker not in self._heard:
                return None
        try:
            reserved = self._budget.reserve_for(target, likely)
        except BudgetExceededError as error:
            return str(error)
        self._held[worker] += 1
        return reserved

    async def leave(
        self, worker: str, target: ModelRef, reserved_usd: float, usage: Usage | None
    ) -> None:
        """Give a place back and book what the call cost."""
        self._heard[worker] = self._clock()
        self._budget.settle_for(target, reserved_usd, usage)
        if self._held[worker] > 0:  # else it was thought dead, and its place is another's
            self._held[worker] -= 1
            self._left.set()

    async def take_turn(self, tokens: float) -> str | None:
        """Wait until one more request of so many tokens keeps to the rates, or say why none will.

        What is taken is an estimate and is not corrected afterwards.
        """
        async with self._turn:
            for what, allowance in self._allowances.items():
                amount = tokens if what == "tokens" else 1.0
                try:
                    while wait_seconds := allowance.seconds_until(amount):
                        await asyncio.sleep(wait_seconds)
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

    def _bury_the_silent(self) -> None:
        limit = self._clock() - self._lease_seconds
        for worker in [name for name, heard in self._heard.items() if heard < limit]:
            del self._heard[worker]
            self._held.pop(worker, None)


class RemoteGate(Protocol):
    """A `Gate` as workers see it: each call goes to another process."""

    async def enter(self, worker: str, target: ModelRef, likely: Usage) -> float | str | None:
        """See `Gate`."""
        ...

    async def leave(
        self, worker: str, target: ModelRef, reserved_usd: float, usage: Usage | None
    ) -> None:
        """See `Gate`."""
        ...

    async def stay(self, worker: str) -> None:
        """See `Gate`."""
        ...

    async def take_turn(self, tokens: float) -> str | None:
        """See `Gate`."""
        ...


class RatedBackend:
    """Lets an attempt through to `inner` when the cluster's gate says that it is its turn."""

    def __init__(self, inner: AnyBackend, *, gate: RemoteGate) -> None:
        self._inner = inner
        self._gate = gate

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request` in its turn."""
        await self._wait(request)
        return await text_port(self._inner)(request)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request` in its turn."""
        await self._wait(request)
        return await decision_port(self._inner)(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)

    async def _wait(self, request: CompletionRequest | DecisionRequest) -> None:
        tokens = estimated_input_tokens(request) + output_limit_tokens(request)
        why = await self._gate.take_turn(tokens)
        if why is not None:
            raise ConfigurationError(why)


class GatedBackend:
    """Lets a request through to `inner` when the cluster's gate does."""

    def __init__(self, inner: AnyBackend, *, gate: RemoteGate, worker: str) -> None:
        self._inner = inner
        self._gate = gate
        self._worker = worker
        self._staying: asyncio.Task[None] | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise `BudgetExceededError` before asking."""
        return await self._pass(request, text_port(self._inner))

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise `BudgetExceededError` before asking."""
        return await self._pass(request, decision_port(self._inner))

    async def aclose(self) -> None:
        """Close `inner`."""
        if self._staying is not None:
            self._staying.cancel()
            with suppress(asyncio.CancelledError):
                await self._staying
        await aclose(self._inner)

    async def _pass(self, request: Request, ask: Callable[[Request], Awaitable[Reply]]) -> Reply:
        if self._staying is None:
            self._staying = asyncio.create_task(self._stay())
        likely, entered = likely_usage(request), None
        while entered is None:
            entered = await self._gate.enter(self._worker, request.target, likely)
        if isinstance(entered, str):
            raise BudgetExceededError(entered)
        usage: Usage | None = None
        try:
            reply = await ask(request)
            usage = reply.usage
        finally:
            await self._gate.leave(self._worker, request.target, entered, usage)
        return reply

    async def _stay(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            await self._gate.stay(self._worker)


class ActorGate:
    """A `RemoteGate` over the handle of a Ray actor."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def enter(self, worker: str, target: ModelRef, likely: Usage) -> float | str | None:
        """See `Gate`."""
        entered: float | str | None = await self._handle.enter.remote(worker, target, likely)
        return entered

    async def leave(
        self, worker: str, target: ModelRef, reserved_usd: float, usage: Usage | None
    ) -> None:
        """See `Gate`."""
        await self._handle.leave.remote(worker, target, reserved_usd, usage)

    async def stay(self, worker: str) -> None:
        """See `Gate`."""
        await self._handle.stay.remote(worker)

    async def take_turn(self, tokens: float) -> str | None:
        """See `Gate`."""
        why: str | None = await self._handle.take_turn.remote(tokens)
        return why
