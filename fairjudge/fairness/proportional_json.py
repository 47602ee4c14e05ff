"""The report of Proportional Representation as the JSON of ``fairness proportional``."""

from __future__ import annotations

from functools import partial

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import error_json, report_json
from fairjudge.fairness.proportional import PROPORTIONAL, Proportional
from fairjudge.fairness.proportional_report import (
    ProportionalReport,
    ProportionalSample,
    SystemProportional,
)
from fairjudge.records.results import COUNT_ONLY, Json, excluded_json, figure

_PERCENT = 100.0
_percent = partial(figure, times=_PERCENT, keep=COUNT_ONLY)


def proportional_json(report: ProportionalReport) -> Json:
    """Return the report as the JSON of ``fairness proportional``; shares in percent."""
    head = {"measure": PROPORTIONAL.name, "attribute": report.attribute}
    return report_json(head, report, system=_system, sample=_sample)


def _sample(sample: ProportionalSample) -> Json:
    return {
        "values": list(sample.distribution.values),
        "source": list(sample.distribution.source),
        "wanted": list(sample.wanted),
        "summary": list(sample.distribution.summary),
        **PROPORTIONAL.sample_json(sample.numbers),
    }


def _system(result: SystemProportional) -> Json:
    row: Json = {
        "n": len(result.samples),
        **excluded_json(result.excluded),
        "one_value": result.n_one_value,
        **_measures(result.measures),
        "several_values": {
            "n": len(result.samples) - result.n_one_value,
            **_measures(result.several_values),
        },
        **error_json(result, PROPORTIONAL, times=_PERCENT),
        "novel_terms": _percent(result.novel_terms),
    }
    if isinstance(result.measures, Proportional):
        row["tau"] = result.measures.tau
        row["by_value"] = {
            value: {
                "n": entry.n,
                "wanted": _percent(entry.wanted),
                "summary": _percent(entry.got),
                "under": _percent(entry.under),
                "shortfall": _percent(entry.shortfall),
                "difference": _percent(entry.difference) | {"p_holm": entry.p_holm},
            }
            for value, entry in result.measures.by_value.items()
        }
        row["sweep"] = [{"tau": tau} | _percent(bur) for tau, bur in result.measures.sweep]
    return row


def _measures(result: Proportional | Undefined) -> Json:
    return {
        measure.key: figure(
            result if isinstance(result, Undefined) else result.estimates[measure.key],
            times=measure.times,
            keep=COUNT_ONLY,
        )
        for measure in PROPORTIONAL
    }
