"""Means and their differences where rows cluster in documents: linearised, without resampling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t

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
"""Part of a document's influences, summed without sign, below which their sum is rounding."""


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


def within(found: Estimate | Undefined, least: float, most: float) -> Estimate | Undefined:
    """Return `found` with its interval cut to the values that the figure can take.

    Student's interval knows nothing of them; what lies outside adds nothing to its coverage.
    """
    if isinstance(found, Undefined) or found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, least), high=min(found.high, most))


def clustered_difference(
    values: ArrayLike,
    in_group: BoolArray,
    documents: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    n_excluded: int = 0,
) -> Estimate | Undefined:
    """Estimate mean(values in the group) - mean(values outside it), with its t-test against 0.

    Parameters
    ----------
    values, in_group : arrays of shape (n,)
    documents
        May hold rows of both sides; degrees of freedom are the documents of the smaller side - 1.

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
        n_excluded=n_excluded,
    )


def influence_variance(influence: FloatArray, documents: IntArray, n_documents: int) -> float:
    """Return the variance of a statistic from each row's influence, summed within documents.

    0 for fewer than two documents, where there is nothing to compare, and where all documents say
    the same: what is left of their sums then is rounding, and no evidence.
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
    """Put Student's interval on `freedom` degrees around `value`; none below one degree."""
    check_level(level)
    if freedom < 1:
        return Estimate(
            value=value,
            n=n,
            level=level,
            n_excluded=n_excluded,
            method="no interval: fewer than 2 documents",
        )
    error = sqrt(variance)
    half = float(student_t.ppf((1.0 + level) / 2.0, freedom)) * error
    return Estimate(
        value=value,
        n=n,
        low=value - half,
        high=value + half,
        level=level,
        n_excluded=n_excluded,
        method=_METHOD,
        p_value=None if null is None else t_p_value(value - null, error, freedom),
    )


def t_p_value(difference: float, standard_error: float, freedom: float) -> float:
    """Return the two-sided p-value.

    Without spread it is 1 for no difference; for any other, 2 ** -freedom: the exact sign-flip
    test where all documents say the same, so that two agreeing documents prove nothing.
    """
    if standard_error == 0.0:
        return 1.0 if difference == 0.0 else 2.0**-freedom
    return float(2.0 * student_t.sf(abs(difference) / standard_error, freedom))
