"""Plots of the results of ``bias`` commands, beside their tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fairjudge.bias.entity_analysis import ENTITIES
from fairjudge.bias.measures import BiasMeasure
from fairjudge.bias.representation import DISTINGUISHABILITY
from fairjudge.bias.word_lists import WORDS
from fairjudge.reports import bias_tables
from fairjudge.reports.drawing import OTHER, PLAIN
from fairjudge.reports.figures import Json, forest, plotted, protocol_of, row
from fairjudge.reports.judge_sections import Show, Shows
from fairjudge.reports.parts import Fold, Group, Paragraph, Part, Plot, notes
from fairjudge.reports.plots import ForestRow
from fairjudge.reports.row_tables import rows_within
from fairjudge.stats.measures import Measure

_MAX_WORDS = 25
"""Words of each group that a report shows; the JSON has all."""


def _with_settings(show: Show, report: Json) -> Iterator[Part]:
    """Yield what `show` does, then the report's notes and its signature."""
    yield from show(report)
    yield from notes(report.get("notes", ()))
    if signature := report.get("signature"):
        yield Paragraph("Settings (for reproducibility): ", "note", signature)


def _word_lists(report: Json) -> Iterator[Part]:
    *scores, shares = bias_tables.words_tables(report)
    for measure, scored in zip(bias_tables.measures_of(report, WORDS), scores, strict=True):
        yield plotted(scored, _by_system(report, measure), _axis(measure))
    rows = [
        row(f"{word['system']}, {word['group']}", word["difference"])
        for word in rows_within(report["systems"], "system", "by_group", "group")
    ]
    yield plotted(shares, rows, "share of the words in summaries minus that in the reference")


def _by_system(report: Json, measure: Measure) -> list[ForestRow]:
    return [row(system, figures.get(measure.key)) for system, figures in report["systems"].items()]


def _axis(measure: BiasMeasure[Any]) -> str:
    return measure.axis_label or measure.label


def _entities(report: Json) -> Iterator[Part]:
    tables = bias_tables.entities_tables(report)
    for measure, scored in zip(bias_tables.measures_of(report, ENTITIES), tables, strict=False):
        # Most systems make up no person: an empty plot is left out.
        if measure.key == "hallucination":
            yield scored
            continue
        yield plotted(scored, _by_system(report, measure), _axis(measure))
        if measure.key == "inclusion":
            yield _inclusion_by_group(report)
    yield from tables


def _inclusion_by_group(report: Json) -> Plot:
    title = "Probability that a person of the group is named"
    return forest(
        [
            row(f"{system}, {group}", figures["by_group"].get(group))
            for system, figures in report["systems"].items()
            for group in report["groups"]
        ],
        title=title,
        across=title,
        span=(0.0, 1.0),
    )


def _distinguishability(report: Json) -> Iterator[Part]:
    measures = bias_tables.measures_of(report, DISTINGUISHABILITY)
    tables = bias_tables.distinguishability_tables(report)
    marks = {"counts": OTHER, "dense": PLAIN}
    caption = "Circles: counts of words; squares: sentence embeddings."
    for measure, scored in zip(measures, tables, strict=False):
        rows = [
            row(
                f"{of['system']}, {of['vectors']}",
                bias_tables.figure_of(of["score"], measure),
                mark=marks[of["vectors"]],
            )
            for of in bias_tables.representations(report)
        ]
        yield plotted(scored, rows, _axis(measure), caption=caption)
    yield from tables


def _inputs(report: Json) -> Iterator[Part]:
    summary, *words = bias_tables.inputs_tables(report, limit=_MAX_WORDS)
    yield summary
    for table in words:
        yield Fold(table.title, (table,))


def _quality(report: Json) -> Iterator[Part]:
    means, differences = bias_tables.quality_tables(report)
    groups = {
        f"{group['system']}, {group['aspect']}, {protocol_of(group)}, by {group['judge']}": group
        for group in report["groups"]
    }
    of_means, of_differences = [], []
    for name, group in groups.items():
        rows = [row(inputs, mean) for inputs, mean in group["quality"]["by_group"].items()]
        of_means.append(forest(rows, title=f"{means.title}, {name}", across=f"{name}: mean score"))
        rows = [
            row(f"{pair['group']} minus {pair['other']}", pair["difference"])
            for pair in group["quality"]["differences"]
        ]
        title, across = f"{differences.title}, {name}", f"{name}: difference of scores"
        of_differences.append(forest(rows, title=title, across=across))
    for plots, table in ((of_means, means), (of_differences, differences)):
        yield Group(tuple(plots), "row")
        yield table


_BIAS: Shows = {
    "bias words": ("Words of groups", _word_lists),
    "bias entities": ("People named", _entities),
    "bias distinguishability": ("Can the group be predicted from the summary", _distinguishability),
    "bias inputs": ("Bias in the sources", _inputs),
    "bias quality": ("Quality by group of inputs", _quality),
}
BIAS: Shows = {
    kind: (title, partial(_with_settings, show)) for kind, (title, show) in _BIAS.items()
}
"""What the JSON of each command shows."""
