"""Effect of a change of the summarizer on every fairness measure.

Variants are compared with a baseline on the samples that both have. Intervals are by paired
bootstrap over these samples, so the difficulty of a sample cancels out. P-values are by swapping
the two summaries within samples (FairSumm, section 7; coverage fairness, section 5.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.measures import FairnessMeasure, FairnessMeasures, SampleMatrices
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.bootstrap import chunk_sizes
from fairjudge.stats.multiplicity import benjamini_hochberg
from fairjudge.stats.permutation import compare_permutations
from fairjudge.stats.resampling import Resampling, adjust_by_name, generator

_UNPAIRED = Undefined(why="no sample that both systems have")
_CELLS_PER_CHUNK = 1_000_000
_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of shape (r, n) to the value of a measure, shape (r,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A system's samples; ``eids`` are the ids of the rows of all arrays, shape (n, ...).

    ``means`` has the values per sample of the ``measures`` that are means over samples; measures
    without values are not compared. The other measures are computed from ``corpus``.
    """

    measures: FairnessMeasures[Any, Any, Any]
    eids: tuple[str, ...]
    means: Mapping[str, FloatArray]
    corpus: SampleMatrices

    def row_indices(self, eids: Sequence[str]) -> IntArray:
        """Return the row indices of the samples `eids`."""
        row_by_eid = {eid: row for row, eid in enumerate(self.eids)}
        return np.array([row_by_eid[eid] for eid in eids], dtype=np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One measure of a variant and of the baseline, in the unit of its formula.

    ``baseline`` and ``variant`` are over the ``n`` samples that both have; None where the measure
    is undefined. ``difference`` is variant minus baseline, with a two-sided p-value against 0;
    ``measure.is_fairer`` reads its sign. ``p_holm`` and ``q_value`` (Benjamini-Hochberg) correct it
    for all changes of a comparison.
    """

    variant_name: str
    measure: FairnessMeasure[Any, Any, Any]
    n: int
    n_unpaired: int
    baseline: float | None = None
    variant: float | None = None
    difference: Estimate | Undefined = _UNPAIRED
    p_holm: float | None = None
    q_value: float | None = None

    @property
    def relative(self) -> float | None:
        """Difference divided by the baseline; None if the baseline is 0."""
        if not self.baseline or isinstance(self.difference, Undefined):
            return None
        return self.difference.value / self.baseline


def compare_with_baseline(
    kinds: Sequence[Mapping[str, Rows]],
    *,
    baseline: str,
    seed: int = 0,
    n_resamples: int = 2000,
) -> tuple[Change, ...]:
    """Compare every other system with `baseline` on every measure.

    `kinds` has coverage rows by system, proportional rows by system, or both.

    Raises
    ------
    InputError
        There is no such baseline, or no other system.
    """
    changes: list[Change] = []
    for rows in kinds:
        if baseline not in rows:
            raise InputError(
                f"no system is called {baseline!r}; there are: {', '.join(sorted(rows))}"
            )
        for name in sorted(rows.keys() - {baseline}):
            resampling = Resampling(rng=generator(seed, name), n_resamples=n_resamples)
            changes += _changes(name, rows[baseline], rows[name], resampling)
    if not changes:
        raise InputError(f"{baseline!r} is the only system: nothing to compare it with")
    return _with_corrected_p_values(sorted(changes, key=lambda change: change.variant_name))


def _changes(
    name: str, baseline_rows: Rows, variant_rows: Rows, resampling: Resampling
) -> list[Change]:
    shared_eids = sorted(set(baseline_rows.eids) & set(variant_rows.eids))
    n_unpaired = len(set(baseline_rows.eids) ^ set(variant_rows.eids))
    return [
        _change(
            statistic,
            Change(variant_name=name, measure=measure, n=len(shared_eids), n_unpaired=n_unpaired),
            measure.resampling(resampling),
        )
        for measure, statistic in _statistics(baseline_rows, variant_rows, shared_eids)
    ]


def _change(statistic: _Statistic, empty: Change, resampling: Resampling) -> Change:
    n = empty.n
    if not n:
        return empty

    def difference(counts: FloatArray) -> FloatArray:
        zeros = np.zeros_like(counts)
        return statistic(np.hstack([zeros, counts])) - statistic(np.hstack([counts, zeros]))

    estimate = resampling.statistic(difference, n, n_excluded=empty.n_unpaired)
    if isinstance(estimate, Estimate) and n > 1:
        estimate = _with_swap_p_value(statistic, estimate, n, resampling)
    baseline_counts, variant_counts = np.eye(2)[:, :, None].repeat(n, axis=2).reshape(2, 2 * n)
    return replace(
        empty,
        baseline=_value(statistic, baseline_counts),
        variant=_value(statistic, variant_counts),
        difference=estimate,
    )


def _value(statistic: _Statistic, counts: FloatArray) -> float | None:
    value = float(statistic(counts[None, :])[0])
    return None if np.isnan(value) else value


def _with_swap_p_value(
    statistic: _Statistic, estimate: Estimate, n: int, resampling: Resampling
) -> Estimate:
    """Add a p-value by swapping each sample's two summaries between the systems.

    Unlike a bootstrap p-value, it is valid for few samples. All 2^n swaps are used if there are at
    most as many as resamples. A swap for which the measure is undefined counts as extreme.
    """
    n_swaps = 2**n
    exact = n_swaps <= resampling.n_resamples

    def swapped_difference(is_kept: IntArray) -> FloatArray:
        kept_counts = is_kept.astype(np.float64)
        swapped_counts = 1.0 - kept_counts
        return statistic(np.hstack([swapped_counts, kept_counts])) - statistic(
            np.hstack([kept_counts, swapped_counts])
        )

    if exact:
        swapped_differences = swapped_difference((np.arange(n_swaps)[:, None] >> np.arange(n)) & 1)
    else:
        sizes = chunk_sizes(resampling.n_resamples, n, cells=_CELLS_PER_CHUNK)
        swapped_differences = np.concatenate(
            [swapped_difference(resampling.rng.integers(0, 2, size=(size, n))) for size in sizes]
        )
    swapped_differences[np.isnan(swapped_differences)] = np.inf
    test = compare_permutations(
        estimate.value, swapped_differences, alternative="two-sided", exact=exact
    )
    return replace(estimate, p_value=test.p_value, p_floor=None if exact else test.p_floor)


def _statistics(
    baseline_rows: Rows, variant_rows: Rows, shared_eids: Sequence[str]
) -> Iterator[tuple[FairnessMeasure[Any, Any, Any], _Statistic]]:
    """Yield each displayed measure as a function of the multiplicities of 2n rows.

    The samples `shared_eids` of the baseline come first, then those of the variant.
    """
    baseline_indices = baseline_rows.row_indices(shared_eids)
    variant_indices = variant_rows.row_indices(shared_eids)
    baseline_corpus = baseline_rows.corpus.take(baseline_indices)
    rows = baseline_corpus.concatenate(variant_rows.corpus.take(variant_indices))
    for measure in baseline_rows.measures.shown:
        key = measure.key
        if measure.corpus_formula is not None:
            yield measure, partial(measure.corpus_formula, rows)
        elif key in baseline_rows.means and key in variant_rows.means:
            values = np.concatenate(
                [
                    baseline_rows.means[key][baseline_indices],
                    variant_rows.means[key][variant_indices],
                ]
            )
            yield measure, partial(_mean, values)


def _mean(values: FloatArray, counts: FloatArray) -> FloatArray:
    means: FloatArray = counts @ values / counts.sum(axis=1)
    return means


def _with_corrected_p_values(changes: Sequence[Change]) -> tuple[Change, ...]:
    differences = {index: change.difference for index, change in enumerate(changes)}
    p_holm = adjust_by_name(differences)
    q_values = adjust_by_name(differences, benjamini_hochberg)
    return tuple(
        replace(change, p_holm=p_holm.get(index), q_value=q_values.get(index))
        for index, change in enumerate(changes)
    )


def family_size(changes: Sequence[Change]) -> int:
    """Return the number of p-values that were corrected together."""
    return sum(change.p_holm is not None for change in changes)
