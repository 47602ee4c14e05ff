"""PPI, planning, the alternative annotator test and comparisons, against ppi_py and by hand."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats

from fairjudge.calibration.comparison import compare_judges
from fairjudge.calibration.planning import (
    Pilot,
    estimate_pilot,
    labels_for_half_width,
    labels_to_separate,
    planning_curve,
)
from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.calibration.replaceability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats.multiplicity import benjamini_yekutieli


def sample(n=60, m=500, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, n + m)
    judged = truth + rng.normal(0.3, noise, n + m)
    return truth[:n], judged[:n], judged[n:]


def ppi(labels, judged, rest, **more):
    """Take each item as a document of its own, unless documents are given."""
    rows = {
        "documents": [("labelled", row) for row in range(len(labels))],
        "documents_unlabelled": [("rest", row) for row in range(len(rest))],
    }
    result = ppi_mean(labels, judged, rest, **(rows | more))
    assert isinstance(result, PpiMean)
    return result


def ppi_py():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ppi_py", reason="ppi-python is not installed")


@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("tuning", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_at_fixed_lambda_match_ppi_py(noise, tuning, level):
    """But for population variances and the normal quantile in the place of Student's."""
    y, f, u = sample(noise=noise)
    ours = ppi(y, f, u, tuning=tuning, level=level).ppi_plus
    low, high = ppi_py().ppi_mean_ci(y, f, u, alpha=1 - level, lam=tuning)
    tail = (1 + level) / 2
    wider = scipy_stats.t.ppf(tail, 59) / scipy_stats.norm.ppf(tail) * np.sqrt(60 / 59)
    assert ours.high - ours.low == pytest.approx(float(high[0] - low[0]) * wider, abs=1e-10)
    assert ours.high + ours.low == pytest.approx(float(high[0] + low[0]), abs=1e-10)
    point = ppi_py().ppi_mean_pointestimate(y, f, u, lam=tuning)
    assert ours.value == pytest.approx(float(np.ravel(point)[0]), abs=1e-10)


def test_tuned_lambda_is_near_ppi_py_with_smaller_variance():
    y, f, u = sample(n=2000, m=8000)
    ours = ppi(y, f, u)
    low, high = ppi_py().ppi_mean_ci(y, f, u, alpha=0.05)
    assert (ours.ppi_plus.low, ours.ppi_plus.high) == pytest.approx((low[0], high[0]), abs=2e-3)
    widths = [
        ppi(y, f, u, tuning=t).ppi_plus.high - ppi(y, f, u, tuning=t).ppi_plus.low
        for t in (0.0, ours.tuning - 0.1, ours.tuning, ours.tuning + 0.1, 1.0)
    ]
    assert min(widths) == widths[2]


def test_estimates_by_hand():
    # Y = 1, 3; f = 2, 4 on the labelled; u = 5, 5. PPI: mean(Y - f) + mean(u) = -1 + 5 = 4.
    # Classical mean(Y) = 2; naive mean of all judge scores (2 + 4 + 5 + 5) / 4 = 4.
    result = ppi([1, 3], [2, 4], [5, 5])
    assert result.ppi.value == pytest.approx(4.0)
    assert result.classical.value == pytest.approx(2.0)
    assert result.naive.value == pytest.approx(4.0)
    # lambda = cov / (var_f + n / N var_u) = 1 / (1 + 0) = 1.
    assert result.tuning == pytest.approx(1.0)


def test_random_judge_gets_lambda_near_zero_and_classical_interval():
    rng = np.random.default_rng(2)
    y = rng.normal(size=400)
    result = ppi(y, rng.normal(size=400), rng.normal(size=4000))
    assert result.tuning < 0.1
    constant = ppi(y, np.full(400, 4.0), np.full(4000, 4.0))
    assert constant.tuning == 0.0
    assert (constant.ppi_plus.low, constant.ppi_plus.high) == (
        constant.classical.low,
        constant.classical.high,
    )
    assert constant.effective_labels == pytest.approx(400)


def test_clustered_rows_are_grouped_by_document():
    # Every row 8 times in its document: intervals equal those of single rows in documents.
    y, f, u = sample()
    labelled, unlabelled = np.arange(60), 1000 + np.arange(500)
    first = ppi(y, f, u, documents=labelled.tolist(), documents_unlabelled=unlabelled.tolist())
    many = ppi(
        *(np.repeat(a, 8) for a in (y, f, u)),
        documents=np.repeat(labelled, 8).tolist(),
        documents_unlabelled=np.repeat(unlabelled, 8).tolist(),
    )
    for name in ("classical", "naive", "ppi", "ppi_plus"):
        single, repeated = getattr(first, name), getattr(many, name)
        assert (single.low, single.high) == pytest.approx((repeated.low, repeated.high), abs=1e-10)
    # The classical one is Student's interval of the labels.
    theirs = scipy_stats.t.interval(0.95, 59, y.mean(), scipy_stats.sem(y))
    assert (first.classical.low, first.classical.high) == pytest.approx(theirs, abs=1e-10)


def test_tuned_variance_matches_the_regression_jackknife():
    """Of labels' influences on the judge's, without intercept: statsmodels' residuals by HC3."""
    y, f, u = sample(n=25, m=100, noise=1.0)
    documents = {"documents": [*range(25)], "documents_unlabelled": [*range(25, 125)]}
    ours = ppi(y, f, u, **documents)
    labels = np.r_[(y - y.mean()) / 25, np.zeros(100)]
    judged = np.r_[(f - f.mean()) / 25, -(u - u.mean()) / 100]
    theirs = sm.OLS(labels, judged).fit()
    assert ours.tuning == pytest.approx(theirs.params[0], abs=1e-12)
    residuals = theirs.get_influence().resid_press
    half = scipy_stats.t.ppf(0.975, 24) * np.sqrt(residuals @ residuals * 25 / 24)
    assert ours.ppi_plus.high - ours.ppi_plus.value == pytest.approx(half, rel=1e-9)
    # A lambda that was given is none that was fitted.
    fixed = ppi(y, f, u, tuning=ours.tuning, **documents).ppi_plus
    assert ours.ppi_plus.value == fixed.value
    assert fixed.high - fixed.value < 0.98 * half


def test_lambda_at_its_bound_is_not_estimated():
    """A judge whose scores vary a ninth as much as labels would have a lambda of 9: it is 1."""
    y, f, u = sample(n=25, m=100, noise=0.1)
    documents = {"documents": [*range(25)], "documents_unlabelled": [*range(25, 125)]}
    tuned = ppi(y, f / 9, u / 9, **documents)
    assert tuned.tuning == 1.0
    assert tuned.ppi_plus == ppi(y, f / 9, u / 9, tuning=1.0, **documents).ppi_plus


def test_invalid_ppi_input_raises():
    pair = {"documents": ["d", "e"], "documents_unlabelled": ["f"]}
    nothing = ppi_mean([1.0, 2.0], [1.0, 2.0], [], documents=["d", "e"], documents_unlabelled=[])
    assert isinstance(nothing, Undefined)
    assert "every judged item is labelled" in nothing.why
    one = ppi_mean([1.0], [1.0], [2.0], documents=["d"], documents_unlabelled=["f"])
    assert isinstance(one, Undefined)
    first = ppi_mean([1, 2], [1, 2], [3], documents=["d", "d"], documents_unlabelled=["e"])
    assert isinstance(first, Undefined)
    with pytest.raises(StatisticsError, match="nan"):
        ppi_mean([1.0, float("nan")], [1.0, 2.0], [3.0], **pair)
    with pytest.raises(StatisticsError, match="equal lengths"):
        ppi_mean([1.0, 2.0], [1.0, 2.0], [3.0, 4.0], **pair)


def test_plan_by_hand():
    # Labels of variance v: without a judge n = v (1.959964 / h)^2. With correlation r and T judged,
    # 1 / n = ((h / 1.959964)^2 / v - r^2 / T) / (1 - r^2).
    rng = np.random.default_rng(1)
    y = rng.normal(size=200)
    moments = estimate_pilot(y, y + rng.normal(size=200))
    assert not isinstance(moments, Undefined)
    plan = labels_for_half_width(moments, 0.1, n_judged=5000)
    v, r = y.var(ddof=1), moments.correlation
    variance = (0.1 / 1.959964) ** 2
    assert plan.without_judge == np.ceil(v / variance)
    assert plan.with_judge == np.ceil((1 - r**2) / (variance / v - r**2 / 5000))
    assert moments.design_effect == pytest.approx(1.0)


def test_planned_labels_give_the_planned_interval():
    y, f, u = sample(n=300, m=3000)
    moments = estimate_pilot(y, f)
    assert not isinstance(moments, Undefined)
    ours = ppi(y, f, u).ppi_plus
    planned = moments.half_width(300, n_judged=3300, level=0.95, use_judge=True)
    assert planned == pytest.approx((ours.high - ours.low) / 2, rel=0.05)


def test_documents_to_separate_systems_by_hand():
    # Power 0.8 at 5 %: n = v ((1.959964 + 0.841621) / delta)^2 paired labels.
    rng = np.random.default_rng(3)
    d = rng.normal(0.3, 1.0, 100)
    moments = estimate_pilot(d, rng.normal(size=100))
    assert not isinstance(moments, Undefined)
    plan = labels_to_separate(moments, 0.3, n_judged=10_000)
    assert plan.without_judge == np.ceil(d.var(ddof=1) * ((1.959964 + 0.841621) / 0.3) ** 2)
    same = labels_to_separate(moments, 0.0, n_judged=100)
    assert (same.with_judge, same.without_judge) == (None, None)
    assert labels_to_separate(moments, 0.01, n_judged=100).with_judge is None


def test_plan_variance_matches_ppi_at_optimal_weight():
    """s^2 / n (1 - r^2 m / (n + m)), m items judged alone (Angelopoulos et al. 2023, PPI++)."""
    moments = Pilot(variance=4.0, correlation=0.8, design_effect=1.5)
    alone = moments.variance_of_mean(40, 100, use_judge=False)
    assert alone == pytest.approx(1.5 * 4.0 / 40)
    assert moments.variance_of_mean(40, 100, use_judge=True) == pytest.approx(
        alone * (1 - 0.64 * 60 / 100)
    )
    for n_judged in (40, 10):  # nothing is judged alone
        assert moments.variance_of_mean(40, n_judged, use_judge=True) == pytest.approx(alone)
    half = moments.half_width(40, n_judged=100, level=0.95, use_judge=False)
    assert half == pytest.approx(1.959964 * np.sqrt(alone), rel=1e-6)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_plan_returns_the_minimum_labels_for_the_half_width(level):
    moments = Pilot(variance=4.0, correlation=0.8, design_effect=1.0)
    plan = labels_for_half_width(moments, 0.3, n_judged=400, level=level)
    for n_labels, use_judge in ((plan.with_judge, True), (plan.without_judge, False)):
        reached, missed = (
            moments.half_width(n, n_judged=400, level=level, use_judge=use_judge)
            for n in (n_labels, n_labels - 1)
        )
        assert reached <= 0.3 < missed


def test_default_power_is_0_8():
    """Without the judge n = variance (1.96 + 0.8416)^2 / difference^2 = 4 x 7.849 / 1."""
    moments = Pilot(variance=4.0, correlation=0.0, design_effect=1.0)
    assert labels_to_separate(moments, 1.0, n_judged=400).without_judge == 32
    assert labels_to_separate(moments, -1.0, n_judged=400).without_judge == 32
    assert labels_to_separate(moments, 1.0, n_judged=400, power=0.9).without_judge == 43
    none = labels_to_separate(moments, 0.0, n_judged=400)
    assert (none.with_judge, none.without_judge, none.half_width) == (None, None, 0.0)


def test_planning_curve_decreases_and_needs_a_large_enough_pilot():
    moments = estimate_pilot(*sample()[:2])
    assert not isinstance(moments, Undefined)
    curve = planning_curve(moments, n_judged=1000)
    assert curve[0].n_labels == 10
    assert curve[-1].n_labels == 1000
    first = {"n_judged": 1000, "level": 0.95}
    assert curve[0].with_judge == pytest.approx(moments.half_width(10, use_judge=True, **first))
    assert curve[0].without_judge == pytest.approx(moments.half_width(10, use_judge=False, **first))
    assert curve[0].with_judge < 0.9 * curve[0].without_judge
    for small, large in itertools.pairwise(curve):
        assert large.with_judge < small.with_judge
        assert small.with_judge <= small.without_judge
    assert [point.n_labels for point in planning_curve(moments, n_judged=10)] == [10]
    assert planning_curve(moments, n_judged=9) == ()
    assert isinstance(estimate_pilot([1.0] * 5, [1.0] * 5), Undefined)
    assert isinstance(estimate_pilot([1.0] * 50, [1.0] * 50), Undefined)
    flat = estimate_pilot(np.arange(20.0), np.ones(20))
    assert not isinstance(flat, Undefined)
    assert flat.correlation == 0.0


def panel(n=60, m=3, noise=1.0, judge_noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n).astype(float)
    ratings = np.clip(np.round(truth[:, None] + rng.normal(0, noise, (n, m))), 1, 5)
    judged = np.clip(np.round(truth + rng.normal(0, judge_noise, n)), 1, 5)
    return judged, ratings, np.ones((n, m), dtype=bool)


def run(*arrays, **more):
    names = [f"p{j}" for j in range(arrays[1].shape[1])]
    result = alternative_annotator_test(*arrays, annotators=names, epsilon=0.2, **more)
    assert isinstance(result, AlternativeAnnotatorTest)
    return result


@pytest.mark.parametrize("alignment", ["rmse", "accuracy"])
@pytest.mark.parametrize("judge_noise", [0.2, 1.0, 2.5])
def test_alternative_annotator_test_by_hand(alignment, judge_noise):
    # Calderon et al. (2025), section 3, item by item, with scipy's t-test.
    judged, ratings, present = panel(judge_noise=judge_noise)
    p_values, advantages = [], []
    for j in range(3):
        judge_wins, person_wins = [], []
        for i in range(len(judged)):
            others = [ratings[i, k] for k in range(3) if k != j]
            if alignment == "rmse":
                f = -np.sqrt(np.mean([(judged[i] - h) ** 2 for h in others]))
                h = -np.sqrt(np.mean([(ratings[i, j] - h) ** 2 for h in others]))
            else:
                f = np.mean([judged[i] == h for h in others])
                h = np.mean([ratings[i, j] == h for h in others])
            judge_wins.append(float(f >= h))
            person_wins.append(float(h >= f))
        advantages.append(np.mean(judge_wins))
        difference = np.subtract(person_wins, judge_wins)
        p_values.append(scipy_stats.ttest_1samp(difference, 0.2, alternative="less").pvalue)
    ours = run(judged, ratings, present, alignment=alignment)
    np.testing.assert_allclose([a.p_value for a in ours.annotators], p_values, atol=1e-10)
    assert ours.advantage_probability == pytest.approx(np.mean(advantages))
    assert ours.winning_rate == np.mean(benjamini_yekutieli(p_values) < 0.05)
    assert ours.passes == (ours.winning_rate >= 0.5)


def test_a_better_judge_passes_and_a_random_one_fails():
    assert run(*panel(n=200)).passes
    judged, ratings, present = panel(n=200, noise=0.3)
    random = np.random.default_rng(1).permutation(judged)
    result = run(random, ratings, present)
    assert not result.passes
    assert result.winning_rate == 0.0


def test_repeated_items_of_a_document_add_no_evidence():
    arrays = panel(n=60)
    documents = np.repeat(np.arange(60), 5).tolist()
    many = run(*(np.repeat(a, 5, axis=0) for a in arrays), documents=documents)
    once = run(*arrays, documents=list(range(60)))
    for a, b in zip(many.annotators, once.annotators, strict=True):
        assert a.p_value == pytest.approx(b.p_value, abs=1e-10)


def test_too_few_annotators_or_items_are_reported():
    judged, ratings, present = panel()
    two = alternative_annotator_test(
        judged, ratings[:, :2], present[:, :2], annotators=["a", "b"], epsilon=0.2
    )
    assert isinstance(two, Undefined)
    assert "the test needs 3" in two.why
    fourth = np.column_stack([present, np.arange(60) < 10])
    wide = np.column_stack([ratings, ratings[:, 0]])
    result = alternative_annotator_test(
        judged, wide, fourth, annotators=["a", "b", "c", "d"], epsilon=0.2
    )
    assert isinstance(result, AlternativeAnnotatorTest)
    assert result.left_out == (("d", 10),)
    assert len(result.annotators) == 3


def test_judge_comparison_by_hand():
    rng = np.random.default_rng(0)
    y = rng.normal(size=150)
    judged = {
        "good": y + 0.3 * rng.normal(size=150),
        "poor": y + 3 * rng.normal(size=150),
        "flat": np.ones(150),
    }
    by_pair = {
        (c.first, c.second): c
        for c in compare_judges(judged, y, rng=rng, documents=(np.arange(150) // 3).tolist())
    }
    first = by_pair["good", "poor"]
    assert isinstance(first.difference, Estimate)
    expected = (
        scipy_stats.spearmanr(judged["good"], y).statistic
        - scipy_stats.spearmanr(judged["poor"], y).statistic
    )
    assert first.difference.value == pytest.approx(expected, abs=1e-10)
    assert first.adjusted_p_value is not None
    assert first.adjusted_p_value < 0.01
    flat = by_pair["good", "flat"]
    assert isinstance(flat.difference, Undefined)
    assert flat.difference.why.startswith("flat: scores are all 1")
    assert flat.adjusted_p_value is None
    assert compare_judges({"good": y}, y, rng=rng) == ()


def test_tuned_judge_weight_is_at_most_one():
    """Labels are three times the judge: the best weight, 3 / (1 + n / N), is above 1."""
    _, f, u = sample()
    y = 3.0 * f
    tuned, whole = ppi(y, f, u), ppi(y, f, u, tuning=1.0)
    assert tuned.ppi_plus.value == pytest.approx(whole.ppi_plus.value)
    assert tuned.ppi_plus.low == pytest.approx(whole.ppi_plus.low)


def test_anticorrelated_judge_gets_zero_weight():
    y, f, u = sample()
    tuned, none = ppi(y, -f, -u), ppi(y, -f, -u, tuning=0.0)
    assert tuned.ppi_plus.value == pytest.approx(none.ppi_plus.value)
    assert tuned.ppi_plus.value == pytest.approx(y.mean())


def test_one_document_cannot_show_equal_quality():
    judged, ratings, present = panel(n=60)
    result = run(judged, ratings, present, documents=["d"] * 60)
    assert {annotator.p_value for annotator in result.annotators} == {1.0}
