"""The JSON of ``fairness coverage`` and ``fairness proportional``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import error_json, report_json
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.coverage_parity import CoverageParity
from fairjudge.fairness.coverage_report import CoverageReport, CoverageSample, SystemCoverage
from fairjudge.fairness.measures import FairnessMeasure
from fairjudge.fairness.proportional import PROPORTIONAL, Proportional
from fairjudge.fairness.proportional_report import (
    ProportionalReport,
    ProportionalSample,
    SystemProportional,
)
from fairjudge.records.results import COUNT_ONLY, Json, excluded_json, figure, to_json

_json = partial(to_json, keep=COUNT_ONLY)
_PERCENT = 100.0
_percent = partial(figure, times=_PERCENT, keep=COUNT_ONLY)


def coverage_json(report: CoverageReport) -> Json:
    """Return the report as JSON of ``fairness coverage``; coverage in [0, 1], not in percent."""
    head = {"measure": COVERAGE.name, "attribute": report.attribute, "variant": report.variant}
    return report_json(head, report, system=_coverage_system, sample=_coverage_sample)


def _coverage_system(result: SystemCoverage) -> Json:
    return {
        "n": len(result.samples),
        "untestable": result.n_untestable,
        **excluded_json(result.excluded),
        **_measures(result, COVERAGE.sample_measures),
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
        **_measures(result, COVERAGE.corpus_measures),
        **_parity(result.parity),
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


def _coverage_sample(sample: CoverageSample) -> Json:
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


def proportional_json(report: ProportionalReport) -> Json:
    """Return the report as the JSON of ``fairness proportional``; shares in percent."""
    head = {"measure": PROPORTIONAL.name, "attribute": report.attribute}
    return report_json(head, report, system=_proportional_system, sample=_proportional_sample)


def _proportional_sample(sample: ProportionalSample) -> Json:
    return {
        "values": list(sample.distribution.values),
        "source": list(sample.distribution.source),
        "wanted": list(sample.targets),
        "summary": list(sample.distribution.summary),
        **PROPORTIONAL.sample_json(sample.numbers),
    }


def _proportional_system(result: SystemProportional) -> Json:
    row: Json = {
        "n": len(result.samples),
        **excluded_json(result.excluded),
        "one_value": result.n_one_value,
        **_measures(result.measures, PROPORTIONAL),
        "several_values": {
            "n": len(result.samples) - result.n_one_value,
            **_measures(result.several_values, PROPORTIONAL),
        },
        **error_json(result, PROPORTIONAL, times=_PERCENT),
        "novel_terms": _percent(result.novel_terms),
    }
    if isinstance(result.measures, Proportional):
        row["tau"] = result.measures.tau
        row["by_value"] = {
            value: {
                "n": entry.n,
                "wanted": _percent(entry.target),
                "summary": _percent(entry.actual),
                "under": _percent(entry.under),
                "shortfall": _percent(entry.shortfall),
                "difference": _percent(entry.difference) | {"p_holm": entry.p_holm},
            }
            for value, entry in result.measures.by_value.items()
        }
        row["sweep"] = [{"tau": tau} | _percent(bur) for tau, bur in result.measures.sweep]
    return row


def _measures(
    result: SystemCoverage | Proportional | Undefined,
    measures: Iterable[FairnessMeasure[Any, Any, Any]],
) -> Json:
    return {
        measure.key: figure(
            result if isinstance(result, Undefined) else result.estimates[measure.key],
            times=measure.times,
            keep=COUNT_ONLY,
        )
        for measure in measures
    }
