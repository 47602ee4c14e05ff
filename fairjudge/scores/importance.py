"""Coverage with groups of answers weighed in several ways, all from one judging. Pure.

Groups equal; by number of sources, as key point analysis weighs key points by their prevalence;
by importance, where a reference says which groups are vital and which okay: the scores of
AutoNuggetizer (TREC 2024 RAG), whose nuggets are our groups; and by question, where a reference
says which questions need all answers (AND) and which any (OR), as NuggetBank has it. A group
covered in part counts as a half, in strict scores as nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean
from typing import TypeAlias


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


def _equal(_: WeightedCoverage) -> float:
    return 1.0


_Weighting: TypeAlias = tuple[Callable[[WeightedCoverage], float], bool]
"""The weight of a group, and whether the score is strict."""
EQUAL, BY_SOURCES = "groups equal", "by number of sources"
BY_QUESTION = "questions, AND or OR"
_ALWAYS: Mapping[str, _Weighting] = {
    EQUAL: (_equal, False),
    BY_SOURCES: (lambda group: group.weight, False),
}
_WITH_IMPORTANCE: Mapping[str, _Weighting] = {
    "vital groups": (_vital, False),
    "vital groups, strict": (_vital, True),
    "all groups, strict": (_equal, True),
}


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
    weightings: Mapping[str, _Weighting], clusters: Mapping[str, Sequence[WeightedCoverage]]
) -> dict[str, dict[str, float]]:
    """Return the weighed means of the clusters in which some group counts."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for name, (weight, strict) in weightings.items():
        for eid, groups in clusters.items():
            total = sum(map(weight, groups))
            values = [float(group.value >= 1) if strict else group.value for group in groups]
            if total > 0:
                weighed = sum(map(mul, map(weight, groups), values))
                means[name][eid] = weighed / total
    return means
