"""Tables of a judge's stability; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize

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
    return tuple(
        table(
            f"Stability of {group_title(group)}",
            "figure: {figure} | value> {found:interval}",
            _rows(group),
            notes=_notes(group),
        )
        for group in report["groups"]
    )


def stability_shares(group: Json) -> Iterator[tuple[str, Json]]:
    """Yield the figures of a group's table that are shares, with labels that fit a plot."""
    for row in _rows(group):
        if row["figure"] != _FIGURES["spread"]:
            yield row["figure"].removeprefix("share of "), row["found"]


def _rows(group: Json) -> Iterator[Json]:
    if group["why"] is not None:
        return
    for figures, words in ((group, _FIGURES), (group["shares"], _PARTS)):
        for name, word in words.items():
            if interval(figures[name]) != "-":
                yield {"figure": word, "found": figures[name]}


def _notes(group: Json) -> Iterator[str]:
    if group["why"] is not None:
        yield f"None: {group['why']}."
        return
    yield (
        f"{pluralize(group['n_judgements'], 'judgement')} of {pluralize(group['n_items'], 'item')} "
        f"in {pluralize(group['n_documents'], 'document')}; {group['n_repeated_items']} judged "
        "more than once under one prompt."
    )
    if len(group["variants"]) > 1:
        yield f"Prompts: {', '.join(group['variants'])}."
    if group["alike"]:
        yield (
            "Different prompts gave the same verdict on every item: check whether their records "
            "are copies of one another."
        )
    if isinstance(group["worth"], list):
        rows = "; ".join(
            f"{row['repeats']} repeats: {number(row['width'])}, {number(row['as_many_items'])}"
            for row in group["worth"][1:]
        )
        yield (
            "Effect of repeats on a mean over items (width of its interval relative to one "
            f"repeat; equivalent factor of items): {rows}."
        )
    if group["n_unscored"]:
        yield f"Excluded: {group['n_unscored']} without a score."
