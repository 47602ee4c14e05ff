"""One self-contained HTML page of the JSON that ``calibrate --json`` writes.

No script, no network, no font or image from elsewhere: the page forbids them by its own
Content-Security-Policy. All text from files is escaped by `fairjudge.reports.markup`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
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
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.tables import TextTable, columns

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def calibration_page(
    report: Mapping[str, Any], *, position: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the page.

    Parameters
    ----------
    report
        What ``fairjudge calibrate --json`` writes.
    position
        The groups that ``fairjudge audit position --json`` writes, shown with the judge and aspect
        that they belong to.
    """
    groups = report["groups"]
    links = [
        element("li", element("a", group_title(group), href=f"#group-{place}"))
        for place, group in enumerate(groups)
    ]
    body = element(
        "body",
        element("a", "Skip to the overview", href="#overview", class_="skip"),
        element("header", element("h1", "How far the judge can be trusted")),
        element("nav", element("ul", *links), aria_label="Judges"),
        element(
            "main",
            element("h2", "Overview", id="overview"),
            html_table(_overview(groups)),
            *(
                [html_table(comparison_table(report["comparisons"]))]
                if report["comparisons"]
                else ()
            ),
            *(
                element(
                    "section", *_group(group, place, position), aria_labelledby=f"group-{place}"
                )
                for place, group in enumerate(groups)
            ),
            *_origin(report),
        ),
    )
    style = Markup(Path(__file__).with_name("page.css").read_text("utf-8"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Calibration of judges"),
        element("style", style),
    )
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en").text + "\n"


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


def _group(
    group: Mapping[str, Any], place: int, position: Sequence[Mapping[str, Any]]
) -> Iterator[Markup]:
    yield element("h2", group_title(group), id=f"group-{place}")
    yield element("p", element("strong", f"{verdict(group)}."))
    yield element("p", replaceability_note(group["replaceability"]))
    yield element("h3", "Agreement with people")
    yield from agreement_figures(group)
    yield from (html_table(table) for table in agreement_tables(group))
    yield element("h3", "Reliability before and after calibration")
    yield from reliability_figure(group)
    yield html_table(errors_table(group))
    yield element("h3", "Bias")
    yield from bias_figures(group)
    for one in position:
        if (one["judge"], one["aspect"]) == (group["judge"], group["aspect"]):
            yield from position_figure(one)
    yield element("h3", "What more labels would buy")
    yield from planning_figure(group)


def _origin(report: Mapping[str, Any]) -> Iterator[Markup]:
    yield element("h2", "How the numbers came about")
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
