"""The verdict on a changed judge, by hand-worked intervals and paired data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairjudge.calibration.drift import Anchors, drift, verdict_of
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
    assert verdict_of(change(low, high), margin=0.05) == verdict


def test_what_has_no_value_cannot_tell():
    assert verdict_of(Undefined(why="constant"), margin=0.05) == "cannot tell"


def anchors(before, after, human, protocol="binary"):
    return Anchors(
        before=np.array(before, dtype=float),
        after=np.array(after, dtype=float),
        human=np.array(human, dtype=float),
        documents=list(range(len(before))),
        protocol=protocol,
    )


def test_answers_change_by_the_paired_t_interval():
    """One item a document: the change of accuracy is a paired difference of 0/1 values."""
    rng = np.random.default_rng(1)
    human = rng.integers(0, 2, size=50)
    before = np.where(rng.random(50) < 0.9, human, 1 - human)
    after = np.where(rng.random(50) < 0.6, human, 1 - human)
    found = drift(anchors(before, after, human), margin=0.05, rng=rng)
    hits = (after == human) * 1.0, (before == human) * 1.0
    paired = stats.ttest_rel(*hits).confidence_interval(0.95)
    assert found.agreement.value == pytest.approx(hits[0].mean() - hits[1].mean())
    assert (found.agreement.low, found.agreement.high) == pytest.approx((paired.low, paired.high))
    assert (found.before, found.after) == pytest.approx((hits[1].mean(), hits[0].mean()))
    assert found.verdict == "worse"
    yes, no = human == 1, human == 0
    assert found.sensitivity.value == pytest.approx(after[yes].mean() - before[yes].mean())
    assert found.specificity.value == pytest.approx(before[no].mean() - after[no].mean())
    assert found.shift.value == pytest.approx(after.mean() - before.mean())


def test_ratings_change_by_spearman():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, size=80)
    before, after = human + rng.normal(size=80), rng.normal(size=80)
    found = drift(anchors(before, after, human, "likert"), margin=0.1, rng=rng)
    expected = [stats.spearmanr(values, human).statistic for values in (before, after)]
    assert (found.before, found.after) == pytest.approx(expected)
    assert found.agreement.value == pytest.approx(expected[1] - expected[0])
    assert found.verdict == "worse"
    assert isinstance(found.sensitivity, Undefined)


def test_a_preference_turned_round_is_a_loss_of_1():
    found = drift(
        anchors([1, -1, 1, -1], [-1, 1, -1, 1], [1, -1, 1, -1], "pairwise"),
        margin=0.05,
        rng=np.random.default_rng(0),
    )
    assert (found.before, found.after) == (1.0, 0.0)
    assert found.agreement.value == -1.0


def test_four_times_the_documents_halve_an_interval():
    """A half-width of twice the margin takes 4 times as many documents."""
    rng = np.random.default_rng(3)
    human = rng.integers(0, 2, size=40)
    after = np.where(rng.random(40) < 0.7, human, 1 - human)
    before = np.where(rng.random(40) < 0.7, human, 1 - human)
    some = anchors(before, after, human)
    found = drift(some, margin=0.05, rng=rng)
    half = (found.agreement.high - found.agreement.low) / 2
    assert drift(some, margin=half / 2, rng=rng).documents_needed == pytest.approx(160, abs=1)


def test_a_constant_judge_cannot_tell_and_the_margin_is_above_0():
    rng = np.random.default_rng(0)
    found = drift(anchors([3] * 9, range(9), range(9), "likert"), margin=0.1, rng=rng)
    assert (found.verdict, found.documents_needed, found.before) == ("cannot tell", None, None)
    with pytest.raises(ConfigurationError, match="margin"):
        drift(anchors([1], [1], [1]), margin=0.0, rng=rng)


@pytest.mark.parametrize(("n", "verdict"), [(4, "cannot tell"), (5, "worse")])
def test_few_documents_that_all_change_alike_are_no_verdict(n, verdict):
    """All answers were right and none is: the change is -1 in each document, without spread."""
    human = np.ones(n)
    found = drift(anchors(human, np.zeros(n), human), margin=0.05, rng=np.random.default_rng(0))
    assert found.agreement.value == -1.0
    assert found.verdict == verdict
    assert found.documents_needed >= 5
