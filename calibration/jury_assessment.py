"""What a fitted jury is worth: against its members, their mean and the best of them.

Everything is cross-fitted by document: the curves, the weights, and which member is the best one
are found on the other folds, so that none of them has seen the items on which it is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.calibrators import fit_calibrator, held_out
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.effective_number import EffectiveNumber, effective_number
from fairjudge.calibration.juries import (
    FittedMembers,
    JuryItems,
    calibrated,
    fit_members,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import BoolArray, FloatArray, codes, totals
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap_many, divide
from fairjudge.stats.resampling import adjusted_by_name

BEST, MEAN, MEAN_CALIBRATED = "best single judge", "mean", "mean, calibrated"
"""What a jury is held against beside its members; the second is not calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Distance from people of one way of scoring, and how much nearer the jury is.

    ``rmse`` is over the ``n_items`` items that it scores, in units of the labels; ``gain`` is it
    less the jury's on the same items. ``adjusted_p_value`` is Holm's over all that are compared,
    and None where ``gain`` has no p-value.
    """

    n_items: int
    rmse: Estimate | Undefined
    gain: Estimate | Undefined
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryMember:
    """What a judge does in a jury.

    ``weight`` multiplies its calibrated score where no member is missing; ``best_in`` is the share
    of folds, in [0, 1], in which it was the best single one. ``loss`` is the jury's RMSE without it
    less that with it, over the same held-out documents; ``effective_without`` what the others are
    worth.
    """

    name: str
    n_items: int
    weight: float
    best_in: float
    loss: Estimate | Undefined
    adjusted_p_value: float | None
    effective_without: float | None

    @property
    def adds(self) -> bool:
        """Say whether the jury is significantly farther from people without it."""
        estimate, p = self.loss, self.adjusted_p_value
        if isinstance(estimate, Undefined) or estimate.low is None or p is None:
            return False
        return estimate.low > 0.0 and p < 1.0 - estimate.level


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryFigures:
    """A jury on documents that it was not fitted on; ``n_complete`` items have every member."""

    n_items: int
    n_complete: int
    n_documents: int
    n_folds: int
    rmse: Estimate | Undefined
    compared: Mapping[str, Compared]
    members: tuple[JuryMember, ...]
    effective: EffectiveNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Scores of held-out documents, each of shape (n,), NaN where missing.

    ``without`` has shape (n, members): the jury without each. ``best_in`` counts the folds in which
    each was the best single one.
    """

    jury: FloatArray
    others: Mapping[str, FloatArray]
    without: FloatArray
    best_in: FloatArray
    n_folds: int


def held_out_scores(
    items: JuryItems,
    names: Sequence[str],
    *,
    method: CalibratorName,
    n_folds: int,
    rng: np.random.Generator,
) -> HeldOut | Undefined:
    """Score every item by models fitted on the documents of other folds."""
    n, k = items.scores.shape
    n_documents = len(set(items.documents))
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents: nothing to hold out")
    out = np.full((n, 4 + 2 * k), np.nan)
    best_in, used = np.zeros(k), min(n_folds, n_documents)
    for fold in held_out(items.documents, used, rng):
        fitted = fit_members(items.subset(~fold), method=method, rng=rng)
        if isinstance(fitted, Undefined):
            return fitted
        out[fold] = _scores(fitted, items.subset(~fold), items.subset(fold), method)
        best_in[int(np.argmin(fitted.errors))] += 1
    jury, best, mean, mean_calibrated = out[:, :4].T
    alternatives = {BEST: best, MEAN: mean, MEAN_CALIBRATED: mean_calibrated}
    return HeldOut(
        jury=jury,
        others=alternatives | dict(zip(names, out[:, 4 : 4 + k].T, strict=True)),
        without=out[:, 4 + k :],
        best_in=best_in,
        n_folds=used,
    )


def _scores(
    fitted: FittedMembers, training: JuryItems, test: JuryItems, method: CalibratorName
) -> FloatArray:
    """Return one column each: jury, best, mean, calibrated mean, members, jury without each."""
    members = fitted.values(test)
    low, high = training.labels.min(), training.labels.max()

    def jury(values: FloatArray) -> FloatArray:
        return np.clip(fitted.stacking(np.column_stack([values, test.covariates])), low, high)

    means = [_row_means(items_of_side.mapped) for items_of_side in (training, test)]
    is_finite = np.isfinite(means[0])
    curve = fit_calibrator(method, means[0][is_finite], training.labels[is_finite])
    columns = [
        jury(members),
        _first_known(members[:, np.argsort(fitted.errors, kind="stable")]),
        means[1],
        np.full(len(means[1]), np.nan)
        if isinstance(curve, Undefined)
        else calibrated(curve, means[1]),
        *members.T,
    ]
    for place in range(members.shape[1]):
        without = members.copy()
        without[:, place] = np.nan
        columns.append(jury(without))
    return np.column_stack(columns)


def _first_known(values: FloatArray) -> FloatArray:
    """Return each row's first number that is there: the best judge of those that scored it."""
    first = np.argmax(np.isfinite(values), axis=1)
    return np.asarray(values[np.arange(len(values)), first])


def _row_means(values: FloatArray) -> FloatArray:
    is_finite = np.isfinite(values)
    return divide(np.where(is_finite, values, 0.0).sum(axis=1), is_finite.sum(axis=1).astype(float))


def jury_figures(
    items: JuryItems,
    names: Sequence[str],
    *,
    weights: FloatArray,
    method: CalibratorName,
    n_folds: int,
    resampling: Resampling,
    rng: np.random.Generator,
) -> JuryFigures | Undefined:
    """Hold a jury against its members; `weights`, (members,), are those of the final fit."""
    result = held_out_scores(items, names, method=method, n_folds=n_folds, rng=rng)
    if isinstance(result, Undefined):
        return result
    documents, distinct = codes(items.documents)
    losses = _Losses(items.labels, documents, len(distinct), resampling, rng)
    compared = losses.compared(result.jury, result.others)
    without = losses.compared(result.jury, dict(zip(names, result.without.T, strict=True)))
    effective = effective_number(
        items.mapped - items.labels[:, None],
        documents=documents,
        n_documents=len(distinct),
        resampling=resampling,
        rng=rng,
    )
    return JuryFigures(
        n_items=len(items.labels),
        n_complete=int(np.isfinite(items.scores).all(axis=1).sum()),
        n_documents=len(distinct),
        n_folds=result.n_folds,
        rmse=losses.rmse(result.jury),
        compared=compared,
        members=tuple(
            JuryMember(
                name=name,
                n_items=int(np.isfinite(items.scores[:, place]).sum()),
                weight=float(weights[place]),
                best_in=float(result.best_in[place] / result.n_folds),
                loss=without[name].gain,
                adjusted_p_value=without[name].adjusted_p_value,
                effective_without=effective.without[place],
            )
            for place, name in enumerate(names)
        ),
        effective=effective,
    )


@dataclass(frozen=True, slots=True)
class _Losses:
    """Squared errors by document."""

    labels: FloatArray
    documents: np.ndarray
    n_documents: int
    resampling: Resampling
    rng: np.random.Generator

    def rmse(self, scores: FloatArray) -> Estimate | Undefined:
        is_finite = np.isfinite(scores)
        (estimate,) = self._bootstrap(
            lambda counts: _roots(self._sums([scores], is_finite), counts),
            n=int(is_finite.sum()),
            null=None,
        )
        return estimate

    def compared(self, jury: FloatArray, others: Mapping[str, FloatArray]) -> dict[str, Compared]:
        gains = {name: self._gain(jury, scores) for name, scores in others.items()}
        adjusted = adjusted_by_name(gains)
        return {
            name: Compared(
                n_items=int(np.isfinite(scores).sum()),
                rmse=self.rmse(scores),
                gain=gains[name],
                adjusted_p_value=adjusted.get(name),
            )
            for name, scores in others.items()
        }

    def _gain(self, jury: FloatArray, scores: FloatArray) -> Estimate | Undefined:
        shared = np.isfinite(jury) & np.isfinite(scores)
        sums = self._sums([scores, jury], shared)

        def statistic(counts: FloatArray) -> FloatArray:
            roots = _roots(sums, counts)
            return roots[:, :1] - roots[:, 1:]

        (estimate,) = self._bootstrap(statistic, n=int(shared.sum()), null=0.0)
        return estimate

    def _sums(self, scores: Sequence[FloatArray], is_finite: BoolArray) -> FloatArray:
        squares = [np.where(is_finite, (column - self.labels) ** 2, 0.0) for column in scores]
        columns = np.column_stack([is_finite.astype(float), *squares])
        return totals(columns, self.documents, self.n_documents)

    def _bootstrap(
        self, statistic: WeightedStatistic, *, n: int, null: float | None
    ) -> tuple[Estimate | Undefined, ...]:
        return bootstrap_many(
            statistic,
            n_documents=self.n_documents,
            rng=self.rng,
            n_resamples=self.resampling.n_resamples,
            level=self.resampling.level,
            method=self.resampling.method,
            n=n,
            null=null,
        )


def _roots(sums: FloatArray, counts: FloatArray) -> FloatArray:
    totals_of_draw = counts @ sums
    return np.sqrt(divide(totals_of_draw[:, 1:], totals_of_draw[:, :1]))
