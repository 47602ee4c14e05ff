"""Two runs side by side as a page; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.comparison_tables import group_tables, group_title, settings_table
from fairjudge.reports.figures import Json, forest, row
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Group, Part, Section


def comparison_page(report: Json) -> str:
    """Return the page of what ``fairjudge compare --json`` writes."""
    apart = settings_table(report)
    sections = [Section(id="runs", title="What was compared", parts=apart)] if apart else []
    sections += [
        Section(id=f"group-{place}", title=group_title(group), parts=tuple(comparison_parts(group)))
        for place, group in enumerate(report["groups"])
    ]
    return page_html(sections, title="Two runs side by side")


def comparison_parts(group: Json) -> Iterator[Part]:
    """Yield the figures of one aspect, protocol and judge, and each system's shift."""
    figures, *tables = group_tables(group)
    yield figures
    if group["systems"]:
        shifts = [row(system["system"], system["shift"]) for system in group["systems"]]
        plot = forest(shifts, title="Shift by system", across="mean shift, second less first")
        yield Group((plot, tables.pop(0)))
    yield from tables
