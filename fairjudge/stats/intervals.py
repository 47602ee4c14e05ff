"""Intervals for proportions and means without resampling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, check_level, document_codes, totals, vector
from fairjudge.stats.clustered import clustered_mean


def wilson(successes: float, n: int, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate a proportion with Wilson's score interval (Wilson 1927).

    Parameters
    ----------
    successes
        In [0, n].
    n
        Independent trials; 0 gives Undefined.
    """
    if n < 0 or not 0 <= successes <= n:
        raise StatisticsError(f"expected 0 <= successes <= n, got {successes!r} of {n!r}")
    check_level(level)
    if n == 0:
        return Undefined(why="no trials")
    low, high = _wilson_bounds(successes / n, float(n), -float(ndtri((1.0 - level) / 2.0)))
    return Estimate(value=successes / n, n=n, low=low, high=high, level=level, method="Wilson")


def clustered_wilson(
    successes: ArrayLike,
    documents: Sequence[Hashable],
    *,
    level: float = 0.95,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate a proportion of trials clustered in documents.

    Wilson's interval with the effective number of trials ``p (1 - p) / V``, where V is the
    variance of p over documents (linearised, d / (d - 1) corrected), at most n, and with Student's
    quantile on d - 1 degrees of freedom (after Korn and Graubard 1998, who do so for
    Clopper-Pearson). Where all trials have one outcome V is 0, and the effective number is d.

    Parameters
    ----------
    successes : array of shape (n,), each 0 or 1
    documents
        The document of each trial; fewer than 2 give a value without an interval.
    """
    array = vector(successes, name="successes")
    if np.any((array != 0.0) & (array != 1.0)):
        raise StatisticsError("successes must be 0 or 1")
    check_level(level)
    coded, d = document_codes(documents, array.size)
    if not array.size:
        return Undefined(why="no trials")
    p, why = float(array.mean()), "no interval: fewer than 2 documents"
    estimate = Estimate(value=p, n=array.size, level=level, n_excluded=n_excluded, method=why)
    if d < 2:
        return estimate
    quantile = float(stdtrit(d - 1, (1.0 + level) / 2.0))
    low, high = _wilson_bounds(p, _effective_trials(array, coded, d, p), quantile)
    method = "Wilson, effective number of trials over documents"
    return replace(estimate, low=low, high=high, method=method)


def shares_apart(
    first: ArrayLike,
    second: ArrayLike,
    documents: Sequence[Hashable],
    *,
    level: float = 0.95,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate how much more often the first of two outcomes occurs; no trial has both.

    Student's interval and test of `clustered_mean`, against 0. Where all documents are alike that
    interval has no width: there it is Newcombe's (1998, method 10), of the shares' own intervals by
    `clustered_wilson` and their correlation.

    Parameters
    ----------
    first, second : arrays of shape (n,), each 0 or 1
    documents
        The document of each trial; fewer than 2 give a value without an interval.
    """
    first_outcome, second_outcome = vector(first, name="first"), vector(second, name="second")
    if np.any((first_outcome == 1.0) & (second_outcome == 1.0)):
        raise StatisticsError("no trial can have both outcomes")
    difference = clustered_mean(
        first_outcome - second_outcome, documents, level=level, null=0.0, n_excluded=n_excluded
    )
    if (
        isinstance(difference, Undefined)
        or difference.low is None
        or difference.low != difference.high
    ):
        return difference
    shares = [
        clustered_wilson(outcome, documents, level=level)
        for outcome in (first_outcome, second_outcome)
    ]
    low, high = _newcombe_bounds(*(share for share in shares if isinstance(share, Estimate)))
    return replace(difference, low=low, high=high, method="Newcombe, all documents alike")


def _newcombe_bounds(first: Estimate, second: Estimate) -> tuple[float, float]:
    """Return the bounds of ``one - other``, shares of outcomes that exclude each other."""
    p, q = first.value, second.value
    odds = (1.0 - p) * (1.0 - q)
    correlation = -sqrt(p * q / odds) if odds else -1.0

    def half(up: float, down: float) -> float:
        return sqrt(max(up**2 + down**2 - 2.0 * correlation * up * down, 0.0))

    (least, most), (other_least, other_most) = (
        (p if share.low is None else share.low, p if share.high is None else share.high)
        for p, share in ((p, first), (q, second))
    )
    low = p - q - half(p - least, other_most - q)
    high = p - q + half(most - p, q - other_least)
    return max(low, -1.0), min(high, 1.0)


def _wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if p == 0.0 else max(0.0, centre - half)
    high = 1.0 if p == 1.0 else min(1.0, centre + half)
    return low, high


def _effective_trials(successes: FloatArray, documents: np.ndarray, d: int, p: float) -> float:
    if p in {0.0, 1.0}:
        return float(d)
    residuals = totals((successes - p)[:, None], documents, d)[:, 0]
    variance = d / (d - 1) * float(np.sum(residuals**2)) / successes.size**2
    if variance == 0.0:
        return float(successes.size)
    return min(float(successes.size), p * (1 - p) / variance)
