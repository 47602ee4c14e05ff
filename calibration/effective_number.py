"""How many independent judges several judges are worth, from the correlations of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from fairjudge.calibration.agreement import FEWEST_ITEMS, Resampling
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, totals
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap_many, divide

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveNumber:
    """What `effective_number` finds.

    ``correlation`` is the mean correlation of two judges' errors, ``number`` how many independent
    judges they are worth; ``without`` has the number for all but each judge in turn.
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
    """Return Kish's effective number of judges: ``n_eff = n / (1 + (n - 1) r)``.

    ``r`` is the mean over pairs of the n judges of the correlation of their errors, over the items
    that both scored. The mean of n scores whose errors have equal variances and correlations r
    has the variance of n_eff independent ones (Kish 1965, section 8.2, for clusters; of judges:
    arXiv 2605.29800). Above n where errors cancel out; Undefined where ``1 + (n - 1) r <= 0``.

    Parameters
    ----------
    errors : array of shape (items, n)
        Score less label, on the labels' scale; NaN where missing.
    documents : array of shape (items,)
        Codes of the documents, which are resampled.
    """
    n = errors.shape[1]
    pairs = list(combinations(range(n), 2))
    is_finite = np.isfinite(errors)
    for first, second in pairs:
        if int((is_finite[:, first] & is_finite[:, second]).sum()) < FEWEST_ITEMS:
            why = Undefined(why=f"two judges share fewer than {FEWEST_ITEMS} items")
            return EffectiveNumber(correlation=why, number=why, without=(None,) * n)
    correlations = _correlations(errors, pairs, documents, n_documents)

    def statistic(counts: FloatArray) -> FloatArray:
        mean = correlations(counts).mean(axis=1)
        return np.column_stack([mean, kish(mean, n)])

    correlation, number = bootstrap_many(
        statistic,
        n_documents=n_documents,
        rng=rng,
        n=len(errors),
        **asdict(resampling),
    )
    observed = correlations(np.ones((1, n_documents)))[0]
    return EffectiveNumber(
        correlation=correlation,
        number=number,
        without=tuple(_without(judge, observed, pairs, n) for judge in range(n)),
    )


def kish(correlation: FloatArray, n: int) -> FloatArray:
    """Return ``n / (1 + (n - 1) r)``, NaN where it is not positive."""
    effect = 1.0 + (n - 1) * correlation
    return divide(np.full_like(effect, n), np.where(effect > 0.0, effect, 0.0))


def _without(judge: int, observed: FloatArray, pairs: Pairs, n: int) -> float | None:
    rows = [row for row, pair in enumerate(pairs) if judge not in pair]
    if not rows:
        return 1.0
    number = float(kish(observed[rows].mean(keepdims=True), n - 1)[0])
    return number if np.isfinite(number) else None


def _correlations(
    errors: FloatArray, pairs: Pairs, documents: IntArray, n_documents: int
) -> WeightedStatistic:
    """Return the correlation of each pair: multiplicities (r, d) to shape (r, pairs)."""
    sums = []
    for first, second in pairs:
        shared = np.isfinite(errors[:, first]) & np.isfinite(errors[:, second])
        # Centred first: what is left of squares is then no difference of large numbers.
        x, y = (
            np.where(shared, errors[:, j] - errors[shared, j].mean(), 0.0) for j in (first, second)
        )
        columns = np.column_stack([shared.astype(float), x, y, x * x, y * y, x * y])
        sums.append(totals(columns, documents, n_documents))
    moments = np.concatenate(sums, axis=1)

    def statistic(counts: FloatArray) -> FloatArray:
        n, x, y, xx, yy, xy = (counts @ moments).reshape(len(counts), -1, 6).transpose(2, 0, 1)
        spread = np.maximum(n * xx - x * x, 0.0) * np.maximum(n * yy - y * y, 0.0)
        return divide(n * xy - x * y, np.sqrt(spread))

    return statistic
