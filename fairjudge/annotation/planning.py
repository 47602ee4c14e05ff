"""Plan a job from items: order, overlap, and controls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.annotation.board import Job
from fairjudge.annotation.items import Item
from fairjudge.domain import SWAPPED, Judgement, Label, Value
from fairjudge.errors import ConfigurationError, InputError

OfferOrder: TypeAlias = Literal["grouped", "random"]
ItemKey: TypeAlias = tuple[str, tuple[str, ...], str]
"""Eid, systems in alphabetical order, and unit of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """How items are distributed to annotators.

    ``overlap``, in [0, 1], is the share of items that ``raters`` people label; the other items are
    labelled once. ``order`` keeps items of one text together, or shuffles all. ``qualify`` is the
    minimum share of correct controls, which come first, for an annotator to get other items.
    """

    overlap: float = 0.2
    raters: int = 2
    order: OfferOrder = "grouped"
    seed: int = 0
    qualify: float | None = None


def item_key(row: Item | Judgement | Label) -> tuple[ItemKey, bool]:
    """Return the key that joins items, judgements and labels, and whether a pair was swapped."""
    if isinstance(row, Item):
        systems = row.systems
    elif row.system is not None:
        systems = (row.system,)
    else:
        systems = (str(row.system_a), str(row.system_b))
    sorted_systems = tuple(sorted(systems))
    return (row.eid, sorted_systems, row.unit), sorted_systems != systems


def match_controls(items: Sequence[Item], labels: Sequence[Label]) -> dict[int, Value]:
    """Return the known value of each item that has a label in `labels`, by item number.

    Raises InputError if no label matches an item, or two labels of an item differ.
    """
    number_by_key = {item_key(item)[0]: (n, item_key(item)[1]) for n, item in enumerate(items)}
    values: dict[int, Value] = {}
    for label in labels:
        key, is_swapped = item_key(label)
        if key not in number_by_key or label.aspect != items[number_by_key[key][0]].aspect:
            continue
        number, is_item_swapped = number_by_key[key]
        value = label.value
        if is_swapped != is_item_swapped and isinstance(value, str):
            value = SWAPPED[value]
        if values.setdefault(number, value) != value:
            raise InputError(f"two controls of {items[number].id} differ", field="value")
    if labels and not values:
        raise InputError(
            f"no control matches an item: none has an eid, system and unit such as {items[0].id} "
            f"and aspect {items[0].aspect!r}"
        )
    return values


def plan_job(
    items: Sequence[Item],
    *,
    options: JobOptions,
    controls: Mapping[int, Value] | None = None,
    order: Sequence[int] | None = None,
) -> Job:
    """Plan which of `items` each annotator labels.

    `controls` map item numbers to known values, and are used only as controls; `order` lists the
    numbers of the items to label (None: all). Raises ConfigurationError if an option is out of
    range, or every item is a control.
    """
    control_values = controls or {}
    if options.qualify is not None and not control_values:
        raise ConfigurationError("--qualify needs --controls: items whose answers are known")
    numbers = [
        n for n in (range(len(items)) if order is None else order) if n not in control_values
    ]
    if not numbers:
        raise ConfigurationError("nothing to label: every item is a control")
    rng = np.random.default_rng([options.seed, len(items)])
    shuffled_numbers = sorted(
        numbers, key=lambda n: own_number(items[n].id, f"overlap {options.seed}")
    )
    overlap_numbers = set(shuffled_numbers[: round(options.overlap * len(numbers))])
    n_raters = [0] * len(items)
    for number in numbers:
        n_raters[number] = options.raters if number in overlap_numbers else 1
    return Job(
        blocks=_blocks(items, numbers, options.order, rng),
        wanted=tuple(n_raters),
        controls=dict(control_values),
        seed=options.seed,
        qualify=options.qualify,
    )


def own_number(item: str, purpose: str) -> float:
    """Return a pseudorandom number in [0, 1) that depends only on the item and the purpose.

    Draws that use it do not change when other items are added or removed.
    """
    digest = hashlib.sha256(f"{purpose} {item}".encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56


def _blocks(
    items: Sequence[Item], numbers: Sequence[int], order: OfferOrder, rng: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Group item numbers by text, in random order of clusters and systems, or one per block."""
    if order == "random":
        return tuple((int(number),) for number in rng.permutation(numbers))
    by_cluster: dict[str, dict[tuple[str, ...], list[int]]] = {}
    for number in numbers:
        item = items[number]
        by_cluster.setdefault(item.eid, {}).setdefault(item.block, []).append(number)
    clusters = list(by_cluster.values())
    ordered_blocks: list[tuple[int, ...]] = []
    for c in rng.permutation(len(clusters)):
        blocks = list(clusters[c].values())
        ordered_blocks += [tuple(blocks[b]) for b in rng.permutation(len(blocks))]
    return tuple(ordered_blocks)
