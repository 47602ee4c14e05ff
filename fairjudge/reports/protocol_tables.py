"""Comparisons of protocols (DiverseSumm, Table 5) and juries, from ``calibrate --json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import (
    Json,
    equals_p,
    forest,
    interval,
    p_value,
    protocol_in_words,
    row,
    significant_sign,
    significant_words,
    undefined_reason,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize

_WHOLE_REFERENCE = {"coverage": "QA pairs", "faithfulness": "articles"}
_REFERENCE = {"article": "article", "answer": "QA pair", "sentence": "articles"}
_MARKS = {"best": "best", "cheaper": "cheaper, not significantly worse"}
_NOTE = (
    "Kendall's tau-b over summaries (parts: their means; pairs: the differences). "
    "Difference to best: the best minus this one, on the same resampled documents; p is corrected "
    "over all pairs (Holm). An item is a judged summary."
)


def protocol_tables(report: Json) -> list[TextTable]:
    """Return the table of protocols, if an aspect was judged with several protocols."""
    tables = report.get("protocols")
    return [protocols_table(tables)] if tables else []


def protocol_findings(report: Json) -> Iterator[str]:
    """Yield the best protocol, whether its lead is significant, and a cheaper one."""
    for protocols in report.get("protocols", ()):
        best, cheaper = _find_by_mark(protocols, "best"), _find_by_mark(protocols, "cheaper")
        for protocol in protocols["rows"]:
            tau = protocol["kendall"]
            if significant_sign(tau) < 0:
                yield (
                    f"In {protocols['aspect']} {protocol_name(protocol)} has a significantly "
                    "negative correlation with human labels over summaries: tau-b "
                    f"{interval(tau)}."
                )
        if best is None:
            aspect = protocols["aspect"]
            yield f"In {aspect} no protocol agrees significantly with human labels over summaries."
            continue
        yield (
            f"In {protocols['aspect']} {protocol_name(best)} agrees best with human labels over "
            f"summaries: tau-b {interval(best['kendall'])}{_lead(protocols, best)}."
        )
        if cheaper is not None:
            counts = f"{cheaper['n_requests']:,} instead of {best['n_requests']:,}"
            yield (
                f"With fewer requests ({counts}), {protocol_name(cheaper)} is not significantly "
                f"worse: by {interval(cheaper['behind'])}."
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
    if undefined_reason(second["behind"]):
        return f"; its lead is not tested: {undefined_reason(second['behind'])}"
    p, behind = second["adjusted_p_value"], second["behind"]
    predicate = "is significant" if p is not None and p < 0.05 else "is not significant"
    estimate = f"{interval(behind)}, {equals_p(p_value(p, behind))}"
    return f"; its lead over {protocol_name(second)} {predicate} ({estimate})"


def protocol_plot(table: Json) -> Plot:
    """Return the plot of the correlations of one aspect's protocols."""
    return forest(
        [row(protocol_name(protocol), protocol["kendall"]) for protocol in table["rows"]],
        title=f"Protocols of {table['aspect']}: Kendall's tau-b with human labels over summaries",
        x_label="Kendall's tau-b with human labels, over summaries",
        span=(-1.0, 1.0),
        caption=f"{table['aspect'].capitalize()}, by protocol.",
    )


def protocol_name(row: Json) -> str:
    """Return a protocol with its judge in words: ``"binary by answer (gpt-4)"``."""
    return f"{protocol_in_words(row)} ({row['judge']})"


def reference_unit(row: Json) -> str:
    """Return the reference unit in the words of the paper's table."""
    return _REFERENCE.get(row["unit"], _WHOLE_REFERENCE.get(row["aspect"], "-"))


def text_unit(row: Json) -> str:
    """Return the text unit in the words of the paper's table."""
    if row["unit"] == "sentence":
        return "sentence"
    return "summaries" if PROTOCOLS[row["protocol"]].paired else "summary"


def _find_by_mark(protocols: Json, mark: str) -> Json | None:
    return next((protocol for protocol in protocols["rows"] if protocol["mark"] == mark), None)


def protocols_table(tables: Sequence[Json]) -> TextTable:
    """Return the protocols of all aspects in one table."""
    return table(
        "Protocols: agreement with human labels",
        "aspect: {aspect} | reference: {reference} | text: {text} | protocol: {protocol}"
        " | judge: {judge} | tau-b> {kendall:interval} | note: {note} | requests> {requests}"
        " | US dollars> {cost_usd:dollars} | per item> {per_item:dollars}"
        " | difference to best> {behind:interval} | p> {p} | summaries> {n}",
        [
            {"aspect": protocols["aspect"], **protocol}
            for protocols in tables
            for protocol in protocols["rows"]
        ],
        notes=[_NOTE, *(note for protocols in tables for note in _reasons(protocols))],
        reference=reference_unit,
        text=text_unit,
        note=lambda row: _MARKS.get(row["mark"], ""),
        requests=lambda row: "-" if row["n_requests"] is None else row["n_requests"],
        per_item=lambda row: row.get("usd_per_item"),
        p=lambda row: p_value(row["adjusted_p_value"], row["behind"]),
        n=lambda row: row["kendall"].get("n", "-"),
    )


def _reasons(protocols: Json) -> list[str]:
    n = pluralize(protocols["n_documents"], "document")
    return [
        f"{protocols['aspect'].capitalize()}: compared on {n} common to all protocols.",
        *(
            f"{protocol_name(protocol)}: {reason}."
            for protocol in protocols["rows"]
            if (
                reason := undefined_reason(protocol["kendall"])
                or undefined_reason(protocol["behind"])
            )
        ),
    ]


_BEST = "best single judge"
_FITTED = "jury, fitted"
_JURY_NOTE = (
    "RMSE in units of the labels, on held-out documents: curves, weights and the choice of the "
    "best judge come from the other documents. Gain: RMSE minus the jury's on the same items; "
    "p is corrected over the table (Holm). The mean is of uncalibrated scores on the labels' scale."
)


def jury_tables(report: Json) -> Iterator[TextTable]:
    """Yield two tables per jury: its gains, and the contribution of each member."""
    for jury in report.get("juries", ()):
        if not jury["why"]:
            yield _gains(jury)
            yield _members(jury)


def jury_findings(report: Json) -> Iterator[str]:
    """Yield whether a jury has a lower error than its best judge, and its effective number."""
    for jury in report.get("juries", ()):
        name = f"The jury of {pluralize(len(jury['judges']), 'judge')} in {jury['aspect']}"
        if jury["why"]:
            yield f"No jury could be fitted in {jury['aspect']}: {jury['why']}."
            continue
        best = next(comparison for comparison in jury["compared"] if comparison["name"] == _BEST)
        rmse = f"RMSE {_value(jury['rmse'])}, the best single judge {_value(best['rmse'])}"
        predicate = significant_words(
            best["gain"],
            above="has a significantly lower error than",
            below="has a significantly higher error than",
            neither="does not have a significantly lower error than",
        )
        yield (
            f"{name}, fitted on labels, {predicate} its best single judge, calibrated: {rmse}, "
            f"gain {interval(best['gain'], digits=3)}."
        )
        yield effective_number_sentence(jury)
        if idle_members := [member["name"] for member in jury["members"] if not member["adds"]]:
            members = " or ".join(idle_members)
            yield f"{name} does not have a significantly larger error without {members}."


def effective_number_sentence(jury: Json) -> str:
    """Return a sentence on the effective number of independent judges of a jury."""
    if reason := undefined_reason(jury["effective_number"]):
        return f"Effective number of judges of the jury in {jury['aspect']}: {reason}."
    return (
        f"Its {pluralize(len(jury['judges']), 'judge')} in {jury['aspect']} are equivalent to "
        f"{interval(jury['effective_number'], digits=1)} independent ones: their errors correlate "
        f"with {interval(jury['error_correlation'])}."
    )


def jury_plot(jury: Json) -> Plot:
    """Return the plot of the RMSE of the jury and of its alternatives."""
    rows = [row(_FITTED, jury["rmse"])]
    rows += [row(comparison["name"], comparison["rmse"]) for comparison in jury["compared"]]
    title = f"{jury['aspect']}: RMSE against human labels on held-out documents"
    return forest(rows, title=title, x_label="RMSE, in units of the labels")


def _gains(jury: Json) -> TextTable:
    jury_row = {"name": _FITTED, "n_items": jury["n_items"], "rmse": jury["rmse"]}
    scorers = (jury_row, *jury["compared"])
    return table(
        f"{jury['aspect']}: a jury of {pluralize(len(jury['judges']), 'judge')}, "
        f"{pluralize(jury['n_items'], 'item')}",
        "scored by: {name} | items> {n_items} | RMSE held-out> {rmse:interval.3}"
        " | gain of the jury> {gain:interval.3} | p (Holm)> {p}",
        scorers,
        notes=(effective_number_sentence(jury), _JURY_NOTE, *_exclusion_notes(jury)),
        gain=lambda scorer: scorer.get("gain"),
        p=lambda scorer: p_value(scorer.get("adjusted_p_value"), scorer.get("gain")),
    )


def _members(jury: Json) -> TextTable:
    return table(
        f"{jury['aspect']}: contribution of each judge to the jury",
        "judge: {name} | items> {n_items} | weight> {weight:number} | best in (%)> {best_in:share}"
        " | increase of RMSE without it> {loss:interval.3} | p (Holm)> {p}"
        " | effective number without it> {effective_without:number.1}",
        jury["members"],
        notes=(
            effective_number_sentence(jury),
            "Weight: that of its calibrated score if no judge is missing. Best in: share of folds "
            "in which it was the best single judge.",
        ),
        p=lambda member: p_value(member["adjusted_p_value"], member["loss"]),
    )


def _exclusion_notes(jury: Json) -> Iterator[str]:
    for name, reason in jury["left_out"].items():
        yield f"{name} is not a member: {reason}."
    n_incomplete = jury["n_items"] - jury["n_complete"]
    if n_incomplete:
        yield (
            f"{pluralize(n_incomplete, 'item')} without the scores of all members: weights are "
            "those of the members that scored it."
        )


def _value(figure: Json) -> str:
    return number(figure["value"], digits=3)
