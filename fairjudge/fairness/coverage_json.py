"""The coverage report as the JSON of ``fairness coverage``."""

from __future__ import annotations

from functools import partial

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import error_json, report_json
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.fairness.coverage_report import CoverageReport, CoverageSample, SystemCoverage
from fairjudge.records.results import SHORT, Json, excluded_json, to_json

_json = partial(to_json, keep=SHORT)


def coverage_json(report: CoverageReport) -> Json:
    """Return the report as the JSON of ``fairness coverage``; coverage as it is, not in percent."""
    head = {"measure": "coverage", "attribute": report.attribute, "variant": report.variant}
    return report_json(head, report, system=_system, sample=_sample)


def _system(result: SystemCoverage) -> Json:
    return {
        "n": result.equal.n,
        "untestable": result.equal.n_untestable,
        **excluded_json(result.excluded),
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
        **error_json(result),
        **_parity(result.parity),
    }


def _parity(found: CoverageParity | Undefined) -> Json:
    if isinstance(found, Undefined):
        return {"coverage_parity": _json(found), "by_value": {}, "over": None, "under": None}
    by_value = {}
    for value, entry in found.by_value.items():
        row = _json(entry.mean)
        shown = {"mean": row.pop("value"), **row, "n": entry.n, "p_holm": entry.p_holm}
        by_value[value] = {**shown, "p_value": shown.get("p_value")}
    return {
        "coverage_parity": _json(found.value),
        "by_value": by_value,
        "over": found.over,
        "under": found.under,
    }


def _sample(sample: CoverageSample) -> Json:
    return {
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
