"""Juries of an analysis: candidate members, fit and performance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.calibrators import Calibrator, fit_calibrator
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.calibration.decisions import Decision
from fairjudge.calibration.grouping import kind_of
from fairjudge.calibration.items import Joined, join, ratings_of
from fairjudge.calibration.juries import FittedJury, JuryItems, Member, fit_members
from fairjudge.calibration.jury_assessment import JuryFigures, jury_figures
from fairjudge.calibration.labels import ItemKey
from fairjudge.calibration.scales import rescale
from fairjudge.calibration.settings import Settings
from fairjudge.domain import Judgement, Label, Undefined
from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.stats._arrays import FloatArray

Covariates = Mapping[CovariateName, Mapping[tuple[str, str], float]]
"""A number of the text of each (eid, system), by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryReport:
    """A jury of all judges of an aspect and kind of unit.

    ``names`` are its members'; ``left_out`` says why others are none; ``fitted`` is fitted on all
    labelled items, to be used on others; ``figures`` are over held-out documents. ``held_out`` has
    the jury's scores there as a judge's, and ``decisions`` are its decisions.
    """

    aspect: str
    unit: str
    names: tuple[str, ...]
    left_out: Mapping[str, str]
    covariates: tuple[CovariateName, ...]
    fitted: FittedJury | Undefined
    figures: JuryFigures | Undefined
    held_out: Joined | None = None
    decisions: tuple[Decision, ...] = ()


_Candidate: TypeAlias = tuple[Joined, str]
"""A judge that may be a member, and the prompt where it is one of several of one judge."""


def juries(
    groups: Sequence[Joined],
    judgements: Sequence[Judgement],
    labels: Sequence[Label],
    *,
    covariates: Covariates,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[JuryReport, ...]:
    """Fit a jury where several judges, or one judge by several prompts, scored labelled items.

    `covariates` are numbers of the texts, by name.
    Members judge one aspect, and their items are of one kind of unit; they may score by different
    protocols and on different scales. Neither pairs nor what a jury said takes part.
    """
    by_juries = {row.judge for row in judgements if "members" in (row.model_extra or {})}
    sets: dict[tuple[str, str], list[Joined]] = defaultdict(list)
    for joined in groups:
        paired = PROTOCOLS[joined.protocol].paired
        if joined.keys and not paired and joined.judge not in by_juries:
            sets[joined.aspect, kind_of(joined.keys[0][3])].append(joined)
    reports = []
    for of, joined_groups in sets.items():
        candidates = (
            [(joined, "") for joined in joined_groups]
            if len(joined_groups) > 1
            else _by_variant(joined_groups[0], judgements, labels, settings)
        )
        (own,) = rng.spawn(1)
        if len(candidates) > 1:
            reports.append(_jury(of, candidates, covariates, settings, own))
    return tuple(reports)


def calibrator_of(joined: Joined, method: CalibratorName) -> Calibrator | Undefined:
    """Fit a judge's calibrator on all of its labelled items, to be used on others."""
    all_scores = np.r_[joined.judged, joined.judged_rest]
    score_range = (float(all_scores.min()), float(all_scores.max())) if all_scores.size else None
    fitted = fit_calibrator(method, joined.judged, joined.human, score_range=score_range)
    if isinstance(fitted, Undefined):
        return fitted
    return replace(fitted, **joined.group._asdict())


def _by_variant(
    joined: Joined, judgements: Sequence[Judgement], labels: Sequence[Label], settings: Settings
) -> list[_Candidate]:
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for row in judgements:
        if (row.judge, row.aspect, row.protocol) == joined.group[:3] and row.variant is not None:
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
        if group.keys and group.unit == joined.unit
    ]


def _jury(
    of: tuple[str, str],
    candidates: Sequence[_Candidate],
    covariates: Covariates,
    settings: Settings,
    rng: np.random.Generator,
) -> JuryReport:
    aspect, unit = of
    members, left_out = _members(candidates, settings.calibrator)
    items = _items([joined for joined, _ in members.values()], covariates)
    fitted = (
        fit_members(items, method=settings.calibrator, rng=rng)
        if len(members) > 1
        else Undefined(why="fewer than 2 judges have a calibrator of their own")
    )
    jury: FittedJury | Undefined
    figures: JuryFigures | Undefined
    if isinstance(fitted, Undefined):
        jury = figures = fitted
    else:
        jury = FittedJury(
            aspect=aspect,
            unit=unit,
            members=tuple(member for _, member in members.values()),
            covariates=tuple(covariates),
            stacking=fitted.stacking,
            label_range=(float(items.labels.min()), float(items.labels.max())),
        )
        all_present = np.ones(len(fitted.stacking.means) - 1, dtype=bool)
        figures = jury_figures(
            items,
            tuple(members),
            weights=fitted.stacking.weights(all_present)[1],
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
        figures=figures,
        held_out=None
        if isinstance(figures, Undefined)
        else _as_judge([joined for joined, _ in members.values()], figures.scores),
    )


def _members(
    candidates: Sequence[_Candidate], method: CalibratorName
) -> tuple[dict[str, tuple[Joined, Member]], dict[str, str]]:
    """Return the candidates that have a calibrator by name, and why the others have none."""
    members: dict[str, tuple[Joined, Member]] = {}
    left_out: dict[str, str] = {}
    for name, (joined, variant) in zip(_names(candidates), candidates, strict=True):
        calibrator = calibrator_of(joined, method)
        if isinstance(calibrator, Undefined):
            left_out[name] = calibrator.why
        else:
            members[name] = joined, Member(calibrator=calibrator, variant=variant)
    return members, left_out


def _as_judge(members: Sequence[Joined], scores: FloatArray) -> Joined:
    """Return a jury's scores of held-out items, on the labels' scale, beside their labels."""
    base = members[0]
    human, labels = dict[ItemKey, float](), dict[ItemKey, dict[str, float]]()
    for joined in members:
        for row, key in enumerate(joined.keys):
            if key not in human:
                human[key] = float(joined.human[row])
                labels[key] = joined.labels_of(row)
    scored = {
        key: score for key, score in zip(human, scores.tolist(), strict=True) if np.isfinite(score)
    }
    annotators, ratings, present = ratings_of([labels[key] for key in scored])
    return replace(
        base,
        judge=f"jury of {len(members)}",
        protocol="likert",
        keys=tuple(scored),
        documents=tuple(key[0] for key in scored),
        systems=tuple(key[1] for key in scored),
        judged=np.array(list(scored.values())),
        human=np.array([human[key] for key in scored]),
        inclusion_probabilities=None,
        annotators=annotators,
        ratings=ratings,
        present=present,
        probabilities=(None,) * len(scored),
        rest=(),
        judged_rest=np.empty(0),
        unjudged=(),
        judge_scale=base.label_scale,
        notes=(),
    )


def _names(candidates: Sequence[_Candidate]) -> list[str]:
    """Name candidates by judge, and by protocol where a judge has several."""
    judges = [joined.judge for joined, _ in candidates]
    return [
        f"{joined.judge}, prompt {variant}"
        if variant
        else joined.judge
        if judges.count(joined.judge) == 1
        else f"{joined.judge}, {protocol_label(joined.protocol, joined.unit)}"
        for joined, variant in candidates
    ]


def _items(members: Sequence[Joined], covariates: Covariates) -> JuryItems:
    labels: dict[ItemKey, float] = {}
    for joined in members:
        for key, label in zip(joined.keys, joined.human.tolist(), strict=True):
            labels.setdefault(key, label)
    place = {key: row for row, key in enumerate(labels)}
    scores, mapped = np.full((2, len(place), len(members)), np.nan)
    for column, joined in enumerate(members):
        rows = [place[key] for key in joined.keys]
        scores[rows, column] = joined.judged
        mapped[rows, column] = rescale(joined.judged, joined.judge_scale, joined.label_scale)
    return JuryItems(
        scores=scores,
        mapped=mapped,
        covariates=covariate_columns(list(place), covariates),
        labels=np.array(list(labels.values())),
        documents=tuple(key[0] for key in place),
    )


def covariate_columns(keys: Sequence[ItemKey], covariates: Covariates) -> FloatArray:
    """Return the covariates of items, shape (n, covariates), NaN where a text is not given."""
    columns = [
        [values.get((key[0], key[1]), np.nan) for key in keys] for values in covariates.values()
    ]
    return np.array(columns).reshape(len(columns), len(keys)).T
