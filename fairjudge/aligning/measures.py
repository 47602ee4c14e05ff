"""Measures of a prompt's improvement: one for ratings, one for pairs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.calibrators import MIN_LABELS, Calibrator, fit_calibrator
from fairjudge.calibration.curves import Steps
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray, document_codes, totals
from fairjudge.stats.bootstrap import WeightedStatistic, divide
from fairjudge.stats.correlation import correlation, weighted_correlation

_Documents: TypeAlias = Sequence[Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Functions for the agreement with human labels, and for the error after calibration.

    ``agreement`` maps judged and human values, shapes (n,), to their agreement; ``weighted`` also
    takes the documents, for `bootstrap`. ``fit`` returns a calibrator from judged values to the
    ``target`` of human values, which is the unit of errors.
    """

    agreement: Callable[[FloatArray, FloatArray], float | Undefined]
    weighted: Callable[[FloatArray, FloatArray, _Documents], WeightedStatistic]
    fit: Callable[[FloatArray, FloatArray], Calibrator | Undefined]
    target: Callable[[FloatArray], FloatArray]


def pair_agreement(judged: FloatArray, human: FloatArray) -> float | Undefined:
    """Return 2 sum(xy) / (sum(x^2) + sum(y^2)), in [-1, 1], for preferences in [-1, 1].

    This is Cohen's kappa with quadratic weights, with every pair counted in both directions, so
    that it is independent of the order of systems. A judge that only prefers a position has 0.
    Undefined if all human preferences are 0.
    """
    if not human.any():
        return Undefined(why="all human preferences are ties")
    value = pair_statistic(judged, human, range(human.size))(np.ones((1, human.size)))[0]
    return float(value)


def pair_statistic(
    judged: FloatArray, human: FloatArray, documents: _Documents
) -> WeightedStatistic:
    """Return `pair_agreement` as a function of the documents' multiplicities."""
    document_indices, n_documents = document_codes(documents, human.size)
    document_sums = totals(
        np.column_stack([2.0 * judged * human, judged**2 + human**2]), document_indices, n_documents
    )
    return lambda counts: divide(*(counts @ document_sums).T)


def preferred_share(human: FloatArray) -> FloatArray:
    """Map mean preferences from [-1, 1] to the share preferring the first (ties count 1/2)."""
    return (human + 1.0) / 2.0


def fit_pairs(judged: FloatArray, human: FloatArray) -> Calibrator | Undefined:
    """Fit the probability that the first summary is preferred, by isotonic regression.

    Every pair is used in both directions, so that the probabilities of both sides sum to 1. If all
    verdicts are ties, the probability is 0.5.
    """
    if human.size < MIN_LABELS:
        return fit_calibrator("isotonic", judged, human)  # Undefined, with the required number
    share = preferred_share(human)
    if not judged.any():
        return Calibrator(
            curve=Steps(scores=(0.0,), values=(0.5,)),
            n_labels=human.size,
            score_range=(0.0, 0.0),
            label_range=(float(share.min()), float(share.max())),
        )
    calibrator = fit_calibrator("isotonic", np.r_[judged, -judged], np.r_[share, 1.0 - share])
    return (
        calibrator
        if isinstance(calibrator, Undefined)
        else replace(calibrator, n_labels=human.size)
    )


RATINGS = Measure(
    agreement=lambda judged, human: correlation(
        "kendall", judged, human, sides=("the judge's scores", "people's mean labels")
    ),
    weighted=lambda judged, human, documents: weighted_correlation(
        "kendall", judged, human, documents=documents
    ),
    fit=lambda judged, human: fit_calibrator("isotonic", judged, human),
    target=lambda human: human,
)
"""Kendall's tau-b with the mean label; squared error in points of the labels."""
PAIRS = Measure(
    agreement=pair_agreement, weighted=pair_statistic, fit=fit_pairs, target=preferred_share
)
"""`pair_agreement`; the Brier score of the probability that the first is preferred."""
