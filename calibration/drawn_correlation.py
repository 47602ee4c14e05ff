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
from fairjudge.calibration.items import Joined
from fairjudge.calibration.samples import sample_of_all
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, document_codes, totals
from fairjudge.text.counting import pluralize

FEWEST_LABELS = 10
_METHOD = "regression estimator, Student's t on Fisher's scale, variance over documents"


def correlation_of_all(joined: Joined, *, level: float = 0.95) -> Estimate | Undefined | None:
    """Return `drawn_correlation` of a group, None where every judged item has a label."""
    return drawn_correlation(sample_of_all(joined), level=level) if joined.rest else None


def drawn_correlation(sample: PartlyLabelled, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate Pearson's correlation over all items, labelled or not.

    Undefined with fewer than `FEWEST_LABELS` labelled documents, if a side is constant, or if the
    sampling probabilities are Undefined.
    """
    n, names = sample.human.size, (*sample.documents, *sample.rest_documents)
    if isinstance(sample.inclusion_probabilities, Undefined):
        return sample.inclusion_probabilities
    n_documents = len(set(sample.documents))
    if n_documents < FEWEST_LABELS:
        return Undefined(
            why=f"{pluralize(n_documents, 'labelled document')}: {FEWEST_LABELS} are needed"
        )
    every = np.r_[sample.judged, sample.rest]
    if np.ptp(every) == 0.0 or np.ptp(sample.human) == 0.0 or np.ptp(sample.judged) == 0.0:
        return Undefined(why="the judge's scores or the labels are all equal")
    f = (every - every.mean()) / every.std()
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
        return Undefined(why="too few labels for the spread of people's values")
    value = float(product / sqrt(variance))
    # Influences on people's mean, on their variance and on the mean product; what the judge's own
    # moments (0 and 1) vary by, on the correlation.
    rows = (predictions - predictions.mean(axis=0)) / f.size
    rows[:n] += (weights / np.maximum(1.0 - leverages, 1e-9))[:, None] * (targets - predictions[:n])
    rows[:, 1] -= 2.0 * mean * rows[:, 0]
    judge = -(mean / sqrt(variance) * f + value / 2 * (f**2 - 1.0)) / f.size
    coded, d = document_codes(names, f.size)
    sums = totals(np.column_stack([rows, judge]), coded, d)
    influence = sums[:, 2] / sqrt(variance) - value / (2.0 * variance) * sums[:, 1] + sums[:, 3]
    own, slope = float(influence @ influence), 1.0 / (1.0 - value**2)
    bias = slope**2 * value * own + slope * _bias(value, variance, sums.T @ sums)
    freedom = _freedom(influence**2, n_documents)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * slope * sqrt(own)
    centre = atanh(value) - bias
    return Estimate(
        value=value,
        n=n,
        low=tanh(centre - half),
        high=tanh(centre + half),
        level=level,
        method=_METHOD,
    )


def _bias(value: float, variance: float, spread: FloatArray) -> float:
    """Return the bias of a mean product over a root of a variance, to second order.

    `spread` are the covariances of people's mean, their variance and the mean product.
    """
    of_ratio = 0.75 * value * spread[1, 1] / variance**2 - spread[1, 2] / variance**1.5
    return float(of_ratio + value * spread[0, 0] / variance) / 2.0


def _freedom(squares: FloatArray, n_documents: int) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of squared influences.

    They match its mean and its estimated variance, ``sum(squares^2) - sum(squares)^2 / documents``:
    influences on a product have long tails, so that few documents make most of the variance.
    """
    total = float(squares.sum())
    spread = float(squares @ squares) - total**2 / n_documents
    most = float(n_documents - 1)
    return most if spread <= 0.0 else max(1.0, min(most, 2.0 * total**2 / spread))
