"""What checklists say under other protocols, without a call. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from fairjudge.domain import Judgement, Verdict
from fairjudge.judges import checklist, statements
from fairjudge.judges.asking import Derived
from fairjudge.protocols import PROTOCOLS


def derive(rows: Sequence[Judgement], protocols: Sequence[Derived]) -> tuple[Judgement, ...]:
    """Return what `rows`, checklists of one judge, say under other protocols.

    Each row says so by ``derived_from``. Pairs come in both orders, of which none was asked; a pair
    with an unscored side is unscored for that side's reason. A jury's own rows have no list: its
    members' derived rows are its votes.
    """
    lists = [
        row
        for row in rows
        if PROTOCOLS[row.protocol].itemized and row.system is not None
        if row.unscored or row.checklist or row.statements
    ]
    found: list[Judgement] = []
    for row in lists if any(PROTOCOLS[name].graded for name in protocols) else ():
        rating = {"system": row.system, "value": _rating(row), "unscored": row.unscored}
        found.append(_derived(row, "likert", rating))
    if any(PROTOCOLS[name].paired for name in protocols):
        meetings: dict[tuple[str, int | None], list[Judgement]] = {}
        for row in lists:
            meetings.setdefault((row.eid, row.repeat), []).append(row)
        pairs = (pair for some in meetings.values() for pair in combinations(some, 2))
        found += [row for a, b in pairs for row in _pair(a, b)]
    return tuple(found)


def _rating(row: Judgement) -> int | None:
    if row.statements:
        return statements.likert_of(row.statements)
    if row.checklist:
        return checklist.likert_of(checklist.share_covered(row.checklist))
    return None


def _preferred(a: Judgement, b: Judgement) -> Verdict | None:
    if a.statements and b.statements:
        return statements.pairwise_of(a.statements, b.statements)
    if a.checklist and b.checklist:
        shares = map(checklist.share_covered, (a.checklist, b.checklist))
        return checklist.pairwise_of(*shares, n_groups=len(a.checklist))
    return None


def _pair(a: Judgement, b: Judgement) -> Iterator[Judgement]:
    unscored = a.unscored or b.unscored
    value = None if unscored else _preferred(a, b)
    fields = {"system_a": a.system, "system_b": b.system, "value": value, "unscored": unscored}
    for order in ("ab", "ba"):
        yield _derived(a, "pairwise", {**fields, "order": order})


def _derived(row: Judgement, protocol: Derived, fields: Mapping[str, Any]) -> Judgement:
    kept = ("eid", "aspect", "unit", "judge", "scored_by", "signature", "repeat")
    known = {name: getattr(row, name) for name in kept if getattr(row, name) is not None}
    return Judgement.model_validate(
        {**known, "protocol": protocol, "derived_from": "checklist", **fields}
    )
