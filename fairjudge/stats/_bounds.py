"""Confidence bounds from bootstrap replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import t as student_t

from fairjudge.stats._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Both ends of an interval."""

    low: float
    high: float


def percentile_bounds(drawn: FloatArray, *, level: float) -> Bounds:
    """Return the percentile interval of `drawn`, shape (r,), without NaN (Efron 1981)."""
    tail = (1.0 - level) / 2.0
    return _quantiles(drawn, tail, 1.0 - tail)


def expanded_bounds(drawn: FloatArray, *, level: float, n_documents: int) -> Bounds:
    """Return the percentile interval at the tail area that few documents ask for.

    The tail is ``Phi(-sqrt(d / (d - 1)) t)`` with ``t`` the Student quantile on ``d - 1`` degrees
    of freedom (Hesterberg 2015, "What teachers should know about the bootstrap", section 4.3).
    """
    quantile = float(student_t.ppf((1.0 + level) / 2.0, n_documents - 1))
    tail = float(ndtr(-np.sqrt(n_documents / (n_documents - 1)) * quantile))
    return _quantiles(drawn, tail, 1.0 - tail)


def bca_bounds(
    drawn: FloatArray, *, observed: float, left_out: FloatArray, level: float
) -> Bounds | None:
    """Return the BCa interval (Efron and Tibshirani 1993, equations 14.9 to 14.15).

    Parameters
    ----------
    drawn : array of shape (r,), without NaN
    left_out : array of shape (d,)
        The statistic without each document in turn; NaN entries are ignored.

    Returns
    -------
    Bounds or None
        None where every resample lies on one side of `observed`.
    """
    share = (np.count_nonzero(drawn < observed) + np.count_nonzero(drawn <= observed)) / (
        2.0 * drawn.size
    )
    if share in {0.0, 1.0}:
        return None
    bias = float(ndtri(share))
    defined = left_out[~np.isnan(left_out)]
    gap = defined.mean() - defined if defined.size else np.zeros(1)
    spread = float(np.sum(gap**2))
    acceleration = float(np.sum(gap**3)) / (6.0 * spread**1.5) if spread > 0.0 else 0.0
    z = bias + np.array([-1.0, 1.0]) * float(ndtri((1.0 + level) / 2.0))
    low, high = ndtr(bias + z / (1.0 - acceleration * z))
    return _quantiles(drawn, float(low), float(high))


def _quantiles(drawn: FloatArray, low: float, high: float) -> Bounds:
    both = np.quantile(drawn, [low, high])
    return Bounds(low=float(both[0]), high=float(both[1]))
