"""Cascades: a cheap scorer decides clear cases, and a costly judge the uncertain ones.

Scores of the cheap scorer at or below ``low``, or at or above ``high``, are final; other items are
escalated to the costly judge. The thresholds are fitted on labels and assessed on held-out
documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import iterate_folds
from fairjudge.calibration.comparison import compare_judges
from fairjudge.calibration.items import JUDGE_SIDE
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, same_length, vector
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.correlation import correlation

MIN_ITEMS = 30
AGREEMENT_TOLERANCE = 0.05
_GRID = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds on the cheap scorer's scale, which is unsure strictly between them."""

    low: float
    high: float

    def unsure(self, scores: FloatArray) -> BoolArray:
        """Return a mask of the scores for which the costly judge is asked."""
        return np.asarray((scores > self.low) & (scores < self.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeFit:
    """Thresholds fitted on all items, and their performance on held-out documents.

    ``saved`` is the share of costly calls that are saved. ``error_added`` is the increase of the
    mean absolute error against the labels, in their units. ``agreement`` has Kendall's tau-b with
    the labels of ``"costly"``, ``"cheap"`` and ``"cascade"``; ``agreement_lost`` is the costly
    judge's minus the cascade's.
    """

    thresholds: Thresholds
    saved: Estimate | Undefined
    error_added: Estimate | Undefined
    agreement: dict[str, float | Undefined]
    agreement_lost: Estimate | Undefined
    n: int


def fit_cascade(
    cheap: ArrayLike,
    costly: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable],
    tolerance: float,
    agreement_tolerance: float = AGREEMENT_TOLERANCE,
    rng: np.random.Generator,
) -> CascadeFit | Undefined:
    """Find the thresholds that save the most calls within tolerated losses.

    Error and agreement are both limited, since a judge with a smaller error may rank worse.
    Undefined for fewer than 30 items or 2 documents.

    Parameters
    ----------
    cheap, costly, labels : arrays of shape (n,), on the same scale
    tolerance
        Maximum increase of the mean absolute error, in the labels' unit; 0 or more.
    agreement_tolerance
        Maximum decrease of Kendall's tau-b with the labels; 0 or more.

    Raises
    ------
    StatisticsError
        For a negative tolerance.
    """
    tolerances = tolerance, agreement_tolerance
    for limit in tolerances:
        if limit < 0.0:
            raise StatisticsError(f"expected a tolerance of 0 or more, got {limit!r}")
    cheap_scores, costly_scores, human_labels = (
        vector(values, name=name)
        for values, name in ((cheap, "cheap"), (costly, "costly"), (labels, "l"))
    )
    same_length(cheap=cheap_scores, costly=costly_scores, labels=human_labels, documents=documents)
    if cheap_scores.size < MIN_ITEMS or len(set(documents)) < 2:
        return Undefined(why=f"a cascade needs {MIN_ITEMS} labelled items in 2 documents")
    is_escalated = np.ones(cheap_scores.size, dtype=bool)
    for fold in iterate_folds(documents, 5, rng):
        is_escalated[fold] = _search_thresholds(
            cheap_scores[~fold], costly_scores[~fold], human_labels[~fold], tolerances
        ).unsure(cheap_scores[fold])
    cascade_scores = np.where(is_escalated, costly_scores, cheap_scores)
    thresholds = _search_thresholds(cheap_scores, costly_scores, human_labels, tolerances)
    (agreement_difference,) = compare_judges(
        {"costly": costly_scores, "cascade": cascade_scores},
        human_labels,
        rng=rng,
        measure="kendall",
        documents=documents,
        method="expanded",
    )
    return CascadeFit(
        thresholds=thresholds,
        saved=clip_interval(clustered_mean(1.0 - is_escalated, documents), 0.0, 1.0),
        error_added=clustered_mean(
            np.abs(cascade_scores - human_labels) - np.abs(costly_scores - human_labels),
            documents,
            null=0.0,
        ),
        agreement={
            name: correlation("kendall", values, human_labels, sides=(JUDGE_SIDE, "labels"))
            for name, values in (
                ("costly", costly_scores),
                ("cheap", cheap_scores),
                ("cascade", cascade_scores),
            )
        },
        agreement_lost=agreement_difference.difference,
        n=cheap_scores.size,
    )


def _search_thresholds(
    cheap_scores: FloatArray,
    costly_scores: FloatArray,
    labels: FloatArray,
    tolerances: tuple[float, float],
) -> Thresholds:
    """Search thresholds among quantiles; the fallback always asks the costly judge.

    `tolerances` are the maximum increase of the error and decrease of the agreement.
    """
    cuts = np.unique(np.quantile(cheap_scores, np.linspace(0.0, 1.0, _GRID)))
    outside = (float(cuts[0]) - 1.0, float(cuts[-1]) + 1.0)
    best_thresholds, fewest_calls = Thresholds(low=outside[0], high=outside[1]), cheap_scores.size
    added_errors = np.abs(cheap_scores - labels) - np.abs(costly_scores - labels)
    for low in (outside[0], *cuts.tolist()):
        for high in (*cuts[cuts >= low].tolist(), outside[1]):
            candidate = Thresholds(low=low, high=high)
            is_escalated = candidate.unsure(cheap_scores)
            error_added = float(np.where(is_escalated, 0.0, added_errors).mean())
            if int(is_escalated.sum()) >= fewest_calls or error_added > tolerances[0]:
                continue
            if (
                _agreement_loss(
                    costly_scores, np.where(is_escalated, costly_scores, cheap_scores), labels
                )
                <= tolerances[1]
            ):
                best_thresholds, fewest_calls = candidate, int(is_escalated.sum())
    return best_thresholds


def _agreement_loss(costly: FloatArray, cascade_scores: FloatArray, labels: FloatArray) -> float:
    """Return the loss of tau-b: 0 if `costly` has none, infinite if only `costly` has one."""
    costly_agreement, cascade_agreement = (
        correlation("kendall", values, labels) for values in (costly, cascade_scores)
    )
    if isinstance(costly_agreement, Undefined):
        return 0.0
    return (
        np.inf if isinstance(cascade_agreement, Undefined) else costly_agreement - cascade_agreement
    )
