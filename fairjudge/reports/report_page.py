"""The page of ``fairjudge report``: sections of finished numbers, in the order of a reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain

from fairjudge.reports.bias_sections import BIAS
from fairjudge.reports.calibration_page import calibration_parts
from fairjudge.reports.content import UNSCORED, Content, Panel
from fairjudge.reports.decision_tables import group_title, verdict, with_juries
from fairjudge.reports.drawing import Drawing
from fairjudge.reports.fairness_sections import FAIRNESS
from fairjudge.reports.figures import Json
from fairjudge.reports.findings import NEXT, next_step, standing
from fairjudge.reports.judge_sections import (
    covered_parts,
    panels_of,
    statement_parts,
    sway_parts,
    unscored_parts,
)
from fairjudge.reports.kinds import findings_of, name_of
from fairjudge.reports.leaderboard_table import leaderboard_parts
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import (
    Codes,
    Fold,
    Heading,
    Paragraph,
    Part,
    Place,
    Section,
    figures_in,
)
from fairjudge.reports.result_sections import CHANGES, PLANS, RANKINGS, STABILITY
from fairjudge.reports.row_tables import SPENT_COLUMNS, spent_row, table
from fairjudge.reports.tables import TextTable

_PRINTED = {"short", "systems", "trust"}
"""Sections that paper has."""
_MAX_SENTENCES = 8
"""Sentences of the first section; the others are folded."""
_ELSEWHERE = {"calibrate", "audit parse", "judge", "build", "summarize", "study"}
"""Commands whose findings come first, or say what was done and not what was found."""


def report_page(content: Content) -> str:
    """Return the page; sections without content are left out."""
    counts = {
        noun if n == 1 or noun == UNSCORED else f"{noun}s": n
        for noun, n in (content.counts or {}).items()
    }
    return page_html(_sections(content), title=content.title, counts=counts, data=content.browse)


def figures_of(kind: str, report: Json) -> tuple[Drawing, ...]:
    """Return the figures of the JSON of the command `kind`, in the order of the page."""
    content = Content(title="", panels=(Panel(kind=kind, source="", report=report),))
    return tuple(figures_in(part for section in _sections(content) for part in section.parts))


def _sections(content: Content) -> list[Section]:
    parts = {
        ("short", "In short"): _in_short(content),
        ("systems", "Systems"): chain(
            leaderboard_parts(content.leaderboards, content.boards), panels_of(content, RANKINGS)
        ),
        ("changes", "Before and after"): panels_of(content, CHANGES),
        ("coverage", "Coverage by question"): _coverage(content),
        ("statements", "Statements and the articles"): statement_parts(content),
        ("sentences", "Sentences and their sources"): _sentences(content),
        ("sway", "Biases of the judge"): chain(sway_parts(content), panels_of(content, STABILITY)),
        ("trust", "Trust in the judge"): _trust(content),
        ("differ", "Where judge and people differ most"): _disagreements(content),
        ("fairness", "Fairness to groups of sources"): panels_of(content, FAIRNESS),
        ("bias", "Demographic bias"): panels_of(content, BIAS),
        ("unscored", "Without a score"): unscored_parts(content),
        ("judgements", "All judgements"): _judgements(content),
        ("origin", "Runs and settings"): _origin(content),
    }
    # Where systems are ranked, paper has what a reader takes to a meeting, and names the rest.
    brief = _PRINTED if content.leaderboards else {id_ for id_, _ in parts}
    sections = [
        Section(id=id_, title=title, parts=tuple(part), printed=id_ in brief)
        for (id_, title), part in parts.items()
    ]
    return [section for section in sections if section.parts]


def _in_short(content: Content) -> Iterator[Part]:
    """Yield the summary: leaders, trust in the judge, significant findings, next steps.

    Each sentence stands again beside its figures, with what it rests on.
    """
    sentences = [" ".join(standing(board)) for board in content.boards]
    sentences += [
        f"{group_title(group)}, against people: {verdict(group)}."
        for panel in content.of_kind("calibrate")
        for group in with_juries(panel.report)
    ]
    for panel in content.panels:
        if panel.kind not in _ELSEWHERE:
            name = name_of(panel.kind)
            sentences += [
                f"{name}: {finding}" if name else finding
                for finding in findings_of(panel.kind, panel.report)
                if not finding.startswith(NEXT)
            ]
    sentences = list(dict.fromkeys(sentences))
    yield from map(Paragraph, sentences[:_MAX_SENTENCES])
    if more := sentences[_MAX_SENTENCES:]:
        yield Fold(f"{len(more)} more", tuple(map(Paragraph, more)), printed=True)
    if content.boards and content.boards[0].n_items:
        yield Paragraph(next_step(content.boards[0]))


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
    yield from panels_of(content, PLANS)


def _disagreements(content: Content) -> Iterator[Part]:
    if (content.browse or {}).get("disagreements"):
        yield Place("disagreements", "Going through disagreements")


def _judgements(content: Content) -> Iterator[Part]:
    if content.counts is not None:
        yield Place("explorer", "Looking through judgements")


def _origin(content: Content) -> Iterator[Part]:
    yield table(
        "Files and folders",
        "name: {name} | what it is: {kind} | records> {n:number.0} | written: {modified}"
        " | note: {note}",
        map(asdict, content.sources),
    )
    if content.signatures:
        yield _signatures(content)
        whole = Codes(tuple(content.signatures))
        yield Fold(f"Whole signatures: {len(content.signatures)}", (whole,))
    if content.costs:
        yield table(
            "What models were asked",
            f"from: {{source}} | when: {{when}} | {SPENT_COLUMNS}",
            [
                spent_row(asdict(cost), source=cost.source, when=cost.when or "-")
                for cost in content.costs
            ],
        )
    for run in content.runs:
        arguments = table(
            f"Begun {run.began}, last written {run.ended or 'never'}",
            "argument: {name} | value: {value}",
            [{"name": name, "value": value} for name, value in run.arguments.items()],
        )
        yield Fold(f"Run of {run.command}: {run.name}", (arguments,))
    yield from (Paragraph(note, "note") for note in content.notes)


def _signatures(content: Content) -> TextTable:
    """Return a row for each signature, split into its fields."""
    parts = [
        {name: value for name, _, value in (part.partition(":") for part in signature.split("|"))}
        for signature in content.signatures
    ]
    names = ("judge", "prompt", "scale", "scorer", "encoder", "temperature", "version")
    heads = [head for head in names if any(head in part for part in parts)]
    return table(
        "Judges, models and prompts",
        "".join(f"{head}: {{{head}}} | " for head in heads) + "judgements> {n}",
        [
            {**dict.fromkeys(heads, "-"), **part, "n": n}
            for part, n in zip(parts, content.signatures.values(), strict=True)
        ],
    )
