"""Agreement between scorers, chunk sizes, scorer error and oracle checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from fairjudge.domain import Undefined
from fairjudge.fairness.equal_coverage import coverage_by_value
from fairjudge.fairness.judge_error import (
    correct_means,
    equal_coverage_band,
    value_sensitivity,
)
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.scorer_checks import (
    agreement_over_samples,
    agreement_over_systems,
    apportion,
    compare_chunk_sizes,
    pseudo_summaries,
)
from fairjudge.fairness.values import label_corpus
from fairjudge.stats.resampling import Resampling
from tests.fairness.conftest import make_cluster, make_support


def resampling(seed=0):
    return Resampling(rng=np.random.default_rng(seed), n_resamples=300)


def test_sample_agreement_matches_scipy_rho_and_has_an_interval():
    rng = np.random.default_rng(1)
    keys = [(f"e{i}", system) for i in range(60) for system in "st"]
    truth = rng.random(120)
    first = dict(zip(keys, truth + rng.normal(0, 0.2, 120), strict=True))
    second = dict(zip(keys, truth + rng.normal(0, 0.2, 120), strict=True)) | {("x", "s"): 1.0}
    result = agreement_over_samples(first, second, resampling=Resampling(rng=rng))
    expected = spearmanr(list(first.values()), list(second.values())[:120]).statistic
    assert result.rho.value == pytest.approx(expected)
    assert result.rho.low < expected < result.rho.high
    assert result.rho.p_value < 0.01
    assert (result.n, result.n_unmatched) == (120, 1)


def test_agreement_over_systems_by_hand():
    # ranks 1 2 3 4 and 1 2 4 3: rho = 1 - 6 * 2 / (4 * 15) = .8
    first = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    second = {"a": 0.01, "b": 0.02, "c": 0.09, "d": 0.05}
    result = agreement_over_systems(
        first, second, resampling=Resampling(rng=np.random.default_rng(2))
    )
    assert result.rho.value == pytest.approx(0.8)
    # of 24 orders 8 have |rho| of .8 or more: identity, 3 neighbour swaps, and their reverses
    assert result.rho.p_value == pytest.approx(8 / 24, abs=0.04)


def test_too_few_shared_samples_give_no_correlation():
    result = agreement_over_systems(
        {"a": 1.0}, {"b": 1.0}, resampling=Resampling(rng=np.random.default_rng(0))
    )
    assert isinstance(result.rho, Undefined)
    assert result.n_unmatched == 2


def test_chunk_sizes_by_hand():
    # 0 (sentences): 1 of 2 units and 0 of 1: mean .25; 100: 2 of 2 and 1 of 1: 1; 200 the same
    low = [make_support("a", [[0.9, 0.2]]), make_support("b", [[0.4]])]
    high = [make_support("a", [[0.9, 0.8]]), make_support("b", [[0.7]])]
    empty = make_support("c", np.zeros((1, 0)))
    result = compare_chunk_sizes({200: high, 0: [*low, empty], 100: high}, resampling=resampling())
    assert [(size, e.value) for size, e in result.identified.items()] == [
        (0, 0.25), (100, 1.0), (200, 1.0),
    ]  # fmt: skip
    assert result.identified[0].n_excluded == 1
    assert result.best == 100
    assert compare_chunk_sizes({0: [empty]}, resampling=resampling()).best is None


def test_a_biased_scorer_is_corrected_by_human_labels():
    rng = np.random.default_rng(4)
    keys = [f"e{i}" for i in range(400)]
    truth = dict(zip(keys, rng.normal(0.1, 0.05, 400), strict=True))
    measured = {key: value + 0.08 + rng.normal(0, 0.01) for key, value in truth.items()}
    people = {"x": {key: truth[key] for key in keys[:80]}}
    result = correct_means({"x": measured}, people)["x"]
    assert result.naive.low > 0.1
    assert result.ppi_plus.low < 0.1 < result.ppi_plus.high


def test_equal_coverage_band_by_hand():
    # a holds 3 of 4 documents: c = (.1, -.3). Rate .05: a moves by 2 * .05 / 4 = .025,
    # b by 2 * .05 * 3/4 = .075. Band: (.075 + .225) / 2 to (.125 + .375) / 2
    sample = coverage_by_value(np.array([[0.6]] * 3 + [[0.2]]), ["a", "a", "a", "b"])
    band = equal_coverage_band(sample, error_rate=0.05)
    assert (band.low, band.high) == pytest.approx((0.15, 0.25))
    assert equal_coverage_band(sample, error_rate=0.0).low == pytest.approx(sample.equal_coverage)


def test_value_sensitivity_by_hand():
    sample = coverage_by_value(np.array([[0.6]] * 3 + [[0.2]]), ["a", "a", "a", "b"])
    result = value_sensitivity([sample, sample], error_rate=0.05)
    assert result["b"].mean == pytest.approx(-0.3)
    assert (result["b"].band.low, result["b"].band.high) == pytest.approx((-0.375, -0.225))
    # -.3 + 1.5 rate = 0 at rate .2
    assert result["b"].tipping_rate == pytest.approx(0.2)
    assert result["b"].n == 2


@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.lists(st.floats(-1, 1), min_size=2, max_size=2),
    st.floats(0, 0.5),
)
def test_errors_within_the_rate_are_inside_the_band(coverage, errors, rate):
    labels = ["a", "a", "a", "b"]
    rows = np.array(coverage)[:, None]
    moved = rows + rate * np.array([errors[0]] * 3 + [errors[1]])[:, None]
    band = equal_coverage_band(coverage_by_value(rows, labels), error_rate=rate)
    value = coverage_by_value(moved, labels).equal_coverage
    assert band.low - 1e-9 <= value <= band.high + 1e-9


def test_apportion_by_largest_remainder():
    # 4 seats for 5:3:1 -> 20/9, 12/9, 4/9: floors 2, 1, 0; remainders 2/9, 3/9, 4/9 -> c
    assert apportion({"a": 5, "b": 3, "c": 1}, 4) == {"a": 2, "b": 1, "c": 1}
    assert apportion({"a": 1, "b": 1}, 9) == {"a": 1, "b": 1}


def test_oracle_separates_biased_from_balanced():
    rng = np.random.default_rng(6)
    vocabulary = {"a": [f"alpha{i}" for i in range(40)], "b": [f"beta{i}" for i in range(40)]}
    common = [f"common{i}" for i in range(20)]
    clusters = []
    for place in range(60):
        values = ["a"] * int(rng.integers(2, 8))
        values += ["b"] * (10 - len(values))
        documents = [
            (v, " ".join([*rng.choice(vocabulary[v], 12), *rng.choice(common, 6)])) for v in values
        ]
        clusters.append(make_cluster(f"c{place}", documents))
    corpus = label_corpus(clusters, attribute="side")
    summaries = pseudo_summaries(corpus, n_documents=5, rng=rng)
    assert {summary.system for summary in summaries} == {"biased", "balanced"}
    report = report_proportional(corpus, summaries, options=ProportionalOptions(n_resamples=200))
    biased = report.systems["biased"].measures
    balanced = report.systems["balanced"].measures
    assert biased.estimates["bur"].value > 0.9
    assert balanced.estimates["bur"].value < 0.3
    assert biased.estimates["uer"].low > 3 * balanced.estimates["uer"].high


def test_value_of_every_document_is_insensitive_to_errors():
    """Its difference from all is 0 whatever the rate; that it tips at 1 says that nothing can."""
    sample = coverage_by_value(np.array([[0.6], [0.2]]), ["a", "a"])
    result = value_sensitivity([sample], error_rate=0.5)["a"]
    assert (result.mean, result.band.low, result.band.high) == (0.0, 0.0, 0.0)
    assert result.tipping_rate == 1.0
