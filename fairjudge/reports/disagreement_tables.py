"""Tables of the items on which a judge and people differ most; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.calibration.disagreements import WORDS
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable

_SHOWN = 5
_LONGEST = 160


def disagreement_tables(
    report: Json, *, limit: int = _SHOWN, longest: int = _LONGEST
) -> tuple[TextTable, ...]:
    """Return the `limit` largest disagreements of each group, and their common properties.

    Reasons are cut after `longest` characters.
    """
    groups = [group for group in report["groups"] if group.get("disagreements")]
    return tuple(
        table_of_group for group in groups for table_of_group in _tables(group, limit, longest)
    )


def _tables(group: Json, limit: int, longest: int) -> Iterator[TextTable]:
    disagreements = group["disagreements"]
    rows = [_row(disagreement, longest) for disagreement in disagreements[:limit]]
    # A column without a note would take the room of the reasons.
    notes = " | people's notes: {notes}" if any(row["notes"] != "-" for row in rows) else ""
    yield table(
        f"Largest disagreements, {group_title(group)}",
        "item: {item} | judge> {judged:number} | people> {people:number}"
        " | judge's reason: {reason}" + notes,
        rows,
        notes=[
            f"{min(limit, len(disagreements))} of the {len(disagreements)} in the JSON; on the "
            "labels' scale."
        ],
    )
    if group.get("disagreement_causes"):
        yield table(
            f"What the largest disagreements share, {group_title(group)}",
            "what: {what} | of these> {n_listed} of {listed} | of all> {n_all} of {all}",
            [
                {**disagreement_cause, "what": WORDS[disagreement_cause["cause"]]}
                for disagreement_cause in group["disagreement_causes"]
            ],
            notes=["An item may stand in several rows."],
        )


def _row(disagreement: Json, longest: int) -> Json:
    systems = (
        disagreement["system_a"]
        if not disagreement["system_b"]
        else f"{disagreement['system_a']} vs {disagreement['system_b']}"
    )
    unit = "" if disagreement["unit"] == "summary" else f", {disagreement['unit']}"
    notes = [f"{annotator}: {text}" for annotator, text in disagreement["people_reasons"].items()]
    return {
        **disagreement,
        "item": f"{disagreement['eid']}, {systems}{unit}",
        "reason": _cut(" | ".join(disagreement["judge_reasons"]), longest),
        "notes": _cut(" | ".join(notes), longest),
    }


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    if not text:
        return "-"
    return text if len(text) <= longest else text[:longest].rstrip() + " ..."
