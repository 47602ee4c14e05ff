"""Bootstrap over documents: resamples draw whole documents, never single rows.

A resample of ``d`` documents is a row of multiplicities that sums to ``d``. A statistic maps a
matrix of such rows, shape (r, d), to ``r`` values at once: there is no loop in Python.
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

NaN marks a resample (or an input) on which the statistic is undefined; it never leaves this module.
"""
Method: TypeAlias = Literal["percentile", "expanded"]

NO_VALUE = "the statistic has no value on these data"
FEWEST_DOCUMENTS = 5
"""Minimum of documents for an interval: of 2 documents half of all resamples are one document."""
FEW_DOCUMENTS = 15
"""Documents below which intervals, though widened, are still too narrow: what they leave out is not
called significant, and whole analyses are flagged."""
MOST_UNDEFINED = 0.1
"""Maximum share of resamples without a value, above which there is no interval."""
CELLS_PER_CHUNK = 4_000_000
"""Numbers that a matrix of resamples holds at most."""
_NAMES = {
    "percentile": "percentile bootstrap over documents",
    "expanded": "expanded percentile bootstrap over documents",
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


def chunk_sizes(n_resamples: int, n_units: int, *, cells: int) -> list[int]:
    """Return the numbers of resamples per chunk, so that a chunk has at most `cells` cells."""
    most = max(1, cells // max(1, n_units))
    return [min(most, n_resamples - start) for start in range(0, n_resamples, most)]


def replicates(
    statistic: WeightedStatistic, *, n_documents: int, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return `statistic` on resamples: shape (n_resamples,) or (n_resamples, k), NaN included."""
    sizes = chunk_sizes(n_resamples, n_documents, cells=CELLS_PER_CHUNK)
    return np.concatenate([statistic(resample_counts(n_documents, size, rng)) for size in sizes])


class BootstrapOptions(TypedDict, total=False):
    """Options of `bootstrap`, which describes them, with their defaults."""

    n_resamples: int
    level: float
    method: Method
    n: int | None
    n_excluded: int
    null: float | None
    fewest: int


def bootstrap(
    statistic: WeightedStatistic,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> Estimate | Undefined:
    """Estimate a statistic with an interval from resampled documents.

    Parameters
    ----------
    statistic
        Takes multiplicities of shape (r, n_documents) and returns shape (r,).
    n_documents
        Number of documents; an interval needs at least `fewest`.
    n_resamples, level
        2000 resamples and an interval of 0.95 by default.
    method
        ``"percentile"``, the default, or ``"expanded"``, the percentile interval widened for few
        documents (Hesterberg 2015, section 4.3).
    n, n_excluded
        Numbers of units to report; `n` is `n_documents` by default.
    null
        Value of the null hypothesis; if given, ``p_value`` is its two-sided bootstrap p-value.
    fewest
        Minimum of documents for an interval and a p-value, 2 (the default) or more.

    Returns
    -------
    Estimate or Undefined
        Undefined where the statistic is undefined on the data. With fewer than `fewest` documents,
        or if it is undefined on more than the share `MOST_UNDEFINED` of the resamples, ``low`` and
        ``high`` are None and ``method`` says why.

    Raises
    ------
    StatisticsError
        If `level` does not lie strictly between 0 and 1, or a number is too small.
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
    observed = np.asarray(statistic(np.ones((1, n_documents))))[0] if values is None else values
    estimates = [
        Undefined(why=NO_VALUE)
        if np.isnan(value)
        else Estimate(
            value=value,
            n=n_documents if n is None else n,
            level=level,
            method=f"no interval: fewer than {pluralize(fewest, 'document')}",
            n_excluded=n_excluded,
        )
        for value in observed.tolist()
    ]
    if n_documents < 2:
        return tuple(estimates)
    # Drawn even with too few documents, so that later draws from `rng` do not depend on it.
    replicate_values = replicates(
        statistic, n_documents=n_documents, n_resamples=n_resamples, rng=rng
    )
    if n_documents < fewest:
        return tuple(estimates)
    if values is not None:
        replicate_values = replicate_values + (values - _column_means(replicate_values))
    bounds = partial(percentile_bounds, level=level)
    if method == "expanded":
        bounds = partial(expanded_bounds, level=level, n_documents=n_documents)
    return tuple(
        estimate
        if isinstance(estimate, Undefined)
        else with_interval(
            estimate,
            replicate_values[:, k],
            bounds=bounds,
            method=_NAMES[method],
            null=null,
        )
        for k, estimate in enumerate(estimates)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Both ends of an interval."""

    low: float
    high: float


def percentile_bounds(replicate_values: FloatArray, *, level: float) -> Bounds:
    """Return the percentile interval of replicates, shape (r,), without NaN (Efron 1981)."""
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
    """Add the interval of replicates, shape (r,), and with `null` its p-value and the smallest one.

    `bounds` makes the interval of the replicates that are not NaN; there is none where more than
    the share `MOST_UNDEFINED` are.
    """
    defined = replicate_values[~np.isnan(replicate_values)]
    undefined_share = 1.0 - defined.size / replicate_values.size
    if undefined_share > MOST_UNDEFINED:
        why = f"no interval: undefined on {percentage(undefined_share)} of the resamples"
        return replace(estimate, method=why)
    interval = bounds(defined)
    return replace(
        estimate,
        low=interval.low,
        high=interval.high,
        method=method,
        p_value=None if null is None else two_sided_p_value(defined, null),
        p_floor=None if null is None else min(1.0, 2.0 / (1 + defined.size)),
    )


def chunked(
    statistic: WeightedStatistic, cells: int, *, most: int = CELLS_PER_CHUNK
) -> WeightedStatistic:
    """Return `statistic` by chunks of rows with `most` numbers in memory, `cells` for each row."""
    size = max(1, most // max(1, cells))

    def by_chunks(counts: FloatArray) -> FloatArray:
        starts = range(0, len(counts), size)
        return np.concatenate([statistic(counts[i : i + size]) for i in starts])

    return by_chunks


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide elementwise; NaN where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0.0)
    return out


def _column_means(replicate_values: FloatArray) -> FloatArray:
    """Return the means of defined values of each column, NaN where there is none."""
    defined = ~np.isnan(replicate_values)
    return divide(np.where(defined, replicate_values, 0.0).sum(axis=0), defined.sum(axis=0) * 1.0)
