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

from fairjudge.calibration.paired_comparisons import MIN_DOCUMENTS, ranks
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
    """Fit the Plackett-Luce model, with expanded percentile bootstrap intervals over documents.

    Resamples in which some systems never lose to the others have no finite worths and are excluded;
    if more than a tenth are, there are no intervals. Ranks have simultaneous bounds, from intervals
    of all differences with the maximum |t| over pairs in the resamples, as in
    `fairjudge.calibration.paired_comparisons.Fit.ranks`. Undefined without rankings, or if the
    systems form sets that are never ranked together.

    Raises
    ------
    StatisticsError
        For unequal lengths, a ranking of fewer than two systems, or a ranking with a system twice.
    """
    check_level(level)
    same_length(rankings=rankings.rankings, documents=rankings.documents)
    for ranking in rankings.rankings:
        if len(ranking) < 2 or len(set(ranking)) < len(ranking):
            raise StatisticsError(f"a ranking must hold two or more different systems: {ranking!r}")
    if not rankings.rankings:
        return Undefined(why="no rankings")
    data = _Data.from_rankings(rankings)
    all_documents = np.ones(data.n_documents)
    n_components = data.n_parts(all_documents, "weak")
    if n_components > 1:
        return Undefined(why=f"systems fall into {n_components} sets that are never compared")
    separated = data.n_parts(all_documents, "strong") > 1
    fits = _Fits(data)
    estimates = bootstrap_many(
        fits.statistic,
        n_documents=data.n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method="expanded",
    )
    reason = None
    if separated:
        reason = "some systems never lose to the others"
    elif data.n_documents < MIN_DOCUMENTS:
        reason = f"fewer than {MIN_DOCUMENTS} documents"
    worths = [_worth_estimate(estimate, reason) for estimate in estimates]
    has_intervals = worths[0].low is not None
    is_above = (
        _significantly_above(fits.replicates[0][0], fits.resampled_log_worths(), level)
        if has_intervals
        else None
    )
    n_pairs = sum(len(ranking) * (len(ranking) - 1) // 2 for ranking in rankings.rankings)
    return Ranking(
        systems=_rank_systems(rankings, data, worths, is_above, level=level),
        position_effect=Undefined(why="not part of the model of rankings"),
        tie_weight=Undefined(why="rankings have no ties"),
        separated=separated,
        n_comparisons=n_pairs,
        n_ties=0,
        n_documents=data.n_documents,
        level=level,
    )


def _worth_estimate(estimate: Estimate | Undefined, reason: str | None) -> Estimate:
    if isinstance(estimate, Undefined):  # cannot happen: worths on the data are finite
        raise StatisticsError(f"no worth: {estimate.why}")
    if reason is not None:
        return replace(estimate, low=None, high=None, method=f"no interval: {reason}")
    return estimate if estimate.low is None else replace(estimate, method=_METHOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """``positions``, shape (n, longest ranking), has systems from the best, then `_NO_SYSTEM`."""

    names: tuple[str, ...]
    positions: IntArray
    documents: IntArray
    n_documents: int

    @staticmethod
    def from_rankings(rankings: Rankings) -> _Data:
        system_codes, names = codes([name for ranking in rankings.rankings for name in ranking])
        max_length = max(map(len, rankings.rankings))
        positions = np.full((len(rankings.rankings), max_length), _NO_SYSTEM, dtype=np.int64)
        lengths = np.array([len(ranking) for ranking in rankings.rankings])
        positions[np.arange(max_length) < lengths[:, None]] = system_codes
        documents, n_documents = document_codes(rankings.documents, len(rankings.rankings))
        return _Data(
            names=tuple(map(str, names)),
            positions=positions,
            documents=documents,
            n_documents=n_documents,
        )

    @property
    def n_systems(self) -> int:
        return len(self.names)

    def n_parts(self, counts: FloatArray, connection: Connection) -> int:
        """Count the connected components of the graph of adjacent systems in rankings."""
        rankings = self.positions[counts[self.documents] > 0]
        better, worse = rankings[:, :-1].ravel(), rankings[:, 1:].ravel()
        is_system = worse != _NO_SYSTEM
        pairs = better[is_system], worse[is_system]
        return count_components(pairs, self.n_systems, connection)

    def log_worths(self, counts: FloatArray) -> FloatArray:
        """Fit the log-worths, which sum to 0, with multiplicities `counts` of documents."""
        n_systems, weights = self.n_systems, counts[self.documents]
        is_system = self.positions != _NO_SYSTEM
        system = np.where(is_system, self.positions, 0)
        # The last system of a ranking wins nothing, since no other system is left.
        is_win = is_system & np.column_stack(
            [is_system[:, 1:], np.zeros(len(is_system), dtype=bool)]
        )
        n_wins = np.bincount(
            system[is_win], np.broadcast_to(weights[:, None], is_win.shape)[is_win], n_systems
        )
        log_worths = np.zeros(n_systems)
        for _ in range(_MAX_STEPS):
            worths = np.where(is_system, np.exp(log_worths)[system], 0.0)
            worths_of_unplaced = np.cumsum(worths[:, ::-1], axis=1)[:, ::-1]
            terms = np.where(
                is_win, weights[:, None] / np.where(is_win, worths_of_unplaced, 1.0), 0.0
            )
            cumulative_terms = np.cumsum(terms, axis=1)  # at this position and before
            sums = np.bincount(system[is_system], cumulative_terms[is_system], n_systems)
            new_worths = (n_wins + PRIOR) / (sums + PRIOR)
            # The likelihood is invariant to scale; the prior fixes the mean at 1.
            previous_logs, log_worths = log_worths, np.log(new_worths / new_worths.mean())
            if np.max(np.abs(log_worths - previous_logs)) < _TOLERANCE:
                break
        return np.asarray(log_worths - log_worths.mean())


@dataclass(frozen=True, slots=True)
class _Fits:
    """Log-worths and expected win rates by resample; stores the log-worths, for ranks."""

    data: _Data
    replicates: list[FloatArray] = field(default_factory=list)

    def statistic(self, counts: FloatArray) -> FloatArray:
        """Return log-worths and win rates, (r, 2 k); NaN for resamples without finite worths."""
        is_data = not self.replicates  # the data, whose worths the prior keeps finite
        logs = np.array(
            [
                self.data.log_worths(row)
                if is_data or self.data.n_parts(row, "strong") == 1
                else np.full(self.data.n_systems, np.nan)
                for row in counts
            ]
        )
        self.replicates.append(logs)
        return np.column_stack([logs, _expected_win_rates(logs)])

    def resampled_log_worths(self) -> FloatArray:
        logs = np.concatenate(self.replicates[1:])
        return logs[~np.isnan(logs).any(axis=1)]


def _expected_win_rates(logs: FloatArray) -> FloatArray:
    """Return each system's mean probability of ranking before the others, shape (r, k)."""
    n_systems = logs.shape[1]
    win_probabilities = 1.0 / (1.0 + np.exp(logs[:, None, :] - logs[:, :, None]))
    return np.asarray(
        (win_probabilities.sum(axis=2) - 0.5) / (n_systems - 1)
    )  # minus its 0.5 against itself


def _significantly_above(logs: FloatArray, resampled_logs: FloatArray, level: float) -> np.ndarray:
    """Return for each pair [i, j] whether i is significantly above j, simultaneously at `level`."""
    pairs = list(combinations(range(logs.size), 2))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    differences = logs[first] - logs[second]
    resampled_differences = resampled_logs[:, first] - resampled_logs[:, second]
    standard_errors = resampled_differences.std(axis=0, ddof=1)
    standard_errors[standard_errors <= _ROUNDING] = np.inf
    critical_value = float(
        np.quantile(
            np.max(np.abs(resampled_differences - differences) / standard_errors, axis=1), level
        )
    )
    is_above = np.zeros((logs.size,) * 2, dtype=bool)
    is_above[first, second] = differences / standard_errors > critical_value
    is_above[second, first] = -differences / standard_errors > critical_value
    return is_above


def _rank_systems(
    rankings: Rankings,
    data: _Data,
    estimates: Sequence[Estimate],
    is_above: np.ndarray | None,
    *,
    level: float,
) -> tuple[RankedSystem, ...]:
    n_systems = data.n_systems
    strengths = np.array([estimate.value for estimate in estimates[:n_systems]])
    systems = []
    for system, rank in enumerate(ranks(strengths, is_above, rounding=_ROUNDING)):
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
                expected_win_rate=replace(estimates[n_systems + system], n=len(results)),
                win_rate=clip_interval(clustered_mean(rates, documents, level=level), 0.0, 1.0),
                **rank._asdict(),
            )
        )
    return tuple(sorted(systems, key=lambda ranked: (ranked.rank, ranked.system)))
