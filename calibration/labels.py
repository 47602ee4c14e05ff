"""Keys of judged and labelled items, and the labels of one aspect by item and annotator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import fsum
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.grouping import WHOLE, unit_kind
from fairjudge.calibration.scales import Scale, check_same_scale, infer_scale, is_off_scale
from fairjudge.domain import Judgement, Label, Order, ProtocolName
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.counting import pluralize

ItemKey: TypeAlias = tuple[str, str, str, str]
"""(eid, system, "", unit); for pairs (eid, first system, second system, unit), sorted by name."""

_MAX_LABELS_OFF = 0.5
"""Maximum share of labels off a usual scale for the scale to be inferred; they then raise."""
SIGNS = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""The value of a verdict on a pair for its first system."""


class LabelOffScaleError(InputError):
    """The label of ``item`` by ``annotator`` is off the labels' scale."""

    def __init__(self, problem: str, *, item: ItemKey, annotator: str) -> None:
        self.item, self.annotator = item, annotator
        super().__init__(problem, field="value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Labels of one aspect.

    ``single`` and ``paired`` map items to annotators to mean values; ``inclusion_probabilities``
    maps items to the probabilities of being sampled for labelling. ``adjudicated`` counts excluded
    labels, whose items were chosen because judge and annotators disagree
    (`fairjudge.domain.Label`).
    """

    single: Mapping[ItemKey, Mapping[str, float]]
    paired: Mapping[ItemKey, Mapping[str, float]]
    repeated: int = 0
    adjudicated: int = 0
    inclusion_probabilities: Mapping[ItemKey, frozenset[float | None]] = field(default_factory=dict)

    @staticmethod
    def by_aspect(labels: Iterable[Label], patterns: Sequence[str]) -> dict[str, Labels]:
        """Group by aspect the labels of annotators whose names match shell `patterns`.

        Raises
        ------
        InputError
            If no annotator matches, or if all matching labels are adjudicated.
        """
        all_labels = tuple(labels)
        labels_by_aspect: dict[str, list[Label]] = defaultdict(list)
        n_adjudicated: Counter[str] = Counter()
        for label in all_labels:
            if not any(fnmatchcase(label.annotator, pattern) for pattern in patterns):
                continue
            if label.adjudicated:
                n_adjudicated[label.aspect] += 1
            else:
                labels_by_aspect[label.aspect].append(label)
        if n_adjudicated and not labels_by_aspect:
            raise InputError(
                "all labels are adjudicated: their items were chosen because judge and people "
                "disagree, so they measure neither",
                field="adjudicated",
            )
        if all_labels and not labels_by_aspect:
            names = ", ".join(sorted({label.annotator for label in all_labels})[:8])
            raise InputError(
                f"no annotator matches {' or '.join(map(repr, patterns))} (--annotators); the "
                f"labels are by {names}",
                field="annotator",
            )
        return {
            aspect: Labels._from_rows(labels_of_aspect, n_adjudicated[aspect])
            for aspect, labels_of_aspect in labels_by_aspect.items()
        }

    @staticmethod
    def _from_rows(labels: Sequence[Label], n_adjudicated: int) -> Labels:
        values: dict[ItemKey, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        inclusion_probabilities: dict[ItemKey, set[float | None]] = defaultdict(set)
        for label in labels:
            key, sign = item_key(label)
            values[key][label.annotator].append(sign * _label_value(label))
            inclusion_probabilities[key].add(label.probability)
        means = {
            key: {annotator: exact_mean(ratings) for annotator, ratings in by_annotator.items()}
            for key, by_annotator in values.items()
        }
        return Labels(
            single={key: rating for key, rating in means.items() if not key[2]},
            paired={key: rating for key, rating in means.items() if key[2]},
            repeated=len(labels) - sum(len(rating) for rating in means.values()),
            adjudicated=n_adjudicated,
            inclusion_probabilities={
                key: frozenset(probabilities)
                for key, probabilities in inclusion_probabilities.items()
            },
        )

    def for_unit(self, unit: str, *, paired: bool) -> tuple[Labels, str]:
        """Return the labels to compare with judgements of a kind of `unit`, and the labels' kind.

        These are labels of the same kind of unit; without any, of whole summaries; without any, of
        the most frequent kind of part. (A file may contain labels of summaries on one scale and of
        parts on another.) With `paired`, labels of pairs are preferred.
        """
        source = self.paired if paired and self.paired else self.single
        kinds = _kinds(source)
        n_by_kind = Counter(kinds.values())
        kind = next(
            (name for name in (unit, WHOLE) if name in n_by_kind),
            max(n_by_kind, key=lambda name: n_by_kind[name], default=unit),
        )
        ratings = {key: rating for key, rating in source.items() if kinds[key] == kind}
        if source is self.paired:
            return replace(self, single={}, paired=ratings), kind
        return replace(self, single=ratings, paired={}), kind

    def scale(self, protocol: ProtocolName, given_scale: Scale | None) -> Scale:
        """Return the scale of labels of single summaries: `given_scale`, or an inferred scale.

        Raises
        ------
        InputError
            If annotators use different scales, or if a label is off the scale.
        """
        rows = [
            (value, annotator, key)
            for key, rating in self.single.items()
            for annotator, value in rating.items()
        ]
        kind: ProtocolName = "likert" if PROTOCOLS[protocol].paired else protocol
        values = np.array([value for value, *_ in rows])
        if values.size and values.max() <= 1.0 and 0.0 <= values.min() < 1.0:
            kind = "binary"  # yes or no, whatever the judge was asked for
        if given_scale is None:
            check_same_scale(values, [annotator for _, annotator, _ in rows], kind)
        scale = given_scale or infer_scale(values, kind, max_off_share=_MAX_LABELS_OFF)
        mask = is_off_scale(values, scale)
        if mask.any():
            value, annotator, key = rows[int(mask.argmax())]
            origin = "" if given_scale else f" of {pluralize(int(np.sum(~mask)), 'label')}"
            raise LabelOffScaleError(
                f"the label {value:g} by {annotator!r} of {system_name(key)!r} in {key[0]!r} lies "
                f"off the scale {scale[0]:g} to {scale[1]:g}{origin}: correct it, or specify "
                "the labels' scale with --label-scale",
                item=key,
                annotator=annotator,
            )
        return scale


def system_name(key: ItemKey) -> str:
    """Return the system of an item, or ``"A vs B"`` for a pair."""
    return f"{key[1]} vs {key[2]}" if key[2] else key[1]


def item_key(row: Judgement | Label) -> tuple[ItemKey, float]:
    """Return the item's key, and -1.0 if a pair's systems were swapped to sort them, else 1.0."""
    if row.system is not None:
        return (row.eid, row.system, "", row.unit), 1.0
    first, second = str(row.system_a), str(row.system_b)
    if first <= second:
        return (row.eid, first, second, row.unit), 1.0
    return (row.eid, second, first, row.unit), -1.0


def order_by_name(row: Judgement, sign: float) -> Order | None:
    """Return ``"ab"`` if the first system by name was shown first; `sign` is from `item_key`."""
    if row.order is None or sign > 0:
        return row.order
    return "ba" if row.order == "ab" else "ab"


def item_json(key: ItemKey) -> dict[str, str]:
    """Return the fields of an item's key as JSON."""
    eid, first, second, unit = key
    systems = {"system_a": first, "system_b": second} if second else {"system": first}
    return {"eid": eid, **systems, "unit": unit}


def _kinds(ratings: Mapping[ItemKey, object]) -> dict[ItemKey, str]:
    """Return the kind of unit of each item.

    If whole summaries are a minority beside the parts of other summaries, they are summaries
    without parts, and count as the most frequent kind of part.
    """
    kinds = {key: unit_kind(key[3]) for key in ratings}
    split_summaries = {key[:3] for key, kind in kinds.items() if kind != WHOLE}
    whole_summaries = [key for key, kind in kinds.items() if kind == WHOLE]
    if len(whole_summaries) < len(split_summaries) and not any(
        key[:3] in split_summaries for key in whole_summaries
    ):
        n_by_kind = Counter(kind for kind in kinds.values() if kind != WHOLE)
        kinds |= dict.fromkeys(whole_summaries, max(n_by_kind, key=lambda kind: n_by_kind[kind]))
    return kinds


def _label_value(label: Label) -> float:
    if isinstance(label.value, str):
        if label.system is not None:
            raise InputError(
                f"{label.annotator!r} gave {label.value!r} for one summary: expected a number",
                field="value",
            )
        return SIGNS[label.value]
    return float(label.value)


def exact_mean(values: Sequence[float]) -> float:
    """Return the mean with an exact sum, independent of order, so that ties remain ties."""
    return fsum(values) / len(values)
