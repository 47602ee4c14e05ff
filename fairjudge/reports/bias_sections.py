"""Page parts of ``bias`` commands: plots of the results, and their tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fairjudge.bias.entity_analysis import ENTITIES
from fairjudge.bias.measures import BiasMeasure
from fairjudge.bias.representation import DISTINGUISHABILITY
from fairjudge.bias.word_lists import WORDS
from fairjudge.reports import bias_tables
from fairjudge.reports.drawing import BASELINE_MARK, JUDGE_MARK
from fairjudge.reports.figures import Json, forest, plot_with_table, protocol_in_words, row
from fairjudge.reports.judge_sections import PanelMakers, PartsMaker
from fairjudge.reports.parts import Fold, Group, Paragraph, Part, Plot, notes
from fairjudge.reports.plots import ForestRow
from fairjudge.reports.row_tables import nested_rows
from fairjudge.stats.measures import Measure

_MAX_WORDS = 25
"""Maximum number of words of a group on a page; the JSON has all."""


def _with_settings(make_parts: PartsMaker, report: Json) -> Iterator[Part]:
    """Yield the parts made by `show`, then the report's notes and its signature."""
    yield from make_parts(report)
    yield from notes(report.get("notes", ()))
    if signature := report.get("signature"):
        yield Paragraph("Settings (for reproducibility): ", "note", signature)


def _word_lists(report: Json) -> Iterator[Part]:
    *score_tables, share_table = bias_tables.words_tables(report)
    for measure, score_table in zip(
        bias_tables.table_measures(report, WORDS), score_tables, strict=True
    ):
        yield plot_with_table(score_table, _by_system(report, measure), _axis_label(measure))
    rows = [
        row(f"{word['system']}, {word['group']}", word["difference"])
        for word in nested_rows(report["systems"], "system", "by_group", "group")
    ]
    yield plot_with_table(
        share_table, rows, "share of the words in summaries minus that in the reference"
    )


def _by_system(report: Json, measure: Measure) -> list[ForestRow]:
    return [row(system, figures.get(measure.key)) for system, figures in report["systems"].items()]


def _axis_label(measure: BiasMeasure[Any]) -> str:
    return measure.axis_label or measure.label


def _entities(report: Json) -> Iterator[Part]:
    tables = bias_tables.entities_tables(report)
    for measure, score_table in zip(
        bias_tables.table_measures(report, ENTITIES), tables, strict=False
    ):
        # Most systems hallucinate no person, and the plot would be empty.
        if measure.key == "hallucination":
            yield score_table
            continue
        yield plot_with_table(score_table, _by_system(report, measure), _axis_label(measure))
        if measure.key == "inclusion":
            yield _inclusion_by_group(report)
    yield from tables


def _inclusion_by_group(report: Json) -> Plot:
    title = "Probability that a person of the group is mentioned"
    return forest(
        [
            row(f"{system}, {group}", figures["by_group"].get(group))
            for system, figures in report["systems"].items()
            for group in report["groups"]
        ],
        title=title,
        x_label=title,
        span=(0.0, 1.0),
    )


def _distinguishability(report: Json) -> Iterator[Part]:
    measures = bias_tables.table_measures(report, DISTINGUISHABILITY)
    tables = bias_tables.distinguishability_tables(report)
    marks = {"counts": BASELINE_MARK, "dense": JUDGE_MARK}
    caption = "Circles: counts of words; squares: sentence embeddings."
    for measure, score_table in zip(measures, tables, strict=False):
        rows = [
            row(
                f"{representation['system']}, {representation['vectors']}",
                bias_tables.representation_measure(representation["score"], measure),
                mark=marks[representation["vectors"]],
            )
            for representation in bias_tables.representations(report)
        ]
        yield plot_with_table(score_table, rows, _axis_label(measure), caption=caption)
    yield from tables


def _inputs(report: Json) -> Iterator[Part]:
    summary, *words = bias_tables.inputs_tables(report, limit=_MAX_WORDS)
    yield summary
    for table in words:
        yield Fold(table.title, (table,))


def _quality(report: Json) -> Iterator[Part]:
    means, differences = bias_tables.quality_tables(report)
    groups = {
        ", ".join(
            (group["system"], group["aspect"], protocol_in_words(group), f"by {group['judge']}")
        ): group
        for group in report["groups"]
    }
    mean_plots, difference_plots = [], []
    for name, group in groups.items():
        rows = [row(inputs, mean) for inputs, mean in group["quality"]["by_group"].items()]
        mean_plots.append(
            forest(rows, title=f"{means.title}, {name}", x_label=f"{name}: mean score")
        )
        rows = [
            row(f"{pair['group']} minus {pair['other']}", pair["difference"])
            for pair in group["quality"]["differences"]
        ]
        title, x_label = f"{differences.title}, {name}", f"{name}: difference of scores"
        difference_plots.append(forest(rows, title=title, x_label=x_label))
    for plots, table in ((mean_plots, means), (difference_plots, differences)):
        yield Group(tuple(plots), "row")
        yield table


_BIAS: PanelMakers = {
    "bias words": ("Words of groups", _word_lists),
    "bias entities": ("People named", _entities),
    "bias distinguishability": ("Can the group be predicted from the summary", _distinguishability),
    "bias inputs": ("Bias in the sources", _inputs),
    "bias quality": ("Quality by group of inputs", _quality),
}
BIAS: PanelMakers = {
    kind: (title, partial(_with_settings, make_parts))
    for kind, (title, make_parts) in _BIAS.items()
}
"""By command, the title of its panel and the function that makes its parts from the JSON."""
