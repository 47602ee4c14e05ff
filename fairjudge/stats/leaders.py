"""The highest of several values, ties included."""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDING = 1e-9
"""Differences below this share of max(1, largest absolute value) are rounding errors."""


def leaders(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names with the highest value, in the order of `values`; all names that tie.

    Values tie if they differ by rounding errors only.
    """
    if not values:
        return ()
    highest = max(values.values())
    tolerance = _ROUNDING * max(1.0, *(abs(value) for value in values.values()))
    return tuple(name for name, value in values.items() if value >= highest - tolerance)
