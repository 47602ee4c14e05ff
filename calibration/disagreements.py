"""Where a judge and people differ most, with what each said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import ItemKey
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Judgement, Label

LONGEST_REASON = 2000
"""Characters of a reason that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One item; ``judged`` and ``people`` are in units of the labels, ``gap`` is their difference.

    Pairs run from -1 (system_b is better) to 1. ``labels`` maps each annotator to their value;
    ``judge_reasons`` are the judge's replies, ``people_reasons`` annotators' notes, ``causes`` the
    rules of `fairjudge.calibration.causes` that hold for it.
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
    come first on which people are at one, then by eid and system; those without a gap are left out.
    """
    mapped = rescale(joined.judged, joined.judge_scale, joined.label_scale)
    gaps = mapped - joined.human
    people = [
        {name: float(joined.ratings[row, at]) for at, name in enumerate(joined.annotators)
         if joined.present[row, at]}
        for row in range(len(joined.keys))
    ]  # fmt: skip
    order = sorted(
        (row for row in range(len(joined.keys)) if abs(gaps[row]) > 1e-9),
        key=lambda row: (-round(abs(float(gaps[row])), 9), _width(people[row]), joined.keys[row]),
    )[:limit]
    wanted = {joined.keys[row] for row in order}
    said = _judge_reasons(joined, judgements, wanted)
    notes = _notes(joined, labels, wanted)
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
            judge_reasons=tuple(said[key]),
            people_reasons=notes[key],
            causes=tuple((causes or {}).get(key, ())),
        )
        for row, key in ((row, joined.keys[row]) for row in order)
    )


def _width(values: Mapping[str, float]) -> float:
    return max(values.values()) - min(values.values())


def item_key(row: Judgement | Label) -> ItemKey:
    """Return what was judged, a pair's systems in order of name."""
    if row.system is not None:
        return (row.eid, row.system, "", row.unit)
    first, second = sorted((str(row.system_a), str(row.system_b)))
    return (row.eid, first, second, row.unit)


def _judge_reasons(
    joined: Joined, judgements: Iterable[Judgement], wanted: set[ItemKey]
) -> dict[ItemKey, list[str]]:
    group = joined.judge, joined.aspect, joined.protocol
    out: dict[ItemKey, list[str]] = defaultdict(list)
    for row in judgements:
        key = item_key(row)
        if key in wanted and (row.judge, row.aspect, row.protocol) == group:
            extra = row.model_extra or {}
            text = str(extra.get("reason") or row.raw or "").strip()
            if text:
                out[key].append(text[:LONGEST_REASON])
    return out


def _notes(
    joined: Joined, labels: Iterable[Label], wanted: set[ItemKey]
) -> dict[ItemKey, dict[str, str]]:
    out: dict[ItemKey, dict[str, str]] = defaultdict(dict)
    for label in labels:
        key = item_key(label)
        extra = label.model_extra or {}
        text = str(extra.get("note") or extra.get("reason") or "").strip()
        if text and key in wanted and label.aspect == joined.aspect:
            out[key][label.annotator] = text[:LONGEST_REASON]
    return out
