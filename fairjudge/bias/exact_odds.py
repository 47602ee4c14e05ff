"""The odds ratio of two groups by the exact conditional distribution of counts.

It has bounds and a test where the ratio itself has no value, as for a summarizer that names nobody
of a group, and where originals are too few for a bootstrap.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray, codes, totals

_WIDEST = 700.0
"""Largest logarithm of a finite odds ratio; beyond it the ratio counts as unbounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactOdds:
    """Bounds of an odds ratio at ``level``, None where there is none, and a two-sided test of 1.

    Given how many people of each source a summary names, which of them these are is a draw without
    replacement in which the odds of one group are a multiple of the other's (Fisher's noncentral
    hypergeometric distribution, summed over sources; Gart 1970). Both tails are doubled, so the
    p-value is below 1 - level just where the interval leaves 1 out.
    """

    low: float | None
    high: float | None
    p_value: float
    level: float = 0.95

    @property
    def farthest(self) -> float:
        """The least ratio, whichever group comes first; 1 where the odds may be equal."""
        return max(self.low or 0.0, 1.0 / self.high if self.high else 1.0, 1.0)


def exact_odds(
    included: FloatArray,
    present: FloatArray,
    sources: Sequence[Hashable],
    *,
    level: float = 0.95,
) -> ExactOdds | Undefined:
    """Bound the odds of inclusion of the first group over those of the second.

    Parameters
    ----------
    included, present : arrays of shape (n, 2)
        People named, and people there, by summary and group.
    sources
        What each summary is of; counts of one source are summed.

    Returns
    -------
    ExactOdds or Undefined
        Undefined where no source leaves a choice: all its people are of one group, or its
        summaries name nobody or everybody.
    """
    coded, names = codes(list(sources))
    counts = totals(np.hstack([included, present]), coded, len(names)).astype(np.intp)
    first, total = counts[:, 0], counts[:, 0] + counts[:, 1]
    least = np.maximum(0, total - counts[:, 3])
    most = np.minimum(total, counts[:, 2])
    if not (most > least).any():
        return Undefined(why="no source has people of both groups, some named and some not")
    weights = np.zeros(1)
    for row in np.flatnonzero(most > least):
        choices = np.arange(least[row], most[row] + 1)
        weights = _convolved(
            weights,
            _log_choose(counts[row, 2], choices)
            + _log_choose(counts[row, 3], total[row] - choices),
        )
    return _bounded(weights, int((first - least).sum()), level)


def _log_choose(n: int, k: FloatArray) -> FloatArray:
    log_binomial: FloatArray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return log_binomial


def _convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the logarithms of the weights of the sum of two counts."""
    out = np.full((second.size, first.size + second.size - 1), -np.inf)
    for shift, weight in enumerate(second):
        out[shift, shift : shift + first.size] = first + weight
    total: FloatArray = logsumexp(out, axis=0)
    return total


def _bounded(weights: FloatArray, observed: int, level: float) -> ExactOdds:
    """Return bounds for `observed`, a place in the logarithms of `weights` at a ratio of 1."""
    places = np.arange(weights.size)

    def log_tail(log_ratio: float, cells: slice) -> float:
        terms = weights + places * log_ratio
        return float(logsumexp(terms[cells]) - logsumexp(terms))

    def bound(cells: slice) -> float:
        """Return the ratio at which a tail has half of what the level leaves."""
        target = log((1.0 - level) / 2.0)
        return exp(brentq(lambda ratio: log_tail(ratio, cells) - target, -_WIDEST, _WIDEST))

    at_least, at_most = slice(observed, None), slice(observed + 1)
    return ExactOdds(
        low=bound(at_least) if observed else None,
        high=bound(at_most) if observed < weights.size - 1 else None,
        p_value=min(1.0, 2.0 * exp(min(log_tail(0.0, at_least), log_tail(0.0, at_most)))),
        level=level,
    )
