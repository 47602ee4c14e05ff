"""The figures of a calibration page: each a plot and the table of its numbers; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairjudge.reports.calibration_tables import LEVELS, baseline_name, shown
from fairjudge.reports.figures import drawn
from fairjudge.reports.markup import Markup, element, html_table
from fairjudge.reports.plots import (
    Curve,
    ForestRow,
    Mark,
    ReliabilityPoint,
    curve_plot,
    forest_plot,
    reliability_plot,
)
from fairjudge.reports.tables import TextTable, columns, number

JUDGE = Mark(shape="square", filled=True)
PEOPLE = Mark(shape="diamond", filled=True)
OTHER = Mark(shape="circle", filled=False)


def agreement_figures(group: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield a forest plot of Spearman's correlation for each level; the tables have all three."""
    sources = {"judge": group["agreement"], "people": group["human"], **group["baselines"]}
    for level, label in LEVELS.items():
        rows = tuple(
            _forest_row(baseline_name(name), found[level]["spearman"], _mark(name))
            for name, found in sources.items()
            if level in found
        )
        if not rows:
            continue
        ceiling = group["human"].get(level, {}).get("spearman", {})
        plot = forest_plot(
            rows,
            name=f"Spearman's correlation with people, {label}: "
            + "; ".join(f"{row.label} {row.text}" for row in rows),
            across=f"Spearman's correlation with people, {label}",
            span=(-1.0, 1.0),
            band=_ends(ceiling),
        )
        yield drawn(
            plot,
            f"{label.capitalize()}. Square: the judge; diamond: people with one another, whose "
            "interval the dashed lines bound; circles: trivial baselines.",
        )


def reliability_figure(group: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield the reliability diagrams side by side, and the table of their bins."""
    calibration, scale = group["calibration"], group["scales"]["labels"]
    stages = {
        "as judged": (calibration["reliability_before"], OTHER),
        f"{calibration['method']}, held out": (calibration["reliability_after"], JUDGE),
    }
    if not any(bins for bins, _ in stages.values()):
        yield element("p", "No reliability diagram: too few labelled items.")
        return
    plots = [
        drawn(
            reliability_plot(
                _points(bins),
                scale=(scale[0], scale[1]),
                name=f"Reliability, {stage}: people's mean label against the judge's score",
                mark=mark,
            ),
            f"{stage.capitalize()}: {_drawn_as(mark)}",
        )
        for stage, (bins, mark) in stages.items()
        if bins
    ]
    yield element("div", *plots, class_="row")
    yield html_table(
        TextTable(
            title="Reliability: what people said where the judge gave a score",
            columns=columns(
                "stage", "judge's score", "items", "people's mean", numbers=_RELIABILITY_NUMBERS
            ),
            rows=tuple(
                (stage, number(one["mean_score"]), str(one["n"]), shown(one["mean_label"]))
                for stage, (bins, _) in stages.items()
                for one in bins
            ),
        )
    )


def bias_figures(group: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield, for each grouping, how much more the judge flatters a group than it does the rest."""
    fairness = group["fairness"]
    if not fairness["groups"]:
        yield element("p", "No groups to compare: one system, and no other grouping was given.")
    for name, groups in fairness["groups"].items():
        rows = tuple(
            _forest_row(one["group"], one["error_gap"], JUDGE if one["flagged"] else OTHER)
            for one in groups
        )
        yield drawn(
            forest_plot(
                rows,
                name=f"Error by {name} against the rest: "
                + "; ".join(f"{row.label} {row.text}" for row in rows),
                across="judge's mean error in this group minus that in all others",
            ),
            f"By {name}, {fairness['of']}, in units of the labels. Above 0 the judge flatters the "
            "group. Filled squares: flagged for mean error or its size, at a false discovery rate "
            "of 5 %; circles: not.",
        )
        yield html_table(_bias_table(name, groups), sortable=True)


def position_figure(found: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield what an audit of position found of one judge and aspect, in percent of pairs."""
    names = {
        "first": "prefers the first place",
        "second": "prefers the second place",
        "consistency": "same verdict both ways",
    }
    rows = tuple(_forest_row(label, found[name], JUDGE) for name, label in names.items())
    title = f"Position bias in {found['n_pairs']} pairs asked in both orders, percent"
    yield drawn(
        forest_plot(rows, name=title, across="percent of pairs", span=(0.0, 100.0)),
        "A judge without position bias gives the same verdict whichever summary stands first.",
    )
    yield html_table(
        TextTable(
            title=title,
            columns=columns("verdicts", "percent", numbers=("percent",)),
            rows=tuple((row.label, row.text) for row in rows),
        )
    )


def planning_figure(group: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield the label-planning curve with its table, and the labels that tell systems apart."""
    planning = group["planning"]
    curve = planning["curve"]
    if isinstance(curve, Mapping):
        yield element("p", f"No label plan: {curve['why']}.")
        return
    with_judge, without = "labels and judge (PPI++)", "labels alone"
    yield drawn(
        curve_plot(
            (
                _curve(with_judge, curve, "with_judge", JUDGE),
                _curve(without, curve, "without_judge", OTHER),
            ),
            name="Half-width of the interval of a system's mean against the number of labels",
            across="labelled summaries of the system, one a document",
            up="half-width",
        ),
        f"Half-width of a system's mean, in units of the labels, when the judge scores "
        f"{planning['n_judged']} documents. Squares, solid: with the judge; circles, dashed: "
        "without it.",
    )
    yield html_table(
        TextTable(
            title="What labels buy: half-width of the interval of a system's mean",
            columns=columns("labels", with_judge, without, numbers=("labels", with_judge, without)),
            rows=tuple(
                (
                    str(point["n_labels"]),
                    number(point["with_judge"], digits=3),
                    number(point["without_judge"], digits=3),
                )
                for point in curve
            ),
        )
    )
    if planning["to_separate"]:
        yield _separations(planning)


_RELIABILITY_NUMBERS = ("judge's score", "items", "people's mean")


def _separations(planning: Mapping[str, Any]) -> Markup:
    beyond = f"more than {planning['n_judged']}"

    def needed(one: Mapping[str, Any], name: str) -> str:
        if "why" in one:
            return "-"
        return beyond if one[name] is None else str(one[name])

    table = TextTable(
        title="Labelled documents that would tell two systems apart, were the difference true",
        columns=columns(
            "systems",
            "difference",
            "with judge",
            "labels alone",
            numbers=("difference", "with judge", "labels alone"),
        ),
        rows=tuple(
            (
                f"{one['system_a']} and {one['system_b']}",
                number(one["difference"]),
                needed(one, "with_judge"),
                needed(one, "without_judge"),
            )
            for one in planning["to_separate"]
        ),
    )
    summary = element("summary", f"Labels to tell systems apart: {len(table.rows)} pairs")
    return element("details", summary, html_table(table, sortable=True))


def _bias_table(name: str, groups: list[Mapping[str, Any]]) -> TextTable:
    numbers = ("items", "documents", "mean error", "error minus rest", "adjusted p")
    return TextTable(
        title=f"Error by {name}",
        columns=columns(name, *numbers, "flag", numbers=numbers),
        rows=tuple(
            (
                one["group"],
                str(one["n"]),
                str(one["n_documents"]),
                shown(one["error"]),
                shown(one["error_gap"]),
                number(one["adjusted_p_values"]["error_gap"], digits=4),
                ", ".join(
                    word
                    for word, holds in (
                        ("flagged", one["flagged"]),
                        ("few documents", one["few_documents"]),
                    )
                    if holds
                ),
            )
            for one in groups
        ),
        notes=(
            "A group is flagged for its mean error or for the size of its errors; adjusted p is "
            "that of the mean error.",
        ),
    )


def _forest_row(label: str, found: Mapping[str, Any], mark: Mark) -> ForestRow:
    undefined = found.get("value") is None
    return ForestRow(
        label=label,
        value=found.get("value"),
        low=found.get("low"),
        high=found.get("high"),
        text="undefined" if undefined else shown(found),
        mark=mark,
    )


def _points(bins: list[Mapping[str, Any]]) -> list[ReliabilityPoint]:
    return [
        ReliabilityPoint(
            score=one["mean_score"],
            label=one["mean_label"]["value"],
            low=one["mean_label"]["low"],
            high=one["mean_label"]["high"],
            n=one["n"],
        )
        for one in bins
        if one["mean_label"]["value"] is not None
    ]


def _curve(name: str, curve: list[Mapping[str, Any]], field: str, mark: Mark) -> Curve:
    return Curve(
        name=name,
        points=tuple((float(point["n_labels"]), point[field]) for point in curve),
        mark=mark,
        dashed=not mark.filled,
    )


def _mark(name: str) -> Mark:
    return {"judge": JUDGE, "people": PEOPLE}.get(name, OTHER)


def _ends(found: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = found.get("low"), found.get("high")
    return None if low is None or high is None else (low, high)


def _drawn_as(mark: Mark) -> str:
    shape = "filled squares" if mark.filled else "hollow circles"
    return f"{shape}, larger for more items; on the dashed line judge and people agree."
