"""Proportional Representation (FairSumm, sections 3 to 5): its measures, and one system's figures.

`PROPORTIONAL` holds the measures. 0 is fair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures
from fairjudge.fairness.share_bands import ShareErrors, auc_band, bur_band, sof_band, uer_band
from fairjudge.fairness.shares import (
    Shares,
    area_under_curve,
    binary_unfair,
    second_order,
    shortfalls,
    under_represented,
    unfair_error,
)
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.stats.resampling import Resampling, adjust_by_name

ShareMeasure: TypeAlias = FairnessMeasure[Shares, Shares, ShareErrors]

_published = partial(ShareMeasure, unit="percent", stream="shared")

PROPORTIONAL: Final[FairnessMeasures[Shares, Shares, ShareErrors]] = FairnessMeasures(
    "proportional",
    _published(
        key="bur",
        label="BUR",
        of_sample=binary_unfair,
        band=bur_band,
        sample_key="unfair",
        parameter="tau",
    ),
    _published(key="uer", label="UER", of_sample=unfair_error, band=uer_band),
    _published(key="auc", label="AUC", of_sample=area_under_curve, band=auc_band),
    _published(
        key="auc_ten_point",
        label="AUC at ten points",
        of_sample=partial(area_under_curve, variant="ten-point"),
        shown=False,
    ),
    _published(key="sof", label="SOF", of_corpus=second_order, band=sof_band),
)
"""The measures of ``fairness proportional``. To add one, see docs/contributing/measure.md."""

SWEEP = tuple(step / 10 for step in range(11))


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

    ``estimates`` has each measure of `PROPORTIONAL` by key; ``sweep`` is the BUR at every tau of
    `SWEEP`.
    """

    n: int
    tau: float
    estimates: Mapping[str, Estimate | Undefined]
    by_value: Mapping[str, ValueShares]
    sweep: tuple[tuple[float, Estimate | Undefined], ...]


def proportional(
    shares: Shares, *, resampling: Resampling, n_excluded: int = 0
) -> Proportional | Undefined:
    """Compute all measures of one system with intervals by bootstrap over samples.

    Undefined for no samples. `n_excluded` samples are not among the `shares`.
    """
    n_samples = len(shares.wanted)
    if not n_samples:
        return Undefined(why="no samples")
    mean = partial(resampling.mean, n_excluded=n_excluded)
    return Proportional(
        n=n_samples,
        tau=shares.tau,
        estimates=PROPORTIONAL.estimates(
            shares, shares, n_samples=n_samples, resampling=resampling, n_excluded=n_excluded
        ),
        by_value=_by_value(shares, resampling),
        sweep=tuple((t, mean(binary_unfair(shares, tau=t))) for t in SWEEP),
    )


def _by_value(shares: Shares, resampling: Resampling) -> dict[str, ValueShares]:
    takes_part = shares.takes_part
    under, short = under_represented(shares), shortfalls(shares)

    def mean(
        of: BoolArray | FloatArray, place: int, null: float | None = None
    ) -> Estimate | Undefined:
        rows = takes_part[:, place]
        return resampling.mean(of[rows, place], n_excluded=int(np.count_nonzero(~rows)), null=null)

    excess = shares.got - shares.wanted
    differences = {value: mean(excess, place, 0.0) for place, value in enumerate(shares.values)}
    adjusted = adjust_by_name(differences)
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
