"""The error of attributing a summary to values, carried through to Proportional Representation.

With shares by people for some summaries, prediction-powered inference corrects the means; without
any, a band says what an assumed error could do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness.distributions import Target, ValueDistribution
from fairjudge.fairness.judge_error import Band, ValueSensitivity, corrected_mean
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

FloatArray: TypeAlias = NDArray[np.float64]
HumanShares: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""How much of (eid, system)'s summary people give to each value; scaled to sum to 1."""

_HALVINGS = 60
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedShares:
    """Means over samples, corrected by shares that people gave (prediction-powered inference).

    ``difference`` has the mean of p_y - p_g of each value over the samples in which it takes part.
    ``n_unused`` counts the summaries with shares by people that take no part.
    """

    bur: PpiMean | Undefined
    uer: PpiMean | Undefined
    auc: PpiMean | Undefined
    difference: Mapping[str, PpiMean | Undefined]
    n_labelled: int
    n_unused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSensitivity:
    """What the measures may be if at most the part ``error_rate`` of every summary is misplaced."""

    error_rate: float
    bur: Band
    uer: Band
    auc: Band
    sof: Band
    by_value: Mapping[str, ValueSensitivity]


def corrected_shares(
    system: str,
    measured: Mapping[str, ValueDistribution],
    human: HumanShares,
    *,
    target: Target,
    tau: float = TAU,
    at_most: bool = False,
    level: float = 0.95,
) -> CorrectedShares:
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
    both = [
        _by_sample(system, found, tau=tau, target=target, at_most=at_most)
        for found in (measured, by_people)
    ]
    values = sorted({value for distribution in measured.values() for value in distribution.values})

    def mean(name: str) -> PpiMean | Undefined:
        return corrected_mean(both[0].get(name, {}), both[1].get(name, {}), level=level)

    return CorrectedShares(
        bur=mean("bur"),
        uer=mean("uer"),
        auc=mean("auc"),
        difference={value: mean(f"difference:{value}") for value in values},
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
    system: str,
    found: Mapping[str, ValueDistribution],
    *,
    tau: float,
    target: Target,
    at_most: bool,
) -> dict[str, dict[tuple[str, str], float]]:
    """Return each measure of each sample, keyed as `corrected_mean` wants it."""
    shares = collect(list(found.values()), target=target, at_most=at_most)
    keys = [(eid, system) for eid in found]

    def keyed(numbers: FloatArray | NDArray[np.bool_]) -> dict[tuple[str, str], float]:
        return {key: float(number) for key, number in zip(keys, numbers, strict=True)}

    measures = {
        "bur": keyed(binary_unfair(shares, tau=tau)),
        "uer": keyed(unfair_error(shares)),
        "auc": keyed(area_under_curve(shares)),
    }
    excess = shares.got - shares.wanted
    for place, value in enumerate(shares.values):
        rows = np.flatnonzero(shares.takes_part[:, place])
        measures[f"difference:{value}"] = {keys[r]: float(excess[r, place]) for r in rows}
    return measures


def share_sensitivity(
    distributions: Sequence[ValueDistribution],
    *,
    error_rate: float,
    target: Target = "ratio",
    tau: float = TAU,
) -> ShareSensitivity | Undefined:
    """Bound the measures where up to `error_rate` of each summary belongs to other values.

    The true p_y lies within that total variation distance of the measured one, anywhere among
    the values of the sample; a sample of one value has nothing to misplace. The ends of BUR and
    AUC are reached for each sample, those of UER and SOF may be wider than need be.

    Returns
    -------
    ShareSensitivity or Undefined
        Undefined for no samples.

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
    return ShareSensitivity(
        error_rate=error_rate,
        bur=_bur_band(shares, movable, tau),
        uer=_uer_band(shares, movable, present),
        auc=_auc_band(shares, movable),
        # Each mean shortfall moves by at most the rate, and so does their mean deviation.
        sof=Band(low=max(0.0, sof - movable.max()), high=sof + movable.max()),
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


def _uer_band(shares: Shares, movable: FloatArray, present: NDArray[np.bool_]) -> Band:
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
    shares: Shares, place: int, several: NDArray[np.bool_], error_rate: float
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
