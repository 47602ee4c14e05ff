"""What a prompt's improvement is measured by: one measure for ratings, one for pairs."""

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
    """Agreement with people, and the error that is left after calibration.

    ``agreement`` takes what was judged and what people said, shapes (n,); ``weighted`` the same and
    the documents, for `bootstrap`. ``fit`` takes the same two and returns a calibrator from what
    was judged to ``target`` of what people said, in whose units errors are.
    """

    agreement: Callable[[FloatArray, FloatArray], float | Undefined]
    weighted: Callable[[FloatArray, FloatArray, _Documents], WeightedStatistic]
    fit: Callable[[FloatArray, FloatArray], Calibrator | Undefined]
    target: Callable[[FloatArray], FloatArray]


def pair_agreement(judged: FloatArray, human: FloatArray) -> float | Undefined:
    """Return 2 sum(xy) / (sum(x^2) + sum(y^2)), in [-1, 1], for preferences in [-1, 1].

    This is Cohen's kappa with quadratic weights where every pair is counted in both of its
    directions, so that the name of a system that comes first says nothing. A judge that goes by
    places alone prefers neither over both orders, and has 0. Undefined where people do, everywhere.
    """
    if not human.any():
        return Undefined(why="people prefer neither summary in any pair")
    value = pair_statistic(judged, human, range(human.size))(np.ones((1, human.size)))[0]
    return float(value)


def pair_statistic(
    judged: FloatArray, human: FloatArray, documents: _Documents
) -> WeightedStatistic:
    """Return `pair_agreement` as a function of the documents' multiplicities."""
    coded, n_documents = document_codes(documents, human.size)
    of_documents = totals(
        np.column_stack([2.0 * judged * human, judged**2 + human**2]), coded, n_documents
    )
    return lambda counts: divide(*(counts @ of_documents).T)


def preferred_share(human: FloatArray) -> FloatArray:
    """Map mean preferences from [-1, 1] to [0, 1]: shares that prefer the first, ties count 1/2."""
    return (human + 1.0) / 2.0


def fit_pairs(judged: FloatArray, human: FloatArray) -> Calibrator | Undefined:
    """Fit the probability that the first is preferred, by isotonic regression.

    Every pair is taken in both directions, so that the curve gives both sides together 1. A judge
    who prefers neither everywhere says nothing: the probability is a half.
    """
    if human.size < MIN_LABELS:
        return fit_calibrator("isotonic", judged, human)  # says how many it takes
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
