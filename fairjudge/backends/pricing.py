"""What calls cost, by a dated table; what is not in it is unknown, never free."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairjudge.errors import InputError
from fairjudge.files import read_file
from fairjudge.ports import ModelRef, Usage

CACHED_FROM = 1024
"""Tokens from which on most providers keep what a prompt begins with."""
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


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
        input_tokens: int,
        output_tokens: int,
        cached_input_tokens: int = 0,
        written_input_tokens: int = 0,
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
class PriceTable:
    """Prices by ``provider:model``.

    ``published`` are the providers' own: they hold at the providers' servers only, and a dated
    snapshot (``gpt-4o-mini-2024-07-18``) costs what its model does unless listed itself. ``own``
    are the user's: they come first and hold at any server.
    """

    published: Mapping[str, Price]
    own: Mapping[str, Price]

    def price(self, target: ModelRef) -> Price | None:
        """Return the price of `target`, or None if it is not known."""
        for name in _names(target):
            if name in self.own:
                return self.own[name]
            if name in self.published and target.base_url is None:
                return self.published[name]
        return None

    def cost_usd(self, target: ModelRef, usage: Usage) -> float | None:
        """Return what a call cost, or None if price or token counts are not known."""
        price = self.price(target)
        if price is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        return price.cost_usd(**usage.model_dump(exclude_none=True))


def _names(target: ModelRef) -> tuple[str, ...]:
    """Return the names to look under, nearest first; litellm writes provider/model."""
    name = str(target)
    if target.provider == "litellm":
        provider, slash, model = target.model.partition("/")
        name = f"{provider}:{model}" if slash else f"openai:{provider}"
    return (str(target), name, _SNAPSHOT.sub("", name))


def load_prices(path: str | Path | None = None) -> PriceTable:
    """Return the published prices, and those of the TOML file at `path` before them.

    The file has the form of ``fairjudge/backends/prices.toml``: tables ``[[price]]`` with
    ``model`` (``provider:model``), ``input`` and ``output`` (US dollars per million tokens),
    ``date`` and ``source``, and optionally ``cached_input``, ``cache_write`` and ``cached_from``
    (see `Price`). One that cannot be read or has another form raises `InputError`.
    """
    published = files("fairjudge.backends").joinpath("prices.toml").read_text(encoding="utf-8")
    own = {} if path is None else _read(_text(path), path=path)
    return PriceTable(published=_read(published, path="prices.toml"), own=own)


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
