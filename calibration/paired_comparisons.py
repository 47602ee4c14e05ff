"""Paired comparisons for a regression: their design, and what models of them estimate."""

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

FEWEST_DOCUMENTS = 5
"""Below this many documents there are no intervals: their variance cannot be estimated."""
_LEVEL = 1e-9
"""Difference of strengths, in log-odds, below which systems share a rank: it is rounding."""
_DRAWS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Pairwise judgements, all of length n.

    ``wins`` is 1 for system_a, 0 for system_b, 0.5 for a tie; ``positions`` is 1 where a stood
    first, -1 where b did, 0 if unknown.
    """

    wins: FloatArray
    system_a: tuple[str, ...]
    system_b: tuple[str, ...]
    positions: FloatArray
    documents: tuple[Hashable, ...]


def check_comparisons(comparisons: Comparisons) -> None:
    """Raise a `StatisticsError` for unequal lengths, and values other than those documented."""
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
    """``pairs`` has shape (n, systems): 1 for a, -1 for b; ``design``, (n, k), that of d.

    ``places`` are the codes of a and b, shape (n, 2); ``outcomes``, (n, 3), are 1 for what came of
    each comparison: a, b or a tie.
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
        """Return the design of comparisons."""
        n = len(comparisons.wins)
        coded, names = codes([*comparisons.system_a, *comparisons.system_b])
        system = np.eye(len(names))
        pairs = system[coded[:n]] - system[coded[n:]]
        design = np.column_stack([pairs, comparisons.positions])
        has_position = tells_position(design)
        documents, n_documents = document_codes(comparisons.documents, n)
        wins = [comparisons.wins == result for result in (1.0, 0.0, 0.5)]
        return Design(
            names=tuple(map(str, names)),
            places=np.column_stack([coded[:n], coded[n:]]),
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
        """Count the components of the graph of who beat or tied whom."""
        beats, ties = self.outcomes[:, 0] == 1.0, self.outcomes[:, 2] == 1.0
        forward, backward = beats | ties, ~beats
        rows = np.r_[self.places[forward, 0], self.places[backward, 1]]
        columns = np.r_[self.places[forward, 1], self.places[backward, 0]]
        return count_components((rows, columns), len(self.names), connection)

    def n_comparisons(self, system: int) -> int:
        """Count the comparisons of a system."""
        return int(np.any(self.places == system, axis=1).sum())


def tells_position(design: FloatArray) -> bool:
    """Return whether the last column's coefficient, of position, is identified beside systems'."""
    products = design.T @ design
    n_free = int(np.linalg.matrix_rank(products[:-1, :-1]))
    return int(np.linalg.matrix_rank(products)) > n_free


def probabilities(d: FloatArray, tie: float | FloatArray) -> FloatArray:
    """Return P(a), P(b), P(tie), shape (n, 3); `tie` is -inf in a model without ties."""
    weights = [d / 2, -d / 2, np.broadcast_to(tie, d.shape)]
    return np.asarray(softmax(np.column_stack(weights), axis=1))


class Rank(NamedTuple):
    """A system's rank from 1, and those that hold all systems' true ranks at once, if known."""

    rank: int
    best_rank: int | None
    worst_rank: int | None


def ranks(strengths: FloatArray, above: BoolArray | None, *, rounding: float) -> list[Rank]:
    """Return each system's rank; what differs by `rounding` or less shares one.

    `above` says of each pair [i, j] whether i is surely above j; None where that is not known.
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
    """A fitted model, systems' strengths first of its coefficients, with a sandwich variance.

    ``freedom`` are Student's degrees of freedom, documents - 1: 0 where there is no interval, below
    `FEWEST_DOCUMENTS` documents and where systems are separated. ``method`` names the interval.
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
        """Return the fit of `coefficients`, (k,), from rows' scores, (n, k), and information."""
        inverse = np.linalg.inv(information)
        sums = totals(scores, design.documents, design.n_documents)
        d = design.n_documents
        middle = sums.T @ sums * (d / (d - 1) if d > 1 else 1.0)
        is_known = d >= FEWEST_DOCUMENTS and design.n_parts("strong") == 1
        return Fit(
            design=design,
            coefficients=coefficients,
            covariance=inverse @ middle @ inverse,
            freedom=d - 1 if is_known else 0,
            level=level,
            method=method,
        )

    @property
    def separated(self) -> bool:
        """Whether some systems never lose to (or never beat) the others."""
        return self.design.n_parts("strong") > 1

    def linear(self, value: float, gradient: FloatArray, *, n: int, null: float | None) -> Estimate:
        """Return `value` with the interval that `gradient`, its derivative, gives it."""
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
            else f"fewer than {FEWEST_DOCUMENTS} documents"
        )
        return replace(estimate, method=f"no interval: {why}")

    def contrast(self, gradient: FloatArray, *, n: int, null: float | None = 0.0) -> Estimate:
        """Return a weighted sum of the coefficients."""
        return self.linear(float(gradient @ self.coefficients), gradient, n=n, null=null)

    def coefficient(self, place: int, *, n: int) -> Estimate:
        """Return one coefficient, with its test against 0."""
        return self.contrast(np.eye(self.coefficients.size)[place], n=n)

    def strength(self, system: int) -> Estimate:
        """Return a system's strength less the mean of all."""
        k = len(self.design.names)
        gradient = np.eye(self.coefficients.size)[system]
        gradient[:k] -= 1.0 / k
        return self.contrast(gradient, n=self.design.n_comparisons(system))

    def ranks(self, rng: np.random.Generator) -> list[Rank]:
        """Return each system's rank.

        All pairwise differences get simultaneous intervals by the largest |t| over pairs in draws
        from the coefficients' normal distribution; a system's best rank is one after those surely
        above it, its worst one before those surely below (Mogstad, Romano, Shaikh and Wilhelm 2024,
        section 3).
        """
        k = len(self.design.names)
        strengths = self.coefficients[:k]
        above = None
        if self.freedom:
            own = self.covariance[:k, :k]
            above = surely_above(strengths, own, freedom=self.freedom, level=self.level, rng=rng)
        return ranks(strengths, above, rounding=_LEVEL)


def surely_above(
    strengths: FloatArray,
    covariance: FloatArray,
    *,
    freedom: int,
    level: float,
    rng: np.random.Generator,
) -> BoolArray:
    """Say of each pair [i, j] whether i is above j, all at once at `level`.

    `strengths` has shape (k,), their `covariance` (k, k); `freedom` is 1 or more.
    """
    k = strengths.size
    spread = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    error = np.sqrt(np.maximum(spread, 0.0))
    error[error <= _LEVEL] = np.inf
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normals = rng.standard_normal((_DRAWS, k)) @ root.T
    scale = np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    largest = np.max(
        [np.max(np.abs(normals - normals[:, [i]]) / error[i], axis=1) for i in range(k)], axis=0
    )
    critical = max(
        float(np.quantile(largest / scale, level)), float(stdtrit(freedom, (1 + level) / 2))
    )
    return np.asarray((strengths[:, None] - strengths[None, :]) / error > critical)
