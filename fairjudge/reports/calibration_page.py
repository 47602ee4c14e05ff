"""The page of ``calibrate --json``, and its parts for a larger page."""

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
from fairjudge.reports.drawing import BASELINE_MARK, HUMAN_MARK, JUDGE_MARK
from fairjudge.reports.figures import Json, curves, forest, row, sentence, undefined_reason
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
    fold_headings,
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
"""Maximum numbers of judges whose parts are open on the screen, and whose decisions are printed."""
_MAX_JURIES_PRINTED = 2
_SETTINGS = "Settings and signature"
_METHODS = Paragraph(
    "Intervals are 95 % unless the settings say otherwise; they resample documents, not "
    "summaries. Human-human agreement is the mean over annotators, each against the mean of the "
    "others."
)
_KEY = ("judge", "aspect", "protocol", "unit")


def calibration_page(report: Json, *, position: Groups = ()) -> str:
    """Return the page of the JSON of ``fairjudge calibrate --json``.

    `position` contains the groups of ``fairjudge audit position --json``, shown with their judges.
    """
    groups = []
    for index, group in enumerate(report["groups"]):
        # JSON of earlier versions lacks some of these keys.
        audits = [
            audit
            for audit in position
            if all(audit.get(name) in (None, group.get(name)) for name in _KEY)
        ]
        is_single = len(report["groups"]) == 1
        parts = tuple(fold_headings(_group(group, audits), level=3, open_first=is_single))
        groups.append(Section(id=f"group-{index}", title=group_title(group), parts=parts))
    overview = Section(id="overview", title="Overview", parts=tuple(_comparison(report)))
    settings = Fold(_SETTINGS, (_settings(report),))
    origin = Section(id="origin", title="Methods", parts=(_METHODS, settings))
    return page_html([overview, *groups, origin], title="How far the judge can be trusted")


def calibration_parts(report: Json) -> Iterator[Part]:
    """Yield the parts for a larger page: the comparison, then a fold per judge."""
    yield from _comparison(report)
    groups = report["groups"]
    judge_folds = tuple(
        Fold(
            f"{group_title(group)}: {verdict(group)}",
            tuple(fold_headings(_group(group, (), level=4), level=4)),
            open=len(groups) == 1,
        )
        for group in groups
    )
    yield from (
        judge_folds if len(groups) <= _MAX_OPEN else (Fold("Each judge in detail", judge_folds),)
    )
    yield Fold(_SETTINGS, (_METHODS, _settings(report)))


def _comparison(report: Json) -> Iterator[Part]:
    if protocols := report.get("protocols"):
        yield Group(tuple(map(protocol_plot, protocols)), "row")
    yield from protocol_tables(report)
    decisions = decisions_tables(with_juries(report))
    if len(decisions) > _MAX_OPEN:
        is_printed = len(decisions) <= _MAX_PRINTED
        yield Fold("What each judge may be used for, and why", decisions, printed=is_printed)
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
            group = jury_group({"decisions": (), **jury})
            summary = f"{group_title(group)}: {verdict(group)}"
            yield Fold(summary, parts, printed=len(juries) <= _MAX_JURIES_PRINTED)


def _group(group: Json, audits: Groups, *, level: int = 3) -> Iterator[Part]:
    yield Paragraph(sentence(verdict(group)), "strong")
    yield Paragraph(tables.replaceability_note(group))
    yield Heading("Agreement with human labels", level)
    yield Group(tuple(_agreement(group)), "row")
    yield from tables.agreement_tables(group)
    yield from tables.gains_tables(group)
    title = group_title(group)
    ratings = (confusion_plot(group, title), ratings_plot(group, title), systems_plot(group, title))
    yield Heading("Ratings by judge and humans", level)
    yield Group(ratings, "row")
    yield Heading("Reliability before and after calibration", level)
    yield from _reliability(group)
    yield tables.errors_table(group)
    yield from rates_tables({"groups": [group]})
    yield from disagreement_tables({"groups": [group]}, limit=_LISTED, max_length=_LONGEST_REASON)
    yield Heading("Bias", level)
    yield from _bias(group)
    for audit in audits:
        pairs = pluralize(audit["n_pairs"], "pair")
        title = f"Position bias in {pairs} judged in both orders, percent"
        yield Group((position_plot(audit, title), tables.position_table(audit, title)))
        yield position_pairs_plot(audit)
    yield Heading("How many labels you need", level)
    yield from mean_tables({"groups": [group]})
    yield from _label_plan(group)


def _agreement(group: Json) -> Iterator[Part]:
    """Yield a forest plot of Spearman's correlation at each level."""
    marks = {"judge": JUDGE_MARK, tables.HUMAN: HUMAN_MARK}
    for level, label in tables.distinct_levels(group).items():
        human = tables.spearman(group["human"], level)
        title = f"Spearman's correlation with human labels, {label}"
        sources = tables.sources(group).items()
        yield forest(
            [
                row(
                    tables.baseline_name(name),
                    agreement[level]["spearman"],
                    mark=marks.get(name, BASELINE_MARK),
                )
                for name, agreement in sources
                if level in agreement
            ],
            title=title,
            x_label=title,
            span=(-1.0, 1.0),
            band=(human["low"], human["high"]) if human.get("low") is not None else None,
            caption=f"{label.capitalize()}. Square: the judge; diamond: human-human agreement "
            "(dashed lines: its interval); circles: trivial baselines.",
        )


def _reliability(group: Json) -> Iterator[Part]:
    """Yield the reliability diagrams side by side, and the table of their bins."""
    calibration, scale = group["calibration"], group["scales"]["labels"]
    stages = tables.reliability_stages(calibration)
    if not any(stages.values()):
        yield Paragraph("No reliability diagram: too few labelled items.")
        return
    plots = []
    marks = ((BASELINE_MARK, "hollow circles"), (JUDGE_MARK, "filled squares"))
    for (stage, bins), (mark, shape) in zip(stages.items(), marks, strict=True):
        title = f"Reliability, {stage}, {group_title(group)}"
        name = f"{title}: mean human label against the judge's score"
        caption = (
            f"{stage.capitalize()}: {shape}, larger for more items; on the dashed line judge and "
            "humans agree."
        )
        if bins:
            figure = ReliabilityPlot(bins=bins, scale=tuple(scale), name=name, mark=mark)
            plots.append(Plot(figure, caption))
    yield Group(tuple(plots), "row")
    yield tables.reliability_table(calibration)


def _bias(group: Json) -> Iterator[Part]:
    """Yield, for each grouping, the judge's error per group minus that of the rest."""
    fairness = group["fairness"]
    if not fairness["groups"]:
        yield Paragraph("No groups to compare: there is one system and no other grouping.")
    for name, groups in fairness["groups"].items():
        yield forest(
            [
                row(
                    group["group"],
                    group["error_gap"],
                    mark=JUDGE_MARK if group["flagged"] else BASELINE_MARK,
                )
                for group in groups
            ],
            title=f"Error by {name} against the rest",
            x_label="judge's mean error in this group minus that in all others",
            caption=f"By {name}, {fairness['of']}, in units of the labels. Above 0 the judge "
            "scores the group too high. Filled squares: flagged for mean or absolute error, at a "
            "false discovery rate of 5 %; circles: not flagged.",
        )
        yield tables.group_errors_table(name, groups)


def _label_plan(group: Json) -> Iterator[Part]:
    """Yield the label-planning curve with its table, and the labels needed per pair of systems."""
    plan = group["planning"]
    curve = plan["curve"]
    if isinstance(curve, Mapping):
        yield Paragraph(f"No label plan: {undefined_reason(curve)}.")
        return
    yield curves(
        {
            label: [(float(point["n_labels"]), point[field]) for point in curve]
            for field, label in tables.PLANS.items()
        },
        name="Half-width of the interval of a system's mean against the number of labels, "
        + group_title(group),
        x_label="labelled summaries of the system, one per document",
        y_label="half-width",
        logarithmic=True,
        caption="Half-width of a system's mean, in units of the labels, when the judge scores "
        f"{pluralize(plan['n_judged'], 'document')}. Squares, solid: with the judge; circles, "
        "dashed: without it.",
    )
    yield tables.planning_table(curve)
    if plan["to_separate"]:
        separations = tables.separations_table(plan)
        pairs = pluralize(len(separations.rows), "pair")
        yield Fold(f"Labels needed for significant differences of systems: {pairs}", (separations,))


def _settings(report: Json) -> Verbatim:
    origin = {"settings": report["settings"], "signature": report["signature"]}
    return Verbatim(json.dumps(origin, indent=1, ensure_ascii=False), _SETTINGS)
