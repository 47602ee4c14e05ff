"""The error of attributing a summary to values, carried through to Proportional Representation.

With shares by people for some summaries, prediction-powered inference corrects the means; without
any, a band says what an assumed error could do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.distributions import ValueDistribution
from fairjudge.fairness.judge_error import (
    Corrected,
    Measured,
    Sensitivity,
    ValueSensitivity,
    corrected_means,
)
from fairjudge.fairness.measures import Band
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.share_bands import ShareErrors
from fairjudge.fairness.shares import Shares
from fairjudge.stats._arrays import BoolArray

HumanShares: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""How much of (eid, system)'s summary people give to each value; scaled to sum to 1."""


def corrected_shares(
    system: str,
    measured: Mapping[str, ValueDistribution],
    human: HumanShares,
    *,
    shares_of: Callable[[Sequence[ValueDistribution]], Shares],
    level: float = 0.95,
) -> Corrected:
    """Correct one system's measures; `measured` has its samples by eid.

    `shares_of` lays samples out as matrices, as `collect` does.

    Raises
    ------
    InputError
        Shares by people name a value that the set does not have, are negative, or all 0.
    """
    system_shares = {eid: shares for (eid, by), shares in human.items() if by == system}
    by_people = {
        eid: people_distribution(measured[eid], shares, where=f"{system!r} for {eid!r}")
        for eid, shares in system_shares.items()
        if eid in measured
    }
    (means, difference), (means_by_people, difference_by_people) = (
        _by_sample(list(by_eid), shares_of(list(by_eid.values())))
        for by_eid in (measured, by_people)
    )
    return Corrected(
        means=corrected_means(means, means_by_people, level=level),
        difference=corrected_means(difference, difference_by_people, level=level),
        n_labelled=len(by_people),
        n_unused=len(system_shares) - len(by_people),
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
    measured_shares = [float(shares.get(value, 0.0)) for value in measured.values]
    if min(measured_shares) < 0.0 or not any(measured_shares):
        raise InputError(f"shares of {where} must be 0 or more and not all 0", field="shares")
    total = sum(measured_shares)
    return replace(measured, summary=tuple(share / total for share in measured_shares))


def _by_sample(
    eids: Sequence[str], shares: Shares
) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Return each measure of each sample, and p_y - p_g of each value where it takes part."""
    excess = shares.got - shares.wanted
    return (
        {
            key: dict(zip(eids, map(float, numbers), strict=True))
            for key, numbers in PROPORTIONAL.by_sample(shares, len(eids)).items()
        },
        {
            value: {
                eids[row]: float(excess[row, place])
                for row in np.flatnonzero(shares.takes_part[:, place]).tolist()
            }
            for place, value in enumerate(shares.values)
        },
    )


def share_sensitivity(
    distributions: Sequence[ValueDistribution], shares: Shares, *, error_rate: float
) -> Sensitivity | Undefined:
    """Bound the measures where up to `error_rate` of each summary belongs to other values.

    The true p_y lies within that total variation distance of the measured one, anywhere among
    the values of the sample; a sample of one value has nothing to misplace. The ends of BUR and
    AUC are reached for each sample, those of UER and SOF may be wider than need be. `shares` are
    the `distributions` by `collect`. Undefined for no samples.
    """
    if not distributions:
        return Undefined(why="no samples")
    several = np.array([len(d.values) > 1 for d in distributions])
    present = np.array([[v in d.values for v in shares.values] for d in distributions])
    return Sensitivity(
        error_rate=error_rate,
        bands=PROPORTIONAL.bands(
            ShareErrors(shares=shares, movable=several * error_rate, present=present)
        ),
        by_value={
            value: _difference_band(shares, place, several, error_rate)
            for place, value in enumerate(shares.values)
            if shares.takes_part[:, place].any()
        },
    )


def _difference_band(
    shares: Shares, place: int, several: BoolArray, error_rate: float
) -> ValueSensitivity:
    rows = shares.takes_part[:, place]
    targets, actual = shares.wanted[rows, place], shares.got[rows, place]
    moves = several[rows] * error_rate
    mean = float((actual - targets).mean())
    # Samples of one value cannot move; the others must move the more.
    reach = float(several[rows].mean())
    return ValueSensitivity(
        mean=mean,
        band=Band(
            low=float((np.maximum(0.0, actual - moves) - targets).mean()),
            high=float((np.minimum(1.0, actual + moves) - targets).mean()),
        ),
        tipping_rate=min(1.0, abs(mean) / reach) if reach else 1.0,
        n=int(np.count_nonzero(rows)),
    )
