"""The tables of a result by its kind: the terminal, notebooks and Markdown show the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fairjudge.reports import (
    align_tables,
    audit_tables,
    bias_input_tables,
    bias_tables,
    calibration_tables,
    cascade_tables,
    check_tables,
    comparison_tables,
    covered_tables,
    decision_tables,
    disagreement_tables,
    fairness_comparison_tables,
    fairness_tables,
    jury_tables,
    mean_tables,
    ranking_tables,
    rates_tables,
    reference_tables,
    stability_tables,
    statement_tables,
)
from fairjudge.reports.figures import Json
from fairjudge.reports.tables import TextTable


def _calibrate(report: Json) -> list[TextTable]:
    return [
        *calibration_tables.calibration_tables(report),
        *mean_tables.mean_tables(report),
        *jury_tables.jury_tables(report),
        *rates_tables.rates_tables(report),
        *disagreement_tables.disagreement_tables(report),
        *decision_tables.decisions_tables(decision_tables.with_juries(report)),
    ]


def _rank(report: Json) -> list[TextTable]:
    return [*ranking_tables.ranking_tables(report), *ranking_tables.together_tables(report)]


_TABLES: Mapping[str, Callable[[Json], Iterable[TextTable]]] = {
    "align": align_tables.align_tables,
    "audit checks": audit_tables.checks_tables,
    "audit citations": statement_tables.citations_tables,
    "audit covered": covered_tables.covered_tables,
    "audit length": audit_tables.length_tables,
    "audit order": audit_tables.order_tables,
    "audit parse": audit_tables.parse_tables,
    "audit position": audit_tables.position_tables,
    "audit stability": stability_tables.stability_tables,
    "audit statements": statement_tables.statement_tables,
    "audit verbosity": audit_tables.verbosity_tables,
    "bias distinguishability": bias_tables.distinguishability_tables,
    "bias entities": bias_tables.entities_tables,
    "bias inputs": lambda report: bias_input_tables.inputs_tables(report, limit=10),
    "bias quality": bias_tables.quality_tables,
    "bias words": bias_tables.words_tables,
    "calibrate": _calibrate,
    "cascade": cascade_tables.cascade_tables,
    "cascade --guarantee": cascade_tables.guarantee_tables,
    "check": check_tables.check_tables,
    "compare": comparison_tables.comparison_tables,
    "fairness agreement": lambda report: [fairness_comparison_tables.agreement_table(report)],
    "fairness chunk-size": lambda report: [fairness_comparison_tables.chunk_size_table(report)],
    "fairness compare": fairness_comparison_tables.changes_tables,
    "fairness coverage": fairness_tables.coverage_tables,
    "fairness oracle": lambda report: [fairness_comparison_tables.oracle_table(report)],
    "fairness overall": lambda report: [fairness_comparison_tables.overall_table(report)],
    "fairness people": fairness_comparison_tables.people_tables,
    "fairness temperature": lambda report: [fairness_comparison_tables.temperature_table(report)],
    "fairness proportional": fairness_tables.proportional_tables,
    "references apply": reference_tables.validated_tables,
    "references recall": reference_tables.recall_tables,
    "rank": _rank,
}


def tables_of(kind: str, report: Json) -> tuple[TextTable, ...]:
    """Return the tables of the JSON of the command `kind`; none for other commands."""
    make = _TABLES.get(kind)
    return () if make is None else tuple(make(report))
