"""Ranking of systems from pairwise judgements: Bradley-Terry with ties and a position effect.

Davidson's model (1970) with the order effect of Davidson and Beaver (1977). With log-strengths s,
position effect g (x = 1 if a was shown first, -1 if b was, 0 if unknown) and log tie weight v,
``d = s_a - s_b + g x`` and P(a), P(b), P(tie) are proportional to exp(d / 2), exp(-d / 2), exp(v).
The likelihood is concave; without ties it is the plain Bradley-Terry model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.paired_comparisons import (
    Comparisons,
    Design,
    Fit,
    check_comparisons,
    outcome_probabilities,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, check_level
from fairjudge.stats.clustered import clip_interval, clustered_mean

RIDGE = 1e-4
"""Penalty on coefficients: fixes the sum of strengths and keeps an undefeated system's finite."""
_MAX_STEPS = 200
_MAX_STEP = 2.0
_TOLERANCE = 1e-10
_METHOD = "Bradley-Terry with ties (Davidson), sandwich variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """One system in the ranking.

    ``strength`` is its log-strength; strengths sum to 0. ``expected_win_rate`` is the model's mean
    win rate against all other systems, without position effect, and ``win_rate`` the observed one
    against its actual opponents; both are in [0, 1] with ties counting half. ``rank`` is from 1;
    ``best_rank`` and ``worst_rank`` are simultaneous confidence bounds of all systems' ranks, None
    without intervals.
    """

    system: str
    strength: Estimate
    expected_win_rate: Estimate | Undefined
    win_rate: Estimate | Undefined
    rank: int
    best_rank: int | None
    worst_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Systems from strongest to weakest.

    ``position_effect`` is what the first position adds to the log-odds of winning; ``tie_weight``
    is v, the log-weight of a tie. ``separated`` is true if some systems never lose to (or never
    beat) the others: then only the penalty bounds their distance, and there are no intervals.
    """

    systems: tuple[RankedSystem, ...]
    position_effect: Estimate | Undefined
    tie_weight: Estimate | Undefined
    separated: bool
    n_comparisons: int
    n_ties: int
    n_documents: int
    level: float


def rank_systems(
    comparisons: Comparisons, *, rng: np.random.Generator, level: float = 0.95
) -> Ranking | Undefined:
    """Fit the model to comparisons, with a sandwich variance over documents.

    Intervals are Student's on documents - 1 degrees of freedom; ranks are from
    `fairjudge.calibration.paired_comparisons.Fit.ranks`. Undefined without comparisons, or if the
    systems form sets that are never compared.

    Raises
    ------
    StatisticsError
        For unequal lengths, a system compared with itself, or undocumented values.
    """
    check_level(level)
    check_comparisons(comparisons)
    if not len(comparisons.wins):
        return Undefined(why="no comparisons")
    design = Design.from_comparisons(comparisons)
    n_parts = design.n_parts("weak")
    if n_parts > 1:
        return Undefined(why=f"systems fall into {n_parts} sets that are never compared")
    beta = _newton(design)
    scores, information = _derivatives(design, beta)
    fit = Fit.from_scores(design, beta, scores, information, level=level, method=_METHOD)
    n = len(comparisons.wins)
    return Ranking(
        systems=_rank_systems(comparisons, fit, rng),
        position_effect=_position_effect(fit, n=n),
        tie_weight=fit.coefficient(-1, n=n) if design.has_ties else Undefined(why="no ties"),
        separated=fit.separated,
        n_comparisons=n,
        n_ties=int(np.sum(comparisons.wins == 0.5)),
        n_documents=design.n_documents,
        level=level,
    )


def _position_effect(fit: Fit, *, n: int) -> Estimate | Undefined:
    if fit.design.confounded:
        reason = "position and system are confounded: the same system was always first"
        return Undefined(why=reason)
    if not fit.design.has_position:
        return Undefined(why="no judgement has the order of the summaries")
    return fit.coefficient(len(fit.design.names), n=n)


def _expected_win_rate(fit: Fit, system: int) -> Estimate | Undefined:
    """Return the mean over opponents of P(win) + P(tie) / 2, with its delta-method interval."""
    opponents = np.delete(np.arange(len(fit.design.names)), system)
    d = fit.coefficients[system] - fit.coefficients[opponents]
    p = outcome_probabilities(d, _log_tie_weight(fit.design, fit.coefficients))
    slope = (p[:, 0] * (1 - p[:, 0]) + p[:, 1] * (1 - p[:, 1]) + 2 * p[:, 0] * p[:, 1]) / 4
    gradient = np.zeros(fit.coefficients.size)
    gradient[opponents] = -slope / opponents.size
    gradient[system] = slope.mean()
    if fit.design.has_ties:
        gradient[-1] = float(np.mean(p[:, 2] * (p[:, 1] - p[:, 0]) / 2))
    value = float(np.mean(p[:, 0] + p[:, 2] / 2))
    n = fit.design.n_comparisons(system)
    return clip_interval(fit.linear(value, gradient, n=n, null=None), 0.0, 1.0)


def _log_tie_weight(design: Design, beta: FloatArray) -> float:
    """Return the log-weight of a tie, -inf in a model without ties."""
    return float(beta[-1]) if design.has_ties else -np.inf


def _derivatives(design: Design, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each row's score, shape (n, k), and the penalised information, shape (k, k)."""
    k = design.design.shape[1]
    p = outcome_probabilities(design.design @ beta[:k], _log_tie_weight(design, beta))
    win_difference = p[:, 0] - p[:, 1]
    residual = (design.outcomes[:, 0] - design.outcomes[:, 1] - win_difference) / 2
    variance = (p[:, 0] + p[:, 1] - win_difference**2) / 4
    scores = design.design * residual[:, None]
    information = design.design.T @ (design.design * variance[:, None])
    if design.has_ties:
        cross_information = design.design.T @ (-p[:, 2] * win_difference / 2)
        tie_information = float(np.sum(p[:, 2] * (1 - p[:, 2])))
        scores = np.column_stack([scores, design.outcomes[:, 2] - p[:, 2]])
        information = np.block(
            [
                [information, cross_information[:, None]],
                [cross_information[None, :], np.array([[tie_information]])],
            ]
        )
    return scores, information + RIDGE * np.eye(len(information))


def _newton(design: Design) -> FloatArray:
    """Maximise the penalised likelihood; steps are bounded, since early ones may overshoot."""
    beta = np.zeros(design.design.shape[1] + design.has_ties)
    for _ in range(_MAX_STEPS):
        scores, information = _derivatives(design, beta)
        step = np.linalg.solve(information, scores.sum(axis=0) - RIDGE * beta)
        step_size = float(np.max(np.abs(step)))
        beta = beta + step * min(1.0, _MAX_STEP / step_size if step_size else 1.0)
        if step_size < _TOLERANCE:
            break
    return beta


def _rank_systems(
    comparisons: Comparisons, fit: Fit, rng: np.random.Generator
) -> tuple[RankedSystem, ...]:
    systems = []
    places = fit.design.places
    for system, (name, rank) in enumerate(zip(fit.design.names, fit.ranks(rng), strict=True)):
        rows = np.flatnonzero(np.any(places == system, axis=1))
        wins_of_a = comparisons.wins[rows]
        wins_of_system = np.where(places[rows, 0] == system, wins_of_a, 1.0 - wins_of_a)
        documents = [comparisons.documents[row] for row in rows]
        systems.append(
            RankedSystem(
                system=name,
                strength=fit.strength(system),
                expected_win_rate=_expected_win_rate(fit, system),
                win_rate=clip_interval(
                    clustered_mean(wins_of_system, documents, level=fit.level), 0.0, 1.0
                ),
                **rank._asdict(),
            )
        )
    return tuple(sorted(systems, key=lambda ranked: (ranked.rank, ranked.system)))
