"""When a cheap scorer is sure enough: thresholds between which the costly judge is asked.

Scores at or below ``low`` and at or above ``high`` are taken from the cheap scorer; the others go
to the costly judge. Fitted on labels, and assessed on documents that took no part in the fit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.crossfit import assign_folds
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, same_length, vector
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import correlation

FEWEST_ITEMS = 30
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
    tau-b with the labels of the costly judge alone, the cheap one alone, and the cascade.
    """

    thresholds: Thresholds
    saved: Estimate | Undefined
    error_added: Estimate | Undefined
    agreement: dict[str, float | Undefined]
    n: int


def fit_cascade(
    cheap: ArrayLike,
    costly: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable],
    tolerance: float,
    rng: np.random.Generator,
) -> CascadeFit | Undefined:
    """Find the thresholds that save most calls at no more than `tolerance` of added error.

    Parameters
    ----------
    cheap, costly, labels : arrays of shape (n,), on one scale
    tolerance
        Most that the mean absolute error may grow, in the labels' unit; 0 or more.

    Returns
    -------
    CascadeFit or Undefined
        Undefined for fewer than 30 items or 2 documents.

    Raises
    ------
    StatisticsError
        For a negative tolerance.
    """
    if tolerance < 0.0:
        raise StatisticsError(f"expected a tolerance of 0 or more, got {tolerance!r}")
    x, y, z = (vector(a, name=n) for a, n in ((cheap, "cheap"), (costly, "costly"), (labels, "l")))
    same_length(cheap=x, costly=y, labels=z, documents=documents)
    n_documents = len(set(documents))
    if x.size < FEWEST_ITEMS or n_documents < 2:
        return Undefined(why=f"a cascade needs {FEWEST_ITEMS} labelled items in 2 documents")
    folds = assign_folds(documents, min(5, n_documents), rng)
    asked = np.ones(x.size, dtype=bool)
    for fold in np.unique(folds):
        held = folds == fold
        asked[held] = _fit(x[~held], y[~held], z[~held], tolerance).unsure(x[held])
    routed = np.where(asked, y, x)
    return CascadeFit(
        thresholds=_fit(x, y, z, tolerance),
        saved=clustered_mean(1.0 - asked, documents),
        error_added=clustered_mean(np.abs(routed - z) - np.abs(y - z), documents, null=0.0),
        agreement={
            name: correlation("kendall", values, z)
            for name, values in (("costly", y), ("cheap", x), ("cascade", routed))
        },
        n=x.size,
    )


def _fit(x: FloatArray, y: FloatArray, z: FloatArray, tolerance: float) -> Thresholds:
    """Try pairs of quantiles; asking always is the fallback, and adds no error."""
    cuts = np.unique(np.quantile(x, np.linspace(0.0, 1.0, _GRID)))
    beyond = (float(cuts[0]) - 1.0, float(cuts[-1]) + 1.0)
    best, fewest = Thresholds(low=beyond[0], high=beyond[1]), x.size
    worse = np.abs(x - z) - np.abs(y - z)
    for low in (beyond[0], *cuts.tolist()):
        for high in (*cuts[cuts >= low].tolist(), beyond[1]):
            tried = Thresholds(low=low, high=high)
            asked = tried.unsure(x)
            added = float(np.where(asked, 0.0, worse).mean())
            if added <= tolerance and int(asked.sum()) < fewest:
                best, fewest = tried, int(asked.sum())
    return best
