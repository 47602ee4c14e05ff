"""Protocols (DiverseSumm, Table 5) and juries side by side, of the JSON of ``calibrate --json``."""

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
    significant_words,
    why,
)
from fairjudge.reports.parts import Plot
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
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


_BEST = "best single judge"
_FITTED = "jury, fitted"
_JURY_NOTE = (
    "RMSE in units of the labels, on held-out documents: curves, weights and the choice of the "
    "best judge come from the others. Gain: RMSE minus the jury's on the same items; "
    "p is Holm's over the table. The mean is of scores on the labels' scale as they are."
)


def jury_tables(report: Json) -> Iterator[TextTable]:
    """Yield two tables for each jury: its gains, and the contribution of each member."""
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
            f"{name}, fitted on labels, {predicate} the best single one, calibrated: {rmse}, gain "
            f"{interval(best['gain'], digits=3)}."
        )
        yield worth(jury)
        if idle := [member["name"] for member in jury["members"] if not member["adds"]]:
            yield f"{name} does not have a significantly larger error without {' or '.join(idle)}."


def worth(jury: Json) -> str:
    """Return a sentence on the effective number of independent judges of a jury."""
    if reason := why(jury["effective_number"]):
        return f"How many independent judges the jury in {jury['aspect']} is worth: {reason}."
    return (
        f"Its {pluralize(len(jury['judges']), 'judge')} in {jury['aspect']} are worth "
        f"{interval(jury['effective_number'], digits=1)} independent ones: their errors correlate "
        f"{interval(jury['error_correlation'])}."
    )


def jury_plot(jury: Json) -> Plot:
    """Return a plot of the distances from people of the jury and its alternatives."""
    rows = [row(_FITTED, jury["rmse"])]
    rows += [row(comparison["name"], comparison["rmse"]) for comparison in jury["compared"]]
    title = f"{jury['aspect']}: RMSE to people on held-out documents"
    return forest(rows, title=title, across="RMSE, in units of the labels")


def _gains(jury: Json) -> TextTable:
    own = {"name": _FITTED, "n_items": jury["n_items"], "rmse": jury["rmse"]}
    scorers = (own, *jury["compared"])
    return table(
        f"{jury['aspect']}: a jury of {pluralize(len(jury['judges']), 'judge')}, "
        f"{pluralize(jury['n_items'], 'item')}",
        "scored by: {name} | items> {n_items} | RMSE held-out> {rmse:interval.3}"
        " | gain of the jury> {gain:interval.3} | p (Holm)> {p}",
        scorers,
        notes=(worth(jury), _JURY_NOTE, *_left_out(jury)),
        gain=lambda scorer: scorer.get("gain"),
        p=lambda scorer: p_value(scorer.get("adjusted_p_value"), scorer.get("gain")),
    )


def _members(jury: Json) -> TextTable:
    return table(
        f"{jury['aspect']}: what each judge does in the jury",
        "judge: {name} | items> {n_items} | weight> {weight:number} | best in (%)> {best_in:share}"
        " | RMSE without it, more by> {loss:interval.3} | p (Holm)> {p}"
        " | others are worth> {effective_without:number.1}",
        jury["members"],
        notes=(
            worth(jury),
            "Weight: of its calibrated score where no judge is missing. Best in: the share of "
            "folds in which it was the best single one.",
        ),
        p=lambda member: p_value(member["adjusted_p_value"], member["loss"]),
    )


def _left_out(jury: Json) -> Iterator[str]:
    for name, reason in jury["left_out"].items():
        yield f"{name} is no member: {reason}."
    missing = jury["n_items"] - jury["n_complete"]
    if missing:
        yield (
            f"{pluralize(missing, 'item')} without some member's score: the weights there are "
            "those of the members that scored it."
        )


def _value(figure: Json) -> str:
    return number(figure["value"], digits=3)
