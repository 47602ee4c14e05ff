"""The verdict on a changed judge, by hand-worked intervals and paired data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairjudge.calibration.drift import Anchors, documents_for_verdict, drift, verdict_on_change
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import ConfigurationError


def change(low: float | None, high: float | None) -> Estimate:
    return Estimate(value=0.0, low=low, high=high, n=9, method="m", level=0.95)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "better"),
        (-0.04, 0.2, "same"),
        (-0.04, -0.01, "same"),  # a real loss, but within the margin
        (-0.30, -0.01, "worse"),
        (-0.30, -0.10, "worse"),
        (-0.06, 0.01, "cannot tell"),
        (-0.06, 0.0, "cannot tell"),  # 0 is in the interval
        (-0.05, -0.01, "worse"),  # and so is the margin
        (0.0, 0.2, "same"),
        (-0.30, 0.30, "cannot tell"),
        (None, None, "cannot tell"),
    ],
)
def test_the_interval_decides_against_the_margin(low, high, verdict):
    assert verdict_on_change(change(low, high), margin=0.05) == verdict


def test_missing_value_gives_cannot_tell():
    assert verdict_on_change(Undefined(why="constant"), margin=0.05) == "cannot tell"


def anchors(before, after, human, protocol="binary"):
    return Anchors(
        before=np.array(before, dtype=float),
        after=np.array(after, dtype=float),
        human=np.array(human, dtype=float),
        documents=list(range(len(before))),
        protocol=protocol,
    )


def test_change_of_answers_uses_paired_t_interval():
    """One item a document: the change of accuracy is a paired difference of 0/1 values."""
    rng = np.random.default_rng(1)
    human = rng.integers(0, 2, size=50)
    before = np.where(rng.random(50) < 0.9, human, 1 - human)
    after = np.where(rng.random(50) < 0.6, human, 1 - human)
    change = drift(anchors(before, after, human), margin=0.05, rng=rng)
    hits = (after == human) * 1.0, (before == human) * 1.0
    paired = stats.ttest_rel(*hits).confidence_interval(0.95)
    assert change.agreement.value == pytest.approx(hits[0].mean() - hits[1].mean())
    assert (change.agreement.low, change.agreement.high) == pytest.approx((paired.low, paired.high))
    assert (change.before, change.after) == pytest.approx((hits[1].mean(), hits[0].mean()))
    assert change.verdict == "worse"
    yes, no = human == 1, human == 0
    assert change.sensitivity.value == pytest.approx(after[yes].mean() - before[yes].mean())
    assert change.specificity.value == pytest.approx(before[no].mean() - after[no].mean())
    assert change.shift.value == pytest.approx(after.mean() - before.mean())


def test_change_of_ratings_uses_spearman():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, size=80)
    before, after = human + rng.normal(size=80), rng.normal(size=80)
    change = drift(anchors(before, after, human, "likert"), margin=0.1, rng=rng)
    expected = [stats.spearmanr(values, human).statistic for values in (before, after)]
    assert (change.before, change.after) == pytest.approx(expected)
    assert change.agreement.value == pytest.approx(expected[1] - expected[0])
    assert change.verdict == "worse"
    assert isinstance(change.sensitivity, Undefined)


def test_reversed_preference_is_a_loss_of_1():
    change = drift(
        anchors([1, -1, 1, -1], [-1, 1, -1, 1], [1, -1, 1, -1], "pairwise"),
        margin=0.05,
        rng=np.random.default_rng(0),
    )
    assert (change.before, change.after) == (1.0, 0.0)
    assert change.agreement.value == -1.0


@pytest.mark.parametrize(
    ("value", "low", "high", "needed"),
    [
        (0.0, -0.1, 0.1, 160),  # a half-width of twice the margin takes 4 times as many documents
        (-0.2, -0.5, 0.1, 90),  # to 0: (0.3 / 0.2)^2; to the margin it never comes
        (-0.01, -0.09, 0.03, 160),  # to the margin: (0.08 / 0.04)^2; to 0: 4^2
        (-0.04, -0.30, 0.001, 43),  # to 0: (0.041 / 0.04)^2
    ],
)
def test_needed_documents_follow_the_square_root_law(value, low, high, needed):
    result = Estimate(value=value, low=low, high=high, n=40)
    assert documents_for_verdict(result, margin=0.05, n_documents=40) == pytest.approx(
        needed, abs=1
    )
    assert documents_for_verdict(Undefined(why="w"), margin=0.05, n_documents=40) is None


def test_constant_judge_has_agreement_0_and_positive_margin():
    rng = np.random.default_rng(0)
    human = np.arange(12) % 4
    change = drift(anchors([3] * 12, human, human, "likert"), margin=0.1, rng=rng)
    assert (change.verdict, change.before, change.after) == ("better", 0.0, pytest.approx(1.0))
    change = drift(anchors(human, [3] * 12, human, "likert"), margin=0.1, rng=rng)
    assert (change.verdict, change.agreement.value) == ("constant", pytest.approx(-1.0))
    assert change.reason == "the judge gave one score to all 12 anchors"
    with pytest.raises(ConfigurationError, match="margin"):
        drift(anchors([1], [1], [1]), margin=0.0, rng=rng)


@pytest.mark.parametrize(
    ("after", "protocol", "reason"),
    [
        ([0.0] * 20, "pairwise", "the judge gave one score to all 20 anchors"),  # ties alone
        ([0.0] * 18 + [1.0, -1.0], "pairwise", "the judge gave one score to 18 of 20 anchors"),
        ([1.0] * 20, "pairwise", ""),  # which system stands first is arbitrary
    ],
)
def test_pairwise_judge_is_constant_if_all_ties(after, protocol, reason):
    human = [1.0, -1.0] * 10
    change = drift(
        anchors(human, after, human, protocol), margin=0.05, rng=np.random.default_rng(0)
    )
    assert change.reason == reason
    assert change.verdict == ("constant" if reason else "worse")


def test_nearly_constant_judge_is_decided_by_its_interval():
    human = np.array([5.0] * 36 + [1.0, 2.0, 1.0, 2.0])
    change = drift(anchors(human, human, human, "likert"), margin=0.1, rng=np.random.default_rng(0))
    assert (change.verdict, change.reason) == ("same", "")


@pytest.mark.parametrize(("n", "verdict"), [(4, "cannot tell"), (5, "worse")])
def test_few_documents_with_equal_changes_give_no_verdict(n, verdict):
    """All answers were right and none is: the change is -1 in each document, without spread."""
    human = np.ones(n)
    change = drift(anchors(human, np.zeros(n), human), margin=0.05, rng=np.random.default_rng(0))
    assert change.agreement.value == -1.0
    assert change.verdict == verdict
    assert change.documents_needed == (5 if n == 4 else None)
