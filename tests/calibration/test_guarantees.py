"""Thresholds that keep a promise of agreement, and how sure a judge is of an answer."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from builders import make_judgement

from fairjudge.calibration.answers import answers
from fairjudge.calibration.guarantees import (
    betting_p_value,
    binomial_p_value,
    guarantee,
    min_labels,
)
from fairjudge.domain import Judgement, Undefined
from fairjudge.errors import StatisticsError


def fit(confidences, agrees, documents=None, *, agreement=0.9, confidence=0.95, **more):
    return guarantee(
        confidences,
        agrees,
        list(range(len(confidences))) if documents is None else documents,
        agreement=agreement,
        confidence=confidence,
        rng=np.random.default_rng(0),
        **more,
    )


def test_the_p_value_is_the_binomial_tail():
    """P(at most 2 of 50 wrong | 10 % wrong), term by term."""
    expected = sum(comb(50, k) * 0.1**k * 0.9 ** (50 - k) for k in range(3))
    assert binomial_p_value(2, 50, 0.1) == pytest.approx(expected)


def test_agreement_0_9_needs_39_labels():
    """0.9^38 = 0.0182 is above 0.05 / 3, 0.9^39 = 0.0164 below."""
    assert min_labels(0.9, 0.95) == 39
    assert fit(np.ones(38), np.ones(38)) == Undefined(
        why="38 labelled documents: 39 are needed even if all agree"
    )
    assert fit(np.ones(39), np.ones(39)).threshold == 0.0


def test_only_confident_half_is_accepted_if_only_it_is_correct():
    """Planted: above 0.5 all agree, below half of them."""
    rng = np.random.default_rng(0)
    confidence = rng.random(400)
    agrees = np.where(confidence > 0.5, 1.0, (rng.random(400) < 0.5).astype(float))
    result = fit(confidence, agrees)
    assert 0.3 < result.threshold <= 0.5
    assert result.agreement.value > 0.9
    assert result.kept.value == pytest.approx(np.mean(confidence >= result.threshold))
    assert result.n_kept_labelled == np.sum(confidence >= result.threshold)
    assert result.test == "exact binomial"


def test_inaccurate_judge_has_no_threshold():
    rng = np.random.default_rng(0)
    result = fit(rng.random(400), (rng.random(400) < 0.7).astype(float))
    assert result.threshold is None
    assert result.kept.value == 0.0
    assert isinstance(result.agreement, Undefined)


def test_unlabelled_items_count_in_the_accepted_share():
    result = fit(np.ones(60), np.ones(60), rest=np.zeros(60), rest_documents=list(range(60, 120)))
    assert result.threshold == 0.0
    assert result.kept.value == 1.0


def test_documents_are_the_sampling_units():
    """Ten items each that agree or not together: 60 documents say no more than 60 items."""
    agrees = np.repeat((np.arange(60) % 12 > 0).astype(float), 10)
    documents = np.repeat(np.arange(60), 10).tolist()
    result = fit(np.ones(600), agrees, documents)
    assert result.threshold is None
    assert result.test.startswith("betting over documents")
    right = fit(np.ones(1000), np.ones(1000), np.repeat(np.arange(100), 10).tolist())
    assert right.threshold == 0.0


def test_betting_p_value_respects_its_level():
    """Ville: with a tenth wrong, the p-value is at most 0.05 in at most 5 % of 400 samples."""
    rng = np.random.default_rng(1)
    items = [betting_p_value((rng.random(200) < 0.1).astype(float), 0.1) for _ in range(400)]
    assert np.mean(np.array(items) <= 0.05) <= 0.05
    better = [betting_p_value((rng.random(200) < 0.02).astype(float), 0.1) for _ in range(50)]
    assert np.mean(np.array(better) <= 0.05) > 0.9


@pytest.mark.parametrize(("name", "value"), [("agrees", 0.5), ("confidences", 1.5)])
def test_values_out_of_range_raise(name, value):
    by_name = {"confidences": [0.5], "agrees": [1.0]} | {name: [value]}
    with pytest.raises(StatisticsError, match=name):
        fit(by_name["confidences"], by_name["agrees"])


def pair(value, order, probabilities=None, a="x", b="y"):
    names = {"eid": "d", "system_a": a, "system_b": b}
    return make_judgement(**names, order=order, value=value, probabilities=probabilities)


def rating(value, probabilities=None, repeat=None, protocol="likert"):
    return Judgement(
        eid="d", system="x", aspect="coverage", protocol=protocol, judge="j", value=value,
        probabilities=probabilities, repeat=repeat,
    )  # fmt: skip


def only(*rows):
    (answer,) = answers(rows).values()
    return answer


def test_position_dependent_judge_has_low_confidence():
    """Each side once: entropy log 2 of log 2, and a tie."""
    result = only(pair("a", "ab"), pair("b", "ba"))
    assert (result.value, result.confidence) == (0.0, 0.0)
    same = only(pair("a", "ab"), pair("a", "ba"))
    assert (same.value, same.confidence) == (1.0, 1.0)
    assert not same.one_order
    assert only(pair("a", "ab")).one_order


def test_probabilities_of_both_orders_are_averaged():
    """(0.9 + 0.7) / 2 = 0.8 for x: confidence 1 - H(0.8) / log 2 = 0.278."""
    rows = (pair("a", "ab", {"a": 0.9, "b": 0.1}), pair("a", "ba", {"a": 0.7, "b": 0.3}))
    result = only(*rows)
    entropy = -(0.8 * log(0.8) + 0.2 * log(0.2))
    assert result.value == 1.0
    assert result.confidence == pytest.approx(1 - entropy / log(2))


def test_sides_are_ordered_by_system_name():
    result = only(pair("a", "ab", a="y", b="x"), pair("a", "ba", a="y", b="x"))
    assert result.value == -1.0


def test_rating_confidence_uses_repeats_and_probabilities():
    """Two of three repeats say 4; a yes at 0.9; a score of 0.75 is a yes three times of four."""
    rows = [rating(v, repeat=n) for n, v in enumerate((4, 4, 5))]
    result = only(*rows)
    assert result.value == 4.0
    assert result.n_judgements == 3
    assert result.confidence == pytest.approx(
        1 + (2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3)) / log(2)
    )
    sure = only(rating(1, {"yes": 0.9, "no": 0.1}, protocol="binary"))
    score = only(rating(0.9, protocol="binary"))
    assert sure.confidence == pytest.approx(score.confidence)
    assert score.value == 1.0


def test_unscored_judgements_are_excluded():
    lost = Judgement(
        eid="d", system="x", aspect="coverage", protocol="likert", judge="j", unscored="refused"
    )
    assert answers([lost]) == {}


def test_betting_p_value_by_hand():
    """Values - 0.1 are -0.1, -0.1, 0.15, -0.1, -0.1; stakes 0, then at most 0.75 / 0.9 = 0.8333.

    Capital: 1, 1.083333, 0.947917; then the stake is 0.05 / 0.065 = 0.76923: 1.020833; then
    0.8333 again: 1.105903, the largest.
    """
    assert betting_p_value(np.array([0.0, 0.0, 0.25, 0.0, 0.0]), 0.1) == pytest.approx(
        1 / 1.105903, abs=1e-6
    )
    assert betting_p_value(np.array([0.0, 0.0]), 0.1) == pytest.approx(1 / 1.0833333)
    assert betting_p_value(np.array([0.0, 1.0, 0.0]), 0.1) == 1.0
    assert betting_p_value(np.array([1.0, 0.0, 0.0]), 0.1) == 1.0  # never against being right


def test_no_accepted_label_gives_no_evidence():
    assert binomial_p_value(0, 0, 0.1) == 1.0


def test_agreement_0_8_at_confidence_0_9_needs_16_labels():
    """0.8^15 = 0.0352 is above 0.1 / 3, 0.8^16 = 0.0281 below."""
    assert min_labels(0.8, 0.9) == 16


@pytest.mark.parametrize(
    ("n", "n_wrong", "threshold"),
    [
        (55, 1, None),  # P(at most 1 of 55) = 0.0216: below 0.05, above a third of it
        (60, 1, 0.0),  # 0.0138, from the first start: the same label in all thresholds
        (78, 1, 0.0),
        (156, 6, 0.0),  # P(at most 6 of 156) = 0.0041
        (156, 9, None),  # 0.0449
    ],
)
def test_each_of_three_tests_uses_a_third_of_the_error_level(n, n_wrong, threshold):
    agrees = np.ones(n)
    agrees[:n_wrong] = 0.0
    result = fit(np.ones(n), agrees)
    assert result.threshold == threshold
    assert (result.n_labelled, result.overall.value) == (n, pytest.approx(1 - n_wrong / n))
    assert result.n_kept_labelled == (0 if threshold is None else n)


@pytest.mark.parametrize("times", [2, 4])
def test_early_error_does_not_stop_later_tests(times):
    """Of the surest 39 (78) one (three) err, too many; among 2 (4) times as many none else does.

    P(at most 1 of 39) = 0.0875, of 78 0.0026; at most 3 of 78 0.045, of 156 0.00008.
    """
    n_wrong = {2: 1, 4: 3}[times]
    confidence = np.repeat([1.0, 0.5], [39 * times // 2, 39 * times // 2])
    agrees = np.ones(39 * times)
    agrees[:n_wrong] = 0.0
    result = fit(confidence, agrees)
    assert result.threshold == 0.0
    assert result.agreement.value == pytest.approx(1 - n_wrong / (39 * times))


def test_accepted_share_counts_all_items_and_includes_the_threshold():
    """Thresholds go down by 0.01; below 0.6 all are wrong: 0.51 is the laxest that holds, since it
    keeps what 0.6 keeps. Of 80 labels 60 are kept, of 40 others 10: 70 of 120."""
    confidence = np.repeat([0.6, 0.5], [60, 20])
    agrees = np.repeat([1.0, 0.0], [60, 20])
    result = fit(
        confidence,
        agrees,
        rest=np.repeat([0.51, 0.505], [10, 30]),
        rest_documents=list(range(100, 140)),
    )
    assert result.threshold == pytest.approx(0.51)
    assert result.kept.value == pytest.approx(70 / 120)
    assert result.kept.n == 120
    assert result.agreement.value == 1.0
    assert result.agreement.n == 60
    assert result.overall.value == pytest.approx(60 / 80)
    assert (result.n_labelled, result.n_kept_labelled) == (80, 60)
    assert (result.agreement_promised, result.confidence) == (0.9, 0.95)


def test_documents_have_equal_weight_for_any_number_of_accepted_items():
    """100 documents of one right item, and 5 of 40 wrong ones: few documents err."""
    documents = [*range(100), *np.repeat(np.arange(100, 105), 40).tolist()]
    agrees = np.r_[np.ones(100), np.zeros(200)]
    result = fit(np.ones(300), agrees, documents, agreement=0.7)
    assert result.threshold == 0.0
    assert result.overall.value == pytest.approx(1 / 3)


def test_document_is_accepted_from_its_most_confident_item():
    """One sure and one unsure item each, the unsure all wrong: 60 documents suffice for the
    sure ones."""
    confidence = np.tile([0.9, 0.1], 100)
    agrees = np.tile([1.0, 0.0], 100)
    result = fit(confidence, agrees, np.repeat(np.arange(100), 2).tolist())
    assert 0.1 < result.threshold <= 0.9
    assert result.agreement.value == 1.0


def test_confidences_may_be_0_or_1_but_not_beyond():
    assert fit(np.r_[np.zeros(1), np.ones(59)], np.ones(60)).n_labelled == 60
    with pytest.raises(StatisticsError, match="confidences"):
        fit([-0.1], [1.0])
    with pytest.raises(StatisticsError, match="confidences"):
        fit([0.5], [1.0], rest=[1.1], rest_documents=["r"])


def test_strictest_threshold_is_tested_with_labels_at_the_threshold():
    """39 at 1 are right, 39 at 0.99 wrong."""
    result = fit(np.repeat([1.0, 0.99], 39), np.repeat([1.0, 0.0], 39))
    assert result.threshold == 1.0
    assert result.n_kept_labelled == 39


def test_confidence_uses_the_item_with_most_answers():
    """An even 1 or 2 has entropy log 2: of log 2 alone, of log 3 beside an item with 3 answers."""
    even = [rating(1, {"1": 0.5, "2": 0.5})]
    assert only(*even).confidence == 0.0
    other = Judgement(
        eid="e", system="x", aspect="coverage", protocol="likert", judge="j", value=3,
        probabilities={"1": 0.25, "2": 0.25, "3": 0.5},
    )  # fmt: skip
    first, second = answers([*even, other]).values()
    assert first.confidence == pytest.approx(1 - log(2) / log(3))
    assert second.value == 3.0
    assert second.confidence == pytest.approx(1 + (0.5 * log(0.25) + 0.5 * log(0.5)) / log(3))
    assert first.value == 1.0  # the lower of two as likely


def test_judge_without_repeats_has_confidence_1():
    result = only(rating(4))
    assert (result.value, result.confidence, result.n_judgements) == (4.0, 1.0, 1)


def test_orders_have_equal_weight_for_any_number_of_repeats():
    """Three times a shown first, once b: (1 + 0) / 2 for either, a tie."""
    rows = [pair("a", "ab"), pair("a", "ab"), pair("a", "ab"), pair("b", "ba")]
    assert (only(*rows).value, only(*rows).confidence) == (0.0, 0.0)


def test_tie_is_an_answer_and_equally_likely_sides_give_a_tie():
    assert only(pair("tie", "ab"), pair("tie", "ba")).value == 0.0
    tied = only(pair("a", "ab", {"a": 0.4, "tie": 0.2, "b": 0.4}))
    assert tied.value == 0.0
    entropy = -(0.8 * log(0.4) + 0.2 * log(0.2))
    assert tied.confidence == pytest.approx(1 - entropy / log(3))


def test_non_answers_among_the_probabilities_are_ignored():
    """Of a pair 0.6 and 0.2 are a and b: three to one. Of a rating the value stands."""
    result = only(pair("a", "ab", {"a": 0.6, "b": 0.2, "other": 0.2}))
    assert result.confidence == pytest.approx(1 + (0.75 * log(0.75) + 0.25 * log(0.25)) / log(2))
    assert only(rating(4, {"4": 0.5, "unsure": 0.5})).confidence == 1.0
    assert only(rating(1, {" Yes": 1.0}, protocol="binary")).value == 1.0
    assert only(rating(0, {"false": 1.0}, protocol="binary")).value == 0.0


def test_value_between_two_levels_is_split_by_distance():
    result = only(rating(3.25))
    assert result.value == 3.0
    assert result.confidence == pytest.approx(1 + (0.75 * log(0.75) + 0.25 * log(0.25)) / log(2))


def test_binary_no_without_probabilities_is_no():
    of = {"eid": "e", "system": "x", "aspect": "coverage", "unit": "summary", "judge": "j"}
    (answer,) = answers([Judgement(**of, protocol="binary", value=0.0)]).values()
    assert (answer.value, answer.n_judgements) == (0.0, 1)
