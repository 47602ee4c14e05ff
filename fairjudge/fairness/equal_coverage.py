"""Equal Coverage (coverage fairness, section 4.1): coverage of documents with different values.

0 is fair. Coverage is a probability or a similarity; see `fairjudge.fairness.support`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.permutation import PermutationTest, compare_permutations
from fairjudge.stats.resampling import Resampling, adjust_by_name

ALPHA = 0.05
"""A summary counts as unfair below this p-value (section 4.1)."""
N_PERMUTATIONS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCoverage:
    """p(d, s | k) and the number of documents with value k."""

    value: str
    coverage: float
    n_documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCoverage:
    """One summary: coverage by value (equations 3 and 4) and Equal Coverage (equation 5).

    ``overall`` is p(d, s), the mean over all documents. ``by_value`` has one entry per value
    that occurs, sorted by value.
    """

    overall: float
    by_value: tuple[ValueCoverage, ...]
    equal_coverage: float

    @property
    def differences(self) -> tuple[float, ...]:
        """c_k = p(d, s | k) - p(d, s) per value; positive means over-represented."""
        return tuple(entry.coverage - self.overall for entry in self.by_value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCoverageMeans:
    """Means over the ``n`` samples in which a value occurs.

    ``coverage`` is the mean of p(d, s | k). ``difference`` is the mean of
    c_k = p(d, s | k) - p(d, s) with a p-value against 0 (``p_holm``: Holm-corrected over the
    values); positive means over-represented. Coverage Parity uses fewer samples: only those in
    which the value is covered most or least.
    """

    n: int
    coverage: Estimate | Undefined
    difference: Estimate | Undefined
    p_holm: float | None = None


def coverage_by_value(coverage: FloatArray, labels: Sequence[str]) -> SampleCoverage:
    """Compute equations 3 to 5 for one summary.

    With only one value, Equal Coverage is always 0: exclude such samples.

    Parameters
    ----------
    coverage : array of shape (n_documents, n_units)
        p(d, s), with at least one document and one unit.
    labels
        The value of each document.
    """
    document_coverage = coverage.mean(axis=1)
    values, codes = np.unique(np.asarray(labels, dtype=object), return_inverse=True)
    sizes = np.bincount(codes)
    means = np.bincount(codes, weights=document_coverage) / sizes
    mean_coverage = float(document_coverage.mean())
    return SampleCoverage(
        overall=mean_coverage,
        by_value=tuple(
            ValueCoverage(value=str(value), coverage=float(mean), n_documents=int(size))
            for value, mean, size in zip(values, means, sizes, strict=True)
        ),
        equal_coverage=float(np.abs(means - mean_coverage).mean()),
    )


def relabelling_test(
    coverage: FloatArray,
    labels: Sequence[str],
    *,
    rng: np.random.Generator,
    n_permutations: int = N_PERMUTATIONS,
) -> PermutationTest | Undefined:
    """Test whether Equal Coverage is larger than under random assignment of values.

    All distinct relabellings are used if there are at most `n_permutations`; otherwise
    `n_permutations` random ones are drawn. Arguments as in `coverage_by_value`.

    Undefined for fewer than two values: every relabelling is the same.
    """
    observed = coverage_by_value(coverage, labels)
    if len(observed.by_value) < 2:
        return Undefined(why="one value holds all documents: nothing to permute")
    sizes = tuple(entry.n_documents for entry in observed.by_value)
    document_coverage = coverage.mean(axis=1)
    total = count_relabellings(sizes)
    exact = total <= n_permutations
    if exact:
        rows = all_relabellings(sizes)
        means = np.stack(
            [(rows == k) @ document_coverage / size for k, size in enumerate(sizes)], axis=1
        )
    else:
        permuted_coverage = rng.permuted(
            np.broadcast_to(document_coverage, (n_permutations, len(labels))), axis=1
        )
        # Sums over blocks: a matrix product is ten times slower for many values.
        starts = np.cumsum((0, *sizes[:-1]))
        means = np.add.reduceat(permuted_coverage, starts, axis=1) / np.array(sizes)
    permuted_values = np.abs(means - observed.overall).mean(axis=1)
    return compare_permutations(observed.equal_coverage, permuted_values, exact=exact)


def value_coverage(
    samples: Sequence[SampleCoverage], *, resampling: Resampling
) -> dict[str, ValueCoverageMeans]:
    """Average each value over the samples in which it occurs, values in alphabetical order."""
    coverages: dict[str, list[float]] = {}
    differences: dict[str, list[float]] = {}
    for sample in samples:
        for entry in sample.by_value:
            coverages.setdefault(entry.value, []).append(entry.coverage)
            differences.setdefault(entry.value, []).append(entry.coverage - sample.overall)
    values = sorted(coverages)
    n_without = {value: len(samples) - len(coverages[value]) for value in values}
    mean_differences = {
        value: resampling.mean(differences[value], n_excluded=n_without[value], null=0.0)
        for value in values
    }
    adjusted_p_values = adjust_by_name(mean_differences)
    return {
        value: ValueCoverageMeans(
            n=len(coverages[value]),
            coverage=resampling.mean(coverages[value], n_excluded=n_without[value]),
            difference=mean_differences[value],
            p_holm=adjusted_p_values.get(value),
        )
        for value in values
    }


def count_relabellings(sizes: Sequence[int]) -> int:
    """Return the multinomial coefficient of `sizes`: the number of assignments of values."""
    total = math.factorial(sum(sizes))
    for size in sizes:
        total //= math.factorial(size)
    return total


@lru_cache(maxsize=64)
def all_relabellings(sizes: tuple[int, ...]) -> NDArray[np.int8]:
    """Return every distinct assignment of value codes, shape (count, n_documents)."""
    n = sum(sizes)
    # The last value fills the remaining slots.
    rows_so_far: list[list[int]] = [[len(sizes) - 1] * n]
    for code, size in enumerate(sizes[:-1]):
        extended_rows = []
        for row in rows_so_far:
            free_positions = [
                position
                for position, position_code in enumerate(row)
                if position_code == len(sizes) - 1
            ]
            for selection in combinations(free_positions, size):
                new_row = row.copy()
                for position in selection:
                    new_row[position] = code
                extended_rows.append(new_row)
        rows_so_far = extended_rows
    rows = np.array(rows_so_far, dtype=np.int8)
    rows.setflags(write=False)
    return rows
