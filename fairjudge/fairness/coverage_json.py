"""The coverage report as the JSON of ``fairness coverage``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import error_json, report_json
from fairjudge.fairness.coverage_measures import COVERAGE, CoverageMeasure
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.fairness.coverage_report import CoverageReport, CoverageSample, SystemCoverage
from fairjudge.records.results import COUNT_ONLY, Json, excluded_json, figure, to_json

_json = partial(to_json, keep=COUNT_ONLY)


def coverage_json(report: CoverageReport) -> Json:
    """Return the JSON of ``fairness coverage``; coverage in [0, 1], not in percent."""
    head = {"measure": COVERAGE.name, "attribute": report.attribute, "variant": report.variant}
    return report_json(head, report, system=_system, sample=_sample)


def _system(result: SystemCoverage) -> Json:
    return {
        "n": len(result.samples),
        "untestable": result.n_untestable,
        **excluded_json(result.excluded),
        **_measures(result, COVERAGE.of_samples),
        "coverage_by_value": {
            value: {
                "n": means.n,
                "coverage": _json(means.coverage),
                "difference": _json(means.difference) | {"p_holm": means.p_holm},
            }
            for value, means in result.by_value.items()
        },
        "dominance": _json(result.dominance),
        **error_json(result, COVERAGE),
        **_measures(result, COVERAGE.of_corpora),
        **_parity(result.parity),
    }


def _measures(result: SystemCoverage, measures: Iterable[CoverageMeasure]) -> Json:
    return {
        measure.key: figure(result.estimates[measure.key], times=measure.times, keep=COUNT_ONLY)
        for measure in measures
    }


def _parity(parity: CoverageParity | Undefined) -> Json:
    if isinstance(parity, Undefined):
        return {"by_value": {}, "over": None, "under": None}
    by_value = {}
    for value, entry in parity.by_value.items():
        row = _json(entry.mean)
        mean = {"mean": row.pop("value"), **row, "n": entry.n, "p_holm": entry.p_holm}
        by_value[value] = {**mean, "p_value": mean.get("p_value")}
    return {"by_value": by_value, "over": parity.over, "under": parity.under}


def _sample(sample: CoverageSample) -> Json:
    return {
        **COVERAGE.sample_json(sample.numbers),
        "p_value": sample.test.p_value,
        "p_value_strict": sample.test.p_value_strict,
        "relabellings": sample.test.n_permutations,
        "exact": sample.test.exact,
        "coverage": sample.coverage.overall,
        "by_value": {
            entry.value: {"coverage": entry.coverage, "documents": entry.n_documents}
            for entry in sample.coverage.by_value
        },
        "units": sample.n_units,
    }
