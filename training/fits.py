"""Calibration of the heads' outputs to probabilities, by penalised likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fairjudge.scorers.trained_models import logistic
from training.data import UNSUPPORTED


def fit_support(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Fit a factor, and a constant per class, by maximum likelihood; the constants sum to 0."""

    def loss(x: NDArray[np.float64]) -> float:
        constants = np.array([x[1], x[2], -x[1] - x[2]])
        scores = logits[:, :3] * np.exp(x[0]) + constants
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        log_not_supported = np.logaddexp(logs[:, 1], logs[:, 2])
        log_p = logs[np.arange(len(logs)), np.minimum(labels, 2)]
        return float(-np.where(labels == UNSUPPORTED, log_not_supported, log_p).mean())

    x = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"maxiter": 600}).x
    return np.array([np.exp(x[0]), x[1], x[2], -x[1] - x[2]])


def fit_logistic(
    features: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    penalty: float,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return nonnegative coefficients and the constant, by penalised likelihood.

    Every feature is evidence for the positive class, so that a negative coefficient would overfit.
    """
    signs = 2.0 * labels - 1.0
    sample_weights = np.ones(len(labels)) if weights is None else weights

    def loss(scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * scores
        value = float(sample_weights @ np.logaddexp(0.0, -margins))
        return value, -(sample_weights * signs * logistic(-margins))

    return fit_weights(features, loss, penalty=penalty)


def fit_weights(
    features: NDArray[np.float64],
    loss: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    *,
    penalty: float,
) -> NDArray[np.float64]:
    """Return nonnegative coefficients of (n, k) features, and the constant.

    `loss` takes n scores and returns the loss and its gradient; `penalty` is an L2 penalty on the
    coefficients of standardised features.
    """
    scale, mean = features.std(axis=0) + 1e-9, features.mean(axis=0)
    inputs = np.column_stack(((features - mean) / scale, np.ones(len(features))))

    def penalised_loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slopes = loss(inputs @ x)
        slope = slopes @ inputs
        slope[:-1] += penalty * x[:-1]
        return float(value + penalty / 2 * x[:-1] @ x[:-1]), slope

    bounds = [(0.0, None)] * features.shape[1] + [(None, None)]
    x = minimize(
        penalised_loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B"
    ).x
    coefficients = x[:-1] / scale
    return np.array([*coefficients, x[-1] - coefficients @ mean])
