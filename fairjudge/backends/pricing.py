"""The cost of calls, by the user's prices or those of genai-prices."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairjudge.errors import InputError
from fairjudge.files import read_toml
from fairjudge.ports import ModelRef, Usage

DEFAULT_CACHED_FROM = 1024
"""Minimum number of tokens of a prefix that most providers cache."""
_CACHED_FROM_BY_MODEL = {
    "claude-haiku-4": 4096,
    "claude-opus-4-5": 4096,
    "claude-3-haiku": 2048,
    "claude-3-5-haiku": 2048,
}
"""The same number by prefix of the model's name, from Anthropic's documentation."""
_PROVIDERS = {"azure_openai": "azure", "fireworks_ai": "fireworks"}
"""Provider names of litellm and LangChain, mapped to those of genai-prices."""
_PUBLIC = {"openai", "anthropic", "litellm", "langchain"}
"""Backends to which the published prices apply."""


class Price(BaseModel):
    """One model's price in US dollars per million tokens, with its date and source.

    ``cached_input`` is the price of prompt tokens read from the provider's prompt cache,
    ``cache_write`` of tokens written to it; both default to ``input``. Prefixes of at least
    ``cached_from`` tokens are cached.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str = Field(pattern=r"^[^:]+:.+$")
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    cached_from: int = Field(default=DEFAULT_CACHED_FROM, ge=0)
    date: dt.date
    source: str

    def cost_usd(
        self,
        *,
        input_tokens: float,
        output_tokens: float,
        cached_input_tokens: float = 0,
        written_input_tokens: float = 0,
    ) -> float:
        """Return the price in US dollars; cached and written tokens are part of the input."""
        read_price = self.input if self.cached_input is None else self.cached_input
        write_price = self.input if self.cache_write is None else self.cache_write
        return (
            (input_tokens - cached_input_tokens - written_input_tokens) * self.input
            + cached_input_tokens * read_price
            + written_input_tokens * write_price
            + output_tokens * self.output
        ) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPrice:
    """A model's current price in the data of the package genai-prices.

    ``model`` is its id there, ``alias`` the name for the look-up (not every id can be looked up),
    and ``source`` the package with its version. Prices by prompt length and by time of day are
    applied as published.
    """

    provider: str
    model: str
    source: str
    alias: str = field(compare=False)

    @property
    def cached_from(self) -> int:
        """Minimum number of tokens of a prefix that the provider caches."""
        return next(
            (
                minimum
                for start, minimum in _CACHED_FROM_BY_MODEL.items()
                if self.model.startswith(start)
            ),
            DEFAULT_CACHED_FROM,
        )

    def cost_usd(
        self,
        *,
        input_tokens: float,
        output_tokens: float,
        cached_input_tokens: float = 0,
        written_input_tokens: float = 0,
    ) -> float:
        """Return the price in US dollars; cached and written tokens are part of the input."""
        from genai_prices import Usage as Counts
        from genai_prices import calc_price

        counts = Counts(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=cached_input_tokens,
            cache_write_tokens=written_input_tokens,
        )
        return float(calc_price(counts, self.alias, provider_id=self.provider).total_price)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """Prices by ``provider:model``.

    ``user_prices`` have priority and apply to any server. The published prices apply only to the
    providers' servers: at a custom URL, any model may have any name.
    """

    user_prices: Mapping[str, Price]

    def with_prices(self, prices: Mapping[str, Price]) -> PriceTable:
        """Return this table with further prices of the user, which replace existing ones."""
        return PriceTable(user_prices={**self.user_prices, **prices})

    def price(self, target: ModelRef) -> Price | PublishedPrice | None:
        """Return the price of `target`, or None if it is unknown."""
        provider, model = _provider_and_model(target)
        for name in (str(target), f"{provider}:{model}"):
            if name in self.user_prices:
                return self.user_prices[name]
        if target.provider not in _PUBLIC or not _is_public(target.base_url):
            return None
        return published_price(provider, model, target.base_url)

    def cost_usd(self, target: ModelRef, usage: Usage, *, n_calls: int = 1) -> float | None:
        """Return the cost of `n_calls` with the total `usage`; None if price or counts are unknown.

        Some prices depend on the prompt's length; all calls are assumed to have equal length.
        """
        price = self.price(target)
        if price is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        tokens = usage.model_dump(exclude_none=True)
        return n_calls * price.cost_usd(**{name: n / n_calls for name, n in tokens.items()})


def _provider_and_model(target: ModelRef) -> tuple[str, str]:
    """Return provider and model; those of litellm and LangChain are ``provider/model``."""
    if target.provider not in {"litellm", "langchain"}:
        return target.provider, target.model
    provider, slash, model = target.model.partition("/")
    return (provider, model) if slash else ("openai", provider)


def _is_public(address: str | None) -> bool:
    """Return whether a server may be a provider's own: no URL, or a full host name."""
    if address is None:
        return True
    host = urlsplit(address).hostname or ""
    return "." in host and not host.replace(".", "").isdigit()


@lru_cache(maxsize=256)
def published_price(provider: str, model: str, address: str | None) -> PublishedPrice | None:
    """Return the price of a model in the data of genai-prices, or None if there is none.

    Parameters
    ----------
    provider, model : str
        Names as in OpenAI, Anthropic, litellm or LangChain; a dated snapshot that is not listed has
        the price of its model.
    address : str, optional
        URL of the server, which then identifies the provider.
    """
    # A late import: it takes 0.5 s, and only some runs need it.
    from genai_prices import __version__, data_snapshot

    name = None if address else _PROVIDERS.get(provider, provider)
    try:
        listed_provider, listed_model = data_snapshot.get_snapshot().find_provider_model(
            model, None, name, address
        )
    except LookupError:
        return None
    source = f"genai-prices {__version__}"
    return PublishedPrice(
        provider=listed_provider.id, model=listed_model.id, alias=model, source=source
    )


def load_prices(path: str | Path | None = None) -> PriceTable:
    """Return a price table with the prices of the TOML file at `path`, if given.

    The file has tables ``[[price]]`` with ``model`` (``provider:model``), ``input`` and ``output``
    (US dollars per million tokens), ``date`` and ``source``, and optionally ``cached_input``,
    ``cache_write`` and ``cached_from`` (see `Price`). An unreadable or invalid file raises
    `InputError`.
    """
    if path is None:
        return PriceTable(user_prices={})
    try:
        prices = [Price.model_validate(table) for table in read_toml(Path(path)).get("price", [])]
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"in a [[price]]: {first['msg']}", path=path, field=field) from error
    except TypeError as error:
        raise InputError(f"not TOML with [[price]] tables: {error}", path=path) from error
    return PriceTable(user_prices={price.model: price for price in prices})
