"""Rankings, runs side by side, and checks of a judge: what these commands' JSON adds to a page."""

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
from fairjudge.reports.figures import Json, forest, plotted, row
from fairjudge.reports.judge_sections import Shows
from fairjudge.reports.kinds import findings_of, tables_of
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Place, Section
from fairjudge.reports.ranking_tables import ranking_tables, together_tables
from fairjudge.reports.result_figures import ranks_plot, wins_plot
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize


def ranking_page(report: Json) -> str:
    """Return the page of what ``fairjudge rank --json`` writes."""
    systems = Section(id="systems", title="Systems", parts=tuple(_ranking(report)))
    return page_html([_in_short("rank", report), systems], title="Systems ranked by comparisons")


def comparison_page(report: Json, browse: Json | None = None) -> str:
    """Return the page of what ``fairjudge compare --json`` writes.

    `browse` has the judgements that the page opens (`fairjudge.analysis.changed_items`).
    """
    sections = [
        _in_short("compare", report),
        Section(id="runs", title="What was compared", parts=settings_table(report)),
    ]
    for place, group in enumerate(report["groups"]):
        parts = tuple(_comparison_of(group))
        sections.append(Section(id=f"group-{place}", title=group_title(group), parts=parts))
    if browse is not None:
        explorer = Place("explorer", "Looking through judgements")
        title = "Judgements of the items that differ most"
        sections.append(Section(id="judgements", title=title, parts=(explorer,), printed=False))
    sections_with_parts = [section for section in sections if section.parts]
    return page_html(sections_with_parts, title="Two runs side by side", data=browse)


def _in_short(kind: str, report: Json) -> Section:
    findings = tuple(map(Paragraph, findings_of(kind, report)))
    return Section(id="short", title="In short", parts=findings)


def _ranking(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], ranking_tables(report), strict=True):
        title = f"{group['aspect']}, by {group['judge']}"
        yield _ranked(group, table, title)
        yield wins_plot(group, title)
    tables = [*together_tables(report)]
    for group, systems, judges in zip(
        report.get("together", ()), tables[::2], tables[1::2], strict=True
    ):
        of = f"{group['aspect']}, by {pluralize(len(group['judges']), 'judge')} together"
        yield _ranked(group, systems, of)
        rows = [row(judge["judge"], judge["discrimination"]) for judge in group["judges"]]
        yield plotted(judges, rows, "discrimination; 1: as the judges' mean, 0: by chance")


def _ranked(group: Json, table: TextTable, title: str) -> Part:
    """Return the strengths of systems and their ranks, beside their table."""
    rows = [row(system["system"], system["strength"]) for system in group["systems"]]
    strengths = forest(rows, title=table.title, across="strength (log-odds; they add up to 0)")
    return Group((strengths, ranks_plot(group["systems"], title), table))


def _comparison(report: Json) -> Iterator[Part]:
    for group in report["groups"]:
        yield from _comparison_of(group)


def _comparison_of(group: Json) -> Iterator[Part]:
    """Yield the figures of one aspect, protocol and judge, and each system's shift."""
    figures, *tables = group_tables(group)
    yield figures
    if group["systems"]:
        shifts = [row(system["system"], system["shift"]) for system in group["systems"]]
        plot = forest(shifts, title="Shift by system", across="mean shift, second minus first")
        yield Group((plot, tables.pop(0)))
    yield from tables


def _check(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], tables_of("check", report), strict=True):
        plots = tuple(check_plots(report, group))
        yield from (Group(plots, "row"), table) if len(plots) > 1 else (Group((*plots, table)),)


def _stability(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], tables_of("audit stability", report), strict=True):
        yield Heading(f"{group['aspect']}, {group['protocol']}, by {group['judge']}", 4)
        rows = [row(label, share) for label, share in stability_shares(group)]
        yield plotted(table, rows, "share, 0 to 1", span=(0.0, 1.0))


RANKINGS: Shows = {"rank": ("Ranked by comparisons", _ranking)}
CHANGES: Shows = {
    "compare": ("Two runs side by side", _comparison),
    "check": ("A judge before and after a change", _check),
}
STABILITY: Shows = {
    "audit stability": ("Stability: the same items judged again", _stability),
}
PLANS: Shows = {
    kind: (title, partial(tables_of, kind))
    for kind, title in {
        "cascade": "A cheap judge first: what it saves",
        "cascade --guarantee": "Confidence threshold for the guarantee",
        "align": "The judge aligned with people",
    }.items()
}
"""What the JSON of these commands shows."""
