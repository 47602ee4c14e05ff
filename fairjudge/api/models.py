"""Which model answers, where its replies are kept, and what may be spent on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.api.options import check_fields
from fairjudge.errors import ConfigurationError

if TYPE_CHECKING:
    from fairjudge.backends.budgeting import Budget
    from fairjudge.run.models import ModelOptions


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its response cache and its budget, for as many runs as it is given to.

    Parameters
    ----------
    target : str
        ``"provider:model"`` such as ``"openai:gpt-4o-mini"``, or ``"local"``: no key, no network
        (extra ``local``).
    base_url : str, optional
        An OpenAI-compatible server.
    cache : path, optional
        Folder of the response cache and of run folders; by default the user's cache folder.
    max_cost, max_calls
        Limits in US dollars and requests, over **all** runs that this object is given to.
    concurrency : int
        Maximum concurrent requests.
    requests_per_minute, tokens_per_minute : int, optional
        A provider's limits.
    timeout, max_wait : float, optional
        Seconds that one request may take, and that a server may ask to be waited for.
    seed, max_output_tokens : int, optional
        Go into every request.
    prices : path, optional
        A TOML file of prices, beside those that are known.
    embedding_model, entailment_model : str, optional
        Local models other than the packaged ones.
    progress : bool, optional
        Show progress bars on standard error; by default where that is a terminal.

    Raises
    ------
    ConfigurationError
        If an argument is of another type.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.Model("openai:gpt-4o-mini", max_cost=5.0)
    Model('openai:gpt-4o-mini')
    """

    target: str = "local"
    base_url: str | None = field(default=None, kw_only=True)
    cache: str | Path | None = field(default=None, kw_only=True)
    max_cost: float | None = field(default=None, kw_only=True)
    max_calls: int | None = field(default=None, kw_only=True)
    concurrency: int = field(default=8, kw_only=True)
    requests_per_minute: int | None = field(default=None, kw_only=True)
    tokens_per_minute: int | None = field(default=None, kw_only=True)
    timeout: float | None = field(default=None, kw_only=True)
    max_wait: float | None = field(default=None, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    max_output_tokens: int | None = field(default=None, kw_only=True)
    prices: str | Path | None = field(default=None, kw_only=True)
    embedding_model: str | None = field(default=None, kw_only=True)
    entailment_model: str | None = field(default=None, kw_only=True)
    progress: bool | None = field(default=None, kw_only=True)
    _budget: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"Model({self.target!r})"

    @property
    def options(self) -> ModelOptions:
        """Return what runs are given."""
        from fairjudge.run.models import ModelOptions

        given: dict[str, Any] = {
            "base_url": self.base_url,
            "cache": None if self.cache is None else Path(self.cache),
            "max_cost": self.max_cost,
            "max_calls": self.max_calls,
            "concurrency": self.concurrency,
            "rpm": self.requests_per_minute,
            "tpm": self.tokens_per_minute,
            "timeout_seconds": self.timeout,
            "max_wait_seconds": self.max_wait,
            "seed": self.seed,
            "max_output_tokens": self.max_output_tokens,
            "prices": None if self.prices is None else Path(self.prices),
            "embedding_model": self.embedding_model,
            "entailment_model": self.entailment_model,
        }
        return ModelOptions(
            backend=self.target,
            **{name: value for name, value in given.items() if value is not None},
        )

    @property
    def budget(self) -> Budget:
        """Return what was spent so far, and what may be."""
        if not self._budget:
            self._budget.append(self.options.budget())
        budget: Budget = self._budget[0]
        return budget

    def local(self) -> str | None:
        """Return the embedding model of a local model; None for the packaged one.

        Raises
        ------
        ConfigurationError
            If this is an LLM.
        """
        if self.target != "local":
            raise ConfigurationError(
                f"{self!r} writes text; give its verdicts (a JudgeResult), or a local model"
            )
        return self.embedding_model


def as_model(given: object, *, argument: str = "model") -> Model:
    """Return `given` as a model; a string names its target.

    Raises
    ------
    ConfigurationError
        If it is neither.
    """
    if isinstance(given, Model):
        return given
    if isinstance(given, str):
        return Model(given)
    raise ConfigurationError(
        f"{argument}: expected a fairjudge.Model or a string such as 'openai:gpt-4o-mini', "
        f"found {type(given).__name__}"
    )
