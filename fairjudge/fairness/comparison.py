"""What a change of the summarizer did to every fairness measure.

Variants are compared with a baseline on the samples that both have. Intervals are by bootstrap
over these samples: each resample draws the same samples of both, so what makes a sample hard
cancels out. P-values come from swapping the two summaries within samples (FairSumm, section 7;
coverage fairness, section 5.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness.coverage_parity import Contributions, parity
from fairjudge.fairness.proportional import Shares, second_order
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.multiplicity import benjamini_hochberg
from fairjudge.stats.permutation import compare
from fairjudge.stats.resampling import Resampling, adjusted_by_name, chunk_sizes, generator

MeasureName: TypeAlias = Literal[
    "equal_coverage", "r_ec", "coverage_parity", "bur", "uer", "auc", "sof"
]
_UNPAIRED = Undefined(why="no sample that both systems have")
_CELLS_A_CHUNK = 1_000_000
_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of shape (r, n) to the measure, shape (r,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A system's samples: ``eids`` names the rows of all arrays, shape (n, ...).

    ``means`` has the measures that are means over samples; the last one, Coverage Parity or SOF, is
    of the whole ``corpus``.
    """

    eids: tuple[str, ...]
    means: Mapping[MeasureName, FloatArray]
    corpus: Contributions | Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One measure of a variant beside the baseline's, in the measure's unit; 0 is fair.

    ``baseline`` and ``variant`` are over the ``n`` samples that both have. ``difference`` is
    variant less baseline, so below 0 is fairer, with a two-sided p-value against 0; ``p_holm``
    and ``q_value`` (Benjamini-Hochberg) correct it over all changes of a comparison.
    """

    variant_name: str
    measure: MeasureName
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All variants and measures; ``family`` is how many p-values were corrected together."""

    baseline: str
    changes: tuple[Change, ...]
    family: int


def compare_with_baseline(
    kinds: Sequence[Mapping[str, Rows]],
    *,
    baseline: str,
    seed: int = 0,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> Comparison:
    """Compare every other system with `baseline` on every measure.

    `kinds` are coverage rows by system, proportional rows by system, or both.

    Raises
    ------
    InputError
        No such baseline, or nothing to compare with it.
    """
    found: list[Change] = []
    for rows in kinds:
        if baseline not in rows:
            raise InputError(
                f"no system is called {baseline!r}; there are: {', '.join(sorted(rows))}"
            )
        for name in sorted(rows.keys() - {baseline}):
            resampling = Resampling(rng=generator(seed, name), n_resamples=n_resamples, level=level)
            found += _changes(name, rows[baseline], rows[name], resampling)
    if not found:
        raise InputError(f"{baseline!r} is the only system: nothing to compare it with")
    return _corrected(baseline, sorted(found, key=lambda change: change.variant_name))


def _changes(name: str, base: Rows, other: Rows, resampling: Resampling) -> list[Change]:
    shared = sorted(set(base.eids) & set(other.eids))
    n_unpaired = len(set(base.eids) ^ set(other.eids))
    return [
        _change(
            statistic,
            Change(variant_name=name, measure=measure, n=len(shared), n_unpaired=n_unpaired),
            resampling,
        )
        for measure, statistic in _statistics(base, other, shared).items()
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
        p_value = _swap_p_value(statistic, estimate.value, n, resampling)
        estimate = replace(estimate, p_value=p_value)
    before, after = np.eye(2)[:, :, None].repeat(n, axis=2).reshape(2, 2 * n)
    return replace(
        empty,
        baseline=float(statistic(before[None, :])[0]),
        variant=float(statistic(after[None, :])[0]),
        difference=estimate,
    )


def _swap_p_value(statistic: _Statistic, observed: float, n: int, resampling: Resampling) -> float:
    """Test a difference by giving each sample's two summaries to the systems the other way round.

    Unlike a bootstrap p-value it holds its level for a handful of samples. All 2^n ways are gone
    through where they are no more than the resamples.
    """
    n_ways = 2**n
    exact = n_ways <= resampling.n_resamples

    def swapped_difference(kept: IntArray) -> FloatArray:
        mine = kept.astype(np.float64)
        theirs = 1.0 - mine
        return statistic(np.hstack([theirs, mine])) - statistic(np.hstack([mine, theirs]))

    if exact:
        swapped = swapped_difference((np.arange(n_ways)[:, None] >> np.arange(n)) & 1)
    else:
        sizes = chunk_sizes(resampling.n_resamples, n, cells=_CELLS_A_CHUNK)
        swapped = np.concatenate(
            [swapped_difference(resampling.rng.integers(0, 2, size=(size, n))) for size in sizes]
        )
    placed = compare(observed, swapped, alternative="two-sided")
    # All ways hold the observed one, which is the 1 that the formula adds.
    return (placed.p_value * (1 + swapped.size) - 1) / swapped.size if exact else placed.p_value


def _statistics(base: Rows, other: Rows, shared: Sequence[str]) -> dict[MeasureName, _Statistic]:
    """Return each measure as a function of how often each of 2n rows counts.

    The `shared` samples of `base` come first, then those of `other` in the same order.
    """
    first, second = _rows_of(base, shared), _rows_of(other, shared)

    def mean(measure: MeasureName) -> _Statistic:
        values = np.concatenate([base.means[measure][first], other.means[measure][second]])
        return lambda counts: counts @ values / counts.sum(axis=1)

    one, two = base.corpus, other.corpus
    of_corpus: dict[MeasureName, _Statistic]
    if isinstance(one, Contributions) and isinstance(two, Contributions):
        parts = _both(one, two, ("sums", "counts"), first, second)
        of_corpus = {"coverage_parity": lambda counts: parity(parts, counts)}
    elif isinstance(one, Shares) and isinstance(two, Shares):
        shares = _both(one, two, ("wanted", "got"), first, second)
        of_corpus = {"sof": lambda counts: second_order(shares, counts)}
    else:
        raise StatisticsError("coverage rows cannot be compared with proportional rows")
    return {measure: mean(measure) for measure in base.means} | of_corpus


def _rows_of(rows: Rows, shared: Sequence[str]) -> IntArray:
    place = {eid: row for row, eid in enumerate(rows.eids)}
    return np.array([place[eid] for eid in shared], dtype=np.intp)


_Corpus = TypeVar("_Corpus", Contributions, Shares)


def _both(
    base: _Corpus, other: _Corpus, arrays: Sequence[str], first: IntArray, second: IntArray
) -> _Corpus:
    """Put the `first` rows of `base` over the `second` of `other`; 0 where one lacks a value."""
    values = tuple(sorted({*base.values, *other.values}))
    column = {value: place for place, value in enumerate(values)}
    found: dict[str, Any] = {}
    for name in arrays:
        found[name] = np.zeros((len(first) + len(second), len(values)))
        found[name][: len(first), [column[v] for v in base.values]] = getattr(base, name)[first]
        found[name][len(first) :, [column[v] for v in other.values]] = getattr(other, name)[second]
    return replace(base, values=values, **found)


def _corrected(baseline: str, changes: Sequence[Change]) -> Comparison:
    differences = {place: change.difference for place, change in enumerate(changes)}
    p_holm = adjusted_by_name(differences)
    q_values = adjusted_by_name(differences, benjamini_hochberg)
    return Comparison(
        baseline=baseline,
        changes=tuple(
            replace(change, p_holm=p_holm.get(place), q_value=q_values.get(place))
            for place, change in enumerate(changes)
        ),
        family=len(p_holm),
    )
