"""Sections on coverage by source, biases of the judge, and missing scores: plots and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from fairjudge.reports import audit_tables
from fairjudge.reports.content import UNSCORED, Content, Panel
from fairjudge.reports.drawing import OTHER, PLAIN
from fairjudge.reports.evidence_tables import (
    by_judge,
    citations_table,
    citations_tables,
    contradicted_table,
    errors_table,
    judged_by,
    least_covered_table,
    outlets_table,
    shares_table,
    slice_table,
    slices,
    wrong_in_words,
)
from fairjudge.reports.figures import (
    PERCENT,
    Json,
    curves,
    first_items,
    forest,
    plotted,
    protocol_of,
    row,
)
from fairjudge.reports.kinds import findings_of
from fairjudge.reports.parts import Fold, Group, Heading, Paragraph, Part, Place
from fairjudge.reports.result_figures import answers_plots, outlets_plot, position_pairs_plot
from fairjudge.scores.coverage_slices import ALONE, FREQUENCY, POSITION
from fairjudge.scores.leaderboards import WEIGHTING
from fairjudge.text.counting import pluralize

Show: TypeAlias = Callable[[Json], Iterable[Part]]
Shows: TypeAlias = Mapping[str, tuple[str, Show]]
"""By kind of JSON the title of its panel, a format of its fields, and what the panel shows."""

_MAX_CLUSTERS = 20
"""Clusters that a sentence names."""
_MAX_PLOTTED = 24
"""Rows of a plot; a longer list is a table alone."""
_WEIGHTING = (
    f"Shares from 0 to 1, never over several systems: {WEIGHTING}, where the items are groups of "
    "answers; an outlet is credited by its own wording. Intervals where there are five clusters "
    "or more."
)


def covered_parts(content: Content) -> Iterator[Part]:
    """Yield coverage by source, systems beside each other, and the voices that each leaves out."""
    groups = [g for panel in content.of_kind("audit covered") for g in panel.report["groups"]]
    for judge in by_judge(groups):
        yield Heading(f"Coverage by source, judged by {judged_by(judge[0])}")
        yield Paragraph(" ".join(findings_of("audit covered", {"groups": judge})))
        yield Paragraph(_WEIGHTING, "note")
        for by in slices(judge):
            sliced = [group for group in judge if by in group["slices"]]
            parts = (*_sliced_plot(by, sliced), slice_table(by, sliced))
            opened = by.endswith((" by question", " by outlet", " by weight of groups"))
            yield Fold(by.capitalize(), parts, opened)
        if plots := tuple(answers_plots(judge)):
            yield Fold(f"Answers by system: {pluralize(len(plots), 'event')}", plots)
        yield from (
            Paragraph(sentence, "strong") for group in judge if (sentence := wrong_in_words(group))
        )
    if any(group.get("contradicted") for group in groups):
        yield Heading("Answers that summaries contradict")
        yield contradicted_table(groups)
    if any(group.get("least_covered", ()) for group in groups):
        yield Heading("Sources covered least")
        yield least_covered_table(groups)
    if any(group["n"] for group in groups):
        yield Heading("Answers left out")
        yield Place("uncovered", "The list of answers left out")
        yield outlets_table(groups)


def _sliced_plot(by: str, groups: Sequence[Json]) -> Iterator[Part]:
    """Yield the plot of coverage by position, frequency or question word (DiverseSumm, 3 to 5)."""
    name_of_slice = by.partition(" by ")[2]
    title = f"{by.capitalize()}, by {groups[0]['judge']}"
    if name_of_slice == "outlet":
        yield outlets_plot(by, groups)
    if name_of_slice == "question word":
        rows = [
            row(f"{name}: {group['system']}", figure)
            for name in dict.fromkeys(name for group in groups for name in group["slices"][by])
            for group in groups
            if (figure := group["slices"][by].get(name)) is not None
        ]
        if len(rows) <= _MAX_PLOTTED:
            yield forest(rows, title=title, across="share, 0 to 1", span=(0.0, 1.0))
    if name_of_slice not in {POSITION, ALONE, FREQUENCY}:
        return
    points = {
        group["system"]: [
            (float(name), figure["value"])
            for name, figure in group["slices"][by].items()
            if name.isdecimal() and figure["value"] is not None
        ]
        for group in groups
    }
    yield curves(points, name=title, across=name_of_slice, up="share, 0 to 1")


def statement_parts(content: Content) -> Iterator[Part]:
    """Yield faithfulness by statement: shares, unsupported statements, and citations."""
    groups = [g for panel in content.of_kind("audit statements") for g in panel.report["groups"]]
    for judge in by_judge(groups):
        yield Heading(f"Statements, judged by {judge[0]['judge']}")
        yield Paragraph(" ".join(findings_of("audit statements", {"groups": judge})))
        rows = [row(group["system"], group["share"]) for group in judge]
        across = "share of statements that articles support, 0 to 1"
        yield plotted(shares_table(judge), rows, across, span=(0.0, 1.0))
        for group in judge:
            if group["errors"]:
                title = f"{group['system']}: {pluralize(len(group['errors']), 'statement')}"
                yield Fold(f"{title} without support", (errors_table(group),), open=True)
        if cited := [group for group in judge if group["citations"]]:
            yield citations_table(cited)
    title = "Citations, and others in their place"
    yield from panels_of(content, {"audit citations": (title, _citations)})


def _citations(report: Json) -> Iterator[Part]:
    for judge in by_judge(report["groups"]):
        rows = [
            row(f"{group['system']}: {name}", group[key])
            for group in judge
            for key, name in (("borne_out", "supported"), ("relevant", "relevant"))
        ]
        name = judge[0]["judge"]
        across = f"{name}: share of sentences supported, and of citations relevant, 0 to 1"
        yield forest(rows, title=f"Citations, by {name}", across=across, span=(0.0, 1.0))
    yield from citations_tables(report)


def sway_parts(content: Content) -> Iterator[Part]:
    """Yield the panels of position, verbosity, length, order and the checks."""
    for panel in content.of_kind(*_SWAYS):
        first, *tables = _SWAYS[panel.kind](panel.report)
        yield first
        yield from _findings(panel)
        yield from tables


def _position(report: Json) -> Iterator[Part]:
    tables = audit_tables.position_tables(report)
    for group, table in zip(report["groups"], tables, strict=True):
        title = f"Position: {group['aspect']}, by {group['judge']}"
        yield Heading(title)
        yield Group((position_plot(group, title), table))
        yield position_pairs_plot(group)


def position_plot(group: Json, title: str) -> Part:
    """Return how often the judge prefers each place, and neither."""
    return forest(
        [row(label, group[name], digits=1) for name, label in audit_tables.POSITION.items()],
        title=title,
        across="percent of pairs asked both ways",
        span=PERCENT,
        caption="A judge without position bias gives the same verdict whichever stands first.",
    )


def _verbosity(report: Json) -> Iterator[Part]:
    marks = {"original": OTHER, "extended": PLAIN}
    rows = [
        row(f"{name}: {audit_tables.VERSIONS[version]}", group[version], mark=mark, digits=1)
        for group in report["groups"]
        for name in [f"{group['probe']}, {group['aspect']}, {protocol_of(group)}"]
        for version, mark in marks.items()
    ]
    yield Heading("Verbosity: the summary against itself made longer")
    plot = forest(
        rows,
        title="Verbosity",
        across="percent put first",
        span=PERCENT,
        caption="A judge without verbosity bias puts neither first.",
    )
    yield Group((plot, *audit_tables.verbosity_tables(report)))
    yield from map(_scores_plot, (group for group in report["groups"] if group.get("scores")))


def _scores_plot(group: Json) -> Part:
    """Plot which scores summaries as written and longer got, all systems together (Figure 25)."""
    counts = {version: Counter[float]() for version in audit_tables.VERSIONS}
    for versions in group["scores"].values():
        for version, n_by_score in versions.items():
            counts[version].update({float(score): n for score, n in n_by_score.items()})
    scores = sorted({score for n_by_score in counts.values() for score in n_by_score})
    points = {
        audit_tables.VERSIONS[version]: [
            (score, 100.0 * n_by_score.get(score, 0) / sum(n_by_score.values())) for score in scores
        ]
        for version, n_by_score in counts.items()
    }
    title = f"Scores by {group['judge']}, {group['aspect']}, {protocol_of(group)}"
    return curves(points, name=title, across="score", up="percent", caption=title)


def _length(report: Json) -> Iterator[Part]:
    tables = [*audit_tables.length_tables(report)]
    for group, table in zip(report["groups"], tables, strict=False):
        title = f"Length: {group['aspect']}, by {group['judge']}"
        rows = [
            row(f"{rate['system_a']} beats {rate['system_b']}", rate["adjusted"], digits=1)
            for rate in group["win_rates"][: _MAX_PLOTTED + 1]
        ]
        yield Heading(title)
        if len(rows) <= _MAX_PLOTTED:
            across = "win rate at equal length, percent"
            yield forest(rows, title=title, across=across, span=PERCENT)
        yield table
    yield from tables[len(report["groups"]) :]


def _order(report: Json) -> Iterator[Part]:
    moved, value, span = audit_tables.ORDERED[report["aspect"]]
    title = f"Order of {moved}s: {report['aspect']}, by {report['judge']}"
    places = [row(f"{moved} {place}", figure) for place, figure in report["by_place"].items()]
    yield Heading(title)
    plot = forest(places, title=title, across=f"{value}, {span[0]:.0f} to {span[1]:.0f}", span=span)
    yield Group((plot, *audit_tables.order_tables(report)))


def _checks(report: Json) -> Iterator[Part]:
    title = f"Checks: {report['aspect']}, by {report['judge']}"
    rows = [row(check["name"], check["kept"], digits=1) for check in report["checks"]]
    yield Heading(title)
    plot = forest(rows, title=title, across="percent kept", span=PERCENT)
    yield Group((plot, *audit_tables.checks_tables(report, limit=None)))


def panels_of(content: Content, shows: Shows) -> Iterator[Part]:
    """Yield each panel under its title: where it comes from, what its figures say, and they."""
    for panel in content.of_kind(*shows):
        title, show = shows[panel.kind]
        yield Heading(title.format(**panel.report))
        yield Paragraph(f"From {panel.source}.", "note")
        yield from _findings(panel)
        yield from show(panel.report)


def _findings(panel: Panel) -> Iterator[Part]:
    if sentences := findings_of(panel.kind, panel.report):
        yield Paragraph(" ".join(sentences))


_SWAYS: Mapping[str, Show] = {
    "audit position": _position,
    "audit verbosity": _verbosity,
    "audit length": _length,
    "audit order": _order,
    "audit checks": _checks,
}


def unscored_parts(content: Content) -> Iterator[Part]:
    """Yield counts of judgements without a score by reason, and of the others by scorer."""
    for panel in content.of_kind("audit parse"):
        yield from audit_tables.parse_tables(panel.report)
        sentence = "An item without a score enters no mean."
        yield Paragraph(f"{sentence} The leaderboards bound what it could change.", "note")
    if content.not_judged:
        clusters = pluralize(len(content.not_judged), "cluster")
        yield Paragraph(
            f"{clusters} without a judgement: {first_items(content.not_judged, _MAX_CLUSTERS)}."
        )
    if content.counts is not None and content.counts[UNSCORED]:
        yield Place("without-score", "The list of items without a score")
