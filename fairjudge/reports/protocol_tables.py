"""Protocols side by side (DiverseSumm, Table 5), of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import (
    Json,
    dollars,
    forest,
    interval,
    p_value,
    protocol_of,
    row,
    why,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_WHOLE = {"coverage": "QA pairs", "faithfulness": "articles"}
_REFERENCE = {"article": "article", "answer": "QA pair", "sentence": "articles"}
_MARKS = {"best": "best", "cheaper": "cheaper, not significantly worse"}
_NOTE = (
    "Kendall's tau-b over summaries: means of their parts, and of pairs the difference of two. "
    "Difference to best: the best minus this one, on the same resampled documents; p is Holm's "
    "over all pairs. An item: a judged summary."
)


def protocol_tables(report: Json) -> list[TextTable]:
    """Return the table of protocols where an aspect was judged in several ways."""
    found = report.get("protocols")
    return [protocols_table(found)] if found else []


def protocol_findings(report: Json) -> Iterator[str]:
    """Say which protocol agrees best, whether it surely leads, and which costs less."""
    for found in report.get("protocols", ()):
        best, cheaper = _marked(found, "best"), _marked(found, "cheaper")
        if best is None:
            yield (
                f"In {found['aspect']} no protocol agrees significantly with people over summaries."
            )
            continue
        yield (
            f"In {found['aspect']} {name_of(best)} agrees best with people over summaries: tau-b "
            f"{interval(best['kendall'])}{_lead(found, best)}."
        )
        if cheaper is not None:
            fewer = f"{cheaper['n_requests']:,} instead of {best['n_requests']:,}"
            yield (
                f"Where requests count, {name_of(cheaper)} ({fewer}) is not significantly worse: "
                f"by {interval(cheaper['behind'])}."
            )


def _lead(found: Json, best: Json) -> str:
    others = [
        one for one in found["rows"] if one is not best and one["kendall"]["value"] is not None
    ]
    if not others:
        return ""
    second = max(others, key=lambda one: one["kendall"]["value"])
    if why(second["behind"]):
        return f"; its lead is not tested: {why(second['behind'])}"
    p = second["adjusted_p_value"]
    sure = "is significant" if p is not None and p < 0.05 else "is not significant"
    return (
        f"; its lead over {name_of(second)} {sure} ({interval(second['behind'])}, p {p_value(p)})"
    )


def protocol_plot(found: Json) -> Plot:
    """Return the correlations of one aspect."""
    return forest(
        [row(name_of(one), one["kendall"]) for one in found["rows"]],
        title=f"Protocols of {found['aspect']}: Kendall's tau-b with people over summaries",
        across="Kendall's tau-b with people, over summaries",
        span=(-1.0, 1.0),
        caption=f"{found['aspect'].capitalize()}, by protocol.",
    )


def name_of(one: Json) -> str:
    """Return a way of judging in words: ``"binary by answer (gpt-4)"``."""
    return f"{protocol_of(one)} ({one['judge']})"


def reference_of(one: Json) -> str:
    """Return what a text was held against, in the words of the paper's table."""
    return _REFERENCE.get(one["unit"], _WHOLE.get(one["aspect"], "-"))


def text_of(one: Json) -> str:
    """Return what was judged at once, in the words of the paper's table."""
    if one["unit"] == "sentence":
        return "sentence"
    return "summaries" if PROTOCOLS[one["protocol"]].paired else "summary"


def _marked(found: Json, mark: str) -> Json | None:
    return next((one for one in found["rows"] if one["mark"] == mark), None)


def protocols_table(tables: Sequence[Json]) -> TextTable:
    """Return the protocols of all aspects in one table."""
    return table(
        "Protocols: agreement with human labels",
        "aspect: {aspect} | reference: {reference} | text: {text} | protocol: {protocol}"
        " | judge: {judge} | tau-b> {kendall:interval} | note: {note} | requests> {requests}"
        " | US dollars> {cost} | an item> {per_item} | difference to best> {behind:interval}"
        " | p> {p} | summaries> {n}",
        [_row({"aspect": found["aspect"], **one}) for found in tables for one in found["rows"]],
        notes=[_NOTE, *(note for found in tables for note in _reasons(found))],
    )


def _row(one: Json) -> Json:
    return {
        **one,
        "reference": reference_of(one),
        "text": text_of(one),
        "n": one["kendall"].get("n", "-"),
        "requests": "-" if one["n_requests"] is None else f"{one['n_requests']:,}",
        "cost": dollars(one["cost_usd"]),
        "per_item": dollars(one.get("usd_per_item")),
        "p": p_value(one["adjusted_p_value"]),
        "note": _MARKS.get(one["mark"], ""),
    }


def _reasons(found: Json) -> list[str]:
    said = {name_of(one): why(one["kendall"]) or why(one["behind"]) for one in found["rows"]}
    reasons = [f"{name}: {reason}." for name, reason in said.items() if reason]
    n = pluralize(found["n_documents"], "document")
    return [f"{found['aspect'].capitalize()}: compared on {n} that all protocols share.", *reasons]
