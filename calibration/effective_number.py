"""The effective number of independent judges, from the correlations of judges' errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from fairjudge.calibration.agreement import MIN_ITEMS, Resampling
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, totals
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap_many, divide

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveNumber:
    """The effective number of judges.

    ``correlation`` is the mean correlation of two judges' errors, ``number`` the effective number
    of independent judges, and ``without`` that number without each judge in turn.
    """

    correlation: Estimate | Undefined
    number: Estimate | Undefined
    without: tuple[float | None, ...]


def effective_number(
    errors: FloatArray,
    *,
    documents: IntArray,
    n_documents: int,
    resampling: Resampling,
    rng: np.random.Generator,
) -> EffectiveNumber:
    """Estimate Kish's effective number of judges: ``n_eff = n / (1 + (n - 1) r)``.

    ``r`` is the correlation of two judges' errors, over the items that both scored, averaged over
    pairs of the n judges. The mean of n scores whose errors have equal variances and correlations r
    has the variance of a mean of n_eff independent scores (Kish 1965, section 8.2, for clusters;
    for judges, arXiv 2605.29800). n_eff exceeds n if errors cancel out; it is Undefined if
    ``1 + (n - 1) r <= 0``.

    Parameters
    ----------
    errors : array of shape (items, n)
        Score less label, on the labels' scale; NaN where missing.
    documents : array of shape (items,)
        Document code of each item; documents are resampled.
    """
    n = errors.shape[1]
    pairs = list(combinations(range(n), 2))
    is_finite = np.isfinite(errors)
    for first, second in pairs:
        if int((is_finite[:, first] & is_finite[:, second]).sum()) < MIN_ITEMS:
            reason = Undefined(why=f"two judges share fewer than {MIN_ITEMS} items")
            return EffectiveNumber(correlation=reason, number=reason, without=(None,) * n)
    pair_correlations = _pair_correlations(errors, pairs, documents, n_documents)

    def statistic(counts: FloatArray) -> FloatArray:
        mean = pair_correlations(counts).mean(axis=1)
        return np.column_stack([mean, kish_effective_number(mean, n)])

    correlation, number = bootstrap_many(
        statistic,
        n_documents=n_documents,
        rng=rng,
        n=len(errors),
        **asdict(resampling),
    )
    correlations_on_data = pair_correlations(np.ones((1, n_documents)))[0]
    return EffectiveNumber(
        correlation=correlation,
        number=number,
        without=tuple(_number_without(judge, correlations_on_data, pairs, n) for judge in range(n)),
    )


def kish_effective_number(correlation: FloatArray, n: int) -> FloatArray:
    """Return ``n / (1 + (n - 1) r)``; NaN where the denominator is not positive."""
    design_effect = 1.0 + (n - 1) * correlation
    return divide(np.full_like(design_effect, n), np.where(design_effect > 0.0, design_effect, 0.0))


def _number_without(judge: int, correlations: FloatArray, pairs: Pairs, n: int) -> float | None:
    pair_indices = [row for row, pair in enumerate(pairs) if judge not in pair]
    if not pair_indices:
        return 1.0
    number = float(kish_effective_number(correlations[pair_indices].mean(keepdims=True), n - 1)[0])
    return number if np.isfinite(number) else None


def _pair_correlations(
    errors: FloatArray, pairs: Pairs, documents: IntArray, n_documents: int
) -> WeightedStatistic:
    """Return a statistic that maps multiplicities (r, d) to pairs' correlations, (r, pairs)."""
    sums = []
    for first, second in pairs:
        is_shared = np.isfinite(errors[:, first]) & np.isfinite(errors[:, second])
        # Centre first, to avoid cancellation when moments are subtracted.
        x, y = (
            np.where(is_shared, errors[:, j] - errors[is_shared, j].mean(), 0.0)
            for j in (first, second)
        )
        columns = np.column_stack([is_shared.astype(float), x, y, x * x, y * y, x * y])
        sums.append(totals(columns, documents, n_documents))
    moments = np.concatenate(sums, axis=1)

    def statistic(counts: FloatArray) -> FloatArray:
        n, x, y, xx, yy, xy = (counts @ moments).reshape(len(counts), -1, 6).transpose(2, 0, 1)
        spread = np.maximum(n * xx - x * x, 0.0) * np.maximum(n * yy - y * y, 0.0)
        return divide(n * xy - x * y, np.sqrt(spread))

    return statistic
