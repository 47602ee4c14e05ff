"""Error rates of yes-or-no judges, and prevalence corrected for them.

Rogan and Gladen (1978): if the judge answers yes for a share p, with sensitivity q1 and specificity
q0, the true share is ``(p + q0 - 1) / (q0 + q1 - 1)``. This requires equal error rates on the
labelled items and the items in question, while their prevalence may differ. PPI requires labelled
items that are exchangeable with the others, while the judge's errors are arbitrary.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from fairjudge.calibration.drawn_ppi import PartlyLabelled, sample_mean
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, check_level, codes, same_length, totals, vector
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.intervals import clustered_wilson

YES_OR_NO = (0.0, 1.0)
MIN_LABELS_PER_ANSWER = 5
"""Minimum number of labels of each answer for the correction."""
_ADDED = 0.5
METHOD = "Rogan-Gladen, Fieller interval, variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(PartlyLabelled):
    """Items with answers and labels yes (1) or no (0)."""

    def __post_init__(self) -> None:
        PartlyLabelled.__post_init__(self)
        for name in ("judged", "human", "rest"):
            if not np.all(np.isin(getattr(self, name), YES_OR_NO)):
                raise StatisticsError(f"{name} must be 0 or 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """Shares, in [0, 1]. Predictive values assume the prevalence among the labelled items."""

    sensitivity: Estimate | Undefined
    specificity: Estimate | Undefined
    positive_predictive_value: Estimate | Undefined
    negative_predictive_value: Estimate | Undefined
    n_yes: int
    n_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """Four estimates of the share of yes, in [0, 1], among n items.

    ``judged`` uses only the judge, ``labelled`` only the labels, ``corrected`` is Rogan and
    Gladen's estimate, and ``ppi`` that of PPI++. ``n_labelled`` of the n items have a label.
    """

    judged: Estimate | Undefined
    labelled: Estimate | Undefined
    corrected: Estimate | Undefined
    ppi: Estimate | Undefined
    n: int
    n_labelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesReport:
    """Error rates and prevalences of a yes-or-no judge.

    ``n_split`` counts excluded items: those with as many labels of yes as of no, and those with
    different repeats.
    """

    errors: ErrorRates
    n_split: int
    prevalence: Prevalence | Undefined
    by_system: Mapping[str, Prevalence]


def report_rates(items: JoinedItems, *, level: float = 0.95) -> RatesReport | None:
    """Return error rates, and prevalence in total and by system; None for other scales.

    Also None if labels are means over parts, which are neither yes nor no. An item's label is that
    of the majority of annotators. Items without a majority, or with different repeats, are excluded
    and counted. Error rates are over all systems, also for the correction of one system's
    prevalence.
    """
    scales = items.judge_scale, items.label_scale
    yes_no = PROTOCOLS[items.protocol].yes_no and scales == (YES_OR_NO, YES_OR_NO)
    if items.averaged_labels or not yes_no:
        return None
    rows = np.flatnonzero((items.human != 0.5) & np.isin(items.judged, YES_OR_NO))
    unlabelled = np.flatnonzero(np.isin(items.judged_rest, YES_OR_NO))
    labels = (items.human[rows] > 0.5).astype(np.float64)
    documents = [items.documents[row] for row in rows]
    errors = error_rates(items.judged[rows], labels, documents, level=level)
    n_split = len(items.keys) - int(rows.size)
    if items.inclusion_probabilities is not None:
        reason = Undefined(why="items were sampled for labelling with unequal probabilities")
        return RatesReport(errors=errors, n_split=n_split, prevalence=reason, by_system={})
    names = np.array([system_name(items.rest[row]) for row in unlabelled], dtype=object)

    def shares(mask: np.ndarray) -> Prevalence:
        sample = Answers(
            judged=items.judged[rows],
            human=labels,
            documents=documents,
            rest=items.judged_rest[unlabelled[mask]],
            rest_documents=[items.rest[row][0] for row in unlabelled[mask]],
        )
        return prevalence(sample, level=level)

    return RatesReport(
        errors=errors,
        n_split=n_split,
        prevalence=shares(np.ones(unlabelled.size, dtype=bool)),
        by_system={name: shares(names == name) for name in dict.fromkeys(names.tolist())},
    )


def error_rates(
    judged: ArrayLike, labels: ArrayLike, documents: Sequence[Hashable], *, level: float = 0.95
) -> ErrorRates:
    """Return sensitivity, specificity and predictive values of 0/1 answers against 0/1 labels.

    Intervals are Wilson's, with the effective number of items over documents. A rate without items
    (for example without labels of yes) is Undefined.
    """
    answers, truths = vector(judged, name="judged"), vector(labels, name="labels")
    same_length(judged=answers, labels=truths, documents=documents)

    def share(hits: FloatArray, mask: np.ndarray) -> Estimate | Undefined:
        rows = np.flatnonzero(mask)
        return clustered_wilson(hits[rows], [documents[row] for row in rows.tolist()], level=level)

    return ErrorRates(
        sensitivity=share(answers, truths == 1.0),
        specificity=share(1.0 - answers, truths == 0.0),
        positive_predictive_value=share(truths, answers == 1.0),
        negative_predictive_value=share(1.0 - truths, answers == 0.0),
        n_yes=int(np.sum(truths == 1.0)),
        n_no=int(np.sum(truths == 0.0)),
    )


def prevalence(sample: Answers, *, level: float = 0.95) -> Prevalence:
    """Estimate the share of yes among the unlabelled items, or among all items if all are labelled.

    If all items are labelled, no correction is necessary: report ``labelled``.
    """
    label_share = clip_interval(
        clustered_mean(sample.human, sample.documents, level=level), 0.0, 1.0
    )
    if not sample.rest.size:
        n = sample.judged.size
        judge_share = clustered_wilson(sample.judged, sample.documents, level=level)
        reason = Undefined(why="all judged items are labelled: nothing is to be corrected")
        return Prevalence(
            judged=judge_share,
            labelled=label_share,
            corrected=reason,
            ppi=reason,
            n=n,
            n_labelled=n,
        )
    ppi_mean = sample_mean(sample, level=level)
    return Prevalence(
        judged=clustered_wilson(sample.rest, sample.rest_documents, level=level),
        labelled=label_share,
        corrected=rogan_gladen(sample, level=level),
        ppi=clip_interval(ppi_mean.ppi_plus, 0.0, 1.0)
        if isinstance(ppi_mean, PpiMean)
        else ppi_mean,
        n=sample.rest.size,
        n_labelled=0,
    )


def rogan_gladen(sample: Answers, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate the share of yes among ``rest``, corrected with the error rates on labelled items.

    The interval contains every share s for which ``p - s q1 - (1 - s)(1 - q0)`` does not differ
    significantly from 0 (Fieller 1954). Its standard error, linearised over documents, includes the
    errors of p, q1 and q0; the quantile is Student's on documents - 1 degrees of freedom. Half an
    item of each answer is added to each count (Jeffreys; Lee et al. 2025, arXiv:2511.21140, add
    one), so that observing no errors does not imply an error rate of 0. The interval is [0, 1] for
    a judge that is not significantly better than chance. Undefined with fewer than
    `MIN_LABELS_PER_ANSWER` labels of either answer, without ``rest``, or if the judge's yes is not
    more frequent for items labelled yes.
    """
    check_level(level)
    judged, labels, unlabelled = sample.judged, sample.human, sample.rest
    n_yes, n_no = int(np.sum(labels == 1.0)), int(np.sum(labels == 0.0))
    if min(n_yes, n_no) < MIN_LABELS_PER_ANSWER:
        return Undefined(
            why=f"labels of yes: {n_yes}, of no: {n_no}; {MIN_LABELS_PER_ANSWER} of each are needed"
        )
    if not unlabelled.size:
        return Undefined(why="no items without a label")
    hit_rate, alarm_rate = float(judged[labels == 1.0].mean()), float(judged[labels == 0.0].mean())
    if hit_rate <= alarm_rate:
        return Undefined(why="the judge's yes is not more frequent for items labelled yes")
    freedom = min(len(set(sample.documents)), len(set(sample.rest_documents))) - 1
    value = float(np.clip((unlabelled.mean() - alarm_rate) / (hit_rate - alarm_rate), 0.0, 1.0))
    n = int(unlabelled.size)
    if freedom < 1:
        return Estimate(value=value, n=n, level=level, method="no interval: fewer than 2 documents")
    low, high = _fieller(sample, float(stdtrit(freedom, (1.0 + level) / 2.0)))
    return Estimate(
        value=value, n=n, low=min(low, value), high=max(high, value), level=level, method=METHOD
    )


def _fieller(sample: Answers, quantile: float) -> tuple[float, float]:
    """Return the bounds, in [0, 1], of the shares s with ``(a - b s)^2 <= quantile^2 V(s)``."""
    added_documents = [("added", k) for k in range(6)]
    n, m = sample.judged.size, sample.rest.size
    answers = np.r_[sample.judged, 1.0, 0.0, 1.0, 0.0, sample.rest, 1.0, 0.0]
    y = np.r_[sample.human, 1.0, 1.0, 0.0, 0.0, np.full(m + 2, np.nan)]
    weights = np.r_[np.ones(n), [_ADDED] * 4, np.ones(m), [_ADDED] * 2]
    documents, distinct = codes(
        [*sample.documents, *added_documents[:4], *sample.rest_documents, *added_documents[4:]]
    )
    yes_weights, no_weights, unlabelled_weights = (
        weights * (y == 1.0),
        weights * (y == 0.0),
        weights * np.isnan(y),
    )
    hit_rate, alarm_rate, p = (
        float(subset @ answers / subset.sum())
        for subset in (yes_weights, no_weights, unlabelled_weights)
    )
    hit_influence, alarm_influence, p_influence = (
        subset * (answers - mean) / subset.sum()
        for subset, mean in (
            (yes_weights, hit_rate),
            (no_weights, alarm_rate),
            (unlabelled_weights, p),
        )
    )
    # p - s hits - (1 - s) alarms has influence fixed + s slope, summed within documents.
    sums = totals(
        np.column_stack([p_influence - alarm_influence, alarm_influence - hit_influence]),
        documents,
        len(distinct),
    )
    v00, v01, v11 = sums[:, 0] @ sums[:, 0], sums[:, 0] @ sums[:, 1], sums[:, 1] @ sums[:, 1]
    a, b, q = p - alarm_rate, hit_rate - alarm_rate, quantile**2
    second, first, constant = b * b - q * v11, -(a * b + q * v01), a * a - q * v00
    discriminant = first * first - second * constant
    if second <= 0.0 or discriminant < 0.0:
        return 0.0, 1.0
    midpoint, half_width = -first / second, sqrt(discriminant) / second
    return max(float(midpoint - half_width), 0.0), min(float(midpoint + half_width), 1.0)
