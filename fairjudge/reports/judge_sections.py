"""Sections on coverage, statements, biases of the judge, and missing scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from fairjudge.reports import audit_tables
from fairjudge.reports.content import UNSCORED, Content, Panel
from fairjudge.reports.drawing import BASELINE_MARK, JUDGE_MARK
from fairjudge.reports.evidence_tables import (
    citations_table,
    citations_tables,
    contradicted_table,
    errors_table,
    judge_in_words,
    least_covered_table,
    outlets_table,
    shares_table,
    slice_table,
    slices,
    split_by_judge,
    wrong_in_words,
)
from fairjudge.reports.figures import (
    PERCENT,
    Json,
    curves,
    first_items,
    forest,
    plot_with_table,
    protocol_in_words,
    row,
)
from fairjudge.reports.kinds import make_findings
from fairjudge.reports.parts import Fold, Group, Heading, Paragraph, Part, Placeholder
from fairjudge.reports.result_figures import answers_plots, outlets_plot, position_pairs_plot
from fairjudge.scores.coverage_slices import ALONE, FREQUENCY, POSITION
from fairjudge.scores.leaderboards import WEIGHTING
from fairjudge.text.counting import pluralize

PartsMaker: TypeAlias = Callable[[Json], Iterable[Part]]
PanelMakers: TypeAlias = Mapping[str, tuple[str, PartsMaker]]
"""By kind of JSON, the title of its panel (a format of its fields) and the maker of its parts."""

_MAX_CLUSTERS = 20
"""Maximum number of clusters listed in a sentence."""
_MAX_PLOTTED = 24
"""Maximum number of rows of a plot; longer lists are tables only."""
_WEIGHTING = (
    f"Shares from 0 to 1 of one system: {WEIGHTING}, where the items are groups of answers; an "
    "outlet is credited only for its own wording. Intervals need at least five clusters."
)


def covered_parts(content: Content) -> Iterator[Part]:
    """Yield coverage by source and system, and the answers that each system omits."""
    groups = [g for panel in content.of_kind("audit covered") for g in panel.report["groups"]]
    for judge in split_by_judge(groups):
        yield Heading(f"Coverage by source, judged by {judge_in_words(judge[0])}")
        yield Paragraph(" ".join(make_findings("audit covered", {"groups": judge})))
        yield Paragraph(_WEIGHTING, "note")
        for slice_name in slices(judge):
            groups_with_slice = [group for group in judge if slice_name in group["slices"]]
            parts = (
                *_sliced_plot(slice_name, groups_with_slice),
                slice_table(slice_name, groups_with_slice),
            )
            is_open = slice_name.endswith((" by question", " by outlet", " by weight of groups"))
            yield Fold(slice_name.capitalize(), parts, is_open)
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
        yield Heading("Omitted answers")
        yield Placeholder("uncovered", "The list of omitted answers")
        yield outlets_table(groups)


def _sliced_plot(slice_name: str, groups: Sequence[Json]) -> Iterator[Part]:
    """Yield the plot of coverage by position, frequency or question word (DiverseSumm, 3 to 5)."""
    dimension = slice_name.partition(" by ")[2]
    title = f"{slice_name.capitalize()}, by {groups[0]['judge']}"
    if dimension == "outlet":
        yield outlets_plot(slice_name, groups)
    if dimension == "question word":
        rows = [
            row(f"{name}: {group['system']}", figure)
            for name in dict.fromkeys(
                name for group in groups for name in group["slices"][slice_name]
            )
            for group in groups
            if (figure := group["slices"][slice_name].get(name)) is not None
        ]
        if len(rows) <= _MAX_PLOTTED:
            yield forest(rows, title=title, x_label="share, 0 to 1", span=(0.0, 1.0))
    if dimension not in {POSITION, ALONE, FREQUENCY}:
        return
    points = {
        group["system"]: [
            (float(name), figure["value"])
            for name, figure in group["slices"][slice_name].items()
            if name.isdecimal() and figure["value"] is not None
        ]
        for group in groups
    }
    yield curves(points, name=title, x_label=dimension, y_label="share, 0 to 1")


def statement_parts(content: Content) -> Iterator[Part]:
    """Yield faithfulness by statement: shares, unsupported statements, and citations."""
    groups = [g for panel in content.of_kind("audit statements") for g in panel.report["groups"]]
    for judge in split_by_judge(groups):
        yield Heading(f"Statements, judged by {judge[0]['judge']}")
        yield Paragraph(" ".join(make_findings("audit statements", {"groups": judge})))
        rows = [row(group["system"], group["share"]) for group in judge]
        x_label = "share of statements that articles support, 0 to 1"
        yield plot_with_table(shares_table(judge), rows, x_label, span=(0.0, 1.0))
        for group in judge:
            if group["errors"]:
                title = f"{group['system']}: {pluralize(len(group['errors']), 'statement')}"
                yield Fold(f"{title} without support", (errors_table(group),), open=True)
        if groups_with_citations := [group for group in judge if group["citations"]]:
            yield citations_table(groups_with_citations)
    title = "Citations, and other articles in their place"
    yield from panel_parts(content, {"audit citations": (title, _citations)})


def _citations(report: Json) -> Iterator[Part]:
    for judge in split_by_judge(report["groups"]):
        rows = [
            row(f"{group['system']}: {name}", group[key])
            for group in judge
            for key, name in (("borne_out", "supported"), ("relevant", "relevant"))
        ]
        name = judge[0]["judge"]
        x_label = f"{name}: share of sentences supported, and of citations relevant, 0 to 1"
        yield forest(rows, title=f"Citations, by {name}", x_label=x_label, span=(0.0, 1.0))
    yield from citations_tables(report)


def bias_parts(content: Content) -> Iterator[Part]:
    """Yield the panels of position, verbosity, length, order and metamorphic checks."""
    for panel in content.of_kind(*_BIAS_AUDITS):
        heading, *parts = _BIAS_AUDITS[panel.kind](panel.report)
        yield heading
        yield from _findings(panel)
        yield from parts


def _position(report: Json) -> Iterator[Part]:
    tables = audit_tables.position_tables(report)
    for group, table in zip(report["groups"], tables, strict=True):
        title = f"Position: {group['aspect']}, by {group['judge']}"
        yield Heading(title)
        yield Group((position_plot(group, title), table))
        yield position_pairs_plot(group)


def position_plot(group: Json, title: str) -> Part:
    """Return the plot of a judge's preferences for each position, and of its consistency."""
    return forest(
        [row(label, group[name], digits=1) for name, label in audit_tables.POSITION.items()],
        title=title,
        x_label="percent of pairs judged in both orders",
        span=PERCENT,
        caption="A judge without position bias gives the same verdict in both orders.",
    )


def _verbosity(report: Json) -> Iterator[Part]:
    marks = {"original": BASELINE_MARK, "extended": JUDGE_MARK}
    rows = [
        row(f"{name}: {audit_tables.VERSIONS[version]}", group[version], mark=mark, digits=1)
        for group in report["groups"]
        for name in [f"{group['probe']}, {group['aspect']}, {protocol_in_words(group)}"]
        for version, mark in marks.items()
    ]
    yield Heading("Verbosity: each summary against its longer version")
    plot = forest(
        rows,
        title="Verbosity",
        x_label="percent preferred",
        span=PERCENT,
        caption="A judge without verbosity bias prefers neither.",
    )
    yield Group((plot, *audit_tables.verbosity_tables(report)))
    yield from map(_scores_plot, (group for group in report["groups"] if group.get("scores")))


def _scores_plot(group: Json) -> Part:
    """Return the distributions of scores of original and longer summaries (Figure 25)."""
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
    title = f"Scores by {group['judge']}, {group['aspect']}, {protocol_in_words(group)}"
    return curves(points, name=title, x_label="score", y_label="percent", caption=title)


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
            x_label = "win rate at equal length, percent"
            yield forest(rows, title=title, x_label=x_label, span=PERCENT)
        yield table
    yield from tables[len(report["groups"]) :]


def _order(report: Json) -> Iterator[Part]:
    unit, value_name, span = audit_tables.ORDERED[report["aspect"]]
    title = f"Order of {unit}s: {report['aspect']}, by {report['judge']}"
    rows = [row(f"{unit} {place}", figure) for place, figure in report["by_place"].items()]
    yield Heading(title)
    plot = forest(
        rows, title=title, x_label=f"{value_name}, {span[0]:.0f} to {span[1]:.0f}", span=span
    )
    yield Group((plot, *audit_tables.order_tables(report)))


def _checks(report: Json) -> Iterator[Part]:
    title = f"Checks: {report['aspect']}, by {report['judge']}"
    rows = [row(check["name"], check["kept"], digits=1) for check in report["checks"]]
    yield Heading(title)
    plot = forest(rows, title=title, x_label="percent passed", span=PERCENT)
    yield Group((plot, *audit_tables.checks_tables(report, limit=None)))


def panel_parts(content: Content, makers: PanelMakers) -> Iterator[Part]:
    """Yield for each panel its title, source, findings and parts."""
    for panel in content.of_kind(*makers):
        title, make_parts = makers[panel.kind]
        yield Heading(title.format(**panel.report))
        yield Paragraph(f"From {panel.source}.", "note")
        yield from _findings(panel)
        yield from make_parts(panel.report)


def _findings(panel: Panel) -> Iterator[Part]:
    if sentences := make_findings(panel.kind, panel.report):
        yield Paragraph(" ".join(sentences))


_BIAS_AUDITS: Mapping[str, PartsMaker] = {
    "audit position": _position,
    "audit verbosity": _verbosity,
    "audit length": _length,
    "audit order": _order,
    "audit checks": _checks,
}


def unscored_parts(content: Content) -> Iterator[Part]:
    """Yield the counts of judgements without a score, and the clusters without a judgement."""
    for panel in content.of_kind("audit parse"):
        yield from audit_tables.parse_tables(panel.report)
        sentence = "Means exclude items without a score."
        yield Paragraph(f"{sentence} The leaderboards show bounds on their effect.", "note")
    if content.not_judged:
        clusters = pluralize(len(content.not_judged), "cluster")
        yield Paragraph(
            f"{clusters} without a judgement: {first_items(content.not_judged, _MAX_CLUSTERS)}."
        )
    if content.counts is not None and content.counts[UNSCORED]:
        yield Placeholder("without-score", "The list of items without a score")
