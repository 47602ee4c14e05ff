"""Limits on calls and costs, enforced before each request."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import Token
from dataclasses import dataclass
from typing import Any

from fairjudge.backends.limiting import CallOutcome, Limit
from fairjudge.backends.ports import AnyRequest, resend_counter
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

    Before a request, its maximum likely cost is reserved (estimated prompt, full reply); after it,
    the cost by the server's token counts is booked instead. An unknown cost (missing or invalid
    counts, a timeout, a broken connection) is booked as reserved; an error status is free.

    With a limit on cost, requests wait while open requests might exhaust it. Since servers may
    count more tokens than estimated, the first request is sent alone, each reply within its
    estimate admits one more concurrent request, and the largest excess so far is applied to all
    later estimates.

    ``max_calls`` includes retries. ``max_cost_usd`` requires ``prices``; the open requests can
    exceed it if a server counts more tokens than ever before. ``cost_usd`` is the booked cost,
    including estimates for ``n_unpriced`` requests of unknown price. ``earlier`` is the spending of
    earlier processes of the run, which is included.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        if max_cost_usd is not None and prices is None:
            raise TypeError("max_cost_usd requires prices")
        self.max_calls = max_calls
        self.max_cost_usd = max_cost_usd
        self._prices = prices
        self._reserved_usd = 0.0
        self._n_open = 0
        self._max_open = 1
        self._excess = 1.0
        self._queue: deque[asyncio.Future[None]] = deque()
        self.n_calls = 0
        self.cost_usd = 0.0
        self.n_unpriced = 0
        self.earlier = NO_SPENDING
        self._excluded: dict[
            SpendingFile, Spending
        ] = {}  # for each open file, the spending not in it

    def include_prices(self, prices: Mapping[str, Price]) -> None:
        """Add `prices` to the price table."""
        if self._prices is not None and prices:
            self._prices = self._prices.with_prices(prices)

    def check_priced(self, target: ModelRef) -> None:
        """Raise `ConfigurationError` if cost is limited and the price of `target` is unknown."""
        is_limited = self.max_cost_usd is not None
        if is_limited and self._prices is not None and self._prices.price(target) is None:
            raise ConfigurationError(
                f"the price of {target} is unknown, so its cost cannot be limited; set it with "
                "--price-input and --price-output (price_input and price_output in Python) or with "
                "a --prices file, or limit the number of calls (--max-calls)"
            )

    async def reserve(self, target: ModelRef, likely: Usage) -> Reservation:
        """Count a request to `target` and reserve its likely cost, once the budget permits.

        `BudgetExceededError` if it would exceed a limit whatever the open requests cost.
        """
        self.check_priced(target)
        estimate_usd = self._cost(target, likely) or 0.0
        try:
            while not self._has_room(estimate_usd):
                turn = asyncio.get_running_loop().create_future()
                self._queue.append(turn)
                await turn
            self.n_calls += 1
            self._n_open += 1
            usd = estimate_usd * self._excess
            self._reserved_usd += usd
            self._write_files()
        finally:
            self._wake_next()  # wakes the next request, which may be admitted too or must raise too
        return Reservation(target=target, estimate_usd=estimate_usd, usd=usd)

    def settle(self, reservation: Reservation, usage: Usage | None) -> None:
        """Book the cost of `usage` instead of the reservation; None if the request was not sent."""
        self._n_open -= 1
        self._reserved_usd = self._reserved_usd - reservation.usd if self._n_open else 0.0
        if usage is None:
            self.n_calls -= 1
        else:
            cost = self._cost(reservation.target, usage)
            booked_usd = reservation.usd if cost is None else cost
            self.cost_usd += booked_usd
            self.n_unpriced += cost is None
            self._adapt(reservation, booked_usd)
        self._wake_next()
        with suppress(
            RunError
        ):  # the file then overstates the spending; the reply must not be lost
            self._write_files()

    @property
    def calls_left(self) -> int | None:
        """Number of further requests allowed; None without a limit."""
        return None if self.max_calls is None else max(0, self.max_calls - self.n_calls)

    @property
    def usd_left(self) -> float | None:
        """US dollars not yet booked; None without a limit."""
        return None if self.max_cost_usd is None else max(0.0, self.max_cost_usd - self.cost_usd)

    def book(self, spending: Spending) -> None:
        """Add the spending of another process."""
        self.n_calls += spending.n_calls
        self.cost_usd += spending.cost_usd
        self.n_unpriced += spending.n_unpriced
        self._write_files()

    @contextmanager
    def record_in(self, file: SpendingFile, *, keep_file: bool = False) -> Iterator[None]:
        """Record spending in `file` during the block, added to the earlier spending in it.

        The earlier spending is booked, unless another file is open, for which it is already booked.
        After the block the file is removed, unless `keep_file`.
        """
        if not self.is_recorded:
            self.book_earlier(file.earlier)
        self._excluded[file] = self._total() - file.earlier
        try:
            yield
        finally:
            del self._excluded[file]
            file.close(remove=not keep_file)

    @property
    def is_recorded(self) -> bool:
        """Whether spending is recorded in an open file."""
        return bool(self._excluded)

    def book_earlier(self, spending: Spending) -> None:
        """Add the spending of earlier processes of the run."""
        self.earlier += spending
        self.book(spending)

    @property
    def booked(self) -> Spending:
        """The booked spending, including that of earlier processes."""
        return Spending(n_calls=self.n_calls, cost_usd=self.cost_usd, n_unpriced=self.n_unpriced)

    @property
    def own_spending(self) -> Spending:
        """The booked spending of this process."""
        return self.booked - self.earlier

    def _total(self) -> Spending:
        """Return booked plus reserved spending, the total if this process were killed now."""
        return self.booked + Spending(cost_usd=self._reserved_usd, n_unpriced=self._n_open)

    def _write_files(self) -> None:
        for file, excluded_spending in self._excluded.items():
            file.write(self._total() - excluded_spending)

    def count_resend(self) -> None:
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
                f"the next call could exceed the limit of ${self.max_cost_usd:.2f} "
                f"(${self.cost_usd:.4f} spent, ${self._reserved_usd:.4f} reserved)"
            )
        fits = self.cost_usd + self._reserved_usd + usd <= self.max_cost_usd
        return self._n_open == 0 or (fits and self._n_open < self._max_open)

    def _adapt(self, reservation: Reservation, booked_usd: float) -> None:
        if booked_usd > reservation.usd:
            self._max_open = 1
            if reservation.estimate_usd > 0:
                self._excess = max(self._excess, booked_usd / reservation.estimate_usd)
        elif booked_usd > 0:
            self._max_open += 1

    def _wake_next(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _cost(self, target: ModelRef, usage: Usage) -> float | None:
        return None if self._prices is None else self._prices.cost_usd(target, usage)


class BudgetLimit(Limit):
    """A `Limit` that admits requests within `budget`.

    Must be inside the cache, whose hits are free, and inside the retries, since each attempt costs.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    async def begin(self, request: AnyRequest) -> tuple[Reservation, Token[Any]]:
        """See `Limit`."""
        reservation = await self._budget.reserve(request.target, likely_usage(request))
        return reservation, resend_counter.set(self._budget.count_resend)

    async def end(self, token: tuple[Reservation, Token[Any]], outcome: CallOutcome) -> None:
        """See `Limit`."""
        reservation, counter_token = token
        resend_counter.reset(counter_token)
        self._budget.settle(reservation, outcome.usage)
