"""Permutation tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray

Alternative: TypeAlias = Literal["greater", "less", "two-sided"]

_ROUNDING = 1e-12
"""Relative difference up to which permuted values count as equal to the observed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """A statistic against its permutation distribution.

    ``p_value`` is ``(1 + #{permuted >= observed}) / (1 + n)`` (Phipson and Smyth 2010), never 0.
    All permutations (``exact``) hold the observed one, which is the 1 that this formula adds: it is
    then ``#{permuted >= observed} / n``.
    ``p_value_strict`` is ``#{permuted > observed} / n``, which some papers print and which can
    be 0. Signs are changed for the other alternatives.
    """

    observed: float
    p_value: float
    p_value_strict: float
    n_permutations: int
    alternative: Alternative
    exact: bool = False

    @property
    def p_floor(self) -> float:
        """The smallest ``p_value`` that these permutations can give."""
        return 1 / (self.n_permutations if self.exact else 1 + self.n_permutations)


def compare(
    observed: float,
    permuted: FloatArray,
    *,
    alternative: Alternative = "greater",
    exact: bool = False,
) -> PermutationTest:
    """Compare `observed` with `permuted`, shape (n,); two-sided, by absolute values.

    `permuted` has all permutations, the observed one among them, where it is `exact`.
    """
    if not permuted.size:
        raise StatisticsError("a permutation test needs at least one permutation")
    turned, target = permuted, observed
    if alternative == "less":
        turned, target = -permuted, -observed
    elif alternative == "two-sided":
        turned, target = np.abs(permuted), abs(observed)
    slack = _ROUNDING * max(1.0, abs(target))
    at_least = int(np.count_nonzero(turned >= target - slack))
    above = int(np.count_nonzero(turned > target + slack))
    return PermutationTest(
        observed=observed,
        p_value=at_least / permuted.size if exact else (1 + at_least) / (1 + permuted.size),
        p_value_strict=above / permuted.size,
        n_permutations=int(permuted.size),
        alternative=alternative,
        exact=exact,
    )
