"""Errors of attribution carried through to the proportional measures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.distributions import ValueDistribution
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.share_error import (
    correct_shares,
    people_distribution,
    share_sensitivity,
)
from fairjudge.fairness.shares import (
    area_under_curve,
    binary_unfairness,
    collect,
    second_order_fairness,
    unfair_error_rates,
)
from fairjudge.fairness.to_json import proportional_json
from fairjudge.fairness.values import label_corpus
from tests.fairness.conftest import make_cluster


def sensitivity(distributions, *, error_rate, target="ratio"):
    return share_sensitivity(
        distributions, collect(distributions, target=target), error_rate=error_rate
    )


def sample(source, summary):
    return ValueDistribution(
        values=tuple("abc"[: len(source)]), source=tuple(source), summary=tuple(summary)
    )


def test_sensitivity_by_hand():
    result = sensitivity([sample((0.5, 0.5), (0.7, 0.3))], error_rate=0.1)
    # b has .3 of .5: short by .2, .1 below .8 * .5; moving .1 to it just makes up for that
    assert (result.bands["bur"].low, result.bands["bur"].high) == (0.0, 1.0)
    # the UER, .2 over two values, moves by half of the rate
    assert (result.bands["uer"].low, result.bands["uer"].high) == pytest.approx((0.05, 0.15))
    # least ratio .3 / .5; with .1 moved .4 / .5 at best and .2 / .5 at worst
    assert (result.bands["auc"].low, result.bands["auc"].high) == pytest.approx((0.2, 0.6))
    # mean shortfalls (0, .2): deviation .1
    assert (result.bands["sof"].low, result.bands["sof"].high) == pytest.approx((0.0, 0.2))
    assert (result.by_value["b"].band.low, result.by_value["b"].band.high) == pytest.approx(
        (-0.3, -0.1)
    )
    assert result.by_value["b"].tipping_rate == pytest.approx(0.2)


def test_distance_is_at_most_that_of_the_rarest_value():
    result = sensitivity([sample((0.6, 0.4), (0.6, 0.4))], error_rate=1.0)
    # all of it on b is .6 away from p_g, on a .4
    assert result.bands["uer"].high == pytest.approx(0.6 / 2)
    assert result.bands["auc"].high == pytest.approx(1.0)


def test_shares_are_clipped_to_0_and_1():
    result = sensitivity([sample((0.5, 0.5), (0.95, 0.05))], error_rate=0.1)
    a, b = result.by_value["a"].band, result.by_value["b"].band
    assert (a.low, a.high) == pytest.approx((0.35, 0.5))
    assert (b.low, b.high) == pytest.approx((-0.5, -0.35))


def test_one_value_has_no_share_error():
    result = sensitivity([sample((1.0,), (1.0,))], error_rate=0.3)
    assert result.bands["bur"].high == result.bands["uer"].high == result.bands["sof"].high == 0.0
    assert result.bands["auc"].high == pytest.approx(0.0)
    assert result.by_value["a"].tipping_rate == 1.0
    both = sensitivity([sample((1.0,), (1.0,)), sample((0.5, 0.5), (0.7, 0.3))], error_rate=0.0)
    # a: (0 + .2) / 2 over the samples, of which one can move: a rate of .2 turns it
    assert both.by_value["a"].tipping_rate == pytest.approx(0.2)


def test_degenerate_rates():
    assert isinstance(sensitivity([], error_rate=0.1), Undefined)


def simplex(n):
    weights = st.lists(st.floats(0.01, 1), min_size=n, max_size=n)
    return weights.map(lambda parts: tuple(x / sum(parts) for x in parts))


@given(
    st.lists(st.tuples(simplex(3), simplex(3), simplex(3)), min_size=1, max_size=4),
    st.floats(0, 1),
    st.sampled_from(["ratio", "equal", {"a": 1.0, "b": 2.0}]),
)
def test_band_contains_the_truth_within_the_error_rate(drawn, rate, target):
    measured = [sample(source, summary) for source, summary, _ in drawn]
    # Mixing at `rate` moves at most that part of a summary.
    true = [
        sample(
            source, tuple((1 - rate) * y + rate * z for y, z in zip(summary, other, strict=True))
        )
        for source, summary, other in drawn
    ]
    bands = sensitivity(measured, error_rate=rate, target=target)
    shares = collect(true, target=target)
    figures = {
        "bur": binary_unfairness(shares).mean(),
        "uer": unfair_error_rates(shares).mean(),
        "auc": area_under_curve(shares).mean(),
        "sof": second_order_fairness(shares)[0],
    }
    for name, value in figures.items():
        band = bands.bands[name]
        assert band.low - 1e-9 <= value <= band.high + 1e-9, name
    excess = (shares.actual - shares.targets).mean(axis=0)
    for place, value in enumerate(shares.values):
        if value in bands.by_value:
            band = bands.by_value[value].band
            assert band.low - 1e-9 <= excess[place] <= band.high + 1e-9


@given(st.lists(st.tuples(simplex(3), simplex(3)), min_size=1, max_size=4))
def test_zero_error_band_equals_the_measure(drawn):
    measured = [sample(*sides) for sides in drawn]
    bands = sensitivity(measured, error_rate=0.0).bands
    shares = collect(measured)
    assert bands["bur"].low == bands["bur"].high == binary_unfairness(shares).mean()
    assert (bands["uer"].low, bands["uer"].high) == pytest.approx(
        (unfair_error_rates(shares).mean(),) * 2
    )
    assert (bands["auc"].low, bands["auc"].high) == pytest.approx(
        (area_under_curve(shares).mean(),) * 2
    )


def test_human_labels_correct_a_biased_matcher():
    # People see b at its half; the matcher gives a tenth of every summary too much to a.
    rng = np.random.default_rng(5)
    truth = {f"e{i}": float(x) for i, x in enumerate(0.5 + rng.normal(0, 0.03, 200))}
    measured = {eid: sample((0.5, 0.5), (x + 0.1, 0.9 - x)) for eid, x in truth.items()}
    human = {(eid, "s"): {"a": 2 * truth[eid], "b": 2 - 2 * truth[eid]} for eid in list(truth)[:60]}
    human |= {("elsewhere", "s"): {"a": 1.0}, ("e0", "t"): {"a": 1.0}}
    result = correct_shares("s", measured, human, collect_shares=collect)
    assert (result.n_labelled, result.n_unused) == (60, 1)
    a = result.difference["a"]
    assert a.naive.low > 0.09
    assert a.ppi_plus.low < 0.0 < a.ppi_plus.high
    # |x - .5| has mean .03 sqrt(2 / pi) = .024; over two values .012
    assert result.means["uer"].naive.value == pytest.approx(0.05, abs=0.005)
    assert result.means["uer"].ppi_plus.value == pytest.approx(0.012, abs=0.003)


def test_mismatched_shares_are_named():
    measured = sample((0.5, 0.5), (0.5, 0.5))
    with pytest.raises(InputError, match="does not have the value 'z'"):
        people_distribution(measured, {"z": 1.0}, sample_name="'s' for 'e'")
    with pytest.raises(InputError, match="0 or more and not all 0"):
        people_distribution(measured, {"a": 0.0}, sample_name="'s' for 'e'")
    with pytest.raises(InputError, match="0 or more"):
        people_distribution(measured, {"a": -1.0, "b": 2.0}, sample_name="'s' for 'e'")
    assert people_distribution(measured, {"b": 3.0}, sample_name="").summary == (0.0, 1.0)


def test_band_and_correction_are_in_the_json():
    clusters = [make_cluster(f"e{i}", [("a", "nice wine"), ("b", "slow food")]) for i in range(6)]
    summaries = [Summary(eid=f"e{i}", system="s", text="Nice wine, slow.") for i in range(6)]
    options = ProportionalOptions(n_resamples=100, error_rate=0.1)
    human = {(f"e{i}", "s"): {"a": 1, "b": 1} for i in range(3)}
    report = report_proportional(
        label_corpus(clusters, attribute="side"), summaries, options=options, human=human
    )
    system = proportional_json(report)["systems"]["s"]
    # p_y = (2/3, 1/3): UER 1/12; people say (1/2, 1/2): 0
    assert system["corrected"]["uer"]["uncorrected"] == pytest.approx(100 / 12)
    assert system["corrected"]["uer"]["labels_only"]["value"] == 0.0
    assert system["corrected"]["n_labelled"] == 3
    # 1/3 is below .4; with .1 moved to it it is not, with .1 taken it still is
    assert system["sensitivity"]["bur"] == {"low": 0.0, "high": 100.0}
    assert "error_rate" not in report.signature
