"""Juries of an analysis: candidate members, fits and performance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.calibrators import Calibrator, fit_calibrator
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.calibration.decisions import Decision
from fairjudge.calibration.grouping import unit_kind
from fairjudge.calibration.items import JoinedItems, join, rating_table
from fairjudge.calibration.juries import FittedJury, JuryItems, Member, fit_members
from fairjudge.calibration.jury_assessment import JuryMeasures, measure_jury
from fairjudge.calibration.labels import ItemKey
from fairjudge.calibration.scales import rescale
from fairjudge.calibration.settings import Settings
from fairjudge.domain import Judgement, Label, Undefined
from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.stats._arrays import FloatArray

Covariates = Mapping[CovariateName, Mapping[tuple[str, str], float]]
"""Covariates by name; each maps (eid, system) to a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryReport:
    """A jury of all judges of an aspect and kind of unit.

    ``names`` are the names of its members; ``left_out`` maps other judges to the reason why they
    are not members. ``fitted`` is fitted on all labelled items, for use on new items. ``figures``
    are over held-out documents. ``held_out`` has the jury's cross-fitted scores, as those of a
    judge, and ``decisions`` follow from these.
    """

    aspect: str
    unit: str
    names: tuple[str, ...]
    left_out: Mapping[str, str]
    covariates: tuple[CovariateName, ...]
    fitted: FittedJury | Undefined
    figures: JuryMeasures | Undefined
    held_out: JoinedItems | None = None
    decisions: tuple[Decision, ...] = ()


_Candidate: TypeAlias = tuple[JoinedItems, str]
"""A possible member: a judge, and its prompt variant if all candidates are of one judge."""


def report_juries(
    groups: Sequence[JoinedItems],
    judgements: Sequence[Judgement],
    labels: Sequence[Label],
    *,
    covariates: Covariates,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[JuryReport, ...]:
    """Fit a jury for each aspect and unit that several judges, or prompt variants, scored.

    Members have the same aspect and kind of unit, but may have different protocols and scales.
    Judges of pairs and juries cannot be members.
    """
    jury_names = {row.judge for row in judgements if "members" in (row.model_extra or {})}
    groups_by_aspect: dict[tuple[str, str], list[JoinedItems]] = defaultdict(list)
    for items in groups:
        paired = PROTOCOLS[items.protocol].paired
        if items.keys and not paired and items.judge not in jury_names:
            groups_by_aspect[items.aspect, unit_kind(items.keys[0][3])].append(items)
    reports = []
    for aspect_and_unit, joined_groups in groups_by_aspect.items():
        candidates = (
            [(items, "") for items in joined_groups]
            if len(joined_groups) > 1
            else _variant_candidates(joined_groups[0], judgements, labels, settings)
        )
        (jury_rng,) = rng.spawn(1)
        if len(candidates) > 1:
            reports.append(
                _report_jury(aspect_and_unit, candidates, covariates, settings, jury_rng)
            )
    return tuple(reports)


def fit_judge_calibrator(items: JoinedItems, method: CalibratorName) -> Calibrator | Undefined:
    """Fit a judge's calibrator on all of its labelled items, for use on new items."""
    all_scores = np.r_[items.judged, items.judged_rest]
    score_range = (float(all_scores.min()), float(all_scores.max())) if all_scores.size else None
    calibrator = fit_calibrator(method, items.judged, items.human, score_range=score_range)
    if isinstance(calibrator, Undefined):
        return calibrator
    return replace(calibrator, **items.group._asdict())


def _variant_candidates(
    items: JoinedItems, judgements: Sequence[Judgement], labels: Sequence[Label], settings: Settings
) -> list[_Candidate]:
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for row in judgements:
        if (row.judge, row.aspect, row.protocol) == items.group[:3] and row.variant is not None:
            rows[row.variant].append(row)
    if len(rows) < 2:
        return []
    return [
        (group, variant)
        for variant, judgements_of_variant in rows.items()
        for group in join(
            judgements_of_variant,
            labels,
            annotators=settings.annotators,
            label_scale=settings.label_scale,
        )
        if group.keys and group.unit == items.unit
    ]


def _report_jury(
    aspect_and_unit: tuple[str, str],
    candidates: Sequence[_Candidate],
    covariates: Covariates,
    settings: Settings,
    rng: np.random.Generator,
) -> JuryReport:
    aspect, unit = aspect_and_unit
    members, left_out = _members(candidates, settings.calibrator)
    jury_items = _jury_items([items for items, _ in members.values()], covariates)
    fitted_members = (
        fit_members(jury_items, method=settings.calibrator, rng=rng)
        if len(members) > 1
        else Undefined(why="fewer than 2 judges have a calibrator of their own")
    )
    jury: FittedJury | Undefined
    measures: JuryMeasures | Undefined
    if isinstance(fitted_members, Undefined):
        jury = measures = fitted_members
    else:
        jury = FittedJury(
            aspect=aspect,
            unit=unit,
            members=tuple(member for _, member in members.values()),
            covariates=tuple(covariates),
            stacking=fitted_members.stacking,
            label_range=(float(jury_items.labels.min()), float(jury_items.labels.max())),
        )
        all_present = np.ones(len(fitted_members.stacking.means) - 1, dtype=bool)
        measures = measure_jury(
            jury_items,
            tuple(members),
            weights=fitted_members.stacking.weights(all_present)[1],
            method=settings.calibrator,
            n_folds=settings.n_folds,
            resampling=settings.resampling,
            rng=rng,
        )
    return JuryReport(
        aspect=aspect,
        unit=unit,
        names=tuple(members),
        left_out=left_out,
        covariates=tuple(covariates),
        fitted=jury,
        figures=measures,
        held_out=None
        if isinstance(measures, Undefined)
        else _as_judge_items([items for items, _ in members.values()], measures.scores),
    )


def _members(
    candidates: Sequence[_Candidate], method: CalibratorName
) -> tuple[dict[str, tuple[JoinedItems, Member]], dict[str, str]]:
    """Return the members, which have a calibrator, by name; and the reasons of other candidates."""
    members: dict[str, tuple[JoinedItems, Member]] = {}
    left_out: dict[str, str] = {}
    for name, (items, variant) in zip(_candidate_names(candidates), candidates, strict=True):
        calibrator = fit_judge_calibrator(items, method)
        if isinstance(calibrator, Undefined):
            left_out[name] = calibrator.why
        else:
            members[name] = items, Member(calibrator=calibrator, variant=variant)
    return members, left_out


def _as_judge_items(members: Sequence[JoinedItems], scores: FloatArray) -> JoinedItems:
    """Return a jury's cross-fitted scores, on the labels' scale, as the items of a judge."""
    base = members[0]
    human, labels = dict[ItemKey, float](), dict[ItemKey, dict[str, float]]()
    for items in members:
        for row, key in enumerate(items.keys):
            if key not in human:
                human[key] = float(items.human[row])
                labels[key] = items.labels_of(row)
    score_by_key = {
        key: score for key, score in zip(human, scores.tolist(), strict=True) if np.isfinite(score)
    }
    annotators, ratings, present = rating_table([labels[key] for key in score_by_key])
    return replace(
        base,
        judge=f"jury of {len(members)}",
        protocol="likert",
        keys=tuple(score_by_key),
        documents=tuple(key[0] for key in score_by_key),
        systems=tuple(key[1] for key in score_by_key),
        judged=np.array(list(score_by_key.values())),
        human=np.array([human[key] for key in score_by_key]),
        inclusion_probabilities=None,
        annotators=annotators,
        ratings=ratings,
        present=present,
        probabilities=(None,) * len(score_by_key),
        rest=(),
        judged_rest=np.empty(0),
        unjudged=(),
        judge_scale=base.label_scale,
        notes=(),
    )


def _candidate_names(candidates: Sequence[_Candidate]) -> list[str]:
    """Name candidates by judge, with the protocol if a judge has several."""
    judges = [items.judge for items, _ in candidates]
    return [
        f"{items.judge}, prompt {variant}"
        if variant
        else items.judge
        if judges.count(items.judge) == 1
        else f"{items.judge}, {protocol_label(items.protocol, items.unit)}"
        for items, variant in candidates
    ]


def _jury_items(members: Sequence[JoinedItems], covariates: Covariates) -> JuryItems:
    labels: dict[ItemKey, float] = {}
    for items in members:
        for key, label in zip(items.keys, items.human.tolist(), strict=True):
            labels.setdefault(key, label)
    row_by_key = {key: row for row, key in enumerate(labels)}
    scores, rescaled_scores = np.full((2, len(row_by_key), len(members)), np.nan)
    for column, items in enumerate(members):
        rows = [row_by_key[key] for key in items.keys]
        scores[rows, column] = items.judged
        rescaled_scores[rows, column] = rescale(items.judged, items.judge_scale, items.label_scale)
    return JuryItems(
        scores=scores,
        rescaled_scores=rescaled_scores,
        covariates=covariate_columns(list(row_by_key), covariates),
        labels=np.array(list(labels.values())),
        documents=tuple(key[0] for key in row_by_key),
    )


def covariate_columns(keys: Sequence[ItemKey], covariates: Covariates) -> FloatArray:
    """Return the covariates of items, shape (n, covariates), NaN where missing."""
    columns = [
        [values.get((key[0], key[1]), np.nan) for key in keys] for values in covariates.values()
    ]
    return np.array(columns).reshape(len(columns), len(keys)).T
