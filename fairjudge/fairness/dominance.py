"""Does fairness depend on which value dominates the input? (coverage fairness, section 5.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.fairness.coverage_parity import contributions, means
from fairjudge.fairness.equal_coverage import SampleCoverage
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats._bounds import percentile_bounds
from fairjudge.stats.bootstrap import resample_counts
from fairjudge.stats.resampling import Resampling
from fairjudge.text.counting import pluralize

_Statistic: TypeAlias = Callable[[str, FloatArray], FloatArray]
"""Maps a subset's name and multiplicities, shape (r, n), to statistics of shape (r, k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDifference:
    """The largest difference of a measure between the sets that different values dominate.

    ``value`` is in the measure's unit and not negative; ``low`` and ``high`` bound the difference
    of that one pair of subsets (``dominated_by``: the one with the larger measure first).
    ``of_value`` names the represented value where the measure has one a value. ``p_value`` tests
    that no pair differs: subsets are resampled, and the largest *deviation* of any difference
    from its observed size is compared with ``value``, so picking the largest pair costs nothing.
    """

    value: float
    low: float
    high: float
    p_value: float
    dominated_by: tuple[str, str]
    of_value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """Both measures of Table 5.

    ``n_by_value`` counts the samples that each value dominates, ``n_tied`` those that none does.
    """

    unfair_share: LargestDifference | Undefined
    mean_difference: LargestDifference | Undefined
    n_by_value: Mapping[str, int]
    n_tied: int


def dominating_value(sample: SampleCoverage) -> str | None:
    """Return the value that most documents have, None where several share the first place."""
    most = max(entry.n_documents for entry in sample.by_value)
    first = [entry.value for entry in sample.by_value if entry.n_documents == most]
    return first[0] if len(first) == 1 else None


def dominance(
    samples: Sequence[SampleCoverage],
    unfair: Sequence[bool],
    *,
    resampling: Resampling,
    variant: CoverageVariant = "paper",
) -> Dominance:
    """Compare R_EC and the mean coverage differences between subsets by dominating value.

    `samples` have at least two values each, `unfair` says whether a sample's Equal Coverage is
    significant. A measure is Undefined where fewer than two values dominate any sample, or, for
    the mean differences, where no value is ever in C_k of two subsets.
    """
    if len(samples) != len(unfair):
        raise StatisticsError(f"got {pluralize(len(samples), 'sample')} and {len(unfair)} verdicts")
    named = [dominating_value(sample) for sample in samples]
    subsets = {
        value: np.flatnonzero([name == value for name in named])
        for value in sorted({name for name in named if name is not None})
    }
    verdicts = np.array(unfair, dtype=np.float64)
    parts = contributions(samples, variant=variant)

    def share(name: str, counts: FloatArray) -> FloatArray:
        return (counts @ verdicts[subsets[name]] / subsets[name].size)[:, None]

    def mean_differences(name: str, counts: FloatArray) -> FloatArray:
        rows = subsets[name]
        return means(replace(parts, sums=parts.sums[rows], counts=parts.counts[rows]), counts)

    sizes = {name: int(rows.size) for name, rows in subsets.items()}
    return Dominance(
        unfair_share=_largest(share, sizes, (None,), resampling),
        mean_difference=_largest(mean_differences, sizes, parts.values, resampling),
        n_by_value=sizes,
        n_tied=named.count(None),
    )


def _largest(
    statistic: _Statistic,
    sizes: Mapping[str, int],
    columns: Sequence[str | None],
    resampling: Resampling,
) -> LargestDifference | Undefined:
    """Find the largest difference over pairs of subsets and columns, and test it."""
    pairs = list(combinations(sizes, 2))
    if not pairs:
        return Undefined(why="fewer than two values dominate any sample")
    observed = {name: statistic(name, np.ones((1, size))) for name, size in sizes.items()}
    drawn = {
        name: statistic(name, resample_counts(size, resampling.n_resamples, resampling.rng))
        for name, size in sizes.items()
    }
    differences = np.stack([(observed[a] - observed[b])[0] for a, b in pairs])
    if np.all(np.isnan(differences)):
        return Undefined(why="no value is the most or the least covered in two of the subsets")
    resampled = np.stack([drawn[a] - drawn[b] for a, b in pairs])
    pair, column = divmod(int(np.nanargmax(np.abs(differences))), differences.shape[1])
    largest = float(differences[pair, column])
    deviations = np.abs(resampled - differences[:, None, :])
    extreme = np.where(np.isnan(deviations), 0.0, deviations).max(axis=(0, 2))
    at_least = int(np.count_nonzero(extreme >= abs(largest) - 1e-12))
    sign = 1.0 if largest >= 0.0 else -1.0
    chosen = sign * resampled[pair, :, column]
    bounds = percentile_bounds(chosen[~np.isnan(chosen)], level=resampling.level)
    first, second = pairs[pair]
    return LargestDifference(
        value=abs(largest),
        low=bounds.low,
        high=bounds.high,
        p_value=(1 + at_least) / (1 + resampling.n_resamples),
        dominated_by=(first, second) if sign > 0 else (second, first),
        of_value=columns[column],
    )
