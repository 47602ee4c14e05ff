"""Judgements of an old and a new prompt, joined with human labels by item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.aligning.decision import PairedScores
from fairjudge.aligning.measures import PAIRS, RATINGS
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.calibration.labels import ItemKey, item_key
from fairjudge.domain import Judgement, Label
from fairjudge.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReading:
    """Annotators and scale of the labels; see `fairjudge.calibration.items.join`."""

    annotators: tuple[str, ...] = ("*",)
    scale: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two prompts on one part; `paired` has the items scored by both, in the order of ``keys``.

    ``judged`` are the judgements of the old and of the new prompt, including unscored ones.
    """

    old: JoinedItems
    new: JoinedItems
    judged: tuple[tuple[Judgement, ...], tuple[Judgement, ...]]
    keys: tuple[ItemKey, ...]
    paired: PairedScores


def sides_of(
    old: Iterable[Judgement],
    new: Iterable[Judgement],
    labels: Sequence[Label],
    reading: LabelReading,
) -> Sides:
    """Join both prompts' judgements to the labels of a part, item by item.

    A pair needs verdicts in both orders to have a score.
    """
    judged = tuple(old), tuple(new)
    (old_join,), (new_join,) = (
        join(
            tuple(_in_both_orders(rows)),
            labels,
            annotators=reading.annotators,
            label_scale=reading.scale,
        )
        for rows in judged
    )
    old_scores, new_scores = (
        dict(zip(side.keys, side.judged.tolist(), strict=True)) for side in (old_join, new_join)
    )
    human = dict(zip(old_join.keys, old_join.human.tolist(), strict=True))
    shared_keys = tuple(key for key in old_join.keys if key in new_scores)
    labelled_keys = {*old_join.keys, *old_join.unjudged, *new_join.keys, *new_join.unjudged}
    return Sides(
        old=old_join,
        new=new_join,
        judged=judged,
        keys=shared_keys,
        paired=PairedScores(
            old=np.array([old_scores[key] for key in shared_keys], dtype=np.float64),
            new=np.array([new_scores[key] for key in shared_keys], dtype=np.float64),
            human=np.array([human[key] for key in shared_keys], dtype=np.float64),
            documents=[key[0] for key in shared_keys],
            n_labelled=len(labelled_keys),
            n_without_old=len(labelled_keys - old_scores.keys()),
            n_without_new=len(labelled_keys - new_scores.keys()),
            measure=PAIRS if PROTOCOLS[old_join.protocol].paired else RATINGS,
        ),
    )


def _in_both_orders(rows: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield `rows` without verdicts on pairs (or parts) that lack a verdict in the other order.

    Unscored rows are kept, to be counted.
    """
    all_rows = tuple(rows)
    first_systems = [row.system_a if row.order == "ab" else row.system_b for row in all_rows]
    first_systems_by_item: dict[ItemKey, set[str | None]] = {}
    for row, first in zip(all_rows, first_systems, strict=True):
        if row.unscored is None:
            first_systems_by_item.setdefault(item_key(row)[0], set()).add(first)
    for row in all_rows:
        is_exempt = not PROTOCOLS[row.protocol].paired or row.unscored is not None
        if is_exempt or len(first_systems_by_item[item_key(row)[0]]) == 2:
            yield row
