"""What a change of the summarizer did to every fairness measure.

Variants are compared with a baseline on the samples that both have. Intervals are by bootstrap
over these samples: each resample draws the same samples of both, so what makes a sample hard
cancels out. P-values come from swapping the two summaries within samples (FairSumm, section 7;
coverage fairness, section 5.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import InputError, StatisticsError
from fairjudge.fairness._reporting import generator
from fairjudge.fairness._resampling import Resampling, over_samples
from fairjudge.fairness.coverage_parity import Contributions, parity
from fairjudge.fairness.proportional import Shares, second_order
from fairjudge.stats.bootstrap import bootstrap_many
from fairjudge.stats.multiplicity import benjamini_hochberg, holm
from fairjudge.stats.permutation import compare

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
MeasureName: TypeAlias = Literal[
    "equal_coverage", "r_ec", "coverage_parity", "bur", "uer", "auc", "sof"
]
_CELLS_A_CHUNK = 1_000_000
_Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Maps multiplicities of shape (r, n) to the measure, shape (r,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRows:
    """A system's coverage samples: ``eids`` names the rows of all arrays, shape (n, ...)."""

    eids: tuple[str, ...]
    equal_coverage: FloatArray
    unfair: FloatArray
    parts: Contributions


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalRows:
    """A system's proportional samples, likewise."""

    eids: tuple[str, ...]
    unfair: FloatArray
    uer: FloatArray
    auc: FloatArray
    shares: Shares


Rows: TypeAlias = CoverageRows | ProportionalRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One measure of a variant beside the baseline's, in the measure's unit; 0 is fair.

    ``baseline`` and ``variant`` are over the ``n`` samples that both have. ``difference`` is
    variant less baseline, so below 0 is fairer, with a two-sided p-value against 0; ``p_holm``
    and ``q_value`` (Benjamini-Hochberg) correct it over all changes of a comparison.
    ``relative`` is the difference as a share of the baseline, None where that is 0.
    """

    variant_name: str
    measure: MeasureName
    n: int
    n_unpaired: int
    baseline: float | None
    variant: float | None
    difference: Estimate | Undefined
    p_holm: float | None = None
    q_value: float | None = None

    @property
    def relative(self) -> float | None:
        """Difference over baseline."""
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

    Parameters
    ----------
    kinds
        Coverage rows by system, proportional rows by system, or both.

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
            Change(
                variant_name=name,
                measure=measure,
                n=len(shared),
                n_unpaired=n_unpaired,
                baseline=None,
                variant=None,
                difference=Undefined(why="no sample that both systems have"),
            ),
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

    (estimate,) = bootstrap_many(
        lambda counts: difference(counts)[:, None],
        n_documents=n,
        rng=resampling.rng,
        n_resamples=resampling.n_resamples,
        level=resampling.level,
        n_excluded=empty.n_unpaired,
    )
    if isinstance(estimate, Estimate) and n > 1:
        p_value = _swap_p_value(statistic, estimate.value, n, resampling)
        estimate = replace(estimate, p_value=p_value)
    before, after = np.eye(2)[:, :, None].repeat(n, axis=2).reshape(2, 2 * n)
    return replace(
        empty,
        baseline=float(statistic(before[None, :])[0]),
        variant=float(statistic(after[None, :])[0]),
        difference=over_samples(estimate),
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
        size = max(1, _CELLS_A_CHUNK // n)
        swapped = np.concatenate(
            [
                swapped_difference(
                    resampling.rng.integers(
                        0, 2, size=(min(size, resampling.n_resamples - start), n)
                    )
                )
                for start in range(0, resampling.n_resamples, size)
            ]
        )
    placed = compare(observed, swapped, alternative="two-sided")
    # All ways hold the observed one, which is the 1 that the formula adds.
    return (placed.p_value * (1 + swapped.size) - 1) / swapped.size if exact else placed.p_value


def _statistics(base: Rows, other: Rows, shared: Sequence[str]) -> dict[MeasureName, _Statistic]:
    """Return each measure as a function of how often each of 2n rows counts.

    The `shared` samples of `base` come first, then those of `other` in the same order.
    """
    first, second = _rows_of(base, shared), _rows_of(other, shared)

    def mean(one: FloatArray, two: FloatArray) -> _Statistic:
        values = np.concatenate([one[first], two[second]])
        return lambda counts: counts @ values / counts.sum(axis=1)

    if isinstance(base, CoverageRows) and isinstance(other, CoverageRows):
        parts = _both_parts(base.parts, other.parts, first, second)
        return {
            "equal_coverage": mean(base.equal_coverage, other.equal_coverage),
            "r_ec": mean(base.unfair, other.unfair),
            "coverage_parity": lambda counts: parity(parts, counts),
        }
    if isinstance(base, ProportionalRows) and isinstance(other, ProportionalRows):
        shares = _both_shares(base.shares, other.shares, first, second)
        return {
            "bur": mean(base.unfair, other.unfair),
            "uer": mean(base.uer, other.uer),
            "auc": mean(base.auc, other.auc),
            "sof": lambda counts: second_order(shares, counts),
        }
    raise StatisticsError("coverage rows cannot be compared with proportional rows")


def _rows_of(rows: Rows, shared: Sequence[str]) -> IntArray:
    place = {eid: row for row, eid in enumerate(rows.eids)}
    return np.array([place[eid] for eid in shared], dtype=np.intp)


def _both_parts(
    base: Contributions, other: Contributions, first: IntArray, second: IntArray
) -> Contributions:
    values = tuple(sorted({*base.values, *other.values}))
    return Contributions(
        values=values,
        sums=_stack(values, (base.values, base.sums[first]), (other.values, other.sums[second])),
        counts=_stack(
            values, (base.values, base.counts[first]), (other.values, other.counts[second])
        ),
    )


def _both_shares(base: Shares, other: Shares, first: IntArray, second: IntArray) -> Shares:
    values = tuple(sorted({*base.values, *other.values}))
    return Shares(
        values=values,
        wanted=_stack(
            values, (base.values, base.wanted[first]), (other.values, other.wanted[second])
        ),
        got=_stack(values, (base.values, base.got[first]), (other.values, other.got[second])),
    )


def _stack(values: Sequence[str], *blocks: tuple[Sequence[str], FloatArray]) -> FloatArray:
    """Put blocks with columns of their own under each other; 0 where a block lacks a value."""
    column = {value: place for place, value in enumerate(values)}
    found = []
    for names, block in blocks:
        wide = np.zeros((len(block), len(values)))
        wide[:, [column[name] for name in names]] = block
        found.append(wide)
    return np.vstack(found)


def _corrected(baseline: str, changes: Sequence[Change]) -> Comparison:
    p_values = {
        place: change.difference.p_value
        for place, change in enumerate(changes)
        if isinstance(change.difference, Estimate) and change.difference.p_value is not None
    }
    tested = list(p_values.values())
    adjusted = dict(
        zip(p_values, zip(holm(tested), benjamini_hochberg(tested), strict=True), strict=True)
    )
    return Comparison(
        baseline=baseline,
        changes=tuple(
            replace(change, p_holm=float(adjusted[place][0]), q_value=float(adjusted[place][1]))
            if place in adjusted
            else change
            for place, change in enumerate(changes)
        ),
        family=len(tested),
    )
