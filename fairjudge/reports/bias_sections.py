"""Plots and tables of what the ``bias`` commands found; no arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairjudge.reports.content import Content
from fairjudge.reports.figures import OTHER, PLAIN, Json, forest, interval, p_value, row, why
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.plots import ForestRow
from fairjudge.reports.tables import TextTable, columns, number

_MOST_WORDS = 25
"""Words of each group that a report shows; the JSON has all."""


def bias_parts(content: Content) -> Iterator[Markup]:
    """Yield every bias report that was given."""
    for panel in content.panels:
        show = _REPORTS.get(panel.kind)
        if show is not None:
            title = {"bias words": "Words of groups", "bias entities": "People named",
                     "bias distinguishability": "Can the group be told from the summary",
                     "bias inputs": "What the sources say already"}[panel.kind]  # fmt: skip
            yield element("h3", title)
            yield element("p", f"From {panel.source}.", class_="note")
            yield from show(panel.report)
            yield from _notes(panel.report)


def _words(report: Json) -> Iterator[Markup]:
    systems = report["systems"]
    against = report["reference"]
    yield _scores(
        systems,
        [row(system, found["inclusion"]) for system, found in systems.items()],
        title=f"Word-list inclusion against the {against}",
        across="distance of the distributions; 0 is unbiased",
        cells={"against source": "against_source", "against uniform": "against_uniform"},
    )
    rows = [
        row(f"{system}, {group}", share["difference"])
        for system, found in systems.items()
        for group, share in found["by_group"].items()
    ]
    title = "Share of each group's words, summary less reference"
    heads = ("n", "in summaries, %", "in reference, %", "difference", "p (Holm)")
    table = TextTable(
        title=title,
        columns=columns("system", "group", *heads, numbers=heads),
        rows=tuple(
            (
                system,
                group,
                str(share["n_summary"]),
                _percent(share["summary"]),
                _percent(share["reference"]),
                interval(share["difference"]),
                p_value(share["difference"].get("p_holm")),
            )
            for system, found in systems.items()
            for group, share in found["by_group"].items()
        ),
    )
    yield _beside(forest(rows, title=title, across="above 0: more than in the reference"), table)


def _entities(report: Json) -> Iterator[Markup]:
    systems = report["systems"]
    yield _scores(
        systems,
        [row(system, found["inclusion"]) for system, found in systems.items()],
        title="Entity inclusion",
        across="largest odds ratio less 1; 0 is unbiased",
        cells={"inclusion": "inclusion", "hallucination": "hallucination"},
    )
    shown = [
        (system, group, found["by_group"].get(group))
        for system, found in systems.items()
        for group in report["groups"]
    ]
    title = "Probability that a person of the group is named"
    table = TextTable(
        title=title,
        columns=columns("system", "group", "probability", numbers=("probability",)),
        rows=tuple((system, group, interval(one)) for system, group, one in shown),
    )
    rows = [row(f"{system}, {group}", one) for system, group, one in shown]
    yield _beside(forest(rows, title=title, across="probability", span=(0.0, 1.0)), table)
    heads = ("names", "aligned", "made up", "of unknown group")
    yield html_table(
        TextTable(
            title="Names in the summaries, and those that the sources lack",
            columns=columns("system", *heads, "made up most often", numbers=heads),
            rows=tuple(
                (
                    system,
                    *(
                        str(found[name])
                        for name in ("n_names", "n_aligned", "n_hallucinated", "n_unknown")
                    ),
                    ", ".join(
                        f"{one['name']} ({one['group'] or 'unknown'}) {one['n']}"
                        for one in found["hallucinated"][:_MOST_WORDS]
                    )
                    or "-",
                )
                for system, found in systems.items()
            ),
        )
    )


def _distinguishability(report: Json) -> Iterator[Markup]:
    systems = report["systems"]
    rows: list[ForestRow] = []
    cells: list[tuple[str, ...]] = []
    for system, found in systems.items():
        for name, mark in (("counts", OTHER), ("dense", PLAIN)):
            one = found[name]
            if one is None:
                continue
            rows.append(row(f"{system}, {name}", one, mark=mark))
            by_group = ", ".join(f"{g} {interval(e)}" for g, e in one["by_group"].items())
            cells.append((system, name, str(found["n"]), interval(one), by_group, why(one) or ""))
    title = "Distinguishability: 2 x accuracy less 1"
    table = TextTable(
        title=title,
        columns=columns(
            "system", "representation", "summaries", "score", "by group", "why none",
            numbers=("summaries", "score"),
        ),
        rows=tuple(cells),
    )  # fmt: skip
    plot = forest(
        rows,
        title=title,
        across="0 is chance, 1 always right",
        caption="Circles: counts of words; squares: sentence embeddings.",
    )
    yield _beside(plot, table)


def _inputs(report: Json) -> Iterator[Markup]:
    heads = ("documents", "identifiers", "share, %")
    yield html_table(
        TextTable(
            title=f"{report['n']} articles; {report['n_tied']} mention no group more than others",
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
        )
    )
    numbers = ("here", "elsewhere", "z", "q")
    for group, words in report["words"].items():
        title = f"Words of documents that mention {group} words most"
        table = TextTable(
            title=title,
            columns=columns("word", *numbers, numbers=numbers),
            rows=tuple(
                (
                    word["word"],
                    str(word["n_group"]),
                    str(word["n_others"]),
                    number(word["z"]),
                    p_value(word["q_value"]),
                )
                for word in words[:_MOST_WORDS]
            ),
        )
        yield element("details", element("summary", title), html_table(table, sortable=True))


def _scores(
    systems: Mapping[str, Json],
    rows: list[ForestRow],
    *,
    title: str,
    across: str,
    cells: Mapping[str, str],
) -> Markup:
    """Return a plot of one score a system, and a table with what else is in `cells`."""
    heads = ("summaries", "left out", *cells)
    reasons = [
        f"{system}, {label}: {said}."
        for system, found in systems.items()
        for label, name in cells.items()
        if (said := why(found[name]))
    ]
    table = TextTable(
        title=title,
        columns=columns("system", *heads, numbers=heads),
        rows=tuple(
            (
                system,
                str(found["n"]),
                str(found["excluded"]),
                *(interval(found[name]) for name in cells.values()),
            )
            for system, found in systems.items()
        ),
        notes=("Intervals are over original documents.", *reasons),
    )
    return _beside(forest(rows, title=title, across=across), table)


def _beside(plot: Markup, table: TextTable) -> Markup:
    return element("div", plot, html_table(table, sortable=True), class_="beside")


def _notes(report: Json) -> Iterator[Markup]:
    for note in report["notes"]:
        yield element("p", f"{note[:1].upper()}{note[1:]}.", class_="note")
    yield element("p", "Signature: ", element("code", report["signature"]), class_="note")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


_REPORTS: Mapping[str, Callable[[Json], Iterator[Markup]]] = {
    "bias words": _words,
    "bias entities": _entities,
    "bias distinguishability": _distinguishability,
    "bias inputs": _inputs,
}
