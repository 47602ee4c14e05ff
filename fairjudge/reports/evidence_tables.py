"""Tables of coverage by source, of answers that systems omit, of statements and of citations."""

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
"""Maximum number of rows of a table in a terminal; ``--json`` has all."""
_MAX_NAMED = 6
"""Maximum number of omitted groups of answers shown for a system."""
MATRICES = (
    "coverage by weight of groups",
    "coverage by kind of question",
    "coverage by outlet",
    "coverage by question",
    "balance by outlet",
)
"""The slices that ``judge`` shows."""
_NOTES = {
    "coverage by weight of groups": "All from the same judgements. Weights: equal; by number of "
    "sources; and by importance, if the reference has vital groups. Strict: partly covered counts "
    "as not covered. If the reference has questions that need all answers (AND) or any (OR): mean "
    "over questions.",
    "coverage by outlet": "Share of each outlet's answers that is covered, in its own wording; "
    "groups of answers have equal weight in a cluster, and clusters have equal weight.",
}
"""Notes below a table, by kind of slice."""
_NAMES = 34
"""Maximum width of row names, in characters."""
_COLUMN = 2
"""Spaces between two columns."""


def covered_tables(report: Json, *, only: Sequence[str] | None = None) -> Iterator[TextTable]:
    """Yield each judge's slices (all, or `only`) by system, then the answers that systems omit.

    Tables fit the terminal's width and have a limited number of rows.
    """
    groups = report["groups"]
    for judge in split_by_judge(groups):
        for slice_name in only or slices(judge):
            yield from _split_to_width(slice_name, judge)
        if any(group.get("contradicted") for group in judge):
            yield contradicted_table(judge, limit=_MAX_ROWS)
        yield from map(_omission_table, [group for group in judge if group["n"]])
        if only is None and any(group.get("least_covered") for group in judge):
            yield least_covered_table(judge, limit=_MAX_ROWS)


def split_by_judge(groups: Sequence[Json]) -> list[list[Json]]:
    """Split groups by judge, aspect, protocol and unit."""
    groups_by_judge: dict[tuple[str | None, ...], list[Json]] = {}
    for group in groups:
        key = tuple(group.get(name) for name in ("judge", "aspect", "protocol", "unit"))
        groups_by_judge.setdefault(key, []).append(group)
    return list(groups_by_judge.values())


def judge_in_words(group: Json) -> str:
    """Return the judge of a group and its protocol."""
    if "protocol" not in group:
        return str(group["judge"])
    return f"{group['judge']}, {protocol_label(group['protocol'], group['unit'])}"


def slices(groups: Iterable[Json]) -> list[str]:
    """Return the names of the slices of coverage, such as ``"coverage by outlet"``."""
    return list(dict.fromkeys(name for group in groups for name in group["slices"]))


def slice_table(slice_name: str, groups: Sequence[Json], *, limit: int | None = None) -> TextTable:
    """Return the table of one slice: its values (at most `limit` rows) by systems (columns)."""
    names = list(dict.fromkeys(name for group in groups for name in group["slices"][slice_name]))
    notes = [hidden_note(names, limit), _NOTES.get(slice_name, "")]
    if slice_name.endswith(" by weighting"):
        notes.append("macro: mean over clusters of their shares; micro: share of all items.")
    return side_by_side(
        f"{slice_name.capitalize()}, share 0 to 1, by {judge_in_words(groups[0])}",
        slice_name.partition(" by ")[2],
        {name: name for name in names[:limit]},
        {group["system"]: group["slices"][slice_name] for group in groups},
        notes=notes,
    )


def _split_to_width(slice_name: str, groups: Sequence[Json]) -> Iterator[TextTable]:
    """Split a wide table into tables that fit, each with at least one system."""
    groups_with_slice = [group for group in groups if group["slices"].get(slice_name)]
    cells = [
        interval(figure)
        for group in groups_with_slice
        for figure in group["slices"][slice_name].values()
    ]
    names = [name for group in groups_with_slice for name in group["slices"][slice_name]]
    max_width = terminal_width() - min(max(map(len, names), default=0), _NAMES)
    columns: list[Json] = []
    width = 0
    for group in groups_with_slice:
        column_width = max(len(group["system"]), *map(len, cells)) + _COLUMN
        if columns and width + column_width > max_width:
            yield slice_table(slice_name, columns, limit=_MAX_ROWS)
            columns, width = [], 0
        columns.append(group)
        width += column_width
    if columns:
        yield slice_table(slice_name, columns, limit=_MAX_ROWS)


OMITTED = "left out"
IN_PART = "covered in part"
OTHER_WORDS = "covered, not in this outlet's words"
"""The weaker class: the summary contains the outlet's answer in the wording of others."""


def omission_kind(group: Json) -> str:
    """Return the kind of omission of a group in ``uncovered``."""
    if group["value"] < COVERED_FROM:
        return OMITTED
    return OTHER_WORDS if group["value"] >= 1 else f"{IN_PART}, not in this outlet's words"


def count_omitted(group: Json) -> int:
    """Count the groups of answers that a system omits."""
    return sum(answer["value"] < COVERED_FROM for answer in group["uncovered"])


def _omission_table(group: Json) -> TextTable:
    """Return the groups of answers that a system omits; those without any coverage come first."""
    omissions = sorted(
        group["uncovered"], key=lambda answer: (answer["value"], -len(answer["voices"]))
    )
    n_hidden = len(omissions) - _MAX_NAMED
    n = count_omitted(group)
    count_in_words = (
        f"{n} of {pluralize(group['n'], 'group')} of answers" if n else "no group of answers"
    )
    return table(
        f"{group['system']} leaves out {count_in_words}",
        "sources: {who} | question: {question:cut.60} | answer: {says:cut.90} | coverage: {how}",
        omissions[:_MAX_NAMED],
        notes=[
            f"... and {pluralize(n_hidden, 'more group')} (see --json)" if n_hidden > 0 else "",
            *(
                f"{cluster['eid']}: no answer of {', '.join(cluster['outlets'])} is covered."
                for cluster in group["left_out"][:_MAX_NAMED]
            ),
        ],
        who=_voices,
        says=lambda answer: str(answer["label"] or answer["voices"][0]["answer"]),
        how=omission_kind,
    )


def contradicted_table(groups: Sequence[Json], *, limit: int | None = None) -> TextTable:
    """Return the groups of answers that summaries contradict, with quotes of the summaries."""
    return table(
        "Groups of answers that a summary contradicts",
        "system: {system} | cluster: {eid} | answer: {answer:cut.90} | outlets: {outlets:list}"
        " | quote of the summary: {words:cut.90}",
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
    """Return the sources that each system covers least, one row per cluster and system."""
    rows = [
        {"system": group["system"], **cluster}
        for group in groups
        for cluster in group.get("least_covered", ())
    ]
    return table(
        "The least covered half of the sources",
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
"""Maximum number of statements in a terminal; ``--json`` has all."""
_CITED = (
    "system: {{system}} | supported> {{borne_out:{share}}} | sentences> {{n_sentences}}"
    " | cited> {{n_cited}} | citations> {{n_citations}} | full> {{full}} | part> {{part}}"
    " | none> {{none}} | contradicts> {{contradicts}} | relevant> {{relevant:{share}}}"
)
"""Columns of citations; ``share`` is the format of the shares."""
_SUPPORTED = (
    "Supported: share of sentences whose statements are all supported by articles that the "
    "sentence cites. Full, part, none: citations whose article supports all, some or none of the "
    "sentence's statements. Relevant: share of citations whose article concerns a statement."
)


def statement_tables(report: Json) -> Iterator[TextTable]:
    """Yield tables of each judge's systems, of unsupported statements, and of citations."""
    for judge in split_by_judge(report["groups"]):
        yield shares_table(judge)
        yield from (errors_table(group, limit=_MAX_ERRORS) for group in judge if group["errors"])
        if groups_with_citations := [group for group in judge if group["citations"]]:
            yield citations_table(groups_with_citations)


def shares_table(groups: Sequence[Json]) -> TextTable:
    """Return the counts of each system's statements by verdict, and its scores."""
    return table(
        f"Statements of summaries, by {groups[0]['judge']}",
        "system: {system} | share supported> {share:interval} | worst> {worst:value}"
        " | statements> {n_statements} | supported> {supported} | contradicted> {contradicted}"
        " | in no article> {absent} | severe> {grave}",
        groups,
        notes=[
            "Share of statements that articles support, 0 to 1; clusters have equal weight. Worst: "
            "mean over clusters of a summary's worst statement: 1 supported, 0.5 in no article, 0 "
            "contradicted. Severe: the error would mislead a reader."
        ],
    )


def errors_table(group: Json, *, limit: int | None = None) -> TextTable:
    """Return at most `limit` statements without support, the most severe ones first.

    Of equally severe ones, those with numbers come first, then those with names.
    """
    errors = sorted(group["errors"], key=_severity_key)
    return table(
        f"{group['system']}: {len(errors)} of {pluralize(group['n_statements'], 'statement')} "
        "that articles do not support",
        "cluster: {eid} | statement: {statement:cut.110} | verdict: {verdict} | articles: {names}"
        " | quote: {words:cut.110}",
        errors,
        limit=limit,
        verdict=_verdict,
        names=lambda error: first_items(error["articles"], _MAX_NAMED) or "-",
        words=lambda error: error["quote"] or "-",
    )


def _severity_key(error: Json) -> tuple[bool, bool, bool, bool]:
    statement = str(error["statement"])
    return (
        not error["grave"],
        error["verdict"] != "contradicted",
        not numbers_in(statement),
        not names_in(statement),
    )


def _verdict(error: Json) -> str:
    verdict = "contradicted" if error["verdict"] == "contradicted" else "in no article"
    return f"{verdict}, severe" if error["grave"] else verdict


def citations_table(groups: Sequence[Json]) -> TextTable:
    """Return the support of sentences by their citations, one row per system."""
    return table(
        f"Citations, by {groups[0]['judge']}",
        _CITED.format(share="number"),
        [_with_support({**group["citations"], "system": group["system"]}) for group in groups],
        notes=[_SUPPORTED],
    )


def _with_support(group: Json) -> Json:
    """Return a group's citations with the count of each degree of support."""
    zeros = dict.fromkeys(("full", "part", "none", "contradicts"), 0)
    return {**zeros, **group["support"], **group}


def citations_tables(report: Json) -> Iterator[TextTable]:
    """Yield each judge's tables of citations, of swapped citations, and of unsupported ones."""
    for judge in split_by_judge(report["groups"]):
        yield table(
            f"Citations, by {judge[0]['judge']}",
            _CITED.format(share="interval"),
            map(_with_support, judge),
            notes=[_SUPPORTED, *_unmatched_note(judge)],
        )
        swaps = [
            {"system": group["system"], **group["swapped"]} for group in judge if group["swapped"]
        ]
        if swaps:
            yield table(
                f"Citations swapped for other articles of the cluster, by {judge[0]['judge']}",
                "system: {system} | sentences that cite> {n} | as cited> {as_cited:interval}"
                " | swapped> {swapped:interval} | difference> {difference:interval}"
                " | p> {difference:p}",
                swaps,
                notes=[
                    "Each sentence's citations are swapped for the same number of other articles, "
                    "each of them equally often. If support does not decrease, the judge accepts "
                    "irrelevant articles, or all articles have the same content."
                ],
            )
        for group in judge:
            unsupported_citations = [
                citation for citation in group["citations"] if citation["support"] != "full"
            ]
            if unsupported_citations:
                yield _unsupported_table(
                    group["system"], unsupported_citations, len(group["citations"])
                )


def _unsupported_table(system: str, citations: Sequence[Json], n: int) -> TextTable:
    return table(
        f"{system}: {len(citations)} of {pluralize(n, 'citation')} without full support",
        "cluster: {eid} | sentence> {number} | article: {aid} | support: {support}",
        citations,
        limit=_MAX_ERRORS,
        number=lambda citation: citation["sentence"] + 1,
    )


def _unmatched_note(groups: Sequence[Json]) -> Iterator[str]:
    if n := sum(group["n_unknown"] for group in groups):
        yield f"{pluralize(n, 'citation')} of text outside all sentences: excluded."


def wrong_in_words(group: Json) -> str:
    """Return a sentence on a system's contradictions and unsupported statements; "" if unknown."""
    n_contradicted = len(group.get("contradicted") or ())
    statements = group.get("statements")
    sentences = []
    if n_contradicted:
        sentences.append(
            f"contradicts {n_contradicted} of {pluralize(group['n'], 'group')} of answers"
        )
    if statements and statements["contradicted"] + statements["absent"]:
        counts = tally(
            {"contradicted": statements["contradicted"], "in no article": statements["absent"]}
        )
        sentences.append(f"scores by coverage only; of {statements['n']} statements {counts}")
    return f"{group['system']} {'; '.join(sentences)}." if sentences else ""
