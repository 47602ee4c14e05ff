"""Errors of a judge's scores before and after calibration, and the fitted calibrator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.jury_report import fit_judge_calibrator
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
    """Errors, in units of the labels, before and after calibration, and the calibrator.

    ``before`` maps the judge's scale linearly to the labels' scale. ``after`` is cross-fitted over
    documents. ``calibrator`` is fitted on all labelled items, for use on new items.
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
    items: JoinedItems,
    rescaled_scores: FloatArray,
    calibrated_scores: FloatArray | Undefined,
    *,
    settings: Settings,
    rng: np.random.Generator,
) -> CalibrationReport:
    """Assess linearly rescaled and calibrated scores, shape (n,) each, on the labels' scale."""
    documents, resampling = items.documents, settings.resampling

    def errors(scores: FloatArray) -> ErrorScores | Undefined:
        return assess(
            scores,
            items.human,
            scale=items.label_scale,
            documents=documents,
            rng=rng,
            **asdict(resampling),
        )

    def diagram(scores: FloatArray) -> tuple[ReliabilityBin, ...]:
        return reliability_diagram(scores, items.human, documents=documents, level=resampling.level)

    # Draw the resamples of calibrated scores first: the order determines the random numbers.
    after = (
        calibrated_scores if isinstance(calibrated_scores, Undefined) else errors(calibrated_scores)
    )
    return CalibrationReport(
        method=settings.calibrator,
        n_folds=min(settings.n_folds, len(set(documents)))
        if isinstance(calibrated_scores, np.ndarray)
        else 0,
        calibrator=fit_judge_calibrator(items, settings.calibrator),
        before=errors(rescaled_scores),
        after=after,
        reliability_before=diagram(rescaled_scores),
        reliability_after=()
        if isinstance(calibrated_scores, Undefined)
        else diagram(calibrated_scores),
        distribution=distribution_report(items, rng=rng, level=resampling.level),
    )


N_BINS = 10
"""Number of equal-frequency bins of the expected calibration error; tied scores share a bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Items with a score in [low, high]: number, mean score and mean label."""

    low: float
    high: float
    n: int
    mean_score: float
    mean_label: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorScores:
    """Errors of scores against labels; all 0 for a perfect judge.

    ``rmse``, ``mae``, ``bias`` (mean of score - label) and ``ece`` are in units of the labels.
    ``brier`` is the mean squared error with the scale mapped to [0, 1]: the Brier score for 0/1
    labels.
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
    """Measure errors of scores against labels on the same scale; Undefined without items.

    Parameters
    ----------
    scores, labels : arrays of shape (n,), in the same units
    scale
        Lowest and highest value of the scale.
    documents
        The document of each row, for resampling; by default each row is its own document.

    Notes
    -----
    The expected calibration error is sum over bins of n_b / n |mean score - mean label| (Naeini et
    al. 2015). It is biased upwards for small bins, and more so on resamples. Its replicates are
    therefore shifted to have the estimate as their median, and clipped at 0, before percentiles are
    computed.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y)
    width = scale[1] - scale[0]
    if not width > 0.0:
        raise StatisticsError(f"scale must run from low to high, got {scale!r}")
    if not n:
        return Undefined(why="no items")
    coded, n_documents = document_codes(documents, n)
    statistic = _error_statistics(x - y, equal_size_bins(x, N_BINS), coded, n_documents, width)
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
        rmse=rmse, mae=mae, bias=bias, brier=brier, ece=_recentre_interval(ece, replicate_values)
    )


def reliability_diagram(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Return the bins of a reliability diagram by ascending score; empty without items.

    Tied scores share a bin, so a judge with few levels gets one bin per level. Each mean label has
    an interval over documents.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y)
    names = tuple(range(n)) if documents is None else documents
    bins = equal_size_bins(x, N_BINS)
    rows_by_bin = (np.flatnonzero(bins == bin_index) for bin_index in np.unique(bins))
    return tuple(
        ReliabilityBin(
            low=float(x[rows].min()),
            high=float(x[rows].max()),
            n=int(rows.size),
            mean_score=float(x[rows].mean()),
            mean_label=clustered_mean(y[rows], [names[row] for row in rows.tolist()], level=level),
        )
        for rows in rows_by_bin
    )


def equal_size_bins(scores: FloatArray, n_bins: int) -> IntArray:
    """Assign scores to equal-frequency bins (0-based); tied scores share a bin."""
    if not scores.size:
        return np.empty(0, dtype=np.intp)
    levels, level_of_score, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    if levels.size <= n_bins:
        return level_of_score.astype(np.intp)
    mid_ranks = (np.cumsum(sizes) - sizes / 2.0) / scores.size
    bins = np.minimum((mid_ranks * n_bins).astype(np.intp), n_bins - 1)
    _, bin_of_level = np.unique(bins, return_inverse=True)
    return np.asarray(bin_of_level[level_of_score], dtype=np.intp)


def _error_statistics(
    errors: FloatArray, bins: IntArray, documents: IntArray, n_documents: int, width: float
) -> WeightedStatistic:
    moments = totals(
        np.column_stack([np.ones_like(errors), errors, np.abs(errors), errors**2]),
        documents,
        n_documents,
    )
    n_bins = int(bins.max()) + 1
    bin_errors = np.zeros((n_documents, n_bins))
    np.add.at(bin_errors, (documents, bins), errors)

    def statistic(counts: FloatArray) -> FloatArray:
        n, sum_of_errors, sum_of_absolutes, sum_of_squares = (counts @ moments).T
        mean_square = divide(sum_of_squares, n)
        ece = divide(np.abs(counts @ bin_errors).sum(axis=1), n)
        rmse, mae, bias = (
            np.sqrt(mean_square),
            divide(sum_of_absolutes, n),
            divide(sum_of_errors, n),
        )
        return np.column_stack([rmse, mae, bias, mean_square / width**2, ece])

    return statistic


def _recentre_interval(
    estimate: Estimate | Undefined, replicate_values: FloatArray
) -> Estimate | Undefined:
    """Shift the replicates of a positively biased estimate so that its interval contains it."""
    if isinstance(estimate, Undefined) or estimate.low is None:
        return estimate
    shifted_values = np.maximum(
        replicate_values - np.median(replicate_values) + estimate.value, 0.0
    )
    tail_probability = (1.0 - estimate.level) / 2.0
    return replace(
        estimate,
        low=float(np.quantile(shifted_values, tail_probability)),
        high=float(np.quantile(shifted_values, 1.0 - tail_probability)),
        method="percentile bootstrap over documents, median shifted to the estimate",
    )
