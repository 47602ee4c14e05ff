"""Ranking systems by pairwise judgements: Bradley-Terry with ties and a term for position.

Davidson's model (1970) with the order effect of Davidson and Beaver (1977). With log-strengths s,
position effect g (x = 1 where a stood first, -1 where b did, 0 if unknown) and log tie weight v,
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
    probabilities,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, check_level
from fairjudge.stats.clustered import clip_interval, clustered_mean

RIDGE = 1e-4
"""Penalty on coefficients: fixes the strengths' sum, and keeps a system that always wins finite."""
_MAX_STEPS = 200
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-10
_METHOD = "Bradley-Terry with ties (Davidson), sandwich variance over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """One system's place.

    ``strength`` is its log-strength, all systems' adding up to 0; ``expected_win_rate`` what the
    model gives it against every other system equally often, position aside, and ``win_rate`` what
    was judged against whomever it met, both in [0, 1] with ties half. ``rank`` counts from 1;
    ``best_rank`` and ``worst_rank`` hold all systems' true ranks at once at the stated level, or
    are None without intervals.
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

    ``position_effect`` is what standing first adds to the log-odds of winning; ``tie_weight`` is
    v, the log-weight of a tie. ``separated`` says that some systems never lose to (or never beat)
    the others: their distance is then held by the penalty alone, and there are no intervals.
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
    """Fit the model, with a sandwich variance over documents.

    Intervals are Student's on documents - 1 degrees; ranks are those of
    `fairjudge.calibration.paired_comparisons.Fit.ranks`. Undefined for no comparisons, or where
    some systems are never compared with the others.

    Raises
    ------
    StatisticsError
        Unequal lengths, a system against itself, or values other than those documented.
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
        systems=_ranked(comparisons, fit, rng),
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
        why = "position and system are confounded: the same system was always first"
        return Undefined(why=why)
    if not fit.design.has_position:
        return Undefined(why="no judgement says which summary stood first")
    return fit.coefficient(len(fit.design.names), n=n)


def _expected_win_rate(fit: Fit, system: int) -> Estimate | Undefined:
    """Return the mean over the others of P(win) + P(tie) / 2, with its exact derivative."""
    opponents = np.delete(np.arange(len(fit.design.names)), system)
    d = fit.coefficients[system] - fit.coefficients[opponents]
    p = probabilities(d, _tie(fit.design, fit.coefficients))
    slope = (p[:, 0] * (1 - p[:, 0]) + p[:, 1] * (1 - p[:, 1]) + 2 * p[:, 0] * p[:, 1]) / 4
    gradient = np.zeros(fit.coefficients.size)
    gradient[opponents] = -slope / opponents.size
    gradient[system] = slope.mean()
    if fit.design.has_ties:
        gradient[-1] = float(np.mean(p[:, 2] * (p[:, 1] - p[:, 0]) / 2))
    value = float(np.mean(p[:, 0] + p[:, 2] / 2))
    n = fit.design.n_comparisons(system)
    return clip_interval(fit.linear(value, gradient, n=n, null=None), 0.0, 1.0)


def _tie(design: Design, beta: FloatArray) -> float:
    """Return the log-weight of a tie, -inf in a model without ties."""
    return float(beta[-1]) if design.has_ties else -np.inf


def _derivatives(data: Design, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each row's score, shape (n, k), and the penalised information, shape (k, k)."""
    k = data.design.shape[1]
    p = probabilities(data.design @ beta[:k], _tie(data, beta))
    lean = p[:, 0] - p[:, 1]
    residual = (data.outcomes[:, 0] - data.outcomes[:, 1] - lean) / 2
    spread = (p[:, 0] + p[:, 1] - lean**2) / 4
    scores = data.design * residual[:, None]
    information = data.design.T @ (data.design * spread[:, None])
    if data.has_ties:
        cross = data.design.T @ (-p[:, 2] * lean / 2)
        own = float(np.sum(p[:, 2] * (1 - p[:, 2])))
        scores = np.column_stack([scores, data.outcomes[:, 2] - p[:, 2]])
        information = np.block([[information, cross[:, None]], [cross[None, :], np.array([[own]])]])
    return scores, information + RIDGE * np.eye(len(information))


def _newton(data: Design) -> FloatArray:
    """Return the penalised maximum; steps are bounded, since the first ones may overshoot."""
    beta = np.zeros(data.design.shape[1] + data.has_ties)
    for _ in range(_MAX_STEPS):
        scores, information = _derivatives(data, beta)
        step = np.linalg.solve(information, scores.sum(axis=0) - RIDGE * beta)
        longest = float(np.max(np.abs(step)))
        beta = beta + step * min(1.0, _LONGEST_STEP / longest if longest else 1.0)
        if longest < _TOLERANCE:
            break
    return beta


def _ranked(
    comparisons: Comparisons, fit: Fit, rng: np.random.Generator
) -> tuple[RankedSystem, ...]:
    systems = []
    places = fit.design.places
    for system, (name, rank) in enumerate(zip(fit.design.names, fit.ranks(rng), strict=True)):
        rows = np.flatnonzero(np.any(places == system, axis=1))
        wins = comparisons.wins[rows]
        own = np.where(places[rows, 0] == system, wins, 1.0 - wins)
        documents = [comparisons.documents[row] for row in rows]
        systems.append(
            RankedSystem(
                system=name,
                strength=fit.strength(system),
                expected_win_rate=_expected_win_rate(fit, system),
                win_rate=clip_interval(clustered_mean(own, documents, level=fit.level), 0.0, 1.0),
                **rank._asdict(),
            )
        )
    return tuple(sorted(systems, key=lambda ranked: (ranked.rank, ranked.system)))
