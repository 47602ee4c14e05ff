"""Ranking systems by several judges' pairs: Bradley-Terry with a discrimination per judge.

The model of `fairjudge.calibration.ranking` with a slope ``a_j > 0``, a position effect ``g_j`` and
a log tie weight ``v_j`` for each judge j: ``d = a_j (s_a - s_b) + g_j x``. The slope is the
discrimination of item response theory (Birnbaum 1968): of a judge that decides at random it is 0,
and its verdicts then move no strength.

Only products ``a_j (s_a - s_b)`` are in the likelihood, so that two scales are fixed: strengths add
up to 0, and the geometric mean of discriminations is 1. Strengths are thus log-odds of a judge of
mean discrimination. Log-discriminations have a normal prior of standard deviation `PRIOR_SPREAD`
(maximum a posteriori), which keeps them finite; a judge that turns the order round gets one near 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairjudge.calibration.paired_comparisons import (
    Comparisons,
    check_comparisons,
    count_parts,
    outcomes_of,
    probabilities,
)
from fairjudge.calibration.ranking import FEWEST_DOCUMENTS, RIDGE, rank_of, surely_above
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    check_level,
    codes,
    document_codes,
    same_length,
    totals,
)
from fairjudge.stats.clustered import t_estimate

PRIOR_SPREAD = 1.0
"""Of log-discriminations: two judges in three lie within a factor of e of the mean."""
_MAX_STEPS = 200
_TOLERANCE = 1e-10
_SHORTEST = 1e-8
_METHOD = "judge-aware Bradley-Terry with ties, sandwich variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSystem:
    """One system's log-strength and rank, by all judges; ranks as in `RankedSystem`."""

    system: str
    strength: Estimate
    rank: int
    best_rank: int | None
    worst_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingJudge:
    """One judge: ``discrimination`` is 1 for the geometric mean of judges, 0 for chance.

    ``position_effect`` is what standing first adds to its log-odds.
    """

    judge: str
    n_comparisons: int
    discrimination: Estimate
    position_effect: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRanking:
    """Systems from strongest to weakest by all judges, and the judges in the order given."""

    systems: tuple[PlacedSystem, ...]
    judges: tuple[RankingJudge, ...]
    separated: bool
    n_comparisons: int
    n_documents: int
    level: float


def rank_by_judges(
    comparisons: Comparisons,
    judges: Sequence[str],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> JudgeRanking | Undefined:
    """Fit the model to comparisons, each by one of `judges`, all of length n.

    Intervals and ranks are those of `rank_systems`; those of discriminations are symmetric on the
    log scale. Undefined for fewer than two judges, or as `rank_systems` is.
    """
    check_level(level)
    check_comparisons(comparisons)
    same_length(wins=comparisons.wins, judges=judges)
    names = tuple(dict.fromkeys(judges))
    if len(names) < 2:
        return Undefined(why="fewer than 2 judges")
    data = _Data.of(comparisons, judges)
    n_parts = data.n_parts("weak")
    if n_parts > 1:
        return Undefined(why=f"systems fall into {n_parts} sets that are never compared")
    fit = _Fit.of(data, level)
    k = len(data.systems)
    strengths = fit.coefficients[:k]
    above = (
        surely_above(strengths, fit.covariance[:k, :k], freedom=fit.freedom, level=level, rng=rng)
        if fit.freedom
        else None
    )
    placed = [
        PlacedSystem(
            system=name,
            strength=fit.strength(place),
            rank=rank_of(strengths, place),
            best_rank=None if above is None else 1 + int(above[:, place].sum()),
            worst_rank=None if above is None else k - int(above[place].sum()),
        )
        for place, name in enumerate(data.systems)
    ]
    return JudgeRanking(
        systems=tuple(sorted(placed, key=lambda system: (system.rank, system.system))),
        judges=tuple(
            RankingJudge(
                judge=name,
                n_comparisons=int(np.sum(data.judges == place)),
                discrimination=fit.discrimination(place),
                position_effect=fit.position_effect(place),
            )
            for place, name in enumerate(names)
        ),
        separated=data.n_parts("strong") > 1,
        n_comparisons=len(comparisons.wins),
        n_documents=data.n_documents,
        level=level,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """``pairs`` has shape (n, systems): 1 for a, -1 for b; ``contrasts`` spans sums of 0 of judges.

    ``positions`` and ``ties`` have a column for each judge in ``placing`` and in ``tying``.
    """

    systems: tuple[str, ...]
    places: IntArray
    judges: IntArray
    pairs: FloatArray
    contrasts: FloatArray
    positions: FloatArray
    placing: IntArray
    ties: FloatArray
    tying: IntArray
    outcomes: FloatArray
    documents: IntArray
    n_documents: int

    @staticmethod
    def of(comparisons: Comparisons, judges: Sequence[str]) -> _Data:
        n = len(comparisons.wins)
        coded, names = codes([*comparisons.system_a, *comparisons.system_b])
        places = np.column_stack([coded[:n], coded[n:]])
        system = np.eye(len(names))
        pairs = system[places[:, 0]] - system[places[:, 1]]
        by_judge, judged = codes(list(judges))
        own = np.eye(len(judged))[by_judge]
        placing = [
            j for j in range(len(judged)) if _tells_place(pairs, comparisons.positions, own[:, j])
        ]
        outcomes = outcomes_of(comparisons.wins)
        tying = np.flatnonzero(outcomes[:, 2] @ own)
        documents, n_documents = document_codes(comparisons.documents, n)
        return _Data(
            systems=tuple(map(str, names)),
            places=places,
            judges=by_judge,
            pairs=pairs,
            contrasts=_sums_of_zero(len(judged)),
            positions=own[:, placing] * comparisons.positions[:, None],
            placing=np.array(placing, dtype=np.intp),
            ties=own[:, tying],
            tying=tying,
            outcomes=outcomes,
            documents=documents,
            n_documents=n_documents,
        )

    def n_parts(self, connection: Literal["weak", "strong"]) -> int:
        return count_parts(self.places, self.outcomes, len(self.systems), connection)

    @property
    def starts(self) -> IntArray:
        """Where discriminations, position effects and tie weights begin, and the end."""
        sizes = (self.contrasts.shape[1], self.placing.size, self.tying.size)
        return np.cumsum([len(self.systems), *sizes])

    @property
    def penalty(self) -> FloatArray:
        """The precision of the prior of each coefficient; contrasts are orthonormal."""
        start, stop, _, end = self.starts
        out = np.full(end, RIDGE)
        out[start:stop] = PRIOR_SPREAD**-2
        return out


def _tells_place(pairs: FloatArray, positions: FloatArray, own: FloatArray) -> bool:
    """Return whether a judge's position effect is identified apart from its systems."""
    mine = own > 0
    design = np.column_stack([pairs[mine], positions[mine]])
    products = design.T @ design
    return int(np.linalg.matrix_rank(products)) > int(np.linalg.matrix_rank(products[:-1, :-1]))


def _sums_of_zero(n: int) -> FloatArray:
    """Return orthonormal columns, (n, n - 1), that each add up to 0."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))
    return np.asarray(basis[:, 1:])


@dataclass(frozen=True, slots=True)
class _Point:
    """The model at some coefficients: slopes (n,), differences (n,), tie weights, d, P (n, 3)."""

    data: _Data
    beta: FloatArray
    slopes: FloatArray
    gaps: FloatArray
    p: FloatArray

    @staticmethod
    def at(data: _Data, beta: FloatArray) -> _Point:
        k, placing, ties, _ = data.starts
        slopes = np.exp(data.contrasts @ beta[k:placing])[data.judges]
        gaps = data.pairs @ beta[:k]
        d = slopes * gaps + data.positions @ beta[placing:ties]
        tied = data.ties.any(axis=1)
        tie = np.where(tied, data.ties @ beta[ties:], -np.inf)
        return _Point(data, beta, slopes, gaps, probabilities(d, tie))

    @property
    def loss(self) -> float:
        """The penalised negative log-likelihood."""
        likelihoods = (self.p * self.data.outcomes).sum(axis=1)
        return float(0.5 * self.data.penalty @ self.beta**2 - np.log(likelihoods).sum())

    @property
    def residual(self) -> FloatArray:
        """The derivative of each row's log-likelihood by d."""
        errors = self.data.outcomes - self.p
        return (errors[:, 0] - errors[:, 1]) / 2

    def jacobian(self) -> FloatArray:
        """Return the derivatives of d by all coefficients but the tie weights."""
        own = self.data.contrasts[self.data.judges]
        turned = (self.slopes * self.gaps)[:, None] * own
        return np.column_stack(
            [self.slopes[:, None] * self.data.pairs, turned, self.data.positions]
        )

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Return each row's score, (n, p), and the penalised expected information, (p, p)."""
        jacobian, p, ties = self.jacobian(), self.p, self.data.ties
        lean = p[:, 0] - p[:, 1]
        spread = (p[:, 0] + p[:, 1] - lean**2) / 4
        scores = np.column_stack(
            [
                jacobian * self.residual[:, None],
                ties * (self.data.outcomes[:, 2] - p[:, 2])[:, None],
            ]
        )
        first = jacobian.T @ (jacobian * spread[:, None])
        cross = jacobian.T @ (ties * (-p[:, 2] * lean / 2)[:, None])
        own = ties.T @ (ties * (p[:, 2] * (1 - p[:, 2]))[:, None])
        information = np.block([[first, cross], [cross.T, own]])
        return scores, information + np.diag(self.data.penalty)

    def observed(self) -> FloatArray:
        """Return the penalised observed information: the expected one less where d bends."""
        _, information = self.derivatives()
        data, pull = self.data, self.residual * self.slopes
        k, stop = int(data.starts[0]), int(data.starts[1])
        own = data.contrasts[data.judges]
        mixed = data.pairs.T @ (own * pull[:, None])
        information[:k, k:stop] -= mixed
        information[k:stop, :k] -= mixed.T
        information[k:stop, k:stop] -= own.T @ (own * (pull * self.gaps)[:, None])
        return information


def _scoring(data: _Data) -> _Point:
    """Return the maximum by Fisher's scoring; a step that worsens the fit is halved."""
    point = _Point.at(data, np.zeros(int(data.starts[-1])))
    for _ in range(_MAX_STEPS):
        scores, information = point.derivatives()
        step = np.linalg.solve(information, scores.sum(axis=0) - data.penalty * point.beta)
        size = 1.0
        moved = _Point.at(data, point.beta + step)
        while not moved.loss <= point.loss and size > _SHORTEST:
            size /= 2.0
            moved = _Point.at(data, point.beta + size * step)
        if size <= _SHORTEST or float(np.max(np.abs(step))) < _TOLERANCE:
            break
        point = moved
    return point


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    data: _Data
    coefficients: FloatArray
    covariance: FloatArray
    level: float
    freedom: int

    @staticmethod
    def of(data: _Data, level: float) -> _Fit:
        point = _scoring(data)
        scores, _ = point.derivatives()
        sums = totals(scores, data.documents, data.n_documents)
        d = data.n_documents
        inverse = np.linalg.inv(point.observed())
        middle = sums.T @ sums * (d / (d - 1) if d > 1 else 1.0)
        is_known = d >= FEWEST_DOCUMENTS and data.n_parts("strong") == 1
        return _Fit(
            data=data,
            coefficients=point.beta,
            covariance=inverse @ middle @ inverse,
            level=level,
            freedom=d - 1 if is_known else 0,
        )

    def contrast(self, gradient: FloatArray, *, n: int, null: float | None = 0.0) -> Estimate:
        estimate = t_estimate(
            float(gradient @ self.coefficients),
            max(float(gradient @ self.covariance @ gradient), 0.0),
            n=n,
            freedom=self.freedom,
            level=self.level,
            null=null,
        )
        why = "no interval: too few documents, or some systems never lose to the others"
        return replace(estimate, method=why if estimate.low is None else _METHOD)

    def strength(self, system: int) -> Estimate:
        k = len(self.data.systems)
        gradient = np.eye(self.coefficients.size)[system]
        gradient[:k] -= 1.0 / k
        return self.contrast(gradient, n=int(np.any(self.data.places == system, axis=1).sum()))

    def discrimination(self, judge: int) -> Estimate:
        start, stop, _, end = self.data.starts
        gradient = np.zeros(end)
        gradient[start:stop] = self.data.contrasts[judge]
        log_estimate = self.contrast(gradient, n=int(np.sum(self.data.judges == judge)), null=None)
        low, high = (
            None if end is None else float(np.exp(end))
            for end in (log_estimate.low, log_estimate.high)
        )
        return replace(log_estimate, value=float(np.exp(log_estimate.value)), low=low, high=high)

    def position_effect(self, judge: int) -> Estimate | Undefined:
        where = np.flatnonzero(self.data.placing == judge)
        if not where.size:
            return Undefined(why="position and system are confounded")
        gradient = np.eye(self.coefficients.size)[int(self.data.starts[1] + where[0])]
        return self.contrast(gradient, n=int(np.sum(self.data.judges == judge)))
