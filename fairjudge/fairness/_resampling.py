"""Resampling for all fairness measures: the unit is the sample, a set with its summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap, bootstrap_mean
from fairjudge.stats.multiplicity import holm


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are made: by percentile bootstrap over samples."""

    rng: np.random.Generator
    n_resamples: int = 2000
    level: float = 0.95

    def mean(
        self, values: ArrayLike, *, n_excluded: int = 0, null: float | None = None
    ) -> Estimate | Undefined:
        """Estimate the mean of one number a sample; Undefined for none."""
        return over_samples(
            bootstrap_mean(
                np.asarray(values, dtype=np.float64),
                rng=self.rng,
                n_resamples=self.n_resamples,
                level=self.level,
                n_excluded=n_excluded,
                null=null,
            )
        )

    def statistic(
        self, statistic: WeightedStatistic, n_samples: int, *, n_excluded: int = 0
    ) -> Estimate | Undefined:
        """Estimate a statistic of the samples' multiplicities, shape (r, n_samples) to (r,)."""
        return over_samples(
            bootstrap(
                statistic,
                n_documents=n_samples,
                rng=self.rng,
                n_resamples=self.n_resamples,
                level=self.level,
                n_excluded=n_excluded,
            )
        )


def over_samples(result: Estimate | Undefined) -> Estimate | Undefined:
    """Name the resampled unit, which `fairjudge.stats` calls a document."""
    if isinstance(result, Undefined):
        return result
    return replace(result, method=result.method.replace("documents", "samples"))


def holm_by_name(estimates: Mapping[str, Estimate | Undefined]) -> dict[str, float]:
    """Return the Holm-corrected p-values of the estimates that have one."""
    tested = {
        name: estimate.p_value
        for name, estimate in estimates.items()
        if isinstance(estimate, Estimate) and estimate.p_value is not None
    }
    adjusted = holm(list(tested.values()))
    return {name: float(p) for name, p in zip(tested, adjusted, strict=True)}
