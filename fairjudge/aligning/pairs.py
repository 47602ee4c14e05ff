"""People's preferences for ``calibrate align``: labels of pairs, and examples made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import TypeAlias

from fairjudge.aligning.candidates import RatedItem
from fairjudge.calibration.labels import SIGNS
from fairjudge.domain import Label, Summary
from fairjudge.errors import InputError

Item: TypeAlias = tuple[str, str]
"""eid, system."""
_Pair: TypeAlias = tuple[str, str, str]
"""eid, and two systems."""


def preferences(labels: Sequence[Label], items: Collection[Item]) -> tuple[Label, ...]:
    """Return the labels of pairs of which both summaries are in `items`.

    Where there are none, those of single summaries tell: who rated both prefers the higher one.
    """
    pairs = [label for label in labels if label.system is None]
    if not pairs:
        return tuple(
            _from_ratings([label for label in labels if (label.eid, label.system) in items])
        )
    for label in pairs:
        if not isinstance(label.value, str):
            raise InputError(
                f"{label.annotator!r} gave {label.value!r} for a pair: expected 'a', 'b' or 'tie'",
                field="value",
            )
    return tuple(
        pair for pair in pairs if all((pair.eid, name) in items for name in systems_of(pair))
    )


def systems_of(label: Label) -> tuple[str, ...]:
    """Return the system that was labelled, or both."""
    systems = (label.system,) if label.system is not None else (label.system_a, label.system_b)
    return tuple(map(str, systems))


def _from_ratings(labels: Iterable[Label]) -> Iterator[Label]:
    rated: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    aspects = {}
    for label in labels:
        rated[label.eid, label.annotator][str(label.system)].append(float(label.value))
        aspects[label.eid, label.annotator] = label.aspect
    for (eid, annotator), values in rated.items():
        means = {system: fsum(points) / len(points) for system, points in values.items()}
        for a, b in combinations(sorted(means), 2):
            yield Label(
                eid=eid,
                system_a=a,
                system_b=b,
                aspect=aspects[eid, annotator],
                annotator=annotator,
                value="tie" if means[a] == means[b] else "a" if means[a] > means[b] else "b",
            )


def preferred(
    labels: Iterable[Label],
    summaries: Iterable[Summary],
    materials: Mapping[str, str],
    articles: Mapping[str, tuple[str, ...]],
) -> tuple[RatedItem, ...]:
    """Return each labelled pair as its first annotator saw it, with people's mean preference.

    A note may speak of the first or of the second: only notes of those who saw the two in this
    order go with it.
    """
    texts = {(summary.eid, summary.system): summary.text for summary in summaries}
    values_by_pair: dict[_Pair, list[tuple[_Pair, float, str]]] = defaultdict(list)
    for label in labels:
        a, b = systems_of(label)
        pair, sign = (label.eid, a, b), 1.0
        if (label.model_extra or {}).get("order") == "ba":
            pair, sign = (label.eid, b, a), -1.0
        values_by_pair[label.eid, min(a, b), max(a, b)].append(
            (pair, sign * SIGNS[str(label.value)], note_of(label))
        )
    merged = []
    for entries in values_by_pair.values():
        first_pair = entries[0][0]
        mean = fsum(value if pair == first_pair else -value for pair, value, _ in entries) / len(
            entries
        )
        eid, first, second = first_pair
        merged.append(
            RatedItem(
                text=texts[eid, first],
                second=texts[eid, second],
                value=mean,
                share=(mean + 1.0) / 2.0,
                n_labels=len(entries),
                notes=tuple(note for pair, _, note in entries if note and pair == first_pair),
                material=materials.get(eid, ""),
                articles=articles.get(eid, ()),
            )
        )
    return tuple(merged)


def note_of(label: Label) -> str:
    """Return what the annotator wrote beside the label; ``annotate`` keeps it as ``note``."""
    note = (label.model_extra or {}).get("note")
    return note.strip() if isinstance(note, str) else ""
