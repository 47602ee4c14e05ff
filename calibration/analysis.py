"""The calibration analysis: agreement, errors, calibrators, PPI, fairness, juries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from fairjudge.calibration.agreement import (
    MIN_ITEMS,
    Agreement,
    baseline_agreement,
    human_agreement,
    judge_agreement,
)
from fairjudge.calibration.annotators import AnnotatorReport, Camps, annotator_report
from fairjudge.calibration.baseline_gains import BaselineGain, baseline_gain
from fairjudge.calibration.baselines import (
    baseline_scores,
    covariates,
    document_groups,
    word_counts,
)
from fairjudge.calibration.calibration_report import CalibrationReport, calibration_report
from fairjudge.calibration.calibrators import cross_fit
from fairjudge.calibration.comparison import Comparison, comparisons
from fairjudge.calibration.confusion import Confusion, confusion
from fairjudge.calibration.constancy import constant_side
from fairjudge.calibration.decisions import Decision, decide
from fairjudge.calibration.disagreements import (
    CauseCount,
    Disagreement,
    count_causes,
    find_causes,
    largest_disagreements,
)
from fairjudge.calibration.drawn_correlation import correlation_of_all
from fairjudge.calibration.estimates import Planning, SystemEstimate, plan_labels, system_estimates
from fairjudge.calibration.grouping import GroupKey
from fairjudge.calibration.groups import GroupError, errors_by_grouping
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.calibration.jury_report import Covariates, JuryReport, report_juries
from fairjudge.calibration.labels import ItemKey, Labels
from fairjudge.calibration.protocol_table import JudgingCost, ProtocolTable, protocol_tables
from fairjudge.calibration.rates import RatesReport, report_rates
from fairjudge.calibration.replaceability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from fairjudge.calibration.samples import ItemProperties, answers_by_system
from fairjudge.calibration.scales import rescale
from fairjudge.calibration.settings import Settings
from fairjudge.domain import Cluster, Estimate, Judgement, Label, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import harmonize_ids
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeMeasures:
    """Agreement of a judge and of annotators, the judge's gain over baselines, and decisions.

    ``people`` is about differences between annotators. ``over_baselines`` is the judge's gain over
    the best of ``baselines``, and over the constant answer.
    """

    agreement: Agreement | Undefined
    human: Agreement | Undefined
    people: AnnotatorReport
    baselines: Mapping[str, Agreement | Undefined]
    over_baselines: BaselineGain | Undefined
    replaceability: AlternativeAnnotatorTest | Undefined
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport(JudgeMeasures):
    """All results of one judge, aspect, protocol and unit; ``joined`` has the items and counts.

    ``fairness`` maps a grouping (``system``, ``family`` of systems, ``length``, ``outlet``, an
    attribute) to errors by group, of the scores described by ``fairness_of``. ``rates`` is None
    unless the judge answers yes or no. ``disagreements`` are sorted by descending gap; ``causes``
    are their common causes. ``asked`` is the cost of the judgements. ``confusion`` is the table of
    the judge's and the human values.
    """

    joined: JoinedItems
    calibration: CalibrationReport
    ppi: tuple[SystemEstimate, ...]
    correlation: Estimate | Undefined | None
    planning: Planning
    fairness: Mapping[str, tuple[GroupError, ...]]
    fairness_of: str
    rates: RatesReport | None
    disagreements: tuple[Disagreement, ...]
    causes: tuple[CauseCount, ...]
    confusion: Confusion | None
    asked: JudgingCost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The results of a calibration analysis."""

    settings: Settings
    groups: tuple[GroupReport, ...]
    comparisons: tuple[Comparison, ...]
    protocols: tuple[ProtocolTable, ...] = ()
    juries: tuple[JuryReport, ...] = ()


def analyse(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    settings: Settings,
    summaries: Sequence[Summary] = (),
    clusters: Sequence[Cluster] = (),
    support: Mapping[tuple[str, str], float] | None = None,
    costs: Mapping[GroupKey, JudgingCost] | None = None,
) -> Analysis:
    """Measure every judge, aspect, protocol and unit in `judgements` against `labels`.

    `summaries` and `clusters` add baselines by length and word overlap, and groups by length,
    outlet and attribute. `support`, the embedding support of each (eid, system), is an additional
    baseline. `costs` are the costs of judging by group. Raises the errors of `join`.
    """
    rows = tuple(judgements)
    harmonized_labels = harmonize_ids(labels, rows)
    groups = join(
        rows, harmonized_labels, annotators=settings.annotators, label_scale=settings.label_scale
    )
    material = _collect_material(
        rows,
        harmonized_labels,
        groups,
        settings=settings,
        summaries=summaries,
        clusters=clusters,
        support=support,
    )
    seed_sequence = np.random.SeedSequence(settings.seed)
    seeds = seed_sequence.spawn(len(groups) + 2)
    reports = tuple(
        _report(items, material, settings, costs or {}, np.random.default_rng(seed))
        for items, seed in zip(groups, seeds[1:-1], strict=True)
    )
    jury_rng, decision_rng = map(np.random.default_rng, seed_sequence.spawn(2))
    fitted_juries = report_juries(
        groups,
        rows,
        harmonized_labels,
        covariates=material.covariates,
        settings=settings,
        rng=jury_rng,
    )
    return Analysis(
        settings=settings,
        groups=reports,
        comparisons=comparisons(groups, settings.resampling, np.random.default_rng(seeds[0])),
        protocols=protocol_tables(
            [(report.joined, report.agreement) for report in reports],
            costs or {},
            resampling=settings.resampling,
            rng=np.random.default_rng(seeds[-1]),
        ),
        juries=tuple(
            _with_decisions(jury, material.baselines, settings, decision_rng)
            for jury in fitted_juries
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    judgements: Sequence[Judgement]
    labels: Sequence[Label]
    baselines: Mapping[str, Mapping[tuple[str, str], float]]
    words: Mapping[tuple[str, str], int]
    documents: Mapping[str, Mapping[str, str]]
    by_annotators: Mapping[str, Labels]
    covariates: Covariates
    joined: Sequence[JoinedItems]

    def item_properties(self, items: JoinedItems, strata: str | None) -> ItemProperties:
        """Return the covariates and other judges' values of a group's items, and their strata."""
        item_keys = (*items.keys, *items.rest)
        columns: dict[str, Mapping[ItemKey, float]] = {
            name: {key: values[key[0], key[1]] for key in item_keys if (key[0], key[1]) in values}
            for name, values in self.covariates.items()
            if not PROTOCOLS[items.protocol].paired
        }
        # Exclude judges that were fitted on these labels, such as juries, from regressions.
        fitted_judges = {
            row.judge
            for row in self.judgements
            if {"members", "uncalibrated"} & (row.model_extra or {}).keys()
        }
        for other_items in self.joined:
            if other_items.judge in fitted_judges or other_items.group == items.group:
                continue
            if other_items.aspect == items.aspect:
                values = np.r_[other_items.judged, other_items.judged_rest].tolist()
                columns[other_items.group.title] = dict(
                    zip((*other_items.keys, *other_items.rest), values, strict=True)
                )
        return ItemProperties(
            columns=columns, strata=None if strata is None else self.documents[strata]
        )


def _collect_material(
    judgements: Sequence[Judgement],
    labels: Sequence[Label],
    items: Sequence[JoinedItems],
    *,
    settings: Settings,
    summaries: Sequence[Summary],
    clusters: Sequence[Cluster],
    support: Mapping[tuple[str, str], float] | None,
) -> _Material:
    """Collect the data that judges are compared with; raise for unknown strata."""
    baselines = dict(baseline_scores(summaries, clusters)) if summaries else {}
    if support is not None:
        baselines["embedding_support"] = dict(support)
    material = _Material(
        judgements=judgements,
        labels=labels,
        baselines=baselines,
        words=dict(word_counts(summaries)),
        documents=document_groups(clusters),
        by_annotators=Labels.by_aspect(labels, settings.annotators),
        covariates=covariates(settings.covariates, summaries, clusters),
        joined=items,
    )
    if settings.strata is not None and settings.strata not in material.documents:
        groupings = ", ".join(map(repr, material.documents)) or "none"
        raise InputError(
            f"no strata {settings.strata!r}: the clusters' groupings are {groupings}",
            field="strata",
        )
    return material


def _report(
    items: JoinedItems,
    material: _Material,
    settings: Settings,
    costs: Mapping[GroupKey, JudgingCost],
    rng: np.random.Generator,
) -> GroupReport:
    level = settings.resampling.level
    calibrated_scores = cross_fit(
        settings.calibrator,
        items.judged,
        items.human,
        documents=items.documents,
        rng=rng,
        n_folds=settings.n_folds,
    )
    rescaled_scores = rescale(items.judged, items.judge_scale, items.label_scale)
    causes = find_causes(items, material.judgements, words=material.words)
    disagreements = largest_disagreements(
        items, material.judgements, material.labels, causes=causes, limit=settings.n_disagreements
    )
    measures = measure_judge(items, material.baselines, settings=settings, rng=rng)
    (fold_rng,) = rng.spawn(1)  # a separate stream, so that other results do not change
    properties = material.item_properties(items, settings.strata)
    return GroupReport(
        **{field.name: getattr(measures, field.name) for field in fields(measures)},
        joined=items,
        calibration=calibration_report(
            items, rescaled_scores, calibrated_scores, settings=settings, rng=rng
        ),
        ppi=system_estimates(
            items,
            level=level,
            rng=fold_rng,
            properties=properties,
            answers=answers_by_system(
                items, material.judgements, material.by_annotators, properties
            ),
        ),
        correlation=correlation_of_all(items, level=level),
        planning=plan_labels(items, level=level, n_judged=settings.planned_documents),
        fairness=errors_by_grouping(
            items,
            rescaled_scores if isinstance(calibrated_scores, Undefined) else calibrated_scores,
            words=material.words,
            documents=material.documents,
            families=settings.families,
            level=level,
        ),
        fairness_of="judge's scores"
        if isinstance(calibrated_scores, Undefined)
        else "calibrated scores, cross-fitted",
        rates=report_rates(items, level=level),
        disagreements=disagreements,
        causes=count_causes(causes, [disagreement.key for disagreement in disagreements]),
        confusion=confusion(items),
        asked=costs.get(items.group),
    )


def _with_decisions(
    jury: JuryReport,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    settings: Settings,
    rng: np.random.Generator,
) -> JuryReport:
    """Add the decisions on a jury's uses, if it scored at least `MIN_ITEMS` items."""
    if jury.held_out is None or len(jury.held_out.keys) < MIN_ITEMS:
        return jury
    measures = measure_judge(jury.held_out, baselines, settings=settings, rng=rng)
    return replace(jury, decisions=measures.decisions)


def measure_judge(
    items: JoinedItems,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    settings: Settings,
    rng: np.random.Generator,
) -> JudgeMeasures:
    """Measure a judge, or a jury by its cross-fitted scores in `items`."""
    n, resampling = len(items.keys), settings.resampling
    too_few = Undefined(why=f"{pluralize(n, 'item')} with both judgement and label: too few")
    agreement: Agreement | Undefined = too_few
    human: Agreement | Undefined = too_few
    by_baseline: dict[str, Agreement | Undefined] = {}
    if n >= 2:
        agreement = judge_agreement(items, resampling=resampling, rng=rng)
        human = human_agreement(items, resampling=resampling, rng=rng)
        by_baseline = baseline_agreement(items, baselines, resampling=resampling, rng=rng)
    (gain_rng,) = rng.spawn(1)  # a separate stream, so that other results do not change
    gain = (
        too_few
        if n < MIN_ITEMS
        else baseline_gain(items, by_baseline, baselines, resampling=resampling, rng=gain_rng)
    )
    annotators = annotator_report(items, resampling=resampling, seed=settings.seed)
    replaceability = alternative_annotator_test(
        rescale(items.judged, items.judge_scale, items.label_scale),
        items.ratings,
        items.present,
        annotators=items.annotators,
        epsilon=settings.epsilon,
        alignment="accuracy"
        if PROTOCOLS[items.protocol].yes_no and not items.averaged_labels
        else "rmse",
        documents=items.documents,
    )
    return JudgeMeasures(
        agreement=agreement,
        human=human,
        people=annotators,
        baselines=by_baseline,
        over_baselines=gain,
        replaceability=replaceability,
        decisions=decide(
            agreement,
            over_baselines=gain,
            replaceability=replaceability,
            n_documents=len(set(items.documents)),
            constant=constant_side(items.judged, items.human, items.protocol),
            in_camps=isinstance(annotators.camps, Camps) and annotators.camps.found,
        ),
    )
