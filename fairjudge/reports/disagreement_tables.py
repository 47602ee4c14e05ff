"""Tables of the items on which a judge and people differ most; no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairjudge.calibration.disagreements import WORDS
from fairjudge.reports.calibration_tables import group_title
from fairjudge.reports.tables import TextTable, columns, number

Json = Mapping[str, Any]
_SHOWN = 5
_LONGEST = 160


def disagreement_tables(
    report: Json, *, limit: int = _SHOWN, longest: int = _LONGEST
) -> tuple[TextTable, ...]:
    """Return the widest gaps of every group that has any, `limit` of each, and what they share.

    Reasons are cut after `longest` characters.
    """
    groups = [group for group in report["groups"] if group.get("disagreements")]
    return tuple(
        table
        for group in groups
        for table in (
            _table(group, limit, longest),
            *([_causes(group)] if group.get("disagreement_causes") else []),
        )
    )


def _causes(group: Json) -> TextTable:
    found = group["disagreement_causes"]
    return TextTable(
        title=f"What the largest disagreements share, {group_title(group)}",
        columns=columns("what", "of these", "of all", numbers=("of these", "of all")),
        rows=tuple(
            (
                WORDS[one["cause"]],
                f"{one['n_listed']} of {one['listed']}",
                f"{one['n_all']} of {one['all']}",
            )
            for one in found
        ),
        notes=("An item may stand in several rows. What all items share explains no gap.",),
    )


def _table(group: Json, limit: int, longest: int) -> TextTable:
    found = group["disagreements"]
    return TextTable(
        title=f"Largest disagreements, {group_title(group)}",
        columns=columns(
            "item", "judge", "people", "judge's reason", "people's notes",
            numbers=("judge", "people"),
        ),
        rows=tuple(
            (
                _item(one),
                number(one["judged"]),
                number(one["people"]),
                _cut(" | ".join(one["judge_reasons"]), longest),
                _cut(
                    " | ".join(f"{who}: {text}" for who, text in one["people_reasons"].items()),
                    longest,
                ),
            )
            for one in found[:limit]
        ),
        notes=(f"{min(limit, len(found))} of the {len(found)} in the JSON; on the labels' scale.",),
    )  # fmt: skip


def _item(one: Json) -> str:
    systems = one["system_a"] if not one["system_b"] else f"{one['system_a']} vs {one['system_b']}"
    unit = "" if one["unit"] == "summary" else f", {one['unit']}"
    return f"{one['eid']}, {systems}{unit}"


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    if not text:
        return "-"
    return text if len(text) <= longest else text[:longest].rstrip() + " ..."
