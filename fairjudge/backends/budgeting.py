"""Limits on calls and costs, enforced before each request."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import Token
from dataclasses import dataclass
from typing import Any

from fairjudge.backends.limiting import Ending, Limit
from fairjudge.backends.ports import AnyRequest, counting
from fairjudge.backends.pricing import Price, PriceTable
from fairjudge.backends.token_counts import max_input_tokens, output_limit_tokens
from fairjudge.errors import BudgetExceededError, ConfigurationError, RunError
from fairjudge.ports import ModelRef, Usage
from fairjudge.records.spending import NO_SPENDING, Spending, SpendingFile
from fairjudge.text.counting import pluralize


def likely_usage(request: AnyRequest) -> Usage:
    """Return an upper estimate of the tokens billed for `request`."""
    return Usage(input_tokens=max_input_tokens(request), output_tokens=output_limit_tokens(request))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The cost reserved for an open request, and its estimate (US dollars)."""

    target: ModelRef
    estimate_usd: float = 0.0
    usd: float = 0.0


class Budget:
    """The budget of a run, shared by all its backends.

    Before a request its largest likely cost is reserved (estimated prompt, full reply); after it,
    the cost by the server's counts is booked instead. An unknown cost (missing or invalid counts, a
    timeout, a broken connection) is booked as reserved; an error status is free. With a limit on
    cost, requests wait while open ones might use it up, and servers may count more tokens than
    estimated: the first request is sent alone, each reply within its estimate admits one more
    concurrent request, and the largest excess so far is applied to all further estimates.

    ``max_calls`` counts retries too. ``max_cost_usd`` needs ``prices``; it can be exceeded by the
    open requests when a server counts more than ever before. ``cost_usd`` is booked so far,
    including estimates for ``n_unpriced`` requests of unknown price. ``earlier`` is the part of
    calls, cost and unpriced requests that earlier starts spent.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        if max_cost_usd is not None and prices is None:
            raise TypeError("a limit on cost needs prices")
        self.max_calls = max_calls
        self.max_cost_usd = max_cost_usd
        self._prices = prices
        self._set_aside_usd = 0.0
        self._n_under_way = 0
        self._places = 1
        self._excess = 1.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.n_calls = 0
        self.cost_usd = 0.0
        self.n_unpriced = 0
        self.earlier = NO_SPENDING
        self._before: dict[SpendingFile, Spending] = {}  # for each open file, what it leaves out

    def include_prices(self, prices: Mapping[str, Price]) -> None:
        """Add `prices` to the price table."""
        if self._prices is not None and prices:
            self._prices = self._prices.including(prices)

    def check_priced(self, target: ModelRef) -> None:
        """Raise `ConfigurationError` if cost is limited and the price of `target` is unknown."""
        limited = self.max_cost_usd is not None
        if limited and self._prices is not None and self._prices.price(target) is None:
            raise ConfigurationError(
                f"the price of {target} is not known, so its cost cannot be limited; give it by "
                "--price-input and --price-output (price_input and price_output in Python), or in "
                "a file of --prices; or limit the number of calls (--max-calls)"
            )

    async def reserve(self, target: ModelRef, likely: Usage) -> Reservation:
        """Count a request to `target` and reserve its likely cost, once there is room for it.

        Raises `BudgetExceededError` if it would exceed a limit whatever the open requests cost.
        """
        self.check_priced(target)
        estimate_usd = self._cost(target, likely) or 0.0
        try:
            while not self._has_room(estimate_usd):
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn
            self.n_calls += 1
            self._n_under_way += 1
            usd = estimate_usd * self._excess
            self._set_aside_usd += usd
            self._write_files()
        finally:
            self._next()  # the next one may have room too, or must raise as well
        return Reservation(target=target, estimate_usd=estimate_usd, usd=usd)

    def settle(self, reserved: Reservation, usage: Usage | None) -> None:
        """Book the cost of `usage` in place of the reservation; None if it was never sent."""
        self._n_under_way -= 1
        self._set_aside_usd = self._set_aside_usd - reserved.usd if self._n_under_way else 0.0
        if usage is None:
            self.n_calls -= 1
        else:
            cost = self._cost(reserved.target, usage)
            booked_usd = reserved.usd if cost is None else cost
            self.cost_usd += booked_usd
            self.n_unpriced += cost is None
            self._learn(reserved, booked_usd)
        self._next()
        with suppress(RunError):  # the file then states too much, which must not lose the reply
            self._write_files()

    @property
    def calls_left(self) -> int | None:
        """Number of further requests allowed; None without a limit."""
        return None if self.max_calls is None else max(0, self.max_calls - self.n_calls)

    @property
    def usd_left(self) -> float | None:
        """US dollars that are not booked yet; None without a limit."""
        return None if self.max_cost_usd is None else max(0.0, self.max_cost_usd - self.cost_usd)

    def book(self, spending: Spending) -> None:
        """Add the spending of another process."""
        self.n_calls += spending.n_calls
        self.cost_usd += spending.cost_usd
        self.n_unpriced += spending.n_unpriced
        self._write_files()

    @contextmanager
    def recording(self, file: SpendingFile, *, counts_ended: bool = False) -> Iterator[None]:
        """Record spending in `file` within the block, on top of what earlier starts left there.

        The earlier spending is booked, unless another file is open, which has booked it already.
        After the block the file is removed, unless it counts finished starts too (`counts_ended`).
        """
        if not self.is_recorded:
            self.book_earlier(file.earlier)
        self._before[file] = self._spending() - file.earlier
        try:
            yield
        finally:
            del self._before[file]
            file.close(remove=not counts_ended)

    @property
    def is_recorded(self) -> bool:
        """Whether spending is recorded in an open file."""
        return bool(self._before)

    def book_earlier(self, spending: Spending) -> None:
        """Add the spending of earlier starts."""
        self.earlier += spending
        self.book(spending)

    @property
    def booked(self) -> Spending:
        """The booked spending of all starts."""
        return Spending(n_calls=self.n_calls, cost_usd=self.cost_usd, n_unpriced=self.n_unpriced)

    @property
    def booked_here(self) -> Spending:
        """The booked spending of this start."""
        return self.booked - self.earlier

    def _spending(self) -> Spending:
        """Return booked plus reserved spending: the total to pay if this start died now."""
        return self.booked + Spending(cost_usd=self._set_aside_usd, n_unpriced=self._n_under_way)

    def _write_files(self) -> None:
        for file, before in self._before.items():
            file.write(self._spending() - before)

    def count_again(self) -> None:
        """Count a request that is resent with other parameters on the same reservation."""
        self._check_calls()
        self.n_calls += 1
        self._write_files()

    def _check_calls(self) -> None:
        if self.max_calls is not None and self.n_calls >= self.max_calls:
            raise BudgetExceededError(
                f"the limit of {pluralize(self.max_calls, 'call')} is reached"
            )

    def _has_room(self, estimate_usd: float) -> bool:
        self._check_calls()
        if self.max_cost_usd is None:
            return True
        usd = estimate_usd * self._excess
        if self.cost_usd + usd > self.max_cost_usd:
            raise BudgetExceededError(
                f"the next call could pass the limit of ${self.max_cost_usd:.2f} "
                f"(${self.cost_usd:.4f} spent, ${self._set_aside_usd:.4f} under way)"
            )
        fits = self.cost_usd + self._set_aside_usd + usd <= self.max_cost_usd
        return self._n_under_way == 0 or (fits and self._n_under_way < self._places)

    def _learn(self, reserved: Reservation, booked_usd: float) -> None:
        if booked_usd > reserved.usd:
            self._places = 1
            if reserved.estimate_usd > 0:
                self._excess = max(self._excess, booked_usd / reserved.estimate_usd)
        elif booked_usd > 0:
            self._places += 1

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _cost(self, target: ModelRef, usage: Usage) -> float | None:
        return None if self._prices is None else self._prices.cost_usd(target, usage)


class BudgetLimit(Limit):
    """A `Limit` that admits requests while `budget` lasts.

    Must be inside the cache, whose hits are free, and inside the retries, since each attempt costs.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    async def begin(self, request: AnyRequest) -> tuple[Reservation, Token[Any]]:
        """See `Limit`."""
        reserved = await self._budget.reserve(request.target, likely_usage(request))
        return reserved, counting.set(self._budget.count_again)

    async def end(self, token: tuple[Reservation, Token[Any]], ending: Ending) -> None:
        """See `Limit`."""
        reserved, before = token
        counting.reset(before)
        self._budget.settle(reserved, ending.usage)
