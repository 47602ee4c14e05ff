"""Means and covariances of normal rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray

_MAX_STEPS = 500
_TOLERANCE = 1e-8
_RIDGE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Means, shape (k,), and the covariance divided by n, shape (k, k), of `n` rows."""

    means: FloatArray
    covariance: FloatArray
    n: int


def moments(rows: FloatArray) -> Moments:
    """Return the maximum-likelihood moments of normal rows, shape (n, k), NaN where missing.

    Without missing values these are the sample moments, else they are computed by the EM algorithm
    (Little and Rubin 2019, section 11.2), which assumes that values are missing at random. The last
    column must be complete, and each must have a value. Two columns that no row has together are
    independent given the last, as in the algorithm's start.
    """
    present = np.isfinite(rows)
    if present.all():
        return Moments(means=rows.mean(axis=0), covariance=np.cov(rows.T, ddof=0), n=len(rows))
    patterns = [_Pattern.of(rows, row_pattern) for row_pattern in np.unique(present, axis=0)]
    means, covariance = _start(rows)
    for _ in range(_MAX_STEPS):
        expected = [
            expected_products(
                pattern.products, pattern.observed, pattern.missing, means, covariance
            )
            for pattern in patterns
        ]
        sums = np.sum(expected, axis=0) / len(rows)
        first = sums[0, 1:]
        updated = sums[1:, 1:] - np.outer(first, first)
        change = float(np.max(np.abs(updated - covariance))) + float(np.max(np.abs(first - means)))
        means, covariance = first, updated
        if change <= _TOLERANCE * (1.0 + float(np.max(np.abs(covariance)))):
            break
    return Moments(means=means, covariance=covariance, n=len(rows))


def _start(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the start of the EM algorithm: moments by each column's regression on the last."""
    last = rows[:, -1]
    means, slopes, rests = np.zeros((3, rows.shape[1]))
    for column, values in enumerate(rows.T):
        is_present = np.isfinite(values)
        own, centred = values[is_present], last[is_present] - last[is_present].mean()
        slopes[column] = own @ centred / (centred @ centred) if np.any(centred) else 0.0
        means[column] = own.mean() + slopes[column] * (last.mean() - last[is_present].mean())
        rests[column] = np.mean((own - own.mean() - slopes[column] * centred) ** 2)
    return means, np.outer(slopes, slopes) * last.var() + np.diag(rests)


def regression(covariance: FloatArray, predictors: IntArray, targets: IntArray) -> FloatArray:
    """Return the coefficients of some columns on others, shape (..., targets, predictors).

    `predictors` and `targets` are indices of columns of `covariance`, shape (..., k, k). Of
    collinear predictors the solution is the one of minimum norm: by the pseudo-inverse or, for a
    stack of covariances, by a negligible ridge, which is 30 times as fast.
    """
    own = covariance[..., predictors[:, None], predictors]
    across = covariance[..., predictors[:, None], targets]
    if covariance.ndim == 2:
        return np.asarray(across.T @ np.linalg.pinv(own, hermitian=True))
    ridge = _RIDGE * np.trace(own, axis1=-2, axis2=-1) + np.finfo(float).tiny
    own = own + ridge[:, None, None] * np.eye(predictors.size)
    return np.asarray(np.swapaxes(np.linalg.solve(own, across), -1, -2))


def expected_products(
    products: FloatArray,
    observed: IntArray,
    missing: IntArray,
    means: FloatArray,
    covariance: FloatArray,
) -> FloatArray:
    """Return sums of products of rows' values, given what the rows have: a step of EM.

    Parameters
    ----------
    products : array of shape (..., k + 1, k + 1)
        Sums over normal rows of products of their values, with 1 in front; what stands for values
        that are missing is not read.
    observed, missing
        Indices of columns, from 0. Columns in neither are no predictors; their products with
        missing columns are those with what these are expected to be.
    means, covariance : arrays of shape (..., k) and (..., k, k)
        Moments of the rows.
    """
    if not missing.size:
        return products
    slopes = regression(covariance, observed, missing)
    shift = means[..., missing] - np.einsum("...mo,...o->...m", slopes, means[..., observed])
    # What is expected of missing columns, from 1 and the observed ones.
    fill = np.zeros((*shift.shape, products.shape[-1]))
    fill[..., 0], fill[..., 1 + observed] = shift, slopes
    rows = fill @ products
    spread = (
        covariance[..., missing[:, None], missing]
        - slopes @ covariance[..., observed[:, None], missing]
    )
    out = np.broadcast_to(products, (*rows.shape[:-2], *products.shape[-2:])).copy()
    out[..., 1 + missing, :], out[..., 1 + missing] = rows, np.swapaxes(rows, -1, -2)
    out[..., 1 + missing[:, None], 1 + missing] = (
        rows @ np.swapaxes(fill, -1, -2) + products[..., 0, 0][..., None, None] * spread
    )
    return np.asarray(out)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The rows with one pattern of missing values, as sums of products with 1 in front."""

    observed: IntArray
    missing: IntArray
    products: FloatArray

    @staticmethod
    def of(rows: FloatArray, present: BoolArray) -> _Pattern:
        own = rows[(np.isfinite(rows) == present).all(axis=1)]
        whole = np.column_stack([np.ones(len(own)), np.where(present, own, 0.0)])
        return _Pattern(np.flatnonzero(present), np.flatnonzero(~present), whole.T @ whole)
