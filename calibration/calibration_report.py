"""Errors of a judge's scores before and after calibration, and the calibrator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.items import Joined
from fairjudge.calibration.jury_report import calibrator_of
from fairjudge.calibration.settings import Settings
from fairjudge.calibration.temperature import DistributionReport, distribution_report
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.bootstrap import Method, WeightedStatistic, bootstrap_many, divide, replicates
from fairjudge.stats.clustered import clustered_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """Errors in units of the labels before and after calibration, and the calibrator itself.

    ``before`` maps the judge's scale to the labels' by a straight line. ``after`` is cross-fitted
    over documents. ``calibrator`` is fitted on all labelled items, to be used on others.
    """

    method: CalibratorName
    n_folds: int
    calibrator: Calibrator | Undefined
    before: ErrorScores | Undefined
    after: ErrorScores | Undefined
    reliability_before: tuple[ReliabilityBin, ...]
    reliability_after: tuple[ReliabilityBin, ...]
    distribution: DistributionReport | Undefined


def calibration_report(
    joined: Joined,
    mapped: FloatArray,
    calibrated: FloatArray | Undefined,
    *,
    settings: Settings,
    rng: np.random.Generator,
) -> CalibrationReport:
    """Assess scores on the labels' scale (`mapped`) and as calibrated, shape (n,) each."""
    documents, resampling = joined.documents, settings.resampling

    def errors(scores: FloatArray) -> ErrorScores | Undefined:
        return assess(
            scores,
            joined.human,
            scale=joined.label_scale,
            documents=documents,
            rng=rng,
            **asdict(resampling),
        )

    def diagram(scores: FloatArray) -> tuple[ReliabilityBin, ...]:
        return reliability_diagram(
            scores, joined.human, documents=documents, level=resampling.level
        )

    # The resamples of calibrated scores are drawn first.
    after = calibrated if isinstance(calibrated, Undefined) else errors(calibrated)
    return CalibrationReport(
        method=settings.calibrator,
        n_folds=min(settings.n_folds, len(set(documents)))
        if isinstance(calibrated, np.ndarray)
        else 0,
        calibrator=calibrator_of(joined, settings.calibrator),
        before=errors(mapped),
        after=after,
        reliability_before=diagram(mapped),
        reliability_after=() if isinstance(calibrated, Undefined) else diagram(calibrated),
        distribution=distribution_report(joined, rng=rng, level=resampling.level),
    )


N_BINS = 10
"""Bins of the expected calibration error: of equal size, never splitting equal scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Items with a score in [low, high]: how many, their mean score and their mean label."""

    low: float
    high: float
    n: int
    mean_score: float
    mean_label: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorScores:
    """Errors of scores against labels; all 0 for a perfect judge.

    ``rmse``, ``mae``, ``bias`` (score - label) and ``ece`` are in units of the labels; ``brier``
    is the mean squared error on the scale stretched to [0, 1]: on 0/1 labels, Brier's score.
    """

    rmse: Estimate | Undefined
    mae: Estimate | Undefined
    bias: Estimate | Undefined
    brier: Estimate | Undefined
    ece: Estimate | Undefined


def assess(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    scale: tuple[float, float],
    rng: np.random.Generator,
    documents: Sequence[Hashable] | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    method: Method = "percentile",
) -> ErrorScores | Undefined:
    """Compare scores with labels on one scale; Undefined for no items.

    Parameters
    ----------
    scores, labels : arrays of shape (n,), in the same units
    scale
        Lowest and highest value of the scale.
    documents
        Resampled whole; each row its own where None.

    Notes
    -----
    The expected calibration error is sum over bins of n_b / n |mean score - mean label| (Naeini et
    al. 2015). It is biased upwards where bins are small, and its resamples more so: they are
    shifted so that their median is the estimate, and cut at 0, before percentiles are taken.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y)
    width = scale[1] - scale[0]
    if not width > 0.0:
        raise StatisticsError(f"scale must run from low to high, got {scale!r}")
    if not n:
        return Undefined(why="no items")
    coded, n_documents = document_codes(documents, n)
    statistic = _errors(x - y, equal_size_bins(x, N_BINS), coded, n_documents, width)
    rmse, mae, bias, brier, ece = bootstrap_many(
        statistic,
        n_documents=n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method=method,
        n=n,
    )
    replicate_values = replicates(
        lambda counts: statistic(counts)[:, 4],
        n_documents=n_documents,
        n_resamples=n_resamples,
        rng=rng,
    )
    return ErrorScores(
        rmse=rmse, mae=mae, bias=bias, brier=brier, ece=_recentred(ece, replicate_values)
    )


def reliability_diagram(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Return the bins of a reliability diagram by ascending score; empty for no items.

    Equal scores share a bin, so a judge on few levels gets one bin a level. Each mean label has an
    interval that respects documents.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y)
    names = tuple(range(n)) if documents is None else documents
    bins = equal_size_bins(x, N_BINS)
    rows_of_bins = (np.flatnonzero(bins == place) for place in np.unique(bins))
    return tuple(
        ReliabilityBin(
            low=float(x[rows].min()),
            high=float(x[rows].max()),
            n=int(rows.size),
            mean_score=float(x[rows].mean()),
            mean_label=clustered_mean(y[rows], [names[row] for row in rows.tolist()], level=level),
        )
        for rows in rows_of_bins
    )


def equal_size_bins(scores: FloatArray, n_bins: int) -> IntArray:
    """Return each score's bin from 0: about equally many a bin, equal scores together."""
    if not scores.size:
        return np.empty(0, dtype=np.intp)
    levels, level_of, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    if levels.size <= n_bins:
        return level_of.astype(np.intp)
    middles = (np.cumsum(sizes) - sizes / 2.0) / scores.size
    bins = np.minimum((middles * n_bins).astype(np.intp), n_bins - 1)
    _, packed = np.unique(bins, return_inverse=True)
    return np.asarray(packed[level_of], dtype=np.intp)


def _errors(
    errors: FloatArray, bins: IntArray, documents: IntArray, n_documents: int, width: float
) -> WeightedStatistic:
    moments = totals(
        np.column_stack([np.ones_like(errors), errors, np.abs(errors), errors**2]),
        documents,
        n_documents,
    )
    n_bins = int(bins.max()) + 1
    gaps = np.zeros((n_documents, n_bins))
    np.add.at(gaps, (documents, bins), errors)

    def statistic(counts: FloatArray) -> FloatArray:
        n, total, absolute, squared = (counts @ moments).T
        mean_square = divide(squared, n)
        ece = divide(np.abs(counts @ gaps).sum(axis=1), n)
        rmse, mae, bias = np.sqrt(mean_square), divide(absolute, n), divide(total, n)
        return np.column_stack([rmse, mae, bias, mean_square / width**2, ece])

    return statistic


def _recentred(
    estimate: Estimate | Undefined, replicate_values: FloatArray
) -> Estimate | Undefined:
    """Give a positively biased estimate an interval that holds it."""
    if isinstance(estimate, Undefined) or estimate.low is None:
        return estimate
    shifted = np.maximum(replicate_values - np.median(replicate_values) + estimate.value, 0.0)
    tail = (1.0 - estimate.level) / 2.0
    return replace(
        estimate,
        low=float(np.quantile(shifted, tail)),
        high=float(np.quantile(shifted, 1.0 - tail)),
        method="percentile bootstrap over documents, median shifted to the estimate",
    )
