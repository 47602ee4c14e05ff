"""What a change of the summarizer did to every fairness measure.

Variants are compared with a baseline on the samples that both have. Intervals are by bootstrap
over these samples: each resample draws the same samples of both, so what makes a sample hard
cancels out. P-values come from swapping the two summaries within samples (FairSumm, section 7;
coverage fairness, section 5.8).
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
_CELLS_A_CHUNK = 1_000_000
_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of shape (r, n) to the measure, shape (r,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A system's samples: ``eids`` names the rows of all arrays, shape (n, ...).

    ``means`` has the numbers of those of the ``measures`` that are means over samples; one that is
    absent is not compared. The others are of the whole ``corpus``.
    """

    measures: FairnessMeasures[Any, Any, Any]
    eids: tuple[str, ...]
    means: Mapping[str, FloatArray]
    corpus: SampleMatrices

    def places(self, eids: Sequence[str]) -> IntArray:
        """Return the rows of the samples `eids`."""
        place = {eid: row for row, eid in enumerate(self.eids)}
        return np.array([place[eid] for eid in eids], dtype=np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One measure of a variant beside the baseline's, as its formula gives it; 0 is fair.

    ``baseline`` and ``variant`` are over the ``n`` samples that both have. ``difference`` is
    variant less baseline, so below 0 is fairer, with a two-sided p-value against 0; ``p_holm``
    and ``q_value`` (Benjamini-Hochberg) correct it over all changes of a comparison.
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
        """Difference as a share of the baseline, None where that is 0."""
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

    `kinds` are coverage rows by system, proportional rows by system, or both.

    Raises
    ------
    InputError
        No such baseline, or nothing to compare with it.
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
    return _corrected(sorted(changes, key=lambda change: change.variant_name))


def _changes(name: str, base: Rows, other: Rows, resampling: Resampling) -> list[Change]:
    shared = sorted(set(base.eids) & set(other.eids))
    n_unpaired = len(set(base.eids) ^ set(other.eids))
    return [
        _change(
            statistic,
            Change(variant_name=name, measure=measure, n=len(shared), n_unpaired=n_unpaired),
            measure.resampling(resampling),
        )
        for measure, statistic in _statistics(base, other, shared)
    ]


def _change(statistic: _Statistic, empty: Change, resampling: Resampling) -> Change:
    n = empty.n
    if not n:
        return empty

    def difference(counts: FloatArray) -> FloatArray:
        none = np.zeros_like(counts)
        return statistic(np.hstack([none, counts])) - statistic(np.hstack([counts, none]))

    estimate = resampling.statistic(difference, n, n_excluded=empty.n_unpaired)
    if isinstance(estimate, Estimate) and n > 1:
        estimate = _with_swap_p_value(statistic, estimate, n, resampling)
    before, after = np.eye(2)[:, :, None].repeat(n, axis=2).reshape(2, 2 * n)
    return replace(
        empty,
        baseline=float(statistic(before[None, :])[0]),
        variant=float(statistic(after[None, :])[0]),
        difference=estimate,
    )


def _with_swap_p_value(
    statistic: _Statistic, estimate: Estimate, n: int, resampling: Resampling
) -> Estimate:
    """Test a difference by giving each sample's two summaries to the systems the other way round.

    Unlike a bootstrap p-value it holds its level for a handful of samples. All 2^n ways are gone
    through where they are no more than the resamples.
    """
    n_ways = 2**n
    exact = n_ways <= resampling.n_resamples

    def swapped_difference(unswapped: IntArray) -> FloatArray:
        keeps = unswapped.astype(np.float64)
        swaps = 1.0 - keeps
        return statistic(np.hstack([swaps, keeps])) - statistic(np.hstack([keeps, swaps]))

    if exact:
        swapped = swapped_difference((np.arange(n_ways)[:, None] >> np.arange(n)) & 1)
    else:
        sizes = chunk_sizes(resampling.n_resamples, n, cells=_CELLS_A_CHUNK)
        swapped = np.concatenate(
            [swapped_difference(resampling.rng.integers(0, 2, size=(size, n))) for size in sizes]
        )
    placed = compare_permutations(estimate.value, swapped, alternative="two-sided", exact=exact)
    return replace(estimate, p_value=placed.p_value, p_floor=None if exact else placed.p_floor)


def _statistics(
    base: Rows, other: Rows, shared: Sequence[str]
) -> Iterator[tuple[FairnessMeasure[Any, Any, Any], _Statistic]]:
    """Yield each measure shown as a function of how often each of 2n rows counts.

    The `shared` samples of `base` come first, then those of `other` in the same order.
    """
    first, second = base.places(shared), other.places(shared)
    rows = base.corpus.take(first).concatenate(other.corpus.take(second))
    for measure in base.measures.shown:
        key = measure.key
        if measure.of_corpus is not None:
            yield measure, partial(measure.of_corpus, rows)
        elif key in base.means and key in other.means:
            values = np.concatenate([base.means[key][first], other.means[key][second]])
            yield measure, partial(_mean, values)


def _mean(values: FloatArray, counts: FloatArray) -> FloatArray:
    means: FloatArray = counts @ values / counts.sum(axis=1)
    return means


def _corrected(changes: Sequence[Change]) -> tuple[Change, ...]:
    differences = {place: change.difference for place, change in enumerate(changes)}
    p_holm = adjust_by_name(differences)
    q_values = adjust_by_name(differences, benjamini_hochberg)
    return tuple(
        replace(change, p_holm=p_holm.get(place), q_value=q_values.get(place))
        for place, change in enumerate(changes)
    )


def family_of(changes: Sequence[Change]) -> int:
    """Return how many p-values were corrected together."""
    return sum(change.p_holm is not None for change in changes)
