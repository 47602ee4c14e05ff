"""Largest disagreements between judge and people, and their common properties.

A cause is a rule on what is known of an item from the records, and not why the judge erred: whether
it stands behind the gaps, the share of all items that it holds for must tell.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.calibration.answers import answers
from fairjudge.calibration.grouping import keyed
from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import ItemKey, item_key
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Judgement, Label
from fairjudge.protocols import PROTOCOLS

LONGEST_REASON = 2000
"""Characters of a reason that are kept."""
Cause: TypeAlias = Literal[
    "people_differ", "judge_unsure", "position", "one_order", "partly_unscored", "filled_in",
    "no_reason", "long", "short",
]  # fmt: skip
WORDS: Mapping[Cause, str] = {
    "people_differ": "annotators disagree: their labels span half the scale or more",
    "judge_unsure": "the judge is unsure: its repeats, orders or probabilities differ",
    "position": "the two orders of the pair name opposite sides",
    "one_order": "the pair was judged in one order alone",
    "partly_unscored": "some judgements of the item have no score",
    "filled_in": "a local scorer filled in for the judge",
    "no_reason": "the judge gave a verdict without a reason",
    "long": "the summary is among the longest third",
    "short": "the summary is among the shortest third",
}
_UNSURE = 0.5
"""Confidence (`fairjudge.calibration.answers`) below which the judge is called unsure."""
_NO_REASON = 40
"""Characters of a reply below which it holds a verdict alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCount:
    """How many of the listed disagreements, and of all labelled items, a rule holds for."""

    cause: Cause
    n_listed: int
    listed: int
    n_all: int
    all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One item; ``judged`` and ``people`` are in units of the labels, ``gap`` is their difference.

    Pairs run from -1 (system_b is better) to 1. ``labels`` maps each annotator to their value;
    ``judge_reasons`` are the judge's replies, ``people_reasons`` annotators' notes, ``causes`` the
    causes that hold for it.
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
        """Return the item."""
        return (self.eid, self.system_a, self.system_b or "", self.unit)


def largest_disagreements(
    joined: Joined,
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    causes: Mapping[ItemKey, Sequence[str]] | None = None,
    limit: int = 20,
) -> tuple[Disagreement, ...]:
    """Return the items of one judge, aspect and protocol by gap, the widest first.

    The judge's values are brought to the labels' scale by a straight line. Among equal gaps those
    come first on which annotators agree, then by eid and system; those without a gap are left out.
    """
    mapped = rescale(joined.judged, joined.judge_scale, joined.label_scale)
    gaps = mapped - joined.human
    people = [joined.labels_of(row) for row in range(len(joined.keys))]
    order = sorted(
        (row for row in range(len(joined.keys)) if abs(gaps[row]) > 1e-9),
        key=lambda row: (-round(abs(float(gaps[row])), 9), _width(people[row]), joined.keys[row]),
    )[:limit]
    judged = rows_by_item(joined, judgements)
    notes = _notes(joined, labels)
    return tuple(
        Disagreement(
            eid=key[0],
            system_a=key[1],
            system_b=key[2] or None,
            unit=key[3],
            judged=float(mapped[row]),
            people=float(joined.human[row]),
            gap=float(gaps[row]),
            labels=people[row],
            judge_reasons=_reasons(judged[key]),
            people_reasons=notes[key],
            causes=tuple((causes or {}).get(key, ())),
        )
        for row, key in ((row, joined.keys[row]) for row in order)
    )


def _width(values: Mapping[str, float]) -> float:
    return max(values.values()) - min(values.values())


def rows_by_item(joined: Joined, judgements: Iterable[Judgement]) -> dict[ItemKey, list[Judgement]]:
    """Return the judgements of each labelled item of one judge, aspect, protocol and unit."""
    judgements_by_item: dict[ItemKey, list[Judgement]] = {key: [] for key in joined.keys}
    for group, row in keyed(judgements):
        if group == joined.group and (key := item_key(row)[0]) in judgements_by_item:
            judgements_by_item[key].append(row)
    return judgements_by_item


def _reasons(rows: Sequence[Judgement]) -> tuple[str, ...]:
    texts = (
        _text((row.model_extra or {}).get("reason") or in_words(row.raw or "")) for row in rows
    )
    return tuple(text for text in texts if text)


def in_words(reply: str) -> str:
    """Return what a reply says: of a JSON object its texts, of any other reply all of it.

    A reason is written before the verdict; a text of one word is a verdict, not a reason.
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


def _notes(joined: Joined, labels: Iterable[Label]) -> dict[ItemKey, dict[str, str]]:
    out: dict[ItemKey, dict[str, str]] = {key: {} for key in joined.keys}
    for label in labels:
        key, extra = item_key(label)[0], label.model_extra or {}
        text = _text(extra.get("note") or extra.get("reason"))
        if text and key in out and label.aspect == joined.aspect:
            out[key][label.annotator] = text
    return out


def _text(reply: object) -> str:
    return str(reply or "").strip()[:LONGEST_REASON]


def causes_of(
    joined: Joined, judgements: Iterable[Judgement], *, words: Mapping[tuple[str, str], int]
) -> dict[ItemKey, tuple[Cause, ...]]:
    """Return which rules hold for each labelled item of one judge, aspect and protocol.

    `words` are lengths by (eid, system), for the rules on length; pairs have none.
    """
    rows = rows_by_item(joined, judgements)
    several = [
        row
        for judgements_of_item in rows.values()
        if _has_several_answers(judgements_of_item)
        for row in judgements_of_item
    ]
    unsure = {key: answer.confidence < _UNSURE for key, answer in answers(several).items()}
    half = (joined.label_scale[1] - joined.label_scale[0]) / 2.0
    lengths = _lengths(joined, words)
    causes = {}
    for place, key in enumerate(joined.keys):
        labels = joined.ratings[place][joined.present[place]]
        holds = {
            "people_differ": bool(np.ptp(labels) >= half) if labels.size > 1 else False,
            "judge_unsure": unsure.get(key, False),
            **_recorded(rows[key], paired=PROTOCOLS[joined.protocol].paired),
            **lengths.get(key, {}),
        }
        causes[key] = tuple(cause for cause in WORDS if holds.get(cause))
    return causes


def _has_several_answers(rows: Sequence[Judgement]) -> bool:
    """Whether an item has more than one answer; a single score of 2.5 does not count as doubt."""
    if any(row.probabilities for row in rows):
        return True
    values = [row.value for row in rows if row.value is not None]
    return len(values) > 1 and not any(isinstance(value, float) and value % 1 for value in values)


def _recorded(rows: Sequence[Judgement], *, paired: bool) -> dict[str, bool]:
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


def _lengths(
    joined: Joined, words: Mapping[tuple[str, str], int]
) -> dict[ItemKey, dict[str, bool]]:
    n_words = {
        key: words[key[0], key[1]] for key in joined.keys
        if not key[2] and (key[0], key[1]) in words
    }  # fmt: skip
    if len(set(n_words.values())) < 3:
        return {}
    low, high = np.quantile(list(n_words.values()), [1 / 3, 2 / 3])
    return {key: {"short": n <= low, "long": n >= high} for key, n in n_words.items()}


def count_causes(
    causes: Mapping[ItemKey, Sequence[Cause]], listed: Collection[ItemKey]
) -> tuple[CauseCount, ...]:
    """Count the items of each cause among those `listed` and among all; those of none are absent.

    Causes of most listed items come first.
    """
    everywhere = Counter(cause for causes_of_item in causes.values() for cause in causes_of_item)
    n_by_cause = Counter(cause for key in listed for cause in causes[key])
    return tuple(
        CauseCount(
            cause=cause,
            n_listed=n_by_cause[cause],
            listed=len(listed),
            n_all=everywhere[cause],
            all=len(causes),
        )
        for cause in sorted(WORDS, key=lambda cause: -n_by_cause[cause])
        if n_by_cause[cause]
    )
