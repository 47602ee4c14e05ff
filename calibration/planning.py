"""Planning of numbers of labels, for an interval of a given half-width or to separate two systems.

With n labels among T judged items, and N = T - n, the PPI++ variance for the best lambda is
V(n) = v_y / n (1 - r^2 N / (n + N)), where v_y is the variance of a label and r the correlation of
label and judge (PPI++, section 6). Without a judge, V(n) = v_y / n. Both are multiplied by the
design effect of labels clustered in documents.
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

MIN_PILOT = 10
_CURVE_POINTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Estimates from a pilot of labels.

    ``variance`` is the variance of one label (or of one paired difference). ``correlation`` is
    between label and judge, 0 for a constant judge. ``design_effect`` is the factor by which
    clustering in documents multiplies the variance of the mean, at the pilot's number of labels
    per document.
    """

    variance: float
    correlation: float
    design_effect: float

    def half_width(self, n_labels: int, *, n_judged: int, level: float, use_judge: bool) -> float:
        """Return the half-width of the interval with labels of `n_labels` of `n_judged` items."""
        z = -float(ndtri((1.0 - level) / 2.0))
        return z * sqrt(self.variance_of_mean(n_labels, n_judged, use_judge=use_judge))

    def variance_of_mean(self, n_labels: int, n_judged: int, *, use_judge: bool) -> float:
        """Return the variance V(n) of the mean, see the module's docstring."""
        n_unlabelled = max(0, n_judged - n_labels)
        gain = self.correlation**2 * n_unlabelled / (n_labels + n_unlabelled) if use_judge else 0.0
        return self.design_effect * self.variance / n_labels * (1.0 - gain)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Number of labels required with the judge (PPI++) and without it.

    None if labelling all judged items is not enough.
    """

    with_judge: int | None
    without_judge: int | None
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPoint:
    """Half-widths of the interval, with and without the judge, for a number of labels."""

    n_labels: int
    with_judge: float
    without_judge: float


def estimate_pilot(
    labels: ArrayLike, judged: ArrayLike, *, documents: Sequence[Hashable] | None = None
) -> Pilot | Undefined:
    """Estimate the quantities for label planning from n labelled items.

    `labels` and `judged` are human values and the judge's values; for two systems, their paired
    differences. Undefined with fewer than `MIN_PILOT` items, or if all labels are equal.
    """
    y, f = vector(labels, name="labels"), vector(judged, name="judged")
    n = same_length(labels=y, judged=f)
    if n < MIN_PILOT:
        return Undefined(why=f"a pilot of {pluralize(n, 'item')}: at least {MIN_PILOT} are needed")
    variance = float(y.var(ddof=1))
    if variance == 0.0:
        return Undefined(why="every label in the pilot is the same")
    row_documents, n_documents = document_codes(documents, n)
    clustered_variance = influence_variance((y - y.mean()) / n, row_documents, n_documents)
    return Pilot(
        variance=variance,
        correlation=float(np.corrcoef(y, f)[0, 1]) if np.any(f != f[0]) else 0.0,
        design_effect=max(1.0, clustered_variance * n / variance),
    )


def labels_for_half_width(
    pilot: Pilot, half_width: float, *, n_judged: int, level: float = 0.95
) -> LabelPlan:
    """Return the minimum number of labels for an interval with at most the given `half_width`.

    The variance is estimated from a pilot, and therefore uncertain.
    """
    check_level(level)
    if not half_width > 0.0:
        raise StatisticsError(f"half_width must be above 0, got {half_width!r}")
    variance = (half_width / -float(ndtri((1.0 - level) / 2.0))) ** 2
    return LabelPlan(
        with_judge=_min_labels(pilot, variance, n_judged, use_judge=True),
        without_judge=_min_labels(pilot, variance, n_judged, use_judge=False),
        half_width=half_width,
    )


def labels_to_separate(
    pilot: Pilot,
    difference: float,
    *,
    n_judged: int,
    level: float = 0.95,
    power: float = 0.8,
) -> LabelPlan:
    """Return the minimum number of labelled pairs that detect `difference` with the given `power`.

    `pilot` is that of the paired differences of two systems; the test is two-sided at 1 - `level`.
    ``half_width`` of the result is the corresponding half-width.
    """
    check_level(level)
    check_level(power)
    if difference == 0.0:
        return LabelPlan(with_judge=None, without_judge=None, half_width=0.0)
    z = -float(ndtri((1.0 - level) / 2.0))
    max_standard_error = abs(difference) / (z + float(ndtri(power)))
    return labels_for_half_width(pilot, z * max_standard_error, n_judged=n_judged, level=level)


def planning_curve(pilot: Pilot, *, n_judged: int, level: float = 0.95) -> tuple[PlanPoint, ...]:
    """Return half-widths for numbers of labels from `MIN_PILOT` to `n_judged`, log-spaced."""
    check_level(level)
    if n_judged < MIN_PILOT:
        return ()
    counts = np.unique(np.geomspace(MIN_PILOT, n_judged, _CURVE_POINTS).round().astype(int))

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


def _min_labels(
    pilot_sample: Pilot, variance: float, n_judged: int, *, use_judge: bool
) -> int | None:
    """Return the minimum number of labels for `variance`, by bisection; None if all are too few."""

    def is_enough(n_labels: int) -> bool:
        return pilot_sample.variance_of_mean(n_labels, n_judged, use_judge=use_judge) <= variance

    if not is_enough(n_judged):
        return None
    return 1 + bisect_left(range(1, n_judged + 1), x=True, key=is_enough)
