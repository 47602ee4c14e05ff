"""What judgements and labels are of, and people's labels of one aspect, by item and annotator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import fsum
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.grouping import WHOLE, kind_of
from fairjudge.calibration.scales import Scale, infer_scale, off_scale, refuse_mixed
from fairjudge.domain import Judgement, Label, Order, ProtocolName
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.counting import pluralize

ItemKey: TypeAlias = tuple[str, str, str, str]
"""eid, system (or the first of a pair, by name), the second or "", unit."""

_MAX_LABELS_OFF = 0.5
"""The labels' scale is a usual one that holds at least half of them; the rest must be on it too."""
SIGNS = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""What a verdict on a pair is worth to the first."""


class LabelOffScaleError(InputError):
    """A label of ``item`` by ``annotator`` lies off the labels' scale."""

    def __init__(self, problem: str, *, item: ItemKey, annotator: str) -> None:
        self.item, self.annotator = item, annotator
        super().__init__(problem, field="value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Labels of one aspect: item to annotator to mean value, and to sampling probability.

    ``adjudicated`` counts those left out because their items were chosen by how far judge and
    people are apart (`fairjudge.domain.Label`).
    """

    single: Mapping[ItemKey, Mapping[str, float]]
    paired: Mapping[ItemKey, Mapping[str, float]]
    repeated: int = 0
    adjudicated: int = 0
    inclusion_probabilities: Mapping[ItemKey, frozenset[float | None]] = field(default_factory=dict)

    @staticmethod
    def by_aspect(labels: Iterable[Label], patterns: Sequence[str]) -> dict[str, Labels]:
        """Return the labels by annotators of such names (shell patterns), by aspect.

        Raises
        ------
        InputError
            There are labels, and none by such annotators.
        """
        all_labels = tuple(labels)
        by_aspect: dict[str, list[Label]] = defaultdict(list)
        adjudicated: Counter[str] = Counter()
        for label in all_labels:
            if not any(fnmatchcase(label.annotator, pattern) for pattern in patterns):
                continue
            if label.adjudicated:
                adjudicated[label.aspect] += 1
            else:
                by_aspect[label.aspect].append(label)
        if adjudicated and not by_aspect:
            raise InputError(
                "all labels are adjudicated: their items were chosen because judge and people "
                "disagree, so they measure neither",
                field="adjudicated",
            )
        if all_labels and not by_aspect:
            names = ", ".join(sorted({label.annotator for label in all_labels})[:8])
            raise InputError(
                f"no annotator matches {' or '.join(map(repr, patterns))} (--annotators); the "
                f"labels are by {names}",
                field="annotator",
            )
        return {
            aspect: Labels._of(labels_of_aspect, adjudicated[aspect])
            for aspect, labels_of_aspect in by_aspect.items()
        }

    @staticmethod
    def _of(labels: Sequence[Label], adjudicated: int) -> Labels:
        values: dict[ItemKey, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        inclusion_probabilities: dict[ItemKey, set[float | None]] = defaultdict(set)
        for label in labels:
            key, sign = item_key(label)
            values[key][label.annotator].append(sign * _value_of(label))
            inclusion_probabilities[key].add(label.probability)
        means = {
            key: {annotator: mean_of(ratings) for annotator, ratings in by_annotator.items()}
            for key, by_annotator in values.items()
        }
        return Labels(
            single={key: rating for key, rating in means.items() if not key[2]},
            paired={key: rating for key, rating in means.items() if key[2]},
            repeated=len(labels) - sum(len(rating) for rating in means.values()),
            adjudicated=adjudicated,
            inclusion_probabilities={
                key: frozenset(probabilities)
                for key, probabilities in inclusion_probabilities.items()
            },
        )

    def of_unit(self, unit: str, *, paired: bool) -> tuple[Labels, str]:
        """Keep the labels that judgements of a kind of unit meet, and return their kind.

        These are labels of the same kind, or else of whole summaries, or else of the parts that
        most labels are of: one file may hold labels of summaries on one scale and of their parts on
        another. `paired` asks for labels of pairs, where there are any.
        """
        source = self.paired if paired and self.paired else self.single
        kinds = _kinds(source)
        present = Counter(kinds.values())
        kind = next(
            (name for name in (unit, WHOLE) if name in present),
            max(present, key=lambda name: present[name], default=unit),
        )
        ratings = {key: rating for key, rating in source.items() if kinds[key] == kind}
        if source is self.paired:
            return replace(self, single={}, paired=ratings), kind
        return replace(self, single=ratings, paired={}), kind

    def scale(self, protocol: ProtocolName, given_scale: Scale | None) -> Scale:
        """Return the scale of labels of single summaries: given, or inferred from the majority.

        Raises
        ------
        InputError
            A label is off it.
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
            refuse_mixed(values, [annotator for _, annotator, _ in rows], kind)
        scale = given_scale or infer_scale(values, kind, max_off=_MAX_LABELS_OFF)
        off = off_scale(values, scale)
        if off.any():
            value, annotator, key = rows[int(off.argmax())]
            origin = "" if given_scale else f" of {pluralize(int(np.sum(~off)), 'label')}"
            raise LabelOffScaleError(
                f"the label {value:g} by {annotator!r} of {system_name(key)!r} in {key[0]!r} lies "
                f"off the scale {scale[0]:g} to {scale[1]:g}{origin}: correct it, or name the "
                "labels' scale by --label-scale",
                item=key,
                annotator=annotator,
            )
        return scale


def system_name(key: ItemKey) -> str:
    """Return the system of an item, or ``"A vs B"`` for a pair."""
    return f"{key[1]} vs {key[2]}" if key[2] else key[1]


def item_key(row: Judgement | Label) -> tuple[ItemKey, float]:
    """Return the item, and -1 where a pair's sides were put in order of name."""
    if row.system is not None:
        return (row.eid, row.system, "", row.unit), 1.0
    first, second = str(row.system_a), str(row.system_b)
    if first <= second:
        return (row.eid, first, second, row.unit), 1.0
    return (row.eid, second, first, row.unit), -1.0


def order_by_name(row: Judgement, sign: float) -> Order | None:
    """Return ``"ab"`` where the first by name stood first; `sign` is that of `item_key`."""
    if row.order is None or sign > 0:
        return row.order
    return "ba" if row.order == "ab" else "ab"


def item_json(key: ItemKey) -> dict[str, str]:
    """Return an item by its parts' names."""
    eid, first, second, unit = key
    systems = {"system_a": first, "system_b": second} if second else {"system": first}
    return {"eid": eid, **systems, "unit": unit}


def _kinds(ratings: Mapping[ItemKey, object]) -> dict[ItemKey, str]:
    """Return the kind of unit of each item.

    A few whole summaries beside the parts of others are those in which no part was found.
    """
    kinds = {key: kind_of(key[3]) for key in ratings}
    split = {key[:3] for key, kind in kinds.items() if kind != WHOLE}
    unsplit = [key for key, kind in kinds.items() if kind == WHOLE]
    if len(unsplit) < len(split) and not any(key[:3] in split for key in unsplit):
        n_by_kind = Counter(kind for kind in kinds.values() if kind != WHOLE)
        kinds |= dict.fromkeys(unsplit, max(n_by_kind, key=lambda kind: n_by_kind[kind]))
    return kinds


def _value_of(label: Label) -> float:
    if isinstance(label.value, str):
        if label.system is not None:
            raise InputError(
                f"{label.annotator!r} gave {label.value!r} for one summary: expected a number",
                field="value",
            )
        return SIGNS[label.value]
    return float(label.value)


def mean_of(values: Sequence[float]) -> float:
    """Return the exactly summed mean, independent of order, so that ties remain ties."""
    return fsum(values) / len(values)
