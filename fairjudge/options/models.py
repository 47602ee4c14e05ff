"""Options of a model: target, response cache and limits."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypedDict,
    TypeGuard,
    cast,
)

from fairjudge.errors import ConfigurationError
from fairjudge.options.declaring import Opt
from fairjudge.records.address import StoreAddress

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from fairjudge.backends.budgeting import Budget
    from fairjudge.backends.planning import PlanningBackend
    from fairjudge.backends.pricing import Price, PriceTable
    from fairjudge.ports import ModelRef

LimitOpt = partial(Opt, panel="Limits")
Engine: TypeAlias = Literal["local", "ray"]
"""Where items are processed: in this process, or sharded over a Ray cluster."""


class Sampling(TypedDict, total=False):
    """Sampling options of requests; each step sets its own token limit if there is none."""

    seed: int | None
    max_output_tokens: int


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """A model with its response cache and budget, shared by all runs that use it.

    Parameters
    ----------
    target : str
        ``"provider:model"`` such as ``"openai:gpt-4o-mini"``; ``"local"``, which needs no key and
        no network (extra ``local``); or ``"local-large"``, a larger encoder that is more accurate
        and slower (extra ``local-large``). Or a LangChain chat model; ``target`` then becomes a
        name made of its class, its model and a hash of its settings.
    cache : path, optional
        Folder of the response cache and of run folders; by default the user's cache folder.
    store : str, optional
        A PostgreSQL database for both instead of folders, shared between machines:
        ``"postgresql://user@host:port/database"``.
    concurrency : int
        Maximum concurrent requests.
    base_url : str, optional
        Base URL of an OpenAI-compatible server.
    timeout, max_wait : float
        Timeout of one attempt of a request, and maximum total time that a request waits between
        retries, both in seconds.
    seed, max_output_tokens : int, optional
        Sent with every request.
    max_cost, max_calls
        Limits in US dollars and requests, over **all** runs that use this object.
    requests_per_minute, tokens_per_minute : int, optional
        Rate limits of the provider.
    prices : path, optional
        A TOML file of prices, which override the published ones.
    price_input, price_output : float, optional
        This model's price in US dollars per million tokens; overrides all others.
    embedding_model, entailment_model : str, optional
        Local models to use instead of the packaged ones.
    engine : {"local", "ray"}
        Where `build` and `Judge` process items: in this process, or on the Ray cluster at
        ``RAY_ADDRESS``; other calls always run in this process.
    progress : bool, optional
        Show progress bars on standard error; by default only if it is a terminal.

    Raises
    ------
    ConfigurationError
        If an argument has the wrong type or is out of its bounds.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.Model("openai:gpt-4o-mini", max_cost=5.0)
    Model('openai:gpt-4o-mini')
    """

    PANEL: ClassVar = "Model"
    target: Annotated[
        str,
        Opt(
            "Model: 'local' (bundled, no LLM, no API key), 'local-large' (extra local-large, slow "
            "without a GPU) or PROVIDER:MODEL, such as openai:gpt-4o-mini. 'fairjudge backends "
            "list' lists the providers.",
            flag="--backend",
        ),
    ] = "local"
    _: KW_ONLY
    cache: Annotated[
        str | Path | None,
        Opt("Folder of the response cache. Default: in the user's cache folder.", panel="Storage"),
    ] = None
    store: Annotated[
        str | None,
        Opt(
            "Store responses, checkpoints and runs in a PostgreSQL database shared between "
            "machines: postgresql://user@host:port/database. --run is then a name.",
            metavar="URL",
            envvar="FAIRJUDGE_STORE",
            panel="Storage",
        ),
    ] = None
    concurrency: Annotated[
        int,
        LimitOpt("Maximum concurrent requests; temporarily reduced after HTTP 429.", ge=1, le=4096),
    ] = 8
    base_url: Annotated[
        str | None,
        Opt("Base URL of the API, if not the provider's own, e.g. http://localhost:8000/v1."),
    ] = None
    timeout: Annotated[float, LimitOpt("Timeout of one request, in seconds.", ge=0.001)] = 300.0
    max_wait: Annotated[
        float,
        LimitOpt(
            "Maximum total time that a request waits when the server asks to retry later, in "
            "seconds; items that would wait longer get no result.",
            ge=0,
        ),
    ] = 120.0
    seed: Annotated[
        int | None, Opt("Seed sent to models that support one; part of the cache key.")
    ] = None
    max_output_tokens: Annotated[
        int | None,
        Opt(
            "Maximum tokens per reply, including reasoning tokens. Default: 1024 for verdicts and "
            "summaries, 2048 for units, and 2048 to 8000 for the steps of a build.",
            ge=1,
        ),
    ] = None
    max_cost: Annotated[
        float | None, LimitOpt("Maximum cost of the requests, in US dollars.", ge=0)
    ] = None
    max_calls: Annotated[
        int | None,
        LimitOpt("Maximum number of requests to the model, including retries.", ge=0),
    ] = None
    requests_per_minute: Annotated[
        int | None, LimitOpt("Maximum requests per minute.", flag="--rpm", ge=1)
    ] = None
    tokens_per_minute: Annotated[
        int | None,
        LimitOpt("Maximum tokens per minute, prompts and replies.", flag="--tpm", ge=1),
    ] = None
    prices: Annotated[
        str | Path | None,
        LimitOpt(
            "Your own prices (TOML: [[price]] with model, input and output in US dollars per "
            "million tokens, date, source, and if different cached_input, cache_write); they "
            "apply with any --base-url."
        ),
    ] = None
    price_input: Annotated[
        float | None,
        LimitOpt("Price of input tokens, in US dollars per million.", ge=0),
    ] = None
    price_output: Annotated[
        float | None,
        LimitOpt("Price of output tokens, in US dollars per million.", ge=0),
    ] = None
    embedding_model: Annotated[
        str | None,
        Opt("Sentence encoder (hub id or folder) instead of the packaged all-MiniLM-L6-v2."),
    ] = None
    entailment_model: Annotated[
        str | None,
        Opt(
            "Entailment model (hub id or folder) for --fallback and --cascade-scorer, instead of "
            "the packaged one."
        ),
    ] = None
    engine: Annotated[
        Engine,
        Opt("Run in this process, or on a Ray cluster (at RAY_ADDRESS, else on this machine)."),
    ] = "local"
    progress: bool | None = None
    on_retry: Callable[[str], None] | None = field(default=None, compare=False)
    """Called on each retry with the kind of error (`fairjudge.backends.retrying.kind_of`)."""
    planner: PlanningBackend | None = field(default=None, compare=False)
    """Simulates replies for a plan instead of sending requests."""
    chat: BaseChatModel | None = field(default=None, compare=False)
    """The LangChain chat model that ``target`` identifies."""
    _budget: Budget | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        from fairjudge.options.checking import check_fields

        if is_chat_model(self.target):
            from fairjudge.backends.langchain import chat_target

            object.__setattr__(self, "chat", self.target)
            object.__setattr__(self, "target", str(chat_target(self.target)))
        if self.chat is not None and self.engine == "ray":
            raise ConfigurationError("engine: a LangChain chat model cannot be sent to Ray")
        check_fields(self)
        if (self.price_input is None) != (self.price_output is None):
            raise ConfigurationError("price_input and price_output: set both or neither")
        if self.store:
            StoreAddress(self.store)

    def __repr__(self) -> str:
        return f"Model({self.target!r})"

    @property
    def llm(self) -> ModelRef | None:
        """The language model; None for the local models."""
        from fairjudge.backends import LOCAL, LOCAL_LARGE, resolve_target

        if self.target in {LOCAL, LOCAL_LARGE}:
            return None
        return resolve_target(self.target, base_url=self.base_url)

    @property
    def trained_folder(self) -> Path:
        """The folder of the trained local models that judge without an LLM."""
        from fairjudge.scorers.trained_record import trained_folder

        return trained_folder(self.target)

    @property
    def cache_folder(self) -> Path:
        """The folder of the response cache and of runs without a folder of their own."""
        from fairjudge.cache.disk import default_cache_dir

        return default_cache_dir() if self.cache is None else Path(self.cache)

    @property
    def address(self) -> StoreAddress | None:
        """The URL of the shared store, with the password hidden."""
        return StoreAddress(self.store) if self.store else None

    @property
    def budget(self) -> Budget:
        """Spending so far and its limits, shared by all runs that use this object."""
        if self._budget is None:
            object.__setattr__(self, "_budget", self.new_budget())
        return cast("Budget", self._budget)

    @property
    def is_limited(self) -> bool:
        """Whether calls or cost have a limit."""
        return not (self.budget.max_calls is None and self.budget.max_cost_usd is None)

    def with_budget(self, budget: Budget) -> Model:
        """Return a copy of this model that spends from `budget`."""
        budget.include_prices(self.own_price)
        model = replace(self)
        object.__setattr__(model, "_budget", budget)
        return model

    def new_budget(self) -> Budget:
        """Return an unspent budget."""
        from fairjudge.backends.budgeting import Budget

        return Budget(max_calls=self.max_calls, max_cost_usd=self.max_cost, prices=self.price_list)

    @property
    def price_list(self) -> PriceTable:
        """The published prices, overridden by those in `prices`."""
        from fairjudge.backends.pricing import load_prices

        return load_prices(self.prices).with_prices(self.own_price)

    @property
    def own_price(self) -> dict[str, Price]:
        """The price set for this model, by its name; empty if none is set."""
        from fairjudge.backends.pricing import Price

        if self.llm is None or self.price_input is None or self.price_output is None:
            return {}
        return {
            str(self.llm): Price(
                model=str(self.llm),
                input=self.price_input,
                output=self.price_output,
                date=dt.datetime.now(tz=dt.UTC).date(),
                source="price_input and price_output",
            )
        }

    @property
    def sampling(self) -> Sampling:
        """Sampling settings of every request for text."""
        limit = self.max_output_tokens
        settings: Sampling = {"seed": self.seed}
        return settings if limit is None else {**settings, "max_output_tokens": limit}

    def identity(self) -> dict[str, Any]:
        """Return the settings that can change results: not budgets, concurrency or folders."""
        from fairjudge.scorers.trained_models import trained_identity

        llm = self.llm
        return {
            "target": trained_identity(self.trained_folder)
            if llm is None
            else llm.model_dump(mode="json"),
            "embedding_model": self.embedding_model,
            "entailment_model": self.entailment_model,
            **self.sampling,
        }

    def local_embedding_model(self) -> str | None:
        """Return the embedding model of a local model; None for the packaged one.

        Raises
        ------
        ConfigurationError
            If this is an LLM.
        """
        if self.llm is not None:
            raise ConfigurationError(f"{self!r} is an LLM; pass a JudgeResult or a local model")
        return self.embedding_model


def is_chat_model(value: object) -> TypeGuard[BaseChatModel]:
    """Return whether `value` is a LangChain chat model, without importing LangChain if not."""
    if isinstance(value, str) or "langchain_core.language_models" not in sys.modules:
        return False
    from langchain_core.language_models import BaseChatModel

    return isinstance(value, BaseChatModel)


def as_model(model: object, *, argument: str = "model") -> Model:
    """Return a `Model`; a string is its target.

    Raises
    ------
    ConfigurationError
        If `model` is neither a model nor a string.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, str) or is_chat_model(model):
        return Model(cast("str", model))
    raise ConfigurationError(
        f"{argument}: expected a fairjudge.Model, a string such as 'openai:gpt-4o-mini', or a "
        f"LangChain chat model, found {type(model).__name__}"
    )
