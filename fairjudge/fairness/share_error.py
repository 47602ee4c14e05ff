"""Propagation of errors in attributing summaries to values to Proportional Representation.

With human shares for some summaries, prediction-powered inference corrects the means. Without any,
a band bounds the measures under an assumed error.
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
    CorrectedMeans,
    SampleValues,
    Sensitivity,
    ValueSensitivity,
    correct_means,
)
from fairjudge.fairness.measures import Band
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.share_bands import ShareErrors
from fairjudge.fairness.shares import Shares
from fairjudge.stats._arrays import BoolArray

HumanShares: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""Maps (eid, system) to the annotators' share of each value in the summary; scaled to sum to 1."""


def correct_shares(
    system: str,
    distributions: Mapping[str, ValueDistribution],
    human: HumanShares,
    *,
    collect_shares: Callable[[Sequence[ValueDistribution]], Shares],
    level: float = 0.95,
) -> CorrectedMeans:
    """Correct one system's measures with human shares; `distributions` has its samples by eid.

    `collect_shares` converts distributions to matrices, as `collect` does.

    Raises
    ------
    InputError
        Human shares contain a value that the set does not have, are negative, or all 0.
    """
    system_shares = {
        eid: shares for (eid, system_name), shares in human.items() if system_name == system
    }
    human_distributions = {
        eid: people_distribution(distributions[eid], shares, sample_name=f"{system!r} for {eid!r}")
        for eid, shares in system_shares.items()
        if eid in distributions
    }
    (means, difference), (means_by_people, difference_by_people) = (
        _by_sample(list(by_eid), collect_shares(list(by_eid.values())))
        for by_eid in (distributions, human_distributions)
    )
    return CorrectedMeans(
        means=correct_means(means, means_by_people, level=level),
        difference=correct_means(difference, difference_by_people, level=level),
        n_labelled=len(human_distributions),
        n_unused=len(system_shares) - len(human_distributions),
    )


def people_distribution(
    distribution: ValueDistribution, shares: Mapping[str, float], *, sample_name: str
) -> ValueDistribution:
    """Return `distribution` with the human p_y; values without a human share have 0.

    Raises
    ------
    InputError
        As in `correct_shares`; `sample_name` describes the summary in the message.
    """
    unknown_values = sorted(set(shares) - set(distribution.values))
    if unknown_values:
        raise InputError(
            f"shares of {sample_name}: its set does not have the value {unknown_values[0]!r}; "
            f"expected one of: {', '.join(repr(value) for value in distribution.values)}",
            field="shares",
        )
    human_shares = [float(shares.get(value, 0.0)) for value in distribution.values]
    if min(human_shares) < 0.0 or not any(human_shares):
        raise InputError(f"shares of {sample_name} must be 0 or more and not all 0", field="shares")
    total = sum(human_shares)
    return replace(distribution, summary=tuple(share / total for share in human_shares))


def _by_sample(
    eids: Sequence[str], shares: Shares
) -> tuple[dict[str, SampleValues], dict[str, SampleValues]]:
    """Return each measure per sample, and p_y - p_g per value and sample where p_g > 0."""
    excess = shares.actual - shares.targets
    return (
        {
            key: dict(zip(eids, map(float, numbers), strict=True))
            for key, numbers in PROPORTIONAL.by_sample(shares, len(eids)).items()
        },
        {
            value: {
                eids[row]: float(excess[row, index])
                for row in np.flatnonzero(shares.takes_part[:, index]).tolist()
            }
            for index, value in enumerate(shares.values)
        },
    )


def share_sensitivity(
    distributions: Sequence[ValueDistribution], shares: Shares, *, error_rate: float
) -> Sensitivity | Undefined:
    """Bound the measures if up to `error_rate` of each summary belongs to other values.

    The true p_y lies within that total variation distance of the measured one; any values of the
    sample may differ. The error of a sample with one value is 0. The bounds of BUR and AUC are
    attained for each sample; those of UER and SOF may be wider than necessary. `shares` is the
    result of `collect` on `distributions`. Undefined if there are no samples.
    """
    if not distributions:
        return Undefined(why="no samples")
    has_several_values = np.array([len(d.values) > 1 for d in distributions])
    in_source = np.array([[v in d.values for v in shares.values] for d in distributions])
    return Sensitivity(
        error_rate=error_rate,
        bands=PROPORTIONAL.bands(
            ShareErrors(shares=shares, movable=has_several_values * error_rate, in_source=in_source)
        ),
        by_value={
            value: _difference_band(shares, index, has_several_values, error_rate)
            for index, value in enumerate(shares.values)
            if shares.takes_part[:, index].any()
        },
    )


def _difference_band(
    shares: Shares, column: int, has_several_values: BoolArray, error_rate: float
) -> ValueSensitivity:
    rows = shares.takes_part[:, column]
    targets, actual = shares.targets[rows, column], shares.actual[rows, column]
    max_errors = has_several_values[rows] * error_rate
    mean = float((actual - targets).mean())
    # Samples with one value cannot change, so the others must change more.
    mean_max_error = float(has_several_values[rows].mean())
    return ValueSensitivity(
        mean=mean,
        band=Band(
            low=float((np.maximum(0.0, actual - max_errors) - targets).mean()),
            high=float((np.minimum(1.0, actual + max_errors) - targets).mean()),
        ),
        tipping_rate=min(1.0, abs(mean) / mean_max_error) if mean_max_error else 1.0,
        n=int(np.count_nonzero(rows)),
    )
