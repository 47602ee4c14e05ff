"""Confidence sequences: intervals that remain valid over repeated looks at growing data.

All intervals of a sequence cover simultaneously with probability `level`, under any dependence
between looks, so that one may stop at any look. A fixed interval is valid for a single look.

`spending_sequence` is the group-sequential interval of Lan and DeMets (1983, "Discrete sequential
boundaries for clinical trials", Biometrika 70), with the error spent in equal parts over a planned
number of looks. Its boundaries come from the looks' joint distribution, which a multiplier
bootstrap over documents simulates: looks at the same documents are highly correlated and cost
little error. Its coverage is approximate, like that of a t-interval, and accurate from about 20
documents.

`betting_bounds` is the betting interval of Waudby-Smith and Ramdas (2024, "Estimating means of
bounded random variables by betting", JRSS B 86), with the capital divided over constant fractions
(diversified Kelly betting). It only assumes independent documents and bounded values, and is wider.
Looks are combined by a union bound: each of T looks has error alpha / T.
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

N_DRAWS = 5000
"""Draws of the looks' joint distribution; the same at every look, so earlier bounds are fixed."""
_FRACTIONS = np.geomspace(0.03, 0.95, 14)
"""Bets, as fractions of the largest bet that cannot lose all capital; each has equal capital."""
_EDGE = 1e-9
_SMALL_FREEDOM = 20
"""Below this many degrees of freedom, the scale of Student's t is simulated exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookEstimate:
    """An estimate at one look, with the influence of each document.

    ``influence`` maps each of d documents to its linearised influence on ``value``, whose variance
    is the sum of squared influences times ``d / (d - 1)``. ``freedom`` is the number of degrees of
    freedom of Student's t.
    """

    value: float
    influence: Mapping[Hashable, float]
    freedom: int

    @property
    def standard_error(self) -> float:
        """The standard error of the value."""
        n_documents = len(self.influence)
        return sqrt(
            sum(influence**2 for influence in self.influence.values())
            * n_documents
            / max(1, n_documents - 1)
        )

    def minus(self, other: LookEstimate) -> LookEstimate:
        """Return the difference from `other`; shared documents contribute both influences."""
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
    """Return the mean over documents of one value per document; requires a document."""
    mean = sum(values.values()) / len(values)
    return LookEstimate(
        value=mean,
        influence={document: (value - mean) / len(values) for document, value in values.items()},
        freedom=len(values) - 1,
    )


def spending_sequence(
    looks: Sequence[LookEstimate], *, planned: int, level: float = 0.95
) -> tuple[Bounds | None, ...]:
    """Return the interval of each look; all cover simultaneously with probability `level`.

    The error 1 - `level` is spent in equal parts over the `planned` looks of a block, such as a
    year; every block has its own error budget. With one planned look the result is Student's
    interval. It is None for a look with fewer than 2 documents; a look with equal documents has an
    interval of width 0.
    """
    check_level(level)
    if planned < 1:
        raise StatisticsError(f"planned must be at least 1, got {planned!r}")
    intervals: list[Bounds | None] = []
    for first_look in range(0, len(looks), planned):
        intervals += _block_intervals(
            looks[first_look : first_look + planned], planned, 1.0 - level
        )
    return tuple(intervals)


def _block_intervals(
    looks: Sequence[LookEstimate], planned: int, alpha: float
) -> list[Bounds | None]:
    statistics = _simulate_statistics(looks)
    is_inside = np.ones(N_DRAWS, dtype=bool)
    intervals: list[Bounds | None] = []
    for number, look in enumerate(looks, 1):
        standard_error = look.standard_error
        if look.freedom < 1 or standard_error == 0.0:
            point = Bounds(low=look.value, high=look.value)
            intervals.append(None if look.freedom < 1 else point)
            continue
        statistics_of_look = statistics[number - 1]
        # Never wider than the interval with this look's part of the error alone.
        single_look_bound = float(stdtrit(look.freedom, 1.0 - alpha / planned / 2.0))
        bound = min(
            single_look_bound,
            _boundary(statistics_of_look, is_inside, spent=alpha * number / planned),
        )
        is_inside &= statistics_of_look <= bound
        intervals.append(
            Bounds(
                low=look.value - bound * standard_error, high=look.value + bound * standard_error
            )
        )
    return intervals


def _simulate_statistics(looks: Sequence[LookEstimate]) -> FloatArray:
    """Simulate the looks' absolute t statistics jointly under the null: shape (looks, N_DRAWS).

    Each document has one vector of normal multipliers, which depends only on its index, so that
    later looks do not change earlier ones. The vectors of documents in a single look are not kept
    in memory.
    """
    n_looks_by_document = Counter(document for look in looks for document in look.influence)
    document_index = {document: index for index, document in enumerate(n_looks_by_document)}
    column_of_document = {
        document: index
        for index, document in enumerate(d for d, n in n_looks_by_document.items() if n > 1)
    }
    weights, statistics = (
        np.zeros((len(looks), len(column_of_document))),
        np.zeros((len(looks), N_DRAWS)),
    )
    for number, look in enumerate(looks):
        for document, influence in look.influence.items():
            if document in column_of_document:
                weights[number, column_of_document[document]] = influence
            else:
                statistics[number] += influence * _multipliers(document_index[document])
    if column_of_document:
        statistics += weights @ np.array(
            [_multipliers(document_index[document]) for document in column_of_document]
        )
    scales = _simulate_scales(statistics, [max(1, look.freedom) for look in looks])
    for number, look in enumerate(looks):
        scale = sqrt(sum(influence**2 for influence in look.influence.values()))
        statistics[number] /= scale * scales[number] if scale else 1.0
    return np.asarray(np.abs(statistics))


def _simulate_scales(normals: FloatArray, freedoms: Sequence[int]) -> FloatArray:
    """Simulate the divisors that turn normal draws into Student's t, shape of `normals`.

    The correlation of two looks' estimated variances is the square of the looks' correlation; one
    variance for all looks would make the boundaries too narrow. The Cholesky factor is built row by
    row, so that later looks do not change earlier ones. From `_SMALL_FREEDOM` degrees of freedom,
    chi-square is approximated with Wilson and Hilferty's (1931) transformation.
    """
    norms = np.sqrt((normals**2).sum(axis=1))
    correlations = np.square(
        normals @ normals.T / np.maximum(np.outer(norms, norms), np.finfo(float).tiny)
    )
    np.fill_diagonal(correlations, 1.0 + _EDGE)
    scale_normals = np.linalg.cholesky(correlations) @ np.array(
        [_scale_normals(row) for row in range(len(normals))]
    )
    divisors = np.empty_like(normals)
    for number, freedom in enumerate(freedoms):
        cube_variance = 2.0 / (9.0 * freedom)
        divisors[number] = (
            2.0 * gammaincinv(freedom / 2.0, ndtr(scale_normals[number])) / freedom
            if freedom < _SMALL_FREEDOM
            else (1.0 - cube_variance + scale_normals[number] * sqrt(cube_variance)) ** 3
        )
    return np.sqrt(divisors)


@lru_cache(maxsize=512)
def _multipliers(document_index: int) -> FloatArray:
    return np.random.default_rng([1, document_index]).standard_normal(N_DRAWS)


@lru_cache(maxsize=512)
def _scale_normals(look_index: int) -> FloatArray:
    return np.random.default_rng([2, look_index]).standard_normal(N_DRAWS)


def _boundary(statistics: FloatArray, is_inside: BoolArray, *, spent: float) -> float:
    """Return the bound at which the share of draws that have ever crossed a bound is `spent`.

    `is_inside` marks the draws within the bounds of all earlier looks.
    """
    n_exits = int(spent * statistics.size + _EDGE) - int(np.count_nonzero(~is_inside))
    inside_statistics = statistics[is_inside]
    rank = inside_statistics.size - 1 - min(max(0, n_exits), inside_statistics.size - 1)
    return float(np.partition(inside_statistics, rank)[rank])


def betting_bounds(
    values: ArrayLike, *, minimum: float, maximum: float, planned: int = 1, level: float = 0.95
) -> Bounds:
    """Return the betting interval of the mean of independent values in [`minimum`, `maximum`].

    For a mean m on the unit scale and a bet of fraction f, the capital

        K(m) = mean over f of prod_i (1 + f (y_i / m - 1))

    has an expectation of at most 1 if the mean is at most m; by Markov's inequality it exceeds
    2 T / alpha with probability at most alpha / (2 T). The lower bound is the largest m that this
    test rejects; the upper bound follows from the values 1 - y. T is `planned`, the number of
    looks, and alpha is 1 - `level`.
    """
    check_level(level)
    array = vector(values, name="values")
    unit_values = (array - minimum) / (maximum - minimum)
    if array.size and (unit_values.min() < -_EDGE or unit_values.max() > 1.0 + _EDGE):
        raise StatisticsError(f"expected values from {minimum!r} to {maximum!r}")
    threshold = log(2.0 * planned / (1.0 - level))
    low, high = (
        _largest_rejected_mean(unit_values, threshold),
        1.0 - _largest_rejected_mean(1.0 - unit_values, threshold),
    )
    return Bounds(
        low=minimum + low * (maximum - minimum), high=minimum + high * (maximum - minimum)
    )


def log_capital(unit_values: FloatArray, mean: float) -> float:
    """Return log K(`mean`), the log of the capital in `betting_bounds`."""
    log_gains = np.log1p(_FRACTIONS[:, None] * (unit_values / mean - 1.0)[None, :]).sum(axis=1)
    return float(logsumexp(log_gains)) - log(_FRACTIONS.size)


def _largest_rejected_mean(unit_values: FloatArray, threshold: float) -> float:
    """Return the largest rejected mean, by root finding: the capital decreases in the mean."""

    def excess_capital(mean: float) -> float:
        return log_capital(unit_values, mean) - threshold

    if not unit_values.size or excess_capital(_EDGE) <= 0.0:
        return 0.0
    if excess_capital(1.0) > 0.0:  # pragma: no cover - no bet wins against a mean of 1
        return 1.0
    return float(brentq(excess_capital, _EDGE, 1.0, xtol=1e-10))
