"""From single judgements to one line a system. Pure; unscored is counted, never a number."""

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
from fairjudge.scores.ratings import Rated
from fairjudge.scores.strengths import INCOMPLETE, strengths
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from fairjudge.calibration.ranking import Ranking

_PairKey: TypeAlias = tuple[str, str | None, str | None, str, str, str, int | None, str | None]
_SIDES: tuple[Verdict, ...] = ("a", "b", "tie")
LEAST_PERCENT = 90
"""Ranked systems were scored on at least this share of the clusters of the one scored on most.

Each cluster that a ranked system lacks is lost to the comparison of all of them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """What both orders of a pair say together.

    ``verdict`` is None where an order is unscored. ``confidence`` is 0.5 for a win in one order
    with an explicit tie in the other, else 1. ``flipped``: the orders named opposite sides.

    Where both orders gave a distribution, ``probabilities`` are its mean, the verdict is the
    likeliest ("tie" where two are equally likely), and ``confidence`` the verdict's probability.
    ``shift`` is then the graded position bias, in [-1, 1]: by how much more probable, on average, a
    side is when it stands first than when it stands second. Positive favours the first place.
    """

    verdict: Verdict | None
    confidence: float = 1.0
    flipped: bool = False
    probabilities: Mapping[Verdict, float] | None = None
    shift: float | None = None


def reconcile(ab: Verdict | None, ba: Verdict | None) -> PairVerdict:
    """Return the verdict of two orders, each in terms of a and b, None where unscored.

    A side wins when both orders name it. Opposite sides are a tie, and inconsistent. A win with an
    explicit tie is that win at half confidence.
    """
    if ab is None or ba is None:
        return PairVerdict(verdict=None)
    if ab == ba:
        return PairVerdict(verdict=ab)
    if "tie" not in (ab, ba):
        return PairVerdict(verdict="tie", flipped=True)
    return PairVerdict(verdict=ba if ab == "tie" else ab, confidence=0.5)


def average_sides(first: Mapping[Verdict, float], other: Mapping[Verdict, float]) -> PairVerdict:
    """Average two distributions in terms of a, b and tie; `first` was asked with a first."""
    mean = {side: (first[side] + other[side]) / 2 for side in _SIDES}
    best = max(mean.values())
    likeliest = [side for side in _SIDES if math.isclose(mean[side], best, abs_tol=1e-12)]
    verdict = likeliest[0] if len(likeliest) == 1 else "tie"
    return PairVerdict(
        verdict=verdict,
        confidence=mean[verdict],
        probabilities=mean,
        shift=((first["a"] - other["a"]) + (other["b"] - first["b"])) / 2,
    )


def _pair_key(row: Rated) -> _PairKey:
    """Return what the two orders of one pair have in common."""
    pair = (row.eid, row.system_a, row.system_b)
    return (*pair, row.aspect, row.unit, row.judge, row.repeat, row.variant)


def _reconciled_pairs(judgements: Iterable[Rated]) -> dict[_PairKey, PairVerdict]:
    """Return the verdict of every pair; a pair judged in one order only is unscored."""
    orders: dict[_PairKey, dict[str, Rated]] = defaultdict(dict)
    for judgement in judgements:
        paired = PROTOCOLS[judgement.protocol].paired and judgement.systems is None
        if paired and not isinstance(judgement.value, int | float):
            orders[_pair_key(judgement)][judgement.order or "ab"] = judgement
    return {key: _pair(rows.get("ab"), rows.get("ba")) for key, rows in orders.items()}


def _pair(ab: Rated | None, ba: Rated | None) -> PairVerdict:
    """Reconcile two orders; by their distributions where both gave one."""
    pair = reconcile(_verdict(ab), _verdict(ba))
    first, other = _sides(ab), _sides(ba)
    if pair.verdict is None or first is None or other is None:
        return pair
    return replace(average_sides(first, other), flipped=pair.flipped)


def _verdict(judgement: Rated | None) -> Verdict | None:
    value = None if judgement is None else judgement.value
    return None if isinstance(value, int | float) else value


def _sides(judgement: Rated | None) -> Mapping[Verdict, float] | None:
    probabilities = None if judgement is None else judgement.probabilities
    if probabilities is None or not probabilities.keys() <= set(_SIDES):
        return None
    return {side: probabilities.get(side, 0.0) for side in _SIDES}


def with_pair_verdicts(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Add ``verdict``, ``confidence`` and ``flipped`` to the rows of every pair.

    Where both orders have a distribution, also ``pair_probabilities``, their mean, and ``shift``;
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
    """One system's line.

    ``mean`` is over clusters, each the mean over its scored units: a rating for likert, a share
    for binary and checklist, and for pairwise the win rate in [0, 1] (a tie is half a win for each
    side, a win at half confidence three quarters). ``low`` and ``high`` are the worst cases: every
    unscored unit at the bottom or the top of the scale; equal to ``mean`` where all is scored.
    ``ranked`` is False where the system was scored on fewer than `LEAST_PERCENT` % of the clusters
    of the system scored on most, or the systems share no cluster: means over different clusters are
    no ranking. ``why`` says it where no system is ranked. Ranked systems are in the order of
    ``shared_mean``, over the ``n_shared`` clusters that all of them were scored on.

    Where not every pair of systems is compared in every cluster, win rates depend on the
    opponents. ``strength`` is then its log-strength (see `fairjudge.scores.strengths`), by which it
    is ranked.
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
    def figure(self) -> float | Undefined:
        """By what systems are ranked: the strength, else the mean over shared clusters."""
        if self.strength is not None:
            return self.strength
        return self.mean if self.shared_mean is None else self.shared_mean

    def to_json(self) -> dict[str, Any]:
        """Return the figures; ``mean`` is null without scored items."""
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
    """One unit's worth for one system; ``value`` is None where unscored.

    ``against`` is the other system of a pair, else empty.
    """

    eid: str
    system: str
    unit: str
    value: float | None
    against: str = ""


def system_scores(
    judgements: Sequence[Rated], *, scale_range: tuple[float, float] | None = None
) -> tuple[SystemScore, ...]:
    """Return one line a system, best first.

    Systems that are not ranked (see `SystemScore`) come after those that are, and systems without
    any score last. Repeated judgements of an item are averaged first. Units weigh the same within a
    cluster, and clusters the same.

    `judgements` are of one aspect, protocol and judge. `scale_range` is the lowest and highest
    value of the scale, for the worst cases; by default 1 to 5 for likert, else 0 to 1.
    """
    if not judgements:
        return ()
    bottom, top = scale_range or PROTOCOLS[judgements[0].protocol].score_range
    by_system = _cells(_points(judgements))
    scores = [_score(name, cells, bottom, top) for name, cells in by_system.items()]
    fit = strengths(judgements)
    board = _by_means(scores, by_system) if fit is None else _by_strengths(scores, fit)
    return tuple(sorted(board, key=_best_first))


def _by_means(scores: Sequence[SystemScore], by_system: Mapping[str, _Cells]) -> list[SystemScore]:
    """Rank the systems scored on nearly all clusters, by the clusters that they share."""
    most = max((score.n_clusters for score in scores), default=0)
    enough = {
        score.system
        for score in scores
        if score.n_clusters and 100 * score.n_clusters >= LEAST_PERCENT * most
    }
    means = {
        name: {eid: fmean(scored) for eid, cell in cells.items() if (scored := _scored(cell))}
        for name, cells in by_system.items()
        if name in enough
    }
    shared = shared_clusters(means)
    if enough and not shared:
        why = f"{_apart(means)} share no cluster"
        return [replace(score, ranked=False, why=why) for score in scores]
    return [
        replace(
            score,
            ranked=True,
            shared_mean=fmean(means[score.system][eid] for eid in shared),
            n_shared=len(shared),
        )
        if score.system in enough
        else replace(score, ranked=False)
        for score in scores
    ]


def shared_clusters(means: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return the clusters on which every system of `means` was scored, sorted."""
    every = [cells.keys() for cells in means.values()]
    return tuple(sorted(set(every[0]).intersection(*every[1:]))) if every else ()


def _apart(means: Mapping[str, Mapping[str, float]]) -> str:
    """Return two systems that share no cluster, in words; all of them where every two share one."""
    for first, other in combinations(means, 2):
        if means[first].keys().isdisjoint(means[other].keys()):
            return f"{first} and {other}"
    return f"all {pluralize(len(means), 'system')} together"


def _by_strengths(scores: Sequence[SystemScore], ranking: Ranking | Undefined) -> list[SystemScore]:
    if isinstance(ranking, Undefined):
        why = f"{INCOMPLETE}, and {ranking.why}"
        return [replace(score, ranked=False, why=why) for score in scores]
    strength_by_system = {system.system: system.strength.value for system in ranking.systems}
    return [
        replace(
            score,
            ranked=score.system in strength_by_system,
            strength=strength_by_system.get(score.system),
        )
        for score in scores
    ]


def cluster_means(judgements: Sequence[Rated]) -> dict[str, dict[str, float]]:
    """Return each system's mean over its scored units in each cluster: system to eid to mean.

    What `system_scores` averages over clusters. Clusters without a score are absent.
    """
    by_system = _cells(point for point in _points(judgements) if point.value is not None)
    return {
        system: {eid: fmean(_scored(cell)) for eid, cell in cells.items()}
        for system, cells in by_system.items()
    }


def _best_first(score: SystemScore) -> tuple[bool, bool, float, str]:
    if isinstance(score.figure, Undefined):
        return True, True, 0.0, score.system
    return False, not score.ranked, -score.figure, score.system


def _points(judgements: Sequence[Rated]) -> Iterable[_Point]:
    """Return one point an item and system: the mean of those of its repeats that are scored."""
    if all(row.repeat is None and row.variant is None for row in judgements):
        return _single_points(judgements)
    items: dict[_Point, list[float]] = defaultdict(list)
    for point in _single_points(judgements):
        items[replace(point, value=None)] += [] if point.value is None else [point.value]
    return [
        replace(item, value=fmean(values) if values else None) for item, values in items.items()
    ]


def _single_points(judgements: Sequence[Rated]) -> Iterable[_Point]:
    for row in judgements:
        if not PROTOCOLS[row.protocol].paired and row.system is not None:
            value = row.value if isinstance(row.value, int | float) else None
            yield _Point(eid=row.eid, system=row.system, unit=row.unit, value=value)
    for key, pair in _reconciled_pairs(judgements).items():
        eid, a, b, _, unit = key[:5]
        if a is not None and b is not None:
            won = _share_of_a(pair)
            lost = None if won is None else 1 - won
            yield _Point(eid=eid, system=a, unit=unit, value=won, against=b)
            yield _Point(eid=eid, system=b, unit=unit, value=lost, against=a)


def _share_of_a(pair: PairVerdict) -> float | None:
    if pair.verdict is None:
        return None
    if pair.probabilities is not None:
        return pair.probabilities["a"] + pair.probabilities["tie"] / 2
    lead = {"a": 0.5, "tie": 0.0, "b": -0.5}[pair.verdict]
    return 0.5 + lead * pair.confidence


_Cells: TypeAlias = Mapping[str, Sequence[float | None]]
"""One system's values in each cluster; None where unscored."""


def _cells(points: Iterable[_Point]) -> dict[str, _Cells]:
    by_system: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        by_system[point.system][point.eid].append(point.value)
    return {**by_system}


def _scored(cell: Sequence[float | None]) -> list[float]:
    return [value for value in cell if value is not None]


def _score(system: str, cells: _Cells, bottom: float, top: float) -> SystemScore:
    means = [fmean(scored) for cell in cells.values() if (scored := _scored(cell))]
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
