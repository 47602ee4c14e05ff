"""What calls cost: by the user's own prices, then by those of genai-prices; else it is unknown."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairjudge.errors import InputError
from fairjudge.files import read_file
from fairjudge.ports import ModelRef, Usage

CACHED_FROM = 1024
"""Tokens from which on most providers keep what a prompt begins with."""
_CACHED_FROM = {
    "claude-haiku-4": 4096,
    "claude-opus-4-5": 4096,
    "claude-3-haiku": 2048,
    "claude-3-5-haiku": 2048,
}
"""The same by the beginning of a model's name, from Anthropic's documentation."""
_PROVIDERS = {"azure_openai": "azure", "fireworks_ai": "fireworks"}
"""What litellm and LangChain call a provider of which genai-prices knows other names only."""
_PUBLIC = {"openai", "anthropic", "litellm", "langchain"}
"""Backends of which a server bears the costs of published lists."""


class Price(BaseModel):
    """One model's price in US dollars per million tokens, and when and where it was read.

    ``cached_input`` is for prompt tokens that the provider knows from an earlier prompt, and
    ``cache_write`` for those that it keeps for later ones; both are by default as ``input``. A
    provider that prices the former keeps beginnings of ``cached_from`` tokens and more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str = Field(pattern=r"^[^:]+:.+$")
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    cached_from: int = Field(default=CACHED_FROM, ge=0)
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
        """Return the price of so many tokens in US dollars; the last two are among the first."""
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        return (
            (input_tokens - cached_input_tokens - written_input_tokens) * self.input
            + cached_input_tokens * cached
            + written_input_tokens * written
            + output_tokens * self.output
        ) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPrice:
    """A model's price in the data of the package genai-prices, of today.

    ``model`` is its id there, which not every provider's models are found by again, ``alias`` the
    name that it was found by, and ``source`` the package with its version. Prices by the length of
    a prompt, and those of times of the day, are taken as they are published.
    """

    provider: str
    model: str
    source: str
    alias: str = field(compare=False)

    @property
    def cached_from(self) -> int:
        """Tokens from which on the provider keeps the beginning of a prompt."""
        return next(
            (least for start, least in _CACHED_FROM.items() if self.model.startswith(start)),
            CACHED_FROM,
        )

    def cost_usd(
        self,
        *,
        input_tokens: float,
        output_tokens: float,
        cached_input_tokens: float = 0,
        written_input_tokens: float = 0,
    ) -> float:
        """Return the price of so many tokens in US dollars; the last two are among the first."""
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

    ``own`` are the user's: they come first and hold at any server. After them come the published
    ones, which hold at the providers' servers only: at an address of one's own any model may stand
    under any name.
    """

    own: Mapping[str, Price]

    def including(self, prices: Mapping[str, Price]) -> PriceTable:
        """Return this table with more prices of the user's, which replace those that it holds."""
        return PriceTable(own={**self.own, **prices})

    def price(self, target: ModelRef) -> Price | PublishedPrice | None:
        """Return the price of `target`, or None if it is not known."""
        provider, model = _served(target)
        for name in (str(target), f"{provider}:{model}"):
            if name in self.own:
                return self.own[name]
        if target.provider not in _PUBLIC or not _is_public(target.base_url):
            return None
        return published_price(provider, model, target.base_url)

    def cost_usd(self, target: ModelRef, usage: Usage, *, n_calls: int = 1) -> float | None:
        """Return what calls of `usage` together cost, or None if price or counts are not known.

        Some prices rise with the length of a prompt: that of each of `n_calls` is taken as equal.
        """
        price = self.price(target)
        if price is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        tokens = usage.model_dump(exclude_none=True)
        return n_calls * price.cost_usd(**{name: n / n_calls for name, n in tokens.items()})


def _served(target: ModelRef) -> tuple[str, str]:
    """Return whose model it is, and its name there; litellm and LangChain write provider/model."""
    if target.provider not in {"litellm", "langchain"}:
        return target.provider, target.model
    provider, slash, model = target.model.partition("/")
    return (provider, model) if slash else ("openai", provider)


def _is_public(address: str | None) -> bool:
    """Say whether a server may be a provider's own: none was named, or one by a full name."""
    if address is None:
        return True
    host = urlsplit(address).hostname or ""
    return "." in host and not host.replace(".", "").isdigit()


@lru_cache(maxsize=256)
def published_price(provider: str, model: str, address: str | None) -> PublishedPrice | None:
    """Return the price of a model in the data of genai-prices, or None where there is none.

    Parameters
    ----------
    provider, model : str
        As OpenAI, Anthropic, litellm or LangChain name them; a dated snapshot costs what its model
        does unless it is listed.
    address : str, optional
        The server's, which then tells the provider.
    """
    # 0.5 s, and only runs that ask a provider need it.
    from genai_prices import __version__, data_snapshot

    name = None if address else _PROVIDERS.get(provider, provider)
    try:
        found, listed = data_snapshot.get_snapshot().find_provider_model(model, None, name, address)
    except LookupError:
        return None
    source = f"genai-prices {__version__}"
    return PublishedPrice(provider=found.id, model=listed.id, alias=model, source=source)


def load_prices(path: str | Path | None = None) -> PriceTable:
    """Return the prices of the TOML file at `path`, before those that are published.

    The file has tables ``[[price]]`` with ``model`` (``provider:model``), ``input`` and ``output``
    (US dollars per million tokens), ``date`` and ``source``, and optionally ``cached_input``,
    ``cache_write`` and ``cached_from`` (see `Price`). One that cannot be read or has another form
    raises `InputError`.
    """
    return PriceTable(own={} if path is None else _read(_text(path), path=path))


def _text(path: str | Path) -> str:
    try:
        return read_file(Path(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read this price file: {error}", path=path) from error


def _read(text: str, *, path: str | Path) -> dict[str, Price]:
    try:
        tables: Any = tomllib.loads(text).get("price", [])
        prices = [Price.model_validate(table) for table in tables]
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"in a [[price]]: {first['msg']}", path=path, field=field) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"not TOML with [[price]] tables: {error}", path=path) from error
    return {price.model: price for price in prices}
