"""Fits that turn what heads say into probabilities, by penalised likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fairjudge.scorers.trained_models import logistic
from training.data import UNSUPPORTED


def fit_support(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Fit a factor and a constant a class by maximum likelihood; the constants sum to 0."""

    def loss(x: NDArray[np.float64]) -> float:
        constants = np.array([x[1], x[2], -x[1] - x[2]])
        scores = logits[:, :3] * np.exp(x[0]) + constants
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        either = np.logaddexp(logs[:, 1], logs[:, 2])
        log_p = logs[np.arange(len(logs)), np.minimum(labels, 2)]
        return float(-np.where(labels == UNSUPPORTED, either, log_p).mean())

    x = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"maxiter": 600}).x
    return np.array([np.exp(x[0]), x[1], x[2], -x[1] - x[2]])


def fit_logistic(
    features: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    penalty: float,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return coefficients, none below 0, and then the constant, by penalised likelihood.

    Every feature speaks for a yes, so that a coefficient below 0 would only fit what is particular
    to the data.
    """
    signs = 2.0 * labels - 1.0
    shares = np.ones(len(labels)) if weights is None else weights

    def loss(scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * scores
        value = float(shares @ np.logaddexp(0.0, -margins))
        return value, -(shares * signs * logistic(-margins))

    return fit_weights(features, loss, penalty=penalty)


def fit_weights(
    features: NDArray[np.float64],
    loss: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    *,
    penalty: float,
) -> NDArray[np.float64]:
    """Return coefficients of (n, k) features, none below 0, and then the constant.

    `loss` takes n scores and returns what is minimised and its slope by each score; `penalty` is on
    the coefficients' squares, of standardised features.
    """
    scale, mean = features.std(axis=0) + 1e-9, features.mean(axis=0)
    inputs = np.column_stack(((features - mean) / scale, np.ones(len(features))))

    def penalised(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slopes = loss(inputs @ x)
        slope = slopes @ inputs
        slope[:-1] += penalty * x[:-1]
        return float(value + penalty / 2 * x[:-1] @ x[:-1]), slope

    bounds = [(0.0, None)] * features.shape[1] + [(None, None)]
    x = minimize(penalised, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B").x
    coefficients = x[:-1] / scale
    return np.array([*coefficients, x[-1] - coefficients @ mean])
