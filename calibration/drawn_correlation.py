"""Pearson's correlation of judge and people over all judged items, from labels of some of them.

The judge's moments come from all items. People's, and the product's, are those of a regression on
the judge's score and its square, plus the weighted mean residual (the generalised regression
estimator: Cassel, Sarndal and Wretman 1976; weights are one over the chances of being labelled, as
in `fairjudge.calibration.drawn_ppi`). The interval is Student's on Fisher's scale, from influences
summed by document; residuals are divided by one minus their leverage (HC3).
"""

from __future__ import annotations

from math import atanh, sqrt, tanh

import numpy as np
from scipy.stats import t as student_t

from fairjudge.calibration.drawn_ppi import PartlyLabelled
from fairjudge.calibration.items import Joined
from fairjudge.calibration.ppi import summed
from fairjudge.calibration.samples import whole_sample
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import document_codes
from fairjudge.text.counting import pluralize

FEWEST_LABELS = 10
_METHOD = "regression estimator, Student's t on Fisher's scale, variance over documents"


def correlation_of_all(joined: Joined, *, level: float = 0.95) -> Estimate | Undefined | None:
    """Return `drawn_correlation` of a group, None where every judged item has a label."""
    return drawn_correlation(whole_sample(joined), level=level) if joined.rest else None


def drawn_correlation(sample: PartlyLabelled, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate Pearson's correlation of all items, labelled or not.

    Undefined below `FEWEST_LABELS` labelled documents, where a side is constant, or where the
    chances are.
    """
    n, names = sample.human.size, (*sample.documents, *sample.rest_documents)
    if isinstance(sample.chances, Undefined):
        return sample.chances
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
    weights = 1.0 / (np.ones(n) if sample.chances is None else sample.chances)
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
    # The derivatives of the correlation by people's mean, mean square and the mean product; then
    # by the judge's mean (0) and mean square (1).
    gradient = np.array([value * mean / variance, -value / (2 * variance), 1.0 / sqrt(variance)])
    rows = (predictions - predictions.mean(axis=0)) @ gradient
    rows = (rows - mean / sqrt(variance) * f - value / 2 * (f**2 - 1.0)) / f.size
    residuals = (targets - predictions[:n]) @ gradient
    rows[:n] += weights * residuals / np.maximum(1.0 - leverages, 1e-9)
    coded, d = document_codes(names, f.size)
    by_document = summed(rows, coded, d)
    error = sqrt(float(by_document @ by_document)) / (1.0 - value**2)
    half = float(student_t.ppf((1.0 + level) / 2.0, n_documents - 1)) * error
    return Estimate(
        value=value,
        n=n,
        low=tanh(atanh(value) - half),
        high=tanh(atanh(value) + half),
        level=level,
        method=_METHOD,
    )
