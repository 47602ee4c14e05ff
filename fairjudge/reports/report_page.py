"""The page of ``fairjudge report``: sections of finished numbers, in the order of a reader."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.bias_sections import bias_parts
from fairjudge.reports.calibration_page import calibration_parts
from fairjudge.reports.calibration_tables import group_title, verdict
from fairjudge.reports.content import Content, Counts
from fairjudge.reports.fairness_sections import fairness_parts
from fairjudge.reports.findings import next_step, of_leaderboard, standing
from fairjudge.reports.judge_sections import covered_parts, sway_parts, unscored_parts
from fairjudge.reports.leaderboard_section import leaderboard_parts
from fairjudge.reports.measured_findings import findings_of
from fairjudge.reports.origin_section import origin_parts
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Heading, Paragraph, Part, Place, Section

_MAX_SAID = 4
"""Leaderboards, and judges beside people, of which the first section speaks."""
_SAID_FIRST = {
    "audit position",
    "audit verbosity",
    "audit length",
    "audit checks",
    "fairness coverage",
    "fairness proportional",
}


def report_page(content: Content) -> str:
    """Return the page; sections without content are left out."""
    parts = {
        ("short", "In short"): _in_short(content),
        ("systems", "Systems"): leaderboard_parts(content.leaderboards),
        ("coverage", "Coverage by question"): _coverage(content),
        ("sentences", "Sentences and their sources"): _sentences(content),
        ("sway", "What sways the judge"): sway_parts(content),
        ("trust", "Trust in the judge"): _trust(content),
        ("fairness", "Fairness to groups of sources"): fairness_parts(content),
        ("bias", "Demographic bias"): bias_parts(content),
        ("unscored", "Without a score"): unscored_parts(content),
        ("judgements", "All judgements"): _judgements(content),
        ("origin", "What was run"): origin_parts(content),
    }
    sections = [
        Section(id=id_, title=title, parts=tuple(found)) for (id_, title), found in parts.items()
    ]
    return page_html(
        [section for section in sections if section.parts],
        title=content.title,
        counts=_counts(content.counts),
        data=content.browse,
    )


def _in_short(content: Content) -> Iterator[Part]:
    """Yield who leads, how far the judge can be trusted, what was found beyond chance, what next.

    Each sentence stands again beside its figures, with what it rests on.
    """
    boards = [of_leaderboard(board) for board in content.leaderboards[:_MAX_SAID]]
    said = [text for board in boards for text in standing(board)]
    for panel in content.panels:
        if panel.kind == "calibrate":
            groups = panel.report["groups"][:_MAX_SAID]
            said += [f"{group_title(one)}, against people: {verdict(one)}." for one in groups]
        elif panel.kind in _SAID_FIRST:
            said += findings_of(panel.kind, panel.report)[:1]
    said += [next_step(boards[0])] if boards else []
    yield from map(Paragraph, dict.fromkeys(said))


def _counts(counts: Counts | None) -> dict[str, int]:
    if counts is None:
        return {}
    figures = {
        "judgement": counts.n_judgements,
        "system": counts.n_systems,
        "cluster": counts.n_clusters,
        "judge": counts.n_judges,
    }
    named = {name if n == 1 else f"{name}s": n for name, n in figures.items()}
    return {**named, "without a score": counts.n_unscored}


def _coverage(content: Content) -> Iterator[Part]:
    yield from covered_parts(content)
    clusters = (content.browse or {}).get("clusters", {})
    if any(cluster["questions"] for cluster in clusters.values()):
        yield Heading("Answers and who gave them")
        yield Place("questions", "Going through questions")


def _sentences(content: Content) -> Iterator[Part]:
    if (content.browse or {}).get("sentences"):
        yield Paragraph(
            "Each sentence of a summary, what the judge said of it where it judged single "
            "sentences, and the passage of the articles that shares its words. The passage is a "
            "place to look, found by shared words alone; it is not what the judge saw.",
            "note",
        )
        yield Place("passages", "Going through sentences")


def _trust(content: Content) -> Iterator[Part]:
    for panel in content.of_kind("calibrate"):
        yield from calibration_parts(panel.report)
    if (content.browse or {}).get("disagreements"):
        yield Heading("Where judge and people differ most")
        yield Place("disagreements", "Going through disagreements")


def _judgements(content: Content) -> Iterator[Part]:
    if content.counts is not None:
        yield Place("explorer", "Looking through judgements")
