"""Open models: the selected backend with its middleware, and local models at first use."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any

from fairjudge.backends import LOCAL, asks_a_server, decides, open_backend
from fairjudge.backends.budgeting import Budget, BudgetLimit
from fairjudge.backends.caching import Caching, SharedCaching
from fairjudge.backends.limiting import Concurrency, StoreCheck, TokenCount, Tokens
from fairjudge.backends.pacing import AdaptiveLimiter
from fairjudge.backends.planning import PlanningBackend
from fairjudge.backends.ports import Middleware, Pipeline
from fairjudge.backends.retrying import Retrying, RetryPolicy, error_kind
from fairjudge.backends.truncation import TruncationCheck
from fairjudge.backends.warming import Warming
from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.files import AnyCache
from fairjudge.cache.postgres import PostgresCache
from fairjudge.engine.interrupts import drain_on_error, drain_on_interrupt
from fairjudge.errors import BackendError, CacheError
from fairjudge.options.models import Model, Sampling
from fairjudge.ports import (
    Backend,
    DecisionBackend,
    Embedder,
    EntailmentModel,
    ModelRef,
    TrainedModels,
)
from fairjudge.records.address import StoreAddress
from fairjudge.records.spending import NO_SPENDING, Spending
from fairjudge.text.counting import pluralize
from fairjudge.text.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """A model behind its middleware; ``decides`` is only set for decision models (no text)."""

    backend: Backend
    target: ModelRef
    sampling: Sampling
    decides: DecisionBackend | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """Calls, tokens and cost of a run.

    ``n_calls`` is the number of requests sent, ``retries`` the number of repeated ones by kind of
    error. ``n_cached`` is the number of replies from the cache that earlier runs paid for.
    ``cost_usd`` is None if a price or a token count is unknown. ``tokens`` are those of the calls.
    """

    n_calls: int
    n_cached: int
    cost_usd: float | None
    retries: Mapping[str, int] = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and the cost."""
        return asdict(self)


def run_cost(spending: Spending, *, n_cached: int = 0, **details: Any) -> RunCost:
    """Return the `RunCost` of `spending`; `details` are its retries and tokens, if known."""
    cost_usd = spending.known_cost_usd
    return RunCost(n_calls=spending.n_calls, n_cached=n_cached, cost_usd=cost_usd, **details)


def zero_cost(model: Model) -> RunCost | None:
    """Return a `RunCost` of zero calls, or None for the embedded default."""
    return None if model.llm is None else run_cost(NO_SPENDING)


@dataclass(kw_only=True)
class Models:
    """The models of a run; local ones are loaded at first use."""

    llm: Llm | None
    _model: Model
    _ledger: _Ledger | None = None
    _cache: AnyCache | None = None
    _retries: Retrying | None = None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        from fairjudge.scorers.embedding import load_embedder

        return load_embedder(self._model.embedding_model)

    @property
    def local_name(self) -> str:
        """The name of the local models as a judge."""
        return LOCAL if self.llm is not None else self._model.target

    @cached_property
    def trained(self) -> TrainedModels:
        """The package's own trained models."""
        from fairjudge.scorers.trained_models import load_trained_models

        return load_trained_models(folder=self._model.trained_folder)

    @cached_property
    def entailment(self) -> EntailmentModel | None:
        """The entailment model, or None if the model has none."""
        from fairjudge.scorers.entailment import load_entailment

        name = self._model.entailment_model
        return None if name is None else load_entailment(name)

    def sync(self) -> None:
        """Force the cached replies to disk."""
        if self._cache is not None:
            self._cache.sync()

    def note_earlier_reply(self) -> None:
        """Note that the server has replied before; see `Retrying.note_earlier_reply`."""
        if self._retries is not None:
            self._retries.note_earlier_reply()

    def cost(self) -> RunCost | None:
        """Return calls and costs so far, or None for the embedded default."""
        return None if self._ledger is None else self._ledger.cost()


class _Ledger:
    """Calls and costs of one model of a run, on a budget possibly shared with other models."""

    def __init__(self, budget: Budget, *, on_retry: Callable[[str], None] | None) -> None:
        self.budget = budget
        self.retries: Counter[str] = Counter()
        self.count = TokenCount()
        self.cache: Caching | SharedCaching | None = None
        self._on_retry = on_retry
        self._initial_spending = budget.own_spending

    def count_retry(self, error: BackendError) -> None:
        """Count a retry after `error`."""
        kind = error_kind(error)
        self.retries[kind] += 1
        if self._on_retry is not None:
            self._on_retry(kind)

    def retries_text(self) -> str:
        """Return the number of retries and, in parentheses, their kinds."""
        kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.retries.items()))
        return f"{pluralize(self.retries.total(), 'retry', 'retries')} ({kinds})"

    def cost(self) -> RunCost:
        """Return calls and costs since this ledger was created."""
        return run_cost(
            self.budget.own_spending - self._initial_spending,
            n_cached=0 if self.cache is None else self.cache.earlier,
            retries=dict(self.retries),
            tokens=self.count.tokens,
        )


@asynccontextmanager
async def open_models(
    model: Model,
    *,
    limits: Sequence[Middleware] | None = None,
) -> AsyncIterator[Models]:
    """Open the models of `model`; at the end, close them and print the number of retries.

    Parameters
    ----------
    limits : sequence of Middleware, optional
        Limits shared by several processes, instead of the budget and concurrency of `model`.

    Raises
    ------
    ConfigurationError
        If the backend is unknown, its key or package is missing, or its price is unknown while
        cost is limited.
    CacheError
        If a reply could not be stored; no more calls begin, and open calls finish.
    """
    target = model.llm
    if target is None:
        yield Models(llm=None, _model=model)
        return
    if model.planner is not None:
        yield Models(llm=_llm(model.planner, target, model), _model=model)
        return
    ledger = _Ledger(model.budget, on_retry=model.on_retry)
    ledger.budget.check_priced(target)
    limiter = AdaptiveLimiter(
        limit=model.concurrency,
        requests_per_minute=model.requests_per_minute,
        tokens_per_minute=model.tokens_per_minute,
        max_wait_seconds=model.max_wait,
    )
    retries = Retrying(
        policy=RetryPolicy(max_wait_seconds=model.max_wait),
        fail_if_never_reached=True,
        on_retry=ledger.count_retry,
        warn=print_warning,
    )
    # Limits on requests are outside the retries, limits on attempts inside.
    outer: list[Middleware] = [ledger.count]
    inner: list[Middleware] = [limiter, *(limits or ())]
    if limits is None:
        outer.insert(0, Concurrency(model.concurrency))
        inner.insert(0, BudgetLimit(ledger.budget))
    if asks_a_server(target):
        outer = [Warming(), *outer, TruncationCheck(warn=print_warning)]
    with closing(open_cache(model.cache_folder, store=model.address, warn=print_warning)) as cache:
        if isinstance(cache, PostgresCache):
            inner.append(StoreCheck(cache))
        client = open_backend(
            target,
            timeout_seconds=model.timeout,
            warn=print_warning,
            secret=cache.secret(),
            chat=model.chat,
        )
        with drain_on_error(limiter, warn=print_warning) as on_cache_error:
            ledger.cache = caching = _cache_middleware(cache, on_cache_error=on_cache_error)
            async with aclosing(Pipeline(client, caching, *outer, retries, *inner)) as backend:
                with drain_on_interrupt(limiter, note=print_note):
                    yield Models(
                        llm=_llm(backend, target, model),
                        _model=model,
                        _ledger=ledger,
                        _cache=cache,
                        _retries=retries,
                    )
                if ledger.retries:
                    print_note(f"{target}: {ledger.retries_text()}")


def _cache_middleware(
    cache: AnyCache, *, on_cache_error: Callable[[CacheError], None]
) -> Caching | SharedCaching:
    if isinstance(cache, PostgresCache):
        return SharedCaching(cache=cache, warn=print_warning)
    return Caching(
        cache=cache, claims=cache.claims, warn=print_warning, on_cache_error=on_cache_error
    )


def _llm(backend: Pipeline | PlanningBackend, target: ModelRef, model: Model) -> Llm:
    return Llm(
        backend=backend,
        target=target,
        sampling=model.sampling,
        decides=backend if decides(target) else None,
    )


def model_from_signature(model: Model, settings: Mapping[str, str]) -> Model:
    """Return `model` with target and sampling from `settings`, the fields of a signature.

    Everything else, including the budget, is shared with `model`.
    """
    limit, seed = settings.get("max_output_tokens"), settings.get("seed")
    result = replace(
        model,
        target=settings.get("judge", LOCAL),
        base_url=settings.get("base_url"),
        max_output_tokens=None if limit is None else int(limit),
        seed=None if seed is None else int(seed),
    )
    return result.with_budget(model.budget)


def total_cost(costs: Iterable[RunCost | None]) -> RunCost | None:
    """Sum the calls and costs of several models; None if no language model was called."""
    parts = [part for part in costs if part is not None]
    if not parts:
        return None
    prices = [part.cost_usd for part in parts]
    retries: Counter[str] = sum((Counter(part.retries) for part in parts), Counter())
    return RunCost(
        retries=dict(retries),
        n_calls=sum(part.n_calls for part in parts),
        n_cached=sum(part.n_cached for part in parts),
        cost_usd=None if None in prices else fsum(price for price in prices if price is not None),
        tokens=sum((part.tokens for part in parts), Tokens()),
    )


def open_cache(
    folder: Path | None, *, store: StoreAddress | None, warn: Callable[[str], None]
) -> AnyCache:
    """Open the cache of replies in `store`, or the embedded one in `folder`.

    Raises
    ------
    FairJudgeError
        If it cannot be used.
    """
    return ReplyCache(folder, warn=warn) if store is None else PostgresCache(store, warn=warn)


def print_warning(message: str) -> None:
    """Print a warning to standard error."""
    print_note(f"warning: {message}")


def print_note(message: str) -> None:
    """Print a note to standard error, without control characters."""
    print(printable(message), file=sys.stderr)  # noqa: T201  # to the terminal
