"""Adjusted p-values for families of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, vector


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for the family-wise error rate, under any dependence (Holm 1979).

    Parameters
    ----------
    p_values : array of shape (m,), in [0, 1]; may be empty

    Returns
    -------
    array of shape (m,)
        Adjusted p-values; reject at level alpha those that are at most alpha.
    """
    p, order = _sort_p_values(p_values)
    steps = np.maximum.accumulate(p * np.arange(p.size, 0, -1))
    return _restore_order(steps, order)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for the false discovery rate of positively dependent tests.

    Source: Benjamini and Hochberg (1995). Shapes as in `holm`.
    """
    return _step_up(p_values, 1.0)


def benjamini_yekutieli(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for the false discovery rate under any dependence.

    Source: Benjamini and Yekutieli (2001). The adjustment is Benjamini-Hochberg's, times the m-th
    harmonic number. Shapes as in `holm`.
    """
    m = np.size(np.asarray(p_values))
    return _step_up(p_values, float(np.sum(1.0 / np.arange(1, m + 1))))


def _step_up(p_values: ArrayLike, factor: float) -> FloatArray:
    p, order = _sort_p_values(p_values)
    scaled_p_values = p * p.size * factor / np.arange(1, p.size + 1)
    steps = np.minimum.accumulate(scaled_p_values[::-1])[::-1]
    return _restore_order(steps, order)


def _sort_p_values(p_values: ArrayLike) -> tuple[FloatArray, IntArray]:
    p = vector(p_values, name="p_values")
    if p.size and (p.min() < 0.0 or p.max() > 1.0):
        raise StatisticsError(f"p-values must lie in [0, 1], got {p.min()!r} to {p.max()!r}")
    order = np.argsort(p, kind="stable")
    return p[order], order


def _restore_order(steps: FloatArray, order: IntArray) -> FloatArray:
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
