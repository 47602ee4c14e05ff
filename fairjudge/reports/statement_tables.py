"""Tables of faithfulness by statement: each system's share, and what articles do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairjudge.reports.covered_tables import by_judge
from fairjudge.reports.figures import Json, first_items
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize
from fairjudge.text.particulars import names_in, numbers_in

_MAX_ERRORS = 12
"""Statements that a terminal names; ``--json`` has all of them."""
_MAX_NAMED = 6
_CITED = (
    "system: {{system}} | supported> {{borne_out:{share}}} | sentences> {{n_sentences}}"
    " | cited> {{n_cited}} | citations> {{n_citations}} | full> {{full}} | part> {{part}}"
    " | none> {{none}} | contradicts> {{contradicts}} | relevant> {{relevant:{share}}}"
)
"""Columns of citations; ``share`` is the format of the shares."""
_SUPPORTED = (
    "Supported: the share of sentences of whose statements each is supported by an article that "
    "the sentence cites. Full, part, none: the citations whose article supports all, some or none "
    "of the sentence's statements. Relevant: the share of citations whose article says something "
    "of a statement."
)


def statement_tables(report: Json) -> Iterator[TextTable]:
    """Yield tables of each judge's systems, of unsupported statements, and of citations."""
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
    return table(
        f"{group['system']}: {len(errors)} of {pluralize(group['n_statements'], 'statement')} "
        "that articles do not support",
        "cluster: {eid} | statement: {statement:cut.110} | verdict: {verdict} | articles: {names}"
        " | their words: {words:cut.110}",
        errors,
        limit=limit,
        verdict=_verdict,
        names=lambda error: first_items(error["articles"], _MAX_NAMED) or "-",
        words=lambda error: error["quote"] or "-",
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


def citations_table(groups: Sequence[Json]) -> TextTable:
    """Return the table of the support of sentences by their citations."""
    return table(
        f"Citations, by {groups[0]['judge']}",
        _CITED.format(share="number"),
        [_with_support({**group["citations"], "system": group["system"]}) for group in groups],
        notes=[_SUPPORTED],
    )


def _with_support(group: Json) -> Json:
    """Return citations with how many have each support."""
    none = dict.fromkeys(("full", "part", "none", "contradicts"), 0)
    return {**none, **group["support"], **group}


def citations_tables(report: Json) -> Iterator[TextTable]:
    """Yield each judge's systems: their citations, these swapped, and those without support."""
    for judge in by_judge(report["groups"]):
        yield table(
            f"Citations, by {judge[0]['judge']}",
            _CITED.format(share="interval"),
            map(_with_support, judge),
            notes=[_SUPPORTED, *_unknown(judge)],
        )
        swapped = [
            {"system": group["system"], **group["swapped"]} for group in judge if group["swapped"]
        ]
        if swapped:
            yield table(
                f"Citations swapped for other articles of the cluster, by {judge[0]['judge']}",
                "system: {system} | sentences that cite> {n} | as cited> {as_cited:interval}"
                " | swapped> {swapped:interval} | difference> {difference:interval}"
                " | p> {difference:p}",
                swapped,
                notes=[
                    "Each sentence's citations stand swapped for as many other articles, each of "
                    "them equally often. Where support stays, the judge names articles that do not "
                    "matter, or every article tells the same."
                ],
            )
        for group in judge:
            lacking = [citation for citation in group["citations"] if citation["support"] != "full"]
            if lacking:
                yield _lacking_table(group["system"], lacking, len(group["citations"]))


def _lacking_table(system: str, citations: Sequence[Json], n: int) -> TextTable:
    return table(
        f"{system}: {len(citations)} of {pluralize(n, 'citation')} without full support",
        "cluster: {eid} | sentence> {number} | article: {aid} | support: {support}",
        citations,
        limit=_MAX_ERRORS,
        number=lambda citation: citation["sentence"] + 1,
    )


def _unknown(groups: Sequence[Json]) -> Iterator[str]:
    if n := sum(group["n_unknown"] for group in groups):
        yield f"{pluralize(n, 'citation')} of words that are in no sentence: excluded."


def wrong_in_words(group: Json) -> str:
    """Return a system's wrong statements in words, for a table of coverage; "" if unknown."""
    contradicted = len(group.get("contradicted") or ())
    statements = group.get("statements")
    sentences = []
    if contradicted:
        of = pluralize(group["n"], "group")
        sentences.append(f"contradicts {contradicted} of {of} of answers")
    if statements and statements["contradicted"] + statements["absent"]:
        counts = {"contradicted": statements["contradicted"], "in no article": statements["absent"]}
        which = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        sentences.append(f"scores by coverage alone; of {statements['n']} statements {which}")
    return f"{group['system']} {'; '.join(sentences)}." if sentences else ""
