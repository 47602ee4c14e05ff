"""Means, and differences of means, of rows clustered in documents, with linearised variances."""

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

NO_INTERVAL = "no interval: fewer than 2 documents"
"""The method of an estimate from a single document."""
_METHOD = "Student's t, variance over documents"
_ROUNDING = 1e-12
"""A sum of influences below this share of the sum of their absolute values counts as 0."""


def clustered_mean(
    values: ArrayLike,
    documents: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    null: float | None = None,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate the mean of `values`, shape (n,), with a cluster-robust variance over d documents.

    The variance is ``d / (d - 1) sum_d(sum of residuals in d)^2 / n^2`` (Liang and Zeger 1986),
    which is s^2 / n for one row per document. The interval uses Student's t on d - 1 degrees of
    freedom. With `null`, ``p_value`` is that of the two-sided t-test against it. One document gives
    no interval, no rows give Undefined.
    """
    array = vector(values, name="values")
    if not array.size:
        return Undefined(why="no values")
    row_documents, n_documents = document_codes(documents, array.size)
    mean = float(array.mean())
    influence = (array - mean) / array.size
    return t_estimate(
        mean,
        influence_variance(influence, row_documents, n_documents),
        n=array.size,
        degrees_of_freedom=n_documents - 1,
        level=level,
        null=null,
        n_excluded=n_excluded,
    )


def clip_interval(
    estimate: Estimate | Undefined, minimum: float, maximum: float
) -> Estimate | Undefined:
    """Clip the interval of `estimate` to the range of possible values, [`minimum`, `maximum`].

    Student's interval ignores that range; clipping does not change the coverage.
    """
    if isinstance(estimate, Undefined) or estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, minimum), high=min(estimate.high, maximum))


def transform_estimate(
    estimate: Estimate, function: Callable[[float], float], *, method: str | None = None
) -> Estimate:
    """Apply an increasing `function` to an estimate's value and interval bounds."""
    low, high = (
        None if bound is None else float(function(bound)) for bound in (estimate.low, estimate.high)
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
    """Estimate mean(values in the group) - mean(values outside it), with a t-test against 0.

    Parameters
    ----------
    values, in_group : arrays of shape (n,)
    documents
        A document may have rows inside and outside the group. The degrees of freedom are the number
        of documents on the side with fewer documents, minus 1.

    Returns
    -------
    Estimate or Undefined
        Undefined if either side is empty; no interval if either side has a single document.
    """
    array = vector(values, name="values")
    row_documents, n_documents = document_codes(documents, array.size)
    n_inside = int(in_group.sum())
    n_outside = array.size - n_inside
    if not n_inside or not n_outside:
        return Undefined(
            why="no rows in the group" if not n_inside else "no rows outside the group"
        )
    means = float(array[in_group].mean()), float(array[~in_group].mean())
    influence = np.where(in_group, (array - means[0]) / n_inside, -(array - means[1]) / n_outside)
    n_documents_of_side = min(np.unique(row_documents[side]).size for side in (in_group, ~in_group))
    return t_estimate(
        means[0] - means[1],
        influence_variance(influence, row_documents, n_documents),
        n=n_inside,
        degrees_of_freedom=n_documents_of_side - 1,
        level=level,
        null=0.0,
    )


def influence_variance(influence: FloatArray, documents: IntArray, n_documents: int) -> float:
    """Return the variance of a statistic from the influences of its rows, summed per document.

    0 for fewer than two documents, or if all sums are 0 up to rounding.
    """
    if n_documents < 2:
        return 0.0
    values_and_sizes = np.stack([influence, np.abs(influence)], axis=1)
    sums, sizes = totals(values_and_sizes, documents, n_documents).T
    sums = np.where(np.abs(sums) <= _ROUNDING * sizes, 0.0, sums)
    return float(np.sum(sums**2)) * n_documents / (n_documents - 1)


def t_estimate(
    value: float,
    variance: float,
    *,
    n: int,
    degrees_of_freedom: float,
    level: float = 0.95,
    null: float | None = None,
    n_excluded: int = 0,
) -> Estimate:
    """Return `value` with Student's t interval; no interval below 1 degree of freedom."""
    check_level(level)
    estimate = Estimate(value=value, n=n, level=level, n_excluded=n_excluded, method=NO_INTERVAL)
    if degrees_of_freedom < 1:
        return estimate
    error = sqrt(variance)
    half_width = float(stdtrit(degrees_of_freedom, (1.0 + level) / 2.0)) * error
    return replace(
        estimate,
        low=value - half_width,
        high=value + half_width,
        method=_METHOD,
        p_value=None if null is None else t_p_value(value - null, error, degrees_of_freedom),
    )


def t_p_value(difference: float, standard_error: float, degrees_of_freedom: float) -> float:
    """Return the two-sided p-value of Student's t-test.

    With a standard error of 0 it is 1 for no difference, else ``2 ** -degrees_of_freedom``: the
    p-value of the exact sign-flip test if all documents are equal, so that two equal documents are
    not significant.
    """
    if standard_error == 0.0:
        return 1.0 if difference == 0.0 else 2.0**-degrees_of_freedom
    return float(2.0 * stdtr(degrees_of_freedom, -abs(difference) / standard_error))
