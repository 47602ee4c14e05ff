"""Human values of summaries or pairs, from labels of their parts or of the paired summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fairjudge.calibration.grouping import WHOLE
from fairjudge.calibration.labels import ItemKey, exact_mean

Ratings: TypeAlias = Mapping[ItemKey, Mapping[str, float]]
"""Maps items to annotators to values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanValues:
    """Human values of each item: the mean, and each annotator's value.

    If ``averaged``, labels of parts were averaged: an item's mean is over its labelled parts, and
    its annotators are those who labelled all of these parts.
    """

    means: Mapping[ItemKey, float]
    ratings: Ratings
    averaged: bool = False

    @staticmethod
    def from_labels(ratings: Ratings) -> HumanValues:
        """Return the human values of labelled items."""
        means = {
            key: exact_mean(list(by_annotator.values())) for key, by_annotator in ratings.items()
        }
        return HumanValues(means=means, ratings=ratings)

    @staticmethod
    def from_part_labels(ratings: Ratings) -> HumanValues:
        """Average labels of parts per summary, or pair."""
        parts: dict[ItemKey, list[Mapping[str, float]]] = defaultdict(list)
        for key, by_annotator in ratings.items():
            parts[whole_key(key)].append(by_annotator)
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
        """Return the value of each pair: its first summary's minus its second summary's."""
        means: dict[ItemKey, float] = {}
        ratings: dict[ItemKey, Mapping[str, float]] = {}
        for pair in pairs:
            eid, first, second, unit = pair
            first_key, second_key = (eid, first, "", unit), (eid, second, "", unit)
            if first_key not in self.means or second_key not in self.means:
                continue
            first_ratings, second_ratings = self.ratings[first_key], self.ratings[second_key]
            rating_differences = {
                annotator: first_ratings[annotator] - second_ratings[annotator]
                for annotator in first_ratings
                if annotator in second_ratings
            }
            if self.averaged:
                means[pair], ratings[pair] = (
                    self.means[first_key] - self.means[second_key],
                    rating_differences,
                )
            elif rating_differences:
                means[pair], ratings[pair] = (
                    exact_mean(list(rating_differences.values())),
                    rating_differences,
                )
        return HumanValues(means=means, ratings=ratings, averaged=self.averaged)


def average_parts(values: Mapping[ItemKey, float]) -> dict[ItemKey, float]:
    """Average values of parts per summary, or pair."""
    parts: dict[ItemKey, list[float]] = defaultdict(list)
    for key, value in values.items():
        parts[whole_key(key)].append(value)
    return {key: exact_mean(part) for key, part in parts.items()}


def summary_inclusion_probabilities(
    inclusion_probabilities: Mapping[ItemKey, frozenset[float | None]],
) -> dict[ItemKey, frozenset[float | None]]:
    """Return the sets of sampling probabilities of the parts of each summary.

    A summary whose parts have probabilities has no single one, as if its labels differed.
    """
    probabilities_by_whole: dict[ItemKey, frozenset[float | None]] = {}
    for key, values in inclusion_probabilities.items():
        probabilities_by_whole[whole_key(key)] = (
            probabilities_by_whole.get(whole_key(key), frozenset({None})) | values
        )
    return probabilities_by_whole


def whole_key(key: ItemKey) -> ItemKey:
    """Return the key of the summary, or pair, that contains an item."""
    return (*key[:3], WHOLE)
