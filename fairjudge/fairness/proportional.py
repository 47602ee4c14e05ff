"""Proportional Representation measures: BUR, UER, AUC and SOF (FairSumm, sections 3 to 5).

Everything here is a share in [0, 1]; reports multiply by 100. 0 is fair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.fairness.distributions import Target, ValueDistribution, target_shares
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.stats.resampling import Resampling, adjusted_by_name

AucVariant: TypeAlias = Literal["exact", "ten-point"]

TAU = 0.8
"""A value is under-represented below this part of its wanted share (FairSumm, section 5)."""
SWEEP = tuple(step / 10 for step in range(11))
_TEN_POINTS = np.arange(1, 11) / 10
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """All samples as matrices of shape (n_samples, n_values), columns as in ``values``.

    ``wanted`` is p_g and ``got`` is p_y; both are 0 where a sample's source lacks the value.
    ``at_most`` says whether p_y = tau p_g is under-represented too, as the authors' code has it.
    """

    values: tuple[str, ...]
    wanted: FloatArray
    got: FloatArray
    at_most: bool = False

    @property
    def takes_part(self) -> BoolArray:
        """Where p_g > 0, shape (n_samples, n_values)."""
        return self.wanted > 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueShares:
    """How one value fares.

    ``n`` counts the samples in which it takes part. ``under`` is the share of these in which it
    is under-represented, ``shortfall`` its mean UER term, ``difference`` the mean of p_y - p_g
    (positive: over-represented) with a p-value against 0, Holm-corrected over the values in
    ``p_holm``. ``wanted`` and ``got`` are the mean p_g and p_y.
    """

    n: int
    wanted: Estimate | Undefined
    got: Estimate | Undefined
    under: Estimate | Undefined
    shortfall: Estimate | Undefined
    difference: Estimate | Undefined
    p_holm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportional:
    """The measures of one system over its samples.

    ``sweep`` is the BUR at every tau of `SWEEP`.
    """

    n: int
    tau: float
    bur: Estimate | Undefined
    uer: Estimate | Undefined
    auc: Estimate | Undefined
    auc_ten_point: Estimate | Undefined
    sof: Estimate | Undefined
    by_value: Mapping[str, ValueShares]
    sweep: tuple[tuple[float, Estimate | Undefined], ...]


def collect(
    distributions: Sequence[ValueDistribution], *, target: Target = "ratio", at_most: bool = False
) -> Shares:
    """Lay the samples out as matrices.

    Raises
    ------
    StatisticsError
        The target gives no weight to any value of some sample; leave such samples out first.
    """
    values = tuple(sorted({value for d in distributions for value in d.values}))
    column = {value: place for place, value in enumerate(values)}
    wanted, got = np.zeros((2, len(distributions), len(values)))
    for row, distribution in enumerate(distributions):
        shares = target_shares(distribution, target)
        if isinstance(shares, Undefined):
            raise StatisticsError(f"sample {row}: {shares.why}")
        places = [column[value] for value in distribution.values]
        wanted[row, places] = shares
        got[row, places] = distribution.summary
    return Shares(values=values, wanted=wanted, got=got, at_most=at_most)


def under_represented(shares: Shares, *, tau: float = TAU) -> BoolArray:
    """Where p_y < tau p_g, shape (n_samples, n_values); False where p_g is 0.

    Differences within rounding are none: such values count where ``shares.at_most`` says so.
    """
    if not 0.0 <= tau <= 1.0:
        raise StatisticsError(f"tau must lie in [0, 1], got {tau!r}")
    rounding = _ROUNDING if shares.at_most else -_ROUNDING
    return np.asarray(shares.takes_part & (shares.got < tau * shares.wanted + rounding))


def binary_unfair(shares: Shares, *, tau: float = TAU) -> BoolArray:
    """Return for each sample whether any value is under-represented (equation 1)."""
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
    held = weights @ shares.takes_part.astype(np.float64)
    present = held > 0.0
    means = np.divide(sums, held, out=np.zeros_like(sums), where=present)
    n_values = present.sum(axis=1)
    safe = np.maximum(1, n_values)
    centre = means.sum(axis=1) / safe
    spread = np.where(present, np.abs(means - centre[:, None]), 0.0).sum(axis=1) / safe
    return np.where(n_values > 0, spread, np.nan)


def proportional(
    distributions: Sequence[ValueDistribution],
    *,
    resampling: Resampling,
    target: Target = "ratio",
    tau: float = TAU,
    at_most: bool = False,
    n_excluded: int = 0,
) -> Proportional | Undefined:
    """Compute all measures of one system with intervals by bootstrap over samples.

    Undefined for no samples. See `collect` for what is raised.
    """
    if not distributions:
        return Undefined(why="no samples")
    shares = collect(distributions, target=target, at_most=at_most)
    mean = partial(resampling.mean, n_excluded=n_excluded)
    return Proportional(
        n=len(distributions),
        tau=tau,
        bur=mean(binary_unfair(shares, tau=tau)),
        uer=mean(unfair_error(shares)),
        auc=mean(area_under_curve(shares)),
        auc_ten_point=mean(area_under_curve(shares, variant="ten-point")),
        sof=resampling.statistic(
            lambda counts: second_order(shares, counts), len(distributions), n_excluded=n_excluded
        ),
        by_value=_by_value(shares, tau, resampling),
        sweep=tuple((t, mean(binary_unfair(shares, tau=t))) for t in SWEEP),
    )


def _by_value(shares: Shares, tau: float, resampling: Resampling) -> dict[str, ValueShares]:
    takes_part = shares.takes_part
    under, short = under_represented(shares, tau=tau), shortfalls(shares)

    def mean(
        of: BoolArray | FloatArray, place: int, null: float | None = None
    ) -> Estimate | Undefined:
        rows = takes_part[:, place]
        return resampling.mean(of[rows, place], n_excluded=int(np.count_nonzero(~rows)), null=null)

    excess = shares.got - shares.wanted
    differences = {value: mean(excess, place, 0.0) for place, value in enumerate(shares.values)}
    adjusted = adjusted_by_name(differences)
    return {
        value: ValueShares(
            n=int(np.count_nonzero(takes_part[:, place])),
            wanted=mean(shares.wanted, place),
            got=mean(shares.got, place),
            under=mean(under, place),
            shortfall=mean(short, place),
            difference=differences[value],
            p_holm=adjusted.get(value),
        )
        for place, value in enumerate(shares.values)
    }
