"""How often a yes-or-no judge errs, and prevalence corrected for it, with both errors' share.

Rogan and Gladen (1978): where the judge says yes to a share p, has sensitivity q1 and specificity
q0, the true share is ``(p + q0 - 1) / (q0 + q1 - 1)``. It needs the judge to err as often on the
items in question as on the labelled ones; how often the answer is yes may differ. PPI needs the
labelled items to be exchangeable with the others; the judge may err as it will.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from fairjudge.calibration.drawn_ppi import PartlyLabelled, sample_mean
from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, check_level, codes, same_length, totals, vector
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.intervals import clustered_wilson

YES_OR_NO = (0.0, 1.0)
FEWEST_OF_EACH = 5
"""Labelled items with each answer that a correction needs."""
_ADDED = 0.5
METHOD = "Rogan-Gladen, Fieller interval, variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(PartlyLabelled):
    """Yes (1) or no (0), item by item."""

    def __post_init__(self) -> None:
        PartlyLabelled.__post_init__(self)
        for name in ("judged", "human", "rest"):
            if not np.all(np.isin(getattr(self, name), YES_OR_NO)):
                raise StatisticsError(f"{name} must be 0 or 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """Shares in [0, 1]. Predictive values hold where yes is as common as among the labelled."""

    sensitivity: Estimate | Undefined
    specificity: Estimate | Undefined
    positive_predictive_value: Estimate | Undefined
    negative_predictive_value: Estimate | Undefined
    n_yes: int
    n_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """The share of yes among all items of a population, in [0, 1], estimated in four ways.

    ``judged`` takes the judge at its word; ``labelled`` the labels alone; ``corrected`` is
    Rogan's and Gladen's; ``ppi`` PPI++'s. ``n`` counts the items, ``n_labelled`` those with a label
    among them.
    """

    judged: Estimate | Undefined
    labelled: Estimate | Undefined
    corrected: Estimate | Undefined
    ppi: Estimate | Undefined
    n: int
    n_labelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesReport:
    """A yes-or-no judge's errors, and the share of yes; ``n_split`` items people are split on."""

    errors: ErrorRates
    n_split: int
    prevalence: Prevalence | Undefined
    by_system: Mapping[str, Prevalence]


def group_rates(joined: Joined, *, level: float = 0.95) -> RatesReport | None:
    """Return error rates, and prevalence over all systems and by system; None for other scales.

    None also where labels are means over parts: these say neither yes nor no.
    An item's label is what most annotators say; items on which they are split half and half are
    left out and counted, as are items whose repeats differ. The error rates are those of all
    systems together, also where one system's prevalence is corrected.
    """
    scales = joined.judge_scale, joined.label_scale
    yes_no = PROTOCOLS[joined.protocol].yes_no and scales == (YES_OR_NO, YES_OR_NO)
    if joined.averaged_labels or not yes_no:
        return None
    rows = np.flatnonzero((joined.human != 0.5) & np.isin(joined.judged, YES_OR_NO))
    unlabelled = np.flatnonzero(np.isin(joined.judged_rest, YES_OR_NO))
    labels = (joined.human[rows] > 0.5).astype(np.float64)
    documents = [joined.documents[row] for row in rows]
    errors = error_rates(joined.judged[rows], labels, documents, level=level)
    n_split = len(joined.keys) - int(rows.size)
    if joined.inclusion_probabilities is not None:
        why = Undefined(why="items were sampled for labelling with unequal probabilities")
        return RatesReport(errors=errors, n_split=n_split, prevalence=why, by_system={})
    names = np.array([system_name(joined.rest[row]) for row in unlabelled], dtype=object)

    def shares(keep: np.ndarray) -> Prevalence:
        sample = Answers(
            judged=joined.judged[rows],
            human=labels,
            documents=documents,
            rest=joined.judged_rest[unlabelled[keep]],
            rest_documents=[joined.rest[row][0] for row in unlabelled[keep]],
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

    Wilson intervals with the effective number of items over documents. A rate without items (no
    label says yes) is Undefined.
    """
    f, y = vector(judged, name="judged"), vector(labels, name="labels")
    same_length(judged=f, labels=y, documents=documents)

    def share(hits: FloatArray, among: np.ndarray) -> Estimate | Undefined:
        rows = np.flatnonzero(among)
        return clustered_wilson(hits[rows], [documents[row] for row in rows.tolist()], level=level)

    return ErrorRates(
        sensitivity=share(f, y == 1.0),
        specificity=share(1.0 - f, y == 0.0),
        positive_predictive_value=share(y, f == 1.0),
        negative_predictive_value=share(1.0 - y, f == 0.0),
        n_yes=int(np.sum(y == 1.0)),
        n_no=int(np.sum(y == 0.0)),
    )


def prevalence(sample: Answers, *, level: float = 0.95) -> Prevalence:
    """Estimate the share of yes among the items without a label, or among all where all have one.

    Where every item is labelled nothing is to be corrected: ``labelled`` is the figure to report.
    """
    labelled = clip_interval(clustered_mean(sample.human, sample.documents, level=level), 0.0, 1.0)
    if not sample.rest.size:
        n = sample.judged.size
        judged = clustered_wilson(sample.judged, sample.documents, level=level)
        why = Undefined(why="all judged items are labelled: nothing is to be corrected")
        return Prevalence(
            judged=judged, labelled=labelled, corrected=why, ppi=why, n=n, n_labelled=n
        )
    ppi_mean = sample_mean(sample, level=level)
    return Prevalence(
        judged=clustered_wilson(sample.rest, sample.rest_documents, level=level),
        labelled=labelled,
        corrected=rogan_gladen(sample, level=level),
        ppi=clip_interval(ppi_mean.ppi_plus, 0.0, 1.0)
        if isinstance(ppi_mean, PpiMean)
        else ppi_mean,
        n=sample.rest.size,
        n_labelled=0,
    )


def rogan_gladen(sample: Answers, *, level: float = 0.95) -> Estimate | Undefined:
    """Estimate the share of yes among ``rest``, corrected by the error rates on the labelled.

    The interval holds every share s for which ``p - s q1 - (1 - s)(1 - q0)`` is no further from 0
    than its own standard error allows (Fieller 1954), linearised over documents, so that it carries
    the errors of p, q1 and q0 together; Student's quantile on the documents - 1. Half an item of
    each answer is added to each count (Jeffreys; Lee et al. 2025, arXiv:2511.21140, add one): a
    judge without an observed error is not thereby without errors. A judge that is not shown to be
    better than chance gives [0, 1]. Undefined for fewer than `FEWEST_OF_EACH` labels of either
    kind, no ``rest``, or a judge that says yes no more often where people do.
    """
    check_level(level)
    f, y, unlabelled = sample.judged, sample.human, sample.rest
    n_yes, n_no = int(np.sum(y == 1.0)), int(np.sum(y == 0.0))
    if min(n_yes, n_no) < FEWEST_OF_EACH:
        return Undefined(
            why=f"labels of yes: {n_yes}, of no: {n_no}; {FEWEST_OF_EACH} of each are needed"
        )
    if not unlabelled.size:
        return Undefined(why="no items without a label")
    hits, alarms = float(f[y == 1.0].mean()), float(f[y == 0.0].mean())
    if hits <= alarms:
        return Undefined(why="the judge says yes no more often where people do than where not")
    freedom = min(len(set(sample.documents)), len(set(sample.rest_documents))) - 1
    value = float(np.clip((unlabelled.mean() - alarms) / (hits - alarms), 0.0, 1.0))
    n = int(unlabelled.size)
    if freedom < 1:
        return Estimate(value=value, n=n, level=level, method="no interval: fewer than 2 documents")
    low, high = _fieller(sample, float(stdtrit(freedom, (1.0 + level) / 2.0)))
    return Estimate(
        value=value, n=n, low=min(low, value), high=max(high, value), level=level, method=METHOD
    )


def _fieller(sample: Answers, quantile: float) -> tuple[float, float]:
    """Return the shares s in [0, 1] at which ``(a - b s)^2 <= quantile^2 V(s)``."""
    added = [("added", k) for k in range(6)]
    n, m = sample.judged.size, sample.rest.size
    answers = np.r_[sample.judged, 1.0, 0.0, 1.0, 0.0, sample.rest, 1.0, 0.0]
    y = np.r_[sample.human, 1.0, 1.0, 0.0, 0.0, np.full(m + 2, np.nan)]
    weights = np.r_[np.ones(n), [_ADDED] * 4, np.ones(m), [_ADDED] * 2]
    documents, distinct = codes([*sample.documents, *added[:4], *sample.rest_documents, *added[4:]])
    yes, no, unlabelled = weights * (y == 1.0), weights * (y == 0.0), weights * np.isnan(y)
    hits, alarms, p = (float(side @ answers / side.sum()) for side in (yes, no, unlabelled))
    of_hits, of_alarms, of_p = (
        side * (answers - mean) / side.sum()
        for side, mean in ((yes, hits), (no, alarms), (unlabelled, p))
    )
    # p - s hits - (1 - s) alarms has influence fixed + s slope, summed within documents.
    sums = totals(
        np.column_stack([of_p - of_alarms, of_alarms - of_hits]), documents, len(distinct)
    )
    v00, v01, v11 = sums[:, 0] @ sums[:, 0], sums[:, 0] @ sums[:, 1], sums[:, 1] @ sums[:, 1]
    a, b, q = p - alarms, hits - alarms, quantile**2
    second, first, constant = b * b - q * v11, -(a * b + q * v01), a * a - q * v00
    inside = first * first - second * constant
    if second <= 0.0 or inside < 0.0:
        return 0.0, 1.0
    middle, half = -first / second, sqrt(inside) / second
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)
