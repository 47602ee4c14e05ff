"""Where a judge and people differ most, with what each said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import ItemKey, item_key
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
            judge_reasons=tuple(filter(None, (_said(one, "reason", "raw") for one in judged[key]))),
            people_reasons=notes[key],
            causes=tuple((causes or {}).get(key, ())),
        )
        for row, key in ((row, joined.keys[row]) for row in order)
    )


def _width(values: Mapping[str, float]) -> float:
    return max(values.values()) - min(values.values())


def rows_by_item(joined: Joined, judgements: Iterable[Judgement]) -> dict[ItemKey, list[Judgement]]:
    """Return the judgements of each labelled item of one judge, aspect and protocol."""
    group = joined.judge, joined.aspect, joined.protocol
    found: dict[ItemKey, list[Judgement]] = {key: [] for key in joined.keys}
    for row in judgements:
        if (row.judge, row.aspect, row.protocol) == group and (key := item_key(row)[0]) in found:
            found[key].append(row)
    return found


def _notes(joined: Joined, labels: Iterable[Label]) -> dict[ItemKey, dict[str, str]]:
    out: dict[ItemKey, dict[str, str]] = {key: {} for key in joined.keys}
    for label in labels:
        key, text = item_key(label)[0], _said(label, "note", "reason")
        if text and key in out and label.aspect == joined.aspect:
            out[key][label.annotator] = text
    return out


def _said(row: Judgement | Label, *names: str) -> str:
    """Return the first text that `row` has under one of `names`."""
    found = (getattr(row, name, None) for name in names)
    return str(next(filter(None, found), "")).strip()[:LONGEST_REASON]
