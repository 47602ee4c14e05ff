"""Proportional Representation (FairSumm, sections 3 to 5): its measures and one system's results.

`PROPORTIONAL` contains the measures, and defines which values of each are fairer.
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
    binary_unfairness,
    second_order_fairness,
    shortfalls,
    underrepresentation,
    unfair_error_rates,
)
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.stats.resampling import Resampling, adjust_by_name

ShareMeasure: TypeAlias = FairnessMeasure[Shares, Shares, ShareErrors]

_published_measure = partial(ShareMeasure, unit="percent", stream="shared")

PROPORTIONAL: Final[FairnessMeasures[Shares, Shares, ShareErrors]] = FairnessMeasures(
    "proportional",
    _published_measure(
        key="bur",
        label="BUR",
        sample_formula=binary_unfairness,
        band=bur_band,
        sample_key="unfair",
        parameter="tau",
    ),
    _published_measure(key="uer", label="UER", sample_formula=unfair_error_rates, band=uer_band),
    _published_measure(key="auc", label="AUC", sample_formula=area_under_curve, band=auc_band),
    _published_measure(
        key="auc_ten_point",
        label="AUC at ten points",
        sample_formula=partial(area_under_curve, variant="ten-point"),
        shown=False,
    ),
    _published_measure(key="sof", label="SOF", corpus_formula=second_order_fairness, band=sof_band),
)
"""The measures of ``fairness proportional``. To add one, see docs/contributing/measure.md."""

SWEEP = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueShares:
    """The mean target and actual share of one value, with measures of their deviation.

    ``n`` counts the samples in which p_g > 0. ``under`` is the share of these in which the value
    is under-represented, ``shortfall`` its mean UER term, ``difference`` the mean of p_y - p_g
    (positive: over-represented) with a p-value against 0 (``p_holm``: Holm-corrected over the
    values). ``target`` and ``actual`` are the mean p_g and p_y.
    """

    n: int
    target: Estimate | Undefined
    actual: Estimate | Undefined
    under: Estimate | Undefined
    shortfall: Estimate | Undefined
    difference: Estimate | Undefined
    p_holm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportional:
    """The results of one system over its samples.

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

    Undefined if there are no samples. `n_excluded` counts the samples that `shares` omits.
    """
    n_samples = len(shares.targets)
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
        sweep=tuple((t, mean(binary_unfairness(shares, tau=t))) for t in SWEEP),
    )


def _by_value(shares: Shares, resampling: Resampling) -> dict[str, ValueShares]:
    takes_part = shares.takes_part
    under_matrix, shortfall_matrix = underrepresentation(shares), shortfalls(shares)

    def mean(
        matrix: BoolArray | FloatArray, column: int, null: float | None = None
    ) -> Estimate | Undefined:
        rows = takes_part[:, column]
        n_excluded = int(np.count_nonzero(~rows))
        return resampling.mean(matrix[rows, column], n_excluded=n_excluded, null=null)

    excess = shares.actual - shares.targets
    differences = {value: mean(excess, index, 0.0) for index, value in enumerate(shares.values)}
    adjusted_p_values = adjust_by_name(differences)
    return {
        value: ValueShares(
            n=int(np.count_nonzero(takes_part[:, index])),
            target=mean(shares.targets, index),
            actual=mean(shares.actual, index),
            under=mean(under_matrix, index),
            shortfall=mean(shortfall_matrix, index),
            difference=differences[value],
            p_holm=adjusted_p_values.get(value),
        )
        for index, value in enumerate(shares.values)
    }
