"""Opening models: the chosen backend in its wrappers, and the embedding model when needed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from fairjudge.app.interrupts import answering_first
from fairjudge.backends import LOCAL, decides, open_backend, resolve_target
from fairjudge.backends.budgeting import Budget, BudgetingBackend
from fairjudge.backends.caching import CachingBackend
from fairjudge.backends.first_contact import FirstContactBackend
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS
from fairjudge.backends.limiting import LimitingBackend
from fairjudge.backends.pacing import Pace, PacingBackend
from fairjudge.backends.ports import AnyBackend, aclose
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.retrying import RetryingBackend, RetryPolicy, kind_of
from fairjudge.backends.sharing import CheckingBackend, SharedCachingBackend
from fairjudge.cache import ReplyCache, default_cache_dir
from fairjudge.cache_files import AnyCache
from fairjudge.errors import BackendError
from fairjudge.protocols import Backend, DecisionBackend, Embedder, EntailmentModel, ModelRef
from fairjudge.stores.address import StoreAddress
from fairjudge.stores.replies import PostgresCache
from fairjudge.text.printable import printable

ENTAILMENT_MODEL = "roberta-large-mnli"
"""What coverage fairness used (section 4.1); any classifier of entailment does."""
Engine: TypeAlias = Literal["local", "ray"]
"""Where items are worked on: in this process, or sharded over a Ray cluster."""
_IMPATIENT = RetryPolicy(max_attempts=2, first_wait_seconds=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """Limits that are not this process's own: wraps every attempt, and calls with their retries."""

    attempts: Callable[[AnyBackend], AnyBackend]
    calls: Callable[[AnyBackend], AnyBackend]


class Sampling(TypedDict, total=False):
    """What requests for text share; a limit that is not given is left to whoever asks."""

    seed: int | None
    max_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which models answer, where replies are kept, and what may be spent.

    ``on_retry`` is told in a word what was retried (`fairjudge.backends.retrying.kind_of`).
    """

    backend: str = LOCAL
    base_url: str | None = None
    embedding_model: str | None = None
    entailment_model: str = ENTAILMENT_MODEL
    cache: Path | None = None
    store: StoreAddress | None = None
    engine: Engine = "local"
    concurrency: int = 8
    seed: int | None = None
    max_output_tokens: int | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    rpm: int | None = None
    tpm: int | None = None
    prices: Path | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    on_retry: Callable[[str], None] | None = field(default=None, compare=False)

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

    def budget(self) -> Budget:
        """Return a budget of what these options let be spent; several models may share one."""
        prices = load_prices(self.prices)
        return Budget(max_calls=self.max_calls, max_cost_usd=self.max_cost, prices=prices)

    def identity(self) -> dict[str, Any]:
        """Return what can change a result; budgets, concurrency and folders cannot."""
        target = self.target
        return {
            "target": None if target is None else target.model_dump(mode="json"),
            "embedding_model": self.embedding_model,
            "entailment_model": self.entailment_model,
            **self.sampling,
        }

    @property
    def sampling(self) -> Sampling:
        """Return what goes into every request for text."""
        limit = self.max_output_tokens
        found: Sampling = {"seed": self.seed}
        return found if limit is None else {**found, "max_output_tokens": limit}


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """A model behind its wrappers; ``decides`` is set for decision models, which write no text."""

    backend: Backend
    target: ModelRef
    sampling: Sampling
    decides: DecisionBackend | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run asked of a model.

    ``n_cached`` requests cost nothing. ``cost_usd`` is None where a price or a count is unknown.
    ``retries`` counts repeated attempts by what went wrong; none of them is a call of its own.
    """

    n_calls: int
    n_cached: int
    cost_usd: float | None
    retries: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Models:
    """The models of a run; local ones are loaded when they are first asked for."""

    llm: Llm | None
    _options: ModelOptions
    _ledger: _Ledger | None = None
    _cache: AnyCache | None = None
    _embedder: Embedder | None = field(default=None)
    _entailment: EntailmentModel | None = field(default=None)

    def embedder(self) -> Embedder:
        """Return the embedding model."""
        if self._embedder is None:
            from fairjudge.scorers.embedding import load_embedder

            self._embedder = load_embedder(self._options.embedding_model)
        return self._embedder

    def entailment(self) -> EntailmentModel:
        """Return the entailment model."""
        if self._entailment is None:
            from fairjudge.scorers.entailment import load_entailment

            self._entailment = load_entailment(self._options.entailment_model)
        return self._entailment

    def sync(self) -> None:
        """Force the replies kept so far to disk."""
        if self._cache is not None:
            self._cache.sync()

    def spent(self) -> Spent | None:
        """Return what was asked so far, None for the embedded default."""
        return None if self._ledger is None else self._ledger.spent()


class _Ledger:
    """What one model of a run has asked for, on a budget that others may have used before it."""

    def __init__(self, budget: Budget, *, on_retry: Callable[[str], None] | None) -> None:
        self.budget = budget
        self.retries: Counter[str] = Counter()
        self.cached: Callable[[], int] = int
        self._on_retry = on_retry
        self._before = (budget.n_calls, budget.cost_usd, budget.n_unpriced)

    def retried(self, error: BackendError) -> None:
        """Count a further attempt."""
        kind = kind_of(error)
        self.retries[kind] += 1
        if self._on_retry is not None:
            self._on_retry(kind)

    def spent(self) -> Spent:
        """Return what was asked since the beginning."""
        n_calls, cost_usd, n_unpriced = self._before
        known = self.budget.n_unpriced == n_unpriced
        return Spent(
            n_calls=self.budget.n_calls - n_calls,
            n_cached=self.cached(),
            cost_usd=self.budget.cost_usd - cost_usd if known else None,
            retries=dict(self.retries),
        )


@asynccontextmanager
async def open_models(
    options: ModelOptions, *, budget: Budget | None = None, limited: Limited | None = None
) -> AsyncIterator[Models]:
    """Open what `options` name, and close it afterwards; retries are counted in one line then.

    Parameters
    ----------
    budget : Budget, optional
        What may be spent, where it is shared; by default what `options` allow.
    limited : Limited, optional
        Limits that several processes share, in place of those of `options`.

    Raises
    ------
    ConfigurationError
        If the backend is unknown, its key or package is missing, or its price is unknown while
        cost is limited.
    """
    target = options.target
    if target is None:
        yield Models(llm=None, _options=options)
        return
    ledger = _Ledger(budget or options.budget(), on_retry=options.on_retry)
    ledger.budget.check_priced(target)
    client = open_backend(target, timeout_seconds=options.timeout_seconds, warn=print_warning)
    cache = open_cache(options.cache_folder, store=options.store, warn=print_warning)
    pace = Pace(
        most=options.concurrency, requests_a_minute=options.rpm, tokens_a_minute=options.tpm
    )
    calls = _calls(client if limited is None else limited.attempts(client), ledger, pace)
    if isinstance(cache, PostgresCache):
        calls = CheckingBackend(calls, cache=cache)
    if limited is None:
        paid = BudgetingBackend(calls, budget=ledger.budget)
        caching = _cached(LimitingBackend(paid, most=options.concurrency), cache)
    else:
        caching = _cached(limited.calls(calls), cache)
    ledger.cached = lambda: caching.hits
    llm = Llm(
        backend=caching,
        target=target,
        sampling=options.sampling,
        decides=caching if decides(target) else None,
    )
    try:
        with answering_first(pace, tell=_say):
            yield Models(llm=llm, _options=options, _ledger=ledger, _cache=cache)
        if ledger.retries:
            _say(f"{target}: {retries_text(ledger.retries)}")
    finally:
        await aclose(caching)
        cache.close()


def retries_text(retries: Mapping[str, int]) -> str:
    """Return such as ``3 retries (429: 2, timeout: 1)``."""
    n = sum(retries.values())
    kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(retries.items()))
    return f"{n} retr{'y' if n == 1 else 'ies'} ({kinds})"


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


def _cached(inner: AnyBackend, cache: AnyCache) -> CachingBackend | SharedCachingBackend:
    if isinstance(cache, ReplyCache):
        return CachingBackend(inner, cache=cache, claims=cache.claims, warn=print_warning)
    return SharedCachingBackend(inner, cache=cache, warn=print_warning)


def _calls(client: AnyBackend, ledger: _Ledger, pace: Pace) -> AnyBackend:
    """Wrap `client`: calls at a server's pace. They come inside money, and that inside a place."""
    paced = PacingBackend(client, pace=pace)
    return FirstContactBackend(
        RetryingBackend(paced, retried=ledger.retried),
        impatient=RetryingBackend(paced, policy=_IMPATIENT, retried=ledger.retried),
        retried=ledger.retried,
    )


def print_warning(message: str) -> None:
    """Tell the user on standard error."""
    _say(f"warning: {message}")


def _say(message: str) -> None:
    print(printable(message), file=sys.stderr)  # noqa: T201  # the terminal is all there is
