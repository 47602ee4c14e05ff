"""Rankings, runs side by side, and checks of a judge: what these commands' JSON adds to a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports.audit_tables import stability_shares
from fairjudge.reports.check_tables import check_plots
from fairjudge.reports.comparison_page import comparison_parts
from fairjudge.reports.content import Content, Panel
from fairjudge.reports.figures import Json, forest, plotted, row
from fairjudge.reports.judge_sections import Show, panel_parts
from fairjudge.reports.kinds import findings_of, tables_of
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Group, Heading, Paragraph, Part, Section
from fairjudge.reports.ranking_tables import ranking_tables, together_tables
from fairjudge.reports.result_figures import ranks_plot, wins_plot
from fairjudge.text.counting import pluralize

_STRENGTH = "strength (log-odds; they add up to 0)"


def ranking_page(report: Json) -> str:
    """Return the page of what ``fairjudge rank --json`` writes."""
    findings = tuple(map(Paragraph, findings_of("rank", report)))
    sections = [
        Section(id="short", title="In short", parts=findings),
        Section(id="systems", title="Systems", parts=tuple(_ranking(report))),
    ]
    return page_html(sections, title="Systems ranked by comparisons")


def ranking_parts(content: Content) -> Iterator[Part]:
    """Yield every ranking that was given."""
    yield from _panels_of(content, {"rank": ("Ranked by comparisons", _ranking)})


def change_parts(content: Content) -> Iterator[Part]:
    """Yield runs side by side, and checks of a judge after a change."""
    yield from _panels_of(
        content,
        {
            "compare": ("Two runs side by side", _comparison),
            "check": ("A judge before and after a change", _check),
        },
    )


def stability_parts(content: Content) -> Iterator[Part]:
    """Yield what repeats and other prompts change."""
    stability = ("Stability: the same items judged again", _stability)
    yield from _panels_of(content, {"audit stability": stability})


def plan_parts(content: Content) -> Iterator[Part]:
    """Yield the sections on cascades, guarantees, and improved prompts."""
    yield from _panels_of(
        content,
        {
            kind: (title, lambda report, kind=kind: _tables(kind, report))  # type: ignore[misc]
            for kind, title in _PLANS.items()
        },
    )


_PLANS = {
    "cascade": "A cheap judge first: what it saves",
    "cascade --guarantee": "Confidence threshold for the guarantee",
    "align": "The judge aligned with people",
}


def _panels_of(content: Content, shows: Mapping[str, tuple[str, Show]]) -> Iterator[Part]:
    for panel in content.of_kind(*shows):
        yield from panel_parts(panel, *shows[panel.kind])


def title_of(panel: Panel) -> str:
    """Return what a panel's findings are called where those of many stand together."""
    return _TITLES.get(panel.kind, "")


_TITLES = {
    "compare": "Two runs",
    "check": "Check of the judge",
    "cascade": "Cascade",
    "bias words": "Words of groups",
    "bias entities": "People named",
    "bias distinguishability": "Group from the summary",
    "fairness overall": "Over data sets",
    "fairness agreement": "Two scorers",
    "fairness people": "Measures and people",
    "fairness temperature": "Temperature",
    "bias quality": "Quality by group",
    "fairness oracle": "Planted unfairness",
    "fairness chunk-size": "Size of chunks",
}


def _tables(kind: str, report: Json) -> Iterator[Part]:
    yield from tables_of(kind, report)


def _ranking(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], ranking_tables(report), strict=True):
        rows = [row(system["system"], system["strength"]) for system in group["systems"]]
        title = f"{group['aspect']}, by {group['judge']}"
        ranks = ranks_plot(group["systems"], title)
        yield Group((forest(rows, title=table.title, across=_STRENGTH), ranks, table))
        yield wins_plot(group, title)
    yield from _together(report)


def _comparison(report: Json) -> Iterator[Part]:
    for group in report["groups"]:
        yield from comparison_parts(group)


def _check(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], tables_of("check", report), strict=True):
        plots = tuple(check_plots(report, group))
        yield from (Group(plots, "row"), table) if len(plots) > 1 else (Group((*plots, table)),)


def _together(report: Json) -> Iterator[Part]:
    """Yield what several judges say together: strengths and ranks, then how each discriminates."""
    tables = [*together_tables(report)]
    for group, systems, judges in zip(
        report.get("together", ()), tables[::2], tables[1::2], strict=True
    ):
        rows = [row(system["system"], system["strength"]) for system in group["systems"]]
        title = f"{group['aspect']}, by {pluralize(len(group['judges']), 'judge')} together"
        ranks = ranks_plot(group["systems"], title)
        yield Group((forest(rows, title=systems.title, across=_STRENGTH), ranks, systems))
        rows = [row(judge["judge"], judge["discrimination"]) for judge in group["judges"]]
        across = "discrimination; 1: as the judges' mean, 0: by chance"
        yield Group((forest(rows, title=judges.title, across=across), judges))


def _stability(report: Json) -> Iterator[Part]:
    for group, table in zip(report["groups"], tables_of("audit stability", report), strict=True):
        yield Heading(f"{group['aspect']}, {group['protocol']}, by {group['judge']}", 4)
        rows = [row(label, share) for label, share in stability_shares(group)]
        yield plotted(table, rows, "share, 0 to 1", span=(0.0, 1.0))
