"""Quality of summaries by the group that the input is about (`news_bias` 8.1, 9.2).

Inputs are originals, or made of them with groups mixed (``local``) or one group alone (``global``).
Everything is compared within originals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from fairjudge.bias.reporting import Source
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.multiplicity import holm
from fairjudge.stats.resampling import adjust_by_name

ORIGINAL = "original"
_PLACES = {ORIGINAL: 0, "local": 1}
"""Of groups in the report, before all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityDifference:
    """Mean score of `group` less that of `other`, over the originals that have both."""

    group: str
    other: str
    difference: Estimate | Undefined
    p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityByGroup:
    """Mean score of one system on each kind of inputs, and all differences."""

    by_group: Mapping[str, Estimate | Undefined]
    differences: tuple[QualityDifference, ...]


def input_group(source: Source) -> str:
    """Return what inputs are compared as: ``original``, ``local``, or the group of a global one."""
    controlled = source.controlled
    if controlled is None or controlled.original is None:
        return ORIGINAL
    return controlled.group or controlled.design or "local"


def quality_by_group(scores: Iterable[tuple[Source, float]]) -> QualityByGroup:
    """Average scores within each original and group, then over originals.

    Intervals are Student's over originals, p-values of a paired t-test against 0, corrected over
    all pairs of groups (Holm).
    """
    scores_by_group: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for source, score in scores:
        scores_by_group[input_group(source)][source.original].append(score)
    means = {
        group: {original: fmean(scores) for original, scores in scores_by_group[group].items()}
        for group in sorted(scores_by_group, key=lambda name: (_PLACES.get(name, 2), name))
    }
    pairs = {
        (group, other): _paired(means[group], means[other])
        for other, group in combinations(means, 2)
    }
    adjusted = adjust_by_name(pairs, holm)
    return QualityByGroup(
        by_group={group: clustered_mean(list(scores.values())) for group, scores in means.items()},
        differences=tuple(
            QualityDifference(group=a, other=b, difference=difference, p_holm=adjusted.get((a, b)))
            for (a, b), difference in pairs.items()
        ),
    )


def _paired(first: Mapping[str, float], second: Mapping[str, float]) -> Estimate | Undefined:
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return Undefined(why="no original has inputs of both")
    return clustered_mean(
        [first[original] - second[original] for original in shared], shared, null=0.0
    )
