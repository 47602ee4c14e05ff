"""Coverage Parity: equation 6, both variants, its bootstrap and the paper's Figure 1b."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Undefined
from fairjudge.fairness.coverage_parity import (
    contributions,
    mean_coverage,
    means,
    parity,
    value_parity,
)
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.stats.resampling import Resampling


def sample(**coverage):
    """One document a value, one unit: p(d, s | k) as given."""
    return coverage_by_value(np.array([[p] for p in coverage.values()]), list(coverage))


def resampling(seed=0, n=500):
    return Resampling(rng=np.random.default_rng(seed), n_resamples=n)


def coverage_parity(samples, *, variant="paper", resampling):
    """The figure of equation 6, and what each value puts into it."""
    parts = contributions(samples, variant=variant)
    figure = float(parity(parts, np.ones((1, len(samples))))[0])
    return figure, value_parity(parts, resampling=resampling)


def test_by_hand():
    # 1: p = (.9, .5, .1), mean .5: c = (.4, 0, -.4); a and c enter.
    # 2: p = (.2, .8, .5), mean .5: c = (-.3, .3, 0); a and b enter.
    # 3: only a and b: p = (.6, .4), mean .5: c = (.1, -.1); both enter.
    # C_a = {.4, -.3, .1}, mean .2/3; C_b = {.3, -.1}, mean .1; C_c = {-.4}
    # CP is the mean of .2/3, .1 and .4
    figure, values = coverage_parity(
        [sample(a=0.9, b=0.5, c=0.1), sample(a=0.2, b=0.8, c=0.5), sample(a=0.6, b=0.4)],
        resampling=resampling(),
    )
    assert values.by_value["a"].mean.value == pytest.approx(0.2 / 3)
    assert values.by_value["b"].mean.value == pytest.approx(0.1)
    assert values.by_value["c"].mean.value == pytest.approx(-0.4)
    assert {v: e.n for v, e in values.by_value.items()} == {"a": 3, "b": 2, "c": 1}
    assert figure == pytest.approx((0.2 / 3 + 0.1 + 0.4) / 3)
    assert (values.over, values.under) == ("b", "c")


def test_released_variant_by_hand():
    # Documents .9, .7 (a) and .2 (b), mean .6: a gets {.3, .1}, b gets {-.4}.
    # A second sample .5 (a), .7 (b), mean .6: a gets -.1, b gets .1.
    # E(a) = (.3 + .1 - .1) / 3 = .1; E(b) = (-.4 + .1) / 2 = -.15; CP = .125
    first = coverage_by_value(np.array([[0.9], [0.7], [0.2]]), ["a", "a", "b"])
    figure, values = coverage_parity(
        [first, sample(a=0.5, b=0.7)], variant="released", resampling=resampling()
    )
    assert values.by_value["a"].mean.value == pytest.approx(0.1)
    assert values.by_value["b"].mean.value == pytest.approx(-0.15)
    assert figure == pytest.approx(0.125)


def test_ties_do_not_depend_on_names():
    # c = (.1, .1, -.2): a and b tie for the largest
    parts = contributions([sample(a=0.6, b=0.6, c=0.3)])
    assert parts.counts.tolist() == [[1.0, 1.0, 1.0]]


def test_value_with_intermediate_mean_is_not_compared():
    figure, values = coverage_parity([sample(a=0.9, b=0.5, c=0.1)] * 3, resampling=resampling())
    assert isinstance(values.by_value["b"].mean, Undefined)
    assert values.by_value["b"].n == 0
    assert figure == pytest.approx(0.4)  # over the two non-empty sets


def test_equal_means_select_no_value():
    figure, values = coverage_parity([sample(a=0.5, b=0.5)] * 2, resampling=resampling())
    assert (values.over, values.under) == (None, None)
    assert figure == 0.0


def test_figure_1b_systems_equal_per_summary_differ_per_corpus():
    # Both systems miss equality by the same amount in every sample; system 1 always towards
    # negative reviews, system 2 half of the time.
    rng = np.random.default_rng(5)
    gaps = rng.uniform(0.1, 0.3, 200)
    first = [sample(neg=0.5 + g, pos=0.5 - g) for g in gaps]
    turns = np.where(np.arange(200) % 2, 1, -1)
    second = [sample(neg=0.5 + g * t, pos=0.5 - g * t) for g, t in zip(gaps, turns, strict=True)]
    assert [s.equal_coverage for s in first] == pytest.approx([s.equal_coverage for s in second])
    figure, values = coverage_parity(first, resampling=resampling())
    smaller, two = coverage_parity(second, resampling=resampling())
    assert figure == pytest.approx(gaps.mean())
    assert smaller < 0.05
    assert (values.over, values.under) == ("neg", "pos")
    assert values.by_value["neg"].p_holm < 0.01
    assert two.by_value["neg"].p_holm > 0.05


def test_the_interval_covers_a_planted_difference():
    rng = np.random.default_rng(6)
    samples = [sample(a=0.6 + e, b=0.4 - e) for e in rng.normal(0, 0.1, 150)]
    result = coverage_parity(samples, resampling=resampling(n=2000))[1].by_value["a"].mean
    assert result.low < 0.1 < result.high
    # half-width of a normal interval for the mean: 1.96 * .1 / sqrt(150) = .016
    assert (result.high - result.low) / 2 == pytest.approx(0.016, rel=0.2)


def test_p_values_of_a_fair_system_respect_their_level():
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(300):
        samples = [sample(a=0.5 + e, b=0.5 - e) for e in rng.normal(0, 0.1, 40)]
        _, values = coverage_parity(samples, resampling=Resampling(rng=rng, n_resamples=400))
        rejected += values.by_value["a"].mean.p_value < 0.05
    # 300 tests at 5 %: 15 expected; the bootstrap of 40 samples is slightly liberal
    assert 5 <= rejected <= 33


@st.composite
def corpora(draw):
    size = draw(st.integers(1, 6))
    return [
        sample(**{v: draw(st.integers(0, 20)) / 20 for v in "abc"[: draw(st.integers(2, 3))]})
        for _ in range(size)
    ]


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_mean_coverage_of_a_value_uses_samples_with_that_value(variant):
    # a: .9, .2, .6; b, never an extreme of the first sample: .5, .8, .4; c: .1, .5
    parts = contributions(
        [sample(a=0.9, b=0.5, c=0.1), sample(a=0.2, b=0.8, c=0.5), sample(a=0.6, b=0.4)],
        variant=variant,
    )
    assert parts.values == ("a", "b", "c")
    assert parts.n_documents.tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 0]]
    counts = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]])
    expected = [[1.7 / 3, 1.7 / 3, 0.3], [1.0 / 3, 2.0 / 3, 0.5], [0.6, 0.4, np.nan]]
    assert mean_coverage(parts, counts) == pytest.approx(np.array(expected), nan_ok=True)


def test_matrices_of_two_systems_cover_the_values_of_both():
    first, second = contributions([sample(a=0.9, c=0.1)]), contributions([sample(b=0.8, c=0.4)] * 3)
    both = first.concatenate(second.take(np.array([2, 0])))
    assert both.values == ("a", "b", "c")
    assert set(both.matrices) == {"coverage", "n_documents", "sums", "counts"}
    assert both.coverage.tolist() == [[0.9, 0.0, 0.1], [0.0, 0.8, 0.4], [0.0, 0.8, 0.4]]
    assert both.takes_part.tolist() == [[True, False, True]] + [[False, True, True]] * 2


@given(corpora(), st.randoms())
def test_order_of_samples_and_copies_do_not_matter(samples, random):
    first = means(contributions(samples), np.ones((1, len(samples))))
    twice = random.sample(samples * 2, 2 * len(samples))
    other = means(contributions(twice), np.ones((1, len(twice))))
    assert np.allclose(first, other, equal_nan=True)


@given(corpora())
def test_multiplicities_are_equivalent_to_copies(samples):
    parts = contributions(samples)
    counts = np.arange(1.0, len(samples) + 1.0)[None, :]
    copies = [s for s, n in zip(samples, counts[0], strict=True) for _ in range(int(n))]
    expected = means(contributions(copies), np.ones((1, len(copies))))
    assert np.allclose(means(parts, counts), expected, equal_nan=True)
