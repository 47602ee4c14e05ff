"""People's values of whole summaries, where labels are of their parts or of their sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fairjudge.calibration.grouping import WHOLE
from fairjudge.calibration.labels import ItemKey, exact_mean

Ratings: TypeAlias = Mapping[ItemKey, Mapping[str, float]]
"""Item to annotator to value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanValues:
    """Human values of each item: the mean, and each annotator's value.

    ``averaged`` says that labels of parts were averaged: then an item's annotators are those who
    labelled all of its labelled parts, and its mean is over parts, by any annotator.
    """

    means: Mapping[ItemKey, float]
    ratings: Ratings
    averaged: bool = False

    @staticmethod
    def from_labels(ratings: Ratings) -> HumanValues:
        """Take labels as they are."""
        means = {
            key: exact_mean(list(by_annotator.values())) for key, by_annotator in ratings.items()
        }
        return HumanValues(means=means, ratings=ratings)

    @staticmethod
    def from_part_labels(ratings: Ratings) -> HumanValues:
        """Average labels of parts over each summary, or pair."""
        parts: dict[ItemKey, list[Mapping[str, float]]] = defaultdict(list)
        for key, by_annotator in ratings.items():
            parts[whole(key)].append(by_annotator)
        return HumanValues(
            means={
                key: exact_mean([exact_mean(list(part.values())) for part in ratings_of_parts])
                for key, ratings_of_parts in parts.items()
            },
            ratings={
                key: {
                    annotator: exact_mean([part[annotator] for part in ratings_of_parts])
                    for annotator in ratings_of_parts[0]
                    if all(annotator in part for part in ratings_of_parts)
                }
                for key, ratings_of_parts in parts.items()
            },
            averaged=True,
        )

    def differences(self, pairs: Iterable[ItemKey]) -> HumanValues:
        """Return for each pair the value of its first side minus that of its second."""
        means: dict[ItemKey, float] = {}
        ratings: dict[ItemKey, Mapping[str, float]] = {}
        for pair in pairs:
            eid, first, second, unit = pair
            of_first, of_second = (eid, first, "", unit), (eid, second, "", unit)
            if of_first not in self.means or of_second not in self.means:
                continue
            a, b = self.ratings[of_first], self.ratings[of_second]
            gaps = {annotator: a[annotator] - b[annotator] for annotator in a if annotator in b}
            if self.averaged:
                means[pair], ratings[pair] = self.means[of_first] - self.means[of_second], gaps
            elif gaps:
                means[pair], ratings[pair] = exact_mean(list(gaps.values())), gaps
        return HumanValues(means=means, ratings=ratings, averaged=self.averaged)


def averaged_over_parts(values: Mapping[ItemKey, float]) -> dict[ItemKey, float]:
    """Return the mean of the parts of each summary, or pair."""
    parts: dict[ItemKey, list[float]] = defaultdict(list)
    for key, value in values.items():
        parts[whole(key)].append(value)
    return {key: exact_mean(part) for key, part in parts.items()}


def summary_inclusion_probabilities(
    inclusion_probabilities: Mapping[ItemKey, frozenset[float | None]],
) -> dict[ItemKey, frozenset[float | None]]:
    """Return the sets of sampling probabilities of the parts of each summary.

    A summary whose parts have probabilities has no single one, as if its labels differed.
    """
    probabilities_by_whole: dict[ItemKey, frozenset[float | None]] = {}
    for key, values in inclusion_probabilities.items():
        probabilities_by_whole[whole(key)] = (
            probabilities_by_whole.get(whole(key), frozenset({None})) | values
        )
    return probabilities_by_whole


def whole(key: ItemKey) -> ItemKey:
    """Return the summary, or pair, of which an item is a part."""
    return (*key[:3], WHOLE)
