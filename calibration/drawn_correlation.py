"""Pearson's correlation of judge and human values over all judged items, from a labelled sample.

The judge's moments are computed from all items. The moments of the human values, and of the
product, come from a regression on the judge's score and its square, plus the weighted mean residual
(the generalised regression estimator: Cassel, Sarndal and Wretman 1976; weights are inverse
sampling probabilities, as in `fairjudge.calibration.drawn_ppi`). The interval is Student's on
Fisher's z scale, from influences summed per document, with Satterthwaite's degrees of freedom,
around z minus its second-order bias. Residuals are divided by 1 minus their leverage (HC3).
"""

from __future__ import annotations

from math import atanh, sqrt, tanh

import numpy as np
from scipy.special import stdtrit

from fairjudge.calibration.drawn_ppi import PartlyLabelled
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.samples import sample_of_all
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, document_codes, totals
from fairjudge.text.counting import pluralize

MIN_LABELS = 10
_METHOD = "regression estimator, Student's t on Fisher's scale, variance over documents"


def correlation_of_all(items: JoinedItems, *, level: float = 0.95) -> Estimate | Undefined | None:
    """Return `drawn_correlation` of a group; None if all judged items have labels."""
    return drawn_correlation(sample_of_all(items), level=level) if items.rest else None


def drawn_correlation(sample: PartlyLabelled, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate Pearson's correlation over all items, labelled or not.

    Undefined with fewer than `MIN_LABELS` labelled documents, if a side is constant, or if the
    sampling probabilities are Undefined.
    """
    n, document_names = sample.human.size, (*sample.documents, *sample.rest_documents)
    if isinstance(sample.inclusion_probabilities, Undefined):
        return sample.inclusion_probabilities
    n_documents = len(set(sample.documents))
    if n_documents < MIN_LABELS:
        return Undefined(
            why=f"{pluralize(n_documents, 'labelled document')}: {MIN_LABELS} are needed"
        )
    all_scores = np.r_[sample.judged, sample.rest]
    if np.ptp(all_scores) == 0.0 or np.ptp(sample.human) == 0.0 or np.ptp(sample.judged) == 0.0:
        return Undefined(why="the judge's scores or the labels are all equal")
    f = (all_scores - all_scores.mean()) / all_scores.std()
    y = (sample.human - sample.human.mean()) / sample.human.std()
    weights = 1.0 / (
        np.ones(n) if sample.inclusion_probabilities is None else sample.inclusion_probabilities
    )
    weights = weights / weights.sum()
    basis = np.column_stack([np.ones(f.size), f, f**2])
    inverse = np.linalg.pinv(basis[:n].T @ (weights[:, None] * basis[:n]), hermitian=True)
    targets = np.column_stack([y, y**2, f[:n] * y])
    predictions = basis @ (inverse @ basis[:n].T @ (weights[:, None] * targets))
    leverages = weights * np.einsum("ij,jk,ik->i", basis[:n], inverse, basis[:n])
    mean, square, product = predictions.mean(axis=0)
    variance = square - mean**2
    if variance <= 0.0 or abs(product) >= sqrt(variance):
        return Undefined(why="too few labels to estimate the variance of human values")
    value = float(product / sqrt(variance))
    # Influences on the human mean, the human variance and the mean product; and the influence of
    # the judge's moments (0 and 1) on the correlation.
    influences = (predictions - predictions.mean(axis=0)) / f.size
    influences[:n] += (weights / np.maximum(1.0 - leverages, 1e-9))[:, None] * (
        targets - predictions[:n]
    )
    influences[:, 1] -= 2.0 * mean * influences[:, 0]
    judge_influences = -(mean / sqrt(variance) * f + value / 2 * (f**2 - 1.0)) / f.size
    row_documents, n_all_documents = document_codes(document_names, f.size)
    sums = totals(np.column_stack([influences, judge_influences]), row_documents, n_all_documents)
    influence = sums[:, 2] / sqrt(variance) - value / (2.0 * variance) * sums[:, 1] + sums[:, 3]
    influence_variance, slope = float(influence @ influence), 1.0 / (1.0 - value**2)
    bias = slope**2 * value * influence_variance + slope * _second_order_bias(
        value, variance, sums.T @ sums
    )
    freedom = _degrees_of_freedom(influence**2, n_documents)
    half_width = float(stdtrit(freedom, (1.0 + level) / 2.0)) * slope * sqrt(influence_variance)
    centre = atanh(value) - bias
    return Estimate(
        value=value,
        n=n,
        low=tanh(centre - half_width),
        high=tanh(centre + half_width),
        level=level,
        method=_METHOD,
    )


def _second_order_bias(value: float, variance: float, covariances: FloatArray) -> float:
    """Return the second-order bias of (mean product) / sqrt(variance).

    `covariances` are those of the human mean, the human variance and the mean product.
    """
    ratio_bias = 0.75 * value * covariances[1, 1] / variance**2 - covariances[1, 2] / variance**1.5
    return float(ratio_bias + value * covariances[0, 0] / variance) / 2.0


def _degrees_of_freedom(squares: FloatArray, n_documents: int) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of squared influences.

    They match the sum and its estimated variance, ``sum(squares^2) - sum(squares)^2 / documents``:
    influences on a product have heavy tails, so that few documents dominate the variance.
    """
    variance = float(squares.sum())
    variance_of_variance = float(squares @ squares) - variance**2 / n_documents
    max_freedom = float(n_documents - 1)
    return (
        max_freedom
        if variance_of_variance <= 0.0
        else max(1.0, min(max_freedom, 2.0 * variance**2 / variance_of_variance))
    )
