"""Tables of the bias commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.app.bias import MadeInputs
from fairjudge.bias.analysis import InputReport, WordReport
from fairjudge.bias.distinguishability_analysis import DistinguishabilityReport
from fairjudge.bias.entity_analysis import EntityReport, SystemEntities
from fairjudge.bias.reporting import Excluded, excluded_json
from fairjudge.bias.resampling import TwoWay
from fairjudge.cli.display import write_json
from fairjudge.domain import Estimate, Undefined
from fairjudge.reports.tables import TextTable, columns, number, print_table

_SHOWN_NAMES = 10
_INTERVALS = "d: 95% bootstrap interval over original documents"
_BOTH = f"{_INTERVALS}; s: over assignments within them."


def show(tables: Sequence[TextTable], value: Mapping[str, Any], json_file: str | None) -> None:
    """Print the tables, unless the JSON goes to standard output, and write the JSON."""
    if json_file != "-":
        for table in tables:
            print_table(table)
    write_json(json_file, value)


def words(report: WordReport) -> list[TextTable]:
    """Return the scores of all systems, and each group's shares."""
    scores, shares, notes = [], [], list(report.notes)
    for system, found in report.systems.items():
        main = found.source if report.reference == "source" else found.uniform
        other = found.uniform if report.reference == "source" else found.source
        scores.append((system, *_cells(main.score), _value(other.score), str(found.n)))
        notes += _left_out(system, found.excluded) + _why(system, "score", main.score)
        for group, share in main.by_group.items():
            value, d, _ = _cells(share.difference)
            counts = (str(share.n_summary), _percent(share.summary), _percent(share.reference))
            p_value = number(share.p_holm, digits=3)
            shares.append((system, group, *counts, value, d, p_value))
    other_name = "uniform" if report.reference == "source" else "source"
    return [
        _table(
            f"Word-list inclusion against the {report.reference}",
            ("system",),
            ("score", "d", "s", f"vs {other_name}", "summaries"),
            scores,
            [
                "Score: distance of the distributions of identifiers, 0 (unbiased) to 1.",
                _BOTH,
                *notes,
            ],
        ),
        _table(
            "Shares of identifiers",
            ("system", "group"),
            ("n", "summaries %", "reference %", "difference", "d", "p"),
            shares,
            ["p: of no difference, corrected over groups (Holm)."],
        ),
    ]


def entities(report: EntityReport) -> list[TextTable]:
    """Return inclusion and hallucination of all systems."""
    inclusion, made_up, notes, more = [], [], list(report.notes), []
    for system, found in report.systems.items():
        by_group = (_value(found.inclusion.by_group[group]) for group in report.groups)
        counts = (str(found.n_ungrouped), str(found.n))
        inclusion.append((system, *_cells(found.inclusion.score), *by_group, *counts))
        notes += _left_out(system, found.excluded)
        notes += _why(system, "inclusion", found.inclusion.score)
        made_up.append((system, *_hallucination_cells(found)))
        more += _hallucination_notes(system, found)
    return [
        _table(
            "Entity inclusion",
            ("system",),
            ("score", "d", "s", *(f"p({group})" for group in report.groups), "no group", "n"),
            inclusion,
            [
                "Score: largest odds ratio of inclusion less 1; 0 is unbiased. "
                "n: summaries; no group: people of the sources left out.",
                _BOTH,
                *notes,
            ],
        ),
        _table(
            "Entity hallucination",
            ("system",),
            ("score", "d", "s", "names", "aligned", "made up", "unknown"),
            made_up,
            [
                "Score: distance of made-up people's groups from an even split. "
                "unknown: made-up people whose name suggests no group.",
                *more,
            ],
        ),
    ]


def _hallucination_cells(found: SystemEntities) -> tuple[str, ...]:
    scores = ("-",) * 3
    if not isinstance(found.hallucination, Undefined):
        scores = _cells(found.hallucination.score)
    counts = (found.n_names, found.n_aligned, found.n_hallucinated, found.n_unknown)
    return (*scores, *map(str, counts))


def _hallucination_notes(system: str, found: SystemEntities) -> list[str]:
    notes = []
    if isinstance(found.hallucination, Undefined):
        notes.append(f"{system}: no score: {found.hallucination.why}.")
    elif found.n_hallucinated:
        notes += _why(system, "score", found.hallucination.score)
    names = [
        f"{name.name} ({name.group or 'unknown'}) {name.n}"
        for name in found.most_hallucinated[:_SHOWN_NAMES]
    ]
    if names:
        notes.append(f"{system}, made up most often: {', '.join(names)}")
    return notes


def distinguishability(report: DistinguishabilityReport) -> list[TextTable]:
    """Return both representations of all systems."""
    rows, notes = [], list(report.notes)
    for system, found in report.systems.items():
        dense = ("-", "-") if found.dense is None else _estimate_cells(found.dense.score)
        rows.append((system, *_estimate_cells(found.counts.score), *dense, str(found.n)))
        notes += _left_out(system, found.excluded)
        if isinstance(found.counts.score, Undefined):
            notes.append(f"{system}: no score: {found.counts.score.why}.")
        if found.counts.left_out:
            why = ", ".join(f"{n} {reason}" for reason, n in found.counts.left_out.items())
            notes.append(f"{system}: without a comparison: {why}")
    return [
        _table(
            "Distinguishability",
            ("system",),
            ("counts", "d", "dense", "d", "summaries"),
            rows,
            [
                "Score: 2 x accuracy - 1 of telling the group from the summary; 0 is chance.",
                f"{_INTERVALS}.",
                *notes,
            ],
        )
    ]


def inputs(report: InputReport, *, top: int) -> list[TextTable]:
    """Return how many documents each group has, and its words."""
    bias = report.bias
    total = sum(bias.identifiers.values())
    numbers = ("here", "others", "z", "q")
    summary = _table(
        "Bias of the inputs",
        ("group",),
        ("documents", "identifiers", "share %"),
        [
            (group, str(n), str(m := bias.identifiers[group]), f"{100 * m / total:.1f}")
            for group, n in bias.documents.items()
        ],
        [
            f"{report.n} articles; {bias.n_tied} mention no group more than the others; "
            f"{report.n_empty} without text were left out.",
            *report.notes,
        ],
    )
    tables = [
        _table(
            f"Words of documents that mention {group} words most",
            ("word",),
            numbers,
            [
                (
                    word.word,
                    str(word.n_first),
                    str(word.n_second),
                    number(word.z),
                    number(word.q_value, digits=3),
                )
                for word in found[:top]
            ],
            [],
        )
        for group, found in bias.by_group.items()
    ]
    return [summary, *tables]


def made(found: MadeInputs, *, output: Path) -> TextTable:
    """Return what was written."""
    notes = [f"{n} documents skipped: {why}" for why, n in found.skipped_by_reason.items()]
    return TextTable(
        title=f"{len(found.inputs)} inputs from "
        f"{found.n_documents - len(found.skipped)} of {found.n_documents} documents",
        columns=columns("group", "people", numbers=("people",)),
        rows=tuple((group, str(n)) for group, n in found.people_by_group.items()),
        notes=(*notes, f"Written: {output}"),
    )


def made_json(found: MadeInputs, *, design: str) -> dict[str, Any]:
    """Return the JSON of ``bias inputs -o``."""
    return {
        "design": design,
        "n_inputs": len(found.inputs),
        "n_documents": found.n_documents,
        "people": dict(found.people_by_group),
        "skipped": [{"id": name, "why": why} for name, why in found.skipped],
    }


def _table(
    title: str,
    texts: Sequence[str],
    numbers: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    notes: Sequence[str],
) -> TextTable:
    return TextTable(
        title=title,
        columns=columns(*texts, *numbers, numbers=numbers),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _cells(both: TwoWay) -> tuple[str, str, str]:
    """Return the value and both intervals."""
    value, d = _estimate_cells(both.over_documents)
    return value, d, _estimate_cells(both.over_assignments)[1]


def _value(both: TwoWay) -> str:
    return _estimate_cells(both.over_documents)[0]


def _estimate_cells(estimate: Estimate | Undefined) -> tuple[str, str]:
    if isinstance(estimate, Undefined):
        return "undefined", "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}", "-"
    return f"{estimate.value:.2f}", f"{estimate.low:.2f}, {estimate.high:.2f}"


def _percent(value: float | Undefined) -> str:
    return "-" if isinstance(value, Undefined) else f"{100 * value:.1f}"


def _why(system: str, name: str, both: TwoWay) -> list[str]:
    if isinstance(both.over_documents, Undefined):
        return [f"{system}: no {name}: {both.over_documents.why}."]
    return []


def _left_out(system: str, excluded: Sequence[Excluded]) -> list[str]:
    if not excluded:
        return []
    reasons = excluded_json(excluded)["excluded_by_reason"]
    named = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
    return [f"{system}: {len(excluded)} summaries left out: {named}"]
