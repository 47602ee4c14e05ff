"""The confusion table of the judge's and the human values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.scales import Scale
from fairjudge.stats._arrays import FloatArray, IntArray

_MOST_STEPS = 10
"""Maximum number of steps of a whole-number scale for one level per whole number."""
_N_EVEN_LEVELS = 5
"""Number of evenly spaced levels of other scales."""
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Confusion table: ``counts[i][j]`` items have judge level ``rows[i]``, human ``columns[j]``.

    Each value is rounded to the nearest level; ties round up.
    """

    rows: tuple[float, ...]
    columns: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(items: JoinedItems) -> Confusion | None:
    """Cross-tabulate the judge's values and the mean labels; None without labelled items."""
    if not len(items.judged):
        return None
    rows = confusion_levels(items.judge_scale, items.judged)
    columns = confusion_levels(items.label_scale, items.human)
    counts = count_pairs(items.judged, items.human, rows, columns)
    return Confusion(rows=rows, columns=columns, counts=counts)


def count_pairs(
    judged: FloatArray, human: FloatArray, rows: tuple[float, ...], columns: tuple[float, ...]
) -> tuple[tuple[int, ...], ...]:
    """Cross-tabulate pairs of values, rounded to the ascending levels `rows` and `columns`."""
    counts = np.zeros((len(rows), len(columns)), dtype=int)
    np.add.at(counts, (nearest_levels(judged, rows), nearest_levels(human, columns)), 1)
    return tuple(map(tuple, counts.tolist()))


def confusion_levels(scale: Scale, values: FloatArray) -> tuple[float, ...]:
    """Return a scale's bounds if `values` are only those, its whole numbers, or even levels."""
    low, high = scale
    if np.all(np.isin(values, (low, high))):
        return (low, high) if low < high else (low,)
    steps = high - low
    has_whole_steps = (
        float(low).is_integer() and float(steps).is_integer() and 2 <= steps <= _MOST_STEPS
    )
    n = int(steps) + 1 if has_whole_steps else _N_EVEN_LEVELS
    return tuple(round(float(level), _DIGITS) for level in np.linspace(low, high, n))


def nearest_levels(values: FloatArray, levels: tuple[float, ...]) -> IntArray:
    """Return the index of the level nearest to each value; the upper one for ties."""
    distances = np.abs(np.asarray(values)[:, None] - np.asarray(levels[::-1])[None, :]).round(
        _DIGITS
    )
    indices: IntArray = len(levels) - 1 - np.argmin(distances, axis=1)
    return indices
