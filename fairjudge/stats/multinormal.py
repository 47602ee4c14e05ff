"""Means and covariances of normal rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray

_MAX_STEPS = 500
_TOLERANCE = 1e-8


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
        parts = [pattern.expected(means, covariance) for pattern in patterns]
        first = sum((part[0] for part in parts), np.zeros_like(means)) / len(rows)
        second = sum((part[1] for part in parts), np.zeros_like(covariance)) / len(rows)
        moved = second - np.outer(first, first)
        change = float(np.max(np.abs(moved - covariance))) + float(np.max(np.abs(first - means)))
        means, covariance = first, moved
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
    """Return the coefficients of `targets` columns on `predictors`, shape (targets, predictors).

    Both are indices of columns. Of collinear predictors the pseudo-inverse takes the solution of
    minimum norm.
    """
    inverse = np.linalg.pinv(covariance[np.ix_(predictors, predictors)], hermitian=True)
    return np.asarray(covariance[np.ix_(targets, predictors)] @ inverse)


def expected_products(rows: FloatArray, means: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the expected products of each row's values, with 1 in front, given what it has.

    `rows`, shape (n, k), are normal with these moments, NaN where missing; the result has shape
    (n, k + 1, k + 1), so that sums of it are counts, sums and sums of products.
    """
    n, k = rows.shape
    out = np.empty((n, k + 1, k + 1))
    present = np.isfinite(rows)
    for row_pattern in np.unique(present, axis=0):
        where = np.flatnonzero((present == row_pattern).all(axis=1))
        observed, missing = np.flatnonzero(row_pattern), np.flatnonzero(~row_pattern)
        filled = np.ones((where.size, k + 1))
        filled[:, 1 + observed] = rows[np.ix_(where, observed)]
        slopes = regression(covariance, observed, missing)
        centred = rows[np.ix_(where, observed)] - means[observed]
        filled[:, 1 + missing] = means[missing] + centred @ slopes.T
        products = filled[:, :, None] * filled[:, None, :]
        products[:, 1 + missing[:, None], 1 + missing] += (
            covariance[np.ix_(missing, missing)] - slopes @ covariance[np.ix_(observed, missing)]
        )
        out[where] = products
    return out


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The rows with one pattern of missing values: number, sums and sums of products."""

    observed: IntArray
    missing: IntArray
    n: int
    sums: FloatArray
    products: FloatArray

    @staticmethod
    def of(rows: FloatArray, present: BoolArray) -> _Pattern:
        observed = np.flatnonzero(present)
        own = rows[(np.isfinite(rows) == present).all(axis=1)][:, observed]
        missing = np.flatnonzero(~present)
        return _Pattern(observed, missing, len(own), own.sum(axis=0), own.T @ own)

    def expected(self, means: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected sums of whole rows and of their products."""
        if not self.missing.size:
            return self.sums, self.products
        k = means.size
        slopes = regression(covariance, self.observed, self.missing)
        fill = np.zeros((k, self.observed.size))
        fill[self.observed, np.arange(self.observed.size)] = 1.0
        fill[self.missing] = slopes
        shift = np.zeros(k)
        shift[self.missing] = means[self.missing] - slopes @ means[self.observed]
        spread = np.zeros((k, k))
        spread[np.ix_(self.missing, self.missing)] = (
            covariance[np.ix_(self.missing, self.missing)]
            - slopes @ covariance[np.ix_(self.observed, self.missing)]
        )
        filled = fill @ self.sums
        cross = np.outer(filled, shift)
        products = fill @ self.products @ fill.T + cross + cross.T
        return (
            filled + self.n * shift,
            products + self.n * (np.outer(shift, shift) + spread),
        )
