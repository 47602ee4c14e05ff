"""Tables of a judge's stability; no arithmetic."""

from __future__ import annotations

from fairjudge.reports.calibration_tables import group_title
from fairjudge.reports.figures import Json, interval
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted

_FIGURES = {
    "flips": "two judgements of an item differ",
    "unanimous": "all judgements of an item are alike",
    "spread": "spread within an item (points)",
    "flips_between_variants": "two prompts' judgements differ",
}
_PARTS = {
    "item": "share of variance: item",
    "variant": "share of variance: prompt",
    "item_by_variant": "share of variance: item by prompt",
    "repeat": "share of variance: repeat",
}


def stability_tables(report: Json) -> tuple[TextTable, ...]:
    """Return one table a judge, aspect and protocol."""
    return tuple(_table(group) for group in report["groups"])


def _table(group: Json) -> TextTable:
    title = f"Stability of {group_title(group)}"
    heads = columns("figure", "value", numbers=("value",))
    if group["why"] is not None:
        return TextTable(title=title, columns=heads, rows=(), notes=(f"None: {group['why']}.",))
    rows = [(words, interval(group[name])) for name, words in _FIGURES.items()]
    rows += [(words, interval(group["shares"][name])) for name, words in _PARTS.items()]
    return TextTable(
        title=title,
        columns=heads,
        rows=tuple(row for row in rows if row[1] != "-"),
        notes=_notes(group),
    )


def _notes(group: Json) -> tuple[str, ...]:
    notes = [
        f"{counted(group['n_judgements'], 'judgement')} of {counted(group['n_items'], 'item')} in "
        f"{counted(group['n_documents'], 'document')}; {group['n_repeated_items']} judged more "
        "than once under one prompt."
    ]
    if len(group["variants"]) > 1:
        notes.append(f"Prompts: {', '.join(group['variants'])}.")
    if group["alike"]:
        notes.append(
            "Different prompts gave the same verdict on every item: look whether their records are "
            "copies of one another."
        )
    if isinstance(group["worth"], list):
        told = "; ".join(
            f"{one['repeats']} repeats: {number(one['width'])}, {number(one['as_many_items'])}"
            for one in group["worth"][1:]
        )
        notes.append(
            "What repeats are worth to a mean over items (width of its interval beside one "
            f"repeat's; as many times the items would do): {told}."
        )
    if group["n_unscored"]:
        notes.append(f"Left out: {group['n_unscored']} without a score.")
    return tuple(notes)
