"""How often the judge gives which value where people give which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.items import Joined
from fairjudge.calibration.scales import Scale
from fairjudge.stats._arrays import FloatArray, IntArray

_MOST_STEPS = 10
"""Steps of a scale of whole numbers that is counted step by step."""
_EVEN_LEVELS = 5
"""Levels of any other scale."""
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """``counts[i][j]`` items have the judge's value ``rows[i]`` and people's ``columns[j]``.

    Each value counts as the nearest level, the upper one of two that are equally near.
    """

    rows: tuple[float, ...]
    columns: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(joined: Joined) -> Confusion | None:
    """Count labelled items by the judge's value and people's mean; None where there is no item."""
    if not len(joined.judged):
        return None
    rows = levels_of(joined.judge_scale, joined.judged)
    columns = levels_of(joined.label_scale, joined.human)
    counts = count_pairs(joined.judged, joined.human, rows, columns)
    return Confusion(rows=rows, columns=columns, counts=counts)


def count_pairs(
    judged: FloatArray, human: FloatArray, rows: tuple[float, ...], columns: tuple[float, ...]
) -> tuple[tuple[int, ...], ...]:
    """Count pairs of values by their nearest levels, ascending `rows` and `columns`."""
    counts = np.zeros((len(rows), len(columns)), dtype=int)
    np.add.at(counts, (nearest(judged, rows), nearest(human, columns)), 1)
    return tuple(map(tuple, counts.tolist()))


def levels_of(scale: Scale, values: FloatArray) -> tuple[float, ...]:
    """Return a scale's ends where `values` are no others, its whole numbers, or even levels."""
    low, high = scale
    if np.all(np.isin(values, (low, high))):
        return (low, high) if low < high else (low,)
    steps = high - low
    whole = float(low).is_integer() and float(steps).is_integer() and 2 <= steps <= _MOST_STEPS
    n = int(steps) + 1 if whole else _EVEN_LEVELS
    return tuple(round(float(level), _DIGITS) for level in np.linspace(low, high, n))


def nearest(values: FloatArray, levels: tuple[float, ...]) -> IntArray:
    """Return the place of each value's nearest level, of two equally near ones the upper."""
    far = np.abs(np.asarray(values)[:, None] - np.asarray(levels[::-1])[None, :]).round(_DIGITS)
    nearest: IntArray = len(levels) - 1 - np.argmin(far, axis=1)
    return nearest
