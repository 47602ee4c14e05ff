"""The figures and decisions of a judge or a fitted jury."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.agreement import (
    FEWEST_ITEMS,
    Agreement,
    Resampling,
    baseline_agreement,
    human_agreement,
    judge_agreement,
)
from fairjudge.calibration.annotators import AnnotatorReport, Camps, annotator_report
from fairjudge.calibration.baseline_gains import BaselineGain, baseline_gain
from fairjudge.calibration.constancy import constant_side
from fairjudge.calibration.decisions import Decision, decide
from fairjudge.calibration.items import Joined
from fairjudge.calibration.replaceability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """Agreement of a judge and of people, what the judge adds, and the decisions that follow.

    ``people`` looks behind the mean label. ``over_baselines`` is what the judge adds over the best
    of ``baselines``, and over the constant answer.
    """

    agreement: Agreement | Undefined
    human: Agreement | Undefined
    people: AnnotatorReport
    baselines: Mapping[str, Agreement | Undefined]
    over_baselines: BaselineGain | Undefined
    replaceability: AlternativeAnnotatorTest | Undefined
    decisions: tuple[Decision, ...]


def judge_figures(
    joined: Joined,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    epsilon: float,
    resampling: Resampling,
    seed: int,
    rng: np.random.Generator,
) -> JudgeFigures:
    """Measure a judge, or a jury whose scores of held-out documents are those of `joined`."""
    n = len(joined.keys)
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
    people = annotator_report(joined, resampling=resampling, seed=seed)
    replaceability = alternative_annotator_test(
        rescale(joined.judged, joined.judge_scale, joined.label_scale),
        joined.ratings,
        joined.present,
        annotators=joined.annotators,
        epsilon=epsilon,
        alignment="accuracy"
        if PROTOCOLS[joined.protocol].yes_no and not joined.averaged_labels
        else "rmse",
        documents=joined.documents,
    )
    return JudgeFigures(
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
