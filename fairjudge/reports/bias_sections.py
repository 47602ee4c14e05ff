"""Plots of what the ``bias`` commands found, beside their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports import bias_tables
from fairjudge.reports.content import Content
from fairjudge.reports.figures import OTHER, PLAIN, Json, forest, plotted, row
from fairjudge.reports.judge_sections import Show, panel_parts
from fairjudge.reports.parts import Fold, Paragraph, Part, notes
from fairjudge.reports.plots import ForestRow
from fairjudge.reports.row_tables import rows_within

_MAX_WORDS = 25
"""Words of each group that a report shows; the JSON has all."""


def bias_parts(content: Content) -> Iterator[Part]:
    """Yield every bias report that was given."""
    for panel in content.of_kind(*_REPORTS):
        yield from panel_parts(panel, *_REPORTS[panel.kind])
        yield from notes(panel.report["notes"])
        yield Paragraph("Signature: ", "note", panel.report["signature"])


def _words(report: Json) -> Iterator[Part]:
    scores, shares = bias_tables.words_tables(report)
    across = "distance of the distributions; 0 is unbiased"
    yield plotted(scores, _by_system(report, "inclusion"), across)
    rows = [
        row(f"{one['system']}, {one['group']}", one["difference"])
        for one in rows_within(report["systems"], "system", "by_group", "group")
    ]
    across = "share of the words in summaries less that in the reference"
    yield plotted(shares, rows, across)


def _by_system(report: Json, score: str) -> list[ForestRow]:
    return [row(system, found[score]) for system, found in report["systems"].items()]


def _entities(report: Json) -> Iterator[Part]:
    inclusion, hallucination = bias_tables.entities_tables(report)
    across = "largest odds ratio less 1; 0 is unbiased"
    yield plotted(inclusion, _by_system(report, "inclusion"), across)
    title = "Probability that a person of the group is named"
    yield forest(
        [
            row(f"{system}, {group}", found["by_group"].get(group))
            for system, found in report["systems"].items()
            for group in report["groups"]
        ],
        title=title,
        across=title,
        span=(0.0, 1.0),
    )
    yield hallucination


def _distinguishability(report: Json) -> Iterator[Part]:
    (table,) = bias_tables.distinguishability_tables(report)
    rows = [
        row(f"{system}, {name}", found[name], mark=mark)
        for system, found in report["systems"].items()
        for name, mark in (("counts", OTHER), ("dense", PLAIN))
        if found[name] is not None
    ]
    caption = "Circles: counts of words; squares: sentence embeddings."
    yield plotted(table, rows, "0 is chance, 1 always right", caption=caption)


def _inputs(report: Json) -> Iterator[Part]:
    summary, *words = bias_tables.inputs_tables(report, limit=_MAX_WORDS)
    yield summary
    for table in words:
        yield Fold(table.title, (table,))


_REPORTS: Mapping[str, tuple[str, Show]] = {
    "bias words": ("Words of groups", _words),
    "bias entities": ("People named", _entities),
    "bias distinguishability": ("Can the group be told from the summary", _distinguishability),
    "bias inputs": ("What the sources say already", _inputs),
}
