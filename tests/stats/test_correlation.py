"""Correlations and their levels, against scipy and hand derivations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import codes
from fairjudge.stats.bootstrap import bootstrap, resample_counts
from fairjudge.stats.correlation import (
    CORRELATIONS,
    correlation,
    row_correlations,
    weighted_correlation,
)
from fairjudge.stats.levels import LEVELS, Scores, mean_correlations


def scores(first, second, *, documents, systems, **more):
    first, second = (np.asarray(side, dtype=float) for side in (first, second))
    return Scores(
        first=first, second=second, documents=codes(documents)[0], systems=systems, **more
    )


def correlations(data, level, **options):
    n_documents = int(data.documents.max()) + 1
    return mean_correlations([data], level, n_documents=n_documents, **options)


SCIPY = {
    "pearson": lambda x, y: scipy_stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: scipy_stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: scipy_stats.kendalltau(x, y).statistic,
}
GRID = [(n, kx, ky) for n in (5, 40, 300) for kx in (2, 5, 10**6) for ky in (3, 13, 10**6)]


def sample(n, kx, ky, seed=0):
    rng = np.random.default_rng([n, kx, ky, seed])
    return (np.r_[rng.integers(0, k, n - 2), 0, 1].astype(float) for k in (kx, ky))


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(("n", "kx", "ky"), GRID)
def test_values_match_scipy(name, n, kx, ky):
    x, y = sample(n, kx, ky)
    assert correlation(name, x, y) == pytest.approx(SCIPY[name](x, y), abs=1e-10)


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(("n", "kx", "ky"), [(40, 5, 13), (300, 3, 10**6), (100, 10**6, 10**6)])
def test_multiplicities_match_repeated_documents(name, n, kx, ky):
    x, y = sample(n, kx, ky)
    documents = np.arange(n) // 4
    counts = resample_counts(documents.max() + 1, 5, np.random.default_rng(1))
    ours = weighted_correlation(name, x, y, documents=documents.tolist())(counts)
    for value, row in zip(ours, counts, strict=True):
        times = row[documents].astype(int)
        theirs = SCIPY[name](np.repeat(x, times), np.repeat(y, times))
        assert value == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("name", CORRELATIONS)
def test_rows_of_a_matrix_are_correlated_one_by_one(name):
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 4, (2, 30, 8)).astype(float)
    for value, x_value, y_value in zip(row_correlations(name, x, y), x, y, strict=True):
        assert value == pytest.approx(SCIPY[name](x_value, y_value), abs=1e-10)
    assert np.isnan(row_correlations(name, np.full((1, 4), 0.1), y[:1, :4])).all()


NUMBERS = st.lists(st.integers(0, 6), min_size=3, max_size=25)


@given(NUMBERS, st.data())
def test_symmetry_sign_and_range(x, data):
    y = data.draw(st.lists(st.integers(0, 6), min_size=len(x), max_size=len(x)))
    for name in CORRELATIONS:
        value = correlation(name, x, y)
        if isinstance(value, Undefined):
            assert len(set(x)) == 1 or len(set(y)) == 1
            continue
        assert -1.0 <= value <= 1.0
        assert correlation(name, y, x) == pytest.approx(value, abs=1e-12)
        assert correlation(name, x, [-v for v in y]) == pytest.approx(-value, abs=1e-12)


def test_kendall_by_hand():
    # x 1 2 3 3, y 1 3 2 2: pairs T = 6. x ties 1 (items 3, 4), y ties 1 (the same pair).
    # Concordant: 12, 13, 14. Discordant: 23, 24. tau-b = (3 - 2) / sqrt(5 * 5) = 0.2.
    assert correlation("kendall", [1, 2, 3, 3], [1, 3, 2, 2]) == pytest.approx(0.2, abs=1e-12)


def test_degenerate_input_reports_the_reason():
    for name in CORRELATIONS:
        function = partial(correlation, name)
        constant = function([1, 1, 1], [1, 2, 3])
        assert isinstance(constant, Undefined)
        assert constant.why == "the first values are all 1"
        assert isinstance(function([1, 2, 3], [0.1, 0.1, 0.1]), Undefined)
        assert isinstance(function([1], [2]), Undefined)
        with pytest.raises(StatisticsError, match=r"y\[1\] is nan"):
            function([1, 2], [1, float("nan")])
        with pytest.raises(StatisticsError, match="equal lengths"):
            function([1, 2], [1])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_constant_resample_is_excluded(seed):
    # 20 documents, one of which alone varies: 36 % of the resamples are constant, so no interval.
    x = np.r_[1.1, np.zeros(19)]
    estimate = bootstrap(
        weighted_correlation("pearson", x, x + 0.3),
        n_documents=20,
        rng=np.random.default_rng(seed),
        n_resamples=400,
    )
    assert isinstance(estimate, Estimate)
    assert estimate.value == pytest.approx(1.0)
    assert estimate.low is None


def toy():
    # Document d1: systems A B C score (1 2 3) against (1 2 3): r = 1.
    # Document d2: (3 2 1) against (1 2 3): r = -1. Document d3: all tied in the first: undefined.
    return scores(
        [1, 2, 3, 3, 2, 1, 5, 5, 5],
        [1, 2, 3, 1, 2, 3, 1, 2, 3],
        documents=["d1"] * 3 + ["d2"] * 3 + ["d3"] * 3,
        systems=["A", "B", "C"] * 3,
    )


def test_levels_by_hand():
    by_name = {
        level: correlations(toy(), level, rng=np.random.default_rng(0), n_resamples=200)
        for level in LEVELS
    }
    per_document = by_name["per_document"]["pearson"]
    assert isinstance(per_document, Estimate)
    # The mean of 1 and -1 over the two documents where it is defined; the third is counted.
    assert per_document.value == pytest.approx(0.0)
    assert (per_document.n, per_document.n_excluded) == (2, 1)
    # System means of the first score are (9/3, 9/3, 9/3): all equal.
    system = by_name["system"]["kendall"]
    assert isinstance(system, Undefined)
    assert system.why == "the first values give all systems the same mean"
    pooled = by_name["pooled"]["pearson"]
    assert isinstance(pooled, Estimate)
    assert pooled.value == pytest.approx(0.0, abs=1e-12)
    assert pooled.n == 9


@pytest.mark.parametrize("level", LEVELS)
def test_levels_against_scipy_with_missing_rows(level):
    rng = np.random.default_rng(7)
    documents, systems = np.divmod(np.arange(300), 6)
    keep = rng.random(300) > 0.2
    documents, systems = documents[keep], systems[keep]
    y = rng.integers(1, 6, keep.sum()) + systems / 3
    x = y + rng.normal(size=keep.sum())
    data = scores(x, y, documents=documents.tolist(), systems=systems.tolist())
    ours = correlations(data, level, rng=rng, n_resamples=50)
    for name in CORRELATIONS:
        if level == "pooled":
            theirs = SCIPY[name](x, y)
        elif level == "summary":  # each row is one; means that differ by rounding are ties
            theirs = SCIPY[name](x.round(12), y.round(12))
        elif level == "system":
            means = [(x[systems == s].mean(), y[systems == s].mean()) for s in range(6)]
            theirs = SCIPY[name](*zip(*means, strict=True))
        else:
            per = [
                SCIPY[name](x[documents == d], y[documents == d])
                for d in range(50)
                if (documents == d).sum() > 1 and np.ptp(y[documents == d]) > 0
            ]
            theirs = np.mean(per)
        estimate = ours[name]
        assert isinstance(estimate, Estimate)
        assert estimate.value == pytest.approx(theirs, abs=1e-10)
        assert estimate.low is not None
        assert estimate.low <= estimate.high


def test_one_system_or_documents_with_many_items():
    first = scores([1, 2, 3], [1, 3, 2], documents=["a", "b", "c"], systems=["s"] * 3)
    rng = np.random.default_rng(0)
    system = correlations(first, "system", rng=rng)["pearson"]
    assert isinstance(system, Undefined)
    assert "1 system" in system.why
    alone = correlations(first, "per_document", rng=rng)["pearson"]
    assert isinstance(alone, Undefined)
    assert alone.why == "no document has more than one item"
    flat = scores([2, 2, 5, 5], [1, 3, 2, 2], documents=list("aabb"), systems=list("stst"),
                  sides=("scores", "labels"))  # fmt: skip
    within = correlations(flat, "per_document", rng=rng)["kendall"]
    assert within.why == "in no document do both scores and labels differ between items"
    # 100 items a document pass the matrix form's width; the value is still the mean of scipy's.
    x, y = rng.normal(size=(2, 200))
    wide = scores(x, y, documents=[0] * 100 + [1] * 100, systems=list(range(100)) * 2)
    estimate = correlations(wide, "per_document", rng=rng, n_resamples=50)["kendall"]
    assert isinstance(estimate, Estimate)
    theirs = (SCIPY["kendall"](x[:100], y[:100]) + SCIPY["kendall"](x[100:], y[100:])) / 2
    assert estimate.value == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("shift", [(1e8, 0.0), (0.0, 1e8), (-1e8, 1e8)])
def test_pearson_is_invariant_to_shifts(shift):
    """In moments of values near 1e8 a spread of 1 is lost; of centred ones it is not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    weights = resample_counts(30, 20, np.random.default_rng(1))
    plain = weighted_correlation("pearson", x, y)(weights)
    moved = weighted_correlation("pearson", x + shift[0], y + shift[1])(weights)
    assert moved == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("turned", [False, True])
def test_a_resample_of_one_value_has_no_correlation(turned):
    x, y = np.array([0.1, 0.1, 0.1, 0.7]), np.array([1.0, 2.0, 4.0, 3.0])
    sides = (y, x) if turned else (x, y)
    weights = np.array([[3.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    result = weighted_correlation("pearson", *sides)(weights)
    assert np.isnan(result).tolist() == [True, True, False]
    assert result[2] == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_correlation_needs_two_systems():
    data = scores([1, 2, 2, 3], [1, 4, 2, 5], documents=list("ddee"), systems=["A", "B"] * 2)
    result = correlations(data, "system", rng=np.random.default_rng(0), n_resamples=50)["kendall"]
    assert (result.value, result.n, result.n_excluded) == (1.0, 2, 0)
    alone = scores([1, 2], [1, 4], documents=["d", "e"], systems=["A", "A"])
    result = correlations(alone, "system", rng=np.random.default_rng(0), n_resamples=50)["kendall"]
    assert result == Undefined(why="1 system: nothing to correlate")


def test_pooled_items_include_previously_excluded_ones():
    result = correlations(toy(), "pooled", rng=np.random.default_rng(0), n_resamples=50)["pearson"]
    assert (result.n, result.n_excluded) == (9, 0)
    result = correlations(
        toy(), "pooled", rng=np.random.default_rng(0), n_resamples=50, n_excluded=4
    )["pearson"]
    assert (result.n, result.n_excluded) == (9, 4)


@pytest.mark.parametrize("n_systems", [64, 65])
def test_documents_of_any_size_are_correlated_equally(n_systems):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=2 * n_systems), rng.normal(size=2 * n_systems)
    names = [f"s{i}" for i in range(n_systems)] * 2
    data = scores(x, y, documents=np.repeat(["d", "e"], n_systems).tolist(), systems=names)
    result = correlations(data, "per_document", rng=rng, n_resamples=20)
    for name in CORRELATIONS:
        theirs = [SCIPY[name](x[part], y[part]) for part in np.split(np.arange(2 * n_systems), 2)]
        assert result[name].value == pytest.approx(np.mean(theirs))
