"""Largest disagreements between judge and labels, and their possible causes.

A cause is a rule about an item's records; it need not be why the judge erred. To assess a cause,
compare its frequency among the largest disagreements with that among all items.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.answers import answers
from fairjudge.calibration.grouping import with_group_keys
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.labels import ItemKey, item_key
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Judgement, Label
from fairjudge.protocols import PROTOCOLS

LONGEST_REASON = 2000
"""Maximum length of a reason in characters; longer ones are truncated."""
Cause: TypeAlias = Literal[
    "people_differ", "judge_unsure", "position", "one_order", "partly_unscored", "filled_in",
    "no_reason", "long", "short",
]  # fmt: skip
CAUSE_DESCRIPTIONS: Mapping[Cause, str] = {
    "people_differ": "annotators disagree: their labels span half the scale or more",
    "judge_unsure": "the judge is unsure: its repeats, orders or probabilities differ",
    "position": "the two orders of the pair have opposite winners",
    "one_order": "the pair was judged in one order alone",
    "partly_unscored": "some judgements of the item have no score",
    "filled_in": "a local scorer replaced the judge",
    "no_reason": "the judge gave a verdict without a reason",
    "long": "the summary is among the longest third",
    "short": "the summary is among the shortest third",
}
_UNSURE = 0.5
"""Confidence (`fairjudge.calibration.answers`) below which the judge counts as unsure."""
_NO_REASON = 40
"""Length in characters below which a reply counts as a verdict without a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCount:
    """Number of items with a cause: ``n_listed`` of ``listed`` items, ``n_all`` of ``all``."""

    cause: Cause
    n_listed: int
    listed: int
    n_all: int
    all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item with its judge and human value, in units of the labels; ``gap`` is the difference.

    Values of pairs are from -1 (system_b is better) to 1. ``labels`` maps annotators to values,
    ``people_reasons`` maps them to notes; ``judge_reasons`` are the judge's reasons.
    """

    eid: str
    system_a: str
    system_b: str | None
    unit: str
    judged: float
    people: float
    gap: float
    labels: Mapping[str, float]
    judge_reasons: tuple[str, ...]
    people_reasons: Mapping[str, str]
    causes: tuple[str, ...] = ()

    @property
    def key(self) -> ItemKey:
        """The item's key."""
        return (self.eid, self.system_a, self.system_b or "", self.unit)


def largest_disagreements(
    items: JoinedItems,
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    causes: Mapping[ItemKey, Sequence[str]] | None = None,
    limit: int = 20,
) -> tuple[Disagreement, ...]:
    """Return up to `limit` items of one judge, aspect and protocol, by descending absolute gap.

    The judge's values are mapped linearly to the labels' scale. Equal gaps are sorted by the range
    of the labels, then by eid and system. Items without a gap are omitted.
    """
    rescaled_scores = rescale(items.judged, items.judge_scale, items.label_scale)
    gaps = rescaled_scores - items.human
    labels_by_row = [items.labels_of(row) for row in range(len(items.keys))]
    order = sorted(
        (row for row in range(len(items.keys)) if abs(gaps[row]) > 1e-9),
        key=lambda row: (
            -round(abs(float(gaps[row])), 9),
            _label_range(labels_by_row[row]),
            items.keys[row],
        ),
    )[:limit]
    judgements_by_row = rows_by_item(items, judgements)
    notes_by_key = _notes(items, labels)
    return tuple(
        Disagreement(
            eid=key[0],
            system_a=key[1],
            system_b=key[2] or None,
            unit=key[3],
            judged=float(rescaled_scores[row]),
            people=float(items.human[row]),
            gap=float(gaps[row]),
            labels=labels_by_row[row],
            judge_reasons=_reasons(judgements_by_row[key]),
            people_reasons=notes_by_key[key],
            causes=tuple((causes or {}).get(key, ())),
        )
        for row, key in ((row, items.keys[row]) for row in order)
    )


def _label_range(values: Mapping[str, float]) -> float:
    return max(values.values()) - min(values.values())


def rows_by_item(
    items: JoinedItems, judgements: Iterable[Judgement]
) -> dict[ItemKey, list[Judgement]]:
    """Group the judgements of one judge, aspect, protocol and unit by labelled item."""
    judgements_by_item: dict[ItemKey, list[Judgement]] = {key: [] for key in items.keys}
    for group, row in with_group_keys(judgements):
        if group == items.group and (key := item_key(row)[0]) in judgements_by_item:
            judgements_by_item[key].append(row)
    return judgements_by_item


def _reasons(rows: Sequence[Judgement]) -> tuple[str, ...]:
    texts = (
        _text((row.model_extra or {}).get("reason") or reason_text(row.raw or "")) for row in rows
    )
    return tuple(text for text in texts if text)


def reason_text(reply: str) -> str:
    """Return the reason in a reply: the texts of a JSON object, or else the whole reply.

    Texts of one word are omitted, since they are verdicts.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        content = json.loads(reply[start : end + 1], strict=False) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return reply
    if not isinstance(content, dict):
        return reply
    texts = [value.strip() for value in content.values() if isinstance(value, str)]
    return " ".join(text for text in texts if len(text.split()) > 1) or reply


def _notes(items: JoinedItems, labels: Iterable[Label]) -> dict[ItemKey, dict[str, str]]:
    notes: dict[ItemKey, dict[str, str]] = {key: {} for key in items.keys}
    for label in labels:
        key, extra = item_key(label)[0], label.model_extra or {}
        text = _text(extra.get("note") or extra.get("reason"))
        if text and key in notes and label.aspect == items.aspect:
            notes[key][label.annotator] = text
    return notes


def _text(reply: object) -> str:
    return str(reply or "").strip()[:LONGEST_REASON]


def find_causes(
    items: JoinedItems, judgements: Iterable[Judgement], *, words: Mapping[tuple[str, str], int]
) -> dict[ItemKey, tuple[Cause, ...]]:
    """Return the causes that apply to each labelled item of one judge, aspect and protocol.

    `words` maps (eid, system) to the number of words, for causes about length; pairs have none.
    """
    rows = rows_by_item(items, judgements)
    varied_judgements = [
        row
        for judgements_of_item in rows.values()
        if _has_several_answers(judgements_of_item)
        for row in judgements_of_item
    ]
    is_unsure = {
        key: answer.confidence < _UNSURE for key, answer in answers(varied_judgements).items()
    }
    half_range = (items.label_scale[1] - items.label_scale[0]) / 2.0
    length_causes = _length_causes(items, words)
    causes = {}
    for row, key in enumerate(items.keys):
        labels = items.ratings[row][items.present[row]]
        holds = {
            "people_differ": bool(np.ptp(labels) >= half_range) if labels.size > 1 else False,
            "judge_unsure": is_unsure.get(key, False),
            **_recorded_causes(rows[key], paired=PROTOCOLS[items.protocol].paired),
            **length_causes.get(key, {}),
        }
        causes[key] = tuple(cause for cause in CAUSE_DESCRIPTIONS if holds.get(cause))
    return causes


def _has_several_answers(rows: Sequence[Judgement]) -> bool:
    """Return whether an item has several answers or probabilities; 2.5 alone is no uncertainty."""
    if any(row.probabilities for row in rows):
        return True
    values = [row.value for row in rows if row.value is not None]
    return len(values) > 1 and not any(isinstance(value, float) and value % 1 for value in values)


def _recorded_causes(rows: Sequence[Judgement], *, paired: bool) -> dict[str, bool]:
    extras = [row.model_extra or {} for row in rows]
    n_unscored = sum(row.unscored is not None for row in rows)
    replies = [row.raw for row in rows if row.raw is not None]
    return {
        "position": any(extra.get("flipped") is True for extra in extras),
        "one_order": paired and len({row.order for row in rows if row.value is not None}) == 1,
        "partly_unscored": 0 < n_unscored < len(rows),
        "filled_in": any("fallback_for" in extra for extra in extras),
        "no_reason": bool(replies) and all(len(raw.strip()) < _NO_REASON for raw in replies),
    }


def _length_causes(
    items: JoinedItems, words: Mapping[tuple[str, str], int]
) -> dict[ItemKey, dict[str, bool]]:
    n_words = {
        key: words[key[0], key[1]] for key in items.keys
        if not key[2] and (key[0], key[1]) in words
    }  # fmt: skip
    if len(set(n_words.values())) < 3:
        return {}
    lower_third, upper_third = np.quantile(list(n_words.values()), [1 / 3, 2 / 3])
    return {
        key: {"short": n <= lower_third, "long": n >= upper_third} for key, n in n_words.items()
    }


def count_causes(
    causes: Mapping[ItemKey, Sequence[Cause]], listed_keys: Collection[ItemKey]
) -> tuple[CauseCount, ...]:
    """Count items by cause, among `listed_keys` and overall, by descending number of listed items.

    Causes without listed items are omitted.
    """
    n_overall = Counter(cause for causes_of_item in causes.values() for cause in causes_of_item)
    n_listed = Counter(cause for key in listed_keys for cause in causes[key])
    return tuple(
        CauseCount(
            cause=cause,
            n_listed=n_listed[cause],
            listed=len(listed_keys),
            n_all=n_overall[cause],
            all=len(causes),
        )
        for cause in sorted(CAUSE_DESCRIPTIONS, key=lambda cause: -n_listed[cause])
        if n_listed[cause]
    )
