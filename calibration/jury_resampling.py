"""Distances of a jury from people on resampled documents, with all fits repeated.

What members weigh, and which of them is the best single one, depend on the documents at hand; a
bootstrap of the errors of one fit leaves that out, and its intervals are too narrow. Weights and
choice follow from sums over the training documents of each fold, and squared errors under any
weights from sums over the held-out ones; a resample only weighs the documents of these sums, so
that fitting anew costs one small system of equations a fold.

Folds stay as they are. What is expected of missing scores is computed anew, by `EM_STEPS` steps of
the EM algorithm from the moments of all documents. Calibration curves (of members, of their mean)
move as the regression line of people's values on theirs does. For its own distance the jury counts
as one judge with a curve, too: with all its weights fitted anew, intervals are too wide (a weight's
error enters twice, since documents are both trained on and held out). Predictions are not cut to
the range of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.juries import FittedMembers, JuryItems, ridged
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, totals
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.multinormal import expected_products

EM_STEPS = 5
"""Each step leaves about the missing share of information of an error: of a fifth .03 % after 5."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Items that have the same members and covariates.

    ``present`` has shape (members + covariates,). ``products``, shape (documents, q, q), are the
    sums over items of products of 1, members' values (0 where missing), covariates, members'
    calibrated mean and label; ``documents`` are the codes of the documents that have such items.
    """

    present: BoolArray
    documents: IntArray
    products: FloatArray

    def drawn(self, counts: FloatArray) -> FloatArray:
        """Return sums over resampled documents, shape (r, q, q)."""
        d, q, _ = self.products.shape
        return (counts[:, self.documents] @ self.products.reshape(d, q * q)).reshape(-1, q, q)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSums:
    """Sums by document of a fold, by pattern: of its training items, and of those held out.

    ``means`` and ``covariance`` are those of the fold's `Stacking`. ``errors`` and ``n_scored``,
    shape (documents, members), are of members' curves on documents that these did not see: of
    squared errors, and of items.
    """

    training: tuple[Pattern, ...]
    means: FloatArray
    covariance: FloatArray
    errors: FloatArray
    n_scored: FloatArray
    held_out: tuple[Pattern, ...]

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
        squares = (fitted.held_out - training.labels[:, None]) ** 2
        scored = np.isfinite(squares)
        held_out = _patterns(test, fitted.values(test), means[1], documents[1])
        return FoldSums(
            training=tuple(_patterns(training, fitted.held_out, means[0], documents[0])),
            means=np.array(stacking.means),
            covariance=np.array(stacking.covariance),
            errors=totals(np.where(scored, squares, 0.0), documents[0], n_documents),
            n_scored=totals(scored.astype(float), documents[0], n_documents),
            held_out=tuple(fold for fold in held_out if fold.present[: stacking.n_members].any()),
        )


def _patterns(
    items: JuryItems, members: FloatArray, means: FloatArray, documents: IntArray
) -> Iterator[Pattern]:
    """Sum the products of members' values, (n, members), their means and labels by pattern."""
    values = np.column_stack([members, items.covariates])
    present = np.isfinite(values)
    known = np.where(present, values, 0.0)
    rows = np.column_stack([np.ones(len(values)), known, np.nan_to_num(means), items.labels])
    for pattern in np.unique(present, axis=0):
        matches = (present == pattern).all(axis=1)
        distinct, coded = np.unique(documents[matches], return_inverse=True)
        products = _products(rows[matches]).reshape(coded.size, -1)
        sums = totals(products, coded, distinct.size)
        yield Pattern(
            present=pattern,
            documents=distinct,
            products=sums.reshape(distinct.size, rows.shape[1], -1),
        )


def _products(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[..., :, None] * rows[..., None, :])


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
        for pattern in fold.held_out:
            products = pattern.drawn(counts)
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
        n, means, covariance = _moments(fold, counts)
        errors = divide(counts @ fold.errors, counts @ fold.n_scored)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        has_spread = np.diag(fold.covariance)[:-1] > 0.0
        return _Fit(means, covariance, n, errors, has_spread, n_members, plain, {})

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
            remaining = present & (np.arange(present.size) != place)
            if remaining[:k].any():
                without = _squares(self.weights(remaining), products) if present[place] else jury
                yield 1 + k + place, without
        yield 1 + 2 * k, _squares(self.moved(units[-2]), products)
        if self.plain is not None:
            as_one = self.moved(self.plain.weights(present)[0])
            yield 2 + 2 * k, _squares(as_one, products)

    def moved(self, weights: FloatArray) -> FloatArray:
        """Return the weights of a judge, `weights` (q,) of the values, moved by its line."""
        key = weights.tobytes()
        if key not in self.known:
            lines = [
                weighting.line(weights) for weighting in (self, self.plain) if weighting is not None
            ]
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
        """Return intercept, weights of `present` members, -1 for the label: (resamples, q)."""
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
            weights = np.linalg.solve(own, self.covariance[:, used, -1][:, :, None])[:, :, 0]
            out[:, 1 + used] = weights
        out[:, 0] = self.means[:, -1] - np.einsum("ri,ri->r", out[:, 1:-1], self.means[:, :-1])
        return out


def _moments(fold: FoldSums, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return number, means and covariance of a fold's training items on each resample."""
    parts = [(part.present, part.drawn(counts)) for part in fold.training]
    k = len(fold.means) - 1
    # The members' calibrated mean, before the label, is no part of the regression.
    columns = np.r_[:k, k + 1]
    means = np.zeros((1, k + 2))
    covariance = np.zeros((1, k + 2, k + 2))
    means[:, columns], covariance[:, columns[:, None], columns] = fold.means, fold.covariance
    complete = all(present.all() for present, _ in parts)
    for _ in range(1 if complete else EM_STEPS):
        sums = np.zeros_like(parts[0][1])
        for present, products in parts:
            observed = np.r_[np.flatnonzero(present), k + 1]
            missing = np.flatnonzero(~present)
            sums += expected_products(products, observed, missing, means, covariance)
        n = np.maximum(sums[:, 0, 0], 1.0)
        means = sums[:, 0, 1:] / n[:, None]
        covariance = sums[:, 1:, 1:] / n[:, None, None] - _products(means)
    return n, means, covariance


def _squares(weights: FloatArray, products: FloatArray) -> FloatArray:
    """Return the squares of weighted sums, summed over items: shape (resamples,)."""
    return np.asarray(np.einsum("ri,ri->r", np.einsum("ri,rij->rj", weights, products), weights))
