"""Confidence sequences against closed forms and independent code, and their joint coverage."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from fairjudge.errors import StatisticsError
from fairjudge.stats.bootstrap import Bounds
from fairjudge.stats.sequences import (
    LookEstimate,
    betting_bounds,
    log_capital,
    mean_at_look,
    spending_sequence,
)


def looks_of(table: np.ndarray) -> list[LookEstimate]:
    return [mean_at_look(dict(enumerate(row.tolist()))) for row in table]


def ends(intervals: tuple[Bounds | None, ...]) -> list[float]:
    return [end for bounds in intervals for end in (bounds.low, bounds.high)]


def test_one_planned_check_has_the_student_interval():
    values = np.random.default_rng(0).normal(0.1, 0.3, size=30)
    (interval,) = spending_sequence(looks_of(values[None]), planned=1, level=0.9)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    # drawn boundaries never pass what one look may have alone
    assert interval.high - interval.low <= expected.high - expected.low + 1e-12
    assert interval.low == pytest.approx(expected.low, abs=0.01)
    assert interval.high == pytest.approx(expected.high, abs=0.01)


def test_independent_checks_approach_the_sidak_bound():
    """Looks at ever new documents are independent: the error of each is alpha / T, by Sidak."""
    rng = np.random.default_rng(1)
    looks = [
        mean_at_look({(number, i): value for i, value in enumerate(rng.normal(size=200))})
        for number in range(5)
    ]
    result = spending_sequence(looks, planned=5)
    widths = [
        (b.high - b.low) / 2 / look.standard_error for b, look in zip(result, looks, strict=True)
    ]
    expected = stats.t.ppf(1 - 0.05 / 5 / 2, 199)
    assert widths == pytest.approx([expected] * 5, rel=0.05)


def test_identical_checks_do_not_widen_intervals():
    """The same look five times: once its error is spent in full, the bound is Student's own."""
    values = np.random.default_rng(2).normal(size=50)
    result = spending_sequence(looks_of(np.tile(values, (5, 1))), planned=5)
    half = (result[-1].high - result[-1].low) / 2
    alone = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert half == pytest.approx((alone.high - alone.low) / 2, rel=0.04)
    widths = [b.high - b.low for b in result]
    assert widths == sorted(widths, reverse=True)


def test_later_checks_do_not_change_earlier_bounds():
    table = np.random.default_rng(3).normal(size=(6, 20))
    all_at_once = ends(spending_sequence(looks_of(table), planned=4))
    for n in range(1, 7):
        result = ends(spending_sequence(looks_of(table[:n]), planned=4))
        assert result == pytest.approx(all_at_once[: 2 * n])
    block = ends(spending_sequence(looks_of(table[4:]), planned=4))
    assert block == pytest.approx(all_at_once[8:])  # a new one after four looks


def test_checks_without_variance_or_documents():
    flat, rising = mean_at_look({"a": -0.1, "b": -0.1}), mean_at_look({"a": 0.5})
    point, nothing = spending_sequence([flat, rising], planned=3)
    assert (point.low, point.high) == (-0.1, -0.1)
    assert nothing is None
    with pytest.raises(StatisticsError, match="planned"):
        spending_sequence([flat], planned=0)


def test_a_difference_counts_shared_documents_once():
    """Paired looks: the variance of the difference is that of the differences."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 25))
    difference = mean_at_look(dict(enumerate(x))).minus(mean_at_look(dict(enumerate(y))))
    assert difference.value == pytest.approx(np.mean(x - y))
    assert difference.standard_error == pytest.approx(stats.sem(x - y))
    other = mean_at_look({f"n{i}": value for i, value in enumerate(y)})
    apart = mean_at_look(dict(enumerate(x))).minus(other)
    expected = math.sqrt((x.var() + y.var()) / 25 * 50 / 49)
    assert apart.standard_error == pytest.approx(expected)


def test_capital_by_hand():
    """Two values of 1 against a mean of .5 double a whole bet twice: (1 + f)^2, averaged."""
    fractions = np.geomspace(0.03, 0.95, 14)
    assert log_capital(np.ones(2), 0.5) == pytest.approx(math.log(np.mean((1 + fractions) ** 2)))


def test_betting_capital_is_fair():
    """Over all 2^10 sequences of a fair coin the capital's expectation is 1, as an e-value's is."""
    capital = [
        math.exp(log_capital(np.array(flips, dtype=float), 0.5))
        for flips in itertools.product((0, 1), repeat=10)
    ]
    assert np.mean(capital) == pytest.approx(1.0)


@pytest.mark.parametrize(("mean", "n"), [(0.05, 30), (0.5, 20), (0.9, 60)])
def test_betting_coverage_exceeds_its_guarantee(mean, n):
    """Exactly, by the binomial distribution: all data sets of n answers are n + 1 in kind."""
    covered = 0.0
    for successes in range(n + 1):
        values = np.r_[np.ones(successes), np.zeros(n - successes)]
        result = betting_bounds(values, minimum=0.0, maximum=1.0)
        covered += stats.binom.pmf(successes, n, mean) * (result.low <= mean <= result.high)
    assert covered >= 0.95


def test_betting_is_symmetric_and_scale_invariant():
    values = np.random.default_rng(5).uniform(-1, 0.5, size=80)
    result = betting_bounds(values, minimum=-1.0, maximum=1.0, planned=52)
    mirrored = betting_bounds(-values, minimum=-1.0, maximum=1.0, planned=52)
    assert (result.low, result.high) == pytest.approx((-mirrored.high, -mirrored.low))
    wide = betting_bounds(10 * values, minimum=-10.0, maximum=10.0, planned=52)
    assert (wide.low, wide.high) == pytest.approx((10 * result.low, 10 * result.high), abs=1e-6)
    with pytest.raises(StatisticsError, match="from -1"):
        betting_bounds([2.0], minimum=-1.0, maximum=1.0)
    nothing = betting_bounds([], minimum=-1.0, maximum=1.0)
    assert (nothing.low, nothing.high) == (-1.0, 1.0)


def test_intervals_of_all_checks_are_simultaneously_valid():
    """300 years of 20 looks at 30 fixed documents; a binomial bound on 5 % of 300 is 23 (99 %)."""
    rng = np.random.default_rng(6)
    wrong = {"sequence": 0, "fixed": 0}
    for _ in range(300):
        baseline = rng.normal(size=30)
        table = rng.normal(size=(20, 30)) - baseline
        result = spending_sequence(looks_of(table), planned=20)
        wrong["sequence"] += any(b.low > 0 or b.high < 0 for b in result)
        p_values = stats.ttest_1samp(table, 0.0, axis=1).pvalue
        wrong["fixed"] += bool((p_values < 0.05).any())
    assert wrong["sequence"] <= stats.binom.ppf(0.99, 300, 0.05)
    assert wrong["fixed"] > 60
