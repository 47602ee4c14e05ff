"""Fairness by dominating value (section 5.7)."""

import numpy as np
import pytest

from fairjudge.domain import Undefined
from fairjudge.fairness.dominance import dominance, dominating_value
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.stats.resampling import Resampling


def sample(coverage, sizes):
    """Values with as many documents as `sizes` says, all covered alike within a value."""
    rows = [[p] for p, size in zip(coverage.values(), sizes, strict=True) for _ in range(size)]
    labels = [v for v, size in zip(coverage, sizes, strict=True) for _ in range(size)]
    return coverage_by_value(np.array(rows), labels)


def resampling(seed=0, n=500):
    return Resampling(rng=np.random.default_rng(seed), n_resamples=n)


def test_the_dominating_value_has_most_documents_and_ties_have_none():
    assert dominating_value(sample({"a": 0.5, "b": 0.5}, (3, 1))) == "a"
    assert dominating_value(sample({"a": 0.5, "b": 0.5, "c": 0.1}, (2, 2, 1))) is None


def test_by_hand():
    # Dominated by a (2:1): p = (.9, .3), mean .7, c = (.2, -.4), twice; unfair both times.
    # Dominated by b (1:2): p = (.5, .8), mean .7, c = (-.2, .1), once; fair. One tie.
    samples = [
        sample({"a": 0.9, "b": 0.3}, (2, 1)),
        sample({"a": 0.9, "b": 0.3}, (2, 1)),
        sample({"a": 0.5, "b": 0.8}, (1, 2)),
        sample({"a": 0.5, "b": 0.8}, (1, 1)),
    ]
    result = dominance(samples, [True, True, False, True], resampling=resampling())
    assert result.n_by_value == {"a": 2, "b": 1}
    assert result.n_tied == 1
    assert result.unfair_share.value == pytest.approx(1.0)
    assert result.unfair_share.dominated_by == ("a", "b")
    assert result.unfair_share.of_value is None
    # a: .2 - (-.2) = .4; b: -.4 - .1 = -.5, the larger: b is better off where b dominates
    assert result.mean_difference.value == pytest.approx(0.5)
    assert result.mean_difference.of_value == "b"
    assert result.mean_difference.dominated_by == ("b", "a")


def test_planted_difference_is_significant_and_chance_is_not():
    rng = np.random.default_rng(2)

    def corpus(shift):
        samples = []
        for place in range(200):
            by_a = bool(place % 2)
            gap = rng.normal(shift if by_a else -shift, 0.1)
            samples.append(sample({"a": 0.5 + gap, "b": 0.5 - gap}, (5, 3) if by_a else (3, 5)))
        return samples

    unfair = list(rng.random(200) < 0.1)
    planted = dominance(corpus(0.1), unfair, resampling=resampling())
    chance = dominance(corpus(0.0), unfair, resampling=resampling())
    assert planted.mean_difference.p_value < 0.01
    assert planted.mean_difference.low > 0
    assert chance.mean_difference.p_value > 0.05
    assert planted.unfair_share.p_value > 0.05


def test_picking_the_largest_of_many_differences_does_not_make_it_significant():
    # 60 corpora in which nothing differs between three subsets: at 5 % expect 3 rejections
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(60):
        samples = []
        for place in range(90):
            sizes = [(4, 2, 2), (2, 4, 2), (2, 2, 4)][place % 3]
            samples.append(sample(dict(zip("abc", rng.normal(0.5, 0.1, 3), strict=True)), sizes))
        result = dominance(samples, [False] * 90, resampling=resampling(place, 200))
        rejected += result.mean_difference.p_value < 0.05
    assert rejected <= 9


def test_two_samples_are_never_significant():
    # The two sets that a dominates are unfair, none of 90 that b does. By chance, 1 of C(92, 2)
    # choices of two sets holds the unfair ones: p = 1 / 4186, though two sets have no interval.
    samples = [sample({"a": 0.9, "b": 0.3}, (2, 1))] * 2
    samples += [sample({"a": 0.9, "b": 0.3}, (1, 2))] * 90
    result = dominance(samples, [True] * 2 + [False] * 90, resampling=resampling(n=5000))
    assert result.n_by_value == {"a": 2, "b": 90}
    share = result.unfair_share
    assert (share.value, share.low, share.high, share.exact) == (1.0, None, None, True)
    assert share.p_value == pytest.approx(1 / 4186)
    # One unfair set of the two, and 40 of the 90: what any two sets have.
    verdicts = [True, False] + [place < 40 for place in range(90)]
    assert dominance(samples, verdicts, resampling=resampling()).unfair_share.p_value > 0.5


@pytest.mark.parametrize("sizes", [(2, 40), (4, 12), (3, 3, 30)])
def test_the_test_keeps_its_level_for_subsets_of_any_size(sizes):
    # Nothing differs: coverage is drawn alike whoever dominates, by independent draws.
    rng = np.random.default_rng(sum(sizes))
    p_values = []
    for place in range(300):
        samples = []
        for code, size in enumerate(sizes):
            documents = [3 if code == k else 2 for k in range(len(sizes))]
            for _ in range(size):
                means = dict(zip("abc", rng.normal(0.5, 0.1, len(sizes)), strict=False))
                samples.append(sample(means, documents))
        unfair = list(rng.random(len(samples)) < 0.2)
        result = dominance(samples, unfair, resampling=resampling(place, 200))
        p_values.append((result.unfair_share.p_value, result.mean_difference.p_value))
    share, difference = np.mean(np.array(p_values) < 0.05, axis=0)
    # 300 corpora at 5 %: 15 expected, standard deviation 3.8
    assert share <= 0.09
    assert difference <= 0.09


def test_degenerate_input():
    first = [sample({"a": 0.9, "b": 0.3}, (2, 1))]
    result = dominance(first, [True], resampling=resampling())
    assert isinstance(result.unfair_share, Undefined)
    assert isinstance(result.mean_difference, Undefined)
    empty = dominance([], [], resampling=resampling())
    assert empty.n_by_value == {}
