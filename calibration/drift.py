"""Whether a judge that was changed agrees with people less than it did: non-inferiority on anchors.

The same labelled items (anchors) are judged before and after; what counts is the paired change in
agreement against a margin stated beforehand (Piaggio et al. 2012, CONSORT for non-inferiority).
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

FEWEST_DOCUMENTS = 5
"""Labelled documents below which no verdict is given: few that change alike have no spread."""
DriftVerdict: TypeAlias = Literal["better", "same", "worse", "constant", "cannot tell"]
DriftMeasure: TypeAlias = Literal["spearman", "agreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """Items that people labelled and a judge judged before and after a change, in step.

    ``before``, ``after`` and ``human`` are arrays of shape (n,): ratings on their scales, answers
    from 0 to 1, or preferences from -1 (the second) to 1.
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
        """How agreement is measured: Spearman's correlation, or the share of the same answer."""
        return "agreement" if PROTOCOLS[self.protocol].categorical else "spearman"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What changed, after less before, with intervals over documents.

    ``agreement`` is the figure that decides. ``shift`` is the mean change of the judge's own
    values; ``sensitivity`` and ``specificity`` are for answers of yes and no. ``reason`` says which
    side gave one value to all anchors, or nearly; ``documents_needed`` is about how many documents
    would tell, where the anchors cannot (`documents_to_tell`).
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
    """Compare a judge's agreement with people before and after a change.

    The verdict is ``"better"`` where the whole interval of the change lies above 0, ``"same"``
    where it lies above ``-margin``, ``"worse"`` where it lies below 0 and reaches beyond the
    margin, and ``"cannot tell"`` otherwise, and on fewer than `FEWEST_DOCUMENTS`. Without any
    change a verdict of worse has a probability of about ``(1 - level) / 2`` at most. `margin` is
    the largest loss of agreement that is put up with, on the scale of the measure.

    It is ``"constant"``, whatever the interval, where the judge now gives one value to all anchors
    and people do not, or to nearly all (`fairjudge.calibration.constancy.nearly_constant_judge`):
    no number of anchors would help. A constant judge's correlation with people counts as 0.

    Raises
    ------
    ConfigurationError
        If `margin` is not above 0.
    """
    if not margin > 0:
        raise ConfigurationError(f"the margin must be above 0, found {margin!r}")
    if anchors.measure == "spearman":
        levels, change = _correlations(anchors, rng=rng, level=level)
    else:
        levels, change = _shares(anchors, level=level)
    n_documents = len(set(anchors.documents))
    verdict = "cannot tell" if n_documents < FEWEST_DOCUMENTS else verdict_of(change, margin=margin)
    sides = anchors.after, anchors.human, anchors.protocol
    constant = constant_side(*sides) or nearly_constant_judge(*sides)
    if constant is not None and constant.who == "judge":
        verdict = "constant"
    return Drift(
        measure=anchors.measure,
        n_items=len(anchors.human),
        n_documents=n_documents,
        before=levels[0],
        after=levels[1],
        agreement=change,
        shift=_shift(anchors, level=level),
        sensitivity=_rate(anchors, anchors.human > 0.5, level=level),
        specificity=_rate(anchors, anchors.human < 0.5, level=level),
        verdict=verdict,
        reason="" if constant is None else constant.in_words("anchor"),
        documents_needed=(
            documents_to_tell(change, margin=margin, n_documents=n_documents)
            if verdict == "cannot tell"
            else None
        ),
    )


def verdict_of(change: Estimate | Undefined, *, margin: float) -> DriftVerdict:
    """Return what an interval of the change in agreement says, as `drift` describes."""
    if isinstance(change, Undefined) or change.low is None or change.high is None:
        return "cannot tell"
    if change.low > 0:
        return "better"
    if change.low > -margin:
        return "same"
    return "worse" if change.high < 0 else "cannot tell"


_Change: TypeAlias = tuple[tuple[float | None, float | None], Estimate | Undefined]
"""Agreement before and after, and its change."""


def _correlations(anchors: Anchors, *, rng: np.random.Generator, level: float) -> _Change:
    """Take Spearman's correlation, which is 0 where a judge is constant and people are not."""
    human, documents = anchors.human, anchors.documents
    of_people = correlation("spearman", human, human, sides=(LABELS_SIDE, LABELS_SIDE))
    if isinstance(of_people, Undefined):
        return (None, None), of_people
    people = weighted_correlation("spearman", human, human, documents=documents)
    before, after = (
        weighted_correlation("spearman", values, human, documents=documents)
        for values in (anchors.before, anchors.after)
    )

    def with_zeros(statistic: WeightedStatistic, counts: FloatArray) -> FloatArray:
        values = statistic(counts)
        is_constant = np.isnan(values) & ~np.isnan(people(counts))
        return np.where(is_constant, 0.0, values)

    n_documents = len(set(documents))
    ones = np.ones((1, n_documents))
    change = bootstrap(
        lambda counts: with_zeros(after, counts) - with_zeros(before, counts),
        n_documents=n_documents,
        rng=rng,
        level=level,
        method="expanded",
        n=human.size,
        null=0.0,
    )
    return (float(with_zeros(before, ones)[0]), float(with_zeros(after, ones)[0])), change


def _shares(anchors: Anchors, *, level: float) -> _Change:
    """Take 1 less the distance from the mean label: the expected share of the same answer."""
    width = 2.0 if PROTOCOLS[anchors.protocol].paired else 1.0
    before, after = (
        1.0 - np.abs(values - anchors.human) / width for values in (anchors.before, anchors.after)
    )
    if not before.size:
        return (None, None), Undefined(why="no item was judged in both and labelled")
    change = _mean_change(after - before, anchors.documents, level=level)
    return (float(before.mean()), float(after.mean())), change


def _shift(anchors: Anchors, *, level: float) -> Estimate | Undefined:
    """Estimate the mean change of the judge's values; answers of yes and no are a share."""
    changes = anchors.after - anchors.before
    estimate = clustered_mean(changes, anchors.documents, level=level, null=0.0)
    return clip_interval(estimate, -1.0, 1.0) if PROTOCOLS[anchors.protocol].yes_no else estimate


def _rate(anchors: Anchors, among: BoolArray, *, level: float) -> Estimate | Undefined:
    """Estimate the change in the share of right answers among those that people answer one way."""
    if not PROTOCOLS[anchors.protocol].yes_no:
        return Undefined(why="for answers of yes and no")
    rows = np.flatnonzero(among)
    nearer = np.abs(anchors.before - anchors.human) - np.abs(anchors.after - anchors.human)
    documents = [anchors.documents[row] for row in rows.tolist()]
    return _mean_change(nearer[rows], documents, level=level)


def _mean_change(
    changes: FloatArray, documents: Sequence[Hashable], *, level: float
) -> Estimate | Undefined:
    """Estimate the mean change of a share, which lies from -1 to 1."""
    return clip_interval(clustered_mean(changes, documents, level=level, null=0.0), -1.0, 1.0)


def documents_to_tell(
    change: Estimate | Undefined, *, margin: float, n_documents: int
) -> int | None:
    """Return on about how many documents there would be a verdict, were the change true.

    The ends come nearer by the square root of the documents: N = n (h / d)^2, with h the distance
    from the change to its lower end and d that to ``-margin`` for ``"same"``, and to its upper
    end and to 0 for ``"worse"``; whichever takes fewer. None without an interval.
    """
    if isinstance(change, Undefined) or change.low is None or change.high is None:
        return None
    ends = (
        (change.value - change.low, change.value + margin),
        (change.high - change.value, -change.value),
    )
    factor = min((half / distance) ** 2 for half, distance in ends if distance > 0.0)
    return max(FEWEST_DOCUMENTS, n_documents + 1, math.ceil(n_documents * factor))
