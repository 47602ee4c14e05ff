"""When a cheap scorer is sure enough: thresholds between which the costly judge is asked.

Scores at or below ``low`` and at or above ``high`` are taken from the cheap scorer; the others go
to the costly judge. Fitted on labels, and assessed on documents that took no part in the fit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.comparison import compare_judges
from fairjudge.calibration.crossfit import assign_folds
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, same_length, vector
from fairjudge.stats.clustered import clustered_mean, within
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
    """Thresholds fitted on all items, and what they are worth on held-out documents.

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

    Error alone would not do: of two judges the one with the better level may rank worse.

    Parameters
    ----------
    cheap, costly, labels : arrays of shape (n,), on one scale
    tolerance
        Most that the mean absolute error may grow, in the labels' unit; 0 or more.
    agreement_tolerance
        Most that Kendall's tau-b with the labels may fall; 0 or more.

    Returns
    -------
    CascadeFit or Undefined
        Undefined for fewer than 30 items or 2 documents.

    Raises
    ------
    StatisticsError
        For a negative tolerance.
    """
    for given in (tolerance, agreement_tolerance):
        if given < 0.0:
            raise StatisticsError(f"expected a tolerance of 0 or more, got {given!r}")
    most = _Tolerance(error=tolerance, agreement=agreement_tolerance)
    x, y, z = (vector(a, name=n) for a, n in ((cheap, "cheap"), (costly, "costly"), (labels, "l")))
    same_length(cheap=x, costly=y, labels=z, documents=documents)
    n_documents = len(set(documents))
    if x.size < FEWEST_ITEMS or n_documents < 2:
        return Undefined(why=f"a cascade needs {FEWEST_ITEMS} labelled items in 2 documents")
    folds = assign_folds(documents, min(5, n_documents), rng)
    asked = np.ones(x.size, dtype=bool)
    for fold in np.unique(folds):
        held = folds == fold
        asked[held] = _fit(x[~held], y[~held], z[~held], most).unsure(x[held])
    routed = np.where(asked, y, x)
    return CascadeFit(
        thresholds=_fit(x, y, z, most),
        saved=within(clustered_mean(1.0 - asked, documents), 0.0, 1.0),
        error_added=clustered_mean(np.abs(routed - z) - np.abs(y - z), documents, null=0.0),
        agreement={
            name: correlation("kendall", values, z)
            for name, values in (("costly", y), ("cheap", x), ("cascade", routed))
        },
        agreement_lost=_lost(y, routed, z, documents, rng),
        n=x.size,
    )


def _lost(
    costly: FloatArray,
    routed: FloatArray,
    labels: FloatArray,
    documents: Sequence[Hashable],
    rng: np.random.Generator,
) -> Estimate | Undefined:
    """Return the loss of tau-b; resampled, documents are drawn whole."""
    judged = {"costly": costly, "cascade": routed}
    (found,) = compare_judges(
        judged, labels, rng=rng, measure="kendall", documents=documents, method="expanded"
    )
    return found.difference


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tolerance:
    error: float
    agreement: float


def _fit(x: FloatArray, y: FloatArray, z: FloatArray, most: _Tolerance) -> Thresholds:
    """Try pairs of quantiles; asking always is the fallback, and loses nothing."""
    cuts = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _GRID)))
    beyond = (float(cuts[0]) - 1.0, float(cuts[-1]) + 1.0)
    best, fewest = Thresholds(low=beyond[0], high=beyond[1]), x.size
    worse = np.abs(x - z) - np.abs(y - z)
    for low in (beyond[0], *cuts.tolist()):
        for high in (*cuts[cuts >= low].tolist(), beyond[1]):
            tried = Thresholds(low=low, high=high)
            asked = tried.unsure(x)
            added = float(np.where(asked, 0.0, worse).mean())
            if int(asked.sum()) >= fewest or added > most.error:
                continue
            if _agreement_fall(y, np.where(asked, y, x), z) <= most.agreement:
                best, fewest = tried, int(asked.sum())
    return best


def _agreement_fall(costly: FloatArray, routed: FloatArray, labels: FloatArray) -> float:
    """Return the fall of tau-b: 0 where the costly judge has none, all where only it has one."""
    before, after = (correlation("kendall", values, labels) for values in (costly, routed))
    if isinstance(before, Undefined):
        return 0.0
    return np.inf if isinstance(after, Undefined) else before - after
