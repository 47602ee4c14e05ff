"""Mean coverage by slice and by weighting of groups; in every mean clusters have equal weight.

Groups of answers have several weightings, computed from the same judgements: equal; by number of
sources, as key point analysis weights key points by prevalence; by importance (vital or okay), if
the reference has it, as in the scores of AutoNuggetizer (TREC 2024 RAG), whose nuggets are our
groups; and by question, if the reference says which questions require all answers (AND) or any
answer (OR), as in NuggetBank. A partly covered group counts 0.5, in strict scores 0. Pure.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from statistics import fmean
from typing import TypeAlias

from fairjudge.domain import Estimate, Undefined
from fairjudge.scores.leaderboards import MIN_CLUSTERS
from fairjudge.stats.clustered import clip_interval, clustered_mean

QUESTION_WORDS = ("what", "who", "when", "where", "why", "how")
PLACES = ("first article", "between", "last article")
WEIGHTINGS = ("macro", "micro")
_NAMES = (*PLACES, *WEIGHTINGS, *QUESTION_WORDS, "other")
"""Names of slices that are shown first, in this order."""
Slices: TypeAlias = Mapping[str, Estimate | Undefined]
"""The mean of each slice, in [0, 1], by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value and its slices; ``kind`` is the kind of a complete item, "" for its parts."""

    eid: str
    value: float
    slices: tuple[tuple[str, str], ...]
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedCoverage:
    """The coverage of one group, in [0, 1], and its weight.

    ``question`` is the index of the question in its cluster; ``aggregator`` is AND, OR or None, as
    in the reference.
    """

    eid: str
    value: float
    weight: float
    importance: str | None
    question: int = 0
    aggregator: str | None = None


def _vital(group: WeightedCoverage) -> float:
    return float(group.importance == "vital")


_Scheme: TypeAlias = tuple[Callable[[WeightedCoverage], float], bool]
"""The weight of a group, and whether the score is strict."""
EQUAL, BY_SOURCES = "groups equal", "by number of sources"
BY_QUESTION = "questions, AND or OR"
_SCHEMES: Mapping[str, _Scheme] = {
    EQUAL: (lambda _: 1.0, False),
    BY_SOURCES: (lambda group: group.weight, False),
}
_IMPORTANCE_SCHEMES: Mapping[str, _Scheme] = {
    "vital groups": (_vital, False),
    "vital groups, strict": (_vital, True),
    "all groups, strict": (lambda _: 1.0, True),
}


def estimates_by_weight(groups: Sequence[WeightedCoverage]) -> dict[str, Slices]:
    """Return the mean coverage of `groups` by weighting; see `weightings`."""
    if not groups:
        return {}
    return {
        "coverage by weight of groups": {
            name: _over_clusters(by_eid) for name, by_eid in weightings(groups).items()
        }
    }


def estimates_by_slice(points: Sequence[Point]) -> Iterator[tuple[str, Slices]]:
    """Yield each partition with the estimates of its slices, then macro and micro averages."""
    cells: dict[str, dict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    items_by_kind: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        for partition, name in point.slices:
            cells[partition][name].append(point)
        if point.kind:
            items_by_kind[point.kind].append(point)
    for partition, groups in cells.items():
        # questions stay in the reference's order
        names = list(groups) if partition == "coverage by question" else sorted(groups, key=_order)
        yield partition, {name: _mean(groups[name]) for name in names}
    for kind, items in items_by_kind.items():
        yield (
            f"{kind} by weighting",
            {
                WEIGHTINGS[0]: _mean(items),
                WEIGHTINGS[1]: _with_bounds(
                    clustered_mean([p.value for p in items], [p.eid for p in items]),
                    len({point.eid for point in items}),
                ),
            },
        )


def _mean(points: Sequence[Point]) -> Estimate | Undefined:
    """Return the mean over clusters of cluster means, with an interval if there are enough."""
    by_eid: dict[str, list[float]] = defaultdict(list)
    for point in points:
        by_eid[point.eid].append(point.value)
    return _over_clusters({eid: fmean(values) for eid, values in by_eid.items()})


def _over_clusters(by_eid: Mapping[str, float]) -> Estimate | Undefined:
    estimate = clustered_mean(list(by_eid.values()), list(by_eid))
    return _with_bounds(estimate, len(by_eid))


def _with_bounds(estimate: Estimate | Undefined, n_clusters: int) -> Estimate | Undefined:
    if isinstance(estimate, Estimate) and n_clusters < MIN_CLUSTERS:
        reason = f"no interval: fewer than {MIN_CLUSTERS} clusters"
        return replace(estimate, low=None, high=None, method=reason)
    return clip_interval(estimate, 0.0, 1.0)


def _order(name: str) -> tuple[int, int, str]:
    number = int(name) if name.isdecimal() else sys.maxsize
    return _NAMES.index(name) if name in _NAMES else len(_NAMES), number, name


def weightings(groups: Sequence[WeightedCoverage]) -> dict[str, dict[str, float]]:
    """Return the weighted mean of each cluster, in [0, 1], by weighting.

    By number of sources, a group has its ``weight``, which is that number unless the reference
    defines another weight. Means by importance are only of clusters in which a group has an
    importance, and means by question only of clusters in which a question is AND or OR.
    """
    clusters: dict[str, list[WeightedCoverage]] = defaultdict(list)
    for group in groups:
        clusters[group.eid].append(group)
    clusters_with_importance = {
        eid: groups
        for eid, groups in clusters.items()
        if any(group.importance is not None for group in groups)
    }
    means = _weighted_means(_SCHEMES, clusters) | _weighted_means(
        _IMPORTANCE_SCHEMES, clusters_with_importance
    )
    return means | _by_question(clusters)


def _by_question(clusters: Mapping[str, Sequence[WeightedCoverage]]) -> dict[str, dict[str, float]]:
    """Return the mean over questions, for clusters in which a question is AND or OR.

    The coverage of an AND question is the minimum over its groups, that of an OR question the
    maximum; other questions count as AND, as in NuggetBank.
    """
    means: dict[str, dict[str, float]] = {}
    for eid, groups in clusters.items():
        if all(group.aggregator is None for group in groups):
            continue
        questions: dict[int, list[WeightedCoverage]] = defaultdict(list)
        for group in groups:
            questions[group.question].append(group)
        values = [
            (max if question_groups[0].aggregator == "OR" else min)(
                group.value for group in question_groups
            )
            for question_groups in questions.values()
        ]
        means.setdefault(BY_QUESTION, {})[eid] = fmean(values)
        means.setdefault(f"{BY_QUESTION}, strict", {})[eid] = fmean(value >= 1 for value in values)
    return means


def _weighted_means(
    schemes: Mapping[str, _Scheme], clusters: Mapping[str, Sequence[WeightedCoverage]]
) -> dict[str, dict[str, float]]:
    """Return the weighted means of the clusters with a positive total weight."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for name, (weight, strict) in schemes.items():
        for eid, groups in clusters.items():
            total = sum(map(weight, groups))
            values = [float(group.value >= 1) if strict else group.value for group in groups]
            if total > 0:
                weighted_sum = sum(map(mul, map(weight, groups), values))
                means[name][eid] = weighted_sum / total
    return means
