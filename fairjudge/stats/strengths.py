"""Strengths of systems compared in pairs (Davidson's model), for many resamples at once.

Davidson (1970), as in `fairjudge.calibration.ranking` but without the term for position: with
log-strengths s and log tie weight v, P(a), P(b), P(tie) are proportional to exp(d / 2),
exp(-d / 2), exp(v), where ``d = s_a - s_b``. Fitted by Newton's method to tables of wins by pair.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fairjudge.stats._arrays import FloatArray, IntArray

RIDGE = 1e-4
"""Penalty on coefficients: fixes the sum of strengths, and keeps that of a sole winner finite."""
_MAX_STEPS = 100
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-8
_CELLS_AT_ONCE = 2_000_000
"""Maximum size of the information matrices in memory: resamples times coefficients squared."""


Connection: TypeAlias = Literal["weak", "strong"]


def count_parts(
    pairs: tuple[IntArray, IntArray], n_systems: int, connection: Connection = "weak"
) -> int:
    """Return the number of connected components of systems under directed `pairs`, (p,) each."""
    graph = csr_array((np.ones(pairs[0].size), pairs), shape=(n_systems,) * 2)
    return int(connected_components(graph, directed=True, connection=connection)[0])


def strengths(outcomes: FloatArray, places: IntArray, n_systems: int) -> FloatArray:
    """Return the strengths for r tables of outcomes, shape (r, n_systems); rows sum to 0.

    Parameters
    ----------
    outcomes
        Numbers of wins of the first system, of the second, and of ties: shape (r, p, 3).
    places
        The pairs, as indices of systems: shape (p, 2).
    """
    size = max(1, _CELLS_AT_ONCE // (n_systems + 1) ** 2)
    parts = [outcomes[place : place + size] for place in range(0, len(outcomes), size)]
    every = np.concatenate([_maxima(part, places, n_systems)[:, :-1] for part in parts])
    return np.asarray(every - every.mean(axis=1, keepdims=True))


def _maxima(outcomes: FloatArray, places: IntArray, n_systems: int) -> FloatArray:
    """Return the penalised maximum-likelihood coefficients, shape (r, n_systems + 1).

    The first `n_systems` columns are the strengths, the last is the log tie weight.
    """
    design = np.eye(n_systems)[places[:, 0]] - np.eye(n_systems)[places[:, 1]]
    beta = np.zeros((len(outcomes), n_systems + 1))
    moving = np.arange(len(outcomes))
    for _ in range(_MAX_STEPS):
        step = _step(outcomes[moving], beta[moving], design)
        longest = np.max(np.abs(step), axis=1)
        beta[moving] += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))[:, None]
        moving = moving[longest >= _TOLERANCE]
        if not moving.size:
            break
    return beta


def _step(outcomes: FloatArray, beta: FloatArray, design: FloatArray) -> FloatArray:
    """Return Newton's step for each table, shape of `beta`."""
    k = design.shape[1]
    n = outcomes.sum(axis=2)
    d = beta[:, :k] @ design.T
    weight = np.stack([d / 2, -d / 2, np.broadcast_to(beta[:, k:], d.shape)], axis=2)
    p = np.exp(weight - weight.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    lean = p[:, :, 0] - p[:, :, 1]
    residual = (outcomes[:, :, 0] - outcomes[:, :, 1] - n * lean) / 2
    score = np.empty_like(beta)
    score[:, :k] = residual @ design
    score[:, k] = np.sum(outcomes[:, :, 2] - n * p[:, :, 2], axis=1)
    information = np.empty((len(beta), k + 1, k + 1))
    spread = n * (p[:, :, 0] + p[:, :, 1] - lean**2) / 4
    information[:, :k, :k] = np.einsum("rp,pi,pj->rij", spread, design, design, optimize=True)
    information[:, :k, k] = (-n * p[:, :, 2] * lean / 2) @ design
    information[:, k, :k] = information[:, :k, k]
    information[:, k, k] = np.sum(n * p[:, :, 2] * (1 - p[:, :, 2]), axis=1)
    information += RIDGE * np.eye(k + 1)
    right = score - RIDGE * beta
    return np.asarray(np.linalg.solve(information, right[:, :, None])[:, :, 0])
