"""Bootstrap over documents: resamples draw whole documents, never single rows.

A resample of ``d`` documents is a row of multiplicities that sums to ``d``. A statistic maps a
matrix of resamples, shape (r, d), to ``r`` values in one vectorised call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from scipy.special import ndtr, stdtrit

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, check_level, totals
from fairjudge.text.counting import percentage, pluralize

WeightedStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of documents, shape (r, d), to values of shape (r,) or (r, k).

NaN marks a resample (or an input) on which the statistic is undefined; results never contain NaN.
"""
Method: TypeAlias = Literal["percentile", "expanded"]

NO_VALUE = "the statistic has no value on these data"
MIN_DOCUMENTS = 5
"""Minimum number of documents for an interval: half of the resamples of 2 documents repeat one."""
FEW_DOCUMENTS = 15
"""With fewer documents even expanded intervals are too narrow: differences are not called
significant, and the analysis is flagged."""
MAX_UNDEFINED_SHARE = 0.1
"""Maximum share of resamples on which the statistic may be undefined; above it, no interval."""
CELLS_PER_CHUNK = 4_000_000
"""Maximum number of entries of a matrix of resamples."""
_NAMES = {
    "percentile": "percentile bootstrap over documents",
    "expanded": "expanded percentile bootstrap over documents",
}


def resample_counts(n_documents: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw bootstrap resamples of documents, as multiplicities.

    Returns
    -------
    array of shape (n_resamples, n_documents)
        Number of draws of each document; every row sums to `n_documents`.
    """
    draws = rng.integers(0, n_documents, size=(n_resamples, n_documents))
    draws += np.arange(n_resamples)[:, None] * n_documents
    counts = np.bincount(draws.ravel(), minlength=n_resamples * n_documents)
    return counts.reshape(n_resamples, n_documents).astype(np.float64)


def chunk_sizes(n_resamples: int, n_units: int, *, cells: int) -> list[int]:
    """Return the number of resamples in each chunk, so that a chunk has at most `cells` entries."""
    chunk_size = max(1, cells // max(1, n_units))
    return [min(chunk_size, n_resamples - start) for start in range(0, n_resamples, chunk_size)]


def replicates(
    statistic: WeightedStatistic, *, n_documents: int, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Evaluate `statistic` on resamples: shape (n_resamples,) or (n_resamples, k), with NaN."""
    sizes = chunk_sizes(n_resamples, n_documents, cells=CELLS_PER_CHUNK)
    return np.concatenate([statistic(resample_counts(n_documents, size, rng)) for size in sizes])


class BootstrapOptions(TypedDict, total=False):
    """Keyword options of `bootstrap`, documented there."""

    n_resamples: int
    level: float
    method: Method
    n: int | None
    n_excluded: int
    null: float | None
    min_documents: int


def bootstrap(
    statistic: WeightedStatistic,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> Estimate | Undefined:
    """Estimate a statistic with a bootstrap interval over documents.

    Parameters
    ----------
    statistic
        Takes multiplicities of shape (r, n_documents) and returns shape (r,).
    n_documents
        Number of documents; an interval requires at least `min_documents`.
    n_resamples, level
        2000 resamples and an interval of 0.95 by default.
    method
        ``"percentile"``, the default, or ``"expanded"``, the percentile interval widened for few
        documents (Hesterberg 2015, section 4.3).
    n, n_excluded
        Numbers of units to report; `n` is `n_documents` by default.
    null
        Value of the null hypothesis; if given, ``p_value`` is its two-sided bootstrap p-value.
    min_documents
        Minimum number of documents for an interval and a p-value, 2 (the default) or more.

    Returns
    -------
    Estimate or Undefined
        Undefined if the statistic is undefined on the data. With fewer than `min_documents`
        documents, or if the statistic is undefined on more than the share `MAX_UNDEFINED_SHARE` of
        the resamples, ``low`` and ``high`` are None and ``method`` contains the reason.

    Raises
    ------
    StatisticsError
        If `level` is not strictly between 0 and 1, or an option is below its minimum.
    """
    (result,) = bootstrap_many(
        lambda counts: statistic(counts)[:, None], n_documents=n_documents, rng=rng, **options
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
    min_documents: int = 2,
    values: FloatArray | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """Estimate several statistics on the same resamples; see `bootstrap`.

    `statistic` returns shape (r, k); the result has k entries. `values`, shape (k,), replace the
    statistic on the data as the estimates. The replicates are then shifted so that their means
    equal `values`: models fitted on resamples have seen fewer distinct documents, a bias that the
    estimates do not have.
    """
    check_level(level)
    if n_resamples < 1 or n_documents < 0 or min_documents < 2:
        raise StatisticsError(
            "expected n_resamples >= 1, n_documents >= 0 and fewest >= 2, got "
            f"{n_resamples!r}, {n_documents!r}, {min_documents!r}"
        )
    observed = np.asarray(statistic(np.ones((1, n_documents))))[0] if values is None else values
    estimates = [
        Undefined(why=NO_VALUE)
        if np.isnan(value)
        else Estimate(
            value=value,
            n=n_documents if n is None else n,
            level=level,
            method=f"no interval: fewer than {pluralize(min_documents, 'document')}",
            n_excluded=n_excluded,
        )
        for value in observed.tolist()
    ]
    if n_documents < 2:
        return tuple(estimates)
    # Draw even with too few documents, so that the state of `rng` afterwards is the same.
    replicate_values = replicates(
        statistic, n_documents=n_documents, n_resamples=n_resamples, rng=rng
    )
    if n_documents < min_documents:
        return tuple(estimates)
    if values is not None:
        replicate_values = replicate_values + (values - _column_means(replicate_values))
    interval_bounds = partial(percentile_bounds, level=level)
    if method == "expanded":
        interval_bounds = partial(expanded_bounds, level=level, n_documents=n_documents)
    return tuple(
        estimate
        if isinstance(estimate, Undefined)
        else with_interval(
            estimate,
            replicate_values[:, k],
            bounds=interval_bounds,
            method=_NAMES[method],
            null=null,
        )
        for k, estimate in enumerate(estimates)
    )


def weighted_mean(values: FloatArray, documents: IntArray, n_documents: int) -> WeightedStatistic:
    """Return the mean of `values` as a function of the documents' multiplicities."""
    document_totals = totals(
        np.column_stack([values, np.ones_like(values)]), documents, n_documents
    )

    def mean(counts: FloatArray) -> FloatArray:
        sums = counts @ document_totals
        return divide(sums[:, 0], sums[:, 1])

    return mean


def two_sided_p_value(replicate_values: FloatArray, null: float) -> float | None:
    """Return the two-sided bootstrap p-value of `null`: min(1, 2 (1 + smaller tail) / (1 + r)).

    `replicate_values` has shape (r,), NaN ignored; None if all are NaN.
    """
    finite_values = replicate_values[~np.isnan(replicate_values)]
    if not finite_values.size:
        return None
    n_below = np.count_nonzero(finite_values <= null)
    n_above = np.count_nonzero(finite_values >= null)
    return float(min(1.0, 2.0 * (1 + min(n_below, n_above)) / (1 + finite_values.size)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of an interval."""

    low: float
    high: float


def percentile_bounds(replicate_values: FloatArray, *, level: float) -> Bounds:
    """Return the percentile interval (Efron 1981) of replicates, shape (r,), free of NaN."""
    return _quantiles(replicate_values, (1.0 - level) / 2.0)


def expanded_bounds(replicate_values: FloatArray, *, level: float, n_documents: int) -> Bounds:
    """Return the percentile interval, expanded for a small number of documents.

    The tail area is ``Phi(-sqrt(d / (d - 1)) t)``, ``t`` the Student quantile on ``d - 1`` degrees
    of freedom (Hesterberg 2015, "What teachers should know about the bootstrap", section 4.3).
    """
    quantile = float(stdtrit(n_documents - 1, (1.0 + level) / 2.0))
    return _quantiles(
        replicate_values, float(ndtr(-np.sqrt(n_documents / (n_documents - 1)) * quantile))
    )


def _quantiles(replicate_values: FloatArray, tail: float) -> Bounds:
    low, high = np.quantile(replicate_values, [tail, 1.0 - tail]).tolist()
    return Bounds(low=low, high=high)


def with_interval(
    estimate: Estimate,
    replicate_values: FloatArray,
    *,
    bounds: Callable[[FloatArray], Bounds],
    method: str,
    null: float | None,
) -> Estimate:
    """Add to `estimate` the interval of its replicates, shape (r,), and the p-value of `null`.

    `bounds` computes the interval from the replicates that are not NaN. There is no interval if
    more than the share `MAX_UNDEFINED_SHARE` of the replicates is NaN.
    """
    finite_values = replicate_values[~np.isnan(replicate_values)]
    undefined_share = 1.0 - finite_values.size / replicate_values.size
    if undefined_share > MAX_UNDEFINED_SHARE:
        reason = f"no interval: undefined on {percentage(undefined_share)} of the resamples"
        return replace(estimate, method=reason)
    interval = bounds(finite_values)
    return replace(
        estimate,
        low=interval.low,
        high=interval.high,
        method=method,
        p_value=None if null is None else two_sided_p_value(finite_values, null),
        p_floor=None if null is None else min(1.0, 2.0 / (1 + finite_values.size)),
    )


def in_chunks(
    statistic: WeightedStatistic, cells: int, *, max_cells: int = CELLS_PER_CHUNK
) -> WeightedStatistic:
    """Wrap `statistic` to evaluate resamples in chunks, with at most `max_cells` entries in memory.

    A resample takes `cells` entries.
    """
    chunk_size = max(1, max_cells // max(1, cells))

    def statistic_in_chunks(counts: FloatArray) -> FloatArray:
        chunk_starts = range(0, len(counts), chunk_size)
        return np.concatenate([statistic(counts[i : i + chunk_size]) for i in chunk_starts])

    return statistic_in_chunks


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide element-wise; NaN where the denominator is 0."""
    quotients = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=quotients, where=denominator != 0.0)
    return quotients


def _column_means(replicate_values: FloatArray) -> FloatArray:
    """Return the mean of each column, ignoring NaN; NaN for columns without a number."""
    is_defined = ~np.isnan(replicate_values)
    return divide(
        np.where(is_defined, replicate_values, 0.0).sum(axis=0), is_defined.sum(axis=0) * 1.0
    )
