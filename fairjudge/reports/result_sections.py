"""Page parts of rankings, comparisons of runs, checks of a judge, stability and cascades."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fairjudge.reports.audit_tables import stability_shares
from fairjudge.reports.comparison_tables import (
    check_plots,
    group_tables,
    group_title,
    settings_table,
)
from fairjudge.reports.figures import Json, forest, plot_with_table, row
from fairjudge.reports.judge_sections import PanelMakers
from fairjudge.reports.kinds import make_findings, make_tables
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Placeholder, Section
from fairjudge.reports.ranking_tables import joint_tables, ranking_tables
from fairjudge.reports.result_figures import ranks_plot, wins_plot
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize


def ranking_page(report: Json) -> str:
    """Return the page of the JSON of ``fairjudge rank --json``."""
    systems = Section(id="systems", title="Systems", parts=tuple(_ranking(report)))
    return page_html([_in_short("rank", report), systems], title="Systems ranked by comparisons")


def comparison_page(report: Json, browse: Json | None = None) -> str:
    """Return the page of the JSON of ``fairjudge compare --json``.

    `browse` contains the judgements for the page's explorer (`fairjudge.analysis.changed_items`).
    """
    sections = [
        _in_short("compare", report),
        Section(id="runs", title="Compared runs", parts=settings_table(report)),
    ]
    for index, group in enumerate(report["groups"]):
        parts = tuple(_comparison_parts(group))
        sections.append(Section(id=f"group-{index}", title=group_title(group), parts=parts))
    if browse is not None:
        explorer = Placeholder("explorer", "Looking through judgements")
        title = "Judgements of the items that differ most"
        sections.append(Section(id="judgements", title=title, parts=(explorer,), printed=False))
    sections_with_parts = [section for section in sections if section.parts]
    return page_html(sections_with_parts, title="Comparison of two runs", data=browse)


def _in_short(kind: str, report: Json) -> Section:
    findings = tuple(map(Paragraph, make_findings(kind, report)))
    return Section(id="short", title="In short", parts=findings)


def _ranking(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], ranking_tables(report), strict=True):
        title = f"{group['aspect']}, by {group['judge']}"
        yield _ranking_group(group, table, title)
        yield wins_plot(group, title)
    tables = [*joint_tables(report)]
    for group, systems, judges in zip(
        report.get("together", ()), tables[::2], tables[1::2], strict=True
    ):
        title = f"{group['aspect']}, by {pluralize(len(group['judges']), 'judge')} together"
        yield _ranking_group(group, systems, title)
        rows = [row(judge["judge"], judge["discrimination"]) for judge in group["judges"]]
        yield plot_with_table(judges, rows, "discrimination; 1: the judges' mean, 0: random")


def _ranking_group(group: Json, table: TextTable, title: str) -> Part:
    """Return the plots of systems' strengths and ranks, with their table."""
    rows = [row(system["system"], system["strength"]) for system in group["systems"]]
    strengths = forest(rows, title=table.title, x_label="strength (log-odds; they add up to 0)")
    return Group((strengths, ranks_plot(group["systems"], title), table))


def _comparison(report: Json) -> Iterator[Part]:
    for group in report["groups"]:
        yield from _comparison_parts(group)


def _comparison_parts(group: Json) -> Iterator[Part]:
    """Yield the tables of one aspect, protocol and judge, and the plot of systems' shifts."""
    statistics, *tables = group_tables(group)
    yield statistics
    if group["systems"]:
        shifts = [row(system["system"], system["shift"]) for system in group["systems"]]
        plot = forest(shifts, title="Shift by system", x_label="mean shift, second minus first")
        yield Group((plot, tables.pop(0)))
    yield from tables


def _check(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], make_tables("check", report), strict=True):
        plots = tuple(check_plots(report, group))
        yield from (Group(plots, "row"), table) if len(plots) > 1 else (Group((*plots, table)),)


def _stability(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], make_tables("audit stability", report), strict=True):
        yield Heading(f"{group['aspect']}, {group['protocol']}, by {group['judge']}", 4)
        rows = [row(label, share) for label, share in stability_shares(group)]
        yield plot_with_table(table, rows, "share, 0 to 1", span=(0.0, 1.0))


RANKINGS: PanelMakers = {"rank": ("Ranked by comparisons", _ranking)}
CHANGES: PanelMakers = {
    "compare": ("Comparison of two runs", _comparison),
    "check": ("A judge before and after a change", _check),
}
STABILITY: PanelMakers = {
    "audit stability": ("Stability: the same items judged again", _stability),
}
PLANS: PanelMakers = {
    kind: (title, partial(make_tables, kind))
    for kind, title in {
        "cascade": "Savings of a cascade with a cheap judge first",
        "cascade --guarantee": "Confidence threshold for the guarantee",
        "align": "The judge aligned with human labels",
    }.items()
}
"""By command, the title of its panel and the function that makes its parts from the JSON."""
