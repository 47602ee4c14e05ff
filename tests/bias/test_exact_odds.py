"""Bounds and test of the odds ratio of inclusion, against scipy and by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import hypergeom, nchypergeom_fisher
from scipy.stats.contingency import odds_ratio

from fairjudge.bias.exact_odds import exact_odds
from fairjudge.domain import Undefined


def odds(*tables, sources=None, level=0.95):
    """Each table is ``((named, there), (named, there))``."""
    counts = np.array(tables, dtype=float)
    sources = range(len(tables)) if sources is None else sources
    return exact_odds(counts[:, :, 0], counts[:, :, 1], list(sources), level=level)


@pytest.mark.parametrize(
    "table", [((7, 10), (2, 9)), ((0, 120), (97, 100)), ((3, 8), (3, 9)), ((5, 5), (0, 4))]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_one_source_matches_scipy_fisher_test(table, level):
    result = odds(table, level=level)
    (a, n_a), (b, n_b) = table
    theirs = odds_ratio([[a, n_a - a], [b, n_b - b]]).confidence_interval(level)
    assert (result.low or 0.0) == pytest.approx(theirs.low, rel=1e-6)
    assert (result.high or math.inf) == pytest.approx(theirs.high, rel=1e-6)
    sample = hypergeom(n_a + n_b, n_a, a + b)
    assert result.p_value == pytest.approx(min(1, 2 * min(sample.cdf(a), sample.sf(a - 1))))


def test_several_sources_match_full_enumeration():
    tables = [((2, 3), (1, 4)), ((1, 2), (0, 2)), ((3, 3), (2, 3))]
    result = odds(*tables)
    observed = sum(table[0][0] for table in tables)

    def tail(ratio, keep):
        total = 0.0
        laws = [nchypergeom_fisher(n_a + n_b, n_a, a + b, ratio) for (a, n_a), (b, n_b) in tables]
        for ways in itertools.product(range(4), repeat=3):
            if keep(sum(ways)):
                total += math.prod(law.pmf(way) for law, way in zip(laws, ways, strict=True))
        return total

    assert tail(result.low, lambda x: x >= observed) == pytest.approx(0.025, abs=1e-6)
    assert tail(result.high, lambda x: x <= observed) == pytest.approx(0.025, abs=1e-6)
    tails = (tail(1.0, lambda x: x >= observed), tail(1.0, lambda x: x <= observed))
    assert result.p_value == pytest.approx(2 * min(tails))


def test_inputs_of_one_original_are_pooled():
    # Each input is of one group alone, so only both together leave a choice.
    apart = odds(((3, 4), (0, 0)), ((0, 0), (1, 4)))
    assert isinstance(apart, Undefined)
    together = odds(((3, 4), (0, 0)), ((0, 0), (1, 4)), sources="dd")
    assert together == odds(((3, 4), (1, 4)))


def test_odds_ratio_is_unbounded_without_informative_sources():
    assert "some mentioned and some not" in odds(((0, 3), (0, 3)), ((2, 2), (2, 2))).why
    assert isinstance(exact_odds(np.zeros((0, 2)), np.zeros((0, 2)), []), Undefined)


def test_a_hundred_sources_do_not_underflow():
    result = odds(*[((0, 3), (3, 3))] * 100)
    assert result.low is None
    # each source has 1 of 20 choices with nobody of the first group: x^100 = .025 at the bound
    share = 0.025**0.01
    assert nchypergeom_fisher(6, 3, 3, result.high).pmf(0) == pytest.approx(share, rel=1e-6)
    assert result.p_value == pytest.approx(2 * 20.0**-100, rel=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 3.0])
def test_intervals_have_at_least_nominal_coverage(ratio):
    rng = np.random.default_rng(5)
    n_held = 0
    for _ in range(400):
        tables = []
        for _ in range(4):
            n_shared = int(rng.integers(1, 8))
            first = nchypergeom_fisher(8, 4, n_shared, ratio).rvs(random_state=rng)
            tables.append(((first, 4), (n_shared - first, 4)))
        result = odds(*tables)
        n_held += (result.low or 0.0) <= ratio <= (result.high or math.inf)
    # exact, so never below 95 % but for the 400 draws (2 standard deviations: 2 %)
    assert n_held / 400 >= 0.93
