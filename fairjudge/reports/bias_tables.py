"""Tables of the ``bias`` commands, made of their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports.figures import Json, bounds, interval, tally, why
from fairjudge.reports.row_tables import rows_of, rows_within, table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.counting import pluralize

_SHOWN_NAMES = 10
_BOTH = (
    "Intervals: 95 %, over original documents; 'by assignment': over the assignments within them."
)


def words_tables(report: Json) -> Iterator[TextTable]:
    """Yield the scores of all systems, and each group's shares."""
    systems = report["systems"]
    other = "uniform" if report["reference"] == "source" else "source"
    yield table(
        f"Word-list inclusion against the {report['reference']}",
        "system: {system} | score> {inclusion:interval} | by assignment> {assignment}"
        f" | vs {other}> {{against_{other}[value]:number}} | summaries> {{n}}",
        _with_assignment(systems, "inclusion"),
        notes=(
            "Score: distance of the distributions of identifiers, 0 (unbiased) to 1.",
            _BOTH,
            *_notes(report, {"score": "inclusion"}),
        ),
    )
    yield table(
        "Shares of identifiers",
        "system: {system} | group: {group} | n> {n_summary} | summaries %> {summary:share}"
        " | reference %> {reference:share} | difference> {difference:interval}"
        " | p> {difference[p_holm]:p}",
        rows_within(systems, "system", "by_group", "group"),
        notes=["p: of no difference, corrected over groups (Holm)."],
    )


def entities_tables(report: Json) -> Iterator[TextTable]:
    """Yield inclusion and hallucination of all systems."""
    systems, groups = report["systems"], report["groups"]
    heads = ("score", "by assignment", *(f"p({group})" for group in groups), "no group", "n")
    yield TextTable(
        title="Entity inclusion",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(
            (
                row["system"],
                interval(row["inclusion"]),
                row["assignment"],
                *(number(row["by_group"][group]["value"]) for group in groups),
                str(row["n_ungrouped"]),
                str(row["n"]),
            )
            for row in _with_assignment(systems, "inclusion")
        ),
        notes=(
            "Score: largest odds ratio of inclusion less 1; 0 is unbiased. "
            "n: summaries; no group: people of the sources left out.",
            _BOTH,
            *_notes(report, {"inclusion": "inclusion"}),
        ),
    )
    yield table(
        "Entity hallucination",
        "system: {system} | score> {hallucination:interval} | by assignment> {assignment}"
        " | names> {n_names} | aligned> {n_aligned} | made up> {n_hallucinated}"
        " | unknown> {n_unknown}",
        _with_assignment(systems, "hallucination"),
        notes=(
            "Score: distance of made-up people's groups from an even split. "
            "unknown: made-up people whose name suggests no group.",
            *_hallucination_notes(systems),
        ),
    )


def _hallucination_notes(systems: Mapping[str, Json]) -> Iterator[str]:
    for system, found in systems.items():
        reason = why(found["hallucination"])
        if reason and (found["n_hallucinated"] or "by_group" not in found["hallucination"]):
            yield f"{system}: no score: {reason}."
        names = [
            f"{name['name']} ({name['group'] or 'unknown'}) {name['n']}"
            for name in found["hallucinated"][:_SHOWN_NAMES]
        ]
        if names:
            yield f"{system}, made up most often: {', '.join(names)}"


def distinguishability_tables(report: Json) -> Iterator[TextTable]:
    """Yield both representations of all systems."""
    shown = [
        {
            "system": system,
            "vectors": name,
            "score": one,
            "n": found["n"],
            "groups": ", ".join(f"{name} {interval(x)}" for name, x in one["by_group"].items()),
        }
        for system, found in report["systems"].items()
        for name in ("counts", "dense")
        if (one := found[name]) is not None
    ]
    yield table(
        "Distinguishability",
        "system: {system} | vectors: {vectors} | score> {score:interval} | summaries> {n}"
        " | by group: {groups}",
        shown,
        notes=(
            "Score: 2 x accuracy - 1 of telling the group from the summary; 0 is chance. "
            "Intervals: 95 %, over original documents.",
            *_notes(report, {"score": "counts"}),
            *(
                f"{row['system']}, {row['vectors']}: without a comparison: {tally(left_out)}"
                for row in shown
                if (left_out := row["score"]["left_out"])
            ),
        ),
    )


def inputs_tables(report: Json, *, limit: int) -> Iterator[TextTable]:
    """Yield how many documents each group has, and its first `limit` words."""
    documents, identifiers = report["documents"], report["identifiers"]
    yield table(
        "Bias of the inputs",
        "group: {group} | documents> {documents} | identifiers> {n} | share %> {share:share}",
        [{**identifiers[group], "group": group, "documents": n} for group, n in documents.items()],
        notes=(
            f"{pluralize(report['n'], 'article')}; naming no group more than the others: "
            f"{report['n_tied']}; left out for want of text: {report['excluded']}.",
            *report["notes"],
        ),
    )
    for group, words in report["words"].items():
        yield table(
            f"Words of documents that mention {group} words most",
            "word: {word} | here> {n_group} | others> {n_others} | z> {z:number} | q> {q_value:p}",
            words[:limit],
        )


def _with_assignment(systems: Mapping[str, Json], score: str) -> Iterator[Json]:
    """Yield a row a system, with the interval of its score over assignments."""
    for row in rows_of(systems, "system"):
        yield {**row, "assignment": bounds(row[score].get("over_assignments", {}))}


def _notes(report: Json, scores: Mapping[str, str]) -> Iterator[str]:
    """Yield the report's notes, who was left out, and why a score is missing."""
    yield from report["notes"]
    for system, found in report["systems"].items():
        if found["excluded"]:
            n = pluralize(found["excluded"], "summary", "summaries")
            yield f"{system}: {n} left out: {tally(found['excluded_by_reason'])}"
        for name, key in scores.items():
            if reason := why(found[key]):
                yield f"{system}: no {name}: {reason}."
