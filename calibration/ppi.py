"""Prediction-powered inference: few human labels and many judge scores make one honest interval.

Source: Angelopoulos et al. (2023), "Prediction-powered inference" (PPI), and Angelopoulos, Duchi
and Zrnic (2023), "PPI++" (power tuning). A rate is the mean of 0/1 values; a difference of two
systems the mean of paired differences; a win rate the mean of 1, 0.5 and 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.clustered import t_estimate
from fairjudge.stats.intervals import normal
from fairjudge.text.printable import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class PpiMean:
    """A mean human score, estimated in four ways.

    ``classical`` uses the labels alone; ``naive`` the judge alone, as if it were right; ``ppi`` and
    ``ppi_plus`` correct the judge by the labels. ``tuning`` is the lambda of ``ppi_plus``, in
    [0, 1]: 0 is classical, 1 is PPI. ``effective_labels`` is how many labels the classical interval
    would need to be as narrow as ``ppi_plus``.
    """

    classical: Estimate
    naive: Estimate
    ppi: Estimate
    ppi_plus: Estimate
    tuning: float
    n_labelled: int
    n_unlabelled: int
    effective_labels: float


def ppi_mean(
    labels: ArrayLike,
    judged_labelled: ArrayLike,
    judged_unlabelled: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
    documents_unlabelled: Sequence[Hashable] | None = None,
    tuning: float | None = None,
    level: float = 0.95,
) -> PpiMean | Undefined:
    """Estimate the mean human score of a population that the judge saw whole and people in part.

    theta = mean(Y - lambda f) over labelled items + lambda mean(f) over unlabelled items.

    Parameters
    ----------
    labels, judged_labelled : arrays of shape (n,)
        Human value and judge's score of the labelled items, a random part of all items.
    judged_unlabelled : array of shape (m,)
        The judge's score of the other items.
    documents, documents_unlabelled
        The document of each row; the two sets may share documents. With them, influences are
        summed within documents, and Student's t takes the labelled documents less one as its
        degrees of freedom. Without, rows are independent: population variances and the normal
        quantile, as in ppi_py.
    tuning
        lambda; where None, the value in [0, 1] that minimises the estimated variance
        (PPI++, section 6). ppi_py plugs the pooled variance of f into that minimiser; we use each
        sample's own, so that clustered data are covered too; the two agree for large samples.

    Returns
    -------
    PpiMean or Undefined
        Undefined below 2 labelled items or documents, or without unlabelled items.
    """
    y = vector(labels, name="labels")
    f = vector(judged_labelled, name="judged_labelled")
    u = vector(judged_unlabelled, name="judged_unlabelled")
    same_length(labels=y, judged_labelled=f)
    if y.size < 2:
        return Undefined(why=f"{counted(y.size, 'labelled item')}: at least 2 are needed")
    if not u.size:
        return Undefined(why="every judged item is labelled: nothing for the judge to add")
    frame = _Sample(labels=y, judged=f, rest=u).frame(documents, documents_unlabelled, level)
    return frame.estimates(tuning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """The influences of each document: of the labels, and of the judge's correction to them.

    ``means`` are those of the labels, of the judge where there are labels, and of the judge where
    it stands in for them; ``judge_mean`` is the judge's over all.
    """

    means: tuple[float, float, float]
    judge_mean: float
    of_labels: FloatArray
    of_correction: FloatArray
    of_judge: FloatArray
    n: int
    m: int
    n_labelled_documents: int
    clustered: bool
    level: float

    def estimates(self, tuning: float | None) -> PpiMean | Undefined:
        """Return all four estimates; Undefined below 2 labelled documents."""
        if self.n_labelled_documents < 2:
            return Undefined(why="fewer than 2 labelled documents")
        chosen = self.best_tuning() if tuning is None else tuning
        variances = self.variance(0.0), self.variance(chosen)
        return PpiMean(
            classical=self.estimate(0.0),
            naive=self.naive(),
            ppi=self.estimate(1.0),
            ppi_plus=self.estimate(chosen),
            tuning=chosen,
            n_labelled=self.n,
            n_unlabelled=self.m,
            effective_labels=self.n * variances[0] / variances[1]
            if variances[1]
            else float(self.n),
        )

    def best_tuning(self) -> float:
        """Return the lambda in [0, 1] of least variance."""
        spread = float(self.of_correction @ self.of_correction)
        if spread == 0.0:
            return 0.0
        return min(1.0, max(0.0, -float(self.of_labels @ self.of_correction) / spread))

    def variance(self, tuning: float) -> float:
        """Return the variance with this lambda."""
        influence = self.of_labels + tuning * self.of_correction
        return float(influence @ influence) * self.correction(self.n_labelled_documents)

    def correction(self, n_documents: int) -> float:
        """Return the small-sample factor of the variance over documents."""
        return n_documents / (n_documents - 1) if self.clustered and n_documents > 1 else 1.0

    def estimate(self, tuning: float) -> Estimate:
        """Return the estimate with this lambda."""
        y, f, u = self.means
        value = y + tuning * (u - f)
        return self.around(value, self.variance(tuning), self.n_labelled_documents, n=self.n)

    def naive(self) -> Estimate:
        """Return the judge's own mean."""
        d = self.of_judge.size
        variance = float(self.of_judge @ self.of_judge) * self.correction(d)
        return self.around(self.judge_mean, variance, d, n=self.n + self.m)

    def around(self, value: float, variance: float, n_documents: int, *, n: int) -> Estimate:
        """Put an interval around `value`."""
        if self.clustered:
            return t_estimate(value, variance, n=n, freedom=n_documents - 1, level=self.level)
        return normal(value, sqrt(variance), n=n, level=self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    labels: FloatArray
    judged: FloatArray
    rest: FloatArray

    def frame(
        self,
        documents: Sequence[Hashable] | None,
        documents_rest: Sequence[Hashable] | None,
        level: float,
    ) -> Influences:
        y, f, u = self.labels, self.judged, self.rest
        n, m = y.size, u.size
        names = _rows(documents, n, "labelled") + _rows(documents_rest, m, "unlabelled")
        coded, d = document_codes(names, n + m)
        here, there = coded[:n], coded[n:]

        def summed(rows: FloatArray, where: IntArray) -> FloatArray:
            return totals(rows[:, None], where, d)[:, 0]

        everything = np.r_[f, u]
        return Influences(
            means=(float(y.mean()), float(f.mean()), float(u.mean())),
            judge_mean=(n * float(f.mean()) + m * float(u.mean())) / (n + m),
            of_labels=summed((y - y.mean()) / n, here),
            of_correction=summed((u - u.mean()) / m, there) - summed((f - f.mean()) / n, here),
            of_judge=summed((everything - everything.mean()) / (n + m), coded),
            n=n,
            m=m,
            n_labelled_documents=np.unique(here).size,
            clustered=documents is not None,
            level=level,
        )


def _rows(
    documents: Sequence[Hashable] | None, size: int, side: str
) -> tuple[tuple[str, Hashable], ...]:
    """Name each row's document; rows without one stand alone."""
    if documents is None:
        return tuple((side, row) for row in range(size))
    same_length(rows=range(size), documents=documents)
    return tuple(("document", document) for document in documents)
