"""Confidence bounds from bootstrap replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from fairjudge.stats._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Both ends of an interval."""

    low: float
    high: float


def percentile_bounds(replicates: FloatArray, *, level: float) -> Bounds:
    """Return the percentile interval of `replicates`, shape (r,), without NaN (Efron 1981)."""
    tail = (1.0 - level) / 2.0
    return _quantiles(replicates, tail, 1.0 - tail)


def expanded_bounds(replicates: FloatArray, *, level: float, n_documents: int) -> Bounds:
    """Return the percentile interval, expanded for a small number of documents.

    The tail area is ``Phi(-sqrt(d / (d - 1)) t)``, ``t`` the Student quantile on ``d - 1`` degrees
    of freedom (Hesterberg 2015, "What teachers should know about the bootstrap", section 4.3).
    """
    quantile = float(stdtrit(n_documents - 1, (1.0 + level) / 2.0))
    tail = float(ndtr(-np.sqrt(n_documents / (n_documents - 1)) * quantile))
    return _quantiles(replicates, tail, 1.0 - tail)


def bca_bounds(
    replicates: FloatArray, *, observed: float, jackknife: FloatArray, level: float
) -> Bounds | None:
    """Return the BCa interval (Efron and Tibshirani 1993, equations 14.9 to 14.15).

    Parameters
    ----------
    replicates : array of shape (r,), without NaN
    jackknife : array of shape (d,)
        The statistic without each document in turn; NaN entries are ignored.

    Returns
    -------
    Bounds or None
        None where all replicates lie on one side of `observed`.
    """
    share = (np.count_nonzero(replicates < observed) + np.count_nonzero(replicates <= observed)) / (
        2.0 * replicates.size
    )
    if share in {0.0, 1.0}:
        return None
    bias = float(ndtri(share))
    defined = jackknife[~np.isnan(jackknife)]
    gap = defined.mean() - defined if defined.size else np.zeros(1)
    spread = float(np.sum(gap**2))
    acceleration = float(np.sum(gap**3)) / (6.0 * spread**1.5) if spread > 0.0 else 0.0
    z = bias + np.array([-1.0, 1.0]) * float(ndtri((1.0 + level) / 2.0))
    low, high = ndtr(bias + z / (1.0 - acceleration * z))
    return _quantiles(replicates, float(low), float(high))


def _quantiles(replicates: FloatArray, low: float, high: float) -> Bounds:
    ends = np.quantile(replicates, [low, high])
    return Bounds(low=float(ends[0]), high=float(ends[1]))
