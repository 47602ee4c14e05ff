"""Intervals over documents (d) and over assignments (s), as `news_bias` reports them.

A row is what one summary adds to the counts. Every measure here is a function of the rows' sum, so
resampling is a matrix product. *Documents* are originals: all inputs made from one original are
drawn together. *Assignments* are the ways in which people were given groups in one original: they
are drawn within their original, and mirrored inputs stay together. Fewer than `FEWEST_DOCUMENTS`
originals, or assignments beyond the first of each original but one, have no interval.
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
    FEWEST_DOCUMENTS,
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
"""Maps summed counts, shape (r, m), to values of shape (r,); NaN where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWay:
    """One measure with both intervals; both hold the same value."""

    over_documents: Estimate | Undefined
    over_assignments: Estimate | Undefined


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of shape (n, m), one row a summary, with the original and assignment of each.

    ``assignments`` None means that there is one input for each row's document.
    """

    rows: FloatArray
    documents: tuple[Hashable, ...]
    assignments: tuple[Hashable, ...]

    @classmethod
    def of(
        cls,
        rows: ArrayLike,
        *,
        documents: Sequence[Hashable] | None = None,
        assignments: Sequence[Hashable] | None = None,
    ) -> Counts:
        """Check the arrays; each row is a document of its own where `documents` is None."""
        array = np.asarray(rows, dtype=np.float64)
        n = array.shape[0]
        by_document = tuple(range(n)) if documents is None else tuple(documents)
        by_assignment = (0,) * n if assignments is None else tuple(assignments)
        return cls(array, by_document, by_assignment)

    def beside(self, other: Counts) -> Counts:
        """Return the rows with those of `other` to their right."""
        return replace(self, rows=np.hstack([self.rows, other.rows]))

    @property
    def total(self) -> FloatArray:
        """The columns' sums, shape (m,)."""
        total: FloatArray = self.rows.sum(axis=0)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Counts of a system's summaries; ``n`` units take part, ``n_excluded`` do not."""

    counts: Counts
    n: int
    n_excluded: int = 0


def holm_over_documents(estimates: Mapping[str, TwoWay]) -> dict[str, float]:
    """Return the Holm-corrected p-values, over documents, of the estimates that have one.

    Of two groups whose shares add up to 1 the differences mirror each other: that is one test,
    and nothing is to be corrected.
    """
    over_documents = {name: estimate.over_documents for name, estimate in estimates.items()}
    return adjust_by_name(over_documents, list if len(estimates) == 2 else holm)


def shares(sums: FloatArray) -> FloatArray:
    """Return each row's parts of its sum, shape (r, m); NaN where that is 0."""
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

    `why` explains a missing value. Every statistic is computed on the same resamples, so that
    complements stay complements.
    """
    counts, n, n_excluded = units.counts, units.n, units.n_excluded
    value = float(statistic(counts.total[None, :])[0])
    if np.isnan(value):
        undefined = Undefined(why=why)
        return TwoWay(over_documents=undefined, over_assignments=undefined)
    plain = Estimate(value=value, n=n, n_excluded=n_excluded, level=resampling.level)
    coded, documents = codes(counts.documents)
    by_document = totals(counts.rows, coded, len(documents))
    return TwoWay(
        over_documents=bootstrap(
            lambda drawn: statistic(drawn @ by_document),
            n_documents=len(documents),
            rng=deepcopy(resampling.rng),
            n_resamples=resampling.n_resamples,
            level=resampling.level,
            n=n,
            n_excluded=n_excluded,
            null=null,
            min_documents=FEWEST_DOCUMENTS,
        ),
        over_assignments=_over_assignments(counts, statistic, plain, resampling, null),
    )


def _over_assignments(
    counts: Counts,
    statistic: SumStatistic,
    plain: Estimate,
    resampling: Resampling,
    null: float | None,
) -> Estimate:
    strata, by_unit = _units(counts)
    # Degrees of freedom of the variation between assignments within documents.
    freedom = strata.size - np.unique(strata).size
    if freedom < FEWEST_DOCUMENTS - 1:
        problem = "too few assignments" if freedom else "one assignment"
        return replace(plain, method=f"no interval: {problem} a document")
    rng = deepcopy(resampling.rng)
    sizes = chunk_sizes(resampling.n_resamples, strata.size, cells=CELLS_PER_CHUNK)
    replicates = np.concatenate(
        [statistic(_draw_within(strata, size, rng) @ by_unit) for size in sizes]
    )
    return with_interval(
        plain,
        replicates,
        bounds=partial(percentile_bounds, level=resampling.level),
        method="percentile bootstrap over assignments within documents",
        null=null,
    )


def _units(counts: Counts) -> tuple[IntArray, FloatArray]:
    """Return each assignment's document, ascending, and its summed rows."""
    pairs = list(zip(counts.documents, counts.assignments, strict=True))
    coded, units = codes(pairs)
    summed = totals(counts.rows, coded, len(units))
    strata, _ = codes([document for document, _ in dict.fromkeys(pairs)])
    order = np.argsort(strata, kind="stable")
    return strata[order], summed[order]


def _draw_within(strata: IntArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw units with replacement within each stratum: multiplicities, shape (r, u)."""
    sizes = np.bincount(strata)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    u = strata.size
    picks = rng.random((n_resamples, u)) * sizes[strata]
    rows = first[strata] + picks.astype(np.intp)
    rows += np.arange(n_resamples)[:, None] * u
    flat = np.bincount(rows.ravel(), minlength=n_resamples * u)
    return flat.reshape(n_resamples, u).astype(np.float64)
