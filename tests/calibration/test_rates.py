"""A yes-or-no judge's error rates, and shares corrected for them, by hand and planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student_t

from fairjudge.calibration.ppi import ppi_mean
from fairjudge.calibration.rates import Answers, error_rates, prevalence, rogan_gladen
from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError


def sample(hits, misses, alarms, refusals, yes, no):
    """Labelled items by what people and the judge say, and the judge's answers on others."""
    judged = np.array([1.0] * hits + [0.0] * misses + [1.0] * alarms + [0.0] * refusals)
    labels = np.array([1.0] * (hits + misses) + [0.0] * (alarms + refusals))
    unlabelled = np.array([1.0] * yes + [0.0] * no)
    return Answers(
        judged=judged,
        human=labels,
        documents=tuple(f"l{i}" for i in range(judged.size)),
        rest=unlabelled,
        rest_documents=tuple(f"r{i}" for i in range(unlabelled.size)),
    )


def test_rates_match_the_table():
    """40 hits of 50, 45 of 50 rejected: 0.8 and 0.9; 40 of 45 yes and 45 of 55 no are right."""
    first = sample(40, 10, 5, 45, 0, 0)
    rates = error_rates(first.judged, first.human, first.documents)
    assert rates.sensitivity.value == pytest.approx(0.8)
    assert rates.specificity.value == pytest.approx(0.9)
    assert rates.positive_predictive_value.value == pytest.approx(40 / 45)
    assert rates.negative_predictive_value.value == pytest.approx(45 / 55)
    assert (rates.n_yes, rates.n_no) == (50, 50)
    assert rates.sensitivity.low < 0.8 < rates.sensitivity.high


def test_share_is_corrected_by_rogan_gladen():
    """Sensitivity 0.8, specificity 0.9, judged 0.38: (0.38 + 0.9 - 1) / (0.8 + 0.9 - 1) = 0.4."""
    share = rogan_gladen(sample(40, 10, 5, 45, 38, 62))
    assert share.value == pytest.approx(0.4)
    assert share.low < 0.4 < share.high


def test_interval_of_very_many_items_matches_the_delta_method():
    """Independent items: V = (p(1-p)/n + s^2 q1(1-q1)/m1 + (1-s)^2 q0(1-q0)/m0) / (q1+q0-1)^2
    (Lee et al. 2025, arXiv:2511.21140, eq. of the variance), times 1.96 to either side."""
    share = rogan_gladen(sample(4000, 1000, 500, 4500, 7600, 12400))
    variance = 0.38 * 0.62 / 20000 + 0.4**2 * 0.8 * 0.2 / 5000 + 0.6**2 * 0.9 * 0.1 / 5000
    half = 1.96 * np.sqrt(variance) / 0.7
    assert share.low == pytest.approx(0.4 - half, abs=5e-4)
    assert share.high == pytest.approx(0.4 + half, abs=5e-4)


def test_a_judge_without_observed_errors_still_has_an_interval():
    share = rogan_gladen(sample(10, 0, 0, 10, 50, 50))
    assert share.value == pytest.approx(0.5)
    assert share.high - share.low > 0.15


def test_near_chance_judge_leaves_all_shares_possible():
    share = rogan_gladen(sample(11, 9, 10, 10, 50, 50))
    assert (share.low, share.high) == (0.0, 1.0)


def test_anticorrelated_judge_gives_no_correction():
    share = rogan_gladen(sample(4, 16, 16, 4, 50, 50))
    assert share == Undefined(why="the judge's yes is not more frequent for items labelled yes")


def test_too_few_labels_of_one_class_give_no_correction():
    share = rogan_gladen(sample(40, 10, 1, 2, 50, 50))
    assert share == Undefined(why="labels of yes: 50, of no: 3; 5 of each are needed")


def test_fully_labelled_items_need_no_correction():
    result = prevalence(sample(40, 10, 5, 45, 0, 0))
    assert result.labelled.value == pytest.approx(0.5)
    assert isinstance(result.corrected, Undefined)
    assert result.n_labelled == 100


def test_correction_is_valid_under_prevalence_shift_and_ppi_is_not():
    """Planted: half of the labelled are yes, a fifth of the others; the judge errs alike."""
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.5
    judged = np.where(truth, rng.random(400) < 0.85, rng.random(400) < 0.2)
    other = rng.random(3000) < 0.2
    unlabelled = np.where(other, rng.random(3000) < 0.85, rng.random(3000) < 0.2)
    result = prevalence(
        Answers(
            judged=judged.astype(float),
            human=truth.astype(float),
            documents=tuple(range(400)),
            rest=unlabelled.astype(float),
            rest_documents=tuple(range(1000, 4000)),
        )
    )
    assert (result.n, result.n_labelled) == (3000, 0)  # the share is that of the others alone
    assert result.corrected.low <= 0.2 <= result.corrected.high
    assert result.ppi.low > 0.2
    assert result.judged.low > 0.2


def test_rows_of_one_document_widen_the_interval():
    first = sample(40, 10, 5, 45, 38, 62)
    together = Answers(
        judged=first.judged,
        human=first.human,
        documents=tuple(i // 5 for i in range(100)),
        rest=first.rest,
        rest_documents=tuple(1000 + i // 5 for i in range(100)),
    )
    narrow, wide = rogan_gladen(first), rogan_gladen(together)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_nonbinary_answers_raise():
    with pytest.raises(StatisticsError, match="judged must be 0 or 1"):
        Answers(
            judged=np.array([0.5]),
            human=np.array([1.0]),
            documents=("a",),
            rest=np.array([]),
            rest_documents=(),
        )


def shares_within(answers, *, freedom, level=0.95):
    """Scan shares s for those with |p - s h - (1 - s) a| within its error: Fieller's set.

    h, a and p with half an item of each answer added; the error from each document's sum of
    influences, as the docstring says it.
    """
    rows = [
        (x, "yes" if y else "no", d, 1.0)
        for x, y, d in zip(answers.judged, answers.human, answers.documents, strict=True)
    ]
    rows += [(x, "rest", d, 1.0) for x, d in zip(answers.rest, answers.rest_documents, strict=True)]
    rows += [(x, side, (side, x), 0.5) for side in ("yes", "no", "rest") for x in (0.0, 1.0)]
    means, counts = {}, {}
    for side in ("yes", "no", "rest"):
        counts[side] = sum(w for _, s, _, w in rows if s == side)
        means[side] = sum(w * x for x, s, _, w in rows if s == side) / counts[side]
    quantile = student_t.ppf((1 + level) / 2, freedom)
    items = []
    for share in np.linspace(0, 1, 10001):
        factor = {"rest": 1.0, "yes": -share, "no": -(1 - share)}
        by_document: dict = {}
        for x, side, d, w in rows:
            part = factor[side] * w * (x - means[side]) / counts[side]
            by_document[d] = by_document.get(d, 0.0) + part
        error = np.sqrt(sum(v * v for v in by_document.values()))
        distance = means["rest"] - share * means["yes"] - (1 - share) * means["no"]
        if abs(distance) <= quantile * error:
            items.append(share)
    return min(items), max(items)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_interval_contains_the_shares_not_rejected_by_the_answers(level):
    """17 answers without a label are fewer than the 40 labels: 16 degrees of freedom."""
    first = sample(18, 2, 3, 17, 8, 9)
    share = rogan_gladen(first, level=level)
    low, high = shares_within(first, freedom=16, level=level)
    assert (share.low, share.high) == pytest.approx((low, high), abs=2e-4)
    assert 0.0 < share.low < share.value < share.high < 1.0
    assert (share.n, share.level) == (17, level)


def test_documents_with_labelled_and_unlabelled_items_count_once():
    """Ten documents, in each four labelled items and three others: sums over documents."""
    first = sample(18, 2, 3, 17, 12, 18)
    shared = replace(
        first,
        documents=tuple(i % 10 for i in range(40)),
        rest_documents=tuple(i // 3 for i in range(30)),
    )
    share = rogan_gladen(shared)
    assert (share.low, share.high) == pytest.approx(shares_within(shared, freedom=9), abs=2e-4)


def test_one_unlabelled_document_gives_no_interval():
    first = sample(18, 2, 3, 17, 12, 18)
    alone = replace(first, rest_documents=("r",) * 30)
    share = rogan_gladen(alone)
    assert share.value == pytest.approx((0.4 - 0.15) / (0.9 - 0.15))
    assert share.low is None
    assert share.method == "no interval: fewer than 2 documents"
    assert share.n == 30
    two = replace(first, rest_documents=("r",) * 15 + ("q",) * 15)
    assert rogan_gladen(two).low is not None


@pytest.mark.parametrize(("yes", "no", "value"), [(0, 50, 0.0), (50, 0, 1.0)])
def test_corrected_share_is_clipped_and_inside_its_interval(yes, no, value):
    """No yes at all, where one in ten no is a yes: (0 - 0.1) / 0.7 is below 0."""
    share = rogan_gladen(sample(40, 10, 5, 45, yes, no))
    assert share.value == value
    assert share.low <= value <= share.high
    assert share.high - share.low < 0.5


@pytest.mark.parametrize(("of_yes", "of_no"), [(5, 4), (4, 5)])
def test_five_labels_per_class_are_enough(of_yes, of_no):
    assert rogan_gladen(sample(5, 0, 1, 4, 5, 5)).value == pytest.approx((0.5 - 0.2) / 0.8)
    share = rogan_gladen(sample(of_yes, 0, 0, of_no, 5, 5))
    assert share.why == f"labels of yes: {of_yes}, of no: {of_no}; 5 of each are needed"


def test_uninformative_judge_gives_no_correction():
    assert isinstance(rogan_gladen(sample(5, 5, 5, 5, 5, 5)), Undefined)


def test_no_unlabelled_items_give_no_correction():
    share = rogan_gladen(sample(40, 10, 5, 45, 0, 0))
    assert share == Undefined(why="no items without a label")


def test_table_rows_are_counted_by_human_label():
    """30 yes of which 20 found, 70 no of which 63: intervals by Wilson over items."""
    first = sample(20, 10, 7, 63, 0, 0)
    rates = error_rates(first.judged, first.human, first.documents, level=0.9)
    assert (rates.n_yes, rates.n_no) == (30, 70)
    assert [rate.n for rate in (
        rates.sensitivity, rates.specificity, rates.positive_predictive_value,
        rates.negative_predictive_value,
    )] == [30, 70, 27, 73]  # fmt: skip
    z = 1.6448536
    middle, half = (
        (20 / 30 + z * z / 60) / (1 + z * z / 30),
        z / (1 + z * z / 30) * np.sqrt(20 / 30 * 10 / 30 / 30 + z * z / 3600),
    )
    assert rates.sensitivity.level == 0.9
    assert rates.sensitivity.low == pytest.approx(middle - half, abs=0.02)
    assert rates.sensitivity.high == pytest.approx(middle + half, abs=0.02)
    assert isinstance(error_rates([1.0], [1.0], ["d"]).specificity, Undefined)


def test_prevalence_estimates_are_for_unlabelled_items():
    """38 of 100 others are a yes to the judge; half of the 100 labels are one."""
    result = prevalence(sample(40, 10, 5, 45, 38, 62), level=0.9)
    assert result.judged.value == pytest.approx(0.38)
    assert result.labelled.value == pytest.approx(0.5)
    assert result.corrected.value == pytest.approx(0.4)
    assert (result.n, result.n_labelled) == (100, 0)
    for item in (result.judged, result.labelled, result.corrected, result.ppi):
        assert item.level == 0.9
    alone = prevalence(sample(40, 10, 5, 45, 0, 0), level=0.9)
    assert alone.judged.value == pytest.approx(0.45)
    assert (alone.n, alone.n_labelled) == (100, 100)
    assert alone.judged.level == 0.9


def test_possibly_equal_rates_leave_all_shares_possible():
    """12 of 20 against 8 of 20: the line through them may be level, so no share is ruled out."""
    share = rogan_gladen(sample(12, 8, 8, 12, 26, 24))
    assert share.value == pytest.approx((0.52 - 0.4) / (0.6 - 0.4))
    assert (share.low, share.high) == (0.0, 1.0)


@pytest.mark.parametrize(("flip", "ends"), [(False, "high"), (True, "low")])
def test_share_interval_is_within_0_and_1(flip, ends):
    first = sample(8, 1, 1, 0, 30, 2)
    if flip:
        first = Answers(judged=1 - first.judged, human=1 - first.human, documents=first.documents,
                     rest=1 - first.rest, rest_documents=first.rest_documents)  # fmt: skip
    result = prevalence(first)
    bare = ppi_mean(
        first.human, first.judged, first.rest, documents=first.documents,
        documents_unlabelled=first.rest_documents,
    ).ppi_plus  # fmt: skip
    cut = 0.0 if flip else 1.0
    assert (getattr(bare, ends) < 0.0) if flip else (getattr(bare, ends) > 1.0)
    for share in (result.labelled, result.ppi):
        assert getattr(share, ends) == cut
        assert 0.0 <= share.low < share.value < share.high <= 1.0
