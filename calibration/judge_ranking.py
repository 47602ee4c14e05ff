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
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.paired_comparisons import (
    Comparisons,
    Design,
    Fit,
    check_comparisons,
    probabilities,
    tells_position,
)
from fairjudge.calibration.ranking import RIDGE
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, check_level, codes, same_length
from fairjudge.stats.clustered import transform_estimate

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
    design = Design.of(comparisons)
    n_parts = design.n_parts("weak")
    if n_parts > 1:
        return Undefined(why=f"systems fall into {n_parts} sets that are never compared")
    data = _Data.of(design, comparisons.positions, judges)
    point = _scoring(data)
    scores, _ = point.derivatives()
    fit = Fit.of(design, point.beta, scores, point.observed(), level=level, method=_METHOD)
    placed = [
        PlacedSystem(system=name, strength=fit.strength(place), **rank._asdict())
        for place, (name, rank) in enumerate(zip(design.names, fit.ranks(rng), strict=True))
    ]
    return JudgeRanking(
        systems=tuple(sorted(placed, key=lambda system: (system.rank, system.system))),
        judges=tuple(_judge(name, place, data, fit) for place, name in enumerate(names)),
        separated=fit.separated,
        n_comparisons=len(comparisons.wins),
        n_documents=design.n_documents,
        level=level,
    )


def _judge(name: str, judge: int, data: _Data, fit: Fit) -> RankingJudge:
    n = int(np.sum(data.judges == judge))
    start, stop, _, end = data.starts
    gradient = np.zeros(end)
    gradient[start:stop] = data.contrasts[judge]
    place = np.flatnonzero(data.placing == judge)
    return RankingJudge(
        judge=name,
        n_comparisons=n,
        discrimination=transform_estimate(fit.contrast(gradient, n=n, null=None), np.exp),
        position_effect=fit.coefficient(int(stop + place[0]), n=n)
        if place.size
        else Undefined(why="position and system are confounded"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """``contrasts`` spans sums of 0 of judges.

    ``positions`` and ``ties`` have a column for each judge in ``placing`` and in ``tying``.
    """

    design: Design
    judges: IntArray
    contrasts: FloatArray
    positions: FloatArray
    placing: IntArray
    ties: FloatArray
    tying: IntArray

    @staticmethod
    def of(design: Design, positions: FloatArray, judges: Sequence[str]) -> _Data:
        by_judge, judged = codes(list(judges))
        own = np.eye(len(judged))[by_judge]
        columns = np.column_stack([design.pairs, positions])
        placing = [j for j in range(len(judged)) if tells_position(columns[by_judge == j])]
        tying = np.flatnonzero(design.outcomes[:, 2] @ own)
        return _Data(
            design=design,
            judges=by_judge,
            contrasts=_sums_of_zero(len(judged)),
            positions=own[:, placing] * positions[:, None],
            placing=np.array(placing, dtype=np.intp),
            ties=own[:, tying],
            tying=tying,
        )

    @property
    def starts(self) -> IntArray:
        """Where discriminations, position effects and tie weights begin, and the end."""
        sizes = (self.contrasts.shape[1], self.placing.size, self.tying.size)
        return np.cumsum([len(self.design.names), *sizes])

    @property
    def penalty(self) -> FloatArray:
        """The precision of the prior of each coefficient; contrasts are orthonormal."""
        start, stop, _, end = self.starts
        out = np.full(end, RIDGE)
        out[start:stop] = PRIOR_SPREAD**-2
        return out


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
        gaps = data.design.pairs @ beta[:k]
        d = slopes * gaps + data.positions @ beta[placing:ties]
        tied = data.ties.any(axis=1)
        tie = np.where(tied, data.ties @ beta[ties:], -np.inf)
        return _Point(data, beta, slopes, gaps, probabilities(d, tie))

    @property
    def loss(self) -> float:
        """The penalised negative log-likelihood."""
        likelihoods = (self.p * self.data.design.outcomes).sum(axis=1)
        return float(0.5 * self.data.penalty @ self.beta**2 - np.log(likelihoods).sum())

    @property
    def residual(self) -> FloatArray:
        """The derivative of each row's log-likelihood by d."""
        errors = self.data.design.outcomes - self.p
        return (errors[:, 0] - errors[:, 1]) / 2

    def jacobian(self) -> FloatArray:
        """Return the derivatives of d by all coefficients but the tie weights."""
        own = self.data.contrasts[self.data.judges]
        turned = (self.slopes * self.gaps)[:, None] * own
        return np.column_stack(
            [self.slopes[:, None] * self.data.design.pairs, turned, self.data.positions]
        )

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Return each row's score, (n, p), and the penalised expected information, (p, p)."""
        jacobian, p, ties = self.jacobian(), self.p, self.data.ties
        lean = p[:, 0] - p[:, 1]
        spread = (p[:, 0] + p[:, 1] - lean**2) / 4
        scores = np.column_stack(
            [
                jacobian * self.residual[:, None],
                ties * (self.data.design.outcomes[:, 2] - p[:, 2])[:, None],
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
        mixed = data.design.pairs.T @ (own * pull[:, None])
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
        trial = _Point.at(data, point.beta + step)
        while not trial.loss <= point.loss and size > _SHORTEST:
            size /= 2.0
            trial = _Point.at(data, point.beta + size * step)
        if size <= _SHORTEST or float(np.max(np.abs(step))) < _TOLERANCE:
            break
        point = trial
    return point
