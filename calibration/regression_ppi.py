"""Means from few labels by a regression of the labels on judge and covariates, cross-fitted.

PPI++ (`fairjudge.calibration.ppi`) takes the judge's score as its prediction of a label. Where the
label also depends on what the judge overlooks (length, another judge), a regression predicts it
better, and the efficient estimator is that of augmented inverse-probability weighting:

    theta = mean(Y - lambda g) over labelled + lambda mean(g) over unlabelled, g(x) = E[Y | x]

Source: Chen, Lu, Li, Guo and Li (2026), "Efficient Inference for Noisy LLM-as-a-Judge Evaluation"
(arXiv 2601.05420), by its efficient influence function; cross-fitting as in Chernozhukov et al.
(2018), "Double/debiased machine learning". Whatever g is, the interval covers; a good g narrows it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import held_out
from fairjudge.calibration.drawn_ppi import PartlyLabelled
from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray, same_length, vector
from fairjudge.text.counting import pluralize

LABELS_PER_COLUMN = 5
"""Fewest labels for each coefficient of the regression."""


def regression_ppi_mean(
    labels: ArrayLike,
    labelled: ArrayLike,
    unlabelled: ArrayLike,
    *,
    rng: np.random.Generator,
    documents: Sequence[Hashable] | None = None,
    documents_unlabelled: Sequence[Hashable] | None = None,
    n_folds: int = 10,
    tuning: float | None = None,
    level: float = 0.95,
) -> PpiMean | Undefined:
    """Estimate the mean human score of a population that the judge saw whole and people in part.

    Undefined where `ppi_mean` is, and below `LABELS_PER_COLUMN` labels for each column and the
    intercept.

    Parameters
    ----------
    labels : array of shape (n,)
        Human values of the labelled items, a random part of all items.
    labelled, unlabelled : arrays of shape (n, k) and (m, k)
        The judge's score of each item, and covariates.
    rng
        Deals documents to folds.
    documents, documents_unlabelled, tuning, level
        As in `ppi_mean`. A labelled item is predicted from the labels of other folds' documents.

    Returns
    -------
    PpiMean
        ``naive``, ``ppi`` and ``ppi_plus`` stand on the regression in place of the judge.
    """
    x, z = np.asarray(labelled, dtype=float), np.asarray(unlabelled, dtype=float)
    y = vector(labels, name="labels")
    same_length(labels=y, labelled=x)
    sample = predicted(
        PartlyLabelled(
            human=y,
            judged=x[:, 0],
            documents=[("labelled", row) for row in range(y.size)]
            if documents is None
            else documents,
            rest=z[:, 0],
            rest_documents=[("unlabelled", row) for row in range(len(z))]
            if documents_unlabelled is None
            else documents_unlabelled,
            columns=x,
            rest_columns=z,
        ),
        rng=rng,
        n_folds=n_folds,
    )
    if isinstance(sample, Undefined):
        return sample
    return ppi_mean(
        y,
        sample.judged,
        sample.rest,
        documents=documents,
        documents_unlabelled=documents_unlabelled,
        tuning=tuning,
        level=level,
    )


def predicted(
    sample: PartlyLabelled, *, rng: np.random.Generator, n_folds: int = 10
) -> PartlyLabelled | Undefined:
    """Replace the judge's values by predictions of a regression on the columns.

    A labelled item is predicted from the labels of other folds' documents. Undefined without
    columns, below `LABELS_PER_COLUMN` labels for each of them and the intercept, or with fewer than
    2 labelled documents.
    """
    x, z, y = sample.columns, sample.rest_columns, sample.human
    if x is None or z is None:
        return Undefined(why="no predictor of labels besides the judge's own values")
    needed = LABELS_PER_COLUMN * (x.shape[1] + 1)
    if y.size < needed:
        return Undefined(
            why=f"{pluralize(y.size, 'labelled item')}: a regression on "
            f"{pluralize(x.shape[1], 'column')} needs {needed}"
        )
    if len(set(sample.documents)) < 2:
        return Undefined(why="fewer than 2 labelled documents")
    of_labelled, of_rest = np.empty(y.size), np.zeros(len(z))
    for fold in held_out(sample.documents, n_folds, rng):
        coefficients = _fit_coefficients(x[~fold], y[~fold])
        of_labelled[fold] = _predict(x[fold], coefficients)
        # By its share of the labels each fold's model counts alike on both sides.
        of_rest += fold.mean() * _predict(z, coefficients)
    return replace(sample, judged=of_labelled, rest=of_rest)


def _fit_coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return intercept and slopes by least squares, the smallest ones where several fit."""
    return np.asarray(np.linalg.lstsq(_with_ones(x), y, rcond=None)[0])


def _predict(x: FloatArray, coefficients: FloatArray) -> FloatArray:
    return np.asarray(_with_ones(x) @ coefficients)


def _with_ones(x: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(x)), x])
