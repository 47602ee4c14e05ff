"""Adjudication: the items on which a judge and people differ most, decided once more.

What the judge and people said is shown after the adjudicator's own answer and not before, so that
it cannot lead to it; the answer may then be changed.
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
    """What the judge or a person said of an item; ``value`` is on the labels' scale.

    Of a pair it runs from -1 to 1, above 0 where the item's first system is better.
    """

    who: str
    value: float
    reasons: tuple[str, ...] = ()

    def in_words(self, shown: Order | None) -> str:
        """Return the value; of a pair the side that stands there."""
        if shown is None:
            return f"{self.value:g}"
        if self.value == 0.0:
            return "tie"
        return "first" if (self.value > 0) == (shown == "ab") else "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """Which items are asked about, by number and the widest gap first, and the opinions on each.

    People are not named.
    """

    numbers: tuple[int, ...]
    opinions: Mapping[str, tuple[Opinion, ...]]


def read_adjudication(path: Path, items: Sequence[Item]) -> Adjudication:
    """Take the disagreements from the JSON of ``fairjudge calibrate``.

    Raises InputError if the file is nothing such, or none of its disagreements is an item of this
    job.
    """
    try:
        groups = without_schema(json.loads(read_file(path)), path)["groups"]
        listed = [
            (group["aspect"], disagreement)
            for group in groups
            for disagreement in group["disagreements"]
        ]
        listed.sort(key=lambda pair: -abs(float(pair[1]["gap"])))
        found = _match(listed, items)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = f"expected the JSON of 'fairjudge calibrate', with disagreements: {error!r}"
        raise InputError(problem, path=path) from None
    if not found:
        raise InputError(
            f"none of its {len(listed)} disagreements is an item of this job, such as "
            f"{items[0].id} on {items[0].aspect!r}",
            path=path,
        )
    return Adjudication(
        numbers=tuple(found),
        opinions={items[number].id: opinions for number, opinions in found.items()},
    )


def _match(
    listed: Sequence[tuple[str, Mapping[str, Any]]], items: Sequence[Item]
) -> dict[int, tuple[Opinion, ...]]:
    places = {(item.aspect, item_key(item)[0]): n for n, item in enumerate(items)}
    found: dict[int, tuple[Opinion, ...]] = {}
    for aspect, one in listed:
        systems = tuple(sorted(filter(None, (one["system_a"], one["system_b"]))))
        number = places.get((aspect, (one["eid"], systems, one["unit"])))
        if number is not None:
            sign = -1.0 if item_key(items[number])[1] else 1.0
            reasons = tuple(map(str, one["judge_reasons"]))
            judge = Opinion(who="The judge", value=sign * float(one["judged"]), reasons=reasons)
            people = () if number in found else _people(one, sign)
            found[number] = (*found.get(number, ()), judge, *people)
    return found


def _people(one: Mapping[str, Any], sign: float) -> tuple[Opinion, ...]:
    notes = one["people_reasons"]
    return tuple(
        Opinion(
            who=f"Person {number}",
            value=sign * float(value),
            reasons=(str(notes[name]),) if name in notes else (),
        )
        for number, (name, value) in enumerate(sorted(one["labels"].items()), 1)
    )
