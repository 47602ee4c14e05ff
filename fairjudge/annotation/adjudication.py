"""Adjudication: relabel the items on which a judge and annotators differ most.

The opinions of the judge and the annotators are shown only after the adjudicator has answered, so
that they do not bias the answer, which can then be changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.annotation.items import Item
from fairjudge.annotation.planning import item_key
from fairjudge.domain import Order
from fairjudge.errors import InputError
from fairjudge.files import read_file
from fairjudge.records.schema import without_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A value of the judge or an annotator for an item, with reasons.

    ``value`` is encoded as in labels; for a pair it is in [-1, 1], positive if the
    item's first system is better.
    """

    author: str
    value: float
    reasons: tuple[str, ...] = ()

    def in_words(self, order: Order | None) -> str:
        """Return the value as text: for a pair in `order`, the preferred side."""
        if order is None:
            return f"{self.value:g}"
        if self.value == 0.0:
            return "tie"
        return "first" if (self.value > 0) == (order == "ab") else "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """The numbers of the items to decide, largest difference first, and the opinions by item id.

    Annotators' names are replaced by numbers.
    """

    numbers: tuple[int, ...]
    opinions: Mapping[str, tuple[Opinion, ...]]


def read_adjudication(path: Path, items: Sequence[Item]) -> Adjudication:
    """Read the disagreements from the JSON of ``fairjudge calibrate``.

    Raises InputError if the file is not such JSON, or none of its disagreements is an item of this
    job.
    """
    try:
        groups = without_schema(json.loads(read_file(path)), path)["groups"]
        disagreements = [
            (group["aspect"], disagreement)
            for group in groups
            for disagreement in group["disagreements"]
        ]
        disagreements.sort(key=lambda pair: -abs(float(pair[1]["gap"])))
        opinions_by_number = _match(disagreements, items)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = f"expected the JSON of 'fairjudge calibrate', with disagreements: {error!r}"
        raise InputError(problem, path=path) from None
    if not opinions_by_number:
        raise InputError(
            f"none of its {len(disagreements)} disagreements is an item of this job, such as "
            f"{items[0].id} on {items[0].aspect!r}",
            path=path,
        )
    return Adjudication(
        numbers=tuple(opinions_by_number),
        opinions={items[number].id: opinions for number, opinions in opinions_by_number.items()},
    )


def _match(
    disagreements: Sequence[tuple[str, Mapping[str, Any]]], items: Sequence[Item]
) -> dict[int, tuple[Opinion, ...]]:
    number_by_key = {(item.aspect, item_key(item)[0]): n for n, item in enumerate(items)}
    opinions: dict[int, tuple[Opinion, ...]] = {}
    for aspect, disagreement in disagreements:
        systems = tuple(sorted(filter(None, (disagreement["system_a"], disagreement["system_b"]))))
        number = number_by_key.get((aspect, (disagreement["eid"], systems, disagreement["unit"])))
        if number is not None:
            sign = -1.0 if item_key(items[number])[1] else 1.0
            reasons = tuple(map(str, disagreement["judge_reasons"]))
            judge = Opinion(
                author="The judge", value=sign * float(disagreement["judged"]), reasons=reasons
            )
            annotators = () if number in opinions else _annotator_opinions(disagreement, sign)
            opinions[number] = (*opinions.get(number, ()), judge, *annotators)
    return opinions


def _annotator_opinions(disagreement: Mapping[str, Any], sign: float) -> tuple[Opinion, ...]:
    notes = disagreement["people_reasons"]
    return tuple(
        Opinion(
            author=f"Person {number}",
            value=sign * float(value),
            reasons=(str(notes[name]),) if name in notes else (),
        )
        for number, (name, value) in enumerate(sorted(disagreement["labels"].items()), 1)
    )
