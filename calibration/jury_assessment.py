"""What a fitted jury is worth: against its members, their mean and the best of them.

Everything is cross-fitted by document: the curves, the weights, and which member is the best one
are found on the other folds, so that none of them has seen the items on which it is compared. The
estimand is thus the expected distance of a fit on as many documents as all folds but one have,
not that of one fit. So intervals weigh members and choose the best of them anew on each resample
(`fairjudge.calibration.jury_resampling`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.calibrators import fit_calibrator, iterate_folds
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.effective_number import EffectiveNumber, effective_number
from fairjudge.calibration.juries import FittedMembers, JuryItems, calibrated, fit_members
from fairjudge.calibration.jury_resampling import FoldSums, resampled_losses
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, codes, totals
from fairjudge.stats.bootstrap import bootstrap_many, divide
from fairjudge.stats.resampling import adjust_by_name

BEST, MEAN, MEAN_CALIBRATED = "best single judge", "mean", "mean, calibrated"
"""Alternatives with which a jury is compared; the second is not calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodComparison:
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
    """A jury on documents that it was not fitted on; ``n_complete`` items have every member.

    ``scores``, shape (n_items,), are those of the jury, NaN where it has none.
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
class HeldOut:
    """Scores of held-out documents, each of shape (n,), NaN where missing.

    ``without`` has shape (n, members): the jury without each. ``best_in`` counts the folds in which
    each was the best single one; ``folds`` are for resampling.
    """

    jury: FloatArray
    others: Mapping[str, FloatArray]
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
) -> HeldOut | Undefined:
    """Score every item by models fitted on the documents of other folds."""
    n, k = items.scores.shape
    documents, distinct = codes(items.documents)
    n_documents = len(distinct)
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents: nothing to hold out")
    out = np.full((n, 4 + 2 * k), np.nan)
    best_in, folds = np.zeros(k), []
    for fold in iterate_folds(items.documents, min(n_folds, n_documents), rng):
        training, test = items.subset(~fold), items.subset(fold)
        fitted = fit_members(training, method=method, rng=rng)
        if isinstance(fitted, Undefined):
            return fitted
        mean = _calibrated_mean(training, test, method)
        out[fold] = _scores(fitted, training, test, mean[1])
        own = documents[~fold], documents[fold]
        folds.append(FoldSums.of(fitted, (training, test), mean, own, n_documents))
        best_in[int(np.argmin(fitted.errors))] += 1
    jury, best, mean, mean_calibrated = out[:, :4].T
    alternatives = {BEST: best, MEAN: mean, MEAN_CALIBRATED: mean_calibrated}
    return HeldOut(
        jury=jury,
        others=alternatives | dict(zip(names, out[:, 4 : 4 + k].T, strict=True)),
        without=out[:, 4 + k :],
        best_in=best_in,
        folds=tuple(folds),
    )


def _scores(
    fitted: FittedMembers, training: JuryItems, test: JuryItems, mean: FloatArray
) -> FloatArray:
    """Return one column each: jury, best, mean, calibrated mean, members, jury without each."""
    members = fitted.values(test)
    low, high = training.labels.min(), training.labels.max()

    def jury(values: FloatArray) -> FloatArray:
        return np.clip(fitted.stacking(np.column_stack([values, test.covariates])), low, high)

    columns = [
        jury(members),
        _first_known(members[:, np.argsort(fitted.errors, kind="stable")]),
        _row_means(test.mapped),
        mean,
        *members.T,
    ]
    for place in range(members.shape[1]):
        without = members.copy()
        without[:, place] = np.nan
        columns.append(jury(without))
    return np.column_stack(columns)


def _calibrated_mean(
    training: JuryItems, test: JuryItems, method: CalibratorName
) -> tuple[FloatArray, FloatArray]:
    """Return members' calibrated means of training and test items, NaN where there is none."""
    means = _row_means(training.mapped), _row_means(test.mapped)
    is_finite = np.isfinite(means[0])
    curve = fit_calibrator(method, means[0][is_finite], training.labels[is_finite])
    if isinstance(curve, Undefined):
        return np.full_like(means[0], np.nan), np.full_like(means[1], np.nan)
    return calibrated(curve, means[0]), calibrated(curve, means[1])


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
    rmse, compared, without = _compared(items, result, names, resampling=resampling, rng=rng)
    effective = effective_number(
        items.mapped - items.labels[:, None],
        documents=documents,
        n_documents=len(distinct),
        resampling=resampling,
        rng=rng,
    )
    return JuryFigures(
        scores=result.jury,
        n_items=len(items.labels),
        n_complete=int(np.isfinite(items.scores).all(axis=1).sum()),
        n_documents=len(distinct),
        n_folds=len(result.folds),
        rmse=rmse,
        compared=compared,
        members=tuple(
            JuryMember(
                name=name,
                n_items=int(np.isfinite(items.scores[:, place]).sum()),
                weight=float(weights[place]),
                best_in=float(result.best_in[place] / len(result.folds)),
                loss=without[name].gain,
                adjusted_p_value=without[name].adjusted_p_value,
                effective_without=effective.without[place],
            )
            for place, name in enumerate(names)
        ),
        effective=effective,
    )


def _compared(
    items: JuryItems,
    result: HeldOut,
    names: Sequence[str],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> tuple[Estimate | Undefined, dict[str, MethodComparison], dict[str, MethodComparison]]:
    """Return the jury's RMSE, the others' with its gain over them, and those without a member."""
    k = len(names)
    ways = [*(result.others[name] for name in (BEST, *names)), *result.without.T]
    ways += [result.others[MEAN_CALIBRATED], result.jury, result.others[MEAN]]
    sums = _sums_by_document(ways, result.jury, items)

    def statistic(counts: FloatArray) -> FloatArray:
        n, way, jury = counts @ sums
        draws = resampled_losses(result.folds, counts, n_members=k)
        way[:, :-1], jury[:, :-1], jury[:, -1] = draws.way, draws.jury, draws.jury[:, -1]
        return _distances(n, way, jury)

    estimates = bootstrap_many(
        statistic,
        n_documents=sums.shape[1],
        rng=rng,
        null=0.0,
        values=_distances(*sums.sum(axis=1)[:, None])[0],
        **asdict(resampling),
    )
    figures = [
        _comparison(int(np.isfinite(scores).sum()), rmse, gain)
        for scores, rmse, gain in zip(
            ways, estimates[: len(ways)], estimates[len(ways) :], strict=True
        )
    ]
    mean_calibrated, jury, mean = figures[2 * k + 1 :]
    alternatives = {BEST: figures[0], MEAN: mean, MEAN_CALIBRATED: mean_calibrated}
    return (
        jury.rmse,
        _adjusted(alternatives | dict(zip(names, figures[1 : k + 1], strict=True))),
        _adjusted(dict(zip(names, figures[k + 1 : 2 * k + 1], strict=True))),
    )


def _comparison(
    n_items: int, rmse: Estimate | Undefined, gain: Estimate | Undefined
) -> MethodComparison:
    """Give both figures their number of items; only a gain is tested."""
    if isinstance(rmse, Estimate):
        rmse = replace(rmse, n=n_items, p_value=None)
    if isinstance(gain, Estimate):
        gain = replace(gain, n=n_items)
    return MethodComparison(n_items=n_items, rmse=rmse, gain=gain, adjusted_p_value=None)


def _adjusted(ways: Mapping[str, MethodComparison]) -> dict[str, MethodComparison]:
    adjusted = adjust_by_name({name: way.gain for name, way in ways.items()})
    return {name: replace(way, adjusted_p_value=adjusted.get(name)) for name, way in ways.items()}


def _sums_by_document(ways: Sequence[FloatArray], jury: FloatArray, items: JuryItems) -> FloatArray:
    """Return number, squared errors, and the jury's on the same items: (3, documents, ways)."""
    documents, distinct = codes(items.documents)
    scores, labels = np.column_stack(ways), items.labels[:, None]
    is_complete = np.isfinite(scores) & np.isfinite(jury)[:, None]
    squares = [
        np.where(is_complete, (estimates - labels) ** 2, 0.0)
        for estimates in (scores, jury[:, None])
    ]
    return np.array(
        [totals(values, documents, len(distinct)) for values in (is_complete * 1.0, *squares)]
    )


def _distances(n: FloatArray, way: FloatArray, jury: FloatArray) -> FloatArray:
    """Return the RMSE of each way, and the jury's gain over it: shape (resamples, 2 ways)."""
    rmse, of_jury = (np.sqrt(np.maximum(divide(sums, n), 0.0)) for sums in (way, jury))
    return np.column_stack([rmse, rmse - of_jury])
