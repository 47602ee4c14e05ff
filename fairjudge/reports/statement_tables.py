"""Tables of faithfulness by statement: each system's share, and what articles do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.reports.covered_tables import by_judge
from fairjudge.reports.figures import Json, named
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize
from fairjudge.text.particulars import names_in, numbers_in
from fairjudge.text.printable import printable

_MAX_ERRORS = 12
"""Statements that a terminal names; ``--json`` has all of them."""
_MAX_NAMED = 6


def statement_tables(report: Json) -> Iterator[TextTable]:
    """Yield each judge's systems, what is wrong in each, and its citations where there are some."""
    for judge in by_judge(report["groups"]):
        yield shares_table(judge)
        for group in judge:
            if group["errors"]:
                yield errors_table(group, limit=_MAX_ERRORS)
        cited = [group for group in judge if group["citations"]]
        if cited:
            yield citations_table(cited)


def shares_table(groups: Sequence[Json]) -> TextTable:
    """Return how many statements of each system articles support, and its scores."""
    return table(
        f"Statements of summaries, by {groups[0]['judge']}",
        "system: {system} | share supported> {share:interval} | worst> {worst:value}"
        " | statements> {n_statements} | supported> {supported} | contradicted> {contradicted}"
        " | in no article> {absent} | grave> {grave}",
        groups,
        notes=[
            "Share of statements that articles support, 0 to 1, clusters weigh the same. Worst: "
            "the mean over clusters of a summary's worst statement: 1 supported, 0.5 in no "
            "article, 0 contradicted. Grave: a reader would tell the story wrongly."
        ],
    )


def errors_table(group: Json, *, limit: int | None = None) -> TextTable:
    """Name the first `limit` statements that articles do not support, gravest first.

    Of equals those with numbers come first, then those with names.
    """
    errors = sorted(group["errors"], key=_order)
    more = len(errors) - len(errors[:limit])
    return table(
        f"{group['system']}: {len(errors)} of {pluralize(group['n_statements'], 'statement')} "
        "that articles do not support",
        "cluster: {eid} | statement: {statement} | verdict: {said} | articles: {names}"
        " | their words: {words}",
        [
            {
                **error,
                "statement": _line(error["statement"], 110),
                "said": _verdict(error),
                "names": named(error["articles"], _MAX_NAMED) if error["articles"] else "-",
                "words": _line(error["quote"] or "-", 110),
            }
            for error in errors[:limit]
        ],
        notes=[f"... and {more} more (see --json)"] if more else [],
    )


def _order(error: Json) -> tuple[bool, bool, bool, bool]:
    statement = str(error["statement"])
    return (
        not error["grave"],
        error["verdict"] != "contradicted",
        not numbers_in(statement),
        not names_in(statement),
    )


def _verdict(error: Json) -> str:
    words = "contradicted" if error["verdict"] == "contradicted" else "in no article"
    return f"{words}, grave" if error["grave"] else words


def _line(text: str, limit: int) -> str:
    line = " ".join(printable(str(text)).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def citations_table(groups: Sequence[Json]) -> TextTable:
    """Return how far sentences are supported by what they cite."""
    return table(
        f"Citations, by {groups[0]['judge']}",
        "system: {system} | supported> {citations[borne_out]:number} | sentences>"
        " {citations[n_sentences]} | cited> {citations[n_cited]} | citations>"
        " {citations[n_citations]} | relevant> {citations[relevant]:number} | full> {full}"
        " | part> {part} | none> {none} | contradicts> {contradicts}",
        [
            {
                **group,
                **{
                    name: group["citations"]["support"].get(name, 0)
                    for name in ("full", "part", "none", "contradicts")
                },
            }
            for group in groups
        ],
        notes=[
            "Supported: the share of sentences of whose statements each is supported by an article "
            "that the sentence cites. Full, part, none: the citations whose article supports all, "
            "some or none of the sentence's statements."
        ],
    )


def wrong_in_words(group: Json) -> str:
    """Say what is wrong in a system of which coverage is shown; empty where nothing is known."""
    contradicted = len(group.get("contradicted") or ())
    statements = group.get("statements")
    sentences = []
    if contradicted:
        sentences.append(
            f"contradicts {contradicted} of {pluralize(group['n'], 'group')} of answers"
        )
    if statements and statements["contradicted"] + statements["absent"]:
        counts = {"contradicted": statements["contradicted"], "in no article": statements["absent"]}
        which = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        sentences.append(f"scores by coverage alone; of {statements['n']} statements {which}")
    return f"{group['system']} {'; '.join(sentences)}." if sentences else ""
