"""The JSON that ``fairjudge calibrate --json`` writes (docs/formats.md); no arithmetic here.

A figure is ``{"value", "low", "high", "n", ...}``; one without a value has null and ``"why"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from fairjudge.calibration.agreement import Agreement
from fairjudge.calibration.analysis import Analysis, CalibrationReport, Comparison, GroupReport
from fairjudge.calibration.assessment import ErrorScores, ReliabilityBin
from fairjudge.calibration.audits import PositionAudit, VerbosityAudit
from fairjudge.calibration.estimates import Planning, SystemEstimate
from fairjudge.calibration.groups import FEW_DOCUMENTS, GroupError
from fairjudge.calibration.items import ItemKey, Joined
from fairjudge.calibration.length import VerbosityBias
from fairjudge.calibration.position import PositionBias
from fairjudge.calibration.probabilities import DistributionReport
from fairjudge.calibration.replaceability import AlternativeAnnotatorTest
from fairjudge.calibration.temperature import DistributionScores
from fairjudge.domain import Estimate, Undefined

Json: TypeAlias = dict[str, Any]

MOST_LISTED = 20
"""Unmatched items listed by name, unless all are asked for."""


def figure(value: Estimate | Undefined | float | None, *, times: float = 1.0) -> Json:
    """Return one figure; `times` 100 turns shares to percent."""
    if isinstance(value, Undefined):
        return {"value": None, "low": None, "high": None, "why": value.why}
    if value is None or isinstance(value, float):
        return {"value": None if value is None else value * times, "low": None, "high": None}
    out: Json = {
        "value": value.value * times,
        "low": None if value.low is None else value.low * times,
        "high": None if value.high is None else value.high * times,
        "level": value.level,
        "n": value.n,
        "n_excluded": value.n_excluded,
        "method": value.method,
    }
    return out if value.p_value is None else {**out, "p_value": value.p_value}


def analysis_json(analysis: Analysis, *, signature: Mapping[str, Any], list_all: bool) -> Json:
    """Return the whole report; with `list_all`, every unmatched item by name."""
    return {
        "groups": [_group(report, list_all=list_all) for report in analysis.groups],
        "comparisons": [
            row for comparison in analysis.comparisons for row in _comparison(comparison)
        ],
        "settings": asdict(analysis.settings),
        "signature": dict(signature),
    }


def position_json(bias: PositionBias) -> Json:
    """Return position bias in percent."""
    return {
        "n_pairs": bias.n_pairs,
        "first": figure(bias.first, times=100.0),
        "second": figure(bias.second, times=100.0),
        "consistency": figure(bias.consistency, times=100.0),
        "one_tie": figure(bias.one_tie, times=100.0),
        "first_minus_second": figure(bias.first_minus_second, times=100.0),
    }


def verbosity_json(bias: VerbosityBias) -> Json:
    """Return verbosity bias in percent."""
    return {
        "n": bias.n,
        "original": figure(bias.original, times=100.0),
        "extended": figure(bias.extended, times=100.0),
        "original_minus_extended": figure(bias.original_minus_extended, times=100.0),
    }


def position_audit_json(audits: Sequence[PositionAudit]) -> Json:
    """Return what ``fairjudge audit position --json`` writes."""
    return {
        "groups": [
            {
                "judge": one.judge,
                "aspect": one.aspect,
                **position_json(one.bias),
                "n_unscored": one.n_unscored,
                "n_one_order": one.n_one_order,
                "n_unknown_order": one.n_unknown_order,
                "n_repeated": one.n_repeated,
                "by_systems": {name: position_json(some) for name, some in one.by_systems.items()},
                "by_closeness": {
                    name: position_json(some) for name, some in one.by_closeness.items()
                },
            }
            for one in audits
        ]
    }


def verbosity_audit_json(audits: Sequence[VerbosityAudit]) -> Json:
    """Return what ``fairjudge audit verbosity --json`` writes."""
    return {
        "groups": [
            {
                "judge": one.judge,
                "aspect": one.aspect,
                "protocol": one.protocol,
                **verbosity_json(one.bias),
                "n_unscored": one.n_unscored,
                "n_unmatched": one.n_unmatched,
            }
            for one in audits
        ]
    }


def _group(report: GroupReport, *, list_all: bool) -> Json:
    joined = report.joined
    return {
        "judge": joined.judge,
        "aspect": joined.aspect,
        "protocol": joined.protocol,
        "n_items": len(joined.keys),
        "n_documents": len(set(joined.documents)),
        "few_documents": 0 < len(set(joined.documents)) < FEW_DOCUMENTS,
        "n_systems": len(set(joined.systems)),
        "n_unscored": sum(joined.counts.unscored.values()),
        "annotators": list(joined.annotators),
        "counts": {**asdict(joined.counts), "unscored": dict(joined.counts.unscored)},
        "unmatched": _unmatched(joined, list_all=list_all),
        "scales": {"judge": list(joined.judge_scale), "labels": list(joined.label_scale)},
        "notes": [*joined.notes, *_remarks(joined)],
        "agreement": _agreement(report.agreement),
        "human": _agreement(report.human),
        "baselines": {name: _agreement(found) for name, found in report.baselines.items()},
        "calibration": _calibration(report.calibration),
        "ppi": [_estimate(one) for one in report.ppi],
        "planning": _planning(report.planning),
        "replaceability": _replaceability(report.replaceability),
        "fairness": {
            "of": report.fairness_of,
            "groups": {
                name: [_group_error(one) for one in groups]
                for name, groups in report.fairness.items()
            },
        },
    }


def _remarks(joined: Joined) -> list[str]:
    """Say in words what the counts say in numbers, where they are not 0."""
    counts, (low, high) = joined.counts, joined.judge_scale
    said = {
        "{} judgements repeat an item (re-runs); they are averaged": counts.repeated,
        "{} judgements have a value that the protocol does not allow; left out": counts.mistyped,
        f"{{}} judgements are off the scale {low:g} to {high:g}; left out": counts.off_scale,
        "{} pairs were judged in one order alone": counts.one_order,
        "{} labels repeat an annotator's label of the item; averaged": counts.repeated_labels,
        "{} labels are off their scale; left out": counts.labels_off_scale,
        "{} judged items have no label": len(joined.rest),
        "{} labelled items were not judged": len(joined.unjudged),
    }
    remarks = [text.format(n) for text, n in said.items() if n]
    n_documents = len(set(joined.documents))
    if 0 < n_documents < FEW_DOCUMENTS:
        remarks.append(f"{n_documents} documents: intervals over so few are rough")
    return remarks


def _unmatched(joined: Joined, *, list_all: bool) -> Json:
    end = None if list_all else MOST_LISTED
    return {
        "judged_without_label": len(joined.rest),
        "labelled_without_judgement": len(joined.unjudged),
        "judged_without_label_items": [_item(key) for key in joined.rest[:end]],
        "labelled_without_judgement_items": [_item(key) for key in joined.unjudged[:end]],
    }


def _item(key: ItemKey) -> Json:
    eid, first, second, unit = key
    who = {"system_a": first, "system_b": second} if second else {"system": first}
    return {"eid": eid, **who, "unit": unit}


def _agreement(found: Agreement | Undefined) -> Json:
    if isinstance(found, Undefined):
        return {"why": found.why}
    return {
        str(level): {name: figure(value) for name, value in figures.items()}
        for level, figures in found.items()
    }


def _calibration(report: CalibrationReport) -> Json:
    calibrator = report.calibrator
    return {
        "method": report.method,
        "n_folds": report.n_folds,
        "calibrator": {"why": calibrator.why}
        if isinstance(calibrator, Undefined)
        else calibrator.to_dict(),
        "before": _errors(report.before),
        "after": _errors(report.after),
        "reliability_before": [_bin(one) for one in report.reliability_before],
        "reliability_after": [_bin(one) for one in report.reliability_after],
        "distribution": _distribution(report.distribution),
    }


def _errors(errors: ErrorScores | Undefined) -> Json:
    if isinstance(errors, Undefined):
        return {"why": errors.why}
    return {name: figure(getattr(errors, name)) for name in ("rmse", "mae", "bias", "brier", "ece")}


def _bin(one: ReliabilityBin) -> Json:
    return {
        "from": one.low,
        "to": one.high,
        "n": one.n,
        "mean_score": one.mean_score,
        "mean_label": figure(one.mean_label),
    }


def _distribution(report: DistributionReport | Undefined) -> Json:
    if isinstance(report, Undefined):
        return {"why": report.why}
    return {
        "n": report.n,
        "n_left_out": report.n_left_out,
        "levels": list(report.levels),
        "temperature": figure(report.temperature),
        "before": _distribution_scores(report.before),
        "after": _distribution_scores(report.after),
        "expected_score": {name: figure(value) for name, value in report.expected_score.items()},
    }


def _distribution_scores(found: DistributionScores | Undefined) -> Json:
    if isinstance(found, Undefined):
        return {"why": found.why}
    names = ("log_loss", "ranked_probability_score", "sharpness", "calibration_error")
    return {name: figure(getattr(found, name)) for name in names}


def _estimate(one: SystemEstimate) -> Json:
    who = (
        {"system": one.systems[0]}
        if one.kind == "mean"
        else {"system_a": one.systems[0], "system_b": one.systems[1]}
    )
    out: Json = {
        "kind": one.kind,
        **who,
        "n_labelled": one.n_labelled,
        "n_unlabelled": one.n_unlabelled,
        "classical": figure(one.classical),
        "naive": figure(one.naive),
    }
    if isinstance(one.ppi, Undefined):
        return {**out, "ppi": figure(one.ppi), "ppi_plus": figure(one.ppi)}
    return {
        **out,
        "ppi": figure(one.ppi.ppi),
        "ppi_plus": figure(one.ppi.ppi_plus),
        "tuning": one.ppi.tuning,
        "effective_labels": one.ppi.effective_labels,
    }


def _planning(found: Planning) -> Json:
    return {
        "n_judged": found.n_judged,
        "curve": {"why": found.curve.why}
        if isinstance(found.curve, Undefined)
        else [asdict(point) for point in found.curve],
        "to_separate": [
            {
                "system_a": one.system_a,
                "system_b": one.system_b,
                "difference": one.difference,
                **(
                    {"why": one.plan.why}
                    if isinstance(one.plan, Undefined)
                    else {
                        "with_judge": one.plan.with_judge,
                        "without_judge": one.plan.without_judge,
                    }
                ),
            }
            for one in found.separations
        ],
    }


def _replaceability(found: AlternativeAnnotatorTest | Undefined) -> Json:
    if isinstance(found, Undefined):
        return {"why": found.why}
    return {
        **asdict(found),
        "annotators": [asdict(one) for one in found.annotators],
        "left_out": [{"annotator": name, "n_items": n} for name, n in found.left_out],
    }


def _group_error(one: GroupError) -> Json:
    return {
        "group": one.group,
        "n": one.n,
        "n_documents": one.n_documents,
        "few_documents": one.few_documents,
        "error": figure(one.error),
        "absolute_error": figure(one.absolute_error),
        "error_gap": figure(one.error_gap),
        "absolute_error_gap": figure(one.absolute_error_gap),
        "adjusted_p_values": {
            "error_gap": one.adjusted_p_values[0],
            "absolute_error_gap": one.adjusted_p_values[1],
        },
        "flagged": one.flagged,
    }


def _comparison(comparison: Comparison) -> list[Json]:
    return [
        {
            "aspect": comparison.aspect,
            "n_items": comparison.n_items,
            "first": one.first,
            "second": one.second,
            "difference": figure(one.difference),
            "adjusted_p_value": one.adjusted_p_value,
        }
        for one in comparison.differences
    ]
