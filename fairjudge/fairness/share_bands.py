"""Bounds of the Proportional Representation measures under an assumed error of attribution.

The true p_y of a sample lies within the total variation distance ``movable`` of the measured one,
anywhere among the values of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairjudge.fairness.measures import Band
from fairjudge.fairness.shares import (
    Shares,
    area_under_curve,
    binary_unfair,
    second_order,
    shortfalls,
)
from fairjudge.stats._arrays import BoolArray, FloatArray

_HALVINGS = 60
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareErrors:
    """The measured shares, and how far each sample may be from the truth.

    ``movable``, shape (n_samples,), is the part of each summary that may belong to other values;
    0 for a sample of one value, which has nothing to misplace. ``present`` says which values a
    sample's source has, shape (n_samples, n_values).
    """

    shares: Shares
    movable: FloatArray
    present: BoolArray


def _missing(shares: Shares, tau: FloatArray) -> FloatArray:
    """Return what each sample lacks for every value to have tau of its share, shape (n,)."""
    lacks: FloatArray = np.maximum(0.0, tau[:, None] * shares.wanted - shares.got).sum(axis=1)
    return lacks


def bur_band(errors: ShareErrors) -> Band:
    """Bound the BUR; both ends are reached for each sample."""
    shares, movable, tau = errors.shares, errors.movable, errors.shares.tau
    lacks = _missing(shares, np.full(len(shares.wanted), tau))
    reduced = replace(shares, got=np.maximum(0.0, shares.got - movable[:, None]))
    most = binary_unfair(reduced)
    if shares.at_most:
        # To have more than tau of their shares values must be given more than they lack, and at
        # tau = 1 not all can have more.
        short = (lacks >= movable - _ROUNDING) | np.full(len(lacks), tau >= 1.0)
        fewest = binary_unfair(shares) & short
    else:
        fewest = lacks > movable + _ROUNDING
    return Band(low=float(fewest.mean()), high=float(most.mean()))


def uer_band(errors: ShareErrors) -> Band:
    """Bound the UER: the sum of its terms is the total variation distance of p_y from p_g."""
    shares, movable = errors.shares, errors.movable
    n_values = shares.takes_part.sum(axis=1)
    distance = shortfalls(shares).sum(axis=1)
    farthest = 1.0 - np.where(errors.present, shares.wanted, 1.0).min(axis=1)
    low = np.maximum(0.0, distance - movable)
    high = np.minimum(distance + movable, np.maximum(distance, farthest))
    return Band(low=float((low / n_values).mean()), high=float((high / n_values).mean()))


def auc_band(errors: ShareErrors) -> Band:
    """Bound the AUC; both ends are reached for each sample."""
    shares, movable = errors.shares, errors.movable
    worst = replace(shares, got=np.maximum(0.0, shares.got - movable[:, None]))
    # The largest tau that moving the allowed part can reach, by halving: what is lacking grows
    # with tau.
    low, high = np.zeros(len(movable)), np.ones(len(movable))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        enough = _missing(shares, middle) <= movable
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return Band(
        low=float(np.maximum(0.0, 1.0 - high).mean()), high=float(area_under_curve(worst).mean())
    )


def sof_band(errors: ShareErrors) -> Band:
    """Bound the SOF: each mean shortfall moves by at most the rate, and so does their deviation."""
    sof, most = float(second_order(errors.shares)[0]), errors.movable.max()
    return Band(low=max(0.0, sof - most), high=sof + most)
