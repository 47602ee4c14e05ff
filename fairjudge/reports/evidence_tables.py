"""What summaries cover of the sources, and what the sources support of the summaries.

Tables of coverage by source, with the voices that each system leaves out; of statements and of
citations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairjudge.protocols import protocol_label
from fairjudge.reports.figures import Json, first_items, interval, tally
from fairjudge.reports.row_tables import hidden_note, side_by_side, table
from fairjudge.reports.tables import TextTable, terminal_width
from fairjudge.scores.coverage_slices import COVERED_FROM
from fairjudge.text.counting import pluralize
from fairjudge.text.particulars import names_in, numbers_in

_MAX_ROWS = 30
"""Rows of a table that a terminal shows; ``--json`` has all of them."""
_MAX_NAMED = 6
"""Groups of answers named for a system as left out."""
MATRICES = (
    "coverage by weight of groups",
    "coverage by kind of question",
    "coverage by outlet",
    "coverage by question",
    "balance by outlet",
)
"""What ``judge`` shows."""
_NOTES = {
    "coverage by weight of groups": "All from one judging: groups equal, each by how many sources "
    "give it, and where the reference says which are vital; strict counts what is covered in part "
    "as nothing. Where it says which questions need all answers (AND) and which any (OR): the mean "
    "over questions.",
    "coverage by outlet": "Share of what each outlet says that is covered, by its own wording; "
    "groups of answers weigh the same in a cluster, and clusters the same.",
}
"""Notes below a table, by kind of slice."""
_NAMES = 34
"""Room for the names of rows, in characters."""
_COLUMN = 2
"""Spaces between two columns."""


def covered_tables(report: Json, *, only: Sequence[str] | None = None) -> Iterator[TextTable]:
    """Yield each judge's slices (or `only` some), systems across, then whom each leaves out.

    Each is as wide as the terminal, as long as a reader has patience for.
    """
    groups = report["groups"]
    for judge in by_judge(groups):
        for by in only or slices(judge):
            yield from _fitting(by, judge)
        if any(group.get("contradicted") for group in judge):
            yield contradicted_table(judge, limit=_MAX_ROWS)
        yield from map(_left_out_table, [group for group in judge if group["n"]])
        if only is None and any(group.get("least_covered") for group in judge):
            yield least_covered_table(judge, limit=_MAX_ROWS)


def by_judge(groups: Sequence[Json]) -> list[list[Json]]:
    """Split groups by judge, aspect, protocol and unit."""
    groups_by_judge: dict[tuple[str | None, ...], list[Json]] = {}
    for group in groups:
        key = tuple(group.get(name) for name in ("judge", "aspect", "protocol", "unit"))
        groups_by_judge.setdefault(key, []).append(group)
    return list(groups_by_judge.values())


def judged_by(group: Json) -> str:
    """Return the judge of a group, and how it was asked."""
    if "protocol" not in group:
        return str(group["judge"])
    return f"{group['judge']}, {protocol_label(group['protocol'], group['unit'])}"


def slices(groups: Iterable[Json]) -> list[str]:
    """Return the ways in which coverage is sliced."""
    return list(dict.fromkeys(by for group in groups for by in group["slices"]))


def slice_table(by: str, groups: Sequence[Json], *, limit: int | None = None) -> TextTable:
    """Return a table of slices (rows, at most `limit`) by systems (columns)."""
    names = list(dict.fromkeys(name for group in groups for name in group["slices"][by]))
    notes = [hidden_note(names, limit), _NOTES.get(by, "")]
    if by.endswith(" by weighting"):
        notes.append("macro: mean over clusters of the share of each; micro: share of all items.")
    return side_by_side(
        f"{by.capitalize()}, share 0 to 1, by {judged_by(groups[0])}",
        by.partition(" by ")[2],
        {name: name for name in names[:limit]},
        {group["system"]: group["slices"][by] for group in groups},
        notes=notes,
    )


def _fitting(by: str, groups: Sequence[Json]) -> Iterator[TextTable]:
    """Split a wide table into tables that fit, each with at least one system."""
    sliced = [group for group in groups if group["slices"].get(by)]
    cells = [interval(figure) for group in sliced for figure in group["slices"][by].values()]
    names = [name for group in sliced for name in group["slices"][by]]
    room = terminal_width() - min(max(map(len, names), default=0), _NAMES)
    run: list[Json] = []
    used = 0
    for group in sliced:
        needed = max(len(group["system"]), *map(len, cells)) + _COLUMN
        if run and used + needed > room:
            yield slice_table(by, run, limit=_MAX_ROWS)
            run, used = [], 0
        run.append(group)
        used += needed
    if run:
        yield slice_table(by, run, limit=_MAX_ROWS)


LEFT_OUT = "left out"
IN_PART = "covered in part"
OTHER_WORDS = "covered, not in this outlet's words"
"""The weaker class: what the outlet says is in the summary, as others say it."""


def how_left_out(group: Json) -> str:
    """Describe how a group listed in ``uncovered`` is left out."""
    if group["value"] < COVERED_FROM:
        return LEFT_OUT
    return OTHER_WORDS if group["value"] >= 1 else f"{IN_PART}, not in this outlet's words"


def n_left_out(group: Json) -> int:
    """Count the groups of answers that a system leaves out."""
    return sum(answer["value"] < COVERED_FROM for answer in group["uncovered"])


def _left_out_table(group: Json) -> TextTable:
    """Name whom a system leaves out: groups that are not covered in any words come first."""
    missed = sorted(
        group["uncovered"], key=lambda answer: (answer["value"], -len(answer["voices"]))
    )
    more = len(missed) - _MAX_NAMED
    n = n_left_out(group)
    summary = f"{n} of {pluralize(group['n'], 'group')} of answers" if n else "no group of answers"
    return table(
        f"{group['system']} leaves out {summary}",
        "who: {who} | on: {question:cut.60} | says: {says:cut.90} | how: {how}",
        missed[:_MAX_NAMED],
        notes=[
            f"... and {pluralize(more, 'more group')} (see --json)" if more > 0 else "",
            *(
                f"On {cluster['eid']} nothing of {', '.join(cluster['outlets'])} is covered."
                for cluster in group["left_out"][:_MAX_NAMED]
            ),
        ],
        who=_voices,
        says=lambda answer: str(answer["label"] or answer["voices"][0]["answer"]),
        how=how_left_out,
    )


def contradicted_table(groups: Sequence[Json], *, limit: int | None = None) -> TextTable:
    """Return the groups of answers that summaries contradict, with the summaries' words."""
    return table(
        "Groups of answers that a summary contradicts",
        "system: {system} | cluster: {eid} | answer: {answer:cut.90} | said by: {outlets:list}"
        " | the summary's words: {words:cut.90}",
        [
            {**answer, "system": group["system"]}
            for group in groups
            for answer in group.get("contradicted") or ()
        ],
        limit=limit,
    )


def outlets_table(groups: Sequence[Json]) -> TextTable:
    """Return the table of outlets without any covered answer."""
    return table(
        "Outlets without any covered answer",
        "cluster: {eid} | system: {system} | outlets: {outlets:list} | judge: {judge}",
        [{**group, **cluster} for group in groups for cluster in group["left_out"]],
    )


def least_covered_table(groups: Sequence[Json], *, limit: int | None = None) -> TextTable:
    """Return the sources that each system covers least, a row a cluster and system."""
    rows = [
        {"system": group["system"], **cluster}
        for group in groups
        for cluster in group.get("least_covered", ())
    ]
    return table(
        "The half of the sources that is covered least",
        "cluster: {eid} | system: {system} | sources: {shares:list} | these> {value:number}"
        " | all> {mean:number}",
        sorted(rows, key=lambda row: row["eid"]),
        limit=limit,
        notes=["Share of a source's statements that the summary covers, from 0 to 1."],
        shares=lambda row: [f"{name} {share:.2f}" for name, share in row["sources"].items()],
    )


def _voices(answer: Json) -> str:
    names = dict.fromkeys(voice["name"] for voice in answer["voices"])
    return first_items(names, 3, between="\n")


_MAX_ERRORS = 12
"""Statements that a terminal names; ``--json`` has all of them."""
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
        yield from (errors_table(group, limit=_MAX_ERRORS) for group in judge if group["errors"])
        if cited := [group for group in judge if group["citations"]]:
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
        sentences.append(
            f"contradicts {contradicted} of {pluralize(group['n'], 'group')} of answers"
        )
    if statements and statements["contradicted"] + statements["absent"]:
        which = tally(
            {"contradicted": statements["contradicted"], "in no article": statements["absent"]}
        )
        sentences.append(f"scores by coverage alone; of {statements['n']} statements {which}")
    return f"{group['system']} {'; '.join(sentences)}." if sentences else ""
