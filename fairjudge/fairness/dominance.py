"""Does fairness depend on which value dominates the input? (coverage fairness, section 5.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.fairness.coverage_parity import contributions, means
from fairjudge.fairness.equal_coverage import (
    SampleCoverage,
    all_relabellings,
    count_relabellings,
)
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.bootstrap import (
    FEWEST_DOCUMENTS,
    chunk_sizes,
    divide,
    percentile_bounds,
    resample_counts,
)
from fairjudge.stats.permutation import compare_permutations
from fairjudge.stats.resampling import Resampling

_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps how often each sample counts, shape (r, n), to statistics of shape (r, k)."""
_CELLS_A_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDifference:
    """The largest difference of a measure between the sets that different values dominate.

    ``value`` is in the measure's unit and not negative; ``low`` and ``high`` bound the difference
    of that one pair of subsets (``dominated_by``: the one with the larger measure first), None
    where one has fewer than `FEWEST_DOCUMENTS` samples. ``of_value`` names the represented value
    where the measure has one a value. ``p_value`` tests that no pair differs: samples change their
    subsets, which keep their sizes, and the largest difference that any pair then has is compared
    with ``value``, so picking the largest pair costs nothing and subsets may be small. Where
    ``exact`` all ways to do so were gone through.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float
    p_floor: float | None
    dominated_by: tuple[str, str]
    of_value: str | None
    exact: bool = False


_Found: TypeAlias = LargestDifference | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """Both measures of Table 5.

    ``n_by_value`` counts the samples that each value dominates, ``n_tied`` those that none does.
    """

    unfair_share: _Found
    mean_difference: _Found
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
    values = [dominating_value(sample) for sample in samples]
    subsets = {
        value: np.flatnonzero([name == value for name in values])
        for value in sorted({name for name in values if name is not None})
    }
    verdicts = np.array(unfair, dtype=np.float64)
    parts = contributions(samples, variant=variant)

    def share(counts: FloatArray) -> FloatArray:
        return divide(counts @ verdicts, counts.sum(axis=1))[:, None]

    def largest(statistic: _Statistic, columns: Sequence[str | None]) -> _Found:
        if len(subsets) < 2:
            return Undefined(why="fewer than two values dominate any sample")
        return _largest(statistic, len(samples), subsets, columns, resampling)

    return Dominance(
        unfair_share=largest(share, (None,)),
        mean_difference=largest(partial(means, parts), parts.values),
        n_by_value={name: int(rows.size) for name, rows in subsets.items()},
        n_tied=values.count(None),
    )


def _largest(
    statistic: _Statistic,
    n_samples: int,
    subsets: Mapping[str, IntArray],
    columns: Sequence[str | None],
    resampling: Resampling,
) -> _Found:
    """Find the largest difference over pairs of subsets and columns, and test it."""
    pairs = list(combinations(range(len(subsets)), 2))
    order = np.concatenate(list(subsets.values()))
    sizes = tuple(rows.size for rows in subsets.values())
    codes = np.repeat(np.arange(len(sizes)), sizes)

    def differences(membership: IntArray) -> FloatArray:
        """Return all differences where samples are in these subsets, shape (r, pairs, k)."""
        rows = []
        for code in range(len(sizes)):
            counts = np.zeros((len(membership), n_samples))
            counts[:, order] = membership == code
            rows.append(statistic(counts))
        return np.stack([rows[a] - rows[b] for a, b in pairs], axis=1)

    observed = differences(codes[None, :])[0]
    if np.all(np.isnan(observed)):
        return Undefined(why="no value is the most or the least covered in two of the subsets")
    exact = count_relabellings(sizes) <= resampling.n_resamples
    ways = [all_relabellings(sizes).astype(np.intp)] if exact else _shuffled(codes, resampling)
    extremes = [np.nan_to_num(np.abs(differences(rows))).max(axis=(1, 2)) for rows in ways]
    pair, column = divmod(int(np.nanargmax(np.abs(observed))), observed.shape[1])
    largest = float(observed[pair, column])
    placed = compare_permutations(abs(largest), np.concatenate(extremes), exact=exact)
    first, second = (list(subsets)[code] for code in pairs[pair])
    chosen = (first, second) if largest >= 0.0 else (second, first)
    replicates = _resampled(statistic, n_samples, [subsets[name] for name in chosen], resampling)
    low, high = (
        (None, None) if replicates is None else _bounds(replicates[:, column], resampling.level)
    )
    return LargestDifference(
        value=abs(largest),
        low=low,
        high=high,
        p_value=placed.p_value,
        p_floor=None if exact else placed.p_floor,
        dominated_by=chosen,
        of_value=columns[column],
        exact=exact,
    )


def _shuffled(codes: IntArray, resampling: Resampling) -> Iterator[IntArray]:
    """Yield the samples' subsets in random order, many at a time."""
    for size in chunk_sizes(resampling.n_resamples, codes.size, cells=_CELLS_A_CHUNK):
        yield resampling.rng.permuted(np.broadcast_to(codes, (size, codes.size)), axis=1)


def _resampled(
    statistic: _Statistic, n_samples: int, pair: Sequence[IntArray], resampling: Resampling
) -> FloatArray | None:
    """Return differences of two subsets of resampled samples, None for too few, shape (r, k)."""
    if min(rows.size for rows in pair) < FEWEST_DOCUMENTS:
        return None
    differences = []
    for rows in pair:
        counts = np.zeros((resampling.n_resamples, n_samples))
        counts[:, rows] = resample_counts(rows.size, resampling.n_resamples, resampling.rng)
        differences.append(statistic(counts))
    return differences[0] - differences[1]


def _bounds(draws: FloatArray, level: float) -> tuple[float | None, float | None]:
    defined = draws[~np.isnan(draws)]
    if not defined.size:
        return None, None
    bounds = percentile_bounds(defined, level=level)
    return bounds.low, bounds.high
