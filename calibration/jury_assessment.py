"""Assessment of fitted juries: comparison with their members, their mean and the best member.

Everything is cross-fitted over documents: curves, weights and the choice of the best member are
fitted on the other folds. The estimand is thus the expected error of a fit on as many documents as
all but one fold contain, not the error of one fit. Intervals therefore refit the weights and the
choice of the best member on each resample (`fairjudge.calibration.jury_resampling`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.calibrators import fit_calibrator, iterate_folds
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.effective_number import EffectiveNumber, effective_number
from fairjudge.calibration.juries import FittedMembers, JuryItems, calibrate_scores, fit_members
from fairjudge.calibration.jury_resampling import FoldSums, resampled_losses
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, codes, totals
from fairjudge.stats.bootstrap import bootstrap_many, divide
from fairjudge.stats.resampling import adjust_by_name

BEST, MEAN, MEAN_CALIBRATED = "best single judge", "mean", "mean, calibrated"
"""Alternatives with which a jury is compared; ``MEAN`` is not calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodComparison:
    """The error of one scoring method, and the jury's gain over it.

    ``rmse`` is over the ``n_items`` items that the method scores, in units of the labels. ``gain``
    is ``rmse`` minus the jury's on the same items. ``adjusted_p_value`` is Holm-adjusted over all
    compared methods; None if ``gain`` has no p-value.
    """

    n_items: int
    rmse: Estimate | Undefined
    gain: Estimate | Undefined
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryMember:
    """The contribution of a member to a jury.

    ``weight`` is the weight of its calibrated score if no member is missing. ``best_in`` is the
    share of folds, in [0, 1], in which it was the best single judge. ``loss`` is the jury's RMSE
    without the member minus that with it, on the same held-out documents. ``effective_without`` is
    the effective number of the other judges.
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
        """Whether the jury is significantly worse without the member."""
        estimate, p = self.loss, self.adjusted_p_value
        if isinstance(estimate, Undefined) or estimate.low is None or p is None:
            return False
        return estimate.low > 0.0 and p < 1.0 - estimate.level


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryMeasures:
    """Cross-fitted performance of a jury; ``n_complete`` items have scores of every member.

    ``scores``, shape (n_items,), are the jury's, NaN where missing.
    """

    scores: FloatArray
    n_items: int
    n_complete: int
    n_documents: int
    n_folds: int
    rmse: Estimate | Undefined
    compared: Mapping[str, MethodComparison]
    members: tuple[JuryMember, ...]
    effective: EffectiveNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutScores:
    """Scores of held-out documents, each of shape (n,), NaN where missing.

    ``without``, shape (n, members), are the jury's scores without each member. ``best_in`` counts
    the folds in which each member was the best single judge. ``folds`` are for resampling.
    """

    jury: FloatArray
    alternatives: Mapping[str, FloatArray]
    without: FloatArray
    best_in: FloatArray
    folds: tuple[FoldSums, ...]


def held_out_scores(
    items: JuryItems,
    names: Sequence[str],
    *,
    method: CalibratorName,
    n_folds: int,
    rng: np.random.Generator,
) -> HeldOutScores | Undefined:
    """Score every item with models fitted on the documents of the other folds."""
    n, k = items.scores.shape
    documents, distinct = codes(items.documents)
    n_documents = len(distinct)
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents: nothing to hold out")
    scores = np.full((n, 4 + 2 * k), np.nan)
    best_in, folds = np.zeros(k), []
    for fold in iterate_folds(items.documents, min(n_folds, n_documents), rng):
        training, test = items.subset(~fold), items.subset(fold)
        members = fit_members(training, method=method, rng=rng)
        if isinstance(members, Undefined):
            return members
        mean = _calibrate_means(training, test, method)
        scores[fold] = _scores(members, training, test, mean[1])
        fold_documents = documents[~fold], documents[fold]
        folds.append(
            FoldSums.from_fold(members, (training, test), mean, fold_documents, n_documents)
        )
        best_in[int(np.argmin(members.errors))] += 1
    jury, best, mean, mean_calibrated = scores[:, :4].T
    alternatives = {BEST: best, MEAN: mean, MEAN_CALIBRATED: mean_calibrated}
    return HeldOutScores(
        jury=jury,
        alternatives=alternatives | dict(zip(names, scores[:, 4 : 4 + k].T, strict=True)),
        without=scores[:, 4 + k :],
        best_in=best_in,
        folds=tuple(folds),
    )


def _scores(
    fitted_members: FittedMembers, training: JuryItems, test: JuryItems, mean: FloatArray
) -> FloatArray:
    """Return columns for jury, best, mean, calibrated mean, each member, and jury without each."""
    members = fitted_members.values(test)
    low, high = training.labels.min(), training.labels.max()

    def predict_jury(values: FloatArray) -> FloatArray:
        return np.clip(
            fitted_members.stacking(np.column_stack([values, test.covariates])), low, high
        )

    columns = [
        predict_jury(members),
        _first_finite(members[:, np.argsort(fitted_members.errors, kind="stable")]),
        _row_means(test.rescaled_scores),
        mean,
        *members.T,
    ]
    for member in range(members.shape[1]):
        without = members.copy()
        without[:, member] = np.nan
        columns.append(predict_jury(without))
    return np.column_stack(columns)


def _calibrate_means(
    training: JuryItems, test: JuryItems, method: CalibratorName
) -> tuple[FloatArray, FloatArray]:
    """Return the members' calibrated mean score of training and test items, NaN where missing."""
    means = _row_means(training.rescaled_scores), _row_means(test.rescaled_scores)
    is_finite = np.isfinite(means[0])
    calibrator = fit_calibrator(method, means[0][is_finite], training.labels[is_finite])
    if isinstance(calibrator, Undefined):
        return np.full_like(means[0], np.nan), np.full_like(means[1], np.nan)
    return calibrate_scores(calibrator, means[0]), calibrate_scores(calibrator, means[1])


def _first_finite(values: FloatArray) -> FloatArray:
    """Return the first finite number of each row."""
    first = np.argmax(np.isfinite(values), axis=1)
    return np.asarray(values[np.arange(len(values)), first])


def _row_means(values: FloatArray) -> FloatArray:
    is_finite = np.isfinite(values)
    return divide(np.where(is_finite, values, 0.0).sum(axis=1), is_finite.sum(axis=1).astype(float))


def measure_jury(
    items: JuryItems,
    names: Sequence[str],
    *,
    weights: FloatArray,
    method: CalibratorName,
    n_folds: int,
    resampling: Resampling,
    rng: np.random.Generator,
) -> JuryMeasures | Undefined:
    """Compare a jury with its members; `weights`, shape (members,), are those of the final fit."""
    result = held_out_scores(items, names, method=method, n_folds=n_folds, rng=rng)
    if isinstance(result, Undefined):
        return result
    documents, distinct = codes(items.documents)
    rmse, comparisons, without = _compare_methods(
        items, result, names, resampling=resampling, rng=rng
    )
    effective = effective_number(
        items.rescaled_scores - items.labels[:, None],
        documents=documents,
        n_documents=len(distinct),
        resampling=resampling,
        rng=rng,
    )
    return JuryMeasures(
        scores=result.jury,
        n_items=len(items.labels),
        n_complete=int(np.isfinite(items.scores).all(axis=1).sum()),
        n_documents=len(distinct),
        n_folds=len(result.folds),
        rmse=rmse,
        compared=comparisons,
        members=tuple(
            JuryMember(
                name=name,
                n_items=int(np.isfinite(items.scores[:, member]).sum()),
                weight=float(weights[member]),
                best_in=float(result.best_in[member] / len(result.folds)),
                loss=without[name].gain,
                adjusted_p_value=without[name].adjusted_p_value,
                effective_without=effective.without[member],
            )
            for member, name in enumerate(names)
        ),
        effective=effective,
    )


def _compare_methods(
    items: JuryItems,
    result: HeldOutScores,
    names: Sequence[str],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> tuple[Estimate | Undefined, dict[str, MethodComparison], dict[str, MethodComparison]]:
    """Return the jury's RMSE, the comparisons with alternatives, and those without each member."""
    k = len(names)
    methods = [*(result.alternatives[name] for name in (BEST, *names)), *result.without.T]
    methods += [result.alternatives[MEAN_CALIBRATED], result.jury, result.alternatives[MEAN]]
    sums = _sums_by_document(methods, result.jury, items)

    def statistic(counts: FloatArray) -> FloatArray:
        n, method_sums, jury_sums = counts @ sums
        draws = resampled_losses(result.folds, counts, n_members=k)
        method_sums[:, :-1], jury_sums[:, :-1], jury_sums[:, -1] = (
            draws.way,
            draws.jury,
            draws.jury[:, -1],
        )
        return _losses_and_gains(n, method_sums, jury_sums)

    estimates = bootstrap_many(
        statistic,
        n_documents=sums.shape[1],
        rng=rng,
        null=0.0,
        values=_losses_and_gains(*sums.sum(axis=1)[:, None])[0],
        **asdict(resampling),
    )
    results = [
        _comparison(int(np.isfinite(scores).sum()), rmse, gain)
        for scores, rmse, gain in zip(
            methods, estimates[: len(methods)], estimates[len(methods) :], strict=True
        )
    ]
    mean_calibrated, jury_sums, mean = results[2 * k + 1 :]
    alternatives = {BEST: results[0], MEAN: mean, MEAN_CALIBRATED: mean_calibrated}
    return (
        jury_sums.rmse,
        _adjust_p_values(alternatives | dict(zip(names, results[1 : k + 1], strict=True))),
        _adjust_p_values(dict(zip(names, results[k + 1 : 2 * k + 1], strict=True))),
    )


def _comparison(
    n_items: int, rmse: Estimate | Undefined, gain: Estimate | Undefined
) -> MethodComparison:
    """Set the number of items of both estimates; remove the p-value of the RMSE."""
    if isinstance(rmse, Estimate):
        rmse = replace(rmse, n=n_items, p_value=None)
    if isinstance(gain, Estimate):
        gain = replace(gain, n=n_items)
    return MethodComparison(n_items=n_items, rmse=rmse, gain=gain, adjusted_p_value=None)


def _adjust_p_values(methods: Mapping[str, MethodComparison]) -> dict[str, MethodComparison]:
    adjusted_p_values = adjust_by_name({name: method.gain for name, method in methods.items()})
    return {
        name: replace(method, adjusted_p_value=adjusted_p_values.get(name))
        for name, method in methods.items()
    }


def _sums_by_document(
    methods: Sequence[FloatArray], jury: FloatArray, items: JuryItems
) -> FloatArray:
    """Sum items, squared errors, and the jury's, per document: shape (3, documents, methods)."""
    documents, distinct = codes(items.documents)
    scores, labels = np.column_stack(methods), items.labels[:, None]
    is_complete = np.isfinite(scores) & np.isfinite(jury)[:, None]
    squares = [
        np.where(is_complete, (estimates - labels) ** 2, 0.0)
        for estimates in (scores, jury[:, None])
    ]
    return np.array(
        [totals(values, documents, len(distinct)) for values in (is_complete * 1.0, *squares)]
    )


def _losses_and_gains(n: FloatArray, method_sums: FloatArray, jury_sums: FloatArray) -> FloatArray:
    """Return each method's RMSE, then the jury's gain over each: shape (resamples, 2 methods)."""
    rmse, jury_rmse = (
        np.sqrt(np.maximum(divide(sums, n), 0.0)) for sums in (method_sums, jury_sums)
    )
    return np.column_stack([rmse, rmse - jury_rmse])
