"""A model, its response cache, and its limits."""

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
"""Where items are worked on: in this process, or sharded over a Ray cluster."""


class Sampling(TypedDict, total=False):
    """Sampling options of requests; limits of None are set by each step."""

    seed: int | None
    max_output_tokens: int


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """A model with its response cache and budget, shared by all runs that use it.

    Parameters
    ----------
    target : str
        ``"provider:model"`` such as ``"openai:gpt-4o-mini"``, or ``"local"``: no key, no network
        (extra ``local``); ``"local-large"``: the same by a larger encoder, better and slower (extra
        ``local-large``). A chat model of LangChain may be given in its place; ``target`` is then
        a name that identifies it by its class, its model and a hash of its settings.
    cache : path, optional
        Folder of the response cache and of run folders; by default the user's cache folder.
    store : str, optional
        A PostgreSQL database that keeps both instead, shared between machines:
        ``"postgresql://user@host:port/database"``.
    concurrency : int
        Maximum concurrent requests.
    base_url : str, optional
        An OpenAI-compatible server.
    timeout, max_wait : float
        Seconds that one attempt of a request may take, and that it may wait for retries in all.
    seed, max_output_tokens : int, optional
        Go into every request.
    max_cost, max_calls
        Limits in US dollars and requests, over **all** runs that this object is given to.
    requests_per_minute, tokens_per_minute : int, optional
        A provider's limits.
    prices : path, optional
        A TOML file of prices, which come before those that are published.
    price_input, price_output : float, optional
        This model's price in US dollars per million tokens, before all others.
    embedding_model, entailment_model : str, optional
        Local models other than the packaged ones.
    engine : {"local", "ray"}
        Where `build` and `Judge` work on items: in this process, or on the Ray cluster of
        ``RAY_ADDRESS``; other calls work in this process.
    progress : bool, optional
        Show progress bars on standard error; by default where that is a terminal.

    Raises
    ------
    ConfigurationError
        If an argument is of another type, or out of its bounds.

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
            "without a GPU) or provider:model, such as openai:gpt-4o-mini. 'fairjudge backends "
            "list' shows the providers.",
            flag="--backend",
        ),
    ] = "local"
    _: KW_ONLY
    cache: Annotated[
        str | Path | None,
        Opt("Folder of the response cache; by default a user cache folder.", panel="Storage"),
    ] = None
    store: Annotated[
        str | None,
        Opt(
            "Keep responses, checkpoints and runs in a PostgreSQL database shared between "
            "machines: postgresql://user@host:port/database. --run is then a name.",
            metavar="URL",
            envvar="FAIRJUDGE_STORE",
            panel="Storage",
        ),
    ] = None
    concurrency: Annotated[
        int,
        LimitOpt("Maximum concurrent requests; reduced for a while after a 429.", ge=1, le=4096),
    ] = 8
    base_url: Annotated[
        str | None,
        Opt("Base URL of the API instead of the provider's own, e.g. http://localhost:8000/v1."),
    ] = None
    timeout: Annotated[float, LimitOpt("Timeout of one request, in seconds.", ge=0.001)] = 300.0
    max_wait: Annotated[
        float,
        LimitOpt(
            "Maximum time that one request waits in pauses that the server asks for, in seconds "
            "in all; an item that would wait longer is left without a result.",
            ge=0,
        ),
    ] = 120.0
    seed: Annotated[
        int | None, Opt("Passed to models that take a seed; part of the cache key.")
    ] = None
    max_output_tokens: Annotated[
        int | None,
        Opt(
            "Maximum tokens of one reply, reasoning tokens included; by default 1024 for verdicts "
            "and summaries, 2048 for units, and 2048 to 8000 for the steps of a build.",
            ge=1,
        ),
    ] = None
    max_cost: Annotated[
        float | None, LimitOpt("Maximum cost of the requests, in US dollars.", ge=0)
    ] = None
    max_calls: Annotated[
        int | None,
        LimitOpt("Maximum number of requests to the model, retries included.", ge=0),
    ] = None
    requests_per_minute: Annotated[
        int | None, LimitOpt("Maximum requests per minute.", flag="--rpm", ge=1)
    ] = None
    tokens_per_minute: Annotated[
        int | None,
        LimitOpt("Maximum tokens per minute, of prompts and replies.", flag="--tpm", ge=1),
    ] = None
    prices: Annotated[
        str | Path | None,
        LimitOpt(
            "Your own prices (TOML: [[price]] with model, input and output in US dollars per "
            "million tokens, date, source, and where they differ cached_input, cache_write); they "
            "hold at any --base-url."
        ),
    ] = None
    price_input: Annotated[
        float | None,
        LimitOpt("Price of the model's input, in US dollars per million tokens.", ge=0),
    ] = None
    price_output: Annotated[
        float | None,
        LimitOpt("Price of its output, in US dollars per million tokens.", ge=0),
    ] = None
    embedding_model: Annotated[
        str | None,
        Opt("Sentence encoder by hub id or folder, instead of the packaged all-MiniLM-L6-v2."),
    ] = None
    entailment_model: Annotated[
        str | None,
        Opt(
            "Entailment model by hub id or folder, for --fallback and --cascade-scorer, instead "
            "of the package's own."
        ),
    ] = None
    engine: Annotated[
        Engine,
        Opt("Run in this process, or on the Ray cluster of RAY_ADDRESS (or of this machine)."),
    ] = "local"
    progress: bool | None = None
    on_retry: Callable[[str], None] | None = field(default=None, compare=False)
    """Called with the kind of error of each retry (`fairjudge.backends.retrying.kind_of`)."""
    planner: PlanningBackend | None = field(default=None, compare=False)
    """Simulates the replies in place of the model, for a plan; sends no request."""
    chat: BaseChatModel | None = field(default=None, compare=False)
    """The chat model of LangChain that ``target`` stands for."""
    _budget: Budget | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        from fairjudge.options.checking import check_fields

        if is_chat_model(self.target):
            from fairjudge.backends.langchain import chat_target

            object.__setattr__(self, "chat", self.target)
            object.__setattr__(self, "target", str(chat_target(self.target)))
        if self.chat is not None and self.engine == "ray":
            raise ConfigurationError("engine: a chat model of LangChain cannot be sent to Ray")
        check_fields(self)
        if (self.price_input is None) != (self.price_output is None):
            raise ConfigurationError("price_input and price_output: give both, or neither")
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
        """The folder of the response cache and of unnamed runs."""
        from fairjudge.cache.disk import default_cache_dir

        return default_cache_dir() if self.cache is None else Path(self.cache)

    @property
    def address(self) -> StoreAddress | None:
        """The address of the shared store, which shows no password."""
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

    def on(self, budget: Budget) -> Model:
        """Return this model with `budget` in place of its own."""
        budget.include_prices(self.own_price)
        shared = replace(self)
        object.__setattr__(shared, "_budget", budget)
        return shared

    def new_budget(self) -> Budget:
        """Return an unspent budget."""
        from fairjudge.backends.budgeting import Budget

        return Budget(max_calls=self.max_calls, max_cost_usd=self.max_cost, prices=self.price_list)

    @property
    def price_list(self) -> PriceTable:
        """The published prices, with those of `prices` before them."""
        from fairjudge.backends.pricing import load_prices

        return load_prices(self.prices).including(self.own_price)

    @property
    def own_price(self) -> dict[str, Price]:
        """The price that was given for this model, by its name; empty without one."""
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
        """Settings of every request for text."""
        limit = self.max_output_tokens
        sampling: Sampling = {"seed": self.seed}
        return sampling if limit is None else {**sampling, "max_output_tokens": limit}

    def identity(self) -> dict[str, Any]:
        """Return the settings that can change a result: no budgets, concurrency or folders."""
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

    def local(self) -> str | None:
        """Return the embedding model of a local model; None for the packaged one.

        Raises
        ------
        ConfigurationError
            If this is an LLM.
        """
        if self.llm is not None:
            raise ConfigurationError(
                f"{self!r} writes text; give its verdicts (a JudgeResult), or a local model"
            )
        return self.embedding_model


def is_chat_model(value: object) -> TypeGuard[BaseChatModel]:
    """Say whether `value` is a chat model of LangChain, without importing it for other objects."""
    if isinstance(value, str) or "langchain_core.language_models" not in sys.modules:
        return False
    from langchain_core.language_models import BaseChatModel

    return isinstance(value, BaseChatModel)


def as_model(model: object, *, argument: str = "model") -> Model:
    """Return `model` as a model; a string names its target.

    Raises
    ------
    ConfigurationError
        If it is neither.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, str) or is_chat_model(model):
        return Model(cast("str", model))
    raise ConfigurationError(
        f"{argument}: expected a fairjudge.Model, a string such as 'openai:gpt-4o-mini', or a chat "
        "model of LangChain, "
        f"found {type(model).__name__}"
    )
