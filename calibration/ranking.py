"""Ranking systems by pairwise judgements: Bradley-Terry with ties and a term for position.

Davidson's model (1970) with the order effect of Davidson and Beaver (1977). With log-strengths s,
position effect g (x = 1 where a stood first, -1 where b did, 0 if unknown) and log tie weight v,
``d = s_a - s_b + g x`` and P(a), P(b), P(tie) are proportional to exp(d / 2), exp(-d / 2), exp(v).
The likelihood is concave; without ties it is the plain Bradley-Terry model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from fairjudge.calibration.paired_comparisons import (
    Comparisons,
    Design,
    check_comparisons,
    probabilities,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import (
    FloatArray,
    check_level,
    totals,
)
from fairjudge.stats.clustered import clustered_mean, t_estimate, within

RIDGE = 1e-4
"""Penalty on coefficients: fixes the strengths' sum, and keeps a system that always wins finite."""
FEWEST_DOCUMENTS = 5
"""Below this many documents there are no intervals: their variance cannot be estimated."""
_MAX_STEPS = 200
_LONGEST_STEP = 2.0
_LEVEL = 1e-9
"""Difference of strengths, in log-odds, below which systems share a rank: it is rounding."""
_TOLERANCE = 1e-10
_DRAWS = 4000
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

    Intervals are Student's on documents - 1 degrees. Ranks: all pairwise differences get
    simultaneous intervals by the largest |t| over pairs in draws from the coefficients' normal
    distribution; a system's best rank is one after those surely above it, its worst one before
    those surely below (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3). Undefined for no
    comparisons, or where some systems are never compared with the others.

    Raises
    ------
    StatisticsError
        Unequal lengths, a system against itself, or values other than those documented.
    """
    check_level(level)
    check_comparisons(comparisons)
    if not len(comparisons.wins):
        return Undefined(why="no comparisons")
    data = Design.of(comparisons)
    n_parts = data.n_parts("weak")
    if n_parts > 1:
        return Undefined(why=f"systems fall into {n_parts} sets that are never compared")
    model = _Model.fitted(data, level)
    return Ranking(
        systems=_ranked(comparisons, model, rng),
        position_effect=model.position_effect(),
        tie_weight=model.tie_weight(),
        separated=model.separated,
        n_comparisons=len(comparisons.wins),
        n_ties=int(np.sum(comparisons.wins == 0.5)),
        n_documents=data.n_documents,
        level=level,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """Coefficients: strengths, then the position effect, then the tie weight, where there."""

    data: Design
    coefficients: FloatArray
    covariance: FloatArray
    separated: bool
    level: float

    @staticmethod
    def fitted(data: Design, level: float) -> _Model:
        beta = _newton(data)
        scores, information = _derivatives(data, beta)
        inverse = np.linalg.inv(information)
        sums = totals(scores, data.documents, data.n_documents)
        d = data.n_documents
        middle = sums.T @ sums * (d / (d - 1) if d > 1 else 1.0)
        return _Model(
            data=data,
            coefficients=beta,
            covariance=inverse @ middle @ inverse,
            separated=data.n_parts("strong") > 1,
            level=level,
        )

    @property
    def n_systems(self) -> int:
        return len(self.data.names)

    @property
    def tie(self) -> float:
        return float(self.coefficients[-1]) if self.data.has_ties else -np.inf

    @property
    def freedom(self) -> int:
        d = self.data.n_documents
        return d - 1 if d >= FEWEST_DOCUMENTS and not self.separated else 0

    def linear(self, value: float, gradient: FloatArray, *, n: int, null: float | None) -> Estimate:
        """Return `value` with the interval that `gradient`, its derivative, gives it."""
        estimate = t_estimate(
            value,
            max(float(gradient @ self.covariance @ gradient), 0.0),
            n=n,
            freedom=self.freedom,
            level=self.level,
            null=null,
        )
        if estimate.low is not None:
            return replace(estimate, method=_METHOD)
        why = (
            "some systems never lose to the others"
            if self.separated
            else f"fewer than {FEWEST_DOCUMENTS} documents"
        )
        return replace(estimate, method=f"no interval: {why}")

    def contrast(self, gradient: FloatArray, *, n: int) -> Estimate:
        return self.linear(float(gradient @ self.coefficients), gradient, n=n, null=0.0)

    def coefficient(self, place: int) -> Estimate:
        return self.contrast(np.eye(self.coefficients.size)[place], n=len(self.data.design))

    def position_effect(self) -> Estimate | Undefined:
        if self.data.confounded:
            why = "position and system are confounded: the same system was always first"
            return Undefined(why=why)
        if not self.data.has_position:
            return Undefined(why="no judgement says which summary stood first")
        return self.coefficient(self.n_systems)

    def tie_weight(self) -> Estimate | Undefined:
        return self.coefficient(-1) if self.data.has_ties else Undefined(why="no ties")

    def strength(self, system: int, *, n: int) -> Estimate:
        gradient = np.eye(self.coefficients.size)[system]
        gradient[: self.n_systems] -= 1.0 / self.n_systems
        return self.contrast(gradient, n=n)

    def expected_win_rate(self, system: int, *, n: int) -> Estimate | Undefined:
        """Return the mean over the others of P(win) + P(tie) / 2, with its exact derivative."""
        opponents = np.delete(np.arange(self.n_systems), system)
        d = self.coefficients[system] - self.coefficients[opponents]
        p = probabilities(d, self.tie)
        slope = (p[:, 0] * (1 - p[:, 0]) + p[:, 1] * (1 - p[:, 1]) + 2 * p[:, 0] * p[:, 1]) / 4
        gradient = np.zeros(self.coefficients.size)
        gradient[opponents] = -slope / opponents.size
        gradient[system] = slope.mean()
        if self.data.has_ties:
            gradient[-1] = float(np.mean(p[:, 2] * (p[:, 1] - p[:, 0]) / 2))
        value = float(np.mean(p[:, 0] + p[:, 2] / 2))
        return within(self.linear(value, gradient, n=n, null=None), 0.0, 1.0)


def _derivatives(data: Design, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each row's score, shape (n, k), and the penalised information, shape (k, k)."""
    k = data.design.shape[1]
    p = probabilities(data.design @ beta[:k], beta[-1] if data.has_ties else -np.inf)
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
    comparisons: Comparisons, model: _Model, rng: np.random.Generator
) -> tuple[RankedSystem, ...]:
    data, k = model.data, model.n_systems
    out = []
    strengths = model.coefficients[:k]
    above = (
        surely_above(
            strengths,
            model.covariance[:k, :k],
            freedom=model.freedom,
            level=model.level,
            rng=rng,
        )
        if model.freedom
        else None
    )
    for system, name in enumerate(data.names):
        rows = np.any(data.places == system, axis=1)
        own = np.where(
            data.places[rows, 0] == system, comparisons.wins[rows], 1.0 - comparisons.wins[rows]
        )
        n = int(rows.sum())
        met = [comparisons.documents[row] for row in np.flatnonzero(rows)]
        out.append(
            RankedSystem(
                system=name,
                strength=model.strength(system, n=n),
                expected_win_rate=model.expected_win_rate(system, n=n),
                win_rate=within(clustered_mean(own, met, level=model.level), 0.0, 1.0),
                rank=rank_of(strengths, system),
                best_rank=None if above is None else 1 + int(above[:, system].sum()),
                worst_rank=None if above is None else k - int(above[system].sum()),
            )
        )
    return tuple(sorted(out, key=lambda ranked: (ranked.rank, ranked.system)))


def rank_of(strengths: FloatArray, system: int) -> int:
    """Return a system's rank from 1; what differs by rounding alone shares one."""
    return 1 + int(np.sum(strengths > strengths[system] + _LEVEL))


def surely_above(
    strengths: FloatArray,
    covariance: FloatArray,
    *,
    freedom: int,
    level: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Say of each pair [i, j] whether i is above j, all at once at `level`.

    `strengths` has shape (k,), their `covariance` (k, k); `freedom` is 1 or more.
    """
    k, part = strengths.size, covariance
    spread = np.diag(part)[:, None] + np.diag(part)[None, :] - 2 * part
    error = np.sqrt(np.maximum(spread, 0.0))
    error[error <= 1e-9] = np.inf
    values, vectors = np.linalg.eigh(part)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normals = rng.standard_normal((_DRAWS, k)) @ root.T
    scale = np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)
    largest = np.max(
        [np.max(np.abs(normals - normals[:, [i]]) / error[i], axis=1) for i in range(k)], axis=0
    )
    largest = largest / scale
    critical = max(
        float(np.quantile(largest, level)),
        float(stdtrit(freedom, (1 + level) / 2)),
    )
    return np.asarray((strengths[:, None] - strengths[None, :]) / error > critical)
