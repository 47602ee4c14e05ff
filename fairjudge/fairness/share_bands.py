"""Bounds of the Proportional Representation measures under an assumed error of attribution.

The true p_y of a sample lies within the total variation distance ``movable`` of the measured one;
any values of the sample may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairjudge.fairness.measures import Band
from fairjudge.fairness.shares import (
    Shares,
    area_under_curve,
    binary_unfairness,
    second_order_fairness,
    shortfalls,
)
from fairjudge.stats._arrays import BoolArray, FloatArray

_HALVINGS = 60
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareErrors:
    """The measured shares, and the maximum error of each sample.

    ``movable``, shape (n_samples,), is the share of each summary that may belong to other values;
    0 for a sample with one value. ``in_source``, shape (n_samples, n_values), is whether the
    value occurs in the sample's source.
    """

    shares: Shares
    movable: FloatArray
    in_source: BoolArray


def _shortage(shares: Shares, tau: FloatArray) -> FloatArray:
    """Return the total share missing for every value to have tau times its target, shape (n,)."""
    shortage: FloatArray = np.maximum(0.0, tau[:, None] * shares.targets - shares.actual).sum(
        axis=1
    )
    return shortage


def bur_band(errors: ShareErrors) -> Band:
    """Bound the BUR; both bounds are attained for each sample."""
    shares, movable, tau = errors.shares, errors.movable, errors.shares.tau
    shortage = _shortage(shares, np.full(len(shares.targets), tau))
    min_shares = replace(shares, actual=np.maximum(0.0, shares.actual - movable[:, None]))
    max_unfair = binary_unfairness(min_shares)
    if shares.inclusive:
        # For every value to have more than tau times its target, more than the shortage must be
        # moved; at tau = 1 not all values can exceed their targets.
        is_short = (shortage >= movable - _ROUNDING) | np.full(len(shortage), tau >= 1.0)
        min_unfair = binary_unfairness(shares) & is_short
    else:
        min_unfair = shortage > movable + _ROUNDING
    return Band(low=float(min_unfair.mean()), high=float(max_unfair.mean()))


def uer_band(errors: ShareErrors) -> Band:
    """Bound the UER: the sum of its terms is the total variation distance of p_y from p_g."""
    shares, movable = errors.shares, errors.movable
    n_values = shares.takes_part.sum(axis=1)
    distance = shortfalls(shares).sum(axis=1)
    max_distance = 1.0 - np.where(errors.in_source, shares.targets, 1.0).min(axis=1)
    low = np.maximum(0.0, distance - movable)
    high = np.minimum(distance + movable, np.maximum(distance, max_distance))
    return Band(low=float((low / n_values).mean()), high=float((high / n_values).mean()))


def auc_band(errors: ShareErrors) -> Band:
    """Bound the AUC; both bounds are attained for each sample."""
    shares, movable = errors.shares, errors.movable
    min_shares = replace(shares, actual=np.maximum(0.0, shares.actual - movable[:, None]))
    # The largest tau attainable by moving the allowed share, by bisection: the shortage increases
    # with tau.
    low, high = np.zeros(len(movable)), np.ones(len(movable))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        is_attainable = _shortage(shares, middle) <= movable
        low, high = np.where(is_attainable, middle, low), np.where(is_attainable, high, middle)
    return Band(
        low=float(np.maximum(0.0, 1.0 - high).mean()),
        high=float(area_under_curve(min_shares).mean()),
    )


def sof_band(errors: ShareErrors) -> Band:
    """Bound the SOF: each mean shortfall, and so their deviation, changes by at most the rate."""
    sof, max_change = float(second_order_fairness(errors.shares)[0]), errors.movable.max()
    return Band(low=max(0.0, sof - max_change), high=sof + max_change)
