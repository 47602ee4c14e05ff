"""Bootstrap intervals and random generators of fairness and bias measures; adjusted p-values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import vector
from fairjudge.stats.bootstrap import (
    MIN_DOCUMENTS,
    WeightedStatistic,
    bootstrap_many,
    weighted_mean,
)
from fairjudge.stats.multiplicity import holm

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Settings of percentile bootstrap intervals over samples.

    A sample is a set of documents with its summary or, for bias, an original text with its
    variants. With fewer than `MIN_DOCUMENTS` samples there is no interval and no p-value.
    """

    rng: np.random.Generator
    n_resamples: int = 2000
    level: float = 0.95

    def with_stream(self, name: str) -> Resampling:
        """Return a copy with a separate random stream for `name`, independent of other draws."""
        parent: Any = self.rng.bit_generator.seed_seq
        seed_sequence = np.random.SeedSequence(
            parent.entropy, spawn_key=(*parent.spawn_key, *name.encode("utf-8"))
        )
        return replace(self, rng=np.random.default_rng(seed_sequence))

    def mean(
        self, values: ArrayLike, *, n_excluded: int = 0, null: float | None = None
    ) -> Estimate | Undefined:
        """Estimate the mean of one number per sample; Undefined without samples."""
        numbers = vector(values, name="values")
        if not numbers.size:
            return Undefined(why="no values")
        mean = weighted_mean(numbers, np.arange(numbers.size), numbers.size)
        return self.statistic(mean, numbers.size, n_excluded=n_excluded, null=null)

    def statistic(
        self, statistic: WeightedStatistic, n_samples: int, **options: Any
    ) -> Estimate | Undefined:
        """Estimate a statistic that maps multiplicities, (r, n_samples), to values, (r,)."""
        (estimate,) = self.statistics(
            lambda counts: statistic(counts)[:, None], n_samples, **options
        )
        return estimate

    def statistics(
        self,
        statistic: WeightedStatistic,
        n_samples: int,
        *,
        n: int | None = None,
        n_excluded: int = 0,
        null: float | None = None,
    ) -> tuple[Estimate | Undefined, ...]:
        """Estimate k statistics on the same resamples; maps (r, n_samples) to (r, k)."""
        estimates = bootstrap_many(
            statistic,
            n_documents=n_samples,
            rng=self.rng,
            n_resamples=self.n_resamples,
            level=self.level,
            n=n,
            n_excluded=n_excluded,
            null=null,
            min_documents=MIN_DOCUMENTS,
        )
        return tuple(map(_rename_unit, estimates))


def _rename_unit(result: Estimate | Undefined) -> Estimate | Undefined:
    """Call the resampled unit a sample instead of a document, in the method's description."""
    if isinstance(result, Undefined):
        return result
    return replace(result, method=result.method.replace("documents", "samples"))


def generator(seed: int, name: str) -> np.random.Generator:
    """Return a random generator for `name`, independent of generators with other names."""
    return np.random.default_rng([seed, *name.encode("utf-8")])


def adjust_by_name(
    estimates: Mapping[Name, Estimate | Undefined],
    adjust: Callable[[list[float]], Iterable[float]] = holm,
) -> dict[Name, float]:
    """Adjust (by default with Holm's method) the p-values of the estimates that have one."""
    p_values = {
        name: estimate.p_value
        for name, estimate in estimates.items()
        if isinstance(estimate, Estimate) and estimate.p_value is not None
    }
    return dict(zip(p_values, map(float, adjust(list(p_values.values()))), strict=True))
