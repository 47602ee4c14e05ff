"""Bootstrap intervals and seeds of fairness and bias measures; adjusted p-values by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import vector
from fairjudge.stats.bootstrap import (
    FEWEST_DOCUMENTS,
    WeightedStatistic,
    bootstrap_many,
    weighted_mean,
)
from fairjudge.stats.multiplicity import holm

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Settings of percentile bootstrap intervals over samples.

    A sample is a set of documents with its summary; for bias, an original with its variants. With
    fewer than `FEWEST_DOCUMENTS` samples there is no interval and no p-value.
    """

    rng: np.random.Generator
    n_resamples: int = 2000
    level: float = 0.95

    def apart(self, name: str) -> Resampling:
        """Return this with a random stream of its own for `name`, independent of other draws."""
        source: Any = self.rng.bit_generator.seed_seq
        own = np.random.SeedSequence(
            source.entropy, spawn_key=(*source.spawn_key, *name.encode("utf-8"))
        )
        return replace(self, rng=np.random.default_rng(own))

    def mean(
        self, values: ArrayLike, *, n_excluded: int = 0, null: float | None = None
    ) -> Estimate | Undefined:
        """Estimate the mean of one number per sample; Undefined for no samples."""
        numbers = vector(values, name="values")
        if not numbers.size:
            return Undefined(why="no values")
        mean = weighted_mean(numbers, np.arange(numbers.size), numbers.size)
        return self.statistic(mean, numbers.size, n_excluded=n_excluded, null=null)

    def statistic(
        self, statistic: WeightedStatistic, n_samples: int, **reported: Any
    ) -> Estimate | Undefined:
        """Estimate a statistic of the samples' multiplicities, (r, n_samples) to (r,)."""
        (estimate,) = self.statistics(
            lambda counts: statistic(counts)[:, None], n_samples, **reported
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
        """Estimate several statistics on the same resamples, (r, n_samples) to (r, k)."""
        estimates = bootstrap_many(
            statistic,
            n_documents=n_samples,
            rng=self.rng,
            n_resamples=self.n_resamples,
            level=self.level,
            n=n,
            n_excluded=n_excluded,
            null=null,
            min_documents=FEWEST_DOCUMENTS,
        )
        return tuple(map(_over_samples, estimates))


def _over_samples(result: Estimate | Undefined) -> Estimate | Undefined:
    """Rename the resampled unit, which `fairjudge.stats` calls a document, in the method's name."""
    if isinstance(result, Undefined):
        return result
    return replace(result, method=result.method.replace("documents", "samples"))


def generator(seed: int, name: str) -> np.random.Generator:
    """Return a random generator for `name`, independent of everything else in a file."""
    return np.random.default_rng([seed, *name.encode("utf-8")])


def adjusted_by_name(
    estimates: Mapping[Name, Estimate | Undefined],
    adjust: Callable[[list[float]], Iterable[float]] = holm,
) -> dict[Name, float]:
    """Return the adjusted p-values (by default Holm's) of the estimates that have a p-value."""
    tested = {
        name: estimate.p_value
        for name, estimate in estimates.items()
        if isinstance(estimate, Estimate) and estimate.p_value is not None
    }
    return dict(zip(tested, map(float, adjust(list(tested.values()))), strict=True))
