"""Calibrators and cross-fitting, against scikit-learn, statsmodels and hand derivations."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression

from fairjudge.calibration.calibrators import (
    Calibrator,
    assign_folds,
    calibrator_from_dict,
    cross_fit,
    fit_calibrator,
)
from fairjudge.calibration.curves import CALIBRATORS
from fairjudge.domain import Undefined
from fairjudge.errors import InputError


def data(n=200, seed=0, *, levels=5):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, levels + 1, n).astype(float)
    y = np.clip(np.round(1 + 0.6 * x + rng.normal(size=n)), 1, 5)
    return x, y


def fitted(name, x, y, **more):
    calibrator = fit_calibrator(name, x, y, **more)
    assert isinstance(calibrator, Calibrator)
    return calibrator


@pytest.mark.parametrize("levels", [3, 5, 1000])
def test_isotonic_matches_scikit_learn(levels):
    x, y = data(levels=levels)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    grid = np.linspace(0.0, levels + 1, 97)
    np.testing.assert_allclose(fitted("isotonic", x, y)(grid), theirs.predict(grid), atol=1e-10)


def test_linear_is_least_squares_within_the_labels_range():
    x, y = data(levels=1000)
    theirs = LinearRegression().fit(x[:, None], y).predict(x[:, None])
    np.testing.assert_allclose(
        fitted("linear", x, y)(x), np.clip(theirs, y.min(), y.max()), atol=1e-9
    )


def test_logistic_is_a_binomial_glm_on_platts_targets():
    x, y = data()
    share = (y - y.min()) / (y.max() - y.min())
    positive = share.sum()
    targets = share * (positive + 1) / (positive + 2) + (1 - share) / (len(x) - positive + 2)
    glm = sm.GLM(targets, sm.add_constant(x), family=sm.families.Binomial()).fit(tol=1e-14)
    theirs = y.min() + (y.max() - y.min()) * glm.predict(sm.add_constant(x))
    np.testing.assert_allclose(fitted("logistic", x, y)(x), theirs, atol=1e-8)


def test_logistic_stays_finite_on_separated_labels():
    x = np.arange(40.0)
    calibrator = fitted("logistic", x, (x > 19).astype(float))
    assert np.all(np.diff(calibrator(x)) > 0)
    assert 0.0 < calibrator([0.0])[0] < 0.05


def test_ordinal_bin_values_are_mean_labels_per_level():
    x, y = data()
    calibrator = fitted("ordinal", x, y)
    for level in range(1, 6):
        assert calibrator([level])[0] == pytest.approx(y[x == level].mean(), abs=1e-12)


def test_ordinal_bins_merge_rare_levels():
    # 28 items at 1, 1 at 2 and 1 at 3: the last two are too few for a bin of their own.
    x = np.r_[np.ones(28), 2.0, 3.0]
    y = np.r_[np.ones(28), 4.0, 5.0]
    assert fitted("ordinal", x, y).curve.values == pytest.approx([(28 + 4 + 5) / 30])


def test_ordinal_bins_have_five_items_and_edges_between_levels():
    """Levels 1, 2, 3, 4 with 5, 4, 26 and 5 items: 2 is too thin and goes with 3."""
    x = np.repeat([1.0, 2.0, 3.0, 4.0], [5, 4, 26, 5])
    y = np.repeat([10.0, 20.0, 30.0, 40.0], [5, 4, 26, 5])
    curve = fitted("ordinal", x, y).curve
    assert curve.edges == (1.5, 3.5)
    assert curve.values == pytest.approx((10.0, (4 * 20 + 26 * 30) / 30, 40.0))


@pytest.mark.parametrize(
    ("n_levels", "n_bins"), [(20, 20), (21, 10)], ids=["levels", "a continuous score"]
)
def test_ordinal_bins_of_many_levels_have_5_percent_of_items(n_levels, n_bins):
    """6 items a level, each a bin of its own up to 20 levels. 21 levels have 126 items, of which a
    twentieth is 7: two levels a bin, 10 bins, and the last level goes with the last."""
    x = np.repeat(np.arange(float(n_levels)), 6)
    assert len(fitted("ordinal", x, x).curve.values) == n_bins


@pytest.mark.parametrize(
    ("low", "high", "covered"),
    [(9.5, 20.5, True), (9.4, 20.0, False), (10.0, 20.6, False)],
)
def test_scores_may_exceed_labelled_range_by_5_percent(low, high, covered):
    """Labelled from 10 to 20; a range of 11 leaves 0.55 to either side."""
    x = np.linspace(10.0, 20.0, 40)
    result = fit_calibrator("linear", x, x, score_range=(low, high))
    assert isinstance(result, Calibrator) == covered


def test_on_20_levels_every_one_must_be_labelled():
    x = np.resize(np.arange(20.0), 40)
    assert isinstance(fit_calibrator("linear", x, x, score_range=(0.0, 19.0)), Calibrator)
    assert isinstance(fit_calibrator("linear", x, x, score_range=(0.0, 19.5)), Undefined)


@given(st.integers(0, 200), st.sampled_from(CALIBRATORS))
def test_json_round_trip_and_range(seed, name):
    x, y = data(60, seed)
    calibrator = replace(fitted(name, x, y), judge="j", aspect="coverage", protocol="likert")
    again = calibrator_from_dict(json.loads(json.dumps(calibrator.to_dict())))
    assert again == calibrator
    out = again(np.linspace(-100, 100, 50))
    assert out.min() >= y.min() - 1e-12
    assert out.max() <= y.max() + 1e-12


@given(st.integers(0, 200))
def test_isotonic_never_falls(seed):
    x, y = data(60, seed)
    assert np.all(np.diff(fitted("isotonic", x, y)(np.linspace(1, 5, 50))) >= -1e-12)


def test_unfittable_calibrators_report_the_reason():
    x, y = data(29)
    few = fit_calibrator("linear", x, y)
    assert isinstance(few, Undefined)
    assert few.why == "29 labelled items: a calibrator needs 30"
    x, y = data(100)
    part = fit_calibrator("linear", np.minimum(x, 3.0), y, score_range=(1.0, 5.0))
    assert isinstance(part, Undefined)
    assert "from 1 to 3" in part.why
    assert "1 to 5" in part.why
    constant = fit_calibrator("isotonic", np.full(50, 4.0), data(50)[1])
    assert isinstance(constant, Undefined)
    assert "same score, 4.0" in constant.why
    same = fit_calibrator("logistic", x, np.full(100, 2.0))
    assert isinstance(same, Undefined)
    assert same.why == "every label is 2.0"


def test_few_continuous_scores_outside_the_labelled_range_are_allowed():
    rng = np.random.default_rng(0)
    x = np.r_[rng.random(100), 0.0, 1.0]
    assert isinstance(fit_calibrator("linear", x, x, score_range=(-0.04, 1.0)), Calibrator)
    assert isinstance(fit_calibrator("linear", x, x, score_range=(-0.2, 1.0)), Undefined)


def test_scores_outside_the_labelled_range_are_counted_and_clipped():
    calibrator = fitted("linear", *data())
    assert calibrator.n_outside([0.0, 3.0, 9.0]) == 2
    assert calibrator.n_outside(calibrator.score_range) == 0, "the ends are within"
    assert calibrator([9.0])[0] == calibrator([5.0])[0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fairjudge_calibrator": 99}, "fairjudge_calibrator"),
        ({"curve": {"method": "magic"}}, "curve.method"),
        ({"curve": {"method": "linear", "slope": "x"}}, "intercept"),
        ({"curve": {"method": "ordinal", "edges": [1, 2], "values": [1, 2]}}, "curve.edges"),
        ({"curve": {"method": "isotonic", "scores": [2, 1], "values": [1, 2]}}, "curve.scores"),
        ({"score_range": [5, 1]}, "score_range"),
        ({"n_labels": float("nan")}, "n_labels"),
    ],
)
def test_malformed_file_error_names_the_field(change, field):
    good = fitted("linear", *data()).to_dict()
    with pytest.raises(InputError) as caught:
        calibrator_from_dict({**good, **change})
    assert caught.value.field == field


@given(st.integers(2, 40), st.integers(2, 10), st.integers(0, 99))
def test_folds_keep_documents_whole_and_are_even(documents, folds, seed):
    names = [f"d{i % documents}" for i in range(3 * documents)]
    dealt = assign_folds(names, folds, np.random.default_rng(seed))
    by_name = {name: set(dealt[[n == name for n in names]].tolist()) for name in names}
    assert all(len(names) == 1 for names in by_name.values())
    sizes = np.bincount([next(iter(names)) for names in by_name.values()], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_cross_fitting_excludes_the_predicted_document():
    # Each document has a label of its own that its scores give away. A curve fitted on the other
    # documents cannot know it; one fitted on all would be right everywhere.
    rng = np.random.default_rng(0)
    x = np.repeat(rng.permutation(40).astype(float), 5)
    y = np.repeat(rng.integers(0, 2, 40).astype(float), 5)
    documents = np.repeat(np.arange(40), 5).tolist()
    result = cross_fit("ordinal", x, y, documents=documents, rng=rng)
    assert not isinstance(result, Undefined)
    insider = fitted("ordinal", x, y)(x)
    assert np.mean((result - y) ** 2) > 0.2
    assert np.mean((insider - y) ** 2) < np.mean((result - y) ** 2)


def test_cross_fitting_needs_enough_labels_and_two_documents():
    x, y = data(20)
    rng = np.random.default_rng(0)
    assert isinstance(cross_fit("linear", x, y, documents=list(range(20)), rng=rng), Undefined)
    x, y = data(50)
    first = cross_fit("linear", x, y, documents=["d"] * 50, rng=rng)
    assert isinstance(first, Undefined)
    assert "2 documents" in first.why
