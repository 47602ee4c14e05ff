"""Errors, groups, distributions, position and length bias, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, mean_absolute_error, mean_squared_error

from fairjudge.calibration.audits import BothOrders, position_bias
from fairjudge.calibration.calibration_report import (
    ErrorScores,
    assess,
    equal_size_bins,
    reliability_diagram,
)
from fairjudge.calibration.groups import errors_by_group, quantile_groups
from fairjudge.calibration.length import (
    LengthControl,
    control_length,
    verbosity_bias,
)
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.temperature import (
    apply_temperature,
    expected_scores,
    fit_temperature,
    log_losses,
    normalise_distributions,
    ranked_probability_scores,
    score_distributions,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats.clustered import clustered_difference, clustered_mean
from fairjudge.stats.logistic import LogisticFit, fit_logistic


def value(figure):
    assert isinstance(figure, Estimate)
    return figure.value


# Errors of scores -----------------------------------------------------------------------------


def test_errors_match_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200).astype(float)
    p = np.clip(0.5 * y + 0.5 * rng.random(200), 0, 1)
    assessment = assess(p, y, scale=(0, 1), rng=rng, n_resamples=200)
    assert isinstance(assessment, ErrorScores)
    assert value(assessment.brier) == pytest.approx(brier_score_loss(y, p), abs=1e-10)
    assert value(assessment.mae) == pytest.approx(mean_absolute_error(y, p), abs=1e-10)
    assert value(assessment.rmse) == pytest.approx(mean_squared_error(y, p) ** 0.5, abs=1e-10)
    assert value(assessment.bias) == pytest.approx((p - y).mean(), abs=1e-12)


def test_calibration_error_by_hand():
    # Scores 1 (labels 1, 3) and 4 (labels 4, 4, 5); the gap of each bin over all 5 items:
    # bin 1: |1 + 1 - (1 + 3)| / 5 = 2/5; bin 4: |12 - 13| / 5 = 1/5; ECE = 3/5.
    assessment = assess(
        [1, 1, 4, 4, 4], [1, 3, 4, 4, 5], scale=(1, 5), rng=np.random.default_rng(0)
    )
    assert isinstance(assessment, ErrorScores)
    assert value(assessment.ece) == pytest.approx(0.6)
    # Brier on the stretched scale: mean square 5/5 over 4^2.
    assert value(assessment.brier) == pytest.approx(1.0 / 16)
    bins = reliability_diagram([1, 1, 4, 4, 4], [1, 3, 4, 4, 5])
    assert [(b.low, b.high, b.n, b.mean_score) for b in bins] == [(1, 1, 2, 1), (4, 4, 3, 4)]
    assert value(bins[1].mean_label) == pytest.approx(13 / 3)


def test_calibration_error_is_inside_its_interval():
    # A calibrated judge: every bin's gap is noise, so resampling can only add to the error.
    rng = np.random.default_rng(0)
    p = rng.integers(1, 10, 400) / 10
    y = (rng.random(400) < p).astype(float)
    assessment = assess(p, y, scale=(0, 1), rng=rng)
    assert isinstance(assessment, ErrorScores)
    assert isinstance(assessment.ece, Estimate)
    assert 0.0 <= assessment.ece.low <= assessment.ece.value <= assessment.ece.high


@given(st.lists(st.integers(0, 30), min_size=1, max_size=100), st.integers(2, 12))
def test_bins_keep_ties_together_and_preserve_order(numbers, n_bins):
    x = np.array(numbers, dtype=float)
    bins = equal_size_bins(x, n_bins)
    assert len(set(bins)) <= max(n_bins, 1)
    order = np.argsort(x, kind="stable")
    assert np.all(np.diff(bins[order]) >= 0)
    for level in set(numbers):
        assert len(set(bins[x == level])) == 1
    assert set(bins) == set(range(max(bins) + 1))


def test_no_items_or_invalid_scale_raise():
    rng = np.random.default_rng(0)
    assert isinstance(assess([], [], scale=(1, 5), rng=rng), Undefined)
    assert reliability_diagram([], []) == ()
    with pytest.raises(StatisticsError, match="low to high"):
        assess([1], [1], scale=(5, 1), rng=rng)
    with pytest.raises(StatisticsError, match="low to high"):
        assess([1], [1], scale=(1, 1), rng=rng)


# Distributions --------------------------------------------------------------------------------


def draw(n=300, k=4, sharpness=1.0, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    answers = np.array([rng.choice(k, p=row) for row in true])
    data = apply_temperature(true, 1.0 / sharpness)
    return normalise_distributions(data, np.eye(k)[answers], np.arange(1.0, k + 1)), answers


def test_log_loss_is_scikit_learns():
    data, answers = draw()
    theirs = log_loss(answers, data.probabilities, labels=[0, 1, 2, 3])
    assert log_losses(data).mean() == pytest.approx(theirs, abs=1e-10)


def test_ranked_probability_score_by_hand():
    # p = (.5, .3, .2), truth the third level: cumulative .5, .8 against 0, 0;
    # (.25 + .64) / 2 = .445. Expected score 1 * .5 + 2 * .3 + 3 * .2 = 1.7.
    data = normalise_distributions(
        np.array([[0.5, 0.3, 0.2]]), np.array([[0.0, 0.0, 1.0]]), [1, 2, 3]
    )
    assert ranked_probability_scores(data)[0] == pytest.approx(0.445)
    assert expected_scores(data)[0] == pytest.approx(1.7)


def test_temperature_undoes_overconfidence():
    for sharpness in (0.5, 2.0, 4.0):
        data, _ = draw(n=4000, sharpness=sharpness)
        temperature = fit_temperature(data)
        assert temperature == pytest.approx(sharpness, rel=0.1)
        assert not isinstance(temperature, Undefined)
        # The minimum: any other temperature loses more.
        losses = [
            log_losses(
                normalise_distributions(
                    apply_temperature(data.probabilities, t), data.targets, data.levels
                )
            ).mean()
            for t in (temperature * 0.9, temperature, temperature * 1.1)
        ]
        assert min(losses) == losses[1]


@pytest.mark.parametrize(("right", "why"), [(0, "always right"), (1, "no better than chance")])
def test_one_item_has_no_optimal_temperature(right, why):
    first = normalise_distributions(np.array([[0.6, 0.4]]), np.eye(2)[[right]], [1, 2])
    result = fit_temperature(first)
    assert isinstance(result, Undefined)
    assert why in result.why


def test_calibration_error_of_distributions_by_hand():
    # sure by .95 and wrong, by .55 and right, in bins of their own: (.95 + .45) / 2
    data = normalise_distributions(
        np.array([[0.95, 0.05], [0.55, 0.45]]), np.eye(2)[[1, 0]], [1, 2]
    )
    result = score_distributions(data, documents=["d", "e"])
    assert result.calibration_error == pytest.approx(0.7)
    # the last two of ten bins: .95 and wrong, .85 and right: (.95 + .15) / 2
    data = normalise_distributions(
        np.array([[0.95, 0.05], [0.85, 0.15]]), np.eye(2)[[1, 0]], [1, 2]
    )
    result = score_distributions(data, documents=["d", "e"])
    assert result.calibration_error == pytest.approx(0.55)


def test_judge_certain_of_a_constant_answer_has_no_skill():
    data, _ = draw()
    flat = normalise_distributions(np.full((300, 4), 0.25), data.targets, data.levels)
    assert isinstance(fit_temperature(flat), Undefined)
    sharp = normalise_distributions(
        np.tile([0.001, 0.001, 0.997, 0.001], (300, 1)), data.targets, data.levels
    )
    scored = score_distributions(sharp, documents=list(range(300)))
    assert value(scored.sharpness) == pytest.approx(0.997)
    assert isinstance(scored.calibration_error, float)
    assert scored.calibration_error > 0.6


def test_invalid_distributions_raise():
    eye = np.eye(3)
    with pytest.raises(StatisticsError, match="increasing"):
        normalise_distributions(eye, eye, [1, 3, 2])
    with pytest.raises(StatisticsError, match="targets"):
        normalise_distributions(eye, np.zeros((3, 3)), [1, 2, 3])
    with pytest.raises(StatisticsError, match="shapes"):
        normalise_distributions(eye, eye, [1, 2])


# Clustered means and groups -------------------------------------------------------------------


def test_clustered_mean_matches_statsmodels_cluster_robust_intercept():
    rng = np.random.default_rng(1)
    documents = rng.integers(0, 20, 150)
    y = rng.normal(size=150) + rng.normal(size=20)[documents]
    theirs = sm.OLS(y, np.ones(150)).fit(
        cov_type="cluster", cov_kwds={"groups": documents, "use_correction": False}
    )
    ours = clustered_mean(y, documents.tolist(), null=0.0)
    assert isinstance(ours, Estimate)
    # statsmodels without its correction lacks d / (d - 1).
    from scipy.stats import t

    half = t.ppf(0.975, 19) * theirs.bse[0] * np.sqrt(20 / 19)
    assert (ours.low, ours.high) == pytest.approx((y.mean() - half, y.mean() + half), abs=1e-10)


def test_clustered_difference_matches_statsmodels_cluster_robust_slope():
    rng = np.random.default_rng(2)
    documents = rng.integers(0, 30, 200)
    group = rng.random(200) < 0.4
    y = rng.normal(size=200) + 0.5 * group + rng.normal(size=30)[documents]
    design = sm.add_constant(group.astype(float))
    theirs = sm.OLS(y, design).fit(
        cov_type="cluster", cov_kwds={"groups": documents, "use_correction": False}
    )
    ours = clustered_difference(y, group, documents.tolist())
    assert isinstance(ours, Estimate)
    assert ours.value == pytest.approx(theirs.params[1], abs=1e-10)
    from scipy.stats import t

    fewest = min(len(set(documents[group])), len(set(documents[~group])))
    half = t.ppf(0.975, fewest - 1) * theirs.bse[1] * np.sqrt(30 / 29)
    assert ours.high - ours.value == pytest.approx(half, abs=1e-10)


def test_groups_flag_planted_bias_and_few_documents():
    rng = np.random.default_rng(3)
    documents = np.repeat(np.arange(100), 3)
    groups = ["small" if d < 8 else f"g{d % 3}" for d in documents]
    labels = rng.normal(size=300)
    judged = labels + 0.3 * rng.normal(size=300) + np.array([g == "g1" for g in groups])
    by_name = {
        g.group: g for g in errors_by_group(judged, labels, groups, documents=documents.tolist())
    }
    assert by_name["g1"].flagged
    assert value(by_name["g1"].error_gap) == pytest.approx(1.0, abs=0.15)
    assert by_name["small"].few_documents
    assert by_name["small"].n_documents == 8
    assert not by_name["g1"].few_documents
    assert errors_by_group([1.0], [1.0], [None], documents=["d"]) == ()
    alone = errors_by_group([1.0, 2.0], [1.0, 1.0], ["a", "a"], documents=["d", "e"])
    assert isinstance(alone[0].error_gap, Undefined)
    assert list(alone[0].adjusted_p_values.values()) == [None, None]


def test_quantile_groups_by_hand():
    assert quantile_groups([1, 2, 3, 4], n_groups=2, unit="words") == (
        "1 to 2 words",
        "1 to 2 words",
        "3 to 4 words",
        "3 to 4 words",
    )
    assert set(quantile_groups([5] * 9)) == {"5 to 5"}
    assert quantile_groups([]) == ()


# Position -------------------------------------------------------------------------------------


def both_orders(document, first, two):
    return BothOrders(
        document=document, system_a="A", system_b="B", when_a_first=first, when_b_first=two
    )


def test_position_shares_by_hand():
    # 10 pairs: first twice (a then b), second once (b then a), consistent 5 (a tie twice), and
    # two with a tie in one order only.
    kinds = [("a", "b")] * 2 + [("b", "a")] + [("a", "a")] * 2 + [("b", "b")]
    kinds += [("tie", "tie")] * 2 + [("tie", "a"), ("b", "tie")]
    result = position_bias([both_orders(i, *kind) for i, kind in enumerate(kinds)])
    shares = [result.first, result.second, result.consistency, result.one_tie]
    assert [value(s) for s in shares] == pytest.approx([0.2, 0.1, 0.5, 0.2])
    assert value(result.first_minus_second) == pytest.approx(0.1)
    assert isinstance(position_bias([]).first, Undefined)


def test_zero_position_bias_in_few_pairs_has_wide_interval():
    result = position_bias([both_orders(i, "a", "a") for i in range(17)]).first_minus_second
    assert value(result) == 0.0
    assert result.low == pytest.approx(-result.high)
    assert 0.1 < result.high < 0.3


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "tie"])] * 2), min_size=1, max_size=40))
def test_position_shares_sum_to_one_and_ignore_system_names(kinds):
    result = position_bias([both_orders(i, *kind) for i, kind in enumerate(kinds)])
    total = sum(value(s) for s in (result.first, result.second, result.consistency, result.one_tie))
    assert total == pytest.approx(1.0)
    # Renaming the systems changes the verdicts and what stood first together: nothing moves.
    other = {"a": "b", "b": "a", "tie": "tie"}
    renamed = position_bias([both_orders(i, other[k[1]], other[k[0]]) for i, k in enumerate(kinds)])
    assert value(renamed.first) == pytest.approx(value(result.first))
    assert value(renamed.second) == pytest.approx(value(result.second))


# Length ---------------------------------------------------------------------------------------


def test_verbosity_by_hand():
    result = verbosity_bias([1, 1, 0, -2], ["a", "b", "c", "d"])
    assert value(result.original) == 0.5
    assert value(result.extended) == 0.25
    assert value(result.original_minus_extended) == 0.25


def test_logistic_fit_matches_statsmodels_with_clustered_variance():
    rng = np.random.default_rng(5)
    documents = rng.integers(0, 40, 300)
    design = np.column_stack([np.ones(300), rng.normal(size=300)])
    y = (rng.random(300) < 1 / (1 + np.exp(-design @ [0.3, 0.8]))).astype(float)
    ours = fit_logistic(design, y, documents=documents.tolist())
    theirs = sm.GLM(y, design, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": documents, "use_correction": False}, tol=1e-14
    )
    assert isinstance(ours, LogisticFit)
    np.testing.assert_allclose(ours.coefficients, theirs.params, atol=1e-8)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params() * 40 / 39, atol=1e-8)


def test_logistic_without_a_finite_fit_is_undefined():
    x = np.arange(20.0)
    design = np.column_stack([np.ones(20), x - 9.5])
    separated = fit_logistic(design, (x > 9).astype(float))
    assert isinstance(separated, Undefined)
    collinear = fit_logistic(np.column_stack([design, design[:, 1]]), (x % 2))
    assert isinstance(collinear, Undefined)
    with pytest.raises(StatisticsError, match=r"\[0, 1\]"):
        fit_logistic(design, x)


def controlled(*, length_differences, **comparisons):
    return control_length(Comparisons(**comparisons), length_differences)


def verdicts(n=800, effect=1.0, seed=0):
    """System b writes longer and is no better; the judge likes length."""
    rng = np.random.default_rng(seed)
    lengths = rng.normal(-1.0, 1.0, n)
    eta = effect * lengths / np.sqrt(np.mean(lengths**2))
    return {
        "wins": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float),
        "system_a": ("short",) * n,
        "system_b": ("long",) * n,
        "length_differences": lengths,
        "positions": rng.choice([-1.0, 1.0], n),
        "documents": tuple(range(n)),
    }


def test_length_control_removes_the_length_advantage():
    result = controlled(**verdicts())
    assert isinstance(result, LengthControl)
    (pair,) = result.win_rates
    assert value(pair.raw) < 0.4
    assert isinstance(pair.adjusted, Estimate)
    assert pair.adjusted.low < 0.5 < pair.adjusted.high
    assert value(result.length_effect) == pytest.approx(1.0, abs=0.25)


def test_length_control_without_differences_changes_nothing():
    plain = verdicts()
    same = {
        "wins": plain["wins"],
        "system_a": plain["system_a"],
        "system_b": plain["system_b"],
        "length_differences": np.zeros(800),
        "positions": np.zeros(800),
        "documents": plain["documents"],
    }
    result = controlled(**same)
    assert isinstance(result, LengthControl)
    assert isinstance(result.length_effect, Undefined)
    assert isinstance(result.position_effect, Undefined)
    assert value(result.win_rates[0].adjusted) == pytest.approx(plain["wins"].mean(), abs=1e-3)


def test_position_only_judge_has_finite_estimates():
    plain = verdicts()
    only = {
        "wins": (plain["positions"] + 1) / 2,
        "system_a": plain["system_a"],
        "system_b": plain["system_b"],
        "length_differences": plain["length_differences"],
        "positions": plain["positions"],
        "documents": plain["documents"],
    }
    result = controlled(**only)
    assert isinstance(result, LengthControl)
    assert value(result.position_effect) > 5
    assert value(result.win_rates[0].adjusted) == pytest.approx(0.5, abs=0.2)


def test_calibration_error_of_one_document_has_no_interval():
    assessment = assess(
        [1.0, 2.0, 4.0],
        [2.0, 2.0, 3.0],
        scale=(1.0, 5.0),
        rng=np.random.default_rng(0),
        documents=["only"] * 3,
    )
    assert isinstance(assessment.ece, Estimate)
    # Each score has a bin of its own: (|1 - 2| + |2 - 2| + |4 - 3|) / 3.
    assert assessment.ece.value == pytest.approx(2 / 3)
    assert assessment.ece.low is None


def test_separation_is_detected_for_well_scaled_columns():
    """x is -1 or 1 and decides all: the slope runs off, the condition number stays 1."""
    x = np.tile([-1.0, 1.0], 10)
    design = np.column_stack([np.ones(20), x])
    assert isinstance(fit_logistic(design, (x > 0).astype(float)), Undefined)
    fit = fit_logistic(design, (x > 0).astype(float), ridge=0.01)
    assert isinstance(fit, LogisticFit)
    # the slope b solves 20 / (1 + exp(b)) = 0.01 b
    assert 20 / (1 + np.exp(fit.coefficients[1])) == pytest.approx(0.01 * fit.coefficients[1])


@pytest.mark.parametrize("lengths", [True, False])
def test_length_and_position_effects_are_reported_only_if_they_vary(lengths):
    """Three systems; only one of the two effects can be seen."""
    plain = verdicts()
    names = tuple(("short", "long", "other")[i % 3] for i in range(800))
    result = controlled(
        wins=plain["wins"],
        system_a=tuple(names[i] for i in range(800)),
        system_b=tuple(names[(i + 1) % 3] for i in range(800)),
        length_differences=plain["length_differences"] if lengths else np.zeros(800),
        positions=np.zeros(800) if lengths else plain["positions"],
        documents=plain["documents"],
    )
    length, missing = result.length_effect, result.position_effect
    if not lengths:
        length, missing = missing, length
    assert isinstance(length, Estimate)
    assert length.n == 800
    assert isinstance(missing, Undefined)


def test_pair_is_independent_of_system_order():
    """Of four verdicts on x and y, x wins three, whichever of them is called a."""
    result = controlled(
        wins=np.array([1.0, 0.0, 1.0, 1.0]),
        system_a=("x", "y", "x", "y"),
        system_b=("y", "x", "y", "x"),
        length_differences=np.zeros(4),
        positions=np.zeros(4),
        documents=("a", "b", "c", "d"),
    )
    (pair,) = result.win_rates
    assert (pair.system_a, pair.system_b) == ("x", "y")
    assert value(pair.raw) == pytest.approx(0.75)
    assert pair.raw.n == 4
    assert value(pair.adjusted) == pytest.approx(0.75, abs=0.01)


def test_matched_pairs_have_similar_length():
    """Differences 0, 0, 0.1 and 9, their root mean square 4.5: three of four are near."""
    result = controlled(
        wins=np.array([1.0, 0.0, 1.0, 0.0]),
        system_a=("x",) * 4,
        system_b=("y",) * 4,
        length_differences=np.array([0.0, 0.0, 0.1, 9.0]),
        positions=np.zeros(4),
        documents=("a", "b", "c", "d"),
    )
    (pair,) = result.win_rates
    assert (pair.raw.n, pair.matched.n) == (4, 3)
    assert value(pair.raw) == pytest.approx(0.5)
    assert value(pair.matched) == pytest.approx(2 / 3)


def test_win_rates_are_tested_against_one_half():
    """An even record is no evidence at all, of a length without effect none either."""
    rng = np.random.default_rng(0)
    result = controlled(
        wins=np.resize([1.0, 0.0], 200),
        system_a=("x",) * 200,
        system_b=("y",) * 200,
        length_differences=np.repeat(rng.normal(size=100), 2),
        positions=np.zeros(200),
        documents=tuple(range(200)),
    )
    (pair,) = result.win_rates
    assert pair.raw.p_value == pytest.approx(1.0)
    assert pair.adjusted.p_value == pytest.approx(1.0, abs=0.01)
    assert result.length_effect.p_value == pytest.approx(1.0, abs=0.01)
