"""Logistic regression by Newton's method, with a cluster-robust variance over documents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, document_codes, totals, vector
from fairjudge.text.counting import pluralize

_MAX_STEPS = 200
_MAX_HALVINGS = 30
_TOLERANCE = 1e-18
_MAX_CONDITION = 1e14


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticFit:
    """Coefficients, shape (k,), and their cluster-robust (sandwich) covariance, shape (k, k)."""

    coefficients: FloatArray
    covariance: FloatArray
    n_documents: int


def fit_logistic(
    design: FloatArray,
    targets: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
    ridge: ArrayLike = 0.0,
) -> LogisticFit | Undefined:
    """Fit P(target) = 1 / (1 + exp(-design @ coefficients)) by (quasi-)maximum likelihood.

    Parameters
    ----------
    design : array of shape (n, k)
        For an intercept, include a column of ones.
    targets : array of shape (n,), in [0, 1]
        Fractional targets, such as 0.5 for a tie, are allowed (Papke and Wooldridge 1996).
    documents
        The clusters of the sandwich covariance; by default each row is its own document.
    ridge : number or array of shape (k,)
        Penalty ``ridge / 2 * coefficient^2``; 0 is maximum likelihood.

    Returns
    -------
    LogisticFit or Undefined
        Undefined without `ridge` if the likelihood has no finite maximum (perfect separation or
        collinear columns).
    """
    y = vector(targets, name="targets")
    if design.ndim != 2 or len(design) != y.size:
        raise StatisticsError(
            f"expected a design of {pluralize(y.size, 'row')}, got shape {design.shape!r}"
        )
    if np.any((y < 0.0) | (y > 1.0)):
        raise StatisticsError("targets must lie in [0, 1]")
    penalty = np.broadcast_to(np.asarray(ridge, dtype=np.float64), (design.shape[1],))
    problem = _Problem(design=design, targets=y, penalty=penalty)
    coefficients = _newton(problem)
    if coefficients is None:
        return Undefined(why="the logistic model has no finite fit: separated or collinear data")
    row_documents, n_documents = document_codes(documents, y.size)
    inverse = np.linalg.inv(problem.information(coefficients))
    residuals = y - expit(design @ coefficients)
    scores = totals(design * residuals[:, None], row_documents, n_documents)
    correction = n_documents / (n_documents - 1) if n_documents > 1 else 1.0
    return LogisticFit(
        coefficients=coefficients,
        covariance=correction * inverse @ (scores.T @ scores) @ inverse,
        n_documents=n_documents,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """The penalised negative log-likelihood, which is convex."""

    design: FloatArray
    targets: FloatArray
    penalty: FloatArray

    def loss(self, beta: FloatArray) -> float:
        eta = self.design @ beta
        misfit = np.sum(np.logaddexp(0.0, eta) - self.targets * eta)
        return float(misfit + 0.5 * np.sum(self.penalty * beta**2))

    def descent(self, beta: FloatArray) -> FloatArray:
        """Return the negative gradient."""
        residuals = self.targets - expit(self.design @ beta)
        return np.asarray(self.design.T @ residuals - self.penalty * beta)

    def information(self, beta: FloatArray) -> FloatArray:
        probabilities = expit(self.design @ beta)
        weighted_design = self.design * (probabilities * (1.0 - probabilities))[:, None]
        return np.asarray(self.design.T @ weighted_design + np.diag(self.penalty))

    def diverges(self, beta: FloatArray) -> bool:
        """Return whether unpenalised probabilities approach 0 or 1."""
        return not np.any(self.penalty) and float(np.max(np.abs(self.design @ beta))) > 30.0


def _newton(problem: _Problem) -> FloatArray | None:
    """Return the coefficients that minimise the loss; None if there is no minimum."""
    beta: FloatArray = np.zeros(problem.design.shape[1])
    for _ in range(_MAX_STEPS):
        descent, information = problem.descent(beta), problem.information(beta)
        if np.linalg.cond(information) > _MAX_CONDITION or problem.diverges(beta):
            return None
        step: FloatArray = np.asarray(np.linalg.solve(information, descent), dtype=np.float64)
        if float(descent @ step) < _TOLERANCE:
            return np.asarray(beta + step)
        beta = _damped_step(problem, beta, step)
    return None


def _damped_step(problem: _Problem, beta: FloatArray, step: FloatArray) -> FloatArray:
    """Return `beta` plus the step, which is halved until the loss does not increase."""
    loss = problem.loss(beta)
    for _ in range(_MAX_HALVINGS):
        new_beta = np.asarray(beta + step)
        if problem.loss(new_beta) <= loss * (1.0 + 1e-12):
            return new_beta
        step = step / 2.0
    return np.asarray(beta + step)
