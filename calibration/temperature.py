"""Quality of the answer probabilities of judges, and temperature scaling."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp

from fairjudge.calibration.calibrators import MIN_LABELS, iterate_folds
from fairjudge.calibration.items import LABELS_SIDE, JoinedItems
from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, vector
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import CORRELATIONS, correlation

FLOOR = 1e-12
"""Lower bound of probabilities, so that the log loss is finite."""
_N_BINS = 10
_MIN_TEMPERATURE, _MAX_TEMPERATURE = 0.02, 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributions:
    """Answer probabilities, shape (n, k), rows summing to 1, over ascending ``levels``, shape (k,).

    ``targets``, shape (n, k), are the shares of annotators with each level.
    """

    probabilities: FloatArray
    targets: FloatArray
    levels: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionScores:
    """Scores of distributions: means over items, with intervals over documents.

    ``log_loss`` is in nats and ``ranked_probability_score`` in [0, 1]; lower is better.
    ``sharpness`` is the mean highest probability, ``calibration_error`` its expected calibration
    error, in [0, 1].
    """

    log_loss: Estimate | Undefined
    ranked_probability_score: Estimate | Undefined
    sharpness: Estimate | Undefined
    calibration_error: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionReport:
    """Scores of a judge's probabilities before and after temperature scaling.

    ``after`` is cross-fitted over documents; ``temperature`` is fitted on all items, for use on new
    items. ``expected_score`` has the correlations of the expected score with the mean label.
    ``n_left_out`` counts items without probabilities, or without a label on one of the levels.
    """

    n: int
    n_left_out: int
    levels: tuple[float, ...]
    temperature: float | Undefined
    before: DistributionScores
    after: DistributionScores | Undefined
    expected_score: Mapping[str, float | Undefined]


def distribution_report(
    items: JoinedItems, *, rng: np.random.Generator, level: float = 0.95
) -> DistributionReport | Undefined:
    """Score the probabilities of one group; Undefined without probabilities of numeric answers."""
    levels = _levels(items)
    if levels is None:
        return Undefined(why="the judge gives no probabilities over the numbers of a scale")
    is_on_level = items.present[:, :, None] & (
        np.abs(items.ratings[:, :, None] - levels[None, None, :]) < 1e-9
    )
    targets = is_on_level.sum(axis=1).astype(np.float64)
    probabilities = np.zeros(targets.shape)
    for row, shares in enumerate(items.probabilities):
        for name, probability in (shares or {}).items():
            probabilities[row, np.flatnonzero(levels == float(name))] += probability
    rows = np.flatnonzero((probabilities.sum(axis=1) > 0.0) & targets.any(axis=1))
    if not rows.size:
        return Undefined(why="no item has both probabilities and a label on one of the levels")
    data = normalise_distributions(probabilities[rows], targets[rows], levels)
    documents = [items.documents[row] for row in rows]
    scores = expected_scores(data)
    return DistributionReport(
        n=rows.size,
        n_left_out=len(items.keys) - rows.size,
        levels=tuple(levels.tolist()),
        before=score_distributions(data, documents=documents, level=level),
        after=_cross_fitted_scores(data, documents, rng, level),
        temperature=fit_temperature(data),
        expected_score={
            name: correlation(
                name, scores, items.human[rows], sides=("expected scores", LABELS_SIDE)
            )
            for name in CORRELATIONS
        },
    )


def _levels(items: JoinedItems) -> FloatArray | None:
    names = {name for shares in items.probabilities for name in shares or ()}
    try:
        levels = sorted({float(name) for name in names})
    except ValueError:
        return None
    return np.array(levels) if len(levels) >= 2 else None


def _cross_fitted_scores(
    data: Distributions, documents: Sequence[Hashable], rng: np.random.Generator, level: float
) -> DistributionScores | Undefined:
    if len(documents) < MIN_LABELS or len(set(documents)) < 2:
        return Undefined(why=f"temperature needs {MIN_LABELS} items in 2 or more documents")
    scaled_probabilities = np.empty_like(data.probabilities)
    for fold in iterate_folds(documents, 10, rng):
        temperature = fit_temperature(
            replace(data, probabilities=data.probabilities[~fold], targets=data.targets[~fold])
        )
        if isinstance(temperature, Undefined):
            return temperature
        scaled_probabilities[fold] = apply_temperature(data.probabilities[fold], temperature)
    scaled_data = replace(data, probabilities=scaled_probabilities)
    return score_distributions(scaled_data, documents=documents, level=level)


def normalise_distributions(
    probabilities: FloatArray, targets: FloatArray, levels: ArrayLike
) -> Distributions:
    """Return `Distributions` with normalised rows.

    Raises
    ------
    StatisticsError
        For inconsistent shapes, levels that are not ascending, negative entries, or a row of zeros.
    """
    scale = vector(levels, name="levels")
    if probabilities.shape != targets.shape or probabilities.shape[1:] != scale.shape:
        raise StatisticsError(
            f"expected shapes (n, {scale.size}), got {probabilities.shape!r}, {targets.shape!r}"
        )
    if np.any(np.diff(scale) <= 0):
        raise StatisticsError("levels must be increasing")
    rows = []
    for name, matrix in (("probabilities", probabilities), ("targets", targets)):
        sums = matrix.sum(axis=1, keepdims=True)
        if not np.all(np.isfinite(matrix)) or np.any(matrix < 0.0) or np.any(sums <= 0.0):
            raise StatisticsError(f"{name} must be >= 0, finite, and not all 0 in a row")
        rows.append(matrix / sums)
    return Distributions(probabilities=rows[0], targets=rows[1], levels=scale)


def expected_scores(data: Distributions) -> FloatArray:
    """Return each item's expected level, shape (n,)."""
    return np.asarray(data.probabilities @ data.levels)


def log_losses(data: Distributions) -> FloatArray:
    """Return each item's cross-entropy in nats, shape (n,); probabilities are at least `FLOOR`."""
    logs = np.log(np.maximum(data.probabilities, FLOOR))
    return np.asarray(-(data.targets * logs).sum(axis=1))


def ranked_probability_scores(data: Distributions) -> FloatArray:
    """Return each item's ranked probability score in [0, 1] (Epstein 1969): shape (n,).

    The mean over the k - 1 thresholds of the squared difference of the cumulative distributions.
    """
    gaps = np.cumsum(data.probabilities - data.targets, axis=1)[:, :-1]
    return np.asarray((gaps**2).mean(axis=1))


def score_distributions(
    data: Distributions, *, documents: Sequence[Hashable], level: float = 0.95
) -> DistributionScores:
    """Score distributions; `documents` has the document of each row."""
    top_level = data.probabilities.argmax(axis=1)
    confidence = data.probabilities.max(axis=1)
    is_correct = data.targets[np.arange(top_level.size), top_level]
    return DistributionScores(
        log_loss=clustered_mean(log_losses(data), documents, level=level),
        ranked_probability_score=clustered_mean(
            ranked_probability_scores(data), documents, level=level
        ),
        sharpness=clustered_mean(confidence, documents, level=level),
        calibration_error=_confidence_error(confidence, is_correct),
    )


def fit_temperature(data: Distributions) -> float | Undefined:
    """Return the temperature that minimises the log loss of ``softmax(log p / T)``.

    Source: Guo et al. (2017), section 4.2. The loss is convex in 1 / T, so its derivative has one
    root. T above 1 means that the judge is overconfident, below 1 underconfident. Undefined without
    items, for uniform distributions (T has no effect), or if the best T is outside 0.02 to 50.
    """
    if not len(data.probabilities):
        return Undefined(why="no items")
    logs = np.log(np.maximum(data.probabilities, FLOOR))
    if np.allclose(logs, logs[:, :1], atol=1e-12):
        return Undefined(why="every distribution is uniform: temperature changes nothing")
    observed_log_sum = float((data.targets * logs).sum())

    def slope(inverse_temperature: float) -> float:
        weights = np.exp(
            inverse_temperature * logs
            - logsumexp(inverse_temperature * logs, axis=1, keepdims=True)
        )
        return float((weights * logs).sum()) - observed_log_sum

    inverse_bounds = 1.0 / _MAX_TEMPERATURE, 1.0 / _MIN_TEMPERATURE
    if slope(inverse_bounds[0]) > 0.0:
        return Undefined(
            why=f"the best temperature is above {_MAX_TEMPERATURE:g}: no better than chance"
        )
    if slope(inverse_bounds[1]) < 0.0:
        return Undefined(why=f"the best temperature is below {_MIN_TEMPERATURE:g}: always right")
    return 1.0 / float(brentq(slope, *inverse_bounds, xtol=1e-14, rtol=1e-13))


def apply_temperature(probabilities: FloatArray, temperature: float) -> FloatArray:
    """Return ``softmax(log p / temperature)`` of each row: shape (n, k)."""
    if not temperature > 0.0:
        raise StatisticsError(f"temperature must be above 0, got {temperature!r}")
    logs = np.log(np.maximum(probabilities, FLOOR)) / temperature
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def _confidence_error(confidence: FloatArray, correct: FloatArray) -> float | Undefined:
    """Return the expected calibration error over equal-width bins (Naeini et al. 2015)."""
    if not confidence.size:
        return Undefined(why="no items")
    bins = np.minimum((confidence * _N_BINS).astype(np.intp), _N_BINS - 1)
    gaps = np.bincount(bins, weights=confidence - correct, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / confidence.size)
