"""Non-inferiority tests of a judge's agreement with human labels after a change to the judge.

The same labelled items (anchors) are judged before and after the change. The paired change in
agreement is compared with a pre-specified margin (Piaggio et al. 2012, CONSORT for
non-inferiority).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.constancy import constant_side, nearly_constant_judge
from fairjudge.calibration.items import LABELS_SIDE
from fairjudge.domain import Estimate, ProtocolName, Undefined
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import BoolArray, FloatArray, same_length
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.correlation import correlation, weighted_correlation

MIN_DOCUMENTS = 5
"""Minimum number of labelled documents for a verdict: few equal changes have no variance."""
DriftVerdict: TypeAlias = Literal["better", "same", "worse", "constant", "cannot tell"]
DriftMeasure: TypeAlias = Literal["spearman", "agreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """Labelled items that a judge judged before and after a change.

    ``before``, ``after`` and ``human`` have shape (n,): ratings on their scales, answers from 0 to
    1, or preferences from -1 (the second) to 1 (the first).
    """

    before: FloatArray
    after: FloatArray
    human: FloatArray
    documents: Sequence[Hashable]
    protocol: ProtocolName

    def __post_init__(self) -> None:
        same_length(
            before=self.before, after=self.after, human=self.human, documents=self.documents
        )

    @property
    def measure(self) -> DriftMeasure:
        """The measure of agreement: Spearman's correlation, or the share of equal answers."""
        return "agreement" if PROTOCOLS[self.protocol].categorical else "spearman"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Changes (after - before), with intervals over documents.

    The verdict depends on the change in ``agreement``. ``shift`` is the mean change of the judge's
    values; ``sensitivity`` and ``specificity`` are for yes-or-no answers. ``reason`` describes the
    side that gave one value to all, or nearly all, anchors. ``documents_needed`` is the approximate
    number of documents for a verdict, if the verdict is "cannot tell" (`documents_for_verdict`).
    """

    measure: DriftMeasure
    n_items: int
    n_documents: int
    before: float | None
    after: float | None
    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    sensitivity: Estimate | Undefined
    specificity: Estimate | Undefined
    verdict: DriftVerdict
    reason: str
    documents_needed: int | None


def drift(
    anchors: Anchors, *, margin: float, rng: np.random.Generator, level: float = 0.95
) -> Drift:
    """Compare a judge's agreement with human labels before and after a change.

    The verdict is ``"better"`` if the whole interval of the change is above 0, ``"same"`` if it is
    above ``-margin``, ``"worse"`` if it is below 0 and not above ``-margin``, otherwise
    ``"cannot tell"``, which is also the verdict with fewer than `MIN_DOCUMENTS` documents. If
    nothing changed, the probability of the verdict ``"worse"`` is at most about
    ``(1 - level) / 2``. `margin` is the largest tolerated loss of agreement, on the scale of the
    measure.

    Regardless of the interval, the verdict is ``"constant"`` if the judge now gives all, or nearly
    all, anchors the same value although labels differ
    (`fairjudge.calibration.constancy.nearly_constant_judge`), since more anchors would not help.
    The correlation of a constant judge with labels counts as 0.

    Raises
    ------
    ConfigurationError
        If `margin` is not above 0.
    """
    if not margin > 0:
        raise ConfigurationError(f"the margin must be above 0, found {margin!r}")
    if anchors.measure == "spearman":
        agreement_levels, change = _correlation_change(anchors, rng=rng, level=level)
    else:
        agreement_levels, change = _agreement_change(anchors, level=level)
    n_documents = len(set(anchors.documents))
    verdict = (
        "cannot tell" if n_documents < MIN_DOCUMENTS else verdict_on_change(change, margin=margin)
    )
    constancy_arguments = anchors.after, anchors.human, anchors.protocol
    constant = constant_side(*constancy_arguments) or nearly_constant_judge(*constancy_arguments)
    if constant is not None and constant.who == "judge":
        verdict = "constant"
    return Drift(
        measure=anchors.measure,
        n_items=len(anchors.human),
        n_documents=n_documents,
        before=agreement_levels[0],
        after=agreement_levels[1],
        agreement=change,
        shift=_shift(anchors, level=level),
        sensitivity=_rate_change(anchors, anchors.human > 0.5, level=level),
        specificity=_rate_change(anchors, anchors.human < 0.5, level=level),
        verdict=verdict,
        reason="" if constant is None else constant.in_words("anchor"),
        documents_needed=(
            documents_for_verdict(change, margin=margin, n_documents=n_documents)
            if verdict == "cannot tell"
            else None
        ),
    )


def verdict_on_change(change: Estimate | Undefined, *, margin: float) -> DriftVerdict:
    """Return the verdict that follows from the interval of the change in agreement, see `drift`."""
    if isinstance(change, Undefined) or change.low is None or change.high is None:
        return "cannot tell"
    if change.low > 0:
        return "better"
    if change.low > -margin:
        return "same"
    return "worse" if change.high < 0 else "cannot tell"


_Change: TypeAlias = tuple[tuple[float | None, float | None], Estimate | Undefined]
"""Agreement before and after, and its change."""


def _correlation_change(anchors: Anchors, *, rng: np.random.Generator, level: float) -> _Change:
    """Measure the change of Spearman's correlation, which counts as 0 for a constant judge."""
    human, documents = anchors.human, anchors.documents
    human_correlation = correlation("spearman", human, human, sides=(LABELS_SIDE, LABELS_SIDE))
    if isinstance(human_correlation, Undefined):
        return (None, None), human_correlation
    human_statistic = weighted_correlation("spearman", human, human, documents=documents)
    before, after = (
        weighted_correlation("spearman", values, human, documents=documents)
        for values in (anchors.before, anchors.after)
    )

    def replace_undefined(statistic: WeightedStatistic, counts: FloatArray) -> FloatArray:
        values = statistic(counts)
        is_constant = np.isnan(values) & ~np.isnan(human_statistic(counts))
        return np.where(is_constant, 0.0, values)

    n_documents = len(set(documents))
    ones = np.ones((1, n_documents))
    change = bootstrap(
        lambda counts: replace_undefined(after, counts) - replace_undefined(before, counts),
        n_documents=n_documents,
        rng=rng,
        level=level,
        method="expanded",
        n=human.size,
        null=0.0,
    )
    return (
        float(replace_undefined(before, ones)[0]),
        float(replace_undefined(after, ones)[0]),
    ), change


def _agreement_change(anchors: Anchors, *, level: float) -> _Change:
    """Measure the change of 1 - (distance from the mean label), the expected share of agreement."""
    width = 2.0 if PROTOCOLS[anchors.protocol].paired else 1.0
    before, after = (
        1.0 - np.abs(values - anchors.human) / width for values in (anchors.before, anchors.after)
    )
    if not before.size:
        return (None, None), Undefined(why="no item was judged in both and labelled")
    change = _mean_change(after - before, anchors.documents, level=level)
    return (float(before.mean()), float(after.mean())), change


def _shift(anchors: Anchors, *, level: float) -> Estimate | Undefined:
    """Estimate the mean change of the judge's values, clipped to [-1, 1] for yes-or-no answers."""
    changes = anchors.after - anchors.before
    estimate = clustered_mean(changes, anchors.documents, level=level, null=0.0)
    return clip_interval(estimate, -1.0, 1.0) if PROTOCOLS[anchors.protocol].yes_no else estimate


def _rate_change(anchors: Anchors, mask: BoolArray, *, level: float) -> Estimate | Undefined:
    """Estimate the change in the share of correct answers among the items in `mask`."""
    if not PROTOCOLS[anchors.protocol].yes_no:
        return Undefined(why="for answers of yes and no")
    rows = np.flatnonzero(mask)
    error_reductions = np.abs(anchors.before - anchors.human) - np.abs(
        anchors.after - anchors.human
    )
    documents = [anchors.documents[row] for row in rows.tolist()]
    return _mean_change(error_reductions[rows], documents, level=level)


def _mean_change(
    changes: FloatArray, documents: Sequence[Hashable], *, level: float
) -> Estimate | Undefined:
    """Estimate the mean change of a share, in [-1, 1]."""
    return clip_interval(clustered_mean(changes, documents, level=level, null=0.0), -1.0, 1.0)


def documents_for_verdict(
    change: Estimate | Undefined, *, margin: float, n_documents: int
) -> int | None:
    """Return the approximate number of documents for a verdict, if the estimated change is true.

    Half-widths shrink with the square root of the number of documents: N = n (h / d)^2. For
    ``"same"``, h is the distance from the change to its lower bound and d the distance to
    ``-margin``; for ``"worse"``, to its upper bound and to 0. The smaller N is returned; None
    without an interval.
    """
    if isinstance(change, Undefined) or change.low is None or change.high is None:
        return None
    distances = (
        (change.value - change.low, change.value + margin),
        (change.high - change.value, -change.value),
    )
    factor = min(
        (half_width / distance) ** 2 for half_width, distance in distances if distance > 0.0
    )
    return max(MIN_DOCUMENTS, n_documents + 1, math.ceil(n_documents * factor))
