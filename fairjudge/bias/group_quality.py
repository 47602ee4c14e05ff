"""Quality of summaries by the group of the input's people (`news_bias` 8.1, 9.2).

Inputs are originals, or controlled inputs with mixed groups (``local``) or one group (``global``).
All comparisons are within originals.
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
_RANKS = {ORIGINAL: 0, "local": 1}
"""Order of the groups in the report; all others follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityDifference:
    """Mean score of `group` minus that of `other`, over the originals that have both."""

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
    """Return the group of an input: ``original``, ``local``, or the group of a global input."""
    provenance = source.controlled
    if provenance is None or provenance.original is None:
        return ORIGINAL
    return provenance.group or provenance.design or "local"


def quality_by_group(scores: Iterable[tuple[Source, float]]) -> QualityByGroup:
    """Average scores within each original and group, then over originals.

    Intervals are Student's t over originals; p-values are of a paired t-test against 0,
    Holm-corrected over all pairs of groups.
    """
    scores_by_group: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for source, score in scores:
        scores_by_group[input_group(source)][source.original].append(score)
    means = {
        group: {original: fmean(scores) for original, scores in scores_by_group[group].items()}
        for group in sorted(scores_by_group, key=lambda name: (_RANKS.get(name, 2), name))
    }
    pairs = {
        (group, other): _paired_difference(means[group], means[other])
        for other, group in combinations(means, 2)
    }
    adjusted_p_values = adjust_by_name(pairs, holm)
    return QualityByGroup(
        by_group={group: clustered_mean(list(scores.values())) for group, scores in means.items()},
        differences=tuple(
            QualityDifference(
                group=a, other=b, difference=difference, p_holm=adjusted_p_values.get((a, b))
            )
            for (a, b), difference in pairs.items()
        ),
    )


def _paired_difference(
    first: Mapping[str, float], second: Mapping[str, float]
) -> Estimate | Undefined:
    shared_originals = sorted(first.keys() & second.keys())
    if not shared_originals:
        return Undefined(why="no original has inputs of both")
    return clustered_mean(
        [first[original] - second[original] for original in shared_originals],
        shared_originals,
        null=0.0,
    )
