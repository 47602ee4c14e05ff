"""Means of coverage by slice and by weight of groups: in every mean clusters weigh the same.

Groups of answers are weighed in several ways, all from one judging: equal; by number of sources, as
key point analysis weighs key points by their prevalence; by importance, where a reference says
which groups are vital and which okay: the scores of AutoNuggetizer (TREC 2024 RAG), whose nuggets
are our groups; and by question, where a reference says which questions need all answers (AND) and
which any (OR), as NuggetBank has it. A group covered in part counts as a half, in strict scores as
nothing. Pure.
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
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS
from fairjudge.stats.clustered import clustered_mean, within

QUESTION_WORDS = ("what", "who", "when", "where", "why", "how")
PLACES = ("first article", "between", "last article")
WEIGHTINGS = ("macro", "micro")
_NAMES = (*PLACES, *WEIGHTINGS, *QUESTION_WORDS, "other")
"""Names of slices in the order in which they are shown, before all others."""
Slices: TypeAlias = Mapping[str, Estimate | Undefined]
"""The mean, in [0, 1], of values that have something in common, by what that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value and its slices; ``whole`` is the key of the item that it belongs to."""

    eid: str
    value: float
    slices: tuple[tuple[str, str], ...]
    whole: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedCoverage:
    """Coverage of one group, in [0, 1], and its weight.

    ``question`` tells the questions of a cluster apart; ``aggregator`` is what the reference says
    of the group's question, AND, OR or nothing.
    """

    eid: str
    value: float
    weight: float
    importance: str | None
    question: int = 0
    aggregator: str | None = None


def _vital(group: WeightedCoverage) -> float:
    return float(group.importance == "vital")


_Weighting: TypeAlias = tuple[Callable[[WeightedCoverage], float], bool]
"""The weight of a group, and whether the score is strict."""
EQUAL, BY_SOURCES = "groups equal", "by number of sources"
BY_QUESTION = "questions, AND or OR"
_ALWAYS: Mapping[str, _Weighting] = {
    EQUAL: (lambda _: 1.0, False),
    BY_SOURCES: (lambda group: group.weight, False),
}
_WITH_IMPORTANCE: Mapping[str, _Weighting] = {
    "vital groups": (_vital, False),
    "vital groups, strict": (_vital, True),
    "all groups, strict": (lambda _: 1.0, True),
}


def estimates_by_weight(weighed: Sequence[WeightedCoverage]) -> dict[str, Slices]:
    """Return coverage with groups weighed in each way; see `weightings`."""
    if not weighed:
        return {}
    return {
        "coverage by weight of groups": {
            name: _over_clusters(by_eid) for name, by_eid in weightings(weighed).items()
        }
    }


def estimates_by_slice(points: Sequence[Point]) -> Iterator[tuple[str, Slices]]:
    """Yield each partition with the estimates of its slices, then macro and micro averages."""
    cells: dict[str, dict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    wholes: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        for by, name in point.slices:
            cells[by][name].append(point)
        if point.whole:
            wholes[point.whole].append(point)
    for by, groups in cells.items():
        # questions stay in the reference's order
        names = list(groups) if by == "coverage by question" else sorted(groups, key=_order)
        yield by, {name: _mean(groups[name]) for name in names}
    for kind, items in wholes.items():
        yield (
            f"{kind} by weighting",
            {
                WEIGHTINGS[0]: _mean(items),
                WEIGHTINGS[1]: _bounded(
                    clustered_mean([p.value for p in items], [p.eid for p in items]),
                    len({point.eid for point in items}),
                ),
            },
        )


def _mean(points: Sequence[Point]) -> Estimate | Undefined:
    """Return the mean over clusters of the mean in each; an interval in [0, 1] of enough."""
    by_eid: dict[str, list[float]] = defaultdict(list)
    for point in points:
        by_eid[point.eid].append(point.value)
    return _over_clusters({eid: fmean(values) for eid, values in by_eid.items()})


def _over_clusters(by_eid: Mapping[str, float]) -> Estimate | Undefined:
    estimate = clustered_mean(list(by_eid.values()), list(by_eid))
    return _bounded(estimate, len(by_eid))


def _bounded(estimate: Estimate | Undefined, n_clusters: int) -> Estimate | Undefined:
    if isinstance(estimate, Estimate) and n_clusters < FEWEST_CLUSTERS:
        why = f"no interval: fewer than {FEWEST_CLUSTERS} clusters"
        return replace(estimate, low=None, high=None, method=why)
    return within(estimate, 0.0, 1.0)


def _order(name: str) -> tuple[int, int, str]:
    number = int(name) if name.isdecimal() else sys.maxsize
    return _NAMES.index(name) if name in _NAMES else len(_NAMES), number, name


def weightings(groups: Sequence[WeightedCoverage]) -> dict[str, dict[str, float]]:
    """Return the weighed mean of each cluster in [0, 1], by how groups are weighed.

    By number of sources a group counts with its ``weight``, which is that number where the
    reference says nothing else. Scores by importance are there where some group has one, and those
    by question where some question is AND or OR, of the clusters that have such.
    """
    clusters: dict[str, list[WeightedCoverage]] = defaultdict(list)
    for group in groups:
        clusters[group.eid].append(group)
    rated = {
        eid: groups
        for eid, groups in clusters.items()
        if any(group.importance is not None for group in groups)
    }
    means = _weighed(_ALWAYS, clusters) | _weighed(_WITH_IMPORTANCE, rated)
    return means | _by_question(clusters)


def _by_question(clusters: Mapping[str, Sequence[WeightedCoverage]]) -> dict[str, dict[str, float]]:
    """Return the mean over questions of the clusters in which some question is AND or OR.

    An AND question is covered as far as its least covered group, an OR question as far as its best;
    one without a word is AND, as NuggetBank reads it.
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


def _weighed(
    ways: Mapping[str, _Weighting], clusters: Mapping[str, Sequence[WeightedCoverage]]
) -> dict[str, dict[str, float]]:
    """Return the weighed means of the clusters in which some group counts."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for name, (weight, strict) in ways.items():
        for eid, groups in clusters.items():
            total = sum(map(weight, groups))
            values = [float(group.value >= 1) if strict else group.value for group in groups]
            if total > 0:
                weighed = sum(map(mul, map(weight, groups), values))
                means[name][eid] = weighed / total
    return means
