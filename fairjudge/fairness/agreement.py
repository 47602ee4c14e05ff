"""Do different scorers tell the same story (coverage fairness, section 5.3, Table 2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness._resampling import over_samples
from fairjudge.stats.bootstrap import bootstrap
from fairjudge.stats.correlation import rowwise, weighted_correlation
from fairjudge.stats.permutation import compare

Sample: TypeAlias = tuple[str, str]
"""(eid, system)."""
_Key = TypeVar("_Key", Sample, str)
_FloatArray: TypeAlias = NDArray[np.float64]
_MIN_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerAgreement:
    """Spearman correlation of a measure under two scorers, with a two-sided p-value against 0.

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
) -> ScorerAgreement:
    """Compare a measure of each summary, such as its Equal Coverage, under two scorers.

    Interval and p-value are by bootstrap over clusters: summaries of one cluster stay together.
    """
    matched = _match(first, second)
    if isinstance(matched, ScorerAgreement):
        return matched
    keys, x, y = matched
    rho = _estimate(x, y, [eid for eid, _ in keys], rng, n_resamples)
    return ScorerAgreement(rho=rho, n=len(keys), n_unmatched=len(first.keys() ^ second.keys()))


def agreement_over_systems(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
) -> ScorerAgreement:
    """Compare a measure of each system, such as its Coverage Parity, under two scorers.

    The interval is by bootstrap over systems, the p-value from permuting them: there are few.
    """
    matched = _match(first, second)
    if isinstance(matched, ScorerAgreement):
        return matched
    keys, x, y = matched
    rho = _estimate(x, y, keys, rng, n_resamples)
    if isinstance(rho, Estimate):
        shuffled = rng.permuted(np.broadcast_to(x, (n_resamples, x.size)), axis=1)
        permuted = rowwise("spearman", shuffled, np.broadcast_to(y, shuffled.shape))
        rho = replace(rho, p_value=compare(rho.value, permuted, alternative="two-sided").p_value)
    return ScorerAgreement(rho=rho, n=len(keys), n_unmatched=len(first.keys() ^ second.keys()))


def _match(
    first: Mapping[_Key, float], second: Mapping[_Key, float]
) -> tuple[list[_Key], _FloatArray, _FloatArray] | ScorerAgreement:
    """Return what both scorers have, or why that is too little."""
    shared = sorted(first.keys() & second.keys())
    if len(shared) < _MIN_PAIRS:
        why = f"{len(shared)} in common; a rank correlation needs {_MIN_PAIRS}"
        return ScorerAgreement(
            rho=Undefined(why=why), n=len(shared), n_unmatched=len(first.keys() ^ second.keys())
        )
    return (
        shared,
        np.array([first[key] for key in shared]),
        np.array([second[key] for key in shared]),
    )


def _estimate(
    x: _FloatArray,
    y: _FloatArray,
    units: Sequence[Hashable],
    rng: np.random.Generator,
    n_resamples: int,
) -> Estimate | Undefined:
    return over_samples(
        bootstrap(
            weighted_correlation("spearman", x, y, documents=units),
            n_documents=len(set(units)),
            rng=rng,
            n_resamples=n_resamples,
            n=x.size,
            null=0.0,
        )
    )
