"""Means of coverage by slice, with intervals: in every mean clusters weigh the same."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

from fairjudge.domain import Estimate, Undefined
from fairjudge.scores.importance import WeightedCoverage, weightings
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


def estimates_by_weight(weighed: Sequence[WeightedCoverage]) -> dict[str, Slices]:
    """Return coverage with groups weighed in each way; see `fairjudge.scores.importance`."""
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
    for point in points:
        for by, name in point.slices:
            cells[by][name].append(point)
    for by, groups in cells.items():
        # questions stay in the reference's order
        names = list(groups) if by == "coverage by question" else sorted(groups, key=_order)
        yield by, {name: _mean(groups[name]) for name in names}
    for kind, items in _items(points).items():
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


def _items(points: Iterable[Point]) -> dict[str, list[Point]]:
    """Group the points of whole groups, or of articles, by kind."""
    by_name: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        if point.whole:
            by_name[point.whole].append(point)
    return by_name


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
