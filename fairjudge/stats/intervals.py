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
from fairjudge.stats.clustered import NO_INTERVAL, clustered_mean


def wilson(successes: float, n: int, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate a proportion with Wilson's score interval (Wilson 1927).

    Parameters
    ----------
    successes
        Number of successes, in [0, n].
    n
        Number of independent trials; 0 gives Undefined.
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
    """Estimate a proportion from trials clustered in d documents.

    Wilson's interval with the effective number of trials ``p (1 - p) / V``, at most n, where V is
    the variance of p over documents (linearised, with the factor d / (d - 1)), and with Student's
    quantile on d - 1 degrees of freedom (after Korn and Graubard 1998, who apply both to
    Clopper-Pearson). If all trials have the same outcome, V is 0 and the effective number is d.

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
    row_documents, n_documents = document_codes(documents, array.size)
    if not array.size:
        return Undefined(why="no trials")
    p = float(array.mean())
    estimate = Estimate(
        value=p, n=array.size, level=level, n_excluded=n_excluded, method=NO_INTERVAL
    )
    if n_documents < 2:
        return estimate
    quantile = float(stdtrit(n_documents - 1, (1.0 + level) / 2.0))
    low, high = _wilson_bounds(p, _effective_trials(array, row_documents, n_documents, p), quantile)
    method = "Wilson, effective number of trials over documents"
    return replace(estimate, low=low, high=high, method=method)


def share_difference(
    first: ArrayLike,
    second: ArrayLike,
    documents: Sequence[Hashable],
    *,
    level: float = 0.95,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate the difference of the shares of two mutually exclusive outcomes.

    Student's interval and test against 0, from `clustered_mean`. If all documents are equal, that
    interval has no width; it is then replaced by Newcombe's (1998, method 10), from the shares'
    `clustered_wilson` intervals and their correlation.

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
    """Return the bounds of ``first - second``, the shares of mutually exclusive outcomes."""
    first_share, second_share = first.value, second.value
    non_occurrence = (1.0 - first_share) * (1.0 - second_share)
    correlation = -sqrt(first_share * second_share / non_occurrence) if non_occurrence else -1.0

    def half_width(up: float, down: float) -> float:
        return sqrt(max(up**2 + down**2 - 2.0 * correlation * up * down, 0.0))

    (first_low, first_high), (second_low, second_high) = (
        (
            share.value if share.low is None else share.low,
            share.value if share.high is None else share.high,
        )
        for share in (first, second)
    )
    low = (
        first_share - second_share - half_width(first_share - first_low, second_high - second_share)
    )
    high = (
        first_share - second_share + half_width(first_high - first_share, second_share - second_low)
    )
    return max(low, -1.0), min(high, 1.0)


def _wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if p == 0.0 else max(0.0, centre - half_width)
    high = 1.0 if p == 1.0 else min(1.0, centre + half_width)
    return low, high


def _effective_trials(
    successes: FloatArray, documents: np.ndarray, n_documents: int, p: float
) -> float:
    if p in {0.0, 1.0}:
        return float(n_documents)
    residuals = totals((successes - p)[:, None], documents, n_documents)[:, 0]
    variance = n_documents / (n_documents - 1) * float(np.sum(residuals**2)) / successes.size**2
    if variance == 0.0:
        return float(successes.size)
    return min(float(successes.size), p * (1 - p) / variance)
