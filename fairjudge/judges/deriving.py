"""Derive judgements of other protocols from checklists, without calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from fairjudge.domain import Judgement, Verdict
from fairjudge.judges import checklist, statements
from fairjudge.judges.asking import Derived
from fairjudge.protocols import PROTOCOLS


def derive(rows: Sequence[Judgement], protocols: Sequence[Derived]) -> tuple[Judgement, ...]:
    """Return judgements of other `protocols` derived from `rows`, checklists of one judge.

    Each has ``derived_from``. Pairs are returned in both orders; a pair with an unscored side is
    unscored for the same reason. The rows of a jury have no checklist: the derived rows of its
    members are its votes.
    """
    lists = [
        row
        for row in rows
        if PROTOCOLS[row.protocol].itemized and row.system is not None
        if row.unscored or row.checklist or row.statements
    ]
    derived: list[Judgement] = []
    for row in lists if any(PROTOCOLS[name].graded for name in protocols) else ():
        rating = {"system": row.system, "value": _rating(row), "unscored": row.unscored}
        derived.append(_derived(row, "likert", rating))
    if any(PROTOCOLS[name].paired for name in protocols):
        meetings: dict[tuple[str, int | None], list[Judgement]] = {}
        for row in lists:
            meetings.setdefault((row.eid, row.repeat), []).append(row)
        pairs = (pair for meeting in meetings.values() for pair in combinations(meeting, 2))
        derived += [row for a, b in pairs for row in _pair(a, b)]
    return tuple(derived)


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
    names = ("eid", "aspect", "unit", "judge", "scored_by", "signature", "repeat")
    common = {name: getattr(row, name) for name in names if getattr(row, name) is not None}
    return Judgement.model_validate(
        {**common, "protocol": protocol, "derived_from": "checklist", **fields}
    )
