"""Bootstrap intervals over documents (d) and over assignments (s), as in `news_bias`.

A row has the counts of one summary. Every measure is a function of the sum of the rows, so
resampling is a matrix product. *Documents* are originals: all inputs made from one original are
drawn together. *Assignments* are assignments of people to groups in one original: they are drawn
within their original, together with mirrored inputs. There is no interval for fewer than
`MIN_DOCUMENTS` originals, or fewer than `MIN_DOCUMENTS` - 1 assignments in addition to the
first of each original.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, codes, totals
from fairjudge.stats.bootstrap import (
    CELLS_PER_CHUNK,
    MIN_DOCUMENTS,
    NO_VALUE,
    bootstrap,
    chunk_sizes,
    divide,
    percentile_bounds,
    with_interval,
)
from fairjudge.stats.multiplicity import holm
from fairjudge.stats.resampling import Resampling, adjust_by_name

SumStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps summed counts, shape (r, m), to values, shape (r,); NaN if undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWay:
    """One measure with both intervals; both estimates have the same value."""

    over_documents: Estimate | Undefined
    over_assignments: Estimate | Undefined


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of shape (n, m), one row per summary, with the original and assignment of each row.

    Without assignments there is one input per document.
    """

    rows: FloatArray
    documents: tuple[Hashable, ...]
    assignments: tuple[Hashable, ...]

    @classmethod
    def from_rows(
        cls,
        rows: ArrayLike,
        *,
        documents: Sequence[Hashable] | None = None,
        assignments: Sequence[Hashable] | None = None,
    ) -> Counts:
        """Create counts; without `documents` each row is a separate document."""
        array = np.asarray(rows, dtype=np.float64)
        n = array.shape[0]
        by_document = tuple(range(n)) if documents is None else tuple(documents)
        by_assignment = (0,) * n if assignments is None else tuple(assignments)
        return cls(array, by_document, by_assignment)

    def concatenate_columns(self, other: Counts) -> Counts:
        """Return the counts with the columns of `other` appended."""
        return replace(self, rows=np.hstack([self.rows, other.rows]))

    @property
    def total(self) -> FloatArray:
        """The sums of the columns, shape (m,)."""
        total: FloatArray = self.rows.sum(axis=0)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Counts of a system's summaries, of ``n`` included and ``n_excluded`` excluded units."""

    counts: Counts
    n: int
    n_excluded: int = 0


def holm_over_documents(estimates: Mapping[str, TwoWay]) -> dict[str, float]:
    """Return the Holm-corrected p-values, over documents, of the estimates with p-values.

    For two groups, whose shares add up to 1, the two differences are the same test, so no
    correction is needed.
    """
    over_documents = {name: estimate.over_documents for name, estimate in estimates.items()}
    return adjust_by_name(over_documents, list if len(estimates) == 2 else holm)


def shares(sums: FloatArray) -> FloatArray:
    """Return the rows divided by their sums, shape (r, m); NaN where the sum is 0."""
    return divide(sums, sums.sum(axis=1, keepdims=True))


def two_way(
    units: Units,
    statistic: SumStatistic,
    *,
    resampling: Resampling,
    null: float | None = None,
    why: str = NO_VALUE,
) -> TwoWay:
    """Estimate a function of the summed counts with both intervals.

    `why` is the reason for a missing value. All statistics are computed on the same resamples, so
    that complementary shares have complementary intervals.
    """
    counts, n, n_excluded = units.counts, units.n, units.n_excluded
    value = float(statistic(counts.total[None, :])[0])
    if np.isnan(value):
        undefined = Undefined(why=why)
        return TwoWay(over_documents=undefined, over_assignments=undefined)
    estimate = Estimate(value=value, n=n, n_excluded=n_excluded, level=resampling.level)
    document_codes, documents = codes(counts.documents)
    by_document = totals(counts.rows, document_codes, len(documents))
    return TwoWay(
        over_documents=bootstrap(
            lambda multiplicities: statistic(multiplicities @ by_document),
            n_documents=len(documents),
            rng=deepcopy(resampling.rng),
            n_resamples=resampling.n_resamples,
            level=resampling.level,
            n=n,
            n_excluded=n_excluded,
            null=null,
            min_documents=MIN_DOCUMENTS,
        ),
        over_assignments=_over_assignments(counts, statistic, estimate, resampling, null),
    )


def _over_assignments(
    counts: Counts,
    statistic: SumStatistic,
    estimate: Estimate,
    resampling: Resampling,
    null: float | None,
) -> Estimate:
    strata, by_unit = _units(counts)
    # For the variation between assignments within documents.
    degrees_of_freedom = strata.size - np.unique(strata).size
    if degrees_of_freedom < MIN_DOCUMENTS - 1:
        problem = "too few assignments" if degrees_of_freedom else "one assignment"
        return replace(estimate, method=f"no interval: {problem} a document")
    rng = deepcopy(resampling.rng)
    sizes = chunk_sizes(resampling.n_resamples, strata.size, cells=CELLS_PER_CHUNK)
    replicates = np.concatenate(
        [statistic(_draw_within(strata, size, rng) @ by_unit) for size in sizes]
    )
    return with_interval(
        estimate,
        replicates,
        bounds=partial(percentile_bounds, level=resampling.level),
        method="percentile bootstrap over assignments within documents",
        null=null,
    )


def _units(counts: Counts) -> tuple[IntArray, FloatArray]:
    """Return the document of each assignment, ascending, and its summed rows."""
    pairs = list(zip(counts.documents, counts.assignments, strict=True))
    assignment_codes, units = codes(pairs)
    sums = totals(counts.rows, assignment_codes, len(units))
    strata, _ = codes([document for document, _ in dict.fromkeys(pairs)])
    order = np.argsort(strata, kind="stable")
    return strata[order], sums[order]


def _draw_within(strata: IntArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return multiplicities of units drawn with replacement within strata, shape (r, u)."""
    sizes = np.bincount(strata)
    first_indices = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    n_units = strata.size
    draws = rng.random((n_resamples, n_units)) * sizes[strata]
    rows = first_indices[strata] + draws.astype(np.intp)
    rows += np.arange(n_resamples)[:, None] * n_units
    counts = np.bincount(rows.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)
