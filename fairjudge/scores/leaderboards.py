"""Systems ranked by their judgements, with intervals over documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairjudge.calibration.grouping import GroupKey, keyed
from fairjudge.domain import Estimate, Judgement, Undefined
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.scorers.trained_record import coverage_accuracy, faithfulness_areas
from fairjudge.scores.aggregate import SystemScore, cluster_means, system_scores
from fairjudge.scores.missing import Missing, missing_of, without_probabilities
from fairjudge.scores.ratings import Rated
from fairjudge.scores.strengths import strengths
from fairjudge.stats.bootstrap import bootstrap_many, divide

if TYPE_CHECKING:
    from fairjudge.calibration.ranking import RankedSystem, Ranking

_Figure = Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One system: ``score`` counts, ``mean`` and ``behind`` (the leader's mean less its own).

    Both are over documents, with intervals on the same resamples; ``behind`` compares on the
    documents that each resample holds, and is None for the leader and for systems that are not
    ranked. Where pairs are compared in an incomplete design, ``place`` has the strength and the
    ranks that it may have, and nobody is behind by a mean.
    """

    score: SystemScore
    mean: _Figure
    behind: _Figure | None
    place: RankedSystem | None = None


WEIGHTING = "items weigh the same in a cluster, and clusters the same"
"""Of every mean over systems; in words for readers."""
FEWEST_CLUSTERS = 5
"""Clusters below which there are no ranks and intervals: too few to estimate them."""


def weak_judge(aspect: str) -> str:
    """Return the caveat for results on `aspect` by the embedded default judge."""
    if aspect in {"coverage", BALANCE}:
        what = "a source's statement" if aspect == BALANCE else "an answer"
        does = f"balanced accuracy {coverage_accuracy():.2f} of whether {what} is covered"
    else:
        low, high = faithfulness_areas()
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
    nobody was asked for them. ``ranking`` are the strengths by which systems compared in an
    incomplete design are ranked, or why there are none; None for any other. ``ranges`` are the best
    and the worst rank of each system by `rank_ranges`.
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
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def shown_protocol(self) -> str:
        """The protocol as tables name it."""
        return f"{self.protocol} from checklists" if self.derived else self.protocol


def is_derived(row: Judgement) -> bool:
    """Whether a judgement was derived from a checklist, without a call of its own."""
    return "derived_from" in (row.model_extra or {})


def not_ranked(scores: Iterable[SystemScore]) -> str | None:
    """Say which systems stand beside the others, and why; None where all are ranked."""
    scored = [score for score in scores if score.n_clusters]
    beside = [score.system for score in scored if not score.ranked]
    if not beside:
        return None
    if len(beside) == len(scored):
        return f"No system is ranked: {scored[0].why}."
    most = max(score.n_clusters for score in scored)
    return f"Not ranked: {', '.join(beside)}, scored on fewer than {most} clusters."


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
        _leaderboard(key, rows, np.random.default_rng(seed), n_resamples)
        for (key, _), rows in groups.items()
    )


def rank_ranges(
    judgements: Sequence[Rated], *, seed: int = 0, n_resamples: int = 2000
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that each system may have, by 95 % intervals.

    Two systems are told apart where the interval of their difference over the clusters that both
    were scored on leaves out 0. A system's best rank is one after those surely above it, its worst
    one before those surely below. Systems that `system_scores` does not rank are absent; on fewer
    than `FEWEST_CLUSTERS` clusters all are. Of pairs in an incomplete design, the ranks that their
    strengths allow.
    """
    found = strengths(judgements, seed=seed)
    if found is not None:
        return {} if isinstance(found, Undefined) else _ranges(found)
    means = cluster_means(judgements)
    names = [
        system_score.system
        for system_score in system_scores(judgements)
        if system_score.ranked and system_score.system in means
    ]
    documents = sorted({eid for name in names for eid in means[name]})
    if len(documents) < FEWEST_CLUSTERS:
        return {}
    table = _table([means[name] for name in names], documents)
    differences = (table[:, :, None] - table[:, None, :]).reshape(len(documents), -1)
    known = ~np.isnan(differences)
    sums = np.where(known, differences, 0.0)

    def statistic(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return divide(drawn @ sums, drawn @ known.astype(np.float64))

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


def _ranges(found: Ranking) -> dict[str, tuple[int, int]]:
    return {
        system.system: (system.best_rank, system.worst_rank)
        for system in found.systems
        if system.best_rank is not None and system.worst_rank is not None
    }


def _leaderboard(
    key: GroupKey, rows: Sequence[Judgement], rng: np.random.Generator, n_resamples: int
) -> Leaderboard:
    span = _scale_range(rows)
    scores = system_scores(rows, scale_range=span)
    means = cluster_means(rows)
    known = [score.system for score in scores if score.system in means]
    estimates = _estimates([means[system] for system in known], rng, n_resamples)
    figures = dict(zip(known, estimates, strict=True))
    nothing = Undefined(why="no unit of this system was scored")
    ranking = strengths(rows)
    placed = () if ranking is None or isinstance(ranking, Undefined) else ranking.systems
    places = {score.system: score for score in placed}
    standings = []
    for place, score in enumerate(scores):
        mean, behind = figures.get(score.system, (nothing, None))
        shown = behind if place and score.ranked and ranking is None else None
        standing = Standing(score=score, mean=mean, behind=shown, place=places.get(score.system))
        standings.append(standing)
    return Leaderboard(
        judge=key.judge,
        aspect=key.aspect,
        protocol=key.protocol,
        unit=key.unit,
        standings=tuple(standings),
        scale_range=span,
        n_judgements=len(rows),
        missing=missing_of(rows),
        without_probabilities=without_probabilities(rows),
        n_by_default=sum(row.scored_by == "embedding" for row in rows),
        derived=is_derived(rows[0]),
        ranking=ranking,
        ranges=rank_ranges(rows, n_resamples=n_resamples) if ranking is None else {},
    )


def _scale_range(rows: Sequence[Judgement]) -> tuple[float, float] | None:
    low, high = PROTOCOLS[rows[0].protocol].score_range
    values = [row.value for row in rows if isinstance(row.value, int | float)]
    return (low, high) if all(low <= value <= high for value in values) else None


def _estimates(
    means: Sequence[Mapping[str, float]], rng: np.random.Generator, n_resamples: int
) -> list[tuple[_Figure, _Figure]]:
    """Return, for each system, its mean and how far it is behind the first one."""
    if not means:
        return []
    documents = list(dict.fromkeys(eid for cells in means for eid in cells))
    table = _table(means, documents)
    sums, counts = np.nan_to_num(table), (~np.isnan(table)).astype(np.float64)

    def statistic(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        averages = divide(drawn @ sums, drawn @ counts)
        return np.hstack([averages, averages[:, :1] - averages])

    estimates = bootstrap_many(
        statistic, n_documents=len(documents), rng=rng, n_resamples=n_resamples, method="expanded"
    )
    return list(zip(estimates[: len(means)], estimates[len(means) :], strict=True))


def _table(means: Sequence[Mapping[str, float]], documents: Sequence[str]) -> NDArray[np.float64]:
    """Return a row a document and a column a system; nan where that one has no mean."""
    return np.array([[cells.get(eid, np.nan) for cells in means] for eid in documents])
