"""Results that R's help pages and the papers behind them print for data that they print too."""

import numpy as np
import pytest

from fairjudge.domain import Estimate
from fairjudge.stats.agreement import cohen_kappa
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import correlation
from fairjudge.stats.intervals import wilson
from fairjudge.stats.logistic import LogisticFit, fit_logistic
from fairjudge.stats.multiplicity import benjamini_hochberg, holm

# R's mtcars (Henderson and Velleman 1981): miles a gallon, weight, manual gears.
MILES = [
    *(21.0, 21.0, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4),
    *(10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26.0, 30.4, 15.8, 19.7),
    *(15.0, 21.4),
]
WEIGHT = [
    *(2.620, 2.875, 2.320, 3.215, 3.440, 3.460, 3.570, 3.190, 3.150, 3.440, 3.440, 4.070, 3.730),
    *(3.780, 5.250, 5.424, 5.345, 2.200, 1.615, 1.835, 2.465, 3.520, 3.435, 3.840, 3.845, 1.935),
    *(2.140, 1.513, 3.170, 2.770, 3.570, 2.780),
]
MANUAL = [1, 1, 1, *[0] * 14, 1, 1, 1, *[0] * 5, *[1] * 7]


@pytest.mark.parametrize(
    ("name", "printed"),
    # cor(mtcars$mpg, mtcars$wt, method = ...)
    [("pearson", -0.8676594), ("spearman", -0.886422), ("kendall", -0.7278321)],
)
def test_correlations_with_ties_match_r_cor(name, printed):
    assert correlation(name, MILES, WEIGHT) == pytest.approx(printed, abs=5e-8)


def test_kendall_matches_r_cor_test():
    # ?cor.test: quality of canned tuna, Hollander and Wolfe (1973), p. 187: tau = 0.4444444
    panel = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    hunter = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    assert correlation("kendall", panel, hunter) == pytest.approx(0.4444444, abs=5e-8)


def test_logistic_fit_matches_r_glm():
    # glm(am ~ wt, binomial, mtcars): (Intercept) 12.040, wt -4.024
    result = fit_logistic(np.column_stack([np.ones(32), WEIGHT]), MANUAL)
    assert isinstance(result, LogisticFit)
    assert result.coefficients == pytest.approx([12.040, -4.024], abs=5e-4)


@pytest.mark.parametrize(("weights", "printed"), [("none", 0.1293), ("linear", 0.2374)])
def test_kappa_matches_r_vcd(weights, printed):
    # ?vcd::Kappa, SexualFun (Agresti 1990, p. 362): unweighted 0.1293, equal spacing 0.2374
    table = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
    pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(table[i][j])]
    first, second = zip(*pairs, strict=True)
    assert cohen_kappa(first, second, weights=weights) == pytest.approx(printed, abs=5e-5)


def test_mean_difference_matches_a_paired_t_test():
    # ?sleep: t.test(extra ~ group, data = sleep, paired = TRUE), group 1 minus group 2
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    estimate = clustered_mean(np.subtract(first, second), null=0.0)
    assert isinstance(estimate, Estimate)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (-1.58, -2.4598858, -0.7001142), abs=5e-8
    )
    assert estimate.p_value == pytest.approx(0.002833, abs=5e-7)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Newcombe (1998), table I, method 3; in R prop.test(hits, n, correct = FALSE)
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_score_interval_matches_newcombe(hits, n, low, high):
    interval = wilson(hits, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_corrections_reject_the_hypotheses_of_their_papers():
    # Benjamini and Hochberg (1995), section 3.2: of 15 p-values their procedure rejects four at
    # 0.05, Bonferroni's (and here Holm's, which stops at the same place) three.
    p_values = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240),
        *(0.4262, 0.5719, 0.6528, 0.7590, 1.0),
    ]
    assert int((benjamini_hochberg(p_values) <= 0.05).sum()) == 4
    assert int((holm(p_values) <= 0.05).sum()) == 3
