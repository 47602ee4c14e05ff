"""Means and covariances of multivariate normal rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray

_MAX_STEPS = 500
_TOLERANCE = 1e-8
_RIDGE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Means, shape (k,), and covariance with divisor n, shape (k, k), of ``n`` rows."""

    means: FloatArray
    covariance: FloatArray
    n: int


def moments(rows: FloatArray) -> Moments:
    """Return the maximum-likelihood moments of normal rows, shape (n, k), NaN where missing.

    Without missing values these are the sample moments. Otherwise they are computed by the EM
    algorithm (Little and Rubin 2019, section 11.2), which assumes that values are missing at
    random. The last column must be complete, and every column must have a value. Two columns that
    are never observed in the same row are treated as independent given the last column, as in the
    algorithm's initial values.
    """
    is_present = np.isfinite(rows)
    if is_present.all():
        return Moments(means=rows.mean(axis=0), covariance=np.cov(rows.T, ddof=0), n=len(rows))
    patterns = [
        _Pattern.from_rows(rows, row_pattern) for row_pattern in np.unique(is_present, axis=0)
    ]
    means, covariance = _initial_moments(rows)
    for _ in range(_MAX_STEPS):
        products_by_pattern = [
            expected_products(
                pattern.products, pattern.observed, pattern.missing, means, covariance
            )
            for pattern in patterns
        ]
        sums = np.sum(products_by_pattern, axis=0) / len(rows)
        mean_products = sums[0, 1:]
        new_covariance = sums[1:, 1:] - np.outer(mean_products, mean_products)
        change = float(np.max(np.abs(new_covariance - covariance))) + float(
            np.max(np.abs(mean_products - means))
        )
        means, covariance = mean_products, new_covariance
        if change <= _TOLERANCE * (1.0 + float(np.max(np.abs(covariance)))):
            break
    return Moments(means=means, covariance=covariance, n=len(rows))


def _initial_moments(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return initial moments for EM, from the regression of each column on the last one."""
    last = rows[:, -1]
    means, slopes, residual_variances = np.zeros((3, rows.shape[1]))
    for column, values in enumerate(rows.T):
        is_present = np.isfinite(values)
        present_values, centred_last = (
            values[is_present],
            last[is_present] - last[is_present].mean(),
        )
        slopes[column] = (
            present_values @ centred_last / (centred_last @ centred_last)
            if np.any(centred_last)
            else 0.0
        )
        means[column] = present_values.mean() + slopes[column] * (
            last.mean() - last[is_present].mean()
        )
        residual_variances[column] = np.mean(
            (present_values - present_values.mean() - slopes[column] * centred_last) ** 2
        )
    return means, np.outer(slopes, slopes) * last.var() + np.diag(residual_variances)


def regression(covariance: FloatArray, predictors: IntArray, targets: IntArray) -> FloatArray:
    """Return the coefficients of regressions, shape (..., targets, predictors).

    `predictors` and `targets` are column indices of `covariance`, shape (..., k, k). For collinear
    predictors the solution has minimum norm: from the pseudo-inverse or, for a stack of
    covariances, with a negligible ridge, which is 30 times as fast.
    """
    predictor_covariance = covariance[..., predictors[:, None], predictors]
    cross_covariance = covariance[..., predictors[:, None], targets]
    if covariance.ndim == 2:
        return np.asarray(cross_covariance.T @ np.linalg.pinv(predictor_covariance, hermitian=True))
    ridge = _RIDGE * np.trace(predictor_covariance, axis1=-2, axis2=-1) + np.finfo(float).tiny
    predictor_covariance = predictor_covariance + ridge[:, None, None] * np.eye(predictors.size)
    return np.asarray(np.swapaxes(np.linalg.solve(predictor_covariance, cross_covariance), -1, -2))


def expected_products(
    products: FloatArray,
    observed: IntArray,
    missing: IntArray,
    means: FloatArray,
    covariance: FloatArray,
) -> FloatArray:
    """Return the expected sums of products given the observed values: the E-step of EM.

    Parameters
    ----------
    products : array of shape (..., k + 1, k + 1)
        Sums over normal rows of the products of (1, values); entries of missing columns are
        ignored.
    observed, missing
        0-based column indices. Columns in neither are not used as predictors; their products with
        missing columns use the latter's expected values.
    means, covariance : arrays of shape (..., k) and (..., k, k)
        Moments of the rows.
    """
    if not missing.size:
        return products
    slopes = regression(covariance, observed, missing)
    shift = means[..., missing] - np.einsum("...mo,...o->...m", slopes, means[..., observed])
    # Coefficients of the expected values of missing columns on (1, observed columns).
    coefficients = np.zeros((*shift.shape, products.shape[-1]))
    coefficients[..., 0], coefficients[..., 1 + observed] = shift, slopes
    missing_products = coefficients @ products
    residual_covariance = (
        covariance[..., missing[:, None], missing]
        - slopes @ covariance[..., observed[:, None], missing]
    )
    result = np.broadcast_to(products, (*missing_products.shape[:-2], *products.shape[-2:])).copy()
    result[..., 1 + missing, :], result[..., 1 + missing] = (
        missing_products,
        np.swapaxes(missing_products, -1, -2),
    )
    result[..., 1 + missing[:, None], 1 + missing] = (
        missing_products @ np.swapaxes(coefficients, -1, -2)
        + products[..., 0, 0][..., None, None] * residual_covariance
    )
    return np.asarray(result)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Rows that share a pattern of missing values, as sums of products of (1, values)."""

    observed: IntArray
    missing: IntArray
    products: FloatArray

    @staticmethod
    def from_rows(rows: FloatArray, is_present: BoolArray) -> _Pattern:
        pattern_rows = rows[(np.isfinite(rows) == is_present).all(axis=1)]
        rows_with_one = np.column_stack(
            [np.ones(len(pattern_rows)), np.where(is_present, pattern_rows, 0.0)]
        )
        return _Pattern(
            np.flatnonzero(is_present), np.flatnonzero(~is_present), rows_with_one.T @ rows_with_one
        )
