"""Label planning: for an interval of a given half-width, or to separate two systems.

The PPI++ variance with the best lambda for n labels among T judged items: with N = T - n the rest,
V(n) = v_y / n (1 - r^2 N / (n + N)), where v_y is the variance of a label and r the correlation of
label and judge (PPI++, section 6). With no judge, V(n) = v_y / n. Both times the design effect of
labels that cluster in documents.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import check_level, document_codes, same_length, vector
from fairjudge.stats.clustered import influence_variance
from fairjudge.text.counting import pluralize

FEWEST_PILOT = 10
_CURVE_POINTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Pilot estimates about labels and judge.

    ``variance`` is that of one label (or of one paired difference); ``correlation`` that of label
    and judge, 0 for a judge without spread; ``design_effect`` the factor by which clustering in
    documents multiplies the variance of the mean, at the pilot's number of labels a document.
    """

    variance: float
    correlation: float
    design_effect: float

    def half_width(self, n_labels: int, *, n_judged: int, level: float, use_judge: bool) -> float:
        """Return the half-width of the interval from `n_labels` of `n_judged` items."""
        z = -float(ndtri((1.0 - level) / 2.0))
        return z * sqrt(self.variance_of_mean(n_labels, n_judged, use_judge=use_judge))

    def variance_of_mean(self, n_labels: int, n_judged: int, *, use_judge: bool) -> float:
        """Return V(n) of this module's docstring."""
        n_unlabelled = max(0, n_judged - n_labels)
        gain = self.correlation**2 * n_unlabelled / (n_labels + n_unlabelled) if use_judge else 0.0
        return self.design_effect * self.variance / n_labels * (1.0 - gain)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Labels needed with the judge (PPI++) and without it.

    Either is None where even labelling all judged items would not do.
    """

    with_judge: int | None
    without_judge: int | None
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPoint:
    """Half-widths by number of labels."""

    n_labels: int
    with_judge: float
    without_judge: float


def pilot(
    labels: ArrayLike, judged: ArrayLike, *, documents: Sequence[Hashable] | None = None
) -> Pilot | Undefined:
    """Learn from n labelled items how many labels are needed.

    `labels` and `judged` are people's values and the judge's; for two systems, their differences
    document by document. Undefined below `FEWEST_PILOT` items, or where all labels are equal.
    """
    y, f = vector(labels, name="labels"), vector(judged, name="judged")
    n = same_length(labels=y, judged=f)
    if n < FEWEST_PILOT:
        return Undefined(
            why=f"a pilot of {pluralize(n, 'item')}: at least {FEWEST_PILOT} are needed"
        )
    variance = float(y.var(ddof=1))
    if variance == 0.0:
        return Undefined(why="every label in the pilot is the same")
    coded, d = document_codes(documents, n)
    clustered = influence_variance((y - y.mean()) / n, coded, d)
    return Pilot(
        variance=variance,
        correlation=float(np.corrcoef(y, f)[0, 1]) if np.any(f != f[0]) else 0.0,
        design_effect=max(1.0, clustered * n / variance),
    )


def labels_for_half_width(
    pilot: Pilot, half_width: float, *, n_judged: int, level: float = 0.95
) -> LabelPlan:
    """Return the minimum number of labels for an interval of at most `half_width` on either side.

    The plan's variance comes from a pilot and is itself uncertain.
    """
    check_level(level)
    if not half_width > 0.0:
        raise StatisticsError(f"half_width must be above 0, got {half_width!r}")
    variance = (half_width / -float(ndtri((1.0 - level) / 2.0))) ** 2
    return LabelPlan(
        with_judge=_fewest(pilot, variance, n_judged, use_judge=True),
        without_judge=_fewest(pilot, variance, n_judged, use_judge=False),
        half_width=half_width,
    )


def labels_to_separate(
    pilot: Pilot, difference: float, *, n_judged: int, level: float = 0.95, power: float = 0.8
) -> LabelPlan:
    """Return the fewest labelled pairs that show a true `difference` with probability `power`.

    `pilot` is the pilot of paired differences of the two systems; the test is two-sided at
    1 - `level`. ``half_width`` of the result is the half-width that this takes.
    """
    check_level(level)
    check_level(power)
    if difference == 0.0:
        return LabelPlan(with_judge=None, without_judge=None, half_width=0.0)
    z = -float(ndtri((1.0 - level) / 2.0))
    needed = abs(difference) / (z + float(ndtri(power)))
    return labels_for_half_width(pilot, z * needed, n_judged=n_judged, level=level)


def planning_curve(pilot: Pilot, *, n_judged: int, level: float = 0.95) -> tuple[PlanPoint, ...]:
    """Return half-widths for numbers of labels from `FEWEST_PILOT` to `n_judged`, log-spaced."""
    check_level(level)
    if n_judged < FEWEST_PILOT:
        return ()
    counts = np.unique(np.geomspace(FEWEST_PILOT, n_judged, _CURVE_POINTS).round().astype(int))

    def half_width(count: int, *, use_judge: bool) -> float:
        return pilot.half_width(count, n_judged=n_judged, level=level, use_judge=use_judge)

    return tuple(
        PlanPoint(
            n_labels=count,
            with_judge=half_width(count, use_judge=True),
            without_judge=half_width(count, use_judge=False),
        )
        for count in counts.tolist()
    )


def _fewest(pilot_sample: Pilot, variance: float, n_judged: int, *, use_judge: bool) -> int | None:
    """Bisect: the variance falls as labels grow."""

    def is_enough(n_labels: int) -> bool:
        return pilot_sample.variance_of_mean(n_labels, n_judged, use_judge=use_judge) <= variance

    if not is_enough(n_judged):
        return None
    return 1 + bisect_left(range(1, n_judged + 1), x=True, key=is_enough)
