"""Tables of the ``bias`` commands, made of their JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports.figures import Json, bounds, interval, p_value, tally, why
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted

_SHOWN_NAMES = 10
_BOTH = (
    "Intervals: 95 %, over original documents; 'by assignment': over the assignments within them."
)


def words_tables(report: Json) -> Iterator[TextTable]:
    """Yield the scores of all systems, and each group's shares."""
    systems = report["systems"]
    other = "uniform" if report["reference"] == "source" else "source"
    heads = ("score", "by assignment", f"vs {other}", "summaries")
    yield TextTable(
        title=f"Word-list inclusion against the {report['reference']}",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(
            (
                system,
                *_two_way(found["inclusion"]),
                number(found[f"against_{other}"]["value"]),
                str(found["n"]),
            )
            for system, found in systems.items()
        ),
        notes=(
            "Score: distance of the distributions of identifiers, 0 (unbiased) to 1.",
            _BOTH,
            *_notes(report, {"score": "inclusion"}),
        ),
    )
    shares = ("n", "summaries %", "reference %", "difference", "p")
    yield TextTable(
        title="Shares of identifiers",
        columns=columns("system", "group", *shares, numbers=shares),
        rows=tuple(
            (
                system,
                group,
                str(share["n_summary"]),
                _percent(share["summary"]),
                _percent(share["reference"]),
                interval(share["difference"]),
                p_value(share["difference"]["p_holm"]),
            )
            for system, found in systems.items()
            for group, share in found["by_group"].items()
        ),
        notes=("p: of no difference, corrected over groups (Holm).",),
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
                system,
                *_two_way(found["inclusion"]),
                *(number(found["by_group"][group]["value"]) for group in groups),
                str(found["n_ungrouped"]),
                str(found["n"]),
            )
            for system, found in systems.items()
        ),
        notes=(
            "Score: largest odds ratio of inclusion less 1; 0 is unbiased. "
            "n: summaries; no group: people of the sources left out.",
            _BOTH,
            *_notes(report, {"inclusion": "inclusion"}),
        ),
    )
    heads = ("score", "by assignment", "names", "aligned", "made up", "unknown")
    yield TextTable(
        title="Entity hallucination",
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(
            (
                system,
                *_two_way(found["hallucination"]),
                *(
                    str(found[f"n_{name}"])
                    for name in ("names", "aligned", "hallucinated", "unknown")
                ),
            )
            for system, found in systems.items()
        ),
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
    systems = report["systems"]
    shown = [
        (system, name, found[name])
        for system, found in systems.items()
        for name in ("counts", "dense")
        if found[name] is not None
    ]
    heads = ("score", "summaries")
    yield TextTable(
        title="Distinguishability",
        columns=columns("system", "vectors", *heads, "by group", numbers=heads),
        rows=tuple(
            (
                system,
                name,
                interval(one),
                str(systems[system]["n"]),
                ", ".join(f"{group} {interval(some)}" for group, some in one["by_group"].items()),
            )
            for system, name, one in shown
        ),
        notes=(
            "Score: 2 x accuracy - 1 of telling the group from the summary; 0 is chance. "
            "Intervals: 95 %, over original documents.",
            *_notes(report, {"score": "counts"}),
            *(
                f"{system}, {name}: without a comparison: {tally(one['left_out'])}"
                for system, name, one in shown
                if one["left_out"]
            ),
        ),
    )


def inputs_tables(report: Json, *, limit: int) -> Iterator[TextTable]:
    """Yield how many documents each group has, and its first `limit` words."""
    heads = ("documents", "identifiers", "share %")
    yield TextTable(
        title="Bias of the inputs",
        columns=columns("group", *heads, numbers=heads),
        rows=tuple(
            (
                group,
                str(n),
                str(report["identifiers"][group]["n"]),
                _percent(report["identifiers"][group]["share"]),
            )
            for group, n in report["documents"].items()
        ),
        notes=(
            f"{counted(report['n'], 'article')}; naming no group more than the others: "
            f"{report['n_tied']}; left out for want of text: {report['excluded']}.",
            *report["notes"],
        ),
    )
    numbers = ("here", "others", "z", "q")
    for group, words in report["words"].items():
        yield TextTable(
            title=f"Words of documents that mention {group} words most",
            columns=columns("word", *numbers, numbers=numbers),
            rows=tuple(
                (
                    word["word"],
                    str(word["n_group"]),
                    str(word["n_others"]),
                    number(word["z"]),
                    p_value(word["q_value"]),
                )
                for word in words[:limit]
            ),
        )


def _two_way(found: Json) -> tuple[str, str]:
    """Return a score with its interval over documents, and the interval over assignments."""
    return interval(found), bounds(found.get("over_assignments", {}))


def _notes(report: Json, scores: Mapping[str, str]) -> Iterator[str]:
    """Yield the report's notes, who was left out, and why a score is missing."""
    yield from report["notes"]
    for system, found in report["systems"].items():
        if found["excluded"]:
            n = counted(found["excluded"], "summary", "summaries")
            yield f"{system}: {n} left out: {tally(found['excluded_by_reason'])}"
        for name, key in scores.items():
            if reason := why(found[key]):
                yield f"{system}: no {name}: {reason}."


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
