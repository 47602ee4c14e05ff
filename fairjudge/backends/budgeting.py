"""Stops before a call that would pass a limit on calls or money."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from fairjudge.backends.ports import AnyBackend, aclose, decision_port, text_port
from fairjudge.backends.pricing import PriceTable
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
AnyRequest = CompletionRequest | DecisionRequest

TOKENS_A_MESSAGE = 8
BYTES_A_TOKEN = 3
DECISION_OUTPUT_TOKENS = 32


def estimated_input_tokens(request: AnyRequest) -> int:
    """Return a count of tokens that the prompt will seldom pass.

    Three bytes of UTF-8 a token, where English has about four, and eight tokens a message.
    """
    texts = [message.content for message in request.messages]
    if isinstance(request, DecisionRequest):
        for question in request.questions:
            texts += [question.text, *question.options, *question.options.values()]
    return sum(len(text.encode()) // BYTES_A_TOKEN + TOKENS_A_MESSAGE for text in texts)


def output_limit_tokens(request: AnyRequest) -> int:
    """Return the most tokens that the reply can have; for decisions, about what is billed."""
    if isinstance(request, CompletionRequest):
        return request.max_output_tokens
    return DECISION_OUTPUT_TOKENS * len(request.questions)


def likely_usage(request: AnyRequest) -> Usage:
    """Return the most tokens that `request` is likely to be billed for."""
    return Usage(
        input_tokens=estimated_input_tokens(request), output_tokens=output_limit_tokens(request)
    )


class Budget:
    """What a run may spend; one is shared by all its backends.

    Parameters
    ----------
    max_calls : int, optional
        Most calls that are begun, repeated attempts of one request counting once.
    max_cost_usd : float, optional
        Most US dollars. Before a call its largest likely cost is set aside (estimated prompt, full
        reply), after it what the server counted is booked instead; a reply without counts is booked
        as set aside.
    prices : PriceTable, optional
        Needed with `max_cost_usd`.

    Attributes
    ----------
    n_calls : int
        Calls begun.
    cost_usd : float
        Booked so far; a lower bound where `n_unpriced` is not 0.
    n_unpriced : int
        Replies whose price is not known.
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
        self.n_calls = 0
        self.cost_usd = 0.0
        self.n_unpriced = 0

    def check_priced(self, target: ModelRef) -> None:
        """Raise `ConfigurationError` if cost is limited but the price of `target` is unknown."""
        if self.max_cost_usd is None or self._prices is None:
            return
        if self._prices.price(target) is None:
            raise ConfigurationError(
                f"the price of {target} is not known, so its cost cannot be limited; name it in a "
                "price file, or limit the number of calls"
            )

    def reserve(self, request: AnyRequest) -> float:
        """Count a call and set its largest likely cost aside; return that cost.

        Raises
        ------
        BudgetExceededError
            When the call would pass a limit; nothing is counted then.
        """
        return self.reserve_for(request.target, likely_usage(request))

    def reserve_for(self, target: ModelRef, likely: Usage) -> float:
        """Do as `reserve` for a request that is known by its target and likely usage."""
        if self.max_calls is not None and self.n_calls >= self.max_calls:
            raise BudgetExceededError(f"the limit of {self.max_calls} calls is reached")
        self.check_priced(target)
        cost = self._cost(target, likely) or 0.0
        total = self.cost_usd + self._set_aside_usd + cost
        if self.max_cost_usd is not None and total > self.max_cost_usd:
            raise BudgetExceededError(
                f"the next call could pass the limit of ${self.max_cost_usd:.2f} "
                f"(${self.cost_usd:.4f} spent, ${self._set_aside_usd:.4f} under way)"
            )
        self.n_calls += 1
        self._set_aside_usd += cost
        return cost

    def settle(self, request: AnyRequest, reserved_usd: float, usage: Usage | None) -> None:
        """Book what a call cost in place of what was set aside; `usage` None for a failed call."""
        self.settle_for(request.target, reserved_usd, usage)

    def settle_for(self, target: ModelRef, reserved_usd: float, usage: Usage | None) -> None:
        """Do as `settle` for a request that is known by its target."""
        self._set_aside_usd -= reserved_usd
        if usage is None:
            return
        cost = self._cost(target, usage)
        self.cost_usd += reserved_usd if cost is None else cost
        self.n_unpriced += cost is None

    def _cost(self, target: ModelRef, usage: Usage) -> float | None:
        return None if self._prices is None else self._prices.cost_usd(target, usage)


class BudgetingBackend:
    """Lets requests through to `inner` while `budget` lasts.

    Belongs inside the cache, whose hits are free, and outside the retries.
    """

    def __init__(self, inner: AnyBackend, *, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer `request`, or raise `BudgetExceededError` before asking."""
        return await self._spend(request, text_port(self._inner))

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise `BudgetExceededError` before asking."""
        return await self._spend(request, decision_port(self._inner))

    async def aclose(self) -> None:
        """Close `inner`."""
        await aclose(self._inner)

    async def _spend(self, request: Request, ask: Callable[[Request], Awaitable[Reply]]) -> Reply:
        reserved = self._budget.reserve(request)
        usage: Usage | None = None
        try:
            reply = await ask(request)
            usage = reply.usage
        finally:
            self._budget.settle(request, reserved, usage)
        return reply
