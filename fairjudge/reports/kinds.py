"""Findings and tables of each command's JSON, by the kind of JSON.

The terminal, notebooks, pages and Markdown show the same ones. A finding states a direction only if
the 95 % interval excludes 0, or by the rule in its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fairjudge.records.matching import loss_finding
from fairjudge.records.schema import with_schema
from fairjudge.reports import (
    align_tables,
    audit_findings,
    audit_tables,
    bias_tables,
    calibration_tables,
    comparison_tables,
    decision_tables,
    evidence_tables,
    fairness_comparison_tables,
    fairness_tables,
    label_tables,
    measure_findings,
    protocol_tables,
    ranking_tables,
    reference_tables,
)
from fairjudge.reports.figures import Json
from fairjudge.reports.tables import TextTable


def _calibration_tables(report: Json) -> list[TextTable]:
    return [
        *calibration_tables.calibration_tables(report),
        *label_tables.mean_tables(report),
        *protocol_tables.jury_tables(report),
        *label_tables.rates_tables(report),
        *label_tables.disagreement_tables(report),
        *decision_tables.decisions_tables(decision_tables.with_juries(report)),
    ]


def _calibration_findings(report: Json) -> Iterator[str]:
    yield from protocol_tables.protocol_findings(report)
    yield from protocol_tables.jury_findings(report)
    for group in decision_tables.with_juries(report):
        yield f"{decision_tables.group_title(group)}: {decision_tables.verdict(group)}."


def _one_table(make: Callable[[Json], TextTable]) -> Callable[[Json], Iterable[TextTable]]:
    return lambda report: (make(report),)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Makers of findings and tables of a kind; ``name`` precedes findings in a joint list."""

    findings: Callable[[Json], Iterable[str]] = lambda _: ()
    tables: Callable[[Json], Iterable[TextTable]] = lambda _: ()
    name: str = ""


KINDS: Mapping[str, _Kind] = {
    "align": _Kind(align_tables.align_findings, align_tables.align_tables),
    "audit checks": _Kind(audit_findings.metamorphic_findings, audit_tables.checks_tables),
    "audit citations": _Kind(audit_findings.citation_findings, evidence_tables.citations_tables),
    "audit covered": _Kind(audit_findings.covered_findings, evidence_tables.covered_tables),
    "audit length": _Kind(audit_findings.length_findings, audit_tables.length_tables),
    "audit order": _Kind(audit_findings.order_findings, audit_tables.order_tables),
    "audit parse": _Kind(audit_findings.parse_findings, audit_tables.parse_tables),
    "audit position": _Kind(audit_findings.position_findings, audit_tables.position_tables),
    "audit stability": _Kind(audit_findings.stability_findings, audit_tables.stability_tables),
    "audit statements": _Kind(audit_findings.statement_findings, evidence_tables.statement_tables),
    "audit verbosity": _Kind(audit_findings.verbosity_findings, audit_tables.verbosity_tables),
    "bias distinguishability": _Kind(
        measure_findings.distinguishability_findings,
        bias_tables.distinguishability_tables,
        "Group from the summary",
    ),
    "bias entities": _Kind(
        measure_findings.entity_findings, bias_tables.entities_tables, "People named"
    ),
    "bias inputs": _Kind(tables=bias_tables.inputs_tables),
    "bias quality": _Kind(
        measure_findings.quality_findings, bias_tables.quality_tables, "Quality by group"
    ),
    "bias words": _Kind(
        measure_findings.words_findings, bias_tables.words_tables, "Words of groups"
    ),
    "build": _Kind(reference_tables.built_findings),
    "calibrate": _Kind(_calibration_findings, _calibration_tables),
    "cascade": _Kind(align_tables.cascade_findings, align_tables.cascade_tables, "Cascade"),
    "cascade --guarantee": _Kind(align_tables.guarantee_findings, align_tables.guarantee_tables),
    "check": _Kind(
        comparison_tables.check_findings, comparison_tables.check_tables, "Check of the judge"
    ),
    "compare": _Kind(
        comparison_tables.comparison_findings, comparison_tables.comparison_tables, "Two runs"
    ),
    "fairness agreement": _Kind(
        measure_findings.agreement_findings,
        _one_table(fairness_comparison_tables.agreement_table),
        "Two scorers",
    ),
    "fairness chunk-size": _Kind(
        measure_findings.chunk_size_findings,
        _one_table(fairness_comparison_tables.chunk_size_table),
        "Size of chunks",
    ),
    "fairness compare": _Kind(
        measure_findings.changes_findings, fairness_comparison_tables.changes_tables
    ),
    "fairness coverage": _Kind(measure_findings.fairness_findings, fairness_tables.coverage_tables),
    "fairness oracle": _Kind(
        measure_findings.oracle_findings,
        _one_table(fairness_comparison_tables.oracle_table),
        "Planted unfairness",
    ),
    "fairness overall": _Kind(
        measure_findings.overall_findings,
        _one_table(fairness_comparison_tables.overall_table),
        "Over data sets",
    ),
    "fairness people": _Kind(
        measure_findings.people_findings,
        fairness_comparison_tables.people_tables,
        "Measures and people",
    ),
    "fairness proportional": _Kind(
        measure_findings.fairness_findings, fairness_tables.proportional_tables
    ),
    "fairness temperature": _Kind(
        measure_findings.temperature_findings,
        _one_table(fairness_comparison_tables.temperature_table),
        "Temperature",
    ),
    "rank": _Kind(ranking_tables.rank_findings, ranking_tables.rank_tables),
    "references apply": _Kind(
        reference_tables.validated_findings, reference_tables.validated_tables
    ),
    "references recall": _Kind(tables=reference_tables.recall_tables),
}


def make_tables(kind: str, report: Json) -> tuple[TextTable, ...]:
    """Return the tables of the JSON of the command `kind`; none for unknown commands."""
    return tuple(KINDS.get(kind, _Kind()).tables(report))


def make_findings(kind: str, report: Json) -> tuple[str, ...]:
    """Return the findings of the JSON of the command `kind`, those on joins first."""
    return (*join_findings(report), *KINDS.get(kind, _Kind()).findings(report))


def finding_prefix(kind: str) -> str:
    """Return the name that precedes the findings of `kind` in a joint list, or ""."""
    return KINDS.get(kind, _Kind()).name


def join_findings(report: Json) -> Iterator[str]:
    """Yield a sentence per join, of a report or its groups, that lost many items."""
    groups = report.get("groups", ())
    joins = [*report.get("joins", ()), *(group["join"] for group in groups if "join" in group)]
    yield from dict.fromkeys(filter(None, map(loss_finding, joins)))


def with_findings(kind: str, report: Json) -> dict[str, object]:
    """Return `report` as JSON that begins with its schema and findings, if it has findings."""
    findings = make_findings(kind, report)
    return with_schema({"findings": list(findings), **report} if findings else report)
