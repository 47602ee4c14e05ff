"""Closed-form intervals, against statsmodels and hand derivations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student_t
from statsmodels.stats.proportion import proportion_confint

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.intervals import clustered_wilson, share_difference, wilson


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (0, 7), (1, 7), (3, 7), (7, 7), (40, 100), (999, 1000)]
)
def test_proportions_match_statsmodels(k, n, level):
    estimate = wilson(k, n, level=level)
    low, high = proportion_confint(k, n, alpha=1 - level, method="wilson")
    assert isinstance(estimate, Estimate)
    assert estimate.value == k / n
    # statsmodels leaves rounding dust at the ends of the unit interval; ours is exact there.
    assert estimate.low == pytest.approx(low, abs=1e-10)
    assert estimate.high == pytest.approx(high, abs=1e-10)


def test_no_trials_are_undefined_and_impossible_counts_raise():
    assert isinstance(wilson(0, 0), Undefined)
    assert isinstance(clustered_wilson([], []), Undefined)
    with pytest.raises(StatisticsError, match="5 of 3"):
        wilson(5, 3)
    with pytest.raises(StatisticsError, match="level"):
        wilson(1, 3, level=95)
    with pytest.raises(StatisticsError, match="0 or 1"):
        clustered_wilson([0.5], ["x"])


def test_identical_trials_in_a_document_count_once():
    # Every document's 10 trials end alike: the effective number of trials is about d, so the
    # interval equals the one of a single trial a document.
    per_document = np.array([0, 1] * 20)
    tenfold = clustered_wilson(np.repeat(per_document, 10), np.repeat(np.arange(40), 10).tolist())
    single = clustered_wilson(per_document, list(range(40)))
    assert isinstance(tenfold, Estimate)
    assert isinstance(single, Estimate)
    assert (tenfold.low, tenfold.high) == pytest.approx((single.low, single.high))
    assert tenfold.n == 400


def test_a_rate_of_zero_is_based_on_documents():
    # p = 0 with 20 documents: Wilson's upper end is t^2 / (d + t^2), t(0.975, 19) = 2.093024.
    estimate = clustered_wilson(np.zeros(100), np.repeat(np.arange(20), 5).tolist())
    assert isinstance(estimate, Estimate)
    assert estimate.low == 0.0
    assert estimate.high == pytest.approx(2.093024**2 / (20 + 2.093024**2), abs=1e-6)


def test_one_document_has_no_interval():
    estimate = clustered_wilson([1, 0], ["x", "x"])
    assert isinstance(estimate, Estimate)
    assert estimate.low is None


def test_rate_of_one_is_based_on_documents_like_zero():
    documents = np.repeat(np.arange(20), 5).tolist()
    none, all_of_them = (clustered_wilson(np.full(100, end), documents) for end in (0.0, 1.0))
    assert isinstance(none, Estimate)
    assert isinstance(all_of_them, Estimate)
    assert all_of_them.high == 1.0
    assert all_of_them.low == pytest.approx(1.0 - none.high)


def test_equal_documents_count_by_their_items():
    """Each of 2 documents has 1 of 2: no variance between them, so Wilson's on 4 items, t_1."""
    result = clustered_wilson([1, 0, 1, 0], ["d", "d", "e", "e"])
    assert isinstance(result, Estimate)
    t = student_t.ppf(0.975, 1)
    half = t / (1 + t * t / 4) * np.sqrt(0.25 / 4 + t * t / 64)
    assert (result.low, result.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_zero_outcomes_give_a_two_sided_difference_interval():
    never = [0] * 16
    apart = share_difference(never, never, range(16))
    bound = clustered_wilson(never, list(range(16))).high
    assert (apart.value, apart.low, apart.high, apart.p_value) == (0.0, -bound, bound, 1.0)
    assert apart.method.startswith("Newcombe")


def test_constant_outcome_has_a_lower_bound_below_one():
    always, never = [1] * 16, [0] * 16
    apart = share_difference(always, never, range(16))
    least = clustered_wilson(always, list(range(16))).low
    # The other share is at most what is left: p - q >= p - (1 - p).
    assert (apart.value, apart.high) == (1.0, 1.0)
    assert apart.low == pytest.approx(2 * least - 1)
    turned = share_difference(never, always, range(16))
    assert (turned.low, turned.high) == pytest.approx((-apart.high, -apart.low))


def test_homogeneous_documents_have_a_positive_width():
    apart = share_difference([1, 0] * 8, [0, 1] * 8, [n // 2 for n in range(16)])
    assert apart.value == 0.0
    assert apart.low == pytest.approx(-apart.high)
    assert 0.2 < apart.high < 1.0


def test_difference_of_shares_is_the_mean_sign_if_documents_differ():
    rng = np.random.default_rng(0)
    signs = rng.integers(-1, 2, 40).astype(float)
    documents = [n // 3 for n in range(40)]
    apart = share_difference(signs == 1, signs == -1, documents, n_excluded=2)
    assert apart == clustered_mean(signs, documents, null=0.0, n_excluded=2)


def test_difference_of_shares_in_degenerate_cases():
    assert isinstance(share_difference([], [], []), Undefined)
    assert share_difference([0, 0], [0, 0], ["d", "d"]).low is None
    with pytest.raises(StatisticsError, match="both outcomes"):
        share_difference([1, 0], [1, 0], [1, 2])


def test_the_interval_covers_small_differences():
    """Most data sets of 17 pairs at 2 % have no case: an interval of no width would miss them."""
    rng = np.random.default_rng(1)
    sample = rng.random((300, 17))
    items = [share_difference(u < 0.05, (u >= 0.05) & (u < 0.07), range(17)) for u in sample]
    covered = [item.low <= 0.03 <= item.high for item in items]
    assert np.mean(covered) >= 0.95
