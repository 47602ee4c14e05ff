"""Opening models: the chosen backend in its wrappers, and the embedding model when needed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairjudge.backends import LOCAL, decides, open_backend, resolve_target
from fairjudge.backends.budgeting import Budget, BudgetingBackend
from fairjudge.backends.caching import CachingBackend
from fairjudge.backends.first_contact import FirstContactBackend
from fairjudge.backends.limiting import LimitingBackend
from fairjudge.backends.ports import AnyBackend, aclose
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.retrying import RetryingBackend, RetryPolicy
from fairjudge.backends.sharing import CheckingBackend, SharedCachingBackend
from fairjudge.cache import ReplyCache, default_cache_dir
from fairjudge.cache_files import AnyCache
from fairjudge.protocols import Backend, DecisionBackend, Embedder, EntailmentModel, ModelRef
from fairjudge.stores.address import StoreAddress
from fairjudge.stores.replies import PostgresCache

ENTAILMENT_MODEL = "roberta-large-mnli"
"""What coverage fairness used (section 4.1); any classifier of entailment does."""
Engine: TypeAlias = Literal["local", "ray"]
"""Where items are worked on: in this process, or sharded over a Ray cluster."""
Limited: TypeAlias = Callable[[AnyBackend], AnyBackend]
"""Wraps the calls in limits that are not this process's own."""
_IMPATIENT = RetryPolicy(max_attempts=2, first_wait_seconds=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which models answer, where replies are kept, and what may be spent."""

    backend: str = LOCAL
    base_url: str | None = None
    embedding_model: str | None = None
    entailment_model: str = ENTAILMENT_MODEL
    cache: Path | None = None
    store: StoreAddress | None = None
    engine: Engine = "local"
    concurrency: int = 8
    seed: int | None = None
    max_cost: float | None = None
    max_calls: int | None = None

    @property
    def cache_folder(self) -> Path:
        """Return the folder of the reply cache and of unnamed runs."""
        return self.cache or default_cache_dir()

    @property
    def target(self) -> ModelRef | None:
        """Return the model that answers, None for the embedded default."""
        if self.backend == LOCAL:
            return None
        return resolve_target(self.backend, base_url=self.base_url)

    def identity(self) -> dict[str, Any]:
        """Return what can change a result; budgets, concurrency and folders cannot."""
        target = self.target
        return {
            "target": None if target is None else target.model_dump(mode="json"),
            "embedding_model": self.embedding_model,
            "entailment_model": self.entailment_model,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """A model behind its wrappers; ``decides`` is set for decision models, which write no text."""

    backend: Backend
    target: ModelRef
    seed: int | None
    decides: DecisionBackend | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run asked of a model.

    ``n_cached`` requests cost nothing. ``cost_usd`` is None where a price or a count is unknown.
    """

    n_calls: int
    n_cached: int
    cost_usd: float | None


@dataclass(slots=True, kw_only=True)
class Models:
    """The models of a run; the embedding model is loaded when it is first asked for."""

    llm: Llm | None
    _embedding_model: str | None
    _entailment_model: str
    _budget: Budget
    _caching: CachingBackend | SharedCachingBackend | None
    _embedder: Embedder | None = field(default=None)
    _entailment: EntailmentModel | None = field(default=None)

    def embedder(self) -> Embedder:
        """Return the embedding model."""
        if self._embedder is None:
            from fairjudge.scorers.embedding import load_embedder

            self._embedder = load_embedder(self._embedding_model)
        return self._embedder

    def entailment(self) -> EntailmentModel:
        """Return the entailment model."""
        if self._entailment is None:
            from fairjudge.scorers.entailment import load_entailment

            self._entailment = load_entailment(self._entailment_model)
        return self._entailment

    def spent(self) -> Spent | None:
        """Return what was asked so far, None for the embedded default."""
        if self._caching is None:
            return None
        unknown = self._budget.n_unpriced > 0
        return Spent(
            n_calls=self._budget.n_calls,
            n_cached=self._caching.hits,
            cost_usd=None if unknown else self._budget.cost_usd,
        )


@asynccontextmanager
async def open_models(
    options: ModelOptions, *, limited: Limited | None = None
) -> AsyncIterator[Models]:
    """Open what `options` name, and close it afterwards.

    With `limited`, limits on calls and money that several processes share are kept by it, and
    those in `options` are its affair.

    Raises
    ------
    ConfigurationError
        If the backend is unknown, its key or package is missing, or its price is unknown while
        cost is limited.
    """
    budget = Budget(
        max_calls=options.max_calls, max_cost_usd=options.max_cost, prices=load_prices()
    )
    target = options.target
    if target is None:
        yield Models(
            llm=None,
            _embedding_model=options.embedding_model,
            _entailment_model=options.entailment_model,
            _budget=budget,
            _caching=None,
        )
        return
    budget.check_priced(target)
    client = open_backend(target, warn=print_warning)
    cache = open_cache(options.cache_folder, store=options.store, warn=print_warning)
    calls = _calls(client)
    if isinstance(cache, PostgresCache):
        calls = CheckingBackend(calls, cache=cache)
    if limited is None:
        paid = BudgetingBackend(calls, budget=budget)
        inner: AnyBackend = LimitingBackend(paid, most=options.concurrency)
    else:
        inner = limited(calls)
    caching = (
        SharedCachingBackend(inner, cache=cache, warn=print_warning)
        if isinstance(cache, PostgresCache)
        else CachingBackend(inner, cache=cache, warn=print_warning)
    )
    try:
        yield Models(
            llm=Llm(
                backend=caching,
                target=target,
                seed=options.seed,
                decides=caching if decides(target) else None,
            ),
            _embedding_model=options.embedding_model,
            _entailment_model=options.entailment_model,
            _budget=budget,
            _caching=caching,
        )
    finally:
        await aclose(caching)
        cache.close()


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


def _calls(client: AnyBackend) -> AnyBackend:
    """Wrap `client`: the calls themselves, which come inside money, and that inside a place."""
    return FirstContactBackend(
        RetryingBackend(client, warn=print_warning),
        impatient=RetryingBackend(client, policy=_IMPATIENT),
    )


def print_warning(message: str) -> None:
    """Tell the user on standard error."""
    print(f"warning: {message}", file=sys.stderr)  # noqa: T201  # the terminal is all there is
