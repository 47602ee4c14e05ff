"""Do different scorers tell the same story (coverage fairness, section 5.3, Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.correlation import CorrelationName, rowwise, weighted_correlation
from fairjudge.stats.permutation import compare
from fairjudge.stats.resampling import Resampling

Sample: TypeAlias = tuple[str, str]
"""(eid, system)."""
_Key = TypeVar("_Key", Sample, str)
_MIN_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerAgreement:
    """Correlation under two scorers, or of two measures, with a two-sided p-value against 0.

    ``n_unmatched`` counts what only one of the scorers has.
    """

    rho: Estimate | Undefined
    n: int
    n_unmatched: int


def agreement_over_samples(
    first: Mapping[Sample, float],
    second: Mapping[Sample, float],
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    correlation: CorrelationName = "spearman",
) -> ScorerAgreement:
    """Compare a measure of each summary, such as its Equal Coverage, under two scorers.

    Interval and p-value are by bootstrap over clusters: summaries of one cluster stay together.
    """
    resampling = Resampling(rng=rng, n_resamples=n_resamples)
    return _agreement(first, second, resampling, correlation, unit=lambda key: key[0])


def agreement_over_systems(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    correlation: CorrelationName = "spearman",
) -> ScorerAgreement:
    """Compare a measure of each system, such as its Coverage Parity, under two scorers.

    The interval is by bootstrap over systems, the p-value from permuting them: there are few.
    """
    resampling = Resampling(rng=rng, n_resamples=n_resamples)
    agreement = _agreement(first, second, resampling, correlation, unit=lambda key: key)
    if isinstance(agreement.rho, Undefined):
        return agreement
    x, y = _matched(first, second)
    shuffled = rng.permuted(np.broadcast_to(x, (n_resamples, x.size)), axis=1)
    permuted = rowwise(correlation, shuffled, np.broadcast_to(y, shuffled.shape))
    placed = compare(agreement.rho.value, permuted, alternative="two-sided")
    rho = replace(agreement.rho, p_value=placed.p_value, p_floor=placed.p_floor)
    return replace(agreement, rho=rho)


def _agreement(
    first: Mapping[_Key, float],
    second: Mapping[_Key, float],
    resampling: Resampling,
    correlation: CorrelationName,
    *,
    unit: Callable[[_Key], Hashable],
) -> ScorerAgreement:
    """Correlate samples that both scorers have; `unit` maps a key to its unit of resampling."""
    shared = sorted(first.keys() & second.keys())
    units = [unit(key) for key in shared]
    rho: Estimate | Undefined = Undefined(
        why=f"{len(shared)} in common; a rank correlation needs {_MIN_PAIRS}"
    )
    if len(shared) >= _MIN_PAIRS:
        x, y = _matched(first, second)
        statistic = weighted_correlation(correlation, x, y, documents=units)
        rho = resampling.statistic(statistic, len(set(units)), n=x.size, null=0.0)
    return ScorerAgreement(rho=rho, n=len(shared), n_unmatched=len(first.keys() ^ second.keys()))


def _matched(
    first: Mapping[_Key, float], second: Mapping[_Key, float]
) -> tuple[FloatArray, FloatArray]:
    shared = sorted(first.keys() & second.keys())
    return np.array([first[key] for key in shared]), np.array([second[key] for key in shared])
