"""The error of attributing a summary to values, carried through to Proportional Representation.

With shares by people for some summaries, prediction-powered inference corrects the means; without
any, a band says what an assumed error could do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness.distributions import Target, ValueDistribution
from fairjudge.fairness.judge_error import (
    Band,
    Corrected,
    Measured,
    Sensitivity,
    ValueSensitivity,
    corrected_means,
)
from fairjudge.fairness.proportional import (
    TAU,
    Shares,
    area_under_curve,
    binary_unfair,
    collect,
    second_order,
    shortfalls,
    unfair_error,
)
from fairjudge.stats._arrays import BoolArray, FloatArray

HumanShares: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""How much of (eid, system)'s summary people give to each value; scaled to sum to 1."""

_HALVINGS = 60
_ROUNDING = 1e-12


def corrected_shares(
    system: str,
    measured: Mapping[str, ValueDistribution],
    human: HumanShares,
    *,
    target: Target,
    tau: float = TAU,
    at_most: bool = False,
    level: float = 0.95,
) -> Corrected:
    """Correct one system's measures; `measured` has its samples by eid.

    Raises
    ------
    InputError
        Shares by people name a value that the set does not have, are negative, or all 0.
    """
    mine = {eid: shares for (eid, by), shares in human.items() if by == system}
    by_people = {
        eid: people_distribution(measured[eid], shares, where=f"{system!r} for {eid!r}")
        for eid, shares in mine.items()
        if eid in measured
    }
    (means, difference), (means_by_people, difference_by_people) = (
        _by_sample(found, tau=tau, target=target, at_most=at_most)
        for found in (measured, by_people)
    )
    return Corrected(
        means=corrected_means(means, means_by_people, level=level),
        difference=corrected_means(difference, difference_by_people, level=level),
        n_labelled=len(by_people),
        n_unused=len(mine) - len(by_people),
    )


def people_distribution(
    measured: ValueDistribution, shares: Mapping[str, float], *, where: str
) -> ValueDistribution:
    """Return `measured` with p_y as people gave it; a value that they do not name has 0.

    Raises
    ------
    InputError
        As in `corrected_shares`; `where` names the summary.
    """
    unknown = sorted(set(shares) - set(measured.values))
    if unknown:
        raise InputError(
            f"shares of {where} name the value {unknown[0]!r}, which its set does not have; "
            f"values there: {', '.join(repr(value) for value in measured.values)}",
            field="shares",
        )
    given = [float(shares.get(value, 0.0)) for value in measured.values]
    if min(given) < 0.0 or not any(given):
        raise InputError(f"shares of {where} must be 0 or more and not all 0", field="shares")
    total = sum(given)
    return replace(measured, summary=tuple(share / total for share in given))


def _by_sample(
    found: Mapping[str, ValueDistribution], *, tau: float, target: Target, at_most: bool
) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Return each measure of each sample, and p_y - p_g of each value where it takes part."""
    shares = collect(list(found.values()), target=target, at_most=at_most)
    eids = list(found)
    measures = {
        "bur": binary_unfair(shares, tau=tau),
        "uer": unfair_error(shares),
        "auc": area_under_curve(shares),
    }
    excess = shares.got - shares.wanted
    return (
        {name: dict(zip(eids, map(float, each), strict=True)) for name, each in measures.items()},
        {
            value: {
                eids[row]: float(excess[row, place])
                for row in np.flatnonzero(shares.takes_part[:, place])
            }
            for place, value in enumerate(shares.values)
        },
    )


def share_sensitivity(
    distributions: Sequence[ValueDistribution],
    *,
    error_rate: float,
    target: Target = "ratio",
    tau: float = TAU,
) -> Sensitivity | Undefined:
    """Bound the measures where up to `error_rate` of each summary belongs to other values.

    The true p_y lies within that total variation distance of the measured one, anywhere among
    the values of the sample; a sample of one value has nothing to misplace. The ends of BUR and
    AUC are reached for each sample, those of UER and SOF may be wider than need be. Undefined for
    no samples.

    Raises
    ------
    StatisticsError
        `error_rate` lies outside [0, 1].
    """
    if not 0.0 <= error_rate <= 1.0:
        raise StatisticsError(f"error_rate must lie in [0, 1], got {error_rate!r}")
    if not distributions:
        return Undefined(why="no samples")
    shares = collect(distributions, target=target)
    several = np.array([len(d.values) > 1 for d in distributions])
    movable = several * error_rate
    present = np.array([[v in d.values for v in shares.values] for d in distributions])
    sof = float(second_order(shares)[0])
    return Sensitivity(
        error_rate=error_rate,
        bands={
            "bur": _bur_band(shares, movable, tau),
            "uer": _uer_band(shares, movable, present),
            "auc": _auc_band(shares, movable),
            # Each mean shortfall moves by at most the rate, and so does their mean deviation.
            "sof": Band(low=max(0.0, sof - movable.max()), high=sof + movable.max()),
        },
        by_value={
            value: _difference_band(shares, place, several, error_rate)
            for place, value in enumerate(shares.values)
            if shares.takes_part[:, place].any()
        },
    )


def _missing(shares: Shares, tau: FloatArray) -> FloatArray:
    """Return what each sample lacks for every value to have tau of its share, shape (n,)."""
    lacks: FloatArray = np.maximum(0.0, tau[:, None] * shares.wanted - shares.got).sum(axis=1)
    return lacks


def _bur_band(shares: Shares, movable: FloatArray, tau: float) -> Band:
    lacks = _missing(shares, np.full(len(shares.wanted), tau))
    fewest = lacks > movable + _ROUNDING
    left = np.maximum(0.0, shares.got - movable[:, None])
    most = (left < tau * shares.wanted - _ROUNDING).any(axis=1)
    return Band(low=float(fewest.mean()), high=float(most.mean()))


def _uer_band(shares: Shares, movable: FloatArray, present: BoolArray) -> Band:
    """Bound the UER: the sum of its terms is the total variation distance of p_y from p_g."""
    n_values = shares.takes_part.sum(axis=1)
    distance = shortfalls(shares).sum(axis=1)
    farthest = 1.0 - np.where(present, shares.wanted, 1.0).min(axis=1)
    low = np.maximum(0.0, distance - movable)
    high = np.minimum(distance + movable, np.maximum(distance, farthest))
    return Band(low=float((low / n_values).mean()), high=float((high / n_values).mean()))


def _auc_band(shares: Shares, movable: FloatArray) -> Band:
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


def _difference_band(
    shares: Shares, place: int, several: BoolArray, error_rate: float
) -> ValueSensitivity:
    rows = shares.takes_part[:, place]
    wanted, got = shares.wanted[rows, place], shares.got[rows, place]
    moves = several[rows] * error_rate
    mean = float((got - wanted).mean())
    # Samples of one value cannot move; the others must move the more.
    reach = float(several[rows].mean())
    return ValueSensitivity(
        mean=mean,
        band=Band(
            low=float((np.maximum(0.0, got - moves) - wanted).mean()),
            high=float((np.minimum(1.0, got + moves) - wanted).mean()),
        ),
        tipping_rate=min(1.0, abs(mean) / reach) if reach else 1.0,
        n=int(np.count_nonzero(rows)),
    )
