"""The odds ratio of two groups from the exact conditional distribution of counts.

Bounds and test are available even if the ratio is undefined, such as for a summarizer that mentions
no person of a group, or if there are too few originals for a bootstrap.
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

_MAX_LOG_ODDS = 700.0
"""Largest logarithm of a finite odds ratio; larger ratios count as unbounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactOdds:
    """Bounds of an odds ratio at ``level`` (None if unbounded), and a two-sided test against 1.

    Conditional on the number of source people that a summary mentions, the mentioned people are a
    draw without replacement in which the odds of one group are a multiple of the other's (Fisher's
    noncentral hypergeometric distribution, summed over sources; Gart 1970). Both tails are doubled,
    so the p-value is below 1 - level exactly if the interval excludes 1.
    """

    low: float | None
    high: float | None
    p_value: float
    level: float = 0.95

    @property
    def min_ratio(self) -> float:
        """The smallest possible ratio of larger to smaller odds; 1 if the odds may be equal."""
        return max(self.low or 0.0, 1.0 / self.high if self.high else 1.0, 1.0)


def exact_odds(
    included: FloatArray,
    in_source: FloatArray,
    sources: Sequence[Hashable],
    *,
    level: float = 0.95,
) -> ExactOdds | Undefined:
    """Bound the ratio of the first group's odds of inclusion to the second group's.

    Parameters
    ----------
    included, present : arrays of shape (n, 2)
        Number of mentioned people, and of source people, by summary and group.
    sources
        The source of each summary; counts of the same source are summed.

    Returns
    -------
    ExactOdds or Undefined
        Undefined if in every source all people are of one group, or its summaries mention all or
        none of them.
    """
    source_codes, names = codes(list(sources))
    counts = totals(np.hstack([included, in_source]), source_codes, len(names)).astype(np.intp)
    observed, total = counts[:, 0], counts[:, 0] + counts[:, 1]
    minimum = np.maximum(0, total - counts[:, 3])
    maximum = np.minimum(total, counts[:, 2])
    if not (maximum > minimum).any():
        return Undefined(why="no source has people of both groups, some mentioned and some not")
    weights = np.zeros(1)
    for row in np.flatnonzero(maximum > minimum):
        choices = np.arange(minimum[row], maximum[row] + 1)
        weights = _convolve(
            weights,
            _log_choose(counts[row, 2], choices)
            + _log_choose(counts[row, 3], total[row] - choices),
        )
    return _exact_odds(weights, int((observed - minimum).sum()), level)


def _log_choose(n: int, k: FloatArray) -> FloatArray:
    log_binomial: FloatArray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return log_binomial


def _convolve(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the logarithms of the weights of the sum of two counts."""
    log_terms = np.full((second.size, first.size + second.size - 1), -np.inf)
    for shift, weight in enumerate(second):
        log_terms[shift, shift : shift + first.size] = first + weight
    total: FloatArray = logsumexp(log_terms, axis=0)
    return total


def _exact_odds(weights: FloatArray, observed: int, level: float) -> ExactOdds:
    """Return bounds for `observed`, an index of `weights`, the log weights at a ratio of 1."""
    values = np.arange(weights.size)

    def log_tail(log_ratio: float, cells: slice) -> float:
        terms = weights + values * log_ratio
        return float(logsumexp(terms[cells]) - logsumexp(terms))

    def bound(cells: slice) -> float:
        """Return the ratio at which a tail has probability (1 - level) / 2."""
        target = log((1.0 - level) / 2.0)
        return exp(
            brentq(lambda ratio: log_tail(ratio, cells) - target, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
        )

    upper_tail, lower_tail = slice(observed, None), slice(observed + 1)
    return ExactOdds(
        low=bound(upper_tail) if observed else None,
        high=bound(lower_tail) if observed < weights.size - 1 else None,
        p_value=min(1.0, 2.0 * exp(min(log_tail(0.0, upper_tail), log_tail(0.0, lower_tail)))),
        level=level,
    )
