"""Tables of a judge before and after a change; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.figures import Json, interval
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted

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
    first = (
        _MEASURES[group["measure"]],
        _or_none(group["before"]),
        _or_none(group["after"]),
        interval(group["agreement"]),
    )
    others = [
        (words, "", "", interval(group[name]))
        for name, words in _CHANGES.items()
        if group["protocol"] == "binary" or name not in ("sensitivity", "specificity")
    ]
    return TextTable(
        title=f"Check: {group['aspect']}, {group['protocol']}, by {who}",
        columns=columns(
            "figure", "before", "after", "change", numbers=("before", "after", "change")
        ),
        rows=(first, *others),
        notes=_notes(group, margin),
    )


def _or_none(value: float | None) -> str:
    return "-" if value is None else number(value)


def _notes(group: Json, margin: float) -> tuple[str, ...]:
    notes = [
        f"{group['verdict'].capitalize()}. {_SAID[group['verdict']]} Margin: {number(margin)}.",
        f"{counted(group['n_items'], 'anchor')} judged both times, in "
        f"{counted(group['n_documents'], 'document')}, of {group['n_labelled']} labelled.",
    ]
    if group["verdict"] == "cannot tell" and group["documents_needed"]:
        notes.append(
            f"About {counted(group['documents_needed'], 'document')} would make the interval "
            "narrow enough for this margin."
        )
    lost = group["without_score"]
    if lost.get("low") is not None and lost["low"] > 0:
        notes.append(
            f"More anchors are without a score than before: {group['n_without_after']} now, "
            f"{group['n_without_before']} before."
        )
    return tuple(notes)
