"""The calibration analysis: agreement, errors, calibrators, PPI, fairness, juries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from fairjudge.calibration.agreement import (
    FEWEST_ITEMS,
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
from fairjudge.calibration.items import Joined, join
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

    joined: Joined
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
    questions: Mapping[GroupKey, JudgingCost] | None = None,
) -> Analysis:
    """Measure every judge, aspect, protocol and unit in `judgements` against `labels`.

    `summaries` and `clusters` add baselines by length and word overlap, and groups by length,
    outlet and attribute. `support`, the embedding support of each (eid, system), is an additional
    baseline. `questions` are the costs of judging by group. Raises the errors of `join`.
    """
    rows = tuple(judgements)
    people = harmonize_ids(labels, rows)
    groups = join(rows, people, annotators=settings.annotators, label_scale=settings.label_scale)
    material = _material(
        rows,
        people,
        groups,
        settings=settings,
        summaries=summaries,
        clusters=clusters,
        support=support,
    )
    source = np.random.SeedSequence(settings.seed)
    seeds = source.spawn(len(groups) + 2)
    reports = tuple(
        _report(joined, material, settings, questions or {}, np.random.default_rng(seed))
        for joined, seed in zip(groups, seeds[1:-1], strict=True)
    )
    of_juries, of_decisions = map(np.random.default_rng, source.spawn(2))
    fitted_juries = report_juries(
        groups,
        rows,
        people,
        covariates=material.covariates,
        settings=settings,
        rng=of_juries,
    )
    return Analysis(
        settings=settings,
        groups=reports,
        comparisons=comparisons(groups, settings.resampling, np.random.default_rng(seeds[0])),
        protocols=protocol_tables(
            [(report.joined, report.agreement) for report in reports],
            questions or {},
            resampling=settings.resampling,
            rng=np.random.default_rng(seeds[-1]),
        ),
        juries=tuple(
            _with_decisions(jury, material.baselines, settings, of_decisions)
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
    joined: Sequence[Joined]

    def item_properties(self, joined: Joined, strata: str | None) -> ItemProperties:
        """Return the covariates and other judges' values of a group's items, and their strata."""
        every = (*joined.keys, *joined.rest)
        columns: dict[str, Mapping[ItemKey, float]] = {
            name: {key: of[key[0], key[1]] for key in every if (key[0], key[1]) in of}
            for name, of in self.covariates.items()
            if not PROTOCOLS[joined.protocol].paired
        }
        # Exclude judges that were fitted on these labels, such as juries, from regressions.
        fitted = {
            row.judge
            for row in self.judgements
            if {"members", "uncalibrated"} & (row.model_extra or {}).keys()
        }
        for other in self.joined:
            if other.judge in fitted or other.group == joined.group:
                continue
            if other.aspect == joined.aspect:
                values = np.r_[other.judged, other.judged_rest].tolist()
                columns[other.group.title] = dict(
                    zip((*other.keys, *other.rest), values, strict=True)
                )
        return ItemProperties(
            columns=columns, strata=None if strata is None else self.documents[strata]
        )


def _material(
    judgements: Sequence[Judgement],
    labels: Sequence[Label],
    joined: Sequence[Joined],
    *,
    settings: Settings,
    summaries: Sequence[Summary],
    clusters: Sequence[Cluster],
    support: Mapping[tuple[str, str], float] | None,
) -> _Material:
    """Lay out what judges are compared with; reject strata that the clusters do not have."""
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
        joined=joined,
    )
    if settings.strata is not None and settings.strata not in material.documents:
        groupings = ", ".join(map(repr, material.documents)) or "none"
        raise InputError(
            f"no strata {settings.strata!r}: the clusters' groupings are {groupings}",
            field="strata",
        )
    return material


def _report(
    joined: Joined,
    material: _Material,
    settings: Settings,
    questions: Mapping[GroupKey, JudgingCost],
    rng: np.random.Generator,
) -> GroupReport:
    level = settings.resampling.level
    calibrated = cross_fit(
        settings.calibrator,
        joined.judged,
        joined.human,
        documents=joined.documents,
        rng=rng,
        n_folds=settings.n_folds,
    )
    mapped = rescale(joined.judged, joined.judge_scale, joined.label_scale)
    causes = find_causes(joined, material.judgements, words=material.words)
    widest = largest_disagreements(
        joined, material.judgements, material.labels, causes=causes, limit=settings.n_disagreements
    )
    figures = measure_judge(joined, material.baselines, settings=settings, rng=rng)
    (folds,) = rng.spawn(1)  # the other figures stay as they were
    properties = material.item_properties(joined, settings.strata)
    return GroupReport(
        **{field.name: getattr(figures, field.name) for field in fields(figures)},
        joined=joined,
        calibration=calibration_report(joined, mapped, calibrated, settings=settings, rng=rng),
        ppi=system_estimates(
            joined,
            level=level,
            rng=folds,
            properties=properties,
            answers=answers_by_system(
                joined, material.judgements, material.by_annotators, properties
            ),
        ),
        correlation=correlation_of_all(joined, level=level),
        planning=plan_labels(joined, level=level, n_judged=settings.planned_documents),
        fairness=errors_by_grouping(
            joined,
            mapped if isinstance(calibrated, Undefined) else calibrated,
            words=material.words,
            documents=material.documents,
            families=settings.families,
            level=level,
        ),
        fairness_of="judge's scores"
        if isinstance(calibrated, Undefined)
        else "calibrated scores, cross-fitted",
        rates=report_rates(joined, level=level),
        disagreements=widest,
        causes=count_causes(causes, [disagreement.key for disagreement in widest]),
        confusion=confusion(joined),
        asked=questions.get(joined.group),
    )


def _with_decisions(
    jury: JuryReport,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    settings: Settings,
    rng: np.random.Generator,
) -> JuryReport:
    """Add the decisions on a jury's uses, if it scored at least `FEWEST_ITEMS` items."""
    if jury.held_out is None or len(jury.held_out.keys) < FEWEST_ITEMS:
        return jury
    figures = measure_judge(jury.held_out, baselines, settings=settings, rng=rng)
    return replace(jury, decisions=figures.decisions)


def measure_judge(
    joined: Joined,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    settings: Settings,
    rng: np.random.Generator,
) -> JudgeMeasures:
    """Measure a judge, or a jury by its cross-fitted scores in `joined`."""
    n, resampling = len(joined.keys), settings.resampling
    few = Undefined(why=f"{pluralize(n, 'item')} with both judgement and label: too few")
    agreement: Agreement | Undefined = few
    human: Agreement | Undefined = few
    by_baseline: dict[str, Agreement | Undefined] = {}
    if n >= 2:
        agreement = judge_agreement(joined, resampling=resampling, rng=rng)
        human = human_agreement(joined, resampling=resampling, rng=rng)
        by_baseline = baseline_agreement(joined, baselines, resampling=resampling, rng=rng)
    (apart,) = rng.spawn(1)  # the other figures stay as they were
    over = (
        few
        if n < FEWEST_ITEMS
        else baseline_gain(joined, by_baseline, baselines, resampling=resampling, rng=apart)
    )
    people = annotator_report(joined, resampling=resampling, seed=settings.seed)
    replaceability = alternative_annotator_test(
        rescale(joined.judged, joined.judge_scale, joined.label_scale),
        joined.ratings,
        joined.present,
        annotators=joined.annotators,
        epsilon=settings.epsilon,
        alignment="accuracy"
        if PROTOCOLS[joined.protocol].yes_no and not joined.averaged_labels
        else "rmse",
        documents=joined.documents,
    )
    return JudgeMeasures(
        agreement=agreement,
        human=human,
        people=people,
        baselines=by_baseline,
        over_baselines=over,
        replaceability=replaceability,
        decisions=decide(
            agreement,
            over_baselines=over,
            replaceability=replaceability,
            n_documents=len(set(joined.documents)),
            constant=constant_side(joined.judged, joined.human, joined.protocol),
            in_camps=isinstance(people.camps, Camps) and people.camps.found,
        ),
    )
