"""Kappa and alpha, against scikit-learn, krippendorff and published or hand-worked examples."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    weighted_alpha,
    weighted_kappa,
    weighted_randolph,
)
from fairjudge.stats.bootstrap import bootstrap, resample_counts

KAPPAS = [("none", None), ("linear", "linear"), ("quadratic", "quadratic")]
LEVELS = ["nominal", "ordinal", "interval"]


@pytest.mark.parametrize(("ours", "theirs"), KAPPAS)
@pytest.mark.parametrize("n", [5, 50, 500])
@pytest.mark.parametrize("k", [2, 5])
def test_kappa_matches_scikit_learn(n, k, ours, theirs):
    rng = np.random.default_rng([n, k])
    # Every category occurs, so that they are evenly spaced for both definitions.
    x = np.r_[np.arange(k), rng.integers(0, k, n)]
    y = np.where(rng.random(n + k) < 0.5, x, rng.integers(0, k, n + k))
    assert cohen_kappa(x, y, weights=ours) == pytest.approx(
        cohen_kappa_score(x, y, weights=theirs), abs=1e-10
    )


def test_weighted_kappa_uses_value_differences_not_ranks():
    # Values 1, 2, 5 with pairs (1,1) (2,2) (5,5) (1,5): quadratic w = 16 for (1,5).
    # O = 16. Margins x: 1 1 2 (of 5, 2, 1) = {1: 2, 2: 1, 5: 1}; y: {1: 1, 2: 1, 5: 2}.
    # E = sum n_i m_j (i - j)^2 / 4 = [2*1*1 + 2*2*16 + 1*1*1 + 1*2*9 + 1*1*16 + 1*1*9] / 4 = 27.5.
    assert cohen_kappa([1, 2, 5, 1], [1, 2, 5, 5], weights="quadratic") == pytest.approx(
        1 - 16 / 27.5, abs=1e-12
    )


def test_kappa_by_hand():
    # Cohen (1960)-style 2 x 2: agree 20 + 15 of 50; margins 25/25 and 30/20.
    # po = 0.7, pe = 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa = 0.4.
    x = [1] * 25 + [0] * 25
    y = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(x, y) == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("raters", [2, 3, 8])
def test_alpha_matches_the_krippendorff_package(level, missing, raters):
    rng = np.random.default_rng([raters, int(missing * 10)])
    truth = rng.integers(1, 6, (60, 1))
    ratings = np.clip(truth + rng.integers(-1, 2, (60, raters)), 1, 5).astype(float)
    present = rng.random(ratings.shape) >= missing
    theirs = krippendorff.alpha(np.where(present, ratings, np.nan).T, level_of_measurement=level)
    assert krippendorff_alpha(ratings, present, level=level) == pytest.approx(theirs, abs=1e-10)


def test_alpha_of_krippendorffs_published_example():
    # Krippendorff (2011), section C: 4 observers, 12 units; nominal 0.743, ordinal 0.815,
    # interval 0.849.
    gap = 0
    data = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
            [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
        ],
        dtype=float,
    ).T
    for level, value in zip(LEVELS, (0.743, 0.815, 0.849), strict=True):
        assert krippendorff_alpha(data, data != gap, level=level) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_with_multiplicities_matches_repeated_items(level):
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 5, (40, 3)).astype(float)
    present = rng.random(ratings.shape) > 0.2
    documents = np.arange(40) // 4
    counts = resample_counts(10, 4, rng)
    ours = weighted_alpha(ratings, present, level=level, documents=documents.tolist())(counts)
    for value, row in zip(ours, counts, strict=True):
        times = row[documents].astype(int)
        again = krippendorff_alpha(
            np.repeat(ratings, times, axis=0), np.repeat(present, times, axis=0), level=level
        )
        assert value == pytest.approx(again, abs=1e-10)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_with_multiplicities_matches_repeated_items(weights):
    rng = np.random.default_rng(4)
    x, y = rng.integers(1, 5, (2, 40))
    counts = resample_counts(40, 4, rng)
    ours = weighted_kappa(x, y, weights=weights)(counts)
    for value, row in zip(ours, counts, strict=True):
        times = row.astype(int)
        again = cohen_kappa(np.repeat(x, times), np.repeat(y, times), weights=weights)
        assert value == pytest.approx(again, abs=1e-10)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30))
def test_agreement_with_oneself_is_one_or_undefined(x):
    for weights, _ in KAPPAS:
        value = cohen_kappa(x, x, weights=weights)
        if len(set(x)) == 1:
            assert isinstance(value, Undefined)
        else:
            assert value == pytest.approx(1.0)


def test_degenerate_ratings_report_the_reason():
    ones = np.ones((5, 3))
    everywhere = np.ones((5, 3), dtype=bool)
    constant = krippendorff_alpha(ones, everywhere)
    assert isinstance(constant, Undefined)
    assert "same one value" in constant.why
    alone = krippendorff_alpha(ones, everywhere & (np.arange(3) == 0))
    assert isinstance(alone, Undefined)
    assert alone.why == "no item has two ratings"
    many = cohen_kappa(np.arange(500.0), np.arange(500.0))
    assert isinstance(many, Undefined)
    assert "500 distinct values" in many.why
    assert isinstance(cohen_kappa([], []), Undefined)
    with pytest.raises(StatisticsError, match="equal shapes"):
        krippendorff_alpha(ones, everywhere[:2])
    with pytest.raises(StatisticsError, match="nan"):
        krippendorff_alpha(np.where(everywhere, np.nan, 1.0), everywhere)


def test_bootstrap_interval_contains_kappa():
    rng = np.random.default_rng(1)
    x = rng.integers(1, 6, 200)
    y = np.where(rng.random(200) < 0.6, x, rng.integers(1, 6, 200))
    estimate = bootstrap(weighted_kappa(x, y), n_documents=200, rng=rng)
    assert isinstance(estimate, Estimate)
    assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_unused_values_do_not_change_kappa(level):
    ratings = np.array([[1.0, 2.0, np.nan], [2.0, 2.0, 3.0], [np.nan, 1.0, 1.0]])
    present = ~np.isnan(ratings)
    filled = np.where(present, ratings, 7.0)
    counts = np.ones((1, 3))
    assert weighted_alpha(ratings, present, level=level)(counts) == pytest.approx(
        weighted_alpha(filled, present, level=level)(counts), nan_ok=False
    )


def test_continuous_ratings_have_no_nominal_alpha():
    ratings = np.random.default_rng(0).random((2000, 2))
    result = krippendorff_alpha(ratings, np.ones_like(ratings, dtype=bool))
    assert isinstance(result, Undefined)
    assert result.why == "4,000 distinct values are no categories"


def test_up_to_200_distinct_values_are_categories():
    values = np.arange(200.0)
    assert cohen_kappa(values, values) == pytest.approx(1.0)
    more = np.arange(201.0)
    assert cohen_kappa(more, more) == Undefined(why="201 distinct values are no categories")


def randolph_kappa(ratings, present, *, n_categories):
    statistic = weighted_randolph(ratings, present, n_categories=n_categories)
    return statistic(np.ones((1, len(ratings))))[0]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_randolphs_kappa_is_the_mean_over_rater_pairs_at_uniform_chance(k):
    """By its definition, pair by pair; raters are missing here and there."""
    rng = np.random.default_rng(k)
    ratings = rng.integers(1, k + 1, size=(40, 4)).astype(float)
    present = rng.random(ratings.shape) < 0.8
    shares = []
    for row, is_present in zip(ratings, present, strict=True):
        values = row[is_present]
        pairs = [(a, b) for a in range(values.size) for b in range(a)]
        if pairs:
            shares.append(np.mean([values[a] == values[b] for a, b in pairs]))
    expected = (np.mean(shares) - 1 / k) / (1 - 1 / k)
    result = randolph_kappa(ratings, present, n_categories=k)
    assert result == pytest.approx(expected, abs=1e-12)


def test_randolphs_kappa_is_high_for_a_dominant_category():
    """Randolph's reason: 9 of 10 items are alike for all, and chance is no matter of prevalence."""
    ratings = np.ones((10, 2))
    ratings[0, 1] = 0.0
    all_present = np.ones_like(ratings, dtype=bool)
    assert randolph_kappa(ratings, all_present, n_categories=2) == pytest.approx(0.8)
    assert cohen_kappa(ratings[:, 0], ratings[:, 1]) == pytest.approx(0.0)
    alone = np.zeros_like(all_present)
    alone[:, 0] = True
    assert np.isnan(randolph_kappa(ratings, alone, n_categories=2))
