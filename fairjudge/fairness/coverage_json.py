"""The coverage report as the JSON of ``fairness coverage``."""

from __future__ import annotations

from functools import partial

from fairjudge.domain import Undefined
from fairjudge.fairness import _reporting
from fairjudge.fairness._reporting import count_reasons, ppi_figure
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.fairness.coverage_report import (
    Corrected,
    CoverageReport,
    CoverageSample,
    Sensitivity,
    SystemCoverage,
)
from fairjudge.results import SHORT, Json, to_json

_json = partial(to_json, keep=SHORT)


def coverage_json(report: CoverageReport) -> Json:
    """Return the report as the JSON of ``fairness coverage``; coverage as it is, not in percent."""
    return {
        "measure": "coverage",
        "attribute": report.attribute,
        "variant": report.variant,
        "family": "the values of a system (Holm)",
        "systems": {system: _system(result) for system, result in report.systems.items()},
        "samples": [
            _sample(system, sample)
            for system, result in report.systems.items()
            for sample in result.samples
        ],
        "excluded": _reporting.excluded_json({s: r.excluded for s, r in report.systems.items()}),
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _system(result: SystemCoverage) -> Json:
    parity = result.parity
    shown: Json = {
        "n": result.equal.n,
        "untestable": result.equal.n_untestable,
        "excluded": len(result.excluded),
        "excluded_by_reason": count_reasons(result.excluded),
        "equal_coverage": _json(result.equal.mean),
        "r_ec": _json(result.equal.unfair_share),
        "r_ec_strict": _json(result.equal.unfair_share_strict),
        "coverage_by_value": {
            value: {
                "n": means.n,
                "coverage": _json(means.coverage),
                "difference": _json(means.difference) | {"p_holm": means.p_holm},
            }
            for value, means in result.by_value.items()
        },
        "dominance": _json(result.dominance),
    }
    if result.corrected is not None:
        shown["corrected"] = _corrected(result.corrected)
    if result.sensitivity is not None:
        shown["sensitivity"] = _sensitivity(result.sensitivity)
    if isinstance(parity, Undefined):
        return shown | {
            "coverage_parity": _json(parity),
            "by_value": {},
            "over": None,
            "under": None,
        }
    return shown | {
        "coverage_parity": _json(parity.value),
        "by_value": _by_value(parity),
        "over": parity.over,
        "under": parity.under,
    }


def _by_value(parity: CoverageParity) -> Json:
    shown = {}
    for value, entry in parity.by_value.items():
        row = _json(entry.mean)
        shown[value] = {"mean": row.pop("value"), **row, "n": entry.n, "p_holm": entry.p_holm}
        shown[value].setdefault("p_value", None)
    return shown


def _sample(system: str, sample: CoverageSample) -> Json:
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


def _corrected(found: Corrected) -> Json:
    return {
        "n_labelled": found.n_labelled,
        "equal_coverage": ppi_figure(found.equal_coverage),
        "r_ec": ppi_figure(found.unfair_share),
        "difference": {value: ppi_figure(mean) for value, mean in found.difference.items()},
    }


def _sensitivity(found: Sensitivity) -> Json:
    return {
        "error_rate": found.error_rate,
        "equal_coverage": to_json(found.equal_coverage),
        "by_value": {
            value: {
                "mean": entry.mean,
                **to_json(entry.band),
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in found.by_value.items()
        },
    }
