"""Moments of rows with missing values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from fairjudge.stats.multinormal import expected_products, moments, regression


def draw(n, *, missing, seed=0):
    rng = np.random.default_rng(seed)
    root = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.5, -0.3, 0.7]])
    rows = rng.normal(size=(n, 3)) @ root.T + [1.0, -2.0, 0.5]
    rows[:, :2][rng.random((n, 2)) < missing] = np.nan
    return rows


def test_complete_rows_have_the_plain_moments():
    rows = draw(40, missing=0.0)
    result = moments(rows)
    assert result.means == pytest.approx(rows.mean(axis=0), abs=1e-14)
    assert result.covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-14)


def test_em_finds_the_maximum_of_the_observed_likelihood():
    """Against scipy: no other moments make what is there more likely."""
    rows = draw(60, missing=0.3)
    lower = np.tril_indices(3)

    def loss(parameters):
        root = np.zeros((3, 3))
        root[lower] = parameters[3:]
        covariance = root @ root.T + 1e-12 * np.eye(3)
        total = 0.0
        for row in rows:
            is_finite = np.flatnonzero(np.isfinite(row))
            total -= multivariate_normal.logpdf(
                row[is_finite], parameters[:3][is_finite], covariance[np.ix_(is_finite, is_finite)]
            )
        return total

    start = np.r_[np.nanmean(rows, axis=0), np.eye(3)[lower]]
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
    result = moments(rows)
    ours = np.r_[result.means, np.linalg.cholesky(result.covariance)[lower]]
    assert loss(ours) <= best.fun + 1e-6
    assert result.means == pytest.approx(best.x[:3], abs=1e-4)


def test_columns_never_observed_together_are_conditionally_independent():
    rng = np.random.default_rng(3)
    label = rng.normal(size=200)
    rows = np.column_stack([label + rng.normal(size=200), label + rng.normal(size=200), label])
    rows[:100, 0], rows[100:, 1] = np.nan, np.nan
    covariance = moments(rows).covariance
    inverse = np.linalg.inv(covariance)
    assert abs(inverse[0, 1]) < 1e-4 * inverse[0, 0]


def test_regression_matches_least_squares():
    rows = draw(50, missing=0.0)
    design = np.column_stack([np.ones(50), rows[:, :2]])
    theirs = np.linalg.lstsq(design, rows[:, 2], rcond=None)[0][1:]
    covariance = moments(rows).covariance
    ours = regression(covariance, np.array([0, 1]), np.array([2]))[0]
    assert ours == pytest.approx(theirs, abs=1e-12)
    (stacked,) = regression(covariance[None], np.array([0, 1]), np.array([2]))
    assert stacked[0] == pytest.approx(theirs, abs=1e-10)


def test_duplicated_column_shares_its_coefficient():
    rows = draw(50, missing=0.0)
    doubled = np.column_stack([rows[:, 0], rows[:, 0], rows[:, 2]])
    slope = np.polyfit(rows[:, 0], rows[:, 2], 1)[0]
    ours = regression(moments(doubled).covariance, np.array([0, 1]), np.array([2]))[0]
    assert ours == pytest.approx([slope / 2, slope / 2], abs=1e-10)
    (stacked,) = regression(moments(doubled).covariance[None], np.array([0, 1]), np.array([2]))
    assert stacked[0] == pytest.approx([slope / 2, slope / 2], abs=1e-4)


def by_pattern(rows):
    """Yield sums of products with 1 in front, columns that are there, and those that are not."""
    present = np.isfinite(rows)
    for pattern in np.unique(present, axis=0):
        own = rows[(present == pattern).all(axis=1)]
        whole = np.column_stack([np.ones(len(own)), np.where(pattern, own, 0.0)])
        yield whole.T @ whole, np.flatnonzero(pattern), np.flatnonzero(~pattern)


def test_expected_products_at_the_maximum_have_its_moments():
    """EM stops where the expected sums give the moments that they are expected by."""
    rows = draw(80, missing=0.3)
    result = moments(rows)
    parts = [
        expected_products(*pattern, result.means, result.covariance) for pattern in by_pattern(rows)
    ]
    mean = np.sum(parts, axis=0) / 80
    assert mean[0] == pytest.approx(np.r_[1.0, result.means], abs=1e-6)
    centred = mean[1:, 1:] - np.outer(result.means, result.means)
    assert centred == pytest.approx(result.covariance, abs=1e-6)


def test_expected_products_by_hand_for_several_moments_at_once():
    """One row (2, ?): the second is expected at m + b (2 - m_1), with its variance given this."""
    products = np.array([[1.0, 2.0, 9.0], [2.0, 4.0, 9.0], [9.0, 9.0, 9.0]])
    means = np.array([[1.0, 0.0], [0.0, 3.0]])
    covariance = np.array([[[1.0, 0.5], [0.5, 1.0]], [[4.0, 2.0], [2.0, 2.0]]])
    result = expected_products(products, np.array([0]), np.array([1]), means, covariance)
    # .5 (2 - 1) = .5 and variance .75; 3 + .5 x 2 = 4 and variance 1.
    assert result[0] == pytest.approx(np.array([[1, 2, 0.5], [2, 4, 1], [0.5, 1, 1.0]]))
    assert result[1] == pytest.approx(np.array([[1, 2, 4], [2, 4, 8], [4, 8, 17.0]]))


def test_products_of_complete_rows_are_unchanged():
    rows = draw(3, missing=0.0)
    whole = np.column_stack([np.ones(3), rows])
    every = np.arange(3)
    result = expected_products(whole.T @ whole, every, every[:0], np.zeros(3), np.eye(3))
    assert result == pytest.approx(whole.T @ whole)
