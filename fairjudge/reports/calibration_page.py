"""The JSON that ``calibrate --json`` writes as a page, or as parts of a larger one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from fairjudge.reports import calibration_tables as tables
from fairjudge.reports.decision_tables import (
    decisions_tables,
    group_title,
    jury_group,
    verdict,
    with_juries,
)
from fairjudge.reports.drawing import BY_PEOPLE, OTHER, PLAIN
from fairjudge.reports.figures import Json, curves, forest, row, sentence, why
from fairjudge.reports.judge_sections import position_plot
from fairjudge.reports.label_tables import disagreement_tables, mean_tables, rates_tables
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import (
    Fold,
    Group,
    Heading,
    Paragraph,
    Part,
    Plot,
    Section,
    Verbatim,
    folded,
)
from fairjudge.reports.plots import ReliabilityPlot
from fairjudge.reports.protocol_tables import jury_plot, jury_tables, protocol_plot, protocol_tables
from fairjudge.reports.result_figures import (
    confusion_plot,
    position_pairs_plot,
    ratings_plot,
    systems_plot,
)
from fairjudge.text.counting import pluralize

Groups = Sequence[Json]

_LISTED, _LONGEST_REASON = 20, 600
_MAX_OPEN, _MAX_PRINTED = 4, 6
"""Judges whose parts stand side by side on the screen, and whose decisions paper has."""
_MAX_JURIES_PRINTED = 2
_SETTINGS = "Settings and signature"
_METHODS = Paragraph(
    "Intervals are 95 % unless the settings say otherwise; they resample documents, not "
    "summaries. The human figure is the mean of each annotator against the mean of the others."
)
_KEY = ("judge", "aspect", "protocol", "unit")


def calibration_page(report: Json, *, position: Groups = ()) -> str:
    """Return the page of what ``fairjudge calibrate --json`` writes.

    `position` has the groups of ``fairjudge audit position --json``, shown with their judges.
    """
    groups = []
    for place, group in enumerate(report["groups"]):
        # What earlier versions wrote names fewer of these.
        own = [
            audit
            for audit in position
            if all(audit.get(name) in (None, group.get(name)) for name in _KEY)
        ]
        alone = len(report["groups"]) == 1
        parts = tuple(folded(_group(group, own), level=3, open_first=alone))
        groups.append(Section(id=f"group-{place}", title=group_title(group), parts=parts))
    overview = Section(id="overview", title="Overview", parts=tuple(_comparison(report)))
    settings = Fold(_SETTINGS, (_settings(report),))
    origin = Section(id="origin", title="Methods", parts=(_METHODS, settings))
    return page_html([overview, *groups, origin], title="How far the judge can be trusted")


def calibration_parts(report: Json) -> Iterator[Part]:
    """Yield the same as parts of a larger page: the comparison, then each judge folded away."""
    yield from _comparison(report)
    groups = report["groups"]
    detail = tuple(
        Fold(
            f"{group_title(group)}: {verdict(group)}",
            tuple(folded(_group(group, (), level=4), level=4)),
            open=len(groups) == 1,
        )
        for group in groups
    )
    yield from detail if len(groups) <= _MAX_OPEN else (Fold("Each judge in detail", detail),)
    yield Fold(_SETTINGS, (_METHODS, _settings(report)))


def _comparison(report: Json) -> Iterator[Part]:
    if protocols := report.get("protocols"):
        yield Group(tuple(map(protocol_plot, protocols)), "row")
    yield from protocol_tables(report)
    decisions = decisions_tables(with_juries(report))
    if len(decisions) > _MAX_OPEN:
        printed = len(decisions) <= _MAX_PRINTED
        yield Fold("What each judge may be used for, and why", decisions, printed=printed)
    else:
        yield from decisions
    yield tables.overview_table(report["groups"])
    if report["comparisons"]:
        yield tables.comparison_table(report["comparisons"])
    juries = [jury for jury in report.get("juries", ()) if not jury["why"]]
    for jury in juries:
        gains, members = jury_tables({"juries": [jury]})
        parts = (Group((jury_plot(jury), gains)), members)
        if len(juries) == 1:
            yield from parts
        else:
            decided = jury_group({"decisions": (), **jury})
            summary = f"{group_title(decided)}: {verdict(decided)}"
            yield Fold(summary, parts, printed=len(juries) <= _MAX_JURIES_PRINTED)


def _group(group: Json, position: Groups, *, level: int = 3) -> Iterator[Part]:
    yield Paragraph(sentence(verdict(group)), "strong")
    yield Paragraph(tables.replaceability_note(group))
    yield Heading("Agreement with people", level)
    yield Group(tuple(_agreement(group)), "row")
    yield from tables.agreement_tables(group)
    yield from tables.gains_tables(group)
    title = group_title(group)
    ratings = (confusion_plot(group, title), ratings_plot(group, title), systems_plot(group, title))
    yield Heading("Ratings of judge and people", level)
    yield Group(ratings, "row")
    yield Heading("Reliability before and after calibration", level)
    yield from _reliability(group)
    yield tables.errors_table(group)
    yield from rates_tables({"groups": [group]})
    yield from disagreement_tables({"groups": [group]}, limit=_LISTED, longest=_LONGEST_REASON)
    yield Heading("Bias", level)
    yield from _bias(group)
    for audit in position:
        pairs = pluralize(audit["n_pairs"], "pair")
        title = f"Position bias in {pairs} asked in both orders, percent"
        yield Group((position_plot(audit, title), tables.position_table(audit, title)))
        yield position_pairs_plot(audit)
    yield Heading("How many labels you need", level)
    yield from mean_tables({"groups": [group]})
    yield from _planning(group)


def _agreement(group: Json) -> Iterator[Part]:
    """Yield a forest plot of Spearman's correlation at each level."""
    marks = {"judge": PLAIN, tables.HUMAN: BY_PEOPLE}
    for level, label in tables.levels_of(group).items():
        ceiling = tables.spearman(group["human"], level)
        title = f"Spearman's correlation with people, {label}"
        sources = tables.sources(group).items()
        yield forest(
            [
                row(tables.baseline_name(name), of[level]["spearman"], mark=marks.get(name, OTHER))
                for name, of in sources
                if level in of
            ],
            title=title,
            across=title,
            span=(-1.0, 1.0),
            band=(ceiling["low"], ceiling["high"]) if ceiling.get("low") is not None else None,
            caption=f"{label.capitalize()}. Square: the judge; diamond: human-human agreement, "
            "whose interval the dashed lines bound; circles: trivial baselines.",
        )


def _reliability(group: Json) -> Iterator[Part]:
    """Yield the reliability diagrams side by side, and the table of their bins."""
    calibration, scale = group["calibration"], group["scales"]["labels"]
    stages = tables.reliability_stages(calibration)
    if not any(stages.values()):
        yield Paragraph("No reliability diagram: too few labelled items.")
        return
    plots = []
    marks = ((OTHER, "hollow circles"), (PLAIN, "filled squares"))
    for (stage, bins), (mark, shape) in zip(stages.items(), marks, strict=True):
        of = f"Reliability, {stage}, {group_title(group)}"
        name = f"{of}: people's mean label against the judge's score"
        caption = (
            f"{stage.capitalize()}: {shape}, larger for more items; on the dashed line judge and "
            "people agree."
        )
        if bins:
            figure = ReliabilityPlot(bins=bins, scale=tuple(scale), name=name, mark=mark)
            plots.append(Plot(figure, caption))
    yield Group(tuple(plots), "row")
    yield tables.reliability_table(calibration)


def _bias(group: Json) -> Iterator[Part]:
    """Yield, for each grouping, how much higher the judge scores a group than the rest."""
    fairness = group["fairness"]
    if not fairness["groups"]:
        yield Paragraph("No groups to compare: one system, and no other grouping was given.")
    for name, groups in fairness["groups"].items():
        yield forest(
            [
                row(group["group"], group["error_gap"], mark=PLAIN if group["flagged"] else OTHER)
                for group in groups
            ],
            title=f"Error by {name} against the rest",
            across="judge's mean error in this group minus that in all others",
            caption=f"By {name}, {fairness['of']}, in units of the labels. Above 0 the judge "
            "scores the group too high. Filled squares: flagged for mean error or its size, at a "
            "false discovery rate of 5 %; circles: not.",
        )
        yield tables.group_errors_table(name, groups)


def _planning(group: Json) -> Iterator[Part]:
    """Yield the label-planning curve with its table, and the labels needed per pair of systems."""
    planning = group["planning"]
    curve = planning["curve"]
    if isinstance(curve, Mapping):
        yield Paragraph(f"No label plan: {why(curve)}.")
        return
    yield curves(
        {
            label: [(float(point["n_labels"]), point[field]) for point in curve]
            for field, label in tables.PLANS.items()
        },
        name="Half-width of the interval of a system's mean against the number of labels, "
        + group_title(group),
        across="labelled summaries of the system, one a document",
        up="half-width",
        logarithmic=True,
        caption="Half-width of a system's mean, in units of the labels, when the judge scores "
        f"{pluralize(planning['n_judged'], 'document')}. Squares, solid: with the judge; circles, "
        "dashed: without it.",
    )
    yield tables.planning_table(curve)
    if planning["to_separate"]:
        separate = tables.separations_table(planning)
        pairs = pluralize(len(separate.rows), "pair")
        yield Fold(f"Labels needed for significant differences of systems: {pairs}", (separate,))


def _settings(report: Json) -> Verbatim:
    origin = {"settings": report["settings"], "signature": report["signature"]}
    return Verbatim(json.dumps(origin, indent=1, ensure_ascii=False), _SETTINGS)
