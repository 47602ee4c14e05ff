"""The coverage report as the JSON of ``fairness coverage``."""

from __future__ import annotations

from typing import Any

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import Figure, count_reasons, figure, ppi_figure
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.fairness.coverage_report import (
    Corrected,
    CoverageReport,
    CoverageSample,
    Sensitivity,
    SystemCoverage,
)
from fairjudge.fairness.dominance import Dominance, LargestDifference


def coverage_json(report: CoverageReport) -> dict[str, Any]:
    """Return the report as the JSON of ``fairness coverage``; coverage as it is, not in percent."""
    return {
        "measure": "coverage",
        "attribute": report.attribute,
        "variant": report.variant,
        "family": "the values of a system (Holm)",
        "systems": {system: _system_json(result) for system, result in report.systems.items()},
        "samples": [
            _sample_json(system, sample)
            for system, result in report.systems.items()
            for sample in result.samples
        ],
        "excluded": [
            {"eid": entry.eid, "system": system, "reason": entry.reason}
            for system, result in report.systems.items()
            for entry in result.excluded
        ],
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _system_json(result: SystemCoverage) -> Figure:
    parity = result.parity
    shown: Figure = {
        "n": result.equal.n,
        "untestable": result.equal.n_untestable,
        "excluded": len(result.excluded),
        "excluded_by_reason": count_reasons(result.excluded),
        "equal_coverage": figure(result.equal.mean),
        "r_ec": figure(result.equal.unfair_share),
        "r_ec_strict": figure(result.equal.unfair_share_strict),
    }
    shown["coverage_by_value"] = {
        value: {
            "n": means.n,
            "coverage": figure(means.coverage),
            "difference": figure(means.difference) | {"p_holm": means.p_holm},
        }
        for value, means in result.by_value.items()
    }
    shown["dominance"] = _dominance_json(result.dominance)
    if result.corrected is not None:
        shown["corrected"] = _corrected_json(result.corrected)
    if result.sensitivity is not None:
        shown["sensitivity"] = _sensitivity_json(result.sensitivity)
    if isinstance(parity, Undefined):
        return shown | {
            "coverage_parity": figure(parity),
            "by_value": {},
            "over": None,
            "under": None,
        }
    return shown | {
        "coverage_parity": figure(parity.value),
        "by_value": _by_value_json(parity),
        "over": parity.over,
        "under": parity.under,
    }


def _by_value_json(parity: CoverageParity) -> Figure:
    shown = {}
    for value, entry in parity.by_value.items():
        row = figure(entry.mean)
        shown[value] = {"mean": row.pop("value"), **row, "n": entry.n, "p_holm": entry.p_holm}
        shown[value].setdefault("p_value", None)
    return shown


def _sample_json(system: str, sample: CoverageSample) -> Figure:
    return {
        "eid": sample.eid,
        "system": system,
        "equal_coverage": sample.coverage.equal_coverage,
        "p_value": sample.test.p_value,
        "p_value_strict": sample.test.p_value_strict,
        "relabellings": sample.test.n_relabellings,
        "exact": sample.test.exact,
        "unfair": sample.unfair,
        "coverage": sample.coverage.overall,
        "by_value": {
            entry.value: {"coverage": entry.coverage, "documents": entry.n_documents}
            for entry in sample.coverage.by_value
        },
        "units": sample.n_units,
    }


def _dominance_json(found: Dominance) -> Figure:
    return {
        "unfair_share": _largest_json(found.unfair_share),
        "mean_difference": _largest_json(found.mean_difference),
        "n_by_value": dict(found.n_by_value),
        "n_tied": found.n_tied,
    }


def _largest_json(found: LargestDifference | Undefined) -> Figure:
    if isinstance(found, Undefined):
        return figure(found)
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
        "dominated_by": list(found.dominated_by),
        "of_value": found.of_value,
    }


def _corrected_json(found: Corrected) -> Figure:
    return {
        "n_labelled": found.n_labelled,
        "equal_coverage": ppi_figure(found.equal_coverage),
        "r_ec": ppi_figure(found.unfair_share),
        "difference": {value: ppi_figure(mean) for value, mean in found.difference.items()},
    }


def _sensitivity_json(found: Sensitivity) -> Figure:
    return {
        "error_rate": found.error_rate,
        "equal_coverage": {"low": found.equal_coverage.low, "high": found.equal_coverage.high},
        "by_value": {
            value: {
                "mean": entry.mean,
                "low": entry.band.low,
                "high": entry.band.high,
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in found.by_value.items()
        },
    }
