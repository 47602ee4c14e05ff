"""Means and differences of means of rows clustered in documents, by linearised variances."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    check_level,
    document_codes,
    totals,
    vector,
)

_METHOD = "Student's t, variance over documents"
_ROUNDING = 1e-12
"""A document's sum of influences below this share of its sum of absolute influences is 0."""


def clustered_mean(
    values: ArrayLike,
    documents: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    null: float | None = None,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate the mean of `values`, shape (n,), with the variance between document totals.

    The variance is ``d / (d - 1) sum_d(sum of residuals in d)^2 / n^2`` (Liang and Zeger 1986);
    for single rows this is s^2 / n. Student's quantile on d - 1 degrees of freedom. With `null`,
    ``p_value`` is the two-sided t-test against it. One document: no interval; no rows: Undefined.
    """
    array = vector(values, name="values")
    if not array.size:
        return Undefined(why="no values")
    coded, d = document_codes(documents, array.size)
    mean = float(array.mean())
    influence = (array - mean) / array.size
    return t_estimate(
        mean,
        influence_variance(influence, coded, d),
        n=array.size,
        freedom=d - 1,
        level=level,
        null=null,
        n_excluded=n_excluded,
    )


def within(estimate: Estimate | Undefined, least: float, most: float) -> Estimate | Undefined:
    """Return `estimate` with its interval cut to the range of possible values.

    Student's interval ignores that range; cutting it does not change its coverage.
    """
    if isinstance(estimate, Undefined) or estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


def transformed(
    estimate: Estimate, function: Callable[[float], float], *, method: str | None = None
) -> Estimate:
    """Return an increasing `function` of an estimate: of its value and of both ends."""
    low, high = (
        None if end is None else float(function(end)) for end in (estimate.low, estimate.high)
    )
    value = float(function(estimate.value))
    return replace(estimate, value=value, low=low, high=high, method=method or estimate.method)


def clustered_difference(
    values: ArrayLike,
    in_group: BoolArray,
    documents: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
) -> Estimate | Undefined:
    """Estimate mean(values in the group) - mean(values outside it), with its t-test against 0.

    Parameters
    ----------
    values, in_group : arrays of shape (n,)
    documents
        A document may have rows on both sides. The degrees of freedom are the number of documents
        on the side with fewer, minus 1.

    Returns
    -------
    Estimate or Undefined
        Undefined where either side is empty; no interval where either has a single document.
    """
    array = vector(values, name="values")
    coded, d = document_codes(documents, array.size)
    inside = int(in_group.sum())
    outside = array.size - inside
    if not inside or not outside:
        return Undefined(why="no rows in the group" if not inside else "no rows outside the group")
    means = float(array[in_group].mean()), float(array[~in_group].mean())
    influence = np.where(in_group, (array - means[0]) / inside, -(array - means[1]) / outside)
    fewest = min(np.unique(coded[side]).size for side in (in_group, ~in_group))
    return t_estimate(
        means[0] - means[1],
        influence_variance(influence, coded, d),
        n=inside,
        freedom=fewest - 1,
        level=level,
        null=0.0,
    )


def influence_variance(influence: FloatArray, documents: IntArray, n_documents: int) -> float:
    """Return the variance of a statistic from each row's influence, summed within documents.

    0 for fewer than two documents, and where the sums of all documents are 0 but for rounding.
    """
    if n_documents < 2:
        return 0.0
    columns = np.stack([influence, np.abs(influence)], axis=1)
    sums, sizes = totals(columns, documents, n_documents).T
    sums = np.where(np.abs(sums) <= _ROUNDING * sizes, 0.0, sums)
    return float(np.sum(sums**2)) * n_documents / (n_documents - 1)


def t_estimate(
    value: float,
    variance: float,
    *,
    n: int,
    freedom: float,
    level: float = 0.95,
    null: float | None = None,
    n_excluded: int = 0,
) -> Estimate:
    """Return `value` with Student's interval on `freedom` degrees of freedom; none below 1."""
    check_level(level)
    why = "no interval: fewer than 2 documents"
    estimate = Estimate(value=value, n=n, level=level, n_excluded=n_excluded, method=why)
    if freedom < 1:
        return estimate
    error = sqrt(variance)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return replace(
        estimate,
        low=value - half,
        high=value + half,
        method=_METHOD,
        p_value=None if null is None else t_p_value(value - null, error, freedom),
    )


def t_p_value(difference: float, standard_error: float, freedom: float) -> float:
    """Return the two-sided p-value.

    With a standard error of 0 it is 1 for no difference, else 2 ** -freedom: the p-value of the
    exact sign-flip test where all documents are equal, so that two equal documents prove nothing.
    """
    if standard_error == 0.0:
        return 1.0 if difference == 0.0 else 2.0**-freedom
    return float(2.0 * stdtr(freedom, -abs(difference) / standard_error))
