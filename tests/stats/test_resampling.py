"""Bootstrap, permutation and multiplicity, against scipy, statsmodels and hand derivations."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats import bootstrap as boot
from fairjudge.stats.bootstrap import expanded_bounds, percentile_bounds
from fairjudge.stats.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
from fairjudge.stats.permutation import compare_permutations

P_VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)


@pytest.fixture
def few_objects():
    """Keep the collector off what came before: statsmodels asks for one in each correction."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("few_objects")
@given(P_VALUES)
def test_adjusted_p_values_match_statsmodels(p):
    for ours, name in [
        (holm, "holm"),
        (benjamini_hochberg, "fdr_bh"),
        (benjamini_yekutieli, "fdr_by"),
    ]:
        theirs = multipletests(p, method=name)[1]
        np.testing.assert_allclose(ours(p), theirs, atol=1e-10)


def test_empty_adjustment_is_empty_and_invalid_p_value_is_named():
    assert holm([]).size == benjamini_yekutieli([]).size == 0
    with pytest.raises(StatisticsError, match=r"1\.5"):
        holm([0.1, 1.5])
    with pytest.raises(StatisticsError, match=r"p_values\[1\]"):
        benjamini_hochberg([0.1, np.nan])


def mean_over_documents(values, *, rng, documents=None, **options):
    array = np.asarray(values, dtype=float)
    coded = np.arange(array.size) if documents is None else np.asarray(documents)
    d = len(set(coded.tolist()))
    statistic = boot.weighted_mean(array, coded, d)
    return boot.bootstrap(statistic, n_documents=d, rng=rng, n=array.size, **options)


def test_bounds_match_scipy_on_equal_replicates():
    values = np.random.default_rng(3).exponential(size=40)
    theirs = scipy_stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(1), n_resamples=999
    )
    ours = percentile_bounds(theirs.bootstrap_distribution, level=0.95)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=1e-10)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=1e-10)


def test_expanded_tail_by_hand():
    # d = 5: t(0.975, 4) = 2.776445; sqrt(5/4) * that = 3.104160; Phi(-3.104160) = 0.000954.
    sample = np.linspace(0.0, 1.0, 100_001)
    bounds = expanded_bounds(sample, level=0.95, n_documents=5)
    assert bounds.low == pytest.approx(0.000954, abs=1e-6)
    assert bounds.high == pytest.approx(1 - 0.000954, abs=1e-6)


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 1000))
def test_resamples_have_the_original_number_of_documents(documents, resamples, seed):
    counts = boot.resample_counts(documents, resamples, np.random.default_rng(seed))
    assert counts.shape == (resamples, documents)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == documents).all()


def test_chunks_do_not_change_the_number_of_replicates(monkeypatch):
    monkeypatch.setattr(boot, "CELLS_PER_CHUNK", 10)
    sample = boot.replicates(
        lambda counts: counts[:, 0],
        n_documents=4,
        n_resamples=7,
        rng=np.random.default_rng(0),
    )
    assert sample.shape == (7,)


def test_clustered_standard_error_matches_document_means():
    # 50 documents of 20 identical rows: the mean varies as the mean of 50 values does,
    # sd / sqrt(50), not as that of 1,000 rows. 95 % width = 2 * 1.96 * sd / sqrt(50).
    rng = np.random.default_rng(5)
    per_document = rng.normal(size=50)
    estimate = mean_over_documents(
        np.repeat(per_document, 20), documents=np.repeat(np.arange(50), 20), rng=rng
    )
    assert isinstance(estimate, Estimate)
    width = 2 * 1.96 * per_document.std() / np.sqrt(50)
    assert estimate.high - estimate.low == pytest.approx(width, rel=0.08)
    assert estimate.n == 1000


def test_weighted_mean_matches_the_mean_of_the_resample():
    values = np.array([1.0, 5.0, 2.0, 9.0])
    counts = boot.resample_counts(4, 50, np.random.default_rng(2))
    fast = boot.weighted_mean(values, np.arange(4), 4)(counts)
    items = [np.repeat(values, row.astype(int)) for row in counts]
    slow = [rows.mean() for rows in items]
    np.testing.assert_allclose(fast, slow, atol=1e-12)


def test_an_interval_needs_two_documents_and_a_value():
    rng = np.random.default_rng(0)
    first = mean_over_documents([3.0, 4.0], documents=[0, 0], rng=rng)
    assert isinstance(first, Estimate)
    assert (first.value, first.low, first.high) == (3.5, None, None)
    assert "fewer than 2 documents" in first.method
    assert isinstance(mean_over_documents([], rng=rng), Undefined)
    undefined = boot.bootstrap(lambda counts: np.full(len(counts), np.nan), n_documents=5, rng=rng)
    assert isinstance(undefined, Undefined)


def test_a_statistic_undefined_on_many_resamples_has_no_interval():
    # Document 0 is missing from a resample of 3 with probability (2/3)^3 = 30 % > 10 %.
    estimate = boot.bootstrap(
        lambda counts: boot.divide(counts[:, 0], counts[:, 0]),
        n_documents=3,
        rng=np.random.default_rng(0),
    )
    assert isinstance(estimate, Estimate)
    assert estimate.low is None
    assert "resamples" in estimate.method


def test_replicates_of_refitted_statistics_are_recentred():
    """By hand: means of resamples lie around the sample's, the estimate 5 above it; NaN stays."""

    def statistic(counts):
        means = counts @ np.arange(20.0) / 20.0
        return np.column_stack([means, means, np.full(len(counts), np.nan)])

    options = {"n_documents": 20, "n_resamples": 400, "rng": np.random.default_rng(0)}
    values = np.array([9.5, 14.5, np.nan])
    plain, moved, none = boot.bootstrap_many(statistic, values=values, **options)
    assert (plain.value, moved.value) == (9.5, 14.5)
    assert moved.low - plain.low == pytest.approx(5.0)
    assert moved.high - plain.high == pytest.approx(5.0)
    assert none == Undefined(why=boot.NO_VALUE)


def test_the_same_seed_gives_the_same_interval():
    def run(seed):
        return mean_over_documents(np.arange(30.0), rng=np.random.default_rng(seed))

    assert run(4) == run(4)
    assert run(4) != run(5)


def test_bootstrap_p_value_by_hand():
    # 9 replicates, one at or below 0: 2 * (1 + 1) / (1 + 9) = 0.4.
    assert boot.two_sided_p_value(np.array([-1.0, *range(1, 9)]), 0.0) == pytest.approx(0.4)
    assert boot.two_sided_p_value(np.array([np.nan]), 0.0) is None


def test_permutation_p_values_by_hand():
    # Permuted 1, 2, 3, 3 against 3: two are >= 3, none above: (1 + 2) / 5 and 0 / 4.
    test = compare_permutations(3.0, np.array([1.0, 2.0, 3.0, 3.0]))
    assert (test.p_value, test.p_value_strict) == (0.6, 0.0)
    # Two-sided against -3: |permuted| >= 3 twice. Less than 2: 1 and 2 are <= 2.
    assert (
        compare_permutations(-3.0, np.array([1.0, -3.0, 3.0]), alternative="two-sided").p_value
        == 0.75
    )
    assert (
        compare_permutations(2.0, np.array([1.0, 2.0, 3.0, 4.0]), alternative="less").p_value == 0.6
    )


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, -0.5])
def test_invalid_level_raises(level):
    with pytest.raises(StatisticsError, match="strictly between 0 and 1"):
        mean_over_documents([1.0, 2.0], rng=np.random.default_rng(0), level=level)


def test_two_documents_have_an_interval_and_none_have_no_value():
    rng = np.random.default_rng(0)
    two = mean_over_documents([3.0, 4.0], rng=rng)
    assert (two.low, two.high) == (3.0, 4.0)
    none = boot.bootstrap(lambda counts: np.full(len(counts), 7.0), n_documents=0, rng=rng)
    assert (none.value, none.low, none.n) == (7.0, None, 0)
    for wrong in ({"n_documents": -1}, {"n_documents": 3, "n_resamples": 0}):
        with pytest.raises(StatisticsError, match="n_resamples"):
            boot.bootstrap(lambda counts: counts[:, 0], rng=rng, **wrong)


@pytest.mark.parametrize(
    ("draws", "p_value"),
    [
        ([1, 2, 3, 4], 0.4),  # none at or below 0 of 4: twice 1 of 5
        ([0, 1, 2, 3], 0.8),  # one at 0 is at or below it
        ([-3, -2, -1, 0], 0.8),
        ([-1, 1, 0, 0], 1.0),
        ([-2, -1, 1, np.nan], 1.0),
        ([np.nan, 1, 1, 1], 0.5),
    ],
)
def test_the_bootstraps_p_value_by_hand(draws, p_value):
    assert boot.two_sided_p_value(np.array(draws, dtype=float), 0.0) == pytest.approx(p_value)
    assert boot.two_sided_p_value(np.full(3, np.nan), 0.0) is None
