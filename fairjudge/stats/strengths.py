"""Strengths of systems compared in pairs (Davidson's model), vectorised over resamples.

The model of Davidson (1970), as in `fairjudge.calibration.ranking` but without a position effect:
with log-strengths s and log tie weight v, P(a), P(b), P(tie) are proportional to exp(d / 2),
exp(-d / 2), exp(v), where ``d = s_a - s_b``. It is fitted with Newton's method.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fairjudge.stats._arrays import FloatArray, IntArray

RIDGE = 1e-4
"""Penalty on coefficients: fixes the sum of strengths and keeps an undefeated system's finite."""
_MAX_STEPS = 100
_MAX_STEP = 2.0
_TOLERANCE = 1e-8
_MAX_CELLS = 2_000_000
"""Maximum number of entries of information matrices in memory (resamples x coefficients^2)."""


Connection: TypeAlias = Literal["weak", "strong"]


def count_components(
    pairs: tuple[IntArray, IntArray], n_systems: int, connection: Connection = "weak"
) -> int:
    """Count the connected components of the graph whose edges are `pairs` of systems, (p,) each."""
    graph = csr_array((np.ones(pairs[0].size), pairs), shape=(n_systems,) * 2)
    return int(connected_components(graph, directed=True, connection=connection)[0])


def strengths(outcomes: FloatArray, pairs: IntArray, n_systems: int) -> FloatArray:
    """Fit the strengths of r tables of outcomes, shape (r, n_systems); rows sum to 0.

    Parameters
    ----------
    outcomes
        Number of wins of the first system, wins of the second, and ties: shape (r, p, 3).
    pairs
        Indices of the two systems of each pair: shape (p, 2).
    """
    chunk_size = max(1, _MAX_CELLS // (n_systems + 1) ** 2)
    chunks = [outcomes[start : start + chunk_size] for start in range(0, len(outcomes), chunk_size)]
    coefficients = np.concatenate([_maximise(chunk, pairs, n_systems)[:, :-1] for chunk in chunks])
    return np.asarray(coefficients - coefficients.mean(axis=1, keepdims=True))


def _maximise(outcomes: FloatArray, pairs: IntArray, n_systems: int) -> FloatArray:
    """Return penalised maximum-likelihood coefficients, shape (r, n_systems + 1).

    The first `n_systems` columns are strengths, the last is the log tie weight.
    """
    design = np.eye(n_systems)[pairs[:, 0]] - np.eye(n_systems)[pairs[:, 1]]
    beta = np.zeros((len(outcomes), n_systems + 1))
    active = np.arange(len(outcomes))
    for _ in range(_MAX_STEPS):
        step = _newton_step(outcomes[active], beta[active], design)
        step_sizes = np.max(np.abs(step), axis=1)
        beta[active] += step * np.minimum(1.0, _MAX_STEP / np.maximum(step_sizes, 1e-300))[:, None]
        active = active[step_sizes >= _TOLERANCE]
        if not active.size:
            break
    return beta


def _newton_step(outcomes: FloatArray, beta: FloatArray, design: FloatArray) -> FloatArray:
    """Return the Newton step of each table, shape of `beta`."""
    k = design.shape[1]
    n = outcomes.sum(axis=2)
    d = beta[:, :k] @ design.T
    log_weights = np.stack(
        [
            d / 2,
            -d / 2,
            np.broadcast_to(beta[:, k:], d.shape),
        ],
        axis=2,
    )
    p = np.exp(log_weights - log_weights.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    win_difference = p[:, :, 0] - p[:, :, 1]
    residual = (outcomes[:, :, 0] - outcomes[:, :, 1] - n * win_difference) / 2
    score = np.empty_like(beta)
    score[:, :k] = residual @ design
    score[:, k] = np.sum(outcomes[:, :, 2] - n * p[:, :, 2], axis=1)
    information = np.empty((len(beta), k + 1, k + 1))
    score_variance = n * (p[:, :, 0] + p[:, :, 1] - win_difference**2) / 4
    information[:, :k, :k] = np.einsum(
        "rp,pi,pj->rij", score_variance, design, design, optimize=True
    )
    information[:, :k, k] = (-n * p[:, :, 2] * win_difference / 2) @ design
    information[:, k, :k] = information[:, :k, k]
    information[:, k, k] = np.sum(n * p[:, :, 2] * (1 - p[:, :, 2]), axis=1)
    information += RIDGE * np.eye(k + 1)
    gradient = score - RIDGE * beta
    return np.asarray(np.linalg.solve(information, gradient[:, :, None])[:, :, 0])
