"""Bootstrap over documents: resamples draw whole documents, never single rows.

A resample of ``d`` documents is a row of multiplicities that sums to ``d``. A statistic maps a
matrix of such rows, shape (r, d), to ``r`` values at once: there is no loop in Python, and the
jackknife for BCa is one more matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    check_level,
    document_codes,
    totals,
    vector,
)
from fairjudge.stats._bounds import Bounds, bca_bounds, expanded_bounds, percentile_bounds
from fairjudge.text.counting import percentage, pluralize

WeightedStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of documents, shape (r, d), to values of shape (r,) or (r, k).

NaN marks a resample (or an input) on which the statistic is undefined; it never leaves this module.
"""
Method: TypeAlias = Literal["percentile", "expanded", "bca"]

NO_VALUE = "the statistic has no value on these data"
FEWEST_DOCUMENTS = 5
"""Minimum of documents for an interval: of 2 documents half of all resamples are one document."""
FEW_DOCUMENTS = 15
"""Documents below which intervals, though widened, are still too narrow: what they leave out is not
called significant, and whole analyses are flagged."""
MOST_UNDEFINED = 0.1
"""Maximum share of resamples without a value, above which there is no interval."""
_CELLS_PER_CHUNK = 4_000_000
_NAMES = {
    "percentile": "percentile bootstrap over documents",
    "expanded": "expanded percentile bootstrap over documents",
    "bca": "BCa bootstrap over documents",
}


def resample_counts(n_documents: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw documents with replacement.

    Returns
    -------
    array of shape (n_resamples, n_documents)
        How often each document was drawn; every row sums to `n_documents`.
    """
    draws = rng.integers(0, n_documents, size=(n_resamples, n_documents))
    draws += np.arange(n_resamples)[:, None] * n_documents
    counts = np.bincount(draws.ravel(), minlength=n_resamples * n_documents)
    return counts.reshape(n_resamples, n_documents).astype(np.float64)


def replicates(
    statistic: WeightedStatistic, *, n_documents: int, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return `statistic` on resamples: shape (n_resamples,) or (n_resamples, k), NaN included."""
    sizes = _chunk_sizes(n_resamples, n_documents)
    return np.concatenate([statistic(resample_counts(n_documents, size, rng)) for size in sizes])


def bootstrap(
    statistic: WeightedStatistic,
    *,
    n_documents: int,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    level: float = 0.95,
    method: Method = "percentile",
    n: int | None = None,
    n_excluded: int = 0,
    null: float | None = None,
    fewest: int = 2,
) -> Estimate | Undefined:
    """Estimate a statistic with an interval from resampled documents.

    Parameters
    ----------
    statistic
        Takes multiplicities of shape (r, n_documents) and returns shape (r,).
    n_documents
        Number of documents; an interval needs at least `fewest`.
    method
        ``"percentile"``; ``"expanded"``, the percentile interval widened for few documents
        (Hesterberg 2015, section 4.3); ``"bca"`` (Efron and Tibshirani 1993, chapter 14.3).
    n, n_excluded
        Numbers of units to report; `n` is `n_documents` by default.
    null
        Value of the null hypothesis; if given, ``p_value`` is its two-sided bootstrap p-value.
    fewest
        Minimum of documents for an interval and a p-value, 2 or more.

    Returns
    -------
    Estimate or Undefined
        Undefined where the statistic is undefined on the data. With fewer than `fewest` documents,
        or if it is undefined on more than the share `MOST_UNDEFINED` of the resamples, ``low`` and
        ``high`` are None and ``method`` says why.
    """
    (result,) = bootstrap_many(
        lambda counts: statistic(counts)[:, None],
        n_documents=n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method=method,
        n=n,
        n_excluded=n_excluded,
        null=null,
        fewest=fewest,
    )
    return result


def bootstrap_many(
    statistic: WeightedStatistic,
    *,
    n_documents: int,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    level: float = 0.95,
    method: Method = "percentile",
    n: int | None = None,
    n_excluded: int = 0,
    null: float | None = None,
    fewest: int = 2,
    values: FloatArray | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """Estimate several statistics on the same resamples; see `bootstrap`.

    `statistic` returns shape (r, k); the result has k entries. `values`, shape (k,), are the
    estimates where these are not the statistic on the data. The resamples are then moved to have
    them as their means: what is fitted on resamples has seen fewer distinct documents, which is
    no error of the estimates.
    """
    check_level(level)
    if n_resamples < 1 or n_documents < 0 or fewest < 2:
        raise StatisticsError(
            "expected n_resamples >= 1, n_documents >= 0 and fewest >= 2, got "
            f"{n_resamples!r}, {n_documents!r}, {fewest!r}"
        )
    plan = _Plan(
        n=n_documents if n is None else n,
        n_excluded=n_excluded,
        n_documents=n_documents,
        level=level,
        method=method,
        null=null,
        fewest=fewest,
    )
    observed = np.asarray(statistic(np.ones((1, n_documents))))[0] if values is None else values
    if n_documents < 2:
        return tuple(_without_interval(float(value), plan) for value in observed)
    # Drawn even with too few documents, so that later draws from `rng` do not depend on it.
    replicate_values = replicates(
        statistic, n_documents=n_documents, n_resamples=n_resamples, rng=rng
    )
    if n_documents < fewest:
        return tuple(_without_interval(float(value), plan) for value in observed)
    if values is not None:
        replicate_values = replicate_values + (values - _column_means(replicate_values))
    jackknife = _jackknife(statistic, n_documents) if method == "bca" else replicate_values[:0]
    return tuple(
        Undefined(why=NO_VALUE)
        if np.isnan(observed[k])
        else plan.estimate(float(observed[k]), replicate_values[:, k], jackknife[:, k])
        for k in range(observed.size)
    )


def bootstrap_mean(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    documents: Sequence[Hashable] | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    method: Method = "percentile",
    n_excluded: int = 0,
    null: float | None = None,
    fewest: int = 2,
) -> Estimate | Undefined:
    """Estimate the mean of `values`, shape (n,), resampling `documents` (each row its own if None).

    Returns Undefined for no values. See `bootstrap` for the other arguments.
    """
    array = vector(values, name="values")
    if not array.size:
        return Undefined(why="no values")
    coded, n_documents = document_codes(documents, array.size)
    return bootstrap(
        weighted_mean(array, coded, n_documents),
        n_documents=n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method=method,
        n=array.size,
        n_excluded=n_excluded,
        null=null,
        fewest=fewest,
    )


def weighted_mean(values: FloatArray, documents: IntArray, n_documents: int) -> WeightedStatistic:
    """Return the mean of `values` as a function of the documents' multiplicities."""
    by_document = totals(np.column_stack([values, np.ones_like(values)]), documents, n_documents)

    def mean(counts: FloatArray) -> FloatArray:
        sums = counts @ by_document
        return divide(sums[:, 0], sums[:, 1])

    return mean


def two_sided_p_value(replicate_values: FloatArray, null: float) -> float | None:
    """Return the two-sided bootstrap p-value of `null`: 2 (1 + smaller tail) / (1 + r), at most 1.

    `replicate_values` has shape (r,), NaN ignored; None if all are NaN.
    """
    defined = replicate_values[~np.isnan(replicate_values)]
    if not defined.size:
        return None
    below = np.count_nonzero(defined <= null)
    above = np.count_nonzero(defined >= null)
    return float(min(1.0, 2.0 * (1 + min(below, above)) / (1 + defined.size)))


def with_p_value(estimate: Estimate, replicate_values: FloatArray, null: float | None) -> Estimate:
    """Add the p-value of `null`, if there is one, and the smallest that the replicates can give."""
    p_value = None if null is None else two_sided_p_value(replicate_values, null)
    if p_value is None:
        return estimate
    n = np.count_nonzero(~np.isnan(replicate_values))
    return replace(estimate, p_value=p_value, p_floor=min(1.0, 2.0 / (1 + n)))


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide elementwise; NaN where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0.0)
    return out


def _column_means(replicate_values: FloatArray) -> FloatArray:
    """Return the means of defined values of each column, NaN where there is none."""
    defined = ~np.isnan(replicate_values)
    return divide(np.where(defined, replicate_values, 0.0).sum(axis=0), defined.sum(axis=0) * 1.0)


def _chunk_sizes(n_resamples: int, n_documents: int) -> Iterator[int]:
    most = max(1, _CELLS_PER_CHUNK // max(1, n_documents))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


def _jackknife(statistic: WeightedStatistic, n_documents: int) -> FloatArray:
    """Return the statistic without each document in turn, shape (d,) or (d, k)."""
    parts = []
    start = 0
    for size in _chunk_sizes(n_documents, n_documents):
        counts = np.ones((size, n_documents))
        counts[np.arange(size), start + np.arange(size)] = 0.0
        parts.append(statistic(counts))
        start += size
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The settings of an estimate: everything but its numbers."""

    n: int
    n_excluded: int
    n_documents: int
    level: float
    method: Method
    null: float | None
    fewest: int

    def estimate(
        self, value: float, replicate_values: FloatArray, jackknife: FloatArray
    ) -> Estimate:
        defined = replicate_values[~np.isnan(replicate_values)]
        undefined_share = 1.0 - defined.size / replicate_values.size
        if undefined_share > MOST_UNDEFINED:
            why = f"no interval: undefined on {percentage(undefined_share)} of the resamples"
            return self.filled(value, None, why)
        bounds, name = self.bounds(value, defined, jackknife), _NAMES[self.method]
        if bounds is None:
            bounds = percentile_bounds(defined, level=self.level)
            name = f"{_NAMES['percentile']} (BCa undefined: all resamples lie on one side)"
        return with_p_value(self.filled(value, bounds, name), defined, self.null)

    def bounds(self, value: float, defined: FloatArray, jackknife: FloatArray) -> Bounds | None:
        if self.method == "bca":
            return bca_bounds(defined, observed=value, jackknife=jackknife, level=self.level)
        if self.method == "expanded":
            return expanded_bounds(defined, level=self.level, n_documents=self.n_documents)
        return percentile_bounds(defined, level=self.level)

    def filled(self, value: float, bounds: Bounds | None, method: str) -> Estimate:
        return Estimate(
            value=value,
            n=self.n,
            low=None if bounds is None else bounds.low,
            high=None if bounds is None else bounds.high,
            level=self.level,
            method=method,
            n_excluded=self.n_excluded,
        )


def _without_interval(value: float, plan: _Plan) -> Estimate | Undefined:
    if np.isnan(value):
        return Undefined(why=NO_VALUE)
    documents = pluralize(plan.fewest, "document")
    return plan.filled(value, None, f"no interval: fewer than {documents}")
