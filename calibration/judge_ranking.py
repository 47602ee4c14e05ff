"""Ranking of systems from several judges' pairs: Bradley-Terry with a discrimination per judge.

The model of `fairjudge.calibration.ranking` with a slope ``a_j > 0``, a position effect ``g_j`` and
a log tie weight ``v_j`` for each judge j: ``d = a_j (s_a - s_b) + g_j x``. The slope is the
discrimination of item response theory (Birnbaum 1968). It is 0 for a judge that decides at random,
whose verdicts then have no influence on strengths.

The likelihood depends only on the products ``a_j (s_a - s_b)``, so two constraints are needed:
strengths sum to 0, and the geometric mean of discriminations is 1. Strengths are thus log-odds for
a judge of mean discrimination. Log-discriminations have a normal prior with standard deviation
`PRIOR_SPREAD` (maximum a posteriori), which keeps them finite; a judge with the reverse order gets
a discrimination near 0.
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
    is_position_identified,
    outcome_probabilities,
)
from fairjudge.calibration.ranking import RIDGE
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, check_level, codes, same_length
from fairjudge.stats.clustered import transform_estimate

PRIOR_SPREAD = 1.0
"""Prior standard deviation of log-discriminations: about 68 % are within a factor e of 1."""
_MAX_STEPS = 200
_TOLERANCE = 1e-10
_SHORTEST = 1e-8
_METHOD = "judge-aware Bradley-Terry with ties, sandwich variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemStrength:
    """A system's log-strength and rank, from all judges; ranks are as in `RankedSystem`."""

    system: str
    strength: Estimate
    rank: int
    best_rank: int | None
    worst_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDiscrimination:
    """A judge's discrimination (geometric mean 1 over judges, 0 for chance) and position effect.

    ``position_effect`` is the log-odds that the first position adds.
    """

    judge: str
    n_comparisons: int
    discrimination: Estimate
    position_effect: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRanking:
    """Systems from strongest to weakest, and judges in input order."""

    systems: tuple[SystemStrength, ...]
    judges: tuple[JudgeDiscrimination, ...]
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
    """Fit the model to n comparisons; `judges`, of length n, are the judge of each.

    Intervals and ranks are those of `rank_systems`. Intervals of discriminations are symmetric on
    the log scale. Undefined with fewer than two judges, or where `rank_systems` is Undefined.
    """
    check_level(level)
    check_comparisons(comparisons)
    same_length(wins=comparisons.wins, judges=judges)
    names = tuple(dict.fromkeys(judges))
    if len(names) < 2:
        return Undefined(why="fewer than 2 judges")
    design = Design.from_comparisons(comparisons)
    n_components = design.n_parts("weak")
    if n_components > 1:
        return Undefined(why=f"systems fall into {n_components} sets that are never compared")
    data = _Data.from_design(design, comparisons.positions, judges)
    optimum = _fisher_scoring(data)
    scores, _ = optimum.derivatives()
    fit = Fit.from_scores(
        design, optimum.beta, scores, optimum.observed(), level=level, method=_METHOD
    )
    systems = [
        SystemStrength(system=name, strength=fit.strength(index), **rank._asdict())
        for index, (name, rank) in enumerate(zip(design.names, fit.ranks(rng), strict=True))
    ]
    return JudgeRanking(
        systems=tuple(sorted(systems, key=lambda system: (system.rank, system.system))),
        judges=tuple(
            _judge_discrimination(name, index, data, fit) for index, name in enumerate(names)
        ),
        separated=fit.separated,
        n_comparisons=len(comparisons.wins),
        n_documents=design.n_documents,
        level=level,
    )


def _judge_discrimination(name: str, judge: int, data: _Data, fit: Fit) -> JudgeDiscrimination:
    n = int(np.sum(data.judges == judge))
    start, stop, _, end = data.starts
    gradient = np.zeros(end)
    gradient[start:stop] = data.contrasts[judge]
    column = np.flatnonzero(data.position_judges == judge)
    return JudgeDiscrimination(
        judge=name,
        n_comparisons=n,
        discrimination=transform_estimate(fit.contrast(gradient, n=n, null=None), np.exp),
        position_effect=fit.coefficient(int(stop + column[0]), n=n)
        if column.size
        else Undefined(why="position and system are confounded"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """The data of the model.

    ``contrasts`` is a basis of the log-discriminations, which sum to 0. ``positions`` has a column
    for each judge in ``position_judges``, ``ties`` for each judge in ``tie_judges``.
    """

    design: Design
    judges: IntArray
    contrasts: FloatArray
    positions: FloatArray
    position_judges: IntArray
    ties: FloatArray
    tie_judges: IntArray

    @staticmethod
    def from_design(design: Design, positions: FloatArray, judges: Sequence[str]) -> _Data:
        judge_codes, judge_names = codes(list(judges))
        is_judge = np.eye(len(judge_names))[judge_codes]
        columns = np.column_stack([design.pairs, positions])
        judges_with_position = [
            j for j in range(len(judge_names)) if is_position_identified(columns[judge_codes == j])
        ]
        judges_with_ties = np.flatnonzero(design.outcomes[:, 2] @ is_judge)
        return _Data(
            design=design,
            judges=judge_codes,
            contrasts=_zero_sum_basis(len(judge_names)),
            positions=is_judge[:, judges_with_position] * positions[:, None],
            position_judges=np.array(judges_with_position, dtype=np.intp),
            ties=is_judge[:, judges_with_ties],
            tie_judges=judges_with_ties,
        )

    @property
    def starts(self) -> IntArray:
        """Start indices of discriminations, position effects and tie weights; and the end index."""
        sizes = (self.contrasts.shape[1], self.position_judges.size, self.tie_judges.size)
        return np.cumsum([len(self.design.names), *sizes])

    @property
    def penalty(self) -> FloatArray:
        """The precision of the prior of each coefficient; contrasts are orthonormal."""
        start, stop, _, end = self.starts
        penalty = np.full(end, RIDGE)
        penalty[start:stop] = PRIOR_SPREAD**-2
        return penalty


def _zero_sum_basis(n: int) -> FloatArray:
    """Return orthonormal columns, shape (n, n - 1), each of which sums to 0."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))
    return np.asarray(basis[:, 1:])


@dataclass(frozen=True, slots=True)
class _Point:
    """The model at given coefficients.

    ``slopes`` and ``gaps`` (differences of strengths) have shape (n,), probabilities ``p`` (n, 3).
    """

    data: _Data
    beta: FloatArray
    slopes: FloatArray
    gaps: FloatArray
    p: FloatArray

    @staticmethod
    def from_coefficients(data: _Data, beta: FloatArray) -> _Point:
        n_systems, position_start, tie_start, _ = data.starts
        slopes = np.exp(data.contrasts @ beta[n_systems:position_start])[data.judges]
        gaps = data.design.pairs @ beta[:n_systems]
        differences = slopes * gaps + data.positions @ beta[position_start:tie_start]
        has_ties = data.ties.any(axis=1)
        tie_weight = np.where(has_ties, data.ties @ beta[tie_start:], -np.inf)
        return _Point(data, beta, slopes, gaps, outcome_probabilities(differences, tie_weight))

    @property
    def loss(self) -> float:
        """The penalised negative log-likelihood."""
        likelihoods = (self.p * self.data.design.outcomes).sum(axis=1)
        return float(0.5 * self.data.penalty @ self.beta**2 - np.log(likelihoods).sum())

    @property
    def residual(self) -> FloatArray:
        """The derivative of each row's log-likelihood with respect to d."""
        errors = self.data.design.outcomes - self.p
        return (errors[:, 0] - errors[:, 1]) / 2

    def jacobian(self) -> FloatArray:
        """Return the derivatives of d with respect to all coefficients except tie weights."""
        contrasts = self.data.contrasts[self.data.judges]
        discrimination_columns = (self.slopes * self.gaps)[:, None] * contrasts
        return np.column_stack(
            [
                self.slopes[:, None] * self.data.design.pairs,
                discrimination_columns,
                self.data.positions,
            ]
        )

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Return the score of each row, (n, k), and the penalised expected information, (k, k)."""
        jacobian, p, ties = self.jacobian(), self.p, self.data.ties
        win_difference = p[:, 0] - p[:, 1]
        variance = (p[:, 0] + p[:, 1] - win_difference**2) / 4
        scores = np.column_stack(
            [
                jacobian * self.residual[:, None],
                ties * (self.data.design.outcomes[:, 2] - p[:, 2])[:, None],
            ]
        )
        main_block = jacobian.T @ (jacobian * variance[:, None])
        cross_block = jacobian.T @ (ties * (-p[:, 2] * win_difference / 2)[:, None])
        tie_block = ties.T @ (ties * (p[:, 2] * (1 - p[:, 2]))[:, None])
        information = np.block([[main_block, cross_block], [cross_block.T, tie_block]])
        return scores, information + np.diag(self.data.penalty)

    def observed(self) -> FloatArray:
        """Return the penalised observed information: the expected one minus d's curvature terms."""
        _, information = self.derivatives()
        data, weighted_residuals = self.data, self.residual * self.slopes
        k, stop = int(data.starts[0]), int(data.starts[1])
        contrasts = data.contrasts[data.judges]
        cross_term = data.design.pairs.T @ (contrasts * weighted_residuals[:, None])
        information[:k, k:stop] -= cross_term
        information[k:stop, :k] -= cross_term.T
        information[k:stop, k:stop] -= contrasts.T @ (
            contrasts * (weighted_residuals * self.gaps)[:, None]
        )
        return information


def _fisher_scoring(data: _Data) -> _Point:
    """Maximise with Fisher scoring; steps that increase the loss are halved."""
    point = _Point.from_coefficients(data, np.zeros(int(data.starts[-1])))
    for _ in range(_MAX_STEPS):
        scores, information = point.derivatives()
        step = np.linalg.solve(information, scores.sum(axis=0) - data.penalty * point.beta)
        step_size = 1.0
        trial = _Point.from_coefficients(data, point.beta + step)
        while not trial.loss <= point.loss and step_size > _SHORTEST:
            step_size /= 2.0
            trial = _Point.from_coefficients(data, point.beta + step_size * step)
        if step_size <= _SHORTEST or float(np.max(np.abs(step))) < _TOLERANCE:
            break
        point = trial
    return point
