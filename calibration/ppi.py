"""Prediction-powered inference: valid intervals from few human labels and many judge scores.

Source: Angelopoulos et al. (2023), "Prediction-powered inference" (PPI), and Angelopoulos, Duchi
and Zrnic (2023), "PPI++" (power tuning). A rate is a mean of 0/1 values, a difference of two
systems a mean of paired differences, and a win rate a mean of 1, 0.5 and 0.
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
    """Four estimates of a mean human score.

    ``classical`` uses only the labels, ``naive`` only the judge, as if it were always right;
    ``ppi`` and ``ppi_plus`` correct the judge's mean with the labels. ``tuning`` is the lambda of
    ``ppi_plus``, in [0, 1]: 0 is classical, 1 is PPI. ``effective_labels`` is the number of labels
    with which the classical interval would be as narrow as that of ``ppi_plus``.
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
    """Estimate the mean human score of items that are all judged and partly labelled.

    theta = mean(Y - lambda f) over labelled items + lambda mean(f) over unlabelled items. Undefined
    with fewer than 2 labelled items or documents, or without unlabelled items.

    Parameters
    ----------
    labels, judged_labelled : arrays of shape (n,)
        Human value and judge's score of the labelled items, a random sample of all items.
    judged_unlabelled : array of shape (m,)
        The judge's score of the other items.
    documents, documents_unlabelled
        The document of each row; the two sets may share documents. Influences are summed per
        document, each with the lambda fitted on the other documents, and Student's t has the number
        of labelled documents minus 1 degrees of freedom. (ppi_py assumes independent rows, and uses
        population variances and the normal quantile.)
    tuning
        lambda; if None, the value in [0, 1] that minimises the estimated variance (PPI++,
        section 6). ppi_py uses the pooled variance of f in that minimiser; we use separate
        variances of both samples, for clustered data. Both agree for large samples.
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
    row_documents, n_documents_total = document_codes([*documents, *documents_unlabelled], n + m)
    labelled_codes, unlabelled_codes = row_documents[:n], row_documents[n:]
    all_judged = np.r_[f, u]
    n_documents = np.unique(labelled_codes).size
    if n_documents < 2:
        return Undefined(why="fewer than 2 labelled documents")
    influences = Influences(
        means=(float(y.mean()), float(f.mean()), float(u.mean())),
        judge_mean=(n * float(f.mean()) + m * float(u.mean())) / (n + m),
        of_labels=sum_by_document((y - y.mean()) / n, labelled_codes, n_documents_total),
        of_correction=sum_by_document((u - u.mean()) / m, unlabelled_codes, n_documents_total)
        - sum_by_document((f - f.mean()) / n, labelled_codes, n_documents_total),
        of_judge=sum_by_document(
            (all_judged - all_judged.mean()) / (n + m), row_documents, n_documents_total
        ),
        n=n,
        m=m,
        freedom=n_documents - 1,
        factor=n_documents / (n_documents - 1),
        level=level,
    )
    return influences.estimates(tuning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """The documents' influences on the mean of the labels and on the judge's correction.

    ``means`` are the means of the labels, of the judge on labelled items, and of the judge on the
    items whose mean is added. ``judge_mean`` is the judge's mean over all items. ``factor`` is the
    small-sample correction of variances, 1 if the influences include it. ``freedom`` is the number
    of degrees of freedom of Student's t.
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
        """Return the four estimates, with lambda `tuning` or the best one."""
        best_tuning = self.best_tuning() if tuning is None else tuning
        classical_influence = self.influence(0.0)
        tuned_influence = self.influence(self.tunings_without() if tuning is None else best_tuning)
        classical_variance, tuned_variance = (
            float(influence @ influence) for influence in (classical_influence, tuned_influence)
        )
        d = self.of_judge.size
        return PpiMean(
            classical=self.estimate(0.0, classical_influence),
            naive=self.around(
                self.judge_mean,
                float(self.of_judge @ self.of_judge) * (d / (d - 1)),
                freedom=d - 1,
                n=self.n + self.m,
            ),
            ppi=self.estimate(1.0, self.influence(1.0)),
            ppi_plus=self.estimate(best_tuning, tuned_influence),
            tuning=best_tuning,
            n_labelled=self.n,
            n_unlabelled=self.m,
            effective_labels=self.n * classical_variance / tuned_variance
            if tuned_variance
            else float(self.n),
        )

    def best_tuning(self) -> float:
        """Return the lambda in [0, 1] that minimises the variance."""
        products, squares = self.of_labels * self.of_correction, self.of_correction**2
        return float(_best_tunings(products.sum(keepdims=True), squares.sum(keepdims=True))[0])

    def tunings_without(self) -> FloatArray:
        """Return the best lambda without each document, shape (documents,).

        The minimum of the variance over lambda is biased downwards. With lambda fitted on the other
        documents, a document's influence is its residual divided by 1 minus its leverage: MacKinnon
        and White's (1985) jackknife (HC3) for the regression of labels on corrections.
        """
        products, squares = self.of_labels * self.of_correction, self.of_correction**2
        return _best_tunings(products.sum() - products, squares.sum() - squares)

    def influence(self, tuning: float | FloatArray) -> FloatArray:
        """Return each document's influence on the corrected mean."""
        return self.of_labels + tuning * self.of_correction

    def estimate(self, tuning: float, influence: FloatArray) -> Estimate:
        """Return the corrected mean with its interval, from documents' influences."""
        y, f, u = self.means
        return self.around(
            y + tuning * (u - f),
            float(influence @ influence) * self.factor,
            freedom=self.freedom,
            n=self.n,
        )

    def around(self, value: float, variance: float, *, freedom: float, n: int) -> Estimate:
        """Return `value` with the t interval for `variance`."""
        return t_estimate(value, variance, n=n, degrees_of_freedom=freedom, level=self.level)


def _best_tunings(products: FloatArray, squares: FloatArray) -> FloatArray:
    """Return lambdas from sums of the influences' products and squares; 0 if the latter are 0."""
    return np.clip(np.nan_to_num(divide(-products, squares)), 0.0, 1.0)


def sum_by_document(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    """Sum `rows`, shape (n,), per document."""
    return totals(rows[:, None], documents, n_documents)[:, 0]
