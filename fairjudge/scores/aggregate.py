"""Aggregate judgements to one score per system. Pure; unscored items are counted, never scored."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from fairjudge.domain import Judgement, Undefined, Verdict
from fairjudge.protocols import PROTOCOLS
from fairjudge.scores.ratings import ScoreRow
from fairjudge.scores.strengths import INCOMPLETE, strengths
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.calibration.ranking import Ranking

_PairKey: TypeAlias = tuple[str, str | None, str | None, str, str, str, int | None, str | None]
_SIDES: tuple[Verdict, ...] = ("a", "b", "tie")
MIN_PERCENT = 90
"""Minimum number of scored clusters of a ranked system, in % of the largest number of any system.

A cluster that one ranked system lacks is excluded from the comparison of all ranked systems.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """The verdict of both orders of a pair.

    ``verdict`` is None if an order is unscored. ``confidence`` is 0.5 for a win in one order
    with an explicit tie in the other, else 1. ``flipped`` is True if the orders contradict each
    other.

    If both orders have distributions, ``probabilities`` are their mean, the verdict is the most
    likely side ("tie" if two are equally likely), and ``confidence`` is the verdict's probability.
    ``shift`` is then the graded position bias, in [-1, 1]: the mean difference of a side's
    probability between the first and the second position. Positive values favour the first.
    """

    verdict: Verdict | None
    confidence: float = 1.0
    flipped: bool = False
    probabilities: Mapping[Verdict, float] | None = None
    shift: float | None = None


def reconcile(ab: Verdict | None, ba: Verdict | None) -> PairVerdict:
    """Return the verdict of two orders, each in terms of a and b, None if unscored.

    A side wins if both orders prefer it. Opposite sides are an inconsistent tie. A win in one order
    with an explicit tie in the other is a win with half the confidence.
    """
    if ab is None or ba is None:
        return PairVerdict(verdict=None)
    if ab == ba:
        return PairVerdict(verdict=ab)
    if "tie" not in (ab, ba):
        return PairVerdict(verdict="tie", flipped=True)
    return PairVerdict(verdict=ba if ab == "tie" else ab, confidence=0.5)


def average_sides(ab: Mapping[Verdict, float], ba: Mapping[Verdict, float]) -> PairVerdict:
    """Average the distributions over a, b and tie of the orders `ab` and `ba`."""
    mean = {side: (ab[side] + ba[side]) / 2 for side in _SIDES}
    best = max(mean.values())
    likeliest = [side for side in _SIDES if math.isclose(mean[side], best, abs_tol=1e-12)]
    verdict = likeliest[0] if len(likeliest) == 1 else "tie"
    return PairVerdict(
        verdict=verdict,
        confidence=mean[verdict],
        probabilities=mean,
        shift=((ab["a"] - ba["a"]) + (ba["b"] - ab["b"])) / 2,
    )


def _pair_key(row: ScoreRow) -> _PairKey:
    """Return the key that both orders of a pair share."""
    pair = (row.eid, row.system_a, row.system_b)
    return (*pair, row.aspect, row.unit, row.judge, row.repeat, row.variant)


def _reconciled_pairs(judgements: Iterable[ScoreRow]) -> dict[_PairKey, PairVerdict]:
    """Return the verdict of every pair; a pair judged in one order only is unscored."""
    orders: dict[_PairKey, dict[str, ScoreRow]] = defaultdict(dict)
    for judgement in judgements:
        is_pair = PROTOCOLS[judgement.protocol].paired and judgement.systems is None
        if is_pair and not isinstance(judgement.value, int | float):
            orders[_pair_key(judgement)][judgement.order or "ab"] = judgement
    return {key: _pair(rows.get("ab"), rows.get("ba")) for key, rows in orders.items()}


def _pair(ab: ScoreRow | None, ba: ScoreRow | None) -> PairVerdict:
    """Reconcile two orders, by their distributions if both have one."""
    pair = reconcile(_verdict(ab), _verdict(ba))
    ab_sides, ba_sides = _sides(ab), _sides(ba)
    if pair.verdict is None or ab_sides is None or ba_sides is None:
        return pair
    return replace(average_sides(ab_sides, ba_sides), flipped=pair.flipped)


def _verdict(judgement: ScoreRow | None) -> Verdict | None:
    value = None if judgement is None else judgement.value
    return None if isinstance(value, int | float) else value


def _sides(judgement: ScoreRow | None) -> Mapping[Verdict, float] | None:
    probabilities = None if judgement is None else judgement.probabilities
    if probabilities is None or not probabilities.keys() <= set(_SIDES):
        return None
    return {side: probabilities.get(side, 0.0) for side in _SIDES}


def with_pair_verdicts(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Add ``verdict``, ``confidence`` and ``flipped`` to the rows of every pair.

    If both orders have distributions, also add ``pair_probabilities`` (their mean) and ``shift``;
    see `PairVerdict`.
    """
    pairs = _reconciled_pairs(judgements)
    return tuple(
        Judgement.model_validate(judgement.to_json() | _pair_fields(pair))
        if (pair := pairs.get(_pair_key(judgement))) is not None
        else judgement
        for judgement in judgements
    )


def _pair_fields(pair: PairVerdict) -> dict[str, Any]:
    names = ("verdict", "confidence", "flipped")
    fields: dict[str, Any] = {name: getattr(pair, name) for name in names}
    if pair.probabilities is not None:
        fields |= {"pair_probabilities": dict(pair.probabilities), "shift": pair.shift}
    return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """The score of one system.

    ``mean`` is the mean over clusters of the mean over scored units: a rating for likert, a share
    for binary and checklist, and for pairwise the win rate in [0, 1] (a tie counts 1/2 for both
    sides, a win with half the confidence 3/4). ``low`` and ``high`` are the worst cases, with every
    unscored unit at the bottom or the top of the scale; they equal ``mean`` if all are scored.

    ``ranked`` is False if the system was scored on fewer than `MIN_PERCENT` % of the clusters of
    the system with the most, or if the systems share no cluster: means over different clusters
    cannot be ranked. If no system is ranked, ``why`` is the reason. Ranked systems are ordered by
    ``shared_mean``, over the ``n_shared`` clusters on which all of them were scored.

    If not every pair of systems is compared in every cluster, win rates depend on the opponents.
    Systems are then ranked by their log-strength, ``strength`` (see `fairjudge.scores.strengths`).
    """

    system: str
    mean: float | Undefined
    low: float
    high: float
    n_clusters: int
    n_judged: int
    n_unscored: int
    ranked: bool = True
    strength: float | None = None
    why: str = ""
    shared_mean: float | None = None
    n_shared: int | None = None

    @property
    def ranking_value(self) -> float | Undefined:
        """The value by which systems are ranked: the strength, else the mean on shared clusters."""
        if self.strength is not None:
            return self.strength
        return self.mean if self.shared_mean is None else self.shared_mean

    def to_json(self) -> dict[str, Any]:
        """Return the results; ``mean`` is null without scored items."""
        strength = {} if self.strength is None else {"strength": self.strength}
        return strength | {
            "mean": None if isinstance(self.mean, Undefined) else self.mean,
            "worst": self.low,
            "best": self.high,
            "n_clusters": self.n_clusters,
            "n_judged": self.n_judged,
            "n_unscored": self.n_unscored,
            "ranked": self.ranked,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """The value of one unit for one system, None if unscored.

    ``against`` is the other system of a pair, else empty.
    """

    eid: str
    system: str
    unit: str
    value: float | None
    against: str = ""


def system_scores(
    judgements: Sequence[ScoreRow], *, scale_range: tuple[float, float] | None = None
) -> tuple[SystemScore, ...]:
    """Return one score per system, best first.

    Systems that are not ranked (see `SystemScore`) follow the ranked ones, and systems without any
    score are last. Repeated judgements of an item are averaged first. Units of a cluster have equal
    weight, and so do clusters.

    `judgements` are of one aspect, protocol and judge. `scale_range` is the minimum and maximum of
    the scale, for the worst cases; by default 1 to 5 for likert, else 0 to 1.
    """
    if not judgements:
        return ()
    bottom, top = scale_range or PROTOCOLS[judgements[0].protocol].score_range
    by_system = _cells(_points(judgements))
    scores = [_system_score(name, cells, bottom, top) for name, cells in by_system.items()]
    fit = strengths(judgements)
    board = _by_means(scores, by_system) if fit is None else _by_strengths(scores, fit)
    return tuple(sorted(board, key=_ranking_key))


def _by_means(scores: Sequence[SystemScore], by_system: Mapping[str, _Cells]) -> list[SystemScore]:
    """Rank the systems scored on nearly all clusters by their means on the shared clusters."""
    max_clusters = max((score.n_clusters for score in scores), default=0)
    systems = {
        score.system
        for score in scores
        if score.n_clusters and 100 * score.n_clusters >= MIN_PERCENT * max_clusters
    }
    means = {
        name: {
            eid: fmean(values) for eid, cell in cells.items() if (values := _scored_values(cell))
        }
        for name, cells in by_system.items()
        if name in systems
    }
    shared_eids = shared_clusters(means)
    if systems and not shared_eids:
        reason = f"{_disjoint_systems(means)} share no cluster"
        return [replace(score, ranked=False, why=reason) for score in scores]
    return [
        replace(
            score,
            ranked=True,
            shared_mean=fmean(means[score.system][eid] for eid in shared_eids),
            n_shared=len(shared_eids),
        )
        if score.system in systems
        else replace(score, ranked=False)
        for score in scores
    ]


def shared_clusters(means: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return the clusters on which every system of `means` was scored, sorted."""
    eids_by_system = [cells.keys() for cells in means.values()]
    return (
        tuple(sorted(set(eids_by_system[0]).intersection(*eids_by_system[1:])))
        if eids_by_system
        else ()
    )


def _disjoint_systems(means: Mapping[str, Mapping[str, float]]) -> str:
    """Describe two systems that share no cluster, or all systems if every two share one."""
    for first, second in combinations(means, 2):
        if means[first].keys().isdisjoint(means[second].keys()):
            return f"{first} and {second}"
    return f"all {pluralize(len(means), 'system')} together"


def _by_strengths(scores: Sequence[SystemScore], ranking: Ranking | Undefined) -> list[SystemScore]:
    if isinstance(ranking, Undefined):
        reason = f"{INCOMPLETE}, and {ranking.why}"
        return [replace(score, ranked=False, why=reason) for score in scores]
    strength_by_system = {system.system: system.strength.value for system in ranking.systems}
    return [
        replace(
            score,
            ranked=score.system in strength_by_system,
            strength=strength_by_system.get(score.system),
        )
        for score in scores
    ]


def cluster_means(judgements: Sequence[ScoreRow]) -> dict[str, dict[str, float]]:
    """Return each system's mean over its scored units in each cluster: system to eid to mean.

    `system_scores` averages these means over clusters. Clusters without a score are omitted.
    """
    by_system = _cells(point for point in _points(judgements) if point.value is not None)
    return {
        system: {eid: fmean(_scored_values(cell)) for eid, cell in cells.items()}
        for system, cells in by_system.items()
    }


def _ranking_key(score: SystemScore) -> tuple[bool, bool, float, str]:
    if isinstance(score.ranking_value, Undefined):
        return True, True, 0.0, score.system
    return False, not score.ranked, -score.ranking_value, score.system


def _points(judgements: Sequence[ScoreRow]) -> Iterable[_Point]:
    """Return one point per item and system: the mean over its scored repeats."""
    if all(row.repeat is None and row.variant is None for row in judgements):
        return _single_points(judgements)
    items: dict[_Point, list[float]] = defaultdict(list)
    for point in _single_points(judgements):
        items[replace(point, value=None)] += [] if point.value is None else [point.value]
    return [
        replace(item, value=fmean(values) if values else None) for item, values in items.items()
    ]


def _single_points(judgements: Sequence[ScoreRow]) -> Iterable[_Point]:
    for row in judgements:
        if not PROTOCOLS[row.protocol].paired and row.system is not None:
            value = row.value if isinstance(row.value, int | float) else None
            yield _Point(eid=row.eid, system=row.system, unit=row.unit, value=value)
    for key, pair in _reconciled_pairs(judgements).items():
        eid, a, b, _, unit = key[:5]
        if a is not None and b is not None:
            share_of_a = _share_of_a(pair)
            share_of_b = None if share_of_a is None else 1 - share_of_a
            yield _Point(eid=eid, system=a, unit=unit, value=share_of_a, against=b)
            yield _Point(eid=eid, system=b, unit=unit, value=share_of_b, against=a)


def _share_of_a(pair: PairVerdict) -> float | None:
    if pair.verdict is None:
        return None
    if pair.probabilities is not None:
        return pair.probabilities["a"] + pair.probabilities["tie"] / 2
    lead = {"a": 0.5, "tie": 0.0, "b": -0.5}[pair.verdict]
    return 0.5 + lead * pair.confidence


_Cells: TypeAlias = Mapping[str, Sequence[float | None]]
"""One system's values in each cluster; None if unscored."""


def _cells(points: Iterable[_Point]) -> dict[str, _Cells]:
    by_system: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        by_system[point.system][point.eid].append(point.value)
    return {**by_system}


def _scored_values(cell: Sequence[float | None]) -> list[float]:
    return [value for value in cell if value is not None]


def _system_score(system: str, cells: _Cells, bottom: float, top: float) -> SystemScore:
    means = [fmean(values) for cell in cells.values() if (values := _scored_values(cell))]
    low, high = (
        fmean(fmean(filler if v is None else v for v in cell) for cell in cells.values())
        for filler in (bottom, top)
    )
    return SystemScore(
        system=system,
        mean=fmean(means) if means else Undefined(why="no unit of this system was scored"),
        low=low,
        high=high,
        n_clusters=len(means),
        n_judged=sum(map(len, cells.values())),
        n_unscored=sum(value is None for cell in cells.values() for value in cell),
    )
