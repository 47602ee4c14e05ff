"""Tables of a judge before and after a change; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.calibration.drift import FEWEST_DOCUMENTS
from fairjudge.reports.figures import Json
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize

_SAID = {
    "better": "It agrees with people better than before.",
    "same": "It agrees with people as before, within the margin.",
    "worse": "It agrees with people less than before, and the loss may exceed the margin.",
    "cannot tell": "These anchors cannot tell whether the loss stays within the margin.",
}
_MEASURES = {
    "spearman": "agreement with people (Spearman)",
    "agreement": "agreement with people (share of the same answer)",
}
_CHANGES = {
    "shift": "the judge's mean value",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "without_score": "share of anchors without a score",
}


def check_tables(report: Json) -> tuple[TextTable, ...]:
    """Return a table of changes for each aspect, protocol and judge."""
    return tuple(_table(group, report["margin"]) for group in report["groups"])


def _table(group: Json, margin: float) -> TextTable:
    names = group["judge_before"], group["judge_after"]
    who = names[0] if names[0] == names[1] else f"{names[0]}, then {names[1]}"
    return table(
        f"Check: {group['aspect']}, {group['protocol']}, by {who}",
        "figure: {figure} | before> {before} | after> {after} | change> {change:interval}",
        [
            {
                "figure": _MEASURES[group["measure"]],
                "before": number(group["before"]),
                "after": number(group["after"]),
                "change": group["agreement"],
            },
            *(
                {"figure": words, "before": "", "after": "", "change": group[name]}
                for name, words in _CHANGES.items()
                if group["protocol"] == "binary" or name not in ("sensitivity", "specificity")
            ),
        ],
        notes=_notes(group, margin),
    )


def _notes(group: Json, margin: float) -> Iterator[str]:
    yield f"{group['verdict'].capitalize()}. {_SAID[group['verdict']]} Margin: {number(margin)}."
    yield (
        f"{pluralize(group['n_items'], 'anchor')} judged both times, in "
        f"{pluralize(group['n_documents'], 'document')}, of {group['n_labelled']} labelled."
    )
    if group["n_documents"] < FEWEST_DOCUMENTS:
        yield f"No verdict is given on fewer than {FEWEST_DOCUMENTS} documents."
    elif group["verdict"] == "cannot tell" and group["documents_needed"]:
        yield (
            f"About {pluralize(group['documents_needed'], 'document')} would make the interval "
            "narrow enough for this margin."
        )
    lost = group["without_score"]
    if lost.get("low") is not None and lost["low"] > 0:
        yield (
            f"More anchors are without a score than before: {group['n_without_after']} now, "
            f"{group['n_without_before']} before."
        )
