"""One row of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record's raw value, or its ``problem``; ``line`` counts from 1.

    ``flat`` says that it comes from a table, whose cells hold as JSON what nests.
    """

    line: int
    value: Any = None
    problem: str | None = None
    field: str | None = None
    repaired: bool = False
    flat: bool = False
