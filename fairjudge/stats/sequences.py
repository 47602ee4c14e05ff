"""Confidence sequences: intervals that stay valid over repeated looks at growing data.

All intervals of one sequence hold simultaneously with probability `level`, however the looks depend
on one another, so that one may stop at any of them. A fixed interval is valid for one look only.

`spending_sequence` is the group-sequential interval of Lan and DeMets (1983, "Discrete sequential
boundaries for clinical trials", Biometrika 70) with error spent in equal parts over a planned
number of looks. Its boundaries come from the looks' joint distribution, simulated by a multiplier
bootstrap over documents: looks at the same documents are highly correlated and cost little error.
Its coverage is that of a t-interval: approximate, and good from about 20 documents.

`betting_bounds` is the betting interval of Waudby-Smith and Ramdas (2024, "Estimating means of
bounded random variables by betting", JRSS B 86), with capital divided over constant fractions
(their diversified Kelly betting). It assumes only independent documents and bounded values, and is
wider. Looks are combined by a union bound: each of T looks has the error alpha / T.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaincinv, logsumexp, ndtr, stdtrit

from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import BoolArray, FloatArray, check_level, vector
from fairjudge.stats.bootstrap import Bounds

N_DRAWN = 5000
"""Draws of the looks' joint distribution; the same at every look, so that earlier bounds stay."""
_FRACTIONS = np.geomspace(0.03, 0.95, 14)
"""Bets as fractions of the largest one that cannot lose everything, with equal capital each."""
_EDGE = 1e-9
_FEW = 20
"""Degrees of freedom below which Student's scale is drawn exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookEstimate:
    """An estimate at one look, with the influence of each document.

    ``influence`` is the linearised influence of each document on ``value``, whose variance is the
    sum of squares times ``d / (d - 1)``; ``freedom`` are Student's degrees of freedom.
    """

    value: float
    influence: Mapping[Hashable, float]
    freedom: int

    @property
    def standard_error(self) -> float:
        """The standard error of the value."""
        d = len(self.influence)
        return sqrt(sum(part**2 for part in self.influence.values()) * d / max(1, d - 1))

    def minus(self, other: LookEstimate) -> LookEstimate:
        """Return the difference; documents in both contribute once, with both influences."""
        documents = dict.fromkeys((*self.influence, *other.influence))
        return LookEstimate(
            value=self.value - other.value,
            influence={
                document: self.influence.get(document, 0.0) - other.influence.get(document, 0.0)
                for document in documents
            },
            freedom=min(self.freedom, other.freedom),
        )


def mean_at_look(values: Mapping[Any, float]) -> LookEstimate:
    """Return the mean of one value per document, for at least one document."""
    mean = sum(values.values()) / len(values)
    return LookEstimate(
        value=mean,
        influence={document: (value - mean) / len(values) for document, value in values.items()},
        freedom=len(values) - 1,
    )


def spending_sequence(
    looks: Sequence[LookEstimate], *, planned: int, level: float = 0.95
) -> tuple[Bounds | None, ...]:
    """Return the interval of each look; all hold simultaneously with probability `level`.

    The error 1 - `level` is spent in equal parts over the `planned` looks of a block, such as a
    year; each block has its own. With one planned look it is Student's interval. None for a look
    with fewer than 2 documents; a look without spread has an interval of one point.
    """
    check_level(level)
    if planned < 1:
        raise StatisticsError(f"planned must be at least 1, got {planned!r}")
    intervals: list[Bounds | None] = []
    for start in range(0, len(looks), planned):
        intervals += _block(looks[start : start + planned], planned, 1.0 - level)
    return tuple(intervals)


def _block(looks: Sequence[LookEstimate], planned: int, alpha: float) -> list[Bounds | None]:
    sizes = _drawn_sizes(looks)
    inside = np.ones(N_DRAWN, dtype=bool)
    intervals: list[Bounds | None] = []
    for number, look in enumerate(looks, 1):
        error = look.standard_error
        if look.freedom < 1 or error == 0.0:
            point = Bounds(low=look.value, high=look.value)
            intervals.append(None if look.freedom < 1 else point)
            continue
        size = sizes[number - 1]
        # Never wider than an interval that has this look's part of the error on its own.
        alone = float(stdtrit(look.freedom, 1.0 - alpha / planned / 2.0))
        bound = min(alone, _boundary(size, inside, spent=alpha * number / planned))
        inside &= size <= bound
        intervals.append(Bounds(low=look.value - bound * error, high=look.value + bound * error))
    return intervals


def _drawn_sizes(looks: Sequence[LookEstimate]) -> FloatArray:
    """Simulate the looks' absolute Student statistics under the null hypothesis, jointly.

    Each document has one vector of normal multipliers, which depends on its index only, so that
    later looks do not change earlier ones; those of documents in a single look are not kept in
    memory. Returns shape (looks, N_DRAWN).
    """
    times = Counter(document for look in looks for document in look.influence)
    place = {document: at for at, document in enumerate(times)}
    column = {document: at for at, document in enumerate(d for d, n in times.items() if n > 1)}
    weights, statistics = np.zeros((len(looks), len(column))), np.zeros((len(looks), N_DRAWN))
    for number, look in enumerate(looks):
        for document, part in look.influence.items():
            if document in column:
                weights[number, column[document]] = part
            else:
                statistics[number] += part * _multipliers(place[document])
    if column:
        statistics += weights @ np.array([_multipliers(place[document]) for document in column])
    scales = _drawn_scales(statistics, [max(1, look.freedom) for look in looks])
    for number, look in enumerate(looks):
        spread = sqrt(sum(part**2 for part in look.influence.values()))
        statistics[number] /= spread * scales[number] if spread else 1.0
    return np.asarray(np.abs(statistics))


def _drawn_scales(normals: FloatArray, freedoms: Sequence[int]) -> FloatArray:
    """Return the divisors that turn normal draws into Student's t, shape of `normals`.

    The estimated variances of two looks correlate as the square of what the looks do; one variance
    for all looks would make the boundaries too narrow. Computed row by row (Cholesky), so that
    later looks do not change earlier ones. Wilson and Hilferty's (1931) approximation of chi-square
    but for few degrees of freedom.
    """
    sizes = np.sqrt((normals**2).sum(axis=1))
    alike = np.square(
        normals @ normals.T / np.maximum(np.outer(sizes, sizes), np.finfo(float).tiny)
    )
    np.fill_diagonal(alike, 1.0 + _EDGE)
    normal = np.linalg.cholesky(alike) @ np.array(
        [_scale_draws(row) for row in range(len(normals))]
    )
    divisors = np.empty_like(normals)
    for number, freedom in enumerate(freedoms):
        of_cube = 2.0 / (9.0 * freedom)
        divisors[number] = (
            2.0 * gammaincinv(freedom / 2.0, ndtr(normal[number])) / freedom
            if freedom < _FEW
            else (1.0 - of_cube + normal[number] * sqrt(of_cube)) ** 3
        )
    return np.sqrt(divisors)


@lru_cache(maxsize=512)
def _multipliers(place: int) -> FloatArray:
    return np.random.default_rng([1, place]).standard_normal(N_DRAWN)


@lru_cache(maxsize=512)
def _scale_draws(number: int) -> FloatArray:
    return np.random.default_rng([2, number]).standard_normal(N_DRAWN)


def _boundary(size: FloatArray, inside: BoolArray, *, spent: float) -> float:
    """Return the bound at which the share of draws ever outside reaches `spent`.

    `inside` marks the draws that were within the bounds of all earlier looks.
    """
    may_leave = int(spent * size.size + _EDGE) - int(np.count_nonzero(~inside))
    remaining = size[inside]
    at = remaining.size - 1 - min(max(0, may_leave), remaining.size - 1)
    return float(np.partition(remaining, at)[at])


def betting_bounds(
    values: ArrayLike, *, least: float, most: float, planned: int = 1, level: float = 0.95
) -> Bounds:
    """Return bounds of the mean of independent values between `least` and `most`.

    For a mean m on the unit scale and a bet of fraction f, the capital

        K(m) = mean over f of prod_i (1 + f (y_i / m - 1))

    has an expectation of at most 1 if the mean is at most m; it exceeds 2 T / alpha with a
    probability of at most alpha / (2 T) (Markov). The low bound is the largest m that this
    rejects; the high bound is the same for 1 - y. T is `planned`, the number of looks, and alpha
    is 1 - `level`.
    """
    check_level(level)
    array = vector(values, name="values")
    unit = (array - least) / (most - least)
    if array.size and (unit.min() < -_EDGE or unit.max() > 1.0 + _EDGE):
        raise StatisticsError(f"expected values from {least!r} to {most!r}")
    threshold = log(2.0 * planned / (1.0 - level))
    low, high = _lowest(unit, threshold), 1.0 - _lowest(1.0 - unit, threshold)
    return Bounds(low=least + low * (most - least), high=least + high * (most - least))


def log_capital(unit: FloatArray, mean: float) -> float:
    """Return log K(`mean`), the logarithm of the capital in `betting_bounds`."""
    gains = np.log1p(_FRACTIONS[:, None] * (unit / mean - 1.0)[None, :]).sum(axis=1)
    return float(logsumexp(gains)) - log(_FRACTIONS.size)


def _lowest(unit: FloatArray, threshold: float) -> float:
    """Return the largest rejected mean by bisection: the capital falls as the mean rises."""

    def beyond(mean: float) -> float:
        return log_capital(unit, mean) - threshold

    if not unit.size or beyond(_EDGE) <= 0.0:
        return 0.0
    if beyond(1.0) > 0.0:  # pragma: no cover - no bet wins against a mean of 1
        return 1.0
    return float(brentq(beyond, _EDGE, 1.0, xtol=1e-10))
