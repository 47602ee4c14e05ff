"""The JSON output of ``fairjudge calibrate --json`` (docs/formats.md), without computations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairjudge.calibration.analysis import Analysis, GroupReport
from fairjudge.calibration.audits import PositionAudit, VerbosityAudit
from fairjudge.calibration.calibration_report import CalibrationReport
from fairjudge.calibration.estimates import Separation, SystemEstimate
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.jury_report import JuryReport
from fairjudge.calibration.labels import item_json
from fairjudge.calibration.ppi import PpiMean
from fairjudge.calibration.protocol_table import ProtocolTable
from fairjudge.calibration.replaceability import AlternativeAnnotatorTest
from fairjudge.calibration.temperature import DistributionReport, DistributionScores
from fairjudge.domain import Undefined
from fairjudge.records.results import Json, figure, to_json
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.text.counting import pluralize
from fairjudge.text.model_families import own_family_warning

MAX_LISTED = 20
"""Maximum number of unmatched items that are listed, unless all are requested."""


def analysis_json(analysis: Analysis, *, signature: Mapping[str, Any], list_all: bool) -> Json:
    """Return the JSON of an analysis; with `list_all`, it lists every unmatched item."""
    return {
        "groups": [_group_json(report, list_all=list_all) for report in analysis.groups],
        "comparisons": [
            {"aspect": comparison.aspect, "n_items": comparison.n_items, **to_json(difference)}
            for comparison in analysis.comparisons
            for difference in comparison.differences
        ],
        "protocols": [_protocol_table_json(table) for table in analysis.protocols],
        "juries": [_jury_json(report) for report in analysis.juries],
        "settings": to_json(analysis.settings),
        "signature": dict(signature),
    }


def _protocol_table_json(table: ProtocolTable) -> Json:
    marks = {table.cheaper: "cheaper", table.best: "best"}
    return {
        "aspect": table.aspect,
        "n_documents": table.n_documents,
        "rows": [
            {
                **row.group._asdict(),
                "kendall": figure(row.kendall),
                "n_requests": row.asked.n_requests if row.asked else None,
                "cost_usd": row.asked.cost_usd if row.asked else None,
                "usd_per_item": row.asked.usd_per_item if row.asked else None,
                "behind": None if row.behind is None else figure(row.behind),
                "adjusted_p_value": row.adjusted_p_value,
                "mark": marks.get(row.group),
            }
            for row in table.rows
        ],
    }


def _jury_json(jury: JuryReport) -> Json:
    entry: Json = {
        "aspect": jury.aspect,
        "unit": jury.unit,
        "judges": list(jury.names),
        "left_out": dict(jury.left_out),
        "covariates": list(jury.covariates),
        "fitted": jury.fitted.to_dict()
        if not isinstance(jury.fitted, Undefined)
        else figure(jury.fitted),
    }
    figures = jury.figures
    if isinstance(figures, Undefined):
        return entry | {"why": figures.why}
    return entry | {
        "why": None,
        "n_items": figures.n_items,
        "n_complete": figures.n_complete,
        "n_documents": figures.n_documents,
        "n_folds": figures.n_folds,
        "rmse": figure(figures.rmse),
        "compared": [
            {"name": name, **to_json(comparison)} for name, comparison in figures.compared.items()
        ],
        "members": [to_json(member) | {"adds": member.adds} for member in figures.members],
        "error_correlation": figure(figures.effective.correlation),
        "effective_number": figure(figures.effective.number),
        "decisions": to_json(jury.decisions),
    }


def audits_json(audits: Sequence[PositionAudit | VerbosityAudit]) -> Json:
    """Return the JSON of ``audit position --json`` and ``audit verbosity --json``, in percent."""
    return {"groups": [_flatten_field(to_json(audit, times=100.0), "bias") for audit in audits]}


def _flatten_field(entry: Json, field: str) -> Json:
    """Replace the key `field` of an entry by the keys of its content."""
    return {
        key: value
        for name, content in entry.items()
        for key, value in (content if name == field else {name: content}).items()
    }


def _group_json(report: GroupReport, *, list_all: bool) -> Json:
    items, cost, planning = report.joined, report.asked, report.planning
    return {
        **items.group._asdict(),
        "n_items": len(items.keys),
        "n_documents": len(set(items.documents)),
        "few_documents": 0 < len(set(items.documents)) < FEW_DOCUMENTS,
        "n_systems": len(set(items.systems)),
        "n_unscored": sum(items.counts.unscored.values()),
        "annotators": list(items.annotators),
        "counts": to_json(items.counts),
        "join": items.match.to_json(),
        "unmatched": _unmatched_json(items, list_all=list_all),
        "scales": {"judge": list(items.judge_scale), "labels": list(items.label_scale)},
        "notes": [*items.notes, *_count_notes(items)],
        "decisions": to_json(report.decisions),
        "cost": cost and {**to_json(cost), "usd_per_item": cost.usd_per_item},
        "agreement": to_json(report.agreement),
        "human": to_json(report.human),
        "people": to_json(report.people),
        "baselines": to_json(report.baselines),
        "over_baselines": to_json(report.over_baselines),
        "calibration": _calibration_json(report.calibration),
        "ppi": [_estimate_json(estimate) for estimate in report.ppi],
        "correlation": to_json(report.correlation),
        "planning": {
            "n_judged": planning.n_judged,
            "curve": to_json(planning.curve),
            "to_separate": [_separation_json(separation) for separation in planning.separations],
        },
        "replaceability": _replaceability_json(report.replaceability),
        "fairness": {"of": report.fairness_of, "groups": to_json(report.fairness)},
        "rates": report.rates and _flatten_field(to_json(report.rates), "errors"),
        "disagreements": to_json(report.disagreements),
        "disagreement_causes": to_json(report.causes),
        "confusion": to_json(report.confusion),
    }


def _count_notes(items: JoinedItems) -> list[str]:
    """Describe the counts that are not 0."""
    counts, (low, high) = items.counts, items.judge_scale
    n_absent = len(items.match.only_right)
    counts_in_words = [
        (counts.repeated, "judgement", "of an item that has another (re-runs); averaged"),
        (counts.mistyped, "judgement", "with a value that the protocol does not allow; excluded"),
        (counts.off_scale, "judgement", f"off the scale {low:g} to {high:g}; excluded"),
        (counts.one_order, "pair", "judged in one order alone"),
        (counts.repeated_labels, "label", "by somebody who labelled the item before; averaged"),
        (
            counts.adjudicated_labels,
            "adjudicated label",
            "excluded: such items were chosen because judge and people disagree",
        ),
        (len(items.rest), "judged item", "without a label"),
        (n_absent, "labelled item", "not judged"),
        (len(items.unjudged) - n_absent, "labelled item", "judged, but without a score"),
    ]
    notes = [f"{pluralize(n, noun)} {text}" for n, noun, text in counts_in_words if n]
    systems = (name for key in items.keys for name in key[1:3] if name)
    if warning := own_family_warning(items.judge, systems):
        notes.append(warning)
    n_documents = len(set(items.documents))
    if 0 < n_documents < FEW_DOCUMENTS:
        notes.append(f"{pluralize(n_documents, 'document')}: intervals over so few are rough")
    return notes


def _unmatched_json(items: JoinedItems, *, list_all: bool) -> Json:
    limit = None if list_all else MAX_LISTED
    return {
        "judged_without_label": len(items.rest),
        "labelled_without_judgement": len(items.unjudged),
        "judged_without_label_items": [item_json(key) for key in items.rest[:limit]],
        "labelled_without_judgement_items": [item_json(key) for key in items.unjudged[:limit]],
    }


def _calibration_json(report: CalibrationReport) -> Json:
    entry: Json = to_json(report)
    entry |= {
        name: [{"from": row.pop("low"), "to": row.pop("high"), **row} for row in entry[name]]
        for name in ("reliability_before", "reliability_after")
    }
    if not isinstance(report.calibrator, Undefined):
        entry["calibrator"] = report.calibrator.to_dict()
    return entry | {"distribution": _distribution_json(report.distribution)}


def _distribution_json(report: DistributionReport | Undefined) -> Json:
    if isinstance(report, Undefined):
        return figure(report)
    return {
        **to_json(report),
        "temperature": figure(report.temperature),
        "before": _distribution_scores_json(report.before),
        "after": _distribution_scores_json(report.after),
        "expected_score": {name: figure(value) for name, value in report.expected_score.items()},
    }


def _distribution_scores_json(scores: DistributionScores | Undefined) -> Json:
    if isinstance(scores, Undefined):
        return figure(scores)
    return {**to_json(scores), "calibration_error": figure(scores.calibration_error)}


def _estimate_json(system_estimate: SystemEstimate) -> Json:
    entry = to_json(system_estimate)
    names = ("system",) if system_estimate.kind == "mean" else ("system_a", "system_b")
    entry["systems"] = dict(zip(names, system_estimate.systems, strict=True))
    entry, ppi = _flatten_field(entry, "systems"), entry.pop("ppi")
    regression = system_estimate.regression
    if isinstance(regression, PpiMean):
        regression_entry = entry["regression"]
        entry["regression"] = regression_entry["ppi_plus"] | {
            name: regression_entry[name] for name in ("tuning", "effective_labels")
        }
    if isinstance(system_estimate.ppi, Undefined):
        return entry | {"ppi": ppi, "ppi_plus": ppi}
    return entry | {name: ppi[name] for name in ("ppi", "ppi_plus", "tuning", "effective_labels")}


def _separation_json(separation: Separation) -> Json:
    entry: Json = to_json(separation)
    plan: Json = entry.pop("plan")
    if not isinstance(separation.plan, Undefined):
        plan = {name: plan[name] for name in ("with_judge", "without_judge")}
    return entry | plan


def _replaceability_json(test: AlternativeAnnotatorTest | Undefined) -> Json:
    entry: Json = to_json(test)
    if not isinstance(test, Undefined):
        entry["left_out"] = [{"annotator": name, "n_items": n} for name, n in test.left_out]
    return entry
