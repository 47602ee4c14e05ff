"""An old and a new prompt beside people's labels, item by item."""

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
    """Two prompts on one part: `paired` has what both scored, in the order of ``keys``.

    ``judged`` are the rows of the old prompt and of the new one, unscored ones too.
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

    A pair needs a verdict in both orders: with one alone it has no score.
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
    before, after = (
        dict(zip(side.keys, side.judged.tolist(), strict=True)) for side in (old_join, new_join)
    )
    human = dict(zip(old_join.keys, old_join.human.tolist(), strict=True))
    shared = tuple(key for key in old_join.keys if key in after)
    labelled = {*old_join.keys, *old_join.unjudged, *new_join.keys, *new_join.unjudged}
    return Sides(
        old=old_join,
        new=new_join,
        judged=judged,
        keys=shared,
        paired=PairedScores(
            old=np.array([before[key] for key in shared], dtype=np.float64),
            new=np.array([after[key] for key in shared], dtype=np.float64),
            human=np.array([human[key] for key in shared], dtype=np.float64),
            documents=[key[0] for key in shared],
            n_labelled=len(labelled),
            n_without_old=len(labelled - before.keys()),
            n_without_new=len(labelled - after.keys()),
            measure=PAIRS if PROTOCOLS[old_join.protocol].paired else RATINGS,
        ),
    )


def _in_both_orders(rows: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield `rows` without verdicts on a pair, or a part of it, that has none in the other order.

    Rows without a score stay, to be counted.
    """
    every = tuple(rows)
    first_shown = [row.system_a if row.order == "ab" else row.system_b for row in every]
    scored: dict[ItemKey, set[str | None]] = {}
    for row, first in zip(every, first_shown, strict=True):
        if row.unscored is None:
            scored.setdefault(item_key(row)[0], set()).add(first)
    for row in every:
        whole = not PROTOCOLS[row.protocol].paired or row.unscored is not None
        if whole or len(scored[item_key(row)[0]]) == 2:
            yield row
