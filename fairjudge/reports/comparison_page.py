"""Two runs side by side as a page; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.comparison_tables import group_tables, group_title, settings_table
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.kinds import findings_of
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Group, Paragraph, Part, Place, Section


def comparison_page(report: Json, browse: Json | None = None) -> str:
    """Return the page of what ``fairjudge compare --json`` writes.

    `browse` has the judgements that the page opens (`fairjudge.analysis.changed_items`).
    """
    findings = tuple(map(Paragraph, findings_of("compare", report)))
    sections = [
        Section(id="short", title="In short", parts=findings),
        Section(id="runs", title="What was compared", parts=settings_table(report)),
    ]
    for place, group in enumerate(report["groups"]):
        parts = tuple(comparison_parts(group))
        sections.append(Section(id=f"group-{place}", title=group_title(group), parts=parts))
    if browse is not None:
        explorer = Place("explorer", "Looking through judgements")
        title = "Judgements of the items that differ most"
        sections.append(Section(id="judgements", title=title, parts=(explorer,), printed=False))
    sections_with_parts = [section for section in sections if section.parts]
    return page_html(sections_with_parts, title="Two runs side by side", data=browse)


def comparison_parts(group: Json) -> Iterator[Part]:
    """Yield the figures of one aspect, protocol and judge, and each system's shift."""
    figures, *tables = group_tables(group)
    yield figures
    if group["systems"]:
        shifts = [row(system["system"], system["shift"]) for system in group["systems"]]
        plot = forest(shifts, title="Shift by system", across="mean shift, second minus first")
        yield Group((plot, tables.pop(0)))
    yield from tables
