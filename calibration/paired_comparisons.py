"""Designs of paired comparisons, and fits of regression models on them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import softmax, stdtrit

from fairjudge.domain import Estimate
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    codes,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.clustered import t_estimate
from fairjudge.stats.strengths import Connection, count_components

MIN_DOCUMENTS = 5
"""Minimum number of documents for intervals; with fewer the variance cannot be estimated."""
_ROUNDING = 1e-9
"""Difference of strengths, in log-odds, below which systems share a rank (rounding errors)."""
_N_DRAWS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Pairwise judgements; all fields have length n.

    ``wins`` is 1 for system_a, 0 for system_b, 0.5 for a tie. ``positions`` is 1 if a was shown
    first, -1 if b was, 0 if unknown.
    """

    wins: FloatArray
    system_a: tuple[str, ...]
    system_b: tuple[str, ...]
    positions: FloatArray
    documents: tuple[Hashable, ...]


def check_comparisons(comparisons: Comparisons) -> None:
    """Raise a `StatisticsError` for unequal lengths or undocumented values."""
    same_length(
        wins=vector(comparisons.wins, name="wins"),
        system_a=comparisons.system_a,
        system_b=comparisons.system_b,
        positions=vector(comparisons.positions, name="positions"),
        documents=comparisons.documents,
    )
    if not np.all(np.isin(comparisons.wins, (0.0, 0.5, 1.0))):
        raise StatisticsError("wins must be 0, 0.5 or 1")
    if not np.all(np.isin(comparisons.positions, (-1.0, 0.0, 1.0))):
        raise StatisticsError("positions must be -1, 0 or 1")
    for a, b in zip(comparisons.system_a, comparisons.system_b, strict=True):
        if a == b:
            raise StatisticsError(f"a comparison must hold two different systems, got {a!r} twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Design matrices of comparisons.

    ``pairs``, shape (n, systems), is 1 for a and -1 for b; ``design``, shape (n, k), adds the
    position if its effect is identified. ``places``, shape (n, 2), are the codes of a and b.
    ``outcomes``, shape (n, 3), indicate the outcome: a, b or a tie.
    """

    names: tuple[str, ...]
    places: IntArray
    pairs: FloatArray
    design: FloatArray
    outcomes: FloatArray
    has_position: bool
    confounded: bool
    documents: IntArray
    n_documents: int

    @staticmethod
    def from_comparisons(comparisons: Comparisons) -> Design:
        """Return the design of `comparisons`."""
        n = len(comparisons.wins)
        system_codes, names = codes([*comparisons.system_a, *comparisons.system_b])
        system_basis = np.eye(len(names))
        pairs = system_basis[system_codes[:n]] - system_basis[system_codes[n:]]
        design = np.column_stack([pairs, comparisons.positions])
        has_position = is_position_identified(design)
        documents, n_documents = document_codes(comparisons.documents, n)
        wins = [comparisons.wins == result for result in (1.0, 0.0, 0.5)]
        return Design(
            names=tuple(map(str, names)),
            places=np.column_stack([system_codes[:n], system_codes[n:]]),
            pairs=pairs,
            design=design if has_position else design[:, :-1],
            outcomes=np.column_stack(wins).astype(float),
            has_position=has_position,
            confounded=bool(np.any(comparisons.positions)) and not has_position,
            documents=documents,
            n_documents=n_documents,
        )

    @property
    def has_ties(self) -> bool:
        """Whether any comparison is a tie."""
        return bool(np.any(self.outcomes[:, 2]))

    def n_parts(self, connection: Connection) -> int:
        """Count the connected components of the directed graph of wins and ties."""
        is_win, is_tie = self.outcomes[:, 0] == 1.0, self.outcomes[:, 2] == 1.0
        forward, backward = is_win | is_tie, ~is_win
        rows = np.r_[self.places[forward, 0], self.places[backward, 1]]
        columns = np.r_[self.places[forward, 1], self.places[backward, 0]]
        return count_components((rows, columns), len(self.names), connection)

    def n_comparisons(self, system: int) -> int:
        """Count the comparisons of a system."""
        return int(np.any(self.places == system, axis=1).sum())


def is_position_identified(design: FloatArray) -> bool:
    """Return whether the coefficient of the last column, position, is identified."""
    products = design.T @ design
    rank_of_systems = int(np.linalg.matrix_rank(products[:-1, :-1]))
    return int(np.linalg.matrix_rank(products)) > rank_of_systems


def outcome_probabilities(d: FloatArray, tie: float | FloatArray) -> FloatArray:
    """Return P(a), P(b), P(tie), shape (n, 3); `tie` is -inf in a model without ties."""
    weights = [d / 2, -d / 2, np.broadcast_to(tie, d.shape)]
    return np.asarray(softmax(np.column_stack(weights), axis=1))


class Rank(NamedTuple):
    """A system's rank, from 1, and its simultaneous confidence bounds, None without intervals."""

    rank: int
    best_rank: int | None
    worst_rank: int | None


def ranks(strengths: FloatArray, above: BoolArray | None, *, rounding: float) -> list[Rank]:
    """Return each system's rank; strengths that differ by at most `rounding` share a rank.

    `above[i, j]` is true if i is significantly above j; None without intervals.
    """
    k = strengths.size
    return [
        Rank(
            rank=1 + int(np.sum(strengths > strengths[system] + rounding)),
            best_rank=None if above is None else 1 + int(above[:, system].sum()),
            worst_rank=None if above is None else k - int(above[system].sum()),
        )
        for system in range(k)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted model with a sandwich covariance; the first coefficients are systems' strengths.

    ``freedom`` is the number of degrees of freedom of Student's t, documents - 1. It is 0 if there
    are no intervals: with fewer than `MIN_DOCUMENTS` documents, or if systems are separated.
    ``method`` describes the interval.
    """

    design: Design
    coefficients: FloatArray
    covariance: FloatArray
    freedom: int
    level: float
    method: str

    @staticmethod
    def from_scores(
        design: Design,
        coefficients: FloatArray,
        scores: FloatArray,
        information: FloatArray,
        *,
        level: float,
        method: str,
    ) -> Fit:
        """Return the fit from `coefficients`, (k,), rows' `scores`, (n, k), and `information`."""
        inverse = np.linalg.inv(information)
        sums = totals(scores, design.documents, design.n_documents)
        n_documents = design.n_documents
        score_covariance = (
            sums.T @ sums * (n_documents / (n_documents - 1) if n_documents > 1 else 1.0)
        )
        has_intervals = n_documents >= MIN_DOCUMENTS and design.n_parts("strong") == 1
        return Fit(
            design=design,
            coefficients=coefficients,
            covariance=inverse @ score_covariance @ inverse,
            freedom=n_documents - 1 if has_intervals else 0,
            level=level,
            method=method,
        )

    @property
    def separated(self) -> bool:
        """Whether some systems never lose to (or never beat) the others."""
        return self.design.n_parts("strong") > 1

    def linear(self, value: float, gradient: FloatArray, *, n: int, null: float | None) -> Estimate:
        """Return `value` with its delta-method interval; `gradient` is its derivative."""
        estimate = t_estimate(
            value,
            max(float(gradient @ self.covariance @ gradient), 0.0),
            n=n,
            degrees_of_freedom=self.freedom,
            level=self.level,
            null=null,
        )
        if estimate.low is not None:
            return replace(estimate, method=self.method)
        why = (
            "some systems never lose to the others"
            if self.separated
            else f"fewer than {MIN_DOCUMENTS} documents"
        )
        return replace(estimate, method=f"no interval: {why}")

    def contrast(self, gradient: FloatArray, *, n: int, null: float | None = 0.0) -> Estimate:
        """Return a weighted sum of the coefficients."""
        return self.linear(float(gradient @ self.coefficients), gradient, n=n, null=null)

    def coefficient(self, place: int, *, n: int) -> Estimate:
        """Return the coefficient at index `place`, with its test against 0."""
        return self.contrast(np.eye(self.coefficients.size)[place], n=n)

    def strength(self, system: int) -> Estimate:
        """Return a system's strength minus the mean strength."""
        k = len(self.design.names)
        gradient = np.eye(self.coefficients.size)[system]
        gradient[:k] -= 1.0 / k
        return self.contrast(gradient, n=self.design.n_comparisons(system))

    def ranks(self, rng: np.random.Generator) -> list[Rank]:
        """Return each system's rank.

        Simultaneous intervals of all pairwise differences use the maximum |t| over pairs in draws
        from the coefficients' normal distribution. A system's best rank is 1 plus the number of
        systems significantly above it; its worst rank is the number of systems minus those
        significantly below it (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3).
        """
        k = len(self.design.names)
        strengths = self.coefficients[:k]
        above = None
        if self.freedom:
            strength_covariance = self.covariance[:k, :k]
            above = significantly_above(
                strengths, strength_covariance, freedom=self.freedom, level=self.level, rng=rng
            )
        return ranks(strengths, above, rounding=_ROUNDING)


def significantly_above(
    strengths: FloatArray,
    covariance: FloatArray,
    *,
    freedom: int,
    level: float,
    rng: np.random.Generator,
) -> BoolArray:
    """Return for each pair [i, j] whether i is significantly above j, simultaneously at `level`.

    `strengths` has shape (k,), their `covariance` (k, k); `freedom` is 1 or more.
    """
    k = strengths.size
    variances = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    standard_errors = np.sqrt(np.maximum(variances, 0.0))
    standard_errors[standard_errors <= _ROUNDING] = np.inf
    values, vectors = np.linalg.eigh(covariance)
    covariance_root = vectors * np.sqrt(np.maximum(values, 0.0))
    normals = rng.standard_normal((_N_DRAWS, k)) @ covariance_root.T
    scale = np.sqrt(rng.chisquare(freedom, _N_DRAWS) / freedom)
    max_statistics = np.max(
        [np.max(np.abs(normals - normals[:, [i]]) / standard_errors[i], axis=1) for i in range(k)],
        axis=0,
    )
    critical_value = max(
        float(np.quantile(max_statistics / scale, level)), float(stdtrit(freedom, (1 + level) / 2))
    )
    return np.asarray((strengths[:, None] - strengths[None, :]) / standard_errors > critical_value)
