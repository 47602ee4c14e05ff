"""Systems ranked by their judgements, with intervals over documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairjudge.calibration.constancy import Constant, constant_scores
from fairjudge.calibration.grouping import GroupKey, keyed
from fairjudge.domain import Estimate, Judgement, Undefined
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.scorers.trained_record import (
    coverage_accuracy,
    faithfulness_areas,
    trained_folder,
)
from fairjudge.scores.aggregate import (
    LEAST_PERCENT,
    SystemScore,
    cluster_means,
    shared_clusters,
    system_scores,
)
from fairjudge.scores.missing import Missing, missing_of, without_probabilities
from fairjudge.scores.ratings import Rated
from fairjudge.scores.strengths import strengths
from fairjudge.stats.bootstrap import FEW_DOCUMENTS, bootstrap_many, divide
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.calibration.ranking import RankedSystem, Ranking

_Figure = Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system: ``score`` counts, ``mean`` and ``behind`` (the leader's mean less its own).

    Both have intervals on the same resamples of clusters. ``mean`` is over the clusters that the
    system was scored on, ``behind`` over those that all ranked systems share; it is None for the
    leader and for systems that are not ranked. ``ranks`` are the best and the worst rank that the
    system may have by 95 % intervals, or None. A difference of two systems, over the clusters that
    all ranked systems share, is significant where its interval excludes 0. A system's best rank
    comes after the systems significantly above it, its worst before those significantly below.
    Systems that are not ranked have none; with fewer than `FEWEST_CLUSTERS` shared clusters no
    system has. Where pairs are compared in an incomplete design, ``place`` has the strength, which
    gives the ranks, and there are no differences of means.
    """

    score: SystemScore
    mean: _Figure
    behind: _Figure | None
    place: RankedSystem | None = None
    ranks: tuple[int, int] | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the difference to the leader is above 0 by its interval; None without one."""
        if not isinstance(self.behind, Estimate) or self.behind.low is None:
            return None
        return self.behind.low > 0


WEIGHTING = "items weigh the same in a cluster, and clusters the same"
"""Of every mean over systems; in words for readers."""
FEWEST_CLUSTERS = 5
"""Clusters below which there are no ranks and intervals: too few to estimate them."""


def weak_judge(aspect: str, judge: str = "local") -> str:
    """Return the caveat for results on `aspect` by a judge of the embedded default."""
    folder = trained_folder(judge)
    if aspect in {"coverage", BALANCE}:
        nouns = "statements of sources" if aspect == BALANCE else "answers"
        does = f"balanced accuracy {coverage_accuracy(folder):.2f} at detecting covered {nouns}"
    else:
        low, high = faithfulness_areas(folder)
        does = f"AUC of right against wrong summaries {low:.2f} to {high:.2f} by data set"
    return (
        f"By the embedded default, a weak judge of {aspect}: {does}, on held-out documents "
        "(docs/local.md). Calibrate before trusting the level."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The systems as one judge sees them, best first.

    ``unit`` is what was judged: summary, sentence, article or answer. ``scale_range`` is None where
    a value lies outside the protocol's usual range, so that the scale is not known.
    ``missing`` are the items without a score; ``n_by_default`` of the judgements are the embedded
    default's; ``without_probabilities`` counts values that were to come from token probabilities,
    by the reason why they do not. ``derived``: they say what checklists do under this protocol, and
    and cost no request. ``ranking`` are the strengths by which systems compared in an
    incomplete design are ranked, or why there are none; None for any other. ``constant`` says that
    all scored items got one value.
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
        """The protocol as tables name it."""
        return f"{self.protocol} from checklists" if self.derived else self.protocol


def is_derived(row: Judgement) -> bool:
    """Whether a judgement was derived from a checklist, without a call of its own."""
    return "derived_from" in (row.model_extra or {})


def not_ranked(scores: Iterable[SystemScore]) -> str | None:
    """Return which systems are not ranked, and why; None if all are ranked."""
    scored = [score for score in scores if score.n_clusters]
    beside = [score.system for score in scored if not score.ranked]
    if not beside:
        return None
    if len(beside) == len(scored):
        return f"No system is ranked: {scored[0].why}."
    most = max(score.n_clusters for score in scored)
    few = f"scored on fewer than {LEAST_PERCENT} % of {pluralize(most, 'cluster')}"
    return f"Not ranked: {', '.join(beside)}, {few}."


def too_narrow(n_clusters: int) -> str:
    """Return a caution that intervals from `n_clusters` are too narrow, or ""."""
    if not FEWEST_CLUSTERS <= n_clusters < FEW_DOCUMENTS:
        return ""
    return f"intervals from {pluralize(n_clusters, 'cluster')} are too narrow"


def n_compared(scores: Iterable[SystemScore]) -> int:
    """Return on how many clusters ranked systems are compared."""
    counts = (score.n_clusters if score.n_shared is None else score.n_shared for score in scores)
    return max(counts, default=0)


def shared_only(scores: Iterable[SystemScore]) -> str | None:
    """Say that systems are compared on some of the clusters, where some lack a score there."""
    ranked = [score for score in scores if score.ranked and score.n_shared is not None]
    n_shared = n_compared(ranked)
    if all(score.n_clusters == n_shared for score in ranked):
        return None
    return (
        f"Order, differences and ranks are over the {pluralize(n_shared, 'cluster')} that all "
        "ranked systems were scored on; a mean is over all clusters of its system."
    )


def why_no_ranks(board: Leaderboard) -> str | None:
    """Say why no ranks are shown; None where some are, or no two systems are ranked."""
    ranked = [standing for standing in board.standings if standing.score.ranked]
    if len(ranked) < 2 or any(standing.ranks for standing in ranked):
        return None
    if n_compared(standing.score for standing in ranked) >= FEWEST_CLUSTERS:
        return "Some system never loses: no confidence intervals, and no ranks shown."
    return f"Too few clusters (< {FEWEST_CLUSTERS}) for confidence intervals; no ranks shown."


def leaderboards(
    judgements: Iterable[Judgement], *, seed: int = 0, n_resamples: int = 2000
) -> tuple[Leaderboard, ...]:
    """Return one leaderboard a judge, aspect, protocol and kind of unit, in order of appearance.

    What was derived from checklists stands apart from what was judged.
    """
    groups: dict[tuple[GroupKey, bool], list[Judgement]] = defaultdict(list)
    for key, row in keyed(judgements):
        groups[key, is_derived(row)].append(row)
    return tuple(
        leaderboard(rows, unit=key.unit, derived=derived, seed=seed, n_resamples=n_resamples)
        for (key, derived), rows in groups.items()
    )


def _strength_ranges(systems: Iterable[RankedSystem]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each system that has both, by its strength."""
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
    if len(documents) < FEWEST_CLUSTERS:
        return {}
    table = _table([means[name] for name in names], documents)
    differences = (table[:, :, None] - table[:, None, :]).reshape(len(documents), -1)

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return divide(weights @ differences, weights.sum(axis=1, keepdims=True))

    apart = bootstrap_many(
        statistic,
        n_documents=len(documents),
        rng=np.random.default_rng(seed),
        n_resamples=n_resamples,
        method="expanded",
    )
    low = [difference.low if isinstance(difference, Estimate) else None for difference in apart]
    above = np.array([bound is not None and bound > 0 for bound in low]).reshape((len(names),) * 2)
    return {
        name: (1 + int(above[:, place].sum()), len(names) - int(above[place].sum()))
        for place, name in enumerate(names)
    }


def leaderboard(
    rows: Sequence[Rated],
    *,
    unit: str,
    derived: bool = False,
    scale_range: tuple[float, float] | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Leaderboard:
    """Return the leaderboard of `rows`, which are of one judge, aspect, protocol and kind of unit.

    `scale_range` is the lowest and highest value of the scale, by default the protocol's.
    """
    span = scale_range or _scale_range(rows)
    scores = system_scores(rows, scale_range=span)
    means = cluster_means(rows)
    ranked_scores = [score for score in scores if score.system in means]
    estimates = _estimates(ranked_scores, means, np.random.default_rng(seed), n_resamples)
    figures = dict(zip((score.system for score in ranked_scores), estimates, strict=True))
    nothing = Undefined(why="no unit of this system was scored")
    ranking = strengths(rows, seed=seed)
    placed = () if ranking is None or isinstance(ranking, Undefined) else ranking.systems
    places = {score.system: score for score in placed}
    ranges = (
        _mean_ranges(scores, means, seed=seed, n_resamples=n_resamples)
        if ranking is None
        else _strength_ranges(placed)
    )
    standings = []
    for place, score in enumerate(scores):
        mean, behind = figures.get(score.system, (nothing, None))
        standings.append(
            Standing(
                score=score,
                mean=mean,
                behind=behind if place and score.ranked and ranking is None else None,
                place=places.get(score.system),
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
        missing=missing_of(rows),
        without_probabilities=without_probabilities(rows),
        n_by_default=sum(row.scored_by == "embedding" for row in rows),
        derived=derived,
        ranking=ranking,
        constant=constant_scores((row.value for row in rows), rows[0].protocol),
    )


def _scale_range(rows: Sequence[Rated]) -> tuple[float, float] | None:
    low, high = PROTOCOLS[rows[0].protocol].score_range
    values = [row.value for row in rows if isinstance(row.value, int | float)]
    return (low, high) if all(low <= value <= high for value in values) else None


def _estimates(
    scores: Sequence[SystemScore],
    means: Mapping[str, Mapping[str, float]],
    rng: np.random.Generator,
    n_resamples: int,
) -> list[tuple[_Figure, _Figure]]:
    """Return, for each system, its mean and how far it is behind the first one."""
    if not scores:
        return []
    cells = [means[score.system] for score in scores]
    documents = list(dict.fromkeys(eid for system_means in cells for eid in system_means))
    ranked = {score.system: means[score.system] for score in scores if score.ranked}
    common = set(shared_clusters(ranked))
    shared = np.array([[eid in common] for eid in documents])
    table = _table(cells, documents)
    sums, counts = np.nan_to_num(table), (~np.isnan(table)).astype(np.float64)

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        averages = divide(weights @ sums, weights @ counts)
        compared = divide(weights @ (sums * shared), weights @ shared.astype(np.float64))
        return np.hstack([averages, compared[:, :1] - compared])

    estimates = bootstrap_many(
        statistic,
        n_documents=len(documents),
        rng=rng,
        n_resamples=n_resamples,
        method="expanded",
        fewest=FEWEST_CLUSTERS,
    )
    return list(zip(estimates[: len(cells)], estimates[len(cells) :], strict=True))


def _table(means: Sequence[Mapping[str, float]], documents: Sequence[str]) -> NDArray[np.float64]:
    """Return a row a document and a column a system; nan where that one has no mean."""
    return np.array([[cells.get(eid, np.nan) for cells in means] for eid in documents])
