"""Which of several estimates is the highest, or which share that place."""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDING = 1e-9
"""Part of the largest value below which a difference is rounding."""


def leaders(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return the names of the highest value, in their order: several where they are equal.

    None is before another by its name, its place in a file, or a difference of rounding.
    """
    if not values:
        return ()
    best = max(values.values())
    room = _ROUNDING * max(1.0, *(abs(value) for value in values.values()))
    return tuple(name for name, value in values.items() if value >= best - room)
