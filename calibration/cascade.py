"""When a cheap scorer is sure enough: thresholds between which the costly judge is asked.

Scores at or below ``low`` and at or above ``high`` are taken from the cheap scorer; the others go
to the costly judge. Fitted on labels, and assessed on held-out documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import held_out
from fairjudge.calibration.comparison import compare_judges
from fairjudge.calibration.items import JUDGE_SIDE
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, same_length, vector
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.correlation import correlation

FEWEST_ITEMS = 30
AGREEMENT_TOLERANCE = 0.05
_GRID = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where the cheap scorer is unsure: strictly between ``low`` and ``high``, on its own scale."""

    low: float
    high: float

    def unsure(self, scores: FloatArray) -> BoolArray:
        """Return for each score whether the costly judge is asked."""
        return np.asarray((scores > self.low) & (scores < self.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeFit:
    """Thresholds fitted on all items, and their performance on held-out documents.

    ``saved`` is the share of the costly calls that fall away; ``error_added`` how much the mean
    absolute error against the labels grows (in the labels' unit); ``agreement`` holds Kendall's
    tau-b with the labels of the costly judge alone, the cheap one alone, and the cascade, and
    ``agreement_lost`` what the cascade has less of it than the costly judge.
    """

    thresholds: Thresholds
    saved: Estimate | Undefined
    error_added: Estimate | Undefined
    agreement: dict[str, float | Undefined]
    agreement_lost: Estimate | Undefined
    n: int


def fit_cascade(
    cheap: ArrayLike,
    costly: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable],
    tolerance: float,
    agreement_tolerance: float = AGREEMENT_TOLERANCE,
    rng: np.random.Generator,
) -> CascadeFit | Undefined:
    """Find the thresholds that save most calls at no more than a tolerable loss.

    Error alone would not do: of two judges the one with the better level may rank worse. Undefined
    for fewer than 30 items or 2 documents.

    Parameters
    ----------
    cheap, costly, labels : arrays of shape (n,), on one scale
    tolerance
        Most that the mean absolute error may grow, in the labels' unit; 0 or more.
    agreement_tolerance
        Most that Kendall's tau-b with the labels may fall; 0 or more.

    Raises
    ------
    StatisticsError
        For a negative tolerance.
    """
    most = tolerance, agreement_tolerance
    for limit in most:
        if limit < 0.0:
            raise StatisticsError(f"expected a tolerance of 0 or more, got {limit!r}")
    x, y, z = (vector(a, name=n) for a, n in ((cheap, "cheap"), (costly, "costly"), (labels, "l")))
    same_length(cheap=x, costly=y, labels=z, documents=documents)
    if x.size < FEWEST_ITEMS or len(set(documents)) < 2:
        return Undefined(why=f"a cascade needs {FEWEST_ITEMS} labelled items in 2 documents")
    escalated = np.ones(x.size, dtype=bool)
    for fold in held_out(documents, 5, rng):
        escalated[fold] = _fit(x[~fold], y[~fold], z[~fold], most).unsure(x[fold])
    routed = np.where(escalated, y, x)
    thresholds = _fit(x, y, z, most)
    (lost,) = compare_judges(
        {"costly": y, "cascade": routed},
        z,
        rng=rng,
        measure="kendall",
        documents=documents,
        method="expanded",
    )
    return CascadeFit(
        thresholds=thresholds,
        saved=clip_interval(clustered_mean(1.0 - escalated, documents), 0.0, 1.0),
        error_added=clustered_mean(np.abs(routed - z) - np.abs(y - z), documents, null=0.0),
        agreement={
            name: correlation("kendall", values, z, sides=(JUDGE_SIDE, "labels"))
            for name, values in (("costly", y), ("cheap", x), ("cascade", routed))
        },
        agreement_lost=lost.difference,
        n=x.size,
    )


def _fit(x: FloatArray, y: FloatArray, z: FloatArray, most: tuple[float, float]) -> Thresholds:
    """Search pairs of quantiles; the fallback is to ask always.

    `most` are the largest growth of the error and fall of the agreement.
    """
    cuts = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _GRID)))
    outside = (float(cuts[0]) - 1.0, float(cuts[-1]) + 1.0)
    best, fewest = Thresholds(low=outside[0], high=outside[1]), x.size
    worse = np.abs(x - z) - np.abs(y - z)
    for low in (outside[0], *cuts.tolist()):
        for high in (*cuts[cuts >= low].tolist(), outside[1]):
            candidate = Thresholds(low=low, high=high)
            escalated = candidate.unsure(x)
            added = float(np.where(escalated, 0.0, worse).mean())
            if int(escalated.sum()) >= fewest or added > most[0]:
                continue
            if _agreement_fall(y, np.where(escalated, y, x), z) <= most[1]:
                best, fewest = candidate, int(escalated.sum())
    return best


def _agreement_fall(costly: FloatArray, routed: FloatArray, labels: FloatArray) -> float:
    """Return the fall of tau-b: 0 where the costly judge has none, all where only it has one."""
    before, after = (correlation("kendall", values, labels) for values in (costly, routed))
    if isinstance(before, Undefined):
        return 0.0
    return np.inf if isinstance(after, Undefined) else before - after
