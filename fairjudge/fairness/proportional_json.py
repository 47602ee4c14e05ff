"""The report of Proportional Representation as the JSON of ``fairness proportional``."""

from __future__ import annotations

from functools import partial

from fairjudge.domain import Undefined
from fairjudge.fairness import _reporting
from fairjudge.fairness._reporting import count_reasons, ppi_figure
from fairjudge.fairness.judge_error import Band
from fairjudge.fairness.proportional import Proportional
from fairjudge.fairness.proportional_report import ProportionalReport, SystemProportional
from fairjudge.fairness.share_error import CorrectedShares, ShareSensitivity
from fairjudge.results import SHORT, Json, figure

_PERCENT = 100.0
_percent = partial(figure, times=_PERCENT, keep=SHORT)
_ppi = partial(ppi_figure, times=_PERCENT)


def proportional_json(report: ProportionalReport) -> Json:
    """Return the report as the JSON of ``fairness proportional``; shares in percent."""
    return {
        "measure": "proportional",
        "attribute": report.attribute,
        "family": "the values of a system (Holm)",
        "systems": {system: _system(result) for system, result in report.systems.items()},
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
        "excluded": _reporting.excluded_json({s: r.excluded for s, r in report.systems.items()}),
        "notes": list(report.notes),
        "signature": report.signature,
    }


def _system(result: SystemProportional) -> Json:
    shown: Json = {
        "n": len(result.samples),
        "excluded": len(result.excluded),
        "excluded_by_reason": count_reasons(result.excluded),
        "one_value": result.n_one_value,
        **_measures(result.measures),
        "several_values": {
            "n": len(result.samples) - result.n_one_value,
            **_measures(result.several_values),
        },
    }
    if result.corrected is not None:
        shown["corrected"] = _corrected(result.corrected)
    if result.sensitivity is not None:
        shown["sensitivity"] = _sensitivity(result.sensitivity)
    if isinstance(result.measures, Proportional):
        shown["tau"] = result.measures.tau
        shown["by_value"] = {
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
        shown["sweep"] = [{"tau": tau} | _percent(bur) for tau, bur in result.measures.sweep]
    return shown


def _measures(found: Proportional | Undefined) -> Json:
    return {
        name: _percent(found if isinstance(found, Undefined) else getattr(found, name))
        for name in ("bur", "uer", "auc", "auc_ten_point", "sof")
    }


def _corrected(found: CorrectedShares) -> Json:
    return {
        "n_labelled": found.n_labelled,
        "n_unused": found.n_unused,
        "bur": _ppi(found.bur),
        "uer": _ppi(found.uer),
        "auc": _ppi(found.auc),
        "difference": {value: _ppi(mean) for value, mean in found.difference.items()},
    }


def _sensitivity(found: ShareSensitivity | Undefined) -> Json:
    if isinstance(found, Undefined):
        return figure(found)
    return {
        "error_rate": found.error_rate,
        **{name: _band(getattr(found, name)) for name in ("bur", "uer", "auc", "sof")},
        "by_value": {
            value: {
                "mean": entry.mean * _PERCENT,
                **_band(entry.band),
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in found.by_value.items()
        },
    }


def _band(band: Band) -> Json:
    return {"low": band.low * _PERCENT, "high": band.high * _PERCENT}
