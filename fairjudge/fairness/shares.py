"""Shares of values, wanted and got, and the formulas of Proportional Representation on them.

FairSumm, sections 3 to 5. Everything here is a share in [0, 1]; reports multiply by 100. 0 is fair.
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
"""A value is under-represented below this part of its wanted share (FairSumm, section 5)."""
_TEN_POINTS = np.arange(1, 11) / 10
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(SampleMatrices):
    """All samples as matrices of shape (n_samples, n_values), columns as in ``values``.

    ``wanted`` is p_g and ``got`` is p_y; both are 0 where a sample's source lacks the value.
    A value is under-represented where p_y < tau p_g; ``at_most`` says whether p_y = tau p_g is so
    too, as the authors' code has it.
    """

    wanted: FloatArray
    got: FloatArray
    tau: float = TAU
    at_most: bool = False

    @property
    def takes_part(self) -> BoolArray:
        """Where p_g > 0, shape (n_samples, n_values)."""
        return self.wanted > 0.0


def collect(
    distributions: Sequence[ValueDistribution],
    *,
    target: Target = "ratio",
    tau: float = TAU,
    at_most: bool = False,
) -> Shares:
    """Lay the samples out as matrices.

    Raises
    ------
    StatisticsError
        The target gives no weight to any value of some sample; leave such samples out first.
    """
    values = tuple(sorted({value for d in distributions for value in d.values}))
    column = {value: place for place, value in enumerate(values)}
    targets, actual = np.zeros((2, len(distributions), len(values)))
    for row, distribution in enumerate(distributions):
        shares = target_shares(distribution, target)
        if isinstance(shares, Undefined):
            raise StatisticsError(f"sample {row}: {shares.why}")
        places = [column[value] for value in distribution.values]
        targets[row, places] = shares
        actual[row, places] = distribution.summary
    return Shares(values=values, wanted=targets, got=actual, tau=tau, at_most=at_most)


def under_represented(shares: Shares, *, tau: float | None = None) -> BoolArray:
    """Where p_y < tau p_g, shape (n_samples, n_values); False where p_g is 0.

    `tau` is that of the shares where None. Differences within rounding are none: such values count
    where ``shares.at_most`` says so.
    """
    part = shares.tau if tau is None else tau
    rounding = _ROUNDING if shares.at_most else -_ROUNDING
    return np.asarray(shares.takes_part & (shares.got < part * shares.wanted + rounding))


def binary_unfair(shares: Shares, *, tau: float | None = None) -> BoolArray:
    """Return for each sample whether any value is under-represented (equation 1).

    `tau` is that of the shares where None.
    """
    return np.asarray(under_represented(shares, tau=tau).any(axis=1))


def shortfalls(shares: Shares) -> FloatArray:
    """Return max(0, p_g - p_y), the terms of UER, shape (n_samples, n_values)."""
    return np.where(shares.takes_part, np.maximum(0.0, shares.wanted - shares.got), 0.0)


def unfair_error(shares: Shares) -> FloatArray:
    """Return the UER of each sample (equation 2): the mean shortfall of its values.

    Version 1 of the paper prints the difference with the opposite sign; this is version 2's.
    """
    result: FloatArray = shortfalls(shares).sum(axis=1) / shares.takes_part.sum(axis=1)
    return result


def area_under_curve(shares: Shares, *, variant: AucVariant = "exact") -> FloatArray:
    """Return for each sample the integral of BUR over tau in [0, 1] (equation 3).

    A sample is unfair for every tau above its least p_y / p_g, so the integral is exactly
    1 - min(1, min p_y / p_g). ``"ten-point"`` is the mean over tau = 0.1, 0.2 ... 1, as the
    paper samples it.
    """
    if variant == "ten-point":
        unfair: FloatArray = np.mean(
            [binary_unfair(shares, tau=float(tau)) for tau in _TEN_POINTS], axis=0
        )
        return unfair
    ratio = np.ones_like(shares.wanted)
    np.divide(shares.got, shares.wanted, out=ratio, where=shares.takes_part)
    result: FloatArray = 1.0 - np.minimum(1.0, ratio.min(axis=1, initial=1.0))
    return result


def second_order(shares: Shares, counts: FloatArray | None = None) -> FloatArray:
    """Return the second-order fairness (equation 4), taken over a data set.

    Each value's shortfall is averaged over the samples in which it takes part; the result is
    the mean absolute deviation of these averages from their average, shape (r,); NaN where no
    value takes part. `counts`, shape (r, n_samples), says how often each sample counts; every
    sample once where None.
    """
    weights = np.ones((1, len(shares.wanted))) if counts is None else counts
    sums = weights @ shortfalls(shares)
    n_present = weights @ shares.takes_part.astype(np.float64)
    present = n_present > 0.0
    means = np.divide(sums, n_present, out=np.zeros_like(sums), where=present)
    n_values = present.sum(axis=1)
    safe = np.maximum(1, n_values)
    centre = means.sum(axis=1) / safe
    spread = np.where(present, np.abs(means - centre[:, None]), 0.0).sum(axis=1) / safe
    return np.where(n_values > 0, spread, np.nan)
