"""BUR, UER, AUC and SOF, by cases worked by hand and by invariances."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness.distributions import (
    ValueDistribution,
    check_target,
    softmax_distribution,
    target_shares,
    unigram_distribution,
)
from fairjudge.fairness.proportional import proportional
from fairjudge.fairness.shares import (
    area_under_curve,
    binary_unfairness,
    collect,
    second_order_fairness,
    underrepresentation,
    unfair_error_rates,
)
from fairjudge.stats.resampling import Resampling

# One sample, worked by hand. The source has 4 terms of "a" and 6 of "b": p_x = (0.4, 0.6).
# Summary terms: food (a and b), slow (a), bill (b), rude (b), xylophone (neither), food again.
# Hits: a = food, slow, food = 3; b = food, bill, rude, food = 4. p_y = (3/7, 4/7).
WORKED = unigram_distribution(
    {
        "a": ["food", "slow", "door", "food"],
        "b": ["food", "bill", "rude", "wine", "cold", "soup"],
    },
    ["food", "slow", "bill", "rude", "xylophone", "food"],
)


def dist(source, summary):
    values = tuple("abcdefgh"[: len(source)])
    return ValueDistribution(values=values, source=tuple(source), summary=tuple(summary))


def test_summary_without_shared_terms_is_undefined_or_uniform():
    source = {"neg": ["bad"], "pos": ["good", "nice"], "neu": []}
    for summary in (["plain"], []):
        assert isinstance(unigram_distribution(source, summary), Undefined)
        result = unigram_distribution(source, summary, no_match="uniform")
        # "neu" has no terms and takes no part
        assert (result.values, result.summary) == (("neg", "pos"), (0.5, 0.5))
        assert result.source == pytest.approx((1 / 3, 2 / 3))


def test_share_of_exactly_tau_is_under_represented_only_in_author_code():
    # p_x is 1/2 and 1/2; 0.4 is exactly 0.8 of that, and 0.6 is enough
    result = ValueDistribution(values=("a", "b"), source=(0.5, 0.5), summary=(0.4, 0.6))
    absent = ValueDistribution(values=("a",), source=(1.0,), summary=(1.0,))
    paper = underrepresentation(collect([result, absent]))
    released = underrepresentation(collect([result, absent], inclusive=True))
    assert paper.tolist() == [[False, False], [False, False]]
    # the second source lacks "b": p_g = p_y = 0 there is no shortfall
    assert released.tolist() == [[True, False], [False, False]]


def test_unigram_shares_by_hand():
    assert WORKED.values == ("a", "b")
    assert WORKED.source == pytest.approx((0.4, 0.6))
    assert WORKED.summary == pytest.approx((3 / 7, 4 / 7))


def test_measures_by_hand():
    shares = collect([WORKED])
    # b: 4/7 = 0.5714 is below 0.6 but not below 0.8 * 0.6 = 0.48, so the summary is fair at 0.8
    assert not binary_unfairness(shares)[0]
    assert binary_unfairness(shares, tau=0.96)[0]  # 0.96 * 0.6 = 0.576 > 0.5714
    # UER = (max(0, 0.4 - 3/7) + max(0, 0.6 - 4/7)) / 2 = (0 + 0.2 / 7) / 2 = 1/70
    assert unfair_error_rates(shares)[0] == pytest.approx(1 / 70)
    # exact AUC = 1 - (4/7) / 0.6 = 1 - 20/21 = 1/21; of the ten points only tau = 1 is unfair
    assert area_under_curve(shares)[0] == pytest.approx(1 / 21)
    assert area_under_curve(shares, variant="ten-point")[0] == pytest.approx(0.1)


def test_equal_and_given_targets_by_hand():
    # equal: p_g = (0.5, 0.5), shortfall of a = 0.5 - 3/7 = 1/14, UER = 1/28
    assert unfair_error_rates(collect([WORKED], target="equal"))[0] == pytest.approx(1 / 28)
    # given 3:1: p_g = (0.75, 0.25), shortfall of a = 0.75 - 3/7 = 9/28, UER = 9/56; 3/7 < 0.6
    given_target = collect([WORKED], target={"a": 3, "b": 1})
    assert unfair_error_rates(given_target)[0] == pytest.approx(9 / 56)
    assert binary_unfairness(given_target)[0]


def test_value_with_target_0_is_excluded():
    # p_g = (1, 0): only a counts, shortfall 1 - 3/7 = 4/7 and K = 1
    shares = collect([WORKED], target={"a": 1.0})
    assert unfair_error_rates(shares)[0] == pytest.approx(4 / 7)


def test_second_order_by_hand():
    # Sample 1: p_x = (.5, .5), p_y = (.3, .7): shortfalls a .2, b 0.
    # Sample 2: p_x = (.6, .4), p_y = (.6, .4): 0, 0.
    # Means: a .1, b 0; centre .05; SOF = (.05 + .05) / 2 = .05
    shares = collect([dist((0.5, 0.5), (0.3, 0.7)), dist((0.6, 0.4), (0.6, 0.4))])
    assert second_order_fairness(shares)[0] == pytest.approx(0.05)


def test_second_order_averages_a_value_over_samples_containing_it():
    # a: shortfalls .2 and 0 over 2 samples -> .1; b: 0 over 2; c only in sample 2: .3 - .1 = .2.
    # Centre = .3 / 3 = .1; SOF = (0 + .1 + .1) / 3
    shares = collect([dist((0.5, 0.5), (0.3, 0.7)), dist((0.4, 0.3, 0.3), (0.5, 0.4, 0.1))])
    assert second_order_fairness(shares)[0] == pytest.approx(0.2 / 3)


def test_rounding_does_not_cross_the_tolerance():
    # 0.8 * 0.3 = 0.24000000000000002 in floating point; 0.24 is not below it
    assert not binary_unfairness(collect([dist((0.3, 0.7), (0.24, 0.76))]))[0]
    assert binary_unfairness(collect([dist((0.3, 0.7), (0.2399, 0.7601))]))[0]


def test_softmax_by_hand():
    # scores -2.0 and -2.1 at T = 0.1: weights e^0 and e^-1, share of a = 1 / (1 + 1/e)
    result = softmax_distribution({"a": 30, "b": 10}, {"a": -2.0, "b": -2.1})
    assert result.source == (0.75, 0.25)
    assert result.summary[0] == pytest.approx(1 / (1 + math.exp(-1)))


def test_softmax_ignores_values_without_text_and_does_not_overflow():
    result = softmax_distribution({"a": 3, "b": 3, "c": 0}, {"a": 900.0, "b": -900.0, "c": 1e9})
    assert result.values == ("a", "b")
    assert result.summary == pytest.approx((1.0, 0.0))


@pytest.mark.parametrize("scores", [{"a": 1.0}, {"a": 1.0, "b": math.nan}])
def test_softmax_refuses_missing_scores(scores):
    with pytest.raises(StatisticsError, match="'b'"):
        softmax_distribution({"a": 1, "b": 1}, scores)


@pytest.mark.parametrize(
    ("source", "summary", "why"),
    [
        ({"a": [], "b": []}, ["x"], "source has no terms"),
        ({"a": ["x"], "b": ["y"]}, [], "summary has no terms"),
        ({"a": ["x"], "b": ["y"]}, ["z"], "no term of the summary occurs"),
    ],
)
def test_without_support_there_is_no_distribution(source, summary, why):
    result = unigram_distribution(source, summary)
    assert isinstance(result, Undefined)
    assert why in result.why


def test_one_value_is_fair_by_every_measure():
    shares = collect([dist((1.0,), (1.0,))])
    assert not binary_unfairness(shares)[0]
    assert unfair_error_rates(shares)[0] == area_under_curve(shares)[0] == 0.0


def test_invalid_targets_raise():
    assert check_target("ratio", ("a",)) == "ratio"
    with pytest.raises(InputError, match="'z'"):
        check_target({"z": 1.0}, ("a", "b"))
    with pytest.raises(InputError, match="0 or more"):
        check_target({"a": -1.0}, ("a", "b"))
    with pytest.raises(InputError, match="every target share is 0"):
        check_target({"a": 0.0}, ("a", "b"))
    assert isinstance(target_shares(WORKED, {"c": 1.0}), Undefined)


def test_corpus_result_counts_and_names_excluded_samples():
    rng = np.random.default_rng(0)
    samples = [dist((0.5, 0.5), (0.2, 0.8))] * 3 + [dist((0.5, 0.5), (0.5, 0.5))] * 7
    result = proportional(collect(samples), resampling=Resampling(rng=rng), n_excluded=2)
    assert result.n == 10
    # 3 of 10 samples are unfair (0.2 < 0.8 * 0.5), each with UER 0.3 / 2
    assert result.estimates["bur"].value == pytest.approx(0.3)
    assert result.estimates["bur"].n_excluded == 2
    assert result.estimates["uer"].value == pytest.approx(0.3 * 0.15)
    assert result.estimates["bur"].low <= 0.3 <= result.estimates["bur"].high
    assert result.by_value["a"].under.value == pytest.approx(0.3)
    assert result.by_value["b"].under.value == 0.0
    assert result.by_value["a"].difference.value == pytest.approx(-0.09)
    assert result.sweep[0][1].value == 0.0
    assert isinstance(proportional(collect([]), resampling=Resampling(rng=rng)), Undefined)


def test_same_seed_same_result():
    samples = [dist((0.5, 0.5), (0.2, 0.8)), dist((0.5, 0.5), (0.5, 0.5)), WORKED]
    results = [
        proportional(collect(samples), resampling=Resampling(rng=np.random.default_rng(7)))
        for _ in range(2)
    ]
    assert results[0] == results[1]


def test_planted_under_representation_is_significant_and_fair_is_not():
    rng = np.random.default_rng(1)
    planted, fair = [], []
    for _ in range(200):
        share = rng.uniform(0.3, 0.7)
        noise = rng.normal(0, 0.03)
        fair.append(dist((share, 1 - share), (share + noise, 1 - share - noise)))
        lower = 0.6 * share
        planted.append(dist((share, 1 - share), (lower, 1 - lower)))
    bad = proportional(collect(planted), resampling=Resampling(rng=rng))
    good = proportional(collect(fair), resampling=Resampling(rng=rng))
    assert bad.estimates["bur"].value == 1.0
    assert bad.by_value["a"].difference.high < 0
    assert bad.by_value["a"].p_holm < 0.01
    assert good.estimates["bur"].value < 0.1
    assert good.by_value["a"].difference.low < 0.01


shares_of = st.integers(2, 5).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(1, 50), min_size=k, max_size=k)] * 2)
)


@st.composite
def samples(draw):
    source, summary = draw(shares_of)
    return dist([x / sum(source) for x in source], [x / sum(summary) for x in summary])


@given(st.lists(samples(), min_size=1, max_size=6))
def test_exact_auc_matches_a_fine_sweep_and_is_in_range(values):
    shares = collect(values)
    assert np.all((unfair_error_rates(shares) >= 0) & (unfair_error_rates(shares) <= 1))
    fine = np.mean([binary_unfairness(shares, tau=t) for t in np.linspace(0, 1, 2001)], axis=0)
    assert np.allclose(area_under_curve(shares), fine, atol=1e-3)
    assert np.all(area_under_curve(shares, variant="ten-point") >= area_under_curve(shares) - 1e-9)


@given(st.lists(samples(), min_size=1, max_size=6), st.permutations("abcdefgh"))
def test_names_of_values_do_not_matter(values, names):
    rename = dict(zip("abcdefgh", names, strict=True))
    renamed = []
    for d in values:
        order = sorted(range(len(d.values)), key=lambda i: rename[d.values[i]])
        renamed.append(
            ValueDistribution(
                values=tuple(rename[d.values[i]] for i in order),
                source=tuple(d.source[i] for i in order),
                summary=tuple(d.summary[i] for i in order),
            )
        )
    first, other = collect(values), collect(renamed)
    for measure in (binary_unfairness, unfair_error_rates, area_under_curve, second_order_fairness):
        assert np.allclose(measure(first), measure(other))


TERMS = st.lists(st.sampled_from("pqrstuvw"), min_size=1, max_size=12)


@given(TERMS, TERMS, TERMS, st.randoms())
def test_order_scale_and_absent_values_do_not_matter(a, b, summary, random):
    result = unigram_distribution({"a": a, "b": b}, summary)
    shuffled = random.sample(a, len(a))
    again = unigram_distribution({"b": b * 3, "a": shuffled * 3, "nobody": []}, summary * 2)
    if isinstance(result, Undefined):
        assert isinstance(again, Undefined)
    else:
        assert again.values == result.values
        assert again.source == pytest.approx(result.source)
        assert again.summary == pytest.approx(result.summary)


def test_estimates_include_their_method():
    resampling = Resampling(rng=np.random.default_rng(0))
    uer = proportional(collect([WORKED] * 5), resampling=resampling).estimates["uer"]
    assert isinstance(uer, Estimate)
    assert uer.method == "percentile bootstrap over samples"
    few = proportional(collect([WORKED] * 4), resampling=resampling)
    assert few.estimates["uer"].value == uer.value
    assert few.estimates["uer"].low is None
    assert few.estimates["sof"].method == "no interval: fewer than 5 samples"
    assert all(value.difference.p_value is None for value in few.by_value.values())
