"""Protocols side by side (DiverseSumm, Table 5), of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import (
    Json,
    equals_p,
    forest,
    interval,
    p_value,
    protocol_of,
    row,
    significant_sign,
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
    "Kendall's tau-b over summaries (of parts, their means; of pairs, the differences). "
    "Difference to best: the best minus this one, on the same resampled documents; p is Holm's "
    "over all pairs. An item: a judged summary."
)


def protocol_tables(report: Json) -> list[TextTable]:
    """Return the table of protocols where an aspect was judged in several ways."""
    tables = report.get("protocols")
    return [protocols_table(tables)] if tables else []


def protocol_findings(report: Json) -> Iterator[str]:
    """Say which protocol agrees best, whether it surely leads, and which costs less."""
    for protocols in report.get("protocols", ()):
        best, cheaper = _marked(protocols, "best"), _marked(protocols, "cheaper")
        for protocol in protocols["rows"]:
            tau = protocol["kendall"]
            if significant_sign(tau) < 0:
                yield (
                    f"In {protocols['aspect']} {name_of(protocol)} has a significantly negative "
                    f"correlation with people over summaries: tau-b {interval(tau)}."
                )
        if best is None:
            aspect = protocols["aspect"]
            yield f"In {aspect} no protocol agrees significantly with people over summaries."
            continue
        yield (
            f"In {protocols['aspect']} {name_of(best)} agrees best with people over summaries: "
            f"tau-b {interval(best['kendall'])}{_lead(protocols, best)}."
        )
        if cheaper is not None:
            fewer = f"{cheaper['n_requests']:,} instead of {best['n_requests']:,}"
            yield (
                f"Where requests count, {name_of(cheaper)} ({fewer}) is not significantly worse: "
                f"by {interval(cheaper['behind'])}."
            )


def _lead(protocols: Json, best: Json) -> str:
    rivals = [
        protocol
        for protocol in protocols["rows"]
        if protocol is not best and protocol["kendall"]["value"] is not None
    ]
    if not rivals:
        return ""
    second = max(rivals, key=lambda protocol: protocol["kendall"]["value"])
    if why(second["behind"]):
        return f"; its lead is not tested: {why(second['behind'])}"
    p, behind = second["adjusted_p_value"], second["behind"]
    sure = "is significant" if p is not None and p < 0.05 else "is not significant"
    figures_in_words = f"{interval(behind)}, {equals_p(p_value(p, behind))}"
    return f"; its lead over {name_of(second)} {sure} ({figures_in_words})"


def protocol_plot(table: Json) -> Plot:
    """Return the correlations of one aspect."""
    return forest(
        [row(name_of(protocol), protocol["kendall"]) for protocol in table["rows"]],
        title=f"Protocols of {table['aspect']}: Kendall's tau-b with people over summaries",
        across="Kendall's tau-b with people, over summaries",
        span=(-1.0, 1.0),
        caption=f"{table['aspect'].capitalize()}, by protocol.",
    )


def name_of(row: Json) -> str:
    """Return a protocol with its judge in words: ``"binary by answer (gpt-4)"``."""
    return f"{protocol_of(row)} ({row['judge']})"


def reference_of(row: Json) -> str:
    """Return the reference unit in the words of the paper's table."""
    return _REFERENCE.get(row["unit"], _WHOLE.get(row["aspect"], "-"))


def text_of(row: Json) -> str:
    """Return the text unit in the words of the paper's table."""
    if row["unit"] == "sentence":
        return "sentence"
    return "summaries" if PROTOCOLS[row["protocol"]].paired else "summary"


def _marked(protocols: Json, mark: str) -> Json | None:
    return next((protocol for protocol in protocols["rows"] if protocol["mark"] == mark), None)


def protocols_table(tables: Sequence[Json]) -> TextTable:
    """Return the protocols of all aspects in one table."""
    return table(
        "Protocols: agreement with human labels",
        "aspect: {aspect} | reference: {reference} | text: {text} | protocol: {protocol}"
        " | judge: {judge} | tau-b> {kendall:interval} | note: {note} | requests> {requests}"
        " | US dollars> {cost_usd:dollars} | an item> {per_item:dollars}"
        " | difference to best> {behind:interval} | p> {p} | summaries> {n}",
        [
            {"aspect": protocols["aspect"], **protocol}
            for protocols in tables
            for protocol in protocols["rows"]
        ],
        notes=[_NOTE, *(note for protocols in tables for note in _reasons(protocols))],
        reference=reference_of,
        text=text_of,
        note=lambda row: _MARKS.get(row["mark"], ""),
        requests=lambda row: "-" if row["n_requests"] is None else row["n_requests"],
        per_item=lambda row: row.get("usd_per_item"),
        p=lambda row: p_value(row["adjusted_p_value"], row["behind"]),
        n=lambda row: row["kendall"].get("n", "-"),
    )


def _reasons(protocols: Json) -> list[str]:
    n = pluralize(protocols["n_documents"], "document")
    return [
        f"{protocols['aspect'].capitalize()}: compared on {n} that all protocols share.",
        *(
            f"{name_of(protocol)}: {reason}."
            for protocol in protocols["rows"]
            if (reason := why(protocol["kendall"]) or why(protocol["behind"]))
        ),
    ]
