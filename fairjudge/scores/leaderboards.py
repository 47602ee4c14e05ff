"""Leaderboards: systems ranked by their judgements, with intervals over documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairjudge.calibration.constancy import Constant, constant_scores
from fairjudge.calibration.grouping import GroupKey, with_group_keys
from fairjudge.domain import Estimate, Judgement, Undefined
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.scorers.trained_record import (
    coverage_accuracy,
    faithfulness_aucs,
    trained_folder,
)
from fairjudge.scores.aggregate import (
    MIN_PERCENT,
    SystemScore,
    cluster_means,
    shared_clusters,
    system_scores,
)
from fairjudge.scores.missing import Missing, count_missing, without_probabilities
from fairjudge.scores.ratings import ScoreRow
from fairjudge.scores.strengths import strengths
from fairjudge.stats.bootstrap import FEW_DOCUMENTS, bootstrap_many, divide
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.calibration.ranking import RankedSystem, Ranking

_Estimate = Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One row of a leaderboard: a system's score, mean, difference to the leader, and ranks.

    ``behind`` is the leader's mean minus the system's mean. ``mean`` and ``behind`` have intervals
    from the same resamples of clusters. ``mean`` is over the clusters on which the system was
    scored, ``behind`` over those that all ranked systems share; it is None for the leader and for
    systems that are not ranked.

    ``ranks`` are the best and the worst possible rank by 95 % intervals, or None. A difference of
    two systems on the shared clusters is significant if its interval excludes 0. The best rank
    follows the systems that are significantly better, the worst precedes those significantly worse.
    Systems that are not ranked have no ranks, nor does any system with fewer than `MIN_CLUSTERS`
    shared clusters. If pairs are compared in an incomplete design, ``place`` is the estimated
    strength, which defines the ranks, and ``behind`` is None.
    """

    score: SystemScore
    mean: _Estimate
    behind: _Estimate | None
    place: RankedSystem | None = None
    ranks: tuple[int, int] | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the difference to the leader is above 0 by its interval; None without one."""
        if not isinstance(self.behind, Estimate) or self.behind.low is None:
            return None
        return self.behind.low > 0


WEIGHTING = "items of a cluster have equal weight, and so do clusters"
"""The weighting of every mean of a system, for readers."""
MIN_CLUSTERS = 5
"""Minimum number of clusters for ranks and intervals."""


def weak_judge_caveat(aspect: str, judge: str = "local") -> str:
    """Return the caveat for results on `aspect` by a judge of the embedded default."""
    folder = trained_folder(judge)
    if aspect in {"coverage", BALANCE}:
        nouns = "statements of sources" if aspect == BALANCE else "answers"
        accuracy = f"balanced accuracy {coverage_accuracy(folder):.2f} at detecting covered {nouns}"
    else:
        low, high = faithfulness_aucs(folder)
        accuracy = f"AUC of right against wrong summaries {low:.2f} to {high:.2f} by data set"
    return (
        f"By the embedded default, a weak judge of {aspect}: {accuracy}, on held-out documents "
        "(docs/local.md). Calibrate before trusting the level."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The systems as ranked by one judge, best first.

    ``unit`` is the judged unit: summary, sentence, article or answer. ``scale_range`` is None if a
    value is outside the protocol's usual range, so that the scale is unknown. ``missing`` are the
    items without a score. ``n_by_default`` judgements are by the embedded default.
    ``without_probabilities`` counts, by reason, values that should use token probabilities but do
    not. ``derived`` is True for judgements derived from checklists, without requests. ``ranking``
    are the strengths of systems compared in an incomplete design, or the reason why there are none;
    None for other designs. ``constant`` is set if all scored items have the same value.
    """

    judge: str
    aspect: str
    protocol: str
    unit: str
    standings: tuple[Standing, ...]
    scale_range: tuple[float, float] | None
    n_judgements: int
    missing: Missing
    n_by_default: int = 0
    without_probabilities: Mapping[str, int] = field(default_factory=dict)
    derived: bool = False
    ranking: Ranking | Undefined | None = None
    constant: Constant | None = None

    @property
    def protocol_label(self) -> str:
        """The protocol's label in tables."""
        return f"{self.protocol} from checklists" if self.derived else self.protocol


def is_derived(row: Judgement) -> bool:
    """Return whether a judgement was derived from a checklist, without a call."""
    return "derived_from" in (row.model_extra or {})


def unranked_note(scores: Iterable[SystemScore]) -> str | None:
    """Return a note on the systems that are not ranked, with the reason; None if all are."""
    scores_with_clusters = [score for score in scores if score.n_clusters]
    unranked_systems = [score.system for score in scores_with_clusters if not score.ranked]
    if not unranked_systems:
        return None
    if len(unranked_systems) == len(scores_with_clusters):
        return f"No system is ranked: {scores_with_clusters[0].why}."
    max_clusters = max(score.n_clusters for score in scores_with_clusters)
    reason = f"scored on fewer than {MIN_PERCENT} % of {pluralize(max_clusters, 'cluster')}"
    return f"Not ranked: {', '.join(unranked_systems)}, {reason}."


def narrow_interval_caveat(n_clusters: int) -> str:
    """Return a caveat if intervals from `n_clusters` are too narrow, else ""."""
    if not MIN_CLUSTERS <= n_clusters < FEW_DOCUMENTS:
        return ""
    return f"intervals from {pluralize(n_clusters, 'cluster')} are too narrow"


def n_compared(scores: Iterable[SystemScore]) -> int:
    """Return the number of clusters on which ranked systems are compared."""
    counts = (score.n_clusters if score.n_shared is None else score.n_shared for score in scores)
    return max(counts, default=0)


def shared_clusters_note(scores: Iterable[SystemScore]) -> str | None:
    """Return a note if systems are compared on a part of the clusters, None otherwise."""
    ranked_scores = [score for score in scores if score.ranked and score.n_shared is not None]
    n_shared = n_compared(ranked_scores)
    if all(score.n_clusters == n_shared for score in ranked_scores):
        return None
    return (
        f"Order, differences and ranks are over the {pluralize(n_shared, 'cluster')} that all "
        "ranked systems were scored on; a mean is over all clusters of its system."
    )


def missing_ranks_note(board: Leaderboard) -> str | None:
    """Return the reason if no ranks are shown for two or more ranked systems, None otherwise."""
    ranked_standings = [standing for standing in board.standings if standing.score.ranked]
    if len(ranked_standings) < 2 or any(standing.ranks for standing in ranked_standings):
        return None
    if n_compared(standing.score for standing in ranked_standings) >= MIN_CLUSTERS:
        return "Some system never loses: no confidence intervals, and no ranks shown."
    return f"Too few clusters (< {MIN_CLUSTERS}) for confidence intervals; no ranks shown."


def leaderboards(
    judgements: Iterable[Judgement], *, seed: int = 0, n_resamples: int = 2000
) -> tuple[Leaderboard, ...]:
    """Return one leaderboard per judge, aspect, protocol and kind of unit, in order of appearance.

    Judgements derived from checklists have separate leaderboards.
    """
    groups: dict[tuple[GroupKey, bool], list[Judgement]] = defaultdict(list)
    for key, row in with_group_keys(judgements):
        groups[key, is_derived(row)].append(row)
    return tuple(
        leaderboard(rows, unit=key.unit, derived=derived, seed=seed, n_resamples=n_resamples)
        for (key, derived), rows in groups.items()
    )


def _strength_ranges(systems: Iterable[RankedSystem]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank by strength, for each system that has both."""
    return {
        system.system: (system.best_rank, system.worst_rank)
        for system in systems
        if system.best_rank is not None and system.worst_rank is not None
    }


def _mean_ranges(
    scores: Sequence[SystemScore],
    means: Mapping[str, Mapping[str, float]],
    *,
    seed: int,
    n_resamples: int,
) -> dict[str, tuple[int, int]]:
    names = [score.system for score in scores if score.ranked and score.system in means]
    documents = shared_clusters({name: means[name] for name in names})
    if len(documents) < MIN_CLUSTERS:
        return {}
    table = _table([means[name] for name in names], documents)
    differences = (table[:, :, None] - table[:, None, :]).reshape(len(documents), -1)

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return divide(weights @ differences, weights.sum(axis=1, keepdims=True))

    estimates = bootstrap_many(
        statistic,
        n_documents=len(documents),
        rng=np.random.default_rng(seed),
        n_resamples=n_resamples,
        method="expanded",
    )
    lower_bounds = [
        difference.low if isinstance(difference, Estimate) else None for difference in estimates
    ]
    is_better = np.array([bound is not None and bound > 0 for bound in lower_bounds]).reshape(
        (len(names),) * 2
    )
    return {
        name: (1 + int(is_better[:, index].sum()), len(names) - int(is_better[index].sum()))
        for index, name in enumerate(names)
    }


def leaderboard(
    rows: Sequence[ScoreRow],
    *,
    unit: str,
    derived: bool = False,
    scale_range: tuple[float, float] | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Leaderboard:
    """Return the leaderboard of `rows`, which are of one judge, aspect, protocol and kind of unit.

    `scale_range` is the minimum and maximum of the scale, by default the protocol's.
    """
    span = scale_range or _scale_range(rows)
    scores = system_scores(rows, scale_range=span)
    means = cluster_means(rows)
    ranked_scores = [score for score in scores if score.system in means]
    estimates = _estimates(ranked_scores, means, np.random.default_rng(seed), n_resamples)
    estimates_by_system = dict(
        zip((score.system for score in ranked_scores), estimates, strict=True)
    )
    undefined = Undefined(why="no unit of this system was scored")
    ranking = strengths(rows, seed=seed)
    ranked_systems = () if ranking is None or isinstance(ranking, Undefined) else ranking.systems
    strength_by_system = {score.system: score for score in ranked_systems}
    ranges = (
        _mean_ranges(scores, means, seed=seed, n_resamples=n_resamples)
        if ranking is None
        else _strength_ranges(ranked_systems)
    )
    standings = []
    for index, score in enumerate(scores):
        mean, behind = estimates_by_system.get(score.system, (undefined, None))
        standings.append(
            Standing(
                score=score,
                mean=mean,
                behind=behind if index and score.ranked and ranking is None else None,
                place=strength_by_system.get(score.system),
                ranks=ranges.get(score.system),
            )
        )
    return Leaderboard(
        judge=rows[0].judge,
        aspect=rows[0].aspect,
        protocol=rows[0].protocol,
        unit=unit,
        standings=tuple(standings),
        scale_range=span,
        n_judgements=len(rows),
        missing=count_missing(rows),
        without_probabilities=without_probabilities(rows),
        n_by_default=sum(row.scored_by == "embedding" for row in rows),
        derived=derived,
        ranking=ranking,
        constant=constant_scores((row.value for row in rows), rows[0].protocol),
    )


def _scale_range(rows: Sequence[ScoreRow]) -> tuple[float, float] | None:
    low, high = PROTOCOLS[rows[0].protocol].score_range
    values = [row.value for row in rows if isinstance(row.value, int | float)]
    return (low, high) if all(low <= value <= high for value in values) else None


def _estimates(
    scores: Sequence[SystemScore],
    means: Mapping[str, Mapping[str, float]],
    rng: np.random.Generator,
    n_resamples: int,
) -> list[tuple[_Estimate, _Estimate]]:
    """Return each system's mean, and the mean of the first system minus it."""
    if not scores:
        return []
    cells = [means[score.system] for score in scores]
    documents = list(dict.fromkeys(eid for system_means in cells for eid in system_means))
    ranked_means = {score.system: means[score.system] for score in scores if score.ranked}
    shared_eids = set(shared_clusters(ranked_means))
    is_shared = np.array([[eid in shared_eids] for eid in documents])
    table = _table(cells, documents)
    sums, counts = np.nan_to_num(table), (~np.isnan(table)).astype(np.float64)

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        averages = divide(weights @ sums, weights @ counts)
        shared_averages = divide(
            weights @ (sums * is_shared), weights @ is_shared.astype(np.float64)
        )
        return np.hstack([averages, shared_averages[:, :1] - shared_averages])

    estimates = bootstrap_many(
        statistic,
        n_documents=len(documents),
        rng=rng,
        n_resamples=n_resamples,
        method="expanded",
        min_documents=MIN_CLUSTERS,
    )
    return list(zip(estimates[: len(cells)], estimates[len(cells) :], strict=True))


def _table(means: Sequence[Mapping[str, float]], documents: Sequence[str]) -> NDArray[np.float64]:
    """Return the means with one row per document and one column per system; nan if missing."""
    return np.array([[cells.get(eid, np.nan) for cells in means] for eid in documents])
