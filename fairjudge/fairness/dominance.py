"""Dependence of fairness on the value that dominates the input (coverage fairness, section 5.7)."""

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
    MIN_DOCUMENTS,
    chunk_sizes,
    divide,
    percentile_bounds,
    resample_counts,
)
from fairjudge.stats.permutation import compare_permutations
from fairjudge.stats.resampling import Resampling

_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps the samples' multiplicities, shape (r, n), to statistics of shape (r, k)."""
_CELLS_PER_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDifference:
    """The largest difference of a measure between subsets dominated by different values.

    ``value`` is in the measure's unit and not negative. ``dominated_by`` are the values that
    dominate the two subsets, the one with the larger measure first. ``low`` and ``high`` bound the
    difference between these two; None if one has fewer than `MIN_DOCUMENTS` samples.
    ``of_value`` is the represented value, for a measure that has one number per value. ``p_value``
    is of the hypothesis that no pair differs: samples are permuted between subsets of fixed sizes,
    and the largest difference over all pairs is compared with ``value``. So the selection of the
    largest pair is accounted for, and subsets may be small. If ``exact``, all permutations were
    used.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float
    p_floor: float | None
    dominated_by: tuple[str, str]
    of_value: str | None
    exact: bool = False


_Result: TypeAlias = LargestDifference | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominance:
    """Differences between subsets by dominating value, for both measures of Table 5.

    ``n_by_value`` counts the samples that each value dominates, ``n_tied`` the samples without one.
    """

    unfair_share: _Result
    mean_difference: _Result
    n_by_value: Mapping[str, int]
    n_tied: int


def dominating_value(sample: SampleCoverage) -> str | None:
    """Return the value of the largest number of documents, or None if several values tie."""
    max_documents = max(entry.n_documents for entry in sample.by_value)
    top_values = [entry.value for entry in sample.by_value if entry.n_documents == max_documents]
    return top_values[0] if len(top_values) == 1 else None


def dominance(
    samples: Sequence[SampleCoverage],
    unfair: Sequence[bool],
    *,
    resampling: Resampling,
    variant: CoverageVariant = "paper",
) -> Dominance:
    """Compare R_EC and the mean coverage differences between subsets by dominating value.

    `samples` have at least two values each; `unfair` is whether a sample's Equal Coverage is
    significant. A measure is Undefined if fewer than two values dominate any sample. The mean
    difference is also Undefined if no value is in C_k of two subsets.
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

    def largest(statistic: _Statistic, columns: Sequence[str | None]) -> _Result:
        if len(subsets) < 2:
            return Undefined(why="fewer than two values dominate any sample")
        return _largest_difference(statistic, len(samples), subsets, columns, resampling)

    return Dominance(
        unfair_share=largest(share, (None,)),
        mean_difference=largest(partial(means, parts), parts.values),
        n_by_value={name: int(rows.size) for name, rows in subsets.items()},
        n_tied=values.count(None),
    )


def _largest_difference(
    statistic: _Statistic,
    n_samples: int,
    subsets: Mapping[str, IntArray],
    columns: Sequence[str | None],
    resampling: Resampling,
) -> _Result:
    """Return the largest difference over pairs of subsets and columns, with its test."""
    pairs = list(combinations(range(len(subsets)), 2))
    order = np.concatenate(list(subsets.values()))
    sizes = tuple(rows.size for rows in subsets.values())
    codes = np.repeat(np.arange(len(sizes)), sizes)

    def differences(membership: IntArray) -> FloatArray:
        """Return all differences for these assignments to subsets, shape (r, pairs, k)."""
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
    assignments = (
        [all_relabellings(sizes).astype(np.intp)] if exact else _permuted_subsets(codes, resampling)
    )
    extremes = [np.nan_to_num(np.abs(differences(rows))).max(axis=(1, 2)) for rows in assignments]
    pair, column = divmod(int(np.nanargmax(np.abs(observed))), observed.shape[1])
    signed_difference = float(observed[pair, column])
    test = compare_permutations(abs(signed_difference), np.concatenate(extremes), exact=exact)
    first_value, second_value = (list(subsets)[code] for code in pairs[pair])
    ordered_values = (
        (first_value, second_value) if signed_difference >= 0.0 else (second_value, first_value)
    )
    replicates = _resampled_differences(
        statistic, n_samples, [subsets[name] for name in ordered_values], resampling
    )
    low, high = (
        (None, None) if replicates is None else _bounds(replicates[:, column], resampling.level)
    )
    return LargestDifference(
        value=abs(signed_difference),
        low=low,
        high=high,
        p_value=test.p_value,
        p_floor=None if exact else test.p_floor,
        dominated_by=ordered_values,
        of_value=columns[column],
        exact=exact,
    )


def _permuted_subsets(codes: IntArray, resampling: Resampling) -> Iterator[IntArray]:
    """Yield random permutations of the samples' subset codes, in chunks."""
    for size in chunk_sizes(resampling.n_resamples, codes.size, cells=_CELLS_PER_CHUNK):
        yield resampling.rng.permuted(np.broadcast_to(codes, (size, codes.size)), axis=1)


def _resampled_differences(
    statistic: _Statistic, n_samples: int, pair: Sequence[IntArray], resampling: Resampling
) -> FloatArray | None:
    """Return bootstrap differences of two subsets, shape (r, k); None if one is too small."""
    if min(rows.size for rows in pair) < MIN_DOCUMENTS:
        return None
    differences = []
    for rows in pair:
        counts = np.zeros((resampling.n_resamples, n_samples))
        counts[:, rows] = resample_counts(rows.size, resampling.n_resamples, resampling.rng)
        differences.append(statistic(counts))
    return differences[0] - differences[1]


def _bounds(draws: FloatArray, level: float) -> tuple[float | None, float | None]:
    defined_draws = draws[~np.isnan(draws)]
    if not defined_draws.size:
        return None, None
    bounds = percentile_bounds(defined_draws, level=level)
    return bounds.low, bounds.high
