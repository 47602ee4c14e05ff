"""What a judge adds over baselines, against scipy, scikit-learn's definitions and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from fairjudge.calibration.agreement import Resampling, baseline_agreement
from fairjudge.calibration.baseline_gains import baseline_gain, compare_with_constant
from fairjudge.calibration.baselines import baseline_scores
from fairjudge.calibration.items import join
from fairjudge.domain import Cluster, Judgement, Label, Reference, Summary, Undefined

FEW = Resampling(n_resamples=200)


def study(values, judged, *, protocol="likert", annotators=1):
    """Return one summary a document: labels `values` by each annotator, the judge's `judged`."""
    where = [{"eid": f"d{n}", "system": "s", "aspect": "coverage"} for n in range(len(values))]
    labels = [
        Label(**at, annotator=f"ann{k}", value=float(value))
        for at, value in zip(where, values, strict=True)
        for k in range(annotators)
    ]
    rows = [
        Judgement(**at, protocol=protocol, judge="j", value=float(value))
        for at, value in zip(where, judged, strict=True)
    ]
    (joined,) = join(rows, labels)
    return joined


def constant(joined):
    return compare_with_constant(joined, resampling=FEW, rng=np.random.default_rng(0))


def test_agreement_and_balanced_accuracy_by_hand():
    """Labels: 60 yes, 20 no. The judge meets 50 of the yes and 10 of the no.

    Agreement 60/80; the constant yes 60/80; balanced accuracy (5/6 + 1/2) / 2 against 1/2.
    """
    labels, judged = [1] * 60 + [0] * 20, [1] * 50 + [0] * 10 + [1] * 10 + [0] * 10
    result = constant(study(labels, judged, protocol="binary"))
    assert (result.answer, result.n_answers) == (1.0, 2)
    assert result.agreement.value == pytest.approx(6 / 8)
    assert result.constant_agreement.value == pytest.approx(6 / 8)
    assert result.added.value == pytest.approx(0.0)
    assert result.balanced_accuracy.value == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert result.added_balanced.value == pytest.approx((5 / 6 + 1 / 2) / 2 - 1 / 2)


def test_rare_answers_are_excluded_from_balanced_accuracy():
    """Twelve 5s of which 9 are met, ten 4s of which 4 are, and nine 1s that are all met."""
    labels = [5] * 12 + [4] * 10 + [1] * 9
    judged = [5] * 9 + [4] * 3 + [4] * 4 + [5] * 6 + [1] * 9
    result = constant(study(labels, judged))
    assert result.n_answers == 2
    assert result.balanced_accuracy.value == pytest.approx((9 / 12 + 4 / 10) / 2)
    assert result.agreement.value == pytest.approx(22 / 31)


def test_a_judge_that_always_says_the_most_frequent_answer_adds_nothing():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(60) < 0.9, 5, rng.integers(1, 5, 60))
    result = constant(study(labels, np.full(60, 5)))
    assert result.agreement.value == result.constant_agreement.value > 0.8
    assert (result.added.low, result.added.high) == (0.0, 0.0)
    assert result.balanced_accuracy.value == pytest.approx(1 / result.n_answers)


def test_each_annotators_label_counts_separately():
    rng = np.random.default_rng(1)
    labels, judged = rng.integers(1, 6, 50), rng.integers(1, 6, 50)
    single, three = constant(study(labels, judged)), constant(study(labels, judged, annotators=3))
    assert single.agreement.value == three.agreement.value == np.mean(labels == judged)
    assert three.agreement.n == 150


def test_score_is_rounded_to_the_nearest_answer():
    labels = [1, 0, 1, 0, 1, 0, 1, 1, 0, 0]
    judged = [0.9, 0.2, 0.6, 0.4, 0.8, 0.1, 0.2, 0.7, 0.3, 0.9]
    result = constant(study(labels, judged, protocol="binary"))
    assert result.agreement.value == pytest.approx(0.8)


def test_different_scales_or_constant_labels_have_no_constant_baseline():
    assert isinstance(constant(study([1, 0] * 6, [1, 5] * 6)), Undefined)
    assert isinstance(constant(study([3] * 12, [1, 5] * 6)), Undefined)


def test_gain_is_the_difference_of_spearman_correlations():
    rng = np.random.default_rng(2)
    quality = rng.integers(1, 6, 80)
    judged = np.clip(quality + rng.integers(-1, 2, 80), 1, 5)
    length = quality + 3 * rng.random(80)
    joined = study(quality, judged)
    scores = {
        "longest": {(f"d{n}", "s"): float(length[n]) for n in range(80)},
        "noise": {(f"d{n}", "s"): float(rng.random()) for n in range(80)},
    }
    rng = np.random.default_rng(0)
    agreement = baseline_agreement(joined, scores, resampling=FEW, rng=rng)
    result = baseline_gain(joined, agreement, scores, resampling=FEW, rng=rng)
    assert result.best == "longest"
    rho = [spearmanr(item, quality).statistic for item in (judged, length)]
    assert result.gain.value == pytest.approx(rho[0] - rho[1], abs=1e-12)
    assert result.gain.low < result.gain.value < result.gain.high


def test_gain_uses_only_items_scored_by_the_baseline():
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, 60)
    judged = np.clip(quality + rng.integers(-1, 2, 60), 1, 5)
    joined = study(quality, judged)
    scores = {"support": {(f"d{n}", "s"): float(quality[n]) for n in range(40)}}
    agreement = baseline_agreement(joined, scores, resampling=FEW, rng=rng)
    result = baseline_gain(joined, agreement, scores, resampling=FEW, rng=rng)
    assert result.gain.n == 40
    assert result.gain.value == pytest.approx(
        spearmanr(judged[:40], quality[:40]).statistic - 1.0, abs=1e-12
    )


def test_words_shared_with_sources_and_reference_by_hand():
    """Of 'the mayor resigned on Monday' the article has all but Monday; of the two answers' words
    (mayor, resigned, council, voted) the summary has two.
    """
    article = {"aid": "a", "content": "The mayor resigned on the third day. " + "filler " * 120}
    cluster = Cluster.model_validate({"eid": "e", "articles": [article]})
    summary = Summary(eid="e", system="s", text="The mayor resigned on Monday")
    result = baseline_scores([summary], [cluster])
    assert result["source_overlap"]["e", "s"] == pytest.approx(4 / 5)
    assert "reference_overlap" not in result
    questions = [
        {
            "question": "What happened?",
            "answer_groups": [
                [{"aid": "a", "answer": "mayor resigned"}],
                [{"aid": "a", "answer": "council voted"}],
            ],
        }
    ]
    by_name = {"eid": "e", "articles": [article], "question_answers": questions}
    for item in (Reference.model_validate(by_name), Cluster.model_validate(by_name)):
        assert baseline_scores([summary], [item])["reference_overlap"]["e", "s"] == 0.5


def test_words_beyond_the_lead_count_only_for_sources():
    article = {"aid": "a", "content": "filler " * 120 + "mayor"}
    cluster = Cluster.model_validate({"eid": "e", "articles": [article]})
    result = baseline_scores([Summary(eid="e", system="s", text="mayor")], [cluster])
    assert (result["lead_overlap"]["e", "s"], result["source_overlap"]["e", "s"]) == (0.0, 1.0)
