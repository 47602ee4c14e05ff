"""The report of Proportional Representation as the JSON of ``fairness proportional``."""

from __future__ import annotations

from typing import Any

from fairjudge.domain import Undefined
from fairjudge.fairness._reporting import Figure, count_reasons, figure, ppi_figure
from fairjudge.fairness.judge_error import Band
from fairjudge.fairness.proportional import Proportional
from fairjudge.fairness.proportional_report import ProportionalReport, SystemProportional
from fairjudge.fairness.share_error import CorrectedShares, ShareSensitivity

_PERCENT = 100.0


def proportional_json(report: ProportionalReport) -> dict[str, Any]:
    """Return the report as the JSON of ``fairness proportional``; shares in percent."""
    return {
        "measure": "proportional",
        "attribute": report.attribute,
        "family": "the values of a system (Holm)",
        "systems": {system: _system_json(result) for system, result in report.systems.items()},
        "samples": [
            {
                "eid": sample.eid,
                "system": system,
                "values": list(sample.distribution.values),
                "source": list(sample.distribution.source),
                "wanted": list(sample.wanted),
                "summary": list(sample.distribution.summary),
                "unfair": sample.unfair,
                "uer": sample.uer * _PERCENT,
                "auc": sample.auc * _PERCENT,
            }
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


def _system_json(result: SystemProportional) -> Figure:
    shown: Figure = {
        "n": len(result.samples),
        "excluded": len(result.excluded),
        "excluded_by_reason": count_reasons(result.excluded),
        "one_value": result.n_one_value,
        **_measures_json(result.measures),
    }
    shown["several_values"] = {
        "n": len(result.samples) - result.n_one_value,
        **_measures_json(result.several_values),
    }
    if result.corrected is not None:
        shown["corrected"] = _corrected_json(result.corrected)
    if result.sensitivity is not None:
        shown["sensitivity"] = _sensitivity_json(result.sensitivity)
    if isinstance(result.measures, Proportional):
        shown["tau"] = result.measures.tau
        shown["by_value"] = {
            value: {
                "n": entry.n,
                "wanted": figure(entry.wanted, scale=_PERCENT),
                "summary": figure(entry.got, scale=_PERCENT),
                "under": figure(entry.under, scale=_PERCENT),
                "shortfall": figure(entry.shortfall, scale=_PERCENT),
                "difference": figure(entry.difference, scale=_PERCENT) | {"p_holm": entry.p_holm},
            }
            for value, entry in result.measures.by_value.items()
        }
        shown["sweep"] = [
            {"tau": tau} | figure(bur, scale=_PERCENT) for tau, bur in result.measures.sweep
        ]
    return shown


def _measures_json(measures: Proportional | Undefined) -> Figure:
    if isinstance(measures, Undefined):
        return {name: figure(measures) for name in ("bur", "uer", "auc", "auc_ten_point", "sof")}
    return {
        "bur": figure(measures.bur, scale=_PERCENT),
        "uer": figure(measures.uer, scale=_PERCENT),
        "auc": figure(measures.auc, scale=_PERCENT),
        "auc_ten_point": figure(measures.auc_ten_point, scale=_PERCENT),
        "sof": figure(measures.sof, scale=_PERCENT),
    }


def _corrected_json(found: CorrectedShares) -> Figure:
    return {
        "n_labelled": found.n_labelled,
        "n_unused": found.n_unused,
        "bur": ppi_figure(found.bur, scale=_PERCENT),
        "uer": ppi_figure(found.uer, scale=_PERCENT),
        "auc": ppi_figure(found.auc, scale=_PERCENT),
        "difference": {
            value: ppi_figure(mean, scale=_PERCENT) for value, mean in found.difference.items()
        },
    }


def _sensitivity_json(found: ShareSensitivity | Undefined) -> Figure:
    if isinstance(found, Undefined):
        return {"undefined": found.why}
    return {
        "error_rate": found.error_rate,
        "bur": _band_json(found.bur),
        "uer": _band_json(found.uer),
        "auc": _band_json(found.auc),
        "sof": _band_json(found.sof),
        "by_value": {
            value: {
                "mean": entry.mean * _PERCENT,
                **_band_json(entry.band),
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in found.by_value.items()
        },
    }


def _band_json(band: Band) -> Figure:
    return {"low": band.low * _PERCENT, "high": band.high * _PERCENT}
