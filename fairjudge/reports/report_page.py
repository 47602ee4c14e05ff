"""The page of ``fairjudge report``, by section."""

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
from fairjudge.reports.findings import NEXT, leader_sentences, next_step
from fairjudge.reports.judge_sections import (
    bias_parts,
    covered_parts,
    panel_parts,
    statement_parts,
    unscored_parts,
)
from fairjudge.reports.kinds import finding_prefix, make_findings
from fairjudge.reports.leaderboard_table import leaderboard_parts
from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import (
    Codes,
    Fold,
    Heading,
    Paragraph,
    Part,
    Placeholder,
    Section,
    figures_in,
)
from fairjudge.reports.result_sections import CHANGES, PLANS, RANKINGS, STABILITY
from fairjudge.reports.row_tables import SPENT_COLUMNS, spent_row, table
from fairjudge.reports.tables import TextTable

_PRINTED = {"short", "systems", "trust"}
"""Sections that are printed by default."""
_MAX_SENTENCES = 8
"""Maximum number of sentences of the first section; the others are folded."""
_SEPARATE_KINDS = {"calibrate", "audit parse", "judge", "build", "summarize", "study"}
"""Commands whose findings are shown separately, or describe actions instead of results."""


def report_page(content: Content) -> str:
    """Return the page; sections without content are omitted."""
    counts = {
        noun if n == 1 or noun == UNSCORED else f"{noun}s": n
        for noun, n in (content.counts or {}).items()
    }
    return page_html(_sections(content), title=content.title, counts=counts, data=content.browse)


def make_figures(kind: str, report: Json) -> tuple[Drawing, ...]:
    """Return the figures of the JSON of the command `kind`, in the order of the page."""
    content = Content(title="", panels=(Panel(kind=kind, source="", report=report),))
    return tuple(figures_in(part for section in _sections(content) for part in section.parts))


def _sections(content: Content) -> list[Section]:
    parts = {
        ("short", "In short"): _in_short(content),
        ("systems", "Systems"): chain(
            leaderboard_parts(content.leaderboards, content.boards), panel_parts(content, RANKINGS)
        ),
        ("changes", "Before and after"): panel_parts(content, CHANGES),
        ("coverage", "Coverage by question"): _coverage(content),
        ("statements", "Statements and the articles"): statement_parts(content),
        ("sentences", "Sentences and their sources"): _sentences(content),
        ("sway", "Biases of the judge"): chain(
            bias_parts(content), panel_parts(content, STABILITY)
        ),
        ("trust", "Trust in the judge"): _trust(content),
        ("differ", "Largest disagreements of judge and humans"): _disagreements(content),
        ("fairness", "Fairness to groups of sources"): panel_parts(content, FAIRNESS),
        ("bias", "Demographic bias"): panel_parts(content, BIAS),
        ("unscored", "Without a score"): unscored_parts(content),
        ("judgements", "All judgements"): _judgements(content),
        ("origin", "Runs and settings"): _origin(content),
    }
    # With leaderboards only the main sections are printed; the others are listed.
    printed_ids = _PRINTED if content.leaderboards else {id_ for id_, _ in parts}
    sections = [
        Section(id=id_, title=title, parts=tuple(part), printed=id_ in printed_ids)
        for (id_, title), part in parts.items()
    ]
    return [section for section in sections if section.parts]


def _in_short(content: Content) -> Iterator[Part]:
    """Yield the summary: leaders, trust in the judge, significant findings and the next step.

    Other sections repeat each sentence with its evidence.
    """
    sentences = [" ".join(leader_sentences(board)) for board in content.boards]
    sentences += [
        f"{group_title(group)}, against humans: {verdict(group)}."
        for panel in content.of_kind("calibrate")
        for group in with_juries(panel.report)
    ]
    for panel in content.panels:
        if panel.kind not in _SEPARATE_KINDS:
            prefix = finding_prefix(panel.kind)
            sentences += [
                f"{prefix}: {finding}" if prefix else finding
                for finding in make_findings(panel.kind, panel.report)
                if not finding.startswith(NEXT)
            ]
    sentences = list(dict.fromkeys(sentences))
    yield from map(Paragraph, sentences[:_MAX_SENTENCES])
    if hidden_sentences := sentences[_MAX_SENTENCES:]:
        yield Fold(
            f"{len(hidden_sentences)} more", tuple(map(Paragraph, hidden_sentences)), printed=True
        )
    if content.boards and content.boards[0].n_items:
        yield Paragraph(next_step(content.boards[0]))


def _coverage(content: Content) -> Iterator[Part]:
    yield from covered_parts(content)
    clusters = (content.browse or {}).get("clusters", {})
    if any(cluster["questions"] for cluster in clusters.values()):
        yield Heading("Answers and their sources")
        yield Placeholder("questions", "Going through questions")


def _sentences(content: Content) -> Iterator[Part]:
    if (content.browse or {}).get("sentences"):
        yield Paragraph(
            "Each sentence of a summary, its judgement if single sentences were judged, and the "
            "passage of the articles with the most words in common. The passage is found by word "
            "overlap only; the judge may have used others.",
            "note",
        )
        yield Placeholder("passages", "Going through sentences")


def _trust(content: Content) -> Iterator[Part]:
    for panel in content.of_kind("calibrate"):
        yield from calibration_parts(panel.report)
    yield from panel_parts(content, PLANS)


def _disagreements(content: Content) -> Iterator[Part]:
    if (content.browse or {}).get("disagreements"):
        yield Placeholder("disagreements", "Going through disagreements")


def _judgements(content: Content) -> Iterator[Part]:
    if content.counts is not None:
        yield Placeholder("explorer", "Looking through judgements")


def _origin(content: Content) -> Iterator[Part]:
    yield table(
        "Files and folders",
        "name: {name} | kind: {kind} | records> {n:number.0} | written: {modified} | note: {note}",
        map(asdict, content.sources),
    )
    if content.signatures:
        yield _signatures(content)
        full_signatures = Codes(tuple(content.signatures))
        yield Fold(f"Whole signatures: {len(content.signatures)}", (full_signatures,))
    if content.costs:
        yield table(
            "Calls of models",
            f"from: {{source}} | when: {{when}} | {SPENT_COLUMNS}",
            [
                spent_row(asdict(cost), source=cost.source, when=cost.when or "-")
                for cost in content.costs
            ],
        )
    for run in content.runs:
        arguments = table(
            f"Started {run.began}, last written {run.ended or 'never'}",
            "argument: {name} | value: {value}",
            [{"name": name, "value": value} for name, value in run.arguments.items()],
        )
        yield Fold(f"Run of {run.command}: {run.name}", (arguments,))
    yield from (Paragraph(note, "note") for note in content.notes)


def _signatures(content: Content) -> TextTable:
    """Return one row per signature, split into its fields."""
    parts = [
        {name: value for name, _, value in (part.partition(":") for part in signature.split("|"))}
        for signature in content.signatures
    ]
    names = ("judge", "prompt", "scale", "scorer", "encoder", "temperature", "version")
    headers = [header for header in names if any(header in part for part in parts)]
    return table(
        "Judges, models and prompts",
        "".join(f"{header}: {{{header}}} | " for header in headers) + "judgements> {n}",
        [
            {**dict.fromkeys(headers, "-"), **part, "n": n}
            for part, n in zip(parts, content.signatures.values(), strict=True)
        ],
    )
