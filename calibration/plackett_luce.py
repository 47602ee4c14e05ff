"""Ranking of systems from rankings: the Plackett-Luce model, fitted with Hunter's MM algorithm.

Positions are filled from the top: with worths w, system i takes the next position with probability
w_i / (sum of the worths of all unplaced systems) (Luce 1959; Plackett 1975). For two systems this
is the Bradley-Terry model: i ranks before j with probability w_i / (w_i + w_j).

Update step (Hunter 2004, MM algorithms for generalized Bradley-Terry models, Annals of Statistics
32, section 5): w_i = number of rankings in which i is not last / sum of 1 / (worths of unplaced
systems) over all positions, except the last, that were filled while i was unplaced. A gamma prior
with mode 1, under which the step remains explicit (Caron and Doucet 2012), keeps the worth of an
undefeated system finite.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from fairjudge.calibration.paired_comparisons import FEWEST_DOCUMENTS, ranks
from fairjudge.calibration.ranking import RankedSystem, Ranking
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    check_level,
    codes,
    document_codes,
    same_length,
)
from fairjudge.stats.bootstrap import bootstrap_many
from fairjudge.stats.clustered import clip_interval, clustered_mean
from fairjudge.stats.strengths import Connection, count_components

PRIOR = 1e-4
"""Weight of the prior, in rankings; it fixes the scale and keeps worths finite."""
N_RESAMPLES = 500
_MAX_STEPS = 2000
_TOLERANCE = 1e-8
"""Convergence tolerance: maximum change of a log-worth in the last step."""
_ROUNDING = 1e-6
"""Difference of log-worths below which systems share a rank (rounding errors)."""
_NO_SYSTEM = -1
_METHOD = "Plackett-Luce, expanded percentile bootstrap over documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """n rankings of systems, each from best to worst, and their documents."""

    rankings: tuple[tuple[str, ...], ...]
    documents: tuple[Hashable, ...]


def rank_by_rankings(
    rankings: Rankings,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
) -> Ranking | Undefined:
    """Fit the model, with a percentile bootstrap over documents, expanded for few of them.

    A resample in which some systems never lose to the others has no finite worths, and is left out;
    where more than a tenth are, there are no intervals. Ranks hold for all systems at once: all
    differences get simultaneous intervals by the largest |t| over pairs in the resamples, as in
    `fairjudge.calibration.paired_comparisons.Fit.ranks`. Undefined for no rankings, or where some
    systems are never ranked with the others.

    Raises
    ------
    StatisticsError
        Unequal lengths, a ranking of fewer than two, or one that names a system twice.
    """
    check_level(level)
    same_length(rankings=rankings.rankings, documents=rankings.documents)
    for ranking in rankings.rankings:
        if len(ranking) < 2 or len(set(ranking)) < len(ranking):
            raise StatisticsError(f"a ranking must hold two or more different systems: {ranking!r}")
    if not rankings.rankings:
        return Undefined(why="no rankings")
    data = _Data.of(rankings)
    ones = np.ones(data.n_documents)
    n_parts = data.n_parts(ones, "weak")
    if n_parts > 1:
        return Undefined(why=f"systems fall into {n_parts} sets that are never compared")
    separated = data.n_parts(ones, "strong") > 1
    fits = _Fits(data)
    estimates = bootstrap_many(
        fits.statistic,
        n_documents=data.n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method="expanded",
    )
    why = None
    if separated:
        why = "some systems never lose to the others"
    elif data.n_documents < FEWEST_DOCUMENTS:
        why = f"fewer than {FEWEST_DOCUMENTS} documents"
    bounded_estimates = [_checked_estimate(estimate, why) for estimate in estimates]
    bounded = bounded_estimates[0].low is not None
    above = _surely_above(fits.replicates[0][0], fits.resampled(), level) if bounded else None
    n_pairs = sum(len(ranking) * (len(ranking) - 1) // 2 for ranking in rankings.rankings)
    return Ranking(
        systems=_rank_systems(rankings, data, bounded_estimates, above, level=level),
        position_effect=Undefined(why="not part of the model of rankings"),
        tie_weight=Undefined(why="rankings have no ties"),
        separated=separated,
        n_comparisons=n_pairs,
        n_ties=0,
        n_documents=data.n_documents,
        level=level,
    )


def _checked_estimate(estimate: Estimate | Undefined, why: str | None) -> Estimate:
    if isinstance(estimate, Undefined):  # not on the data themselves, whose worths are finite
        raise StatisticsError(f"no worth: {estimate.why}")
    if why is not None:
        return replace(estimate, low=None, high=None, method=f"no interval: {why}")
    return estimate if estimate.low is None else replace(estimate, method=_METHOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """``placed`` has shape (n, longest): systems from the best, then `_NO_SYSTEM`."""

    names: tuple[str, ...]
    placed: IntArray
    documents: IntArray
    n_documents: int

    @staticmethod
    def of(rankings: Rankings) -> _Data:
        coded, names = codes([name for ranking in rankings.rankings for name in ranking])
        longest = max(map(len, rankings.rankings))
        placed = np.full((len(rankings.rankings), longest), _NO_SYSTEM, dtype=np.int64)
        lengths = np.array([len(ranking) for ranking in rankings.rankings])
        placed[np.arange(longest) < lengths[:, None]] = coded
        documents, n_documents = document_codes(rankings.documents, len(rankings.rankings))
        return _Data(
            names=tuple(map(str, names)),
            placed=placed,
            documents=documents,
            n_documents=n_documents,
        )

    @property
    def n_systems(self) -> int:
        return len(self.names)

    def n_parts(self, counts: FloatArray, connection: Connection) -> int:
        """Count the connected components of the graph of adjacent systems in rankings."""
        rankings = self.placed[counts[self.documents] > 0]
        before, after = rankings[:, :-1].ravel(), rankings[:, 1:].ravel()
        is_system = after != _NO_SYSTEM
        pairs = before[is_system], after[is_system]
        return count_components(pairs, self.n_systems, connection)

    def log_worths(self, counts: FloatArray) -> FloatArray:
        """Return the log-worths, adding up to 0, where documents count `counts` times."""
        k, weights = self.n_systems, counts[self.documents]
        is_system = self.placed != _NO_SYSTEM
        system = np.where(is_system, self.placed, 0)
        # The last of each ranking is placed for lack of others: it wins no place.
        wins = is_system & np.column_stack([is_system[:, 1:], np.zeros(len(is_system), dtype=bool)])
        n_wins = np.bincount(system[wins], np.broadcast_to(weights[:, None], wins.shape)[wins], k)
        logs = np.zeros(k)
        for _ in range(_MAX_STEPS):
            worths = np.where(is_system, np.exp(logs)[system], 0.0)
            worths_left = np.cumsum(worths[:, ::-1], axis=1)[:, ::-1]
            per_place = np.where(wins, weights[:, None] / np.where(wins, worths_left, 1.0), 0.0)
            faced = np.cumsum(per_place, axis=1)  # by who stands there: at this place and before
            sums = np.bincount(system[is_system], faced[is_system], k)
            worth = (n_wins + PRIOR) / (sums + PRIOR)
            # The likelihood knows no scale, and the prior wants a mean of 1.
            before, logs = logs, np.log(worth / worth.mean())
            if np.max(np.abs(logs - before)) < _TOLERANCE:
                break
        return np.asarray(logs - logs.mean())


@dataclass(frozen=True, slots=True)
class _Fits:
    """Log-worths and expected win rates by resample; the log-worths are kept, for ranks."""

    data: _Data
    replicates: list[FloatArray] = field(default_factory=list)

    def statistic(self, counts: FloatArray) -> FloatArray:
        """Return shape (r, 2 k); a resample without finite worths is undefined."""
        first = not self.replicates  # the data themselves, for which the prior stands in
        logs = np.array(
            [
                self.data.log_worths(row)
                if first or self.data.n_parts(row, "strong") == 1
                else np.full(self.data.n_systems, np.nan)
                for row in counts
            ]
        )
        self.replicates.append(logs)
        return np.column_stack([logs, _expected_wins(logs)])

    def resampled(self) -> FloatArray:
        logs = np.concatenate(self.replicates[1:])
        return logs[~np.isnan(logs).any(axis=1)]


def _expected_wins(logs: FloatArray) -> FloatArray:
    """Return each system's mean probability of ranking before another, shape (r, k)."""
    k = logs.shape[1]
    beats = 1.0 / (1.0 + np.exp(logs[:, None, :] - logs[:, :, None]))
    return np.asarray((beats.sum(axis=2) - 0.5) / (k - 1))  # a half is what it is to itself


def _surely_above(logs: FloatArray, resampled: FloatArray, level: float) -> np.ndarray:
    """Say of each pair [i, j] whether i is above j, all at once at `level`."""
    pairs = list(combinations(range(logs.size), 2))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    difference = logs[first] - logs[second]
    gaps = resampled[:, first] - resampled[:, second]
    error = gaps.std(axis=0, ddof=1)
    error[error <= _ROUNDING] = np.inf
    critical = float(np.quantile(np.max(np.abs(gaps - difference) / error, axis=1), level))
    above = np.zeros((logs.size,) * 2, dtype=bool)
    above[first, second] = difference / error > critical
    above[second, first] = -difference / error > critical
    return above


def _rank_systems(
    rankings: Rankings,
    data: _Data,
    estimates: Sequence[Estimate],
    above: np.ndarray | None,
    *,
    level: float,
) -> tuple[RankedSystem, ...]:
    k = data.n_systems
    strengths = np.array([estimate.value for estimate in estimates[:k]])
    systems = []
    for system, rank in enumerate(ranks(strengths, above, rounding=_ROUNDING)):
        name = data.names[system]
        results = [
            (1.0 - ranking.index(name) / (len(ranking) - 1), document)
            for ranking, document in zip(rankings.rankings, rankings.documents, strict=True)
            if name in ranking
        ]
        rates, documents = [rate for rate, _ in results], [document for _, document in results]
        systems.append(
            RankedSystem(
                system=name,
                strength=replace(estimates[system], n=len(results)),
                expected_win_rate=replace(estimates[k + system], n=len(results)),
                win_rate=clip_interval(clustered_mean(rates, documents, level=level), 0.0, 1.0),
                **rank._asdict(),
            )
        )
    return tuple(sorted(systems, key=lambda ranked: (ranked.rank, ranked.system)))
