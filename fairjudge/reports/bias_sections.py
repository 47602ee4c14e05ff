"""Plots of what the ``bias`` commands found, beside their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairjudge.reports import bias_tables
from fairjudge.reports.content import Content
from fairjudge.reports.figures import OTHER, PLAIN, Json, forest, row
from fairjudge.reports.judge_sections import findings_part
from fairjudge.reports.parts import Fold, Heading, Paragraph, Part, beside, notes

_MAX_WORDS = 25
"""Words of each group that a report shows; the JSON has all."""


def bias_parts(content: Content) -> Iterator[Part]:
    """Yield every bias report that was given."""
    for panel in content.panels:
        if panel.kind in _REPORTS:
            title, show = _REPORTS[panel.kind]
            yield Heading(title)
            yield Paragraph(f"From {panel.source}.", "note")
            yield from findings_part(panel)
            yield from show(panel.report)
            yield from notes(panel.report["notes"])
            yield Paragraph("Signature: ", "note", panel.report["signature"])


def _words(report: Json) -> Iterator[Part]:
    scores, shares = bias_tables.words_tables(report)
    systems = report["systems"]
    across = "distance of the distributions; 0 is unbiased"
    rows = [row(system, found["inclusion"]) for system, found in systems.items()]
    yield beside(forest(rows, title=scores.title, across=across), scores)
    rows = [
        row(f"{system}, {group}", share["difference"])
        for system, found in systems.items()
        for group, share in found["by_group"].items()
    ]
    across = "share of the words in summaries less that in the reference"
    yield beside(forest(rows, title=shares.title, across=across), shares)


def _entities(report: Json) -> Iterator[Part]:
    inclusion, hallucination = bias_tables.entities_tables(report)
    systems = report["systems"]
    across = "largest odds ratio less 1; 0 is unbiased"
    rows = [row(system, found["inclusion"]) for system, found in systems.items()]
    yield beside(forest(rows, title=inclusion.title, across=across), inclusion)
    title = "Probability that a person of the group is named"
    yield forest(
        [
            row(f"{system}, {group}", found["by_group"].get(group))
            for system, found in systems.items()
            for group in report["groups"]
        ],
        title=title,
        across=title,
        span=(0.0, 1.0),
    )
    yield hallucination


def _distinguishability(report: Json) -> Iterator[Part]:
    rows = [
        row(f"{system}, {name}", found[name], mark=mark)
        for system, found in report["systems"].items()
        for name, mark in (("counts", OTHER), ("dense", PLAIN))
        if found[name] is not None
    ]
    plot = forest(
        rows,
        title="Distinguishability",
        across="0 is chance, 1 always right",
        caption="Circles: counts of words; squares: sentence embeddings.",
    )
    yield beside(plot, *bias_tables.distinguishability_tables(report))


def _inputs(report: Json) -> Iterator[Part]:
    summary, *words = bias_tables.inputs_tables(report, limit=_MAX_WORDS)
    yield summary
    for table in words:
        yield Fold(table.title, (table,))


_REPORTS: Mapping[str, tuple[str, Callable[[Json], Iterator[Part]]]] = {
    "bias words": ("Words of groups", _words),
    "bias entities": ("People named", _entities),
    "bias distinguishability": ("Can the group be told from the summary", _distinguishability),
    "bias inputs": ("What the sources say already", _inputs),
}
