"""The highest of several estimates, ties included."""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDING = 1e-9
"""Differences below this share of the largest absolute value (at least 1) are rounding."""


def leaders(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names with the highest value, in the order of `values`; several for a tie.

    Ties are not broken by name, order or rounding errors.
    """
    if not values:
        return ()
    best = max(values.values())
    room = _ROUNDING * max(1.0, *(abs(value) for value in values.values()))
    return tuple(name for name, value in values.items() if value >= best - room)
