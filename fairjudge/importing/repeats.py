"""Judgements of one item, numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fairjudge.domain import Judgement

_ITEM = (
    "eid", "system", "system_a", "system_b", "order", "aspect", "protocol", "unit", "judge",
)  # fmt: skip


def item_of(found: Judgement) -> dict[str, str]:
    """Return what was judged and by whom: two judgements of one item agree in all of it."""
    return {name: getattr(found, name) for name in _ITEM if getattr(found, name) is not None}


def number_repeats(found: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Give each judgement of an item that has several its ``repeat``, from 0.

    An item all of whose judgements have a ``repeat`` of their own, each another, keeps them.
    """
    rows = tuple(found)
    keys = [tuple(item_of(one).items()) for one in rows]
    times = Counter(keys)
    own = {(key, one.repeat) for key, one in zip(keys, rows, strict=True)}
    given = Counter(key for key, repeat in own if repeat is not None)
    next_one: Counter[tuple[tuple[str, str], ...]] = Counter()
    numbered = []
    for key, one in zip(keys, rows, strict=True):
        if times[key] > 1 and given[key] < times[key]:
            numbered.append(one.model_copy(update={"repeat": next_one[key]}))
            next_one[key] += 1
        else:
            numbered.append(one)
    return tuple(numbered)


def last_places(found: Sequence[Judgement]) -> tuple[int, ...]:
    """Return the index of each item's last judgement; items stand in the order of their first."""
    return tuple({tuple(item_of(one).items()): at for at, one in enumerate(found)}.values())


def without_repeat(one: Judgement) -> Judgement:
    """Return `one` as the only judgement of its item."""
    fields = {name: value for name, value in one.to_json().items() if name != "repeat"}
    return Judgement.model_validate(fields)
