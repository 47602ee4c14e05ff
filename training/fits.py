"""Fits that turn what heads say into probabilities, by penalised likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fairjudge.scorers.trained_models import logistic
from training.data import UNSUPPORTED
from training.statements import fit_weights


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
