"""The page of ``fairjudge report``: sections of finished numbers, in the order of a reader."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.bias_sections import bias_parts
from fairjudge.reports.calibration_page import calibration_parts
from fairjudge.reports.content import Content
from fairjudge.reports.document import Section, document, needs_script
from fairjudge.reports.fairness_sections import fairness_parts
from fairjudge.reports.judge_sections import covered_parts, sway_parts, unscored_parts
from fairjudge.reports.leaderboard_section import leaderboard_parts
from fairjudge.reports.markup import Markup, element, join
from fairjudge.reports.origin_section import origin_parts


def report_page(content: Content) -> str:
    """Return the page; sections without content are left out."""
    return document(
        [section for section in _sections(content) if section.parts],
        title=content.title,
        lead=_lead(content),
        data=content.browse,
    )


def _sections(content: Content) -> Iterator[Section]:
    yield Section(
        id="systems", title="Systems", parts=tuple(leaderboard_parts(content.leaderboards))
    )
    yield Section(id="coverage", title="Coverage by question", parts=tuple(_coverage(content)))
    yield Section(
        id="sentences", title="Sentences and their sources", parts=tuple(_sentences(content))
    )
    yield Section(id="sway", title="What sways the judge", parts=tuple(sway_parts(content)))
    yield Section(id="trust", title="Trust in the judge", parts=tuple(_trust(content)))
    yield Section(
        id="fairness", title="Fairness to groups of sources", parts=tuple(fairness_parts(content))
    )
    yield Section(id="bias", title="Demographic bias", parts=tuple(bias_parts(content)))
    yield Section(id="unscored", title="Without a score", parts=tuple(unscored_parts(content)))
    yield Section(id="judgements", title="All judgements", parts=tuple(_judgements(content)))
    yield Section(id="origin", title="What was run", parts=tuple(origin_parts(content)))


def _lead(content: Content) -> Markup:
    counts = content.counts
    if counts is None:
        return join()
    figures = {
        "judgement": counts.n_judgements,
        "system": counts.n_systems,
        "cluster": counts.n_clusters,
        "judge": counts.n_judges,
    }
    named = {name if n == 1 else f"{name}s": n for name, n in figures.items()}
    pairs = [
        element("div", element("dt", name), element("dd", f"{n:,}"))
        for name, n in {**named, "without a score": counts.n_unscored}.items()
    ]
    return element("dl", *pairs, class_="counts")


def _coverage(content: Content) -> Iterator[Markup]:
    yield from covered_parts(content)
    clusters = (content.browse or {}).get("clusters", {})
    if any(cluster["questions"] for cluster in clusters.values()):
        yield element("h3", "Answers and who gave them")
        yield element("div", needs_script("Going through questions"), id="questions")


def _sentences(content: Content) -> Iterator[Markup]:
    if not (content.browse or {}).get("sentences"):
        return
    yield element(
        "p",
        "Each sentence of a summary, what the judge said of it where it judged single sentences, "
        "and the passage of the articles that shares its words. The passage is a place to look, "
        "found by shared words alone; it is not what the judge saw.",
        class_="note",
    )
    yield element("div", needs_script("Going through sentences"), id="passages")


def _trust(content: Content) -> Iterator[Markup]:
    for panel in content.of_kind("calibrate"):
        yield from calibration_parts(panel.report)


def _judgements(content: Content) -> Iterator[Markup]:
    if content.counts is not None:
        yield element("div", needs_script("Looking through judgements"), id="explorer")
