"""Target and actual shares of values, and the formulas of Proportional Representation.

FairSumm, sections 3 to 5. All results are shares in [0, 1]; reports show percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.fairness.distributions import Target, ValueDistribution, target_shares
from fairjudge.fairness.measures import SampleMatrices
from fairjudge.stats._arrays import BoolArray, FloatArray

AucVariant: TypeAlias = Literal["exact", "ten-point"]

TAU = 0.8
"""A value is under-represented below this fraction of its target share (FairSumm, section 5)."""
_TEN_POINTS = np.arange(1, 11) / 10
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(SampleMatrices):
    """All samples as matrices of shape (n_samples, n_values), columns as in ``values``.

    ``targets`` is p_g and ``actual`` is p_y; both are 0 where a sample's source lacks the value.
    A value is under-represented if p_y < tau p_g, or, if ``inclusive`` (as in the authors' code),
    if p_y <= tau p_g.
    """

    targets: FloatArray
    actual: FloatArray
    tau: float = TAU
    inclusive: bool = False

    @property
    def takes_part(self) -> BoolArray:
        """Whether p_g > 0, shape (n_samples, n_values)."""
        return self.targets > 0.0


def collect(
    distributions: Sequence[ValueDistribution],
    *,
    target: Target = "ratio",
    tau: float = TAU,
    inclusive: bool = False,
) -> Shares:
    """Return the samples as matrices.

    Raises
    ------
    StatisticsError
        The target gives no weight to any value of some sample; exclude such samples first.
    """
    values = tuple(sorted({value for d in distributions for value in d.values}))
    column = {value: index for index, value in enumerate(values)}
    targets, actual = np.zeros((2, len(distributions), len(values)))
    for row, distribution in enumerate(distributions):
        shares = target_shares(distribution, target)
        if isinstance(shares, Undefined):
            raise StatisticsError(f"sample {row}: {shares.why}")
        columns = [column[value] for value in distribution.values]
        targets[row, columns] = shares
        actual[row, columns] = distribution.summary
    return Shares(values=values, targets=targets, actual=actual, tau=tau, inclusive=inclusive)


def underrepresentation(shares: Shares, *, tau: float | None = None) -> BoolArray:
    """Return whether p_y < tau p_g, shape (n_samples, n_values); False where p_g is 0.

    The default of `tau` is ``shares.tau``. Differences within rounding count as equality, see
    ``shares.inclusive``.
    """
    fraction = shares.tau if tau is None else tau
    tolerance = _ROUNDING if shares.inclusive else -_ROUNDING
    return np.asarray(shares.takes_part & (shares.actual < fraction * shares.targets + tolerance))


def binary_unfairness(shares: Shares, *, tau: float | None = None) -> BoolArray:
    """Return whether any value is under-represented, for each sample (equation 1).

    The default of `tau` is ``shares.tau``.
    """
    return np.asarray(underrepresentation(shares, tau=tau).any(axis=1))


def shortfalls(shares: Shares) -> FloatArray:
    """Return max(0, p_g - p_y), the terms of UER, shape (n_samples, n_values)."""
    return np.where(shares.takes_part, np.maximum(0.0, shares.targets - shares.actual), 0.0)


def unfair_error_rates(shares: Shares) -> FloatArray:
    """Return the UER of each sample (equation 2): the mean shortfall of its values.

    Version 1 of the paper prints the difference with the opposite sign; this is version 2's.
    """
    result: FloatArray = shortfalls(shares).sum(axis=1) / shares.takes_part.sum(axis=1)
    return result


def area_under_curve(shares: Shares, *, variant: AucVariant = "exact") -> FloatArray:
    """Return the integral of BUR over tau in [0, 1], for each sample (equation 3).

    A sample is unfair for every tau above its minimum of p_y / p_g, so the integral is exactly
    1 - min(1, min p_y / p_g). ``"ten-point"`` is the mean over tau = 0.1, 0.2 ... 1, as in the
    paper.
    """
    if variant == "ten-point":
        mean_unfair: FloatArray = np.mean(
            [binary_unfairness(shares, tau=float(tau)) for tau in _TEN_POINTS], axis=0
        )
        return mean_unfair
    ratio = np.ones_like(shares.targets)
    np.divide(shares.actual, shares.targets, out=ratio, where=shares.takes_part)
    result: FloatArray = 1.0 - np.minimum(1.0, ratio.min(axis=1, initial=1.0))
    return result


def second_order_fairness(shares: Shares, counts: FloatArray | None = None) -> FloatArray:
    """Return the second-order fairness of a data set (equation 4).

    Each value's shortfall is averaged over the samples in which p_g > 0; the result is the mean
    absolute deviation of these averages from their average, shape (r,); NaN if there is no such
    value. `counts`, shape (r, n_samples), are multiplicities of the samples; 1 by default.
    """
    weights = np.ones((1, len(shares.targets))) if counts is None else counts
    sums = weights @ shortfalls(shares)
    n_samples = weights @ shares.takes_part.astype(np.float64)
    is_present = n_samples > 0.0
    means = np.divide(sums, n_samples, out=np.zeros_like(sums), where=is_present)
    n_values = is_present.sum(axis=1)
    divisor = np.maximum(1, n_values)
    centre = means.sum(axis=1) / divisor
    spread = np.where(is_present, np.abs(means - centre[:, None]), 0.0).sum(axis=1) / divisor
    return np.where(n_values > 0, spread, np.nan)
