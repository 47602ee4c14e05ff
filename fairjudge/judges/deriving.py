"""Derive judgements of other protocols from checklists, without calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from fairjudge.domain import Judgement, Verdict
from fairjudge.judges import checklist, statements
from fairjudge.judges.asking import DerivedProtocol
from fairjudge.protocols import PROTOCOLS


def derive(
    rows: Sequence[Judgement], protocols: Sequence[DerivedProtocol]
) -> tuple[Judgement, ...]:
    """Return judgements of other `protocols` derived from `rows`, checklists of one judge.

    Each judgement has ``derived_from``. Pairs are returned in both orders; a pair with an unscored
    side is unscored for the same reason. The rows of a jury have no checklist: its votes are the
    derived rows of its members.
    """
    checklists = [
        row
        for row in rows
        if PROTOCOLS[row.protocol].itemized and row.system is not None
        if row.unscored or row.checklist or row.statements
    ]
    judgements: list[Judgement] = []
    for row in checklists if any(PROTOCOLS[name].graded for name in protocols) else ():
        rating = {"system": row.system, "value": _rating(row), "unscored": row.unscored}
        judgements.append(_derived_judgement(row, "likert", rating))
    if any(PROTOCOLS[name].paired for name in protocols):
        rows_by_item: dict[tuple[str, int | None], list[Judgement]] = {}
        for row in checklists:
            rows_by_item.setdefault((row.eid, row.repeat), []).append(row)
        pairs = (pair for item_rows in rows_by_item.values() for pair in combinations(item_rows, 2))
        judgements += [row for a, b in pairs for row in _pair(a, b)]
    return tuple(judgements)


def _rating(row: Judgement) -> int | None:
    if row.statements:
        return statements.likert_of(row.statements)
    if row.checklist:
        return checklist.likert_of(checklist.share_covered(row.checklist))
    return None


def _preference(a: Judgement, b: Judgement) -> Verdict | None:
    if a.statements and b.statements:
        return statements.pairwise_of(a.statements, b.statements)
    if a.checklist and b.checklist:
        shares = map(checklist.share_covered, (a.checklist, b.checklist))
        return checklist.pairwise_of(*shares, n_groups=len(a.checklist))
    return None


def _pair(a: Judgement, b: Judgement) -> Iterator[Judgement]:
    reason = a.unscored or b.unscored
    value = None if reason else _preference(a, b)
    fields = {"system_a": a.system, "system_b": b.system, "value": value, "unscored": reason}
    for order in ("ab", "ba"):
        yield _derived_judgement(a, "pairwise", {**fields, "order": order})


def _derived_judgement(
    row: Judgement, protocol: DerivedProtocol, fields: Mapping[str, Any]
) -> Judgement:
    names = ("eid", "aspect", "unit", "judge", "scored_by", "signature", "repeat")
    common = {name: getattr(row, name) for name in names if getattr(row, name) is not None}
    return Judgement.model_validate(
        {**common, "protocol": protocol, "derived_from": "checklist", **fields}
    )
