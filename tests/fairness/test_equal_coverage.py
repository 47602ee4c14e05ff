"""Equal Coverage: equations 2 to 5, both variants, and the test by relabelling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, permutation_test

from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.coverage_measures import CoverageRows, significance
from fairjudge.fairness.equal_coverage import (
    count_relabellings,
    coverage_by_value,
    relabelling_test,
)
from fairjudge.fairness.support import Support, SupportRecord, align
from fairjudge.stats.permutation import compare_permutations


def support(matrix, **more):
    matrix = np.array(matrix, dtype=float)
    return Support(
        eid="e",
        system="s",
        aids=tuple(f"d{i}" for i in range(matrix.shape[0])),
        units=tuple(f"u{j}" for j in range(matrix.shape[1])),
        probabilities=matrix,
        **more,
    )


def test_by_hand():
    # Document means: .9, .5, .1. Value a holds documents 1 and 2, b holds 3.
    # p(a) = .7, p(b) = .1, overall = 1.5 / 3 = .5; EC = (|.5 - .7| + |.5 - .1|) / 2 = .3
    result = coverage_by_value(np.array([[1.0, 0.8], [0.4, 0.6], [0.2, 0.0]]), ["a", "a", "b"])
    assert result.overall == pytest.approx(0.5)
    assert [(v.value, v.n_documents) for v in result.by_value] == [("a", 2), ("b", 1)]
    assert [v.coverage for v in result.by_value] == pytest.approx([0.7, 0.1])
    assert result.differences == pytest.approx((0.2, -0.4))
    assert result.equal_coverage == pytest.approx(0.3)


def test_exact_p_values_by_hand():
    # Means 1, 0, 0 with labels a, b, b: overall 1/3, EC = (2/3 + 1/3) / 2 = .5.
    # With a on document 2 (or 3): p(a) = 0, p(b) = .5, EC = (1/3 + 1/6) / 2 = .25.
    # Of 3 relabellings one reaches .5 and none passes it.
    result = relabelling_test(
        np.array([[1.0], [0.0], [0.0]]), ["a", "b", "b"], rng=np.random.default_rng(0)
    )
    assert result.p_value == pytest.approx(1 / 3)
    assert (result.p_value_strict, result.n_permutations, result.exact) == (0.0, 3, True)


def test_exact_enumeration_agrees_with_scipy():
    rng = np.random.default_rng(3)
    coverage, labels = rng.random((9, 4)), ["a"] * 3 + ["b"] * 6
    result = relabelling_test(coverage, labels, rng=rng)

    def statistic(a, b):
        overall = (a.sum() + b.sum()) / 9
        return (abs(a.mean() - overall) + abs(b.mean() - overall)) / 2

    means = coverage.mean(axis=1)
    expected = permutation_test(
        (means[:3], means[3:]), statistic, permutation_type="independent",
        alternative="greater", n_resamples=np.inf,
    )  # fmt: skip
    assert result.exact
    assert result.n_permutations == 84  # 9 choose 3
    assert result.p_value == pytest.approx(expected.pvalue)


def test_random_permutations_agree_with_exact_enumeration():
    rng = np.random.default_rng(4)
    coverage, labels = rng.random((8, 3)), list("aaabbccc")
    exact = relabelling_test(coverage, labels, rng=rng)
    assert exact.n_permutations == 560  # 8! / (3! 2! 3!)
    sample = relabelling_test(coverage, labels, rng=rng, n_permutations=559)
    assert not sample.exact
    # 559 draws: the standard error of a share is at most .022
    assert sample.p_value == pytest.approx(exact.p_value, abs=0.08)
    assert sample.p_value >= sample.p_value_strict


@pytest.mark.parametrize(
    ("sizes", "count"), [((1,), 1), ((2, 1), 3), ((2, 2), 6), ((1, 1, 1), 6), ((8, 1), 9)]
)
def test_count_of_relabellings(sizes, count):
    labels = [k for k, size in enumerate(sizes) for _ in range(size)]
    assert count_relabellings(sizes) == count == len(set(itertools.permutations(labels)))


def test_small_sets_cannot_be_significant():
    # 8 documents of a and 1 of b: 9 relabellings, so p is at least 1/9
    rng = np.random.default_rng(0)
    small = relabelling_test(np.eye(9)[:, :1], ["b", *["a"] * 8], rng=rng)
    large = relabelling_test(np.eye(9)[:, :1], ["b", "b", *["a"] * 7], rng=rng)
    assert small.p_value == pytest.approx(1 / 9)
    assert small.p_floor > 0.05
    assert large.n_permutations == 36
    assert large.p_floor < 0.05


@pytest.mark.parametrize(("exact", "reaches"), [(False, True), (True, False)])
def test_smallest_possible_permutation_p_value(exact, reaches):
    test = compare_permutations(1.0, np.ones(20), exact=exact)
    assert (test.p_floor < 0.05) is reaches  # 1 / 21, or 1 / 20


def test_one_value_has_no_test():
    result = relabelling_test(np.ones((3, 1)), ["a"] * 3, rng=np.random.default_rng(0))
    assert isinstance(result, Undefined)


def test_p_values_are_uniform_under_the_null():
    rng = np.random.default_rng(11)
    items = [
        relabelling_test(
            rng.beta(0.4, 0.8, (12, 5)), list(rng.permutation(list("aaaabbbbcccc"))),
            rng=rng, n_permutations=400,
        ).p_value
        for _ in range(300)
    ]  # fmt: skip
    assert kstest(items, "uniform").pvalue > 0.01


def test_planted_unfairness_is_significant():
    rng = np.random.default_rng(12)
    labels = ["a"] * 6 + ["b"] * 14
    tests = []
    for _ in range(100):
        coverage = rng.beta(2, 2, (20, 6))
        coverage[:6] = np.minimum(1.0, coverage[:6] + 0.3)
        tests.append(relabelling_test(coverage, labels, rng=rng, n_permutations=500))
    unfair = significance(CoverageRows(samples=[], tests=tests))
    assert unfair.mean() > 0.9
    assert unfair.size == 100


def test_figure_1a_redundant_and_diverse_reviews_are_covered_equally():
    # 75 % of the reviews are positive and all discuss A; the negative ones discuss B, C and D.
    # The summary has one sentence on each topic: more negative than positive information.
    reviews = ["A"] * 9 + ["B", "C", "D"]
    labels = ["positive"] * 9 + ["negative"] * 3
    coverage = np.array([[float(topic == unit) for unit in "ABCD"] for topic in reviews])
    # Each review is covered by exactly one of four sentences, whatever its value.
    assert coverage_by_value(coverage, labels).equal_coverage == 0.0
    one_sided = np.array([[float(topic == unit) for unit in "A"] for topic in reviews])
    # Only A: p(pos) = 1, p(neg) = 0, overall .75: EC = (.25 + .75) / 2
    assert coverage_by_value(one_sided, labels).equal_coverage == pytest.approx(0.5)


def test_released_variant_by_hand():
    # Pairs count where entailment is the most probable label. Units 0 and 1 entail each other
    # (.96 and .97 > .95): merged by the larger value. Unit 2 entails unit 0 in one direction only.
    # Unit 3 is covered by no document and left out.
    probabilities = [[0.9, 0.2, 0.4, 0.3], [0.1, 0.7, 0.45, 0.2]]
    arg_max = [[0.9, 0.0, 0.0, 0.0], [0.0, 0.7, 0.45, 0.0]]
    between = np.eye(4)
    between[0, 1], between[1, 0], between[2, 0] = 0.96, 0.97, 0.99
    result = support(probabilities, arg_max=np.array(arg_max), between_units=between)
    assert result.coverage("released").tolist() == [[0.9, 0.0], [0.7, 0.45]]
    assert result.coverage().tolist() == probabilities


def test_released_variant_merges_along_chains():
    between = np.eye(3)
    between[0, 1] = between[1, 0] = between[1, 2] = between[2, 1] = 0.99
    result = support([[0.6, 0.7, 0.8]], between_units=between)
    assert result.coverage("released").tolist() == [[0.8]]


def test_released_variant_without_labels_thresholds_at_0_5():
    assert support([[0.5, 0.51], [0.2, 0.9]]).coverage("released").tolist() == [[0.51], [0.9]]


def test_released_variant_of_an_unsupported_or_empty_summary_has_no_units():
    assert support([[0.1], [0.2]]).coverage("released").shape == (2, 0)
    assert support(np.zeros((2, 0))).coverage("released").shape == (2, 0)


def test_records_are_read_and_validated():
    record = {"eid": "e", "system": "s", "aids": [1, 2], "units": ["u"], "support": [[0.5], [1]]}
    result = SupportRecord.model_validate(record).to_support()
    assert result.aids == ("1", "2")
    assert result.probabilities.tolist() == [[0.5], [1.0]]
    with pytest.raises(InputError, match="row 1 of 'e' has 2 numbers for 1 unit"):
        SupportRecord.model_validate(record | {"support": [[0.5], [1, 0]]}).to_support()
    with pytest.raises(InputError, match=r"shape \(1, 1\), expected \(2, 1\)"):
        SupportRecord.model_validate(record | {"support": [[0.5]]}).to_support()
    with pytest.raises(InputError, match=r"expected 0 to 1"):
        SupportRecord.model_validate(record | {"support": [[0.5], [-0.2]]}).to_support()
    similar = record | {"support": [[0.5], [-0.2]], "kind": "similarity"}
    assert SupportRecord.model_validate(similar).to_support().kind == "similarity"


def test_rows_follow_cluster_order_and_unknown_articles_are_named():
    result = align(support([[0.1], [0.9]]), ["d1", "d0"])
    assert result.probabilities.tolist() == [[0.9], [0.1]]
    with pytest.raises(InputError, match="'d9'"):
        align(result, ["d0", "d1", "d9"])


matrices = st.integers(2, 7).flatmap(
    lambda n: st.integers(1, 4).flatmap(
        lambda m: st.tuples(
            st.lists(
                st.lists(st.floats(0, 1, width=32), min_size=m, max_size=m), min_size=n, max_size=n
            ),
            st.lists(st.sampled_from("abc"), min_size=n, max_size=n),
        )
    )
)


@given(matrices, st.randoms())
def test_order_names_and_repeated_units_do_not_matter(drawn, random):
    rows, labels = np.array(drawn[0]), drawn[1]
    value = coverage_by_value(rows, labels).equal_coverage
    order = random.sample(range(len(labels)), len(labels))
    renamed = [{"a": "z", "b": "y", "c": "x"}[labels[i]] for i in order]
    assert coverage_by_value(rows[order], renamed).equal_coverage == pytest.approx(value)
    assert coverage_by_value(np.hstack([rows, rows]), labels).equal_coverage == pytest.approx(value)
    assert 0.0 <= value <= 1.0


@given(matrices, st.floats(0.1, 0.9))
def test_measure_scales_with_support_and_ignores_shifts(drawn, factor):
    rows, labels = np.array(drawn[0]), drawn[1]
    value = coverage_by_value(rows, labels).equal_coverage
    scaled = coverage_by_value(rows * factor, labels).equal_coverage
    shifted = coverage_by_value(rows - factor, labels).equal_coverage
    assert scaled == pytest.approx(value * factor, abs=1e-12)
    assert shifted == pytest.approx(value, abs=1e-12)
