"""One self-contained HTML page of the JSON that ``calibrate --json`` writes.

No network, no font or image from elsewhere (`fairjudge.reports.document`). All text from files is
escaped by `fairjudge.reports.markup`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.reports.calibration_figures import (
    agreement_figures,
    bias_figures,
    planning_figure,
    position_figure,
    reliability_figure,
)
from fairjudge.reports.calibration_tables import (
    agreement_tables,
    best_baseline,
    comparison_table,
    errors_table,
    group_title,
    replaceability_note,
    shown,
    verdict,
)
from fairjudge.reports.document import Section, document
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.tables import TextTable, columns

Groups = Sequence[Mapping[str, Any]]


def calibration_page(report: Mapping[str, Any], *, position: Groups = ()) -> str:
    """Return the page.

    Parameters
    ----------
    report
        What ``fairjudge calibrate --json`` writes.
    position
        The groups that ``fairjudge audit position --json`` writes, shown with the judge and aspect
        that they belong to.
    """
    groups = [
        Section(
            id=f"group-{place}",
            title=group_title(group),
            parts=tuple(_group(group, _position_of(group, position))),
        )
        for place, group in enumerate(report["groups"])
    ]
    overview = Section(id="overview", title="Overview", parts=tuple(_comparison(report)))
    origin = Section(id="origin", title="How the numbers came about", parts=tuple(_origin(report)))
    return document([overview, *groups, origin], title="How far the judge can be trusted")


def calibration_parts(report: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield the same as parts of a larger page: the comparison, then each judge folded away."""
    yield from _comparison(report)
    for group in report["groups"]:
        yield element(
            "details",
            element("summary", f"{group_title(group)}: {verdict(group)}"),
            *_group(group, (), level=4),
            open="" if len(report["groups"]) == 1 else None,
        )
    yield element("details", element("summary", "Settings and signature"), *_origin(report))


def _comparison(report: Mapping[str, Any]) -> Iterator[Markup]:
    yield html_table(_overview(report["groups"]), sortable=True)
    if report["comparisons"]:
        yield html_table(comparison_table(report["comparisons"]), sortable=True)


def _position_of(group: Mapping[str, Any], position: Groups) -> Groups:
    return [
        one
        for one in position
        if (one["judge"], one["aspect"]) == (group["judge"], group["aspect"])
    ]


def _overview(groups: Sequence[Mapping[str, Any]]) -> TextTable:
    heads = ("judge", "people", "best baseline", "RMSE as judged", "RMSE held out")
    return TextTable(
        title="Spearman's correlation with people, pooled, and errors in units of the labels",
        columns=columns("judge, aspect, protocol", "finding", *heads, numbers=heads),
        rows=tuple(_overview_row(group) for group in groups),
        notes=(
            "The interval of the judge is held against the baseline's value and the lower end "
            "of people's own agreement; it is no formal test.",
        ),
    )


def _overview_row(group: Mapping[str, Any]) -> tuple[str, ...]:
    name, best = best_baseline(group)
    calibration = group["calibration"]
    return (
        group_title(group),
        verdict(group),
        *(
            shown(group[who].get("pooled", {}).get("spearman", {}))
            for who in ("agreement", "human")
        ),
        "-" if best is None else f"{name} {best:.2f}",
        *(shown(calibration[stage].get("rmse", {})) for stage in ("before", "after")),
    )


def _group(group: Mapping[str, Any], position: Groups, *, level: int = 3) -> Iterator[Markup]:
    heading = f"h{level}"
    yield element("p", element("strong", f"{verdict(group)}."))
    yield element("p", replaceability_note(group["replaceability"]))
    yield element(heading, "Agreement with people")
    yield element("div", *agreement_figures(group), class_="row")
    yield from (html_table(table) for table in agreement_tables(group))
    yield element(heading, "Reliability before and after calibration")
    yield from reliability_figure(group)
    yield html_table(errors_table(group))
    yield element(heading, "Bias")
    yield from bias_figures(group)
    for one in position:
        yield from position_figure(one)
    yield element(heading, "What more labels would buy")
    yield from planning_figure(group)


def _origin(report: Mapping[str, Any]) -> Iterator[Markup]:
    yield element(
        "p",
        "Intervals are 95 % unless the settings say otherwise; they resample documents, not "
        "summaries. The human figure is the mean of each annotator against the mean of the others.",
    )
    text = json.dumps(
        {"settings": report["settings"], "signature": report["signature"]},
        indent=1,
        ensure_ascii=False,
    )
    yield element(
        "pre", text, class_="wide", tabindex=0, role="region", aria_label="Settings and signature"
    )
