"""P-values of permutation tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray

Alternative: TypeAlias = Literal["greater", "less", "two-sided"]

_ROUNDING = 1e-12
"""Relative tolerance within which a permuted value equals the observed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """The result of a permutation test.

    ``p_value`` is ``(1 + #{permuted >= observed}) / (1 + n)`` (Phipson and Smyth 2010), never 0.
    With all permutations (``exact``), which include the observed one, it is
    ``#{permuted >= observed} / n``. ``p_value_strict`` is ``#{permuted > observed} / n``, which
    some papers report and which can be 0. The formulas are for the alternative ``"greater"``.
    """

    observed: float
    p_value: float
    p_value_strict: float
    n_permutations: int
    alternative: Alternative
    exact: bool = False

    @property
    def p_floor(self) -> float:
        """The smallest possible ``p_value`` with this number of permutations."""
        return 1 / (self.n_permutations if self.exact else 1 + self.n_permutations)


def compare_permutations(
    observed: float,
    permuted: FloatArray,
    *,
    alternative: Alternative = "greater",
    exact: bool = False,
) -> PermutationTest:
    """Test `observed` against its values under permutations, `permuted`, shape (n,).

    A two-sided test compares absolute values. With `exact`, `permuted` must contain all
    permutations, including the observed one.
    """
    if not permuted.size:
        raise StatisticsError("a permutation test needs at least one permutation")
    statistics, target = permuted, observed
    if alternative == "less":
        statistics, target = -permuted, -observed
    elif alternative == "two-sided":
        statistics, target = np.abs(permuted), abs(observed)
    tolerance = _ROUNDING * max(1.0, abs(target))
    n_at_least = int(np.count_nonzero(statistics >= target - tolerance))
    n_above = int(np.count_nonzero(statistics > target + tolerance))
    return PermutationTest(
        observed=observed,
        p_value=n_at_least / permuted.size if exact else (1 + n_at_least) / (1 + permuted.size),
        p_value_strict=n_above / permuted.size,
        n_permutations=int(permuted.size),
        alternative=alternative,
        exact=exact,
    )
