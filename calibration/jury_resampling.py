"""Errors of a jury on resampled documents, with all fits repeated.

Members' weights and the best member depend on the documents; a bootstrap of the errors of one fit
ignores this, and its intervals are too narrow. Weights and the best member are functions of sums
over each fold's training documents, and squared errors for given weights are functions of sums over
its held-out documents. A resample only reweights the documents in these sums, so that a refit costs
one small linear system per fold.

Folds are fixed. Expected values of missing scores are recomputed with `EM_STEPS` steps of EM from
the moments of all documents. Calibration curves (of members, and of their mean) are adjusted by the
change of the regression line of human values on calibrated scores. For the jury's own error, it is
treated as one judge with a curve: refitting all its weights makes intervals too wide (the error of
a weight would count twice, since documents are both training and held-out documents). Predictions
are not clipped to the range of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.juries import FittedMembers, JuryItems, ridge_covariance
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, totals
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.multinormal import expected_products

EM_STEPS = 5
"""Each step multiplies the error by about the share of missing information: a fifth gives .03 %."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Items with the same available members and covariates.

    ``present`` has shape (members + covariates,). ``products``, shape (documents, q, q), are the
    sums over items of products of 1, members' values (0 where missing), covariates, members'
    calibrated mean and label. ``documents`` are the codes of the documents with such items.
    """

    present: BoolArray
    documents: IntArray
    products: FloatArray

    def resample_sums(self, counts: FloatArray) -> FloatArray:
        """Sum the products over resampled documents: shape (r, q, q)."""
        d, q, _ = self.products.shape
        return (counts[:, self.documents] @ self.products.reshape(d, q * q)).reshape(-1, q, q)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSums:
    """Sums per document of a fold's training and held-out items, by pattern.

    ``means`` and ``covariance`` are those of the fold's `Stacking`. ``errors`` and ``n_scored``,
    shape (documents, members), are the sums of squared errors, and the numbers of items, of
    members' cross-fitted curves.
    """

    training: tuple[Pattern, ...]
    means: FloatArray
    covariance: FloatArray
    errors: FloatArray
    n_scored: FloatArray
    held_out: tuple[Pattern, ...]

    @staticmethod
    def from_fold(
        fitted: FittedMembers,
        items: tuple[JuryItems, JuryItems],
        means: tuple[FloatArray, FloatArray],
        documents: tuple[IntArray, IntArray],
        n_documents: int,
    ) -> FoldSums:
        """Sum over items; each tuple has an entry for training items and one for test items."""
        training, test = items
        stacking = fitted.stacking
        squares = (fitted.held_out - training.labels[:, None]) ** 2
        is_scored = np.isfinite(squares)
        held_out_patterns = _patterns(test, fitted.values(test), means[1], documents[1])
        return FoldSums(
            training=tuple(_patterns(training, fitted.held_out, means[0], documents[0])),
            means=np.array(stacking.means),
            covariance=np.array(stacking.covariance),
            errors=totals(np.where(is_scored, squares, 0.0), documents[0], n_documents),
            n_scored=totals(is_scored.astype(float), documents[0], n_documents),
            held_out=tuple(
                pattern
                for pattern in held_out_patterns
                if pattern.present[: stacking.n_members].any()
            ),
        )


def _patterns(
    items: JuryItems, members: FloatArray, means: FloatArray, documents: IntArray
) -> Iterator[Pattern]:
    """Yield the sums of products of members' values, (n, members), means and labels by pattern."""
    values = np.column_stack([members, items.covariates])
    present = np.isfinite(values)
    present_values = np.where(present, values, 0.0)
    rows = np.column_stack(
        [np.ones(len(values)), present_values, np.nan_to_num(means), items.labels]
    )
    for pattern in np.unique(present, axis=0):
        is_match = (present == pattern).all(axis=1)
        pattern_documents, row_documents = np.unique(documents[is_match], return_inverse=True)
        products = _products(rows[is_match]).reshape(row_documents.size, -1)
        sums = totals(products, row_documents, pattern_documents.size)
        yield Pattern(
            present=pattern,
            documents=pattern_documents,
            products=sums.reshape(pattern_documents.size, rows.shape[1], -1),
        )


def _products(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[..., :, None] * rows[..., None, :])


@dataclass(frozen=True, slots=True, kw_only=True)
class ResampledLosses:
    """Sums of squared errors on resamples, each of shape (resamples, methods).

    Methods are the best single judge, each member, the jury without each member, the members'
    calibrated mean, and the jury as one judge. ``jury`` is the jury's error on the items of each
    method.
    """

    way: FloatArray
    jury: FloatArray


def resampled_losses(
    folds: Sequence[FoldSums], counts: FloatArray, *, n_members: int
) -> ResampledLosses:
    """Return squared errors on resamples, whose multiplicities `counts` are (r, documents)."""
    sums = np.zeros((2, 3 + 2 * n_members, len(counts)))
    for fold in folds:
        fit = _Fit.on_resamples(
            fold, counts, n_members, _Fit.on_resamples(fold, np.ones_like(counts[:1]), n_members)
        )
        for pattern in fold.held_out:
            products = pattern.resample_sums(counts)
            jury_losses = _squares(fit.weights(pattern.present), products)
            for method, method_losses in fit.method_losses(pattern.present, products, jury_losses):
                sums[:, method] += method_losses, jury_losses
    return ResampledLosses(way=sums[0].T, jury=sums[1].T)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The fit of a fold on each resample of its training documents; ``full_fit`` is that on all."""

    means: FloatArray
    covariance: FloatArray
    n: FloatArray
    errors: FloatArray
    has_spread: BoolArray
    n_members: int
    full_fit: _Fit | None
    cache: dict[bytes, FloatArray]

    @staticmethod
    def on_resamples(
        fold: FoldSums, counts: FloatArray, n_members: int, full_fit: _Fit | None = None
    ) -> _Fit:
        n, means, covariance = _moments(fold, counts)
        errors = divide(counts @ fold.errors, counts @ fold.n_scored)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        has_spread = np.diag(fold.covariance)[:-1] > 0.0
        return _Fit(means, covariance, n, errors, has_spread, n_members, full_fit, {})

    def method_losses(
        self, present: BoolArray, products: FloatArray, jury_losses: FloatArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the index and the squared errors of each method that scores these items."""
        k, unit_vectors = self.n_members, np.eye(products.shape[1])
        members = np.flatnonzero(present[:k])
        member_losses = np.array(
            [_squares(self.shift_weights(unit_vectors[1 + j]), products) for j in members]
        )
        best = np.argmin(self.errors[:, members], axis=1)
        yield 0, member_losses[best, np.arange(best.size)]
        for losses, member in zip(member_losses, members.tolist(), strict=True):
            yield 1 + member, losses
        for member in range(k):
            remaining = present & (np.arange(present.size) != member)
            if remaining[:k].any():
                without = (
                    _squares(self.weights(remaining), products) if present[member] else jury_losses
                )
                yield 1 + k + member, without
        yield 1 + 2 * k, _squares(self.shift_weights(unit_vectors[-2]), products)
        if self.full_fit is not None:
            weights_as_judge = self.shift_weights(self.full_fit.weights(present)[0])
            yield 2 + 2 * k, _squares(weights_as_judge, products)

    def shift_weights(self, weights: FloatArray) -> FloatArray:
        """Return a judge's `weights`, shape (q,), after the calibration line of the resample."""
        key = weights.tobytes()
        if key not in self.cache:
            lines = [
                weighting.line(weights)
                for weighting in (self, self.full_fit)
                if weighting is not None
            ]
            intercept, slope = lines[0] - lines[-1]
            shifted_weights = weights * (1.0 + slope[:, None])
            shifted_weights[:, 0] += intercept
            shifted_weights[:, -1] = -1.0
            self.cache[key] = shifted_weights
        return self.cache[key]

    def line(self, weights: FloatArray) -> FloatArray:
        """Return intercept and slope of the label on a judge's values, shape (2, resamples)."""
        predictor_weights = np.r_[weights[1:-1], 0.0]
        covariances = self.covariance @ predictor_weights
        slope = np.nan_to_num(divide(covariances[:, -1], covariances @ predictor_weights))
        return np.array(
            [self.means[:, -1] - slope * (weights[0] + self.means @ predictor_weights), slope]
        )

    def weights(self, present: BoolArray) -> FloatArray:
        """Return the jury's intercept and weights, with -1 for the label: shape (resamples, q)."""
        key = present.tobytes()
        if key not in self.cache:
            self.cache[key] = self._fit_weights(np.flatnonzero(present & self.has_spread))
        return self.cache[key]

    def _fit_weights(self, columns: IntArray) -> FloatArray:
        weights = np.zeros((len(self.n), self.means.shape[1] + 1))
        weights[:, -1] = -1.0
        if columns.size:
            ridged_covariance = ridge_covariance(
                self.covariance, columns, n_members=self.n_members, n=self.n
            )
            ridge = np.trace(ridged_covariance, axis1=1, axis2=2) * _TINY + np.finfo(float).tiny
            ridged_covariance += ridge[:, None, None] * np.eye(columns.size)
            solution = np.linalg.solve(
                ridged_covariance, self.covariance[:, columns, -1][:, :, None]
            )[:, :, 0]
            weights[:, 1 + columns] = solution
        weights[:, 0] = self.means[:, -1] - np.einsum(
            "ri,ri->r", weights[:, 1:-1], self.means[:, :-1]
        )
        return weights


def _moments(fold: FoldSums, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the number, means and covariance of a fold's training items on each resample."""
    patterns = [(part.present, part.resample_sums(counts)) for part in fold.training]
    k = len(fold.means) - 1
    # The members' calibrated mean, the column before the label, is not in the regression.
    columns = np.r_[:k, k + 1]
    means = np.zeros((1, k + 2))
    covariance = np.zeros((1, k + 2, k + 2))
    means[:, columns], covariance[:, columns[:, None], columns] = fold.means, fold.covariance
    is_complete = all(present.all() for present, _ in patterns)
    for _ in range(1 if is_complete else EM_STEPS):
        sums = np.zeros_like(patterns[0][1])
        for present, products in patterns:
            observed = np.r_[np.flatnonzero(present), k + 1]
            missing = np.flatnonzero(~present)
            sums += expected_products(products, observed, missing, means, covariance)
        n = np.maximum(sums[:, 0, 0], 1.0)
        means = sums[:, 0, 1:] / n[:, None]
        covariance = sums[:, 1:, 1:] / n[:, None, None] - _products(means)
    return n, means, covariance


def _squares(weights: FloatArray, products: FloatArray) -> FloatArray:
    """Return the squared weighted sums, summed over items: shape (resamples,)."""
    return np.asarray(np.einsum("ri,ri->r", np.einsum("ri,rij->rj", weights, products), weights))
