"""Prediction-powered inference: few human labels and many judge scores make one honest interval.

Source: Angelopoulos et al. (2023), "Prediction-powered inference" (PPI), and Angelopoulos, Duchi
and Zrnic (2023), "PPI++" (power tuning). A rate is the mean of 0/1 values; a difference of two
systems the mean of paired differences; a win rate the mean of 1, 0.5 and 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

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
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.clustered import t_estimate
from fairjudge.text.counting import pluralize


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
    documents: Sequence[Hashable],
    documents_unlabelled: Sequence[Hashable],
    tuning: float | None = None,
    level: float = 0.95,
) -> PpiMean | Undefined:
    """Estimate the mean human score of a population that the judge saw whole and people in part.

    theta = mean(Y - lambda f) over labelled items + lambda mean(f) over unlabelled items. Undefined
    below 2 labelled items or documents, or without unlabelled items.

    Parameters
    ----------
    labels, judged_labelled : arrays of shape (n,)
        Human value and judge's score of the labelled items, a random part of all items.
    judged_unlabelled : array of shape (m,)
        The judge's score of the other items.
    documents, documents_unlabelled
        The document of each row; the two sets may share documents. Influences are summed within
        documents, each by the lambda of all others, and Student's t takes the labelled documents
        less one as its degrees of freedom. (ppi_py takes rows as independent, population variances
        and the normal quantile.)
    tuning
        lambda; where None, the value in [0, 1] that minimises the estimated variance
        (PPI++, section 6). ppi_py plugs the pooled variance of f into that minimiser; we use each
        sample's own, so that clustered data are covered too; the two agree for large samples.
    """
    y = vector(labels, name="labels")
    f = vector(judged_labelled, name="judged_labelled")
    u = vector(judged_unlabelled, name="judged_unlabelled")
    same_length(labels=y, judged_labelled=f, documents=documents)
    same_length(judged_unlabelled=u, documents_unlabelled=documents_unlabelled)
    if y.size < 2:
        return Undefined(why=f"{pluralize(y.size, 'labelled item')}: at least 2 are needed")
    if not u.size:
        return Undefined(why="every judged item is labelled: nothing for the judge to add")
    n, m = y.size, u.size
    coded, d = document_codes([*documents, *documents_unlabelled], n + m)
    labelled_codes, unlabelled_codes = coded[:n], coded[n:]
    all_judged = np.r_[f, u]
    n_documents = np.unique(labelled_codes).size
    if n_documents < 2:
        return Undefined(why="fewer than 2 labelled documents")
    frame = Influences(
        means=(float(y.mean()), float(f.mean()), float(u.mean())),
        judge_mean=(n * float(f.mean()) + m * float(u.mean())) / (n + m),
        of_labels=summed((y - y.mean()) / n, labelled_codes, d),
        of_correction=summed((u - u.mean()) / m, unlabelled_codes, d)
        - summed((f - f.mean()) / n, labelled_codes, d),
        of_judge=summed((all_judged - all_judged.mean()) / (n + m), coded, d),
        n=n,
        m=m,
        freedom=n_documents - 1,
        factor=n_documents / (n_documents - 1),
        level=level,
    )
    return frame.estimates(tuning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """The influences of each document: of the labels, and of the judge's correction to them.

    ``means`` are those of the labels, of the judge where there are labels, and of the judge where
    it stands in for them; ``judge_mean`` is the judge's over all. ``factor`` multiplies variances
    where influences do not have a small sample's correction in them; ``freedom`` is Student's.
    """

    means: tuple[float, float, float]
    judge_mean: float
    of_labels: FloatArray
    of_correction: FloatArray
    of_judge: FloatArray
    n: int
    m: int
    freedom: float
    factor: float
    level: float

    def estimates(self, tuning: float | None) -> PpiMean:
        """Return all four estimates."""
        chosen = self.best_tuning() if tuning is None else tuning
        classical = self.influence(0.0)
        tuned = self.influence(self.tunings_without() if tuning is None else chosen)
        labels_alone, corrected = (float(influence @ influence) for influence in (classical, tuned))
        d = self.of_judge.size
        return PpiMean(
            classical=self.estimate(0.0, classical),
            naive=self.around(
                self.judge_mean,
                float(self.of_judge @ self.of_judge) * (d / (d - 1)),
                freedom=d - 1,
                n=self.n + self.m,
            ),
            ppi=self.estimate(1.0, self.influence(1.0)),
            ppi_plus=self.estimate(chosen, tuned),
            tuning=chosen,
            n_labelled=self.n,
            n_unlabelled=self.m,
            effective_labels=self.n * labels_alone / corrected if corrected else float(self.n),
        )

    def best_tuning(self) -> float:
        """Return the lambda in [0, 1] that minimises the variance."""
        products, squares = self.of_labels * self.of_correction, self.of_correction**2
        return float(_best(products.sum(keepdims=True), squares.sum(keepdims=True))[0])

    def tunings_without(self) -> FloatArray:
        """Return the best lambda without each document, shape (documents,).

        A variance at its minimum over lambda is too small. A document's influence by the lambda of
        all others is its residual over 1 less its leverage, as in MacKinnon and White's (1985)
        jackknife for regressions (HC3), which this is: of labels on corrections, by documents.
        """
        products, squares = self.of_labels * self.of_correction, self.of_correction**2
        return _best(products.sum() - products, squares.sum() - squares)

    def influence(self, tuning: float | FloatArray) -> FloatArray:
        """Return each document's influence on the corrected mean."""
        return self.of_labels + tuning * self.of_correction

    def estimate(self, tuning: float, influence: FloatArray) -> Estimate:
        """Return the corrected mean and its interval, by documents' influences on it."""
        y, f, u = self.means
        return self.around(
            y + tuning * (u - f),
            float(influence @ influence) * self.factor,
            freedom=self.freedom,
            n=self.n,
        )

    def around(self, value: float, variance: float, *, freedom: float, n: int) -> Estimate:
        """Return `value` with its interval."""
        return t_estimate(value, variance, n=n, degrees_of_freedom=freedom, level=self.level)


def _best(products: FloatArray, squares: FloatArray) -> FloatArray:
    """Return lambdas from sums of influences' products and squares; 0 where there are none."""
    return np.clip(np.nan_to_num(divide(-products, squares)), 0.0, 1.0)


def summed(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    """Return the sums of `rows`, shape (n,), of each document."""
    return totals(rows[:, None], documents, n_documents)[:, 0]
