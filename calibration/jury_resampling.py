"""Distances of a jury from people on resampled documents, with what is fitted fitted anew.

What members weigh, and which of them is the best single one, depend on the documents at hand; a
bootstrap of the errors of one fit leaves that out, and its intervals are too narrow. Weights and
choice follow from sums over the training documents of each fold, and squared errors under any
weights from sums over the held-out ones; a resample only weighs the documents of these sums, so
that fitting anew costs one small system of equations a fold.

Folds and what is expected of missing scores stay as they are. Calibration curves (of members, of
their mean) move as the regression line of people's values on theirs does. For its own distance the
jury counts as one judge with a curve, too: with all its weights fitted anew, intervals are too wide
(a weight's error enters twice, since documents are both trained on and held out). Predictions are
not cut to the range of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.juries import FittedMembers, JuryItems, ridged
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, totals
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.multinormal import expected_products

_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Held-out items that have the same members and covariates.

    ``present`` has shape (members + covariates,). ``products``, shape (documents, q, q), are the
    sums over items of products of 1, members' values (0 where missing), covariates, members'
    calibrated mean and label.
    """

    present: BoolArray
    products: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSums:
    """Sums by document of a fold: of its training items, and of those held out, by pattern.

    ``training`` is as `Pattern.products`, of expected values where scores are missing. ``errors``
    and ``n_scored``, shape (documents, members), are of members' curves on documents that these
    did not see: of squared errors, and of items. ``has_spread`` is of members and covariates.
    """

    training: FloatArray
    errors: FloatArray
    n_scored: FloatArray
    patterns: tuple[Pattern, ...]
    has_spread: BoolArray

    @staticmethod
    def of(
        fitted: FittedMembers,
        items: tuple[JuryItems, JuryItems],
        means: tuple[FloatArray, FloatArray],
        documents: tuple[IntArray, IntArray],
        n_documents: int,
    ) -> FoldSums:
        """Sum over items; training items, their calibrated means and documents are named first."""
        training, test = items
        stacking = fitted.stacking
        rows = np.column_stack([fitted.held_out, training.covariates, training.labels])
        expected = expected_products(rows, np.array(stacking.means), np.array(stacking.covariance))
        squares = (fitted.held_out - training.labels[:, None]) ** 2
        scored = np.isfinite(squares)
        values = np.column_stack([fitted.values(test), test.covariates])
        present = np.isfinite(values)
        full = np.column_stack([np.ones(len(values)), np.where(present, values, 0.0), test.labels])
        held_out = _with_mean(_products(full), means[1])
        return FoldSums(
            training=_summed(_with_mean(expected, means[0]), documents[0], n_documents),
            errors=totals(np.where(scored, squares, 0.0), documents[0], n_documents),
            n_scored=totals(scored.astype(float), documents[0], n_documents),
            patterns=tuple(
                Pattern(
                    present=one,
                    products=_summed(held_out[here], documents[1][here], n_documents),
                )
                for one, here in _patterns(present)
                if one[: stacking.n_members].any()
            ),
            has_spread=np.diag(np.array(stacking.covariance))[:-1] > 0.0,
        )


def _patterns(present: BoolArray) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield each distinct row, and which rows are such."""
    for one in np.unique(present, axis=0):
        yield one, (present == one).all(axis=1)


def _products(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[..., :, None] * rows[..., None, :])


def _with_mean(products: FloatArray, means: FloatArray) -> FloatArray:
    """Return products of rows that have `means` before their last value, 0 where there is none."""
    kept = np.delete(np.arange(products.shape[1] + 1), -2)
    known = np.nan_to_num(means)
    out = np.empty((len(products), kept.size + 1, kept.size + 1))
    out[:, kept[:, None], kept] = products
    # The first row of products is the values themselves.
    out[:, kept, -2] = out[:, -2, kept] = products[:, 0] * known[:, None]
    out[:, -2, -2] = known**2
    return out


def _summed(products: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    n, q, _ = products.shape
    return totals(products.reshape(n, q * q), documents, n_documents).reshape(-1, q, q)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """Sums of squared errors of some resamples, each of shape (resamples, ways).

    Ways are the best single judge, each member, the jury without each, members' calibrated mean,
    and the jury as one judge. ``jury`` is the jury on the items of each way.
    """

    way: FloatArray
    jury: FloatArray


def resampled_losses(folds: Sequence[FoldSums], counts: FloatArray, *, n_members: int) -> Resampled:
    """Return squared errors on resamples: multiplicities of documents, shape (r, documents)."""
    sums = np.zeros((2, 3 + 2 * n_members, len(counts)))
    for fold in folds:
        fit = _Fit.of(fold, counts, n_members, _Fit.of(fold, np.ones_like(counts[:1]), n_members))
        for pattern in fold.patterns:
            products = _drawn(counts, pattern.products)
            jury = _squares(fit.weights(pattern.present), products)
            for place, own in fit.ways(pattern.present, products, jury):
                sums[:, place] += own, jury
    return Resampled(way=sums[0].T, jury=sums[1].T)


@dataclass(frozen=True, slots=True)
class _Fit:
    """What a fold's training documents say on each resample; ``plain`` is the fit on all."""

    means: FloatArray
    covariance: FloatArray
    n: FloatArray
    errors: FloatArray
    has_spread: BoolArray
    n_members: int
    plain: _Fit | None
    known: dict[bytes, FloatArray]

    @staticmethod
    def of(fold: FoldSums, counts: FloatArray, n_members: int, plain: _Fit | None = None) -> _Fit:
        sums = _drawn(counts, fold.training)
        n = np.maximum(sums[:, 0, 0], 1.0)
        means = sums[:, 0, 1:] / n[:, None]
        covariance = sums[:, 1:, 1:] / n[:, None, None] - _products(means)
        errors = divide(counts @ fold.errors, counts @ fold.n_scored)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        return _Fit(means, covariance, n, errors, fold.has_spread, n_members, plain, {})

    def ways(
        self, present: BoolArray, products: FloatArray, jury: FloatArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the place of each way that scores these items, and its squared errors."""
        k, units = self.n_members, np.eye(products.shape[1])
        members = np.flatnonzero(present[:k])
        of_members = np.array([_squares(self.moved(units[1 + j]), products) for j in members])
        best = np.argmin(self.errors[:, members], axis=1)
        yield 0, of_members[best, np.arange(best.size)]
        for own, place in zip(of_members, members.tolist(), strict=True):
            yield 1 + place, own
        for place in range(k):
            others = present & (np.arange(present.size) != place)
            if others[:k].any():
                without = _squares(self.weights(others), products) if present[place] else jury
                yield 1 + k + place, without
        yield 1 + 2 * k, _squares(self.moved(units[-2]), products)
        if self.plain is not None:
            as_one = self.moved(self.plain.weights(present)[0])
            yield 2 + 2 * k, _squares(as_one, products)

    def moved(self, weights: FloatArray) -> FloatArray:
        """Return the weights of a judge, `weights` (q,) of the values, moved by its line."""
        key = weights.tobytes()
        if key not in self.known:
            lines = [one.line(weights) for one in (self, self.plain) if one is not None]
            intercept, slope = lines[0] - lines[-1]
            out = weights * (1.0 + slope[:, None])
            out[:, 0] += intercept
            out[:, -1] = -1.0
            self.known[key] = out
        return self.known[key]

    def line(self, weights: FloatArray) -> FloatArray:
        """Return intercept and slope of the label on a judge's values: shape (2, resamples)."""
        own = np.r_[weights[1:-1], 0.0]
        shared = self.covariance @ own
        slope = np.nan_to_num(divide(shared[:, -1], shared @ own))
        return np.array([self.means[:, -1] - slope * (weights[0] + self.means @ own), slope])

    def weights(self, present: BoolArray) -> FloatArray:
        """Return intercept, weights of what is `present`, and -1 of the label: (resamples, q)."""
        key = present.tobytes()
        if key not in self.known:
            self.known[key] = self._fitted(np.flatnonzero(present & self.has_spread))
        return self.known[key]

    def _fitted(self, used: IntArray) -> FloatArray:
        out = np.zeros((len(self.n), self.means.shape[1] + 1))
        out[:, -1] = -1.0
        if used.size:
            own = ridged(self.covariance, used, n_members=self.n_members, n=self.n)
            size = np.trace(own, axis1=1, axis2=2) * _TINY + np.finfo(float).tiny
            own += size[:, None, None] * np.eye(used.size)
            found = np.linalg.solve(own, self.covariance[:, used, -1][:, :, None])[:, :, 0]
            out[:, 1 + used] = found
        out[:, 0] = self.means[:, -1] - np.einsum("ri,ri->r", out[:, 1:-1], self.means[:, :-1])
        return out


def _squares(weights: FloatArray, products: FloatArray) -> FloatArray:
    """Return the squares of weighted sums, summed over items: shape (resamples,)."""
    return np.asarray(np.einsum("ri,ri->r", np.einsum("ri,rij->rj", weights, products), weights))


def _drawn(counts: FloatArray, products: FloatArray) -> FloatArray:
    d, q, _ = products.shape
    return (counts @ products.reshape(d, q * q)).reshape(-1, q, q)
