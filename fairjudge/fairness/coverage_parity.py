"""Coverage Parity (coverage fairness, section 4.2): over-represented values across a corpus.

0 is fair. The sign follows c_k = p(d, s | k) - p(d, s), so positive means over-represented; the
paper's text writes the opposite difference and calls its maximum over-represented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.fairness.equal_coverage import SampleCoverage
from fairjudge.fairness.measures import SampleMatrices
from fairjudge.stats._arrays import BoolArray, FloatArray
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.resampling import Resampling, adjust_by_name

N_RESAMPLES = 5000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueParity:
    """The mean of C_k with a p-value against 0, also Holm-corrected over the values.

    ``n`` counts the samples in C_k; ``mean`` is Undefined if there are none.
    """

    n: int
    mean: Estimate | Undefined
    p_holm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageParity:
    """The terms of equation 6, by value, for one system; `parity` computes the equation.

    ``over`` and ``under`` are the values with the largest and the smallest mean; None if all means
    are equal.
    """

    n: int
    by_value: Mapping[str, ValueParity]
    over: str | None
    under: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions(SampleMatrices):
    """The coverage of each sample by value, and the contribution of each sample to each C_k.

    ``coverage`` is p(d, s | k) over the ``n_documents`` of a sample with value k; both are 0 where
    a sample has no such document. ``sums`` and ``counts`` are the sum and the number of the
    differences that the sample contributes to C_k.
    """

    coverage: FloatArray
    n_documents: FloatArray
    sums: FloatArray
    counts: FloatArray

    @property
    def takes_part(self) -> BoolArray:
        """Whether a sample has documents of a value, shape (n_samples, n_values)."""
        return self.n_documents > 0.0


def contributions(
    samples: Sequence[SampleCoverage], *, variant: CoverageVariant = "paper"
) -> Contributions:
    """Collect the differences c_k of every sample.

    ``"paper"``: a sample contributes c_k only for the values with the largest and the smallest c
    (all of them in case of ties, so that the order of values does not matter).
    ``"released"``: each document's coverage minus the sample's mean is added to its value's set.
    """
    values = tuple(sorted({entry.value for sample in samples for entry in sample.by_value}))
    column = {value: index for index, value in enumerate(values)}
    coverage, n_documents, sums, counts = np.zeros((4, len(samples), len(values)))
    for row, sample in enumerate(samples):
        differences = np.array(sample.differences)
        columns = [column[entry.value] for entry in sample.by_value]
        coverage[row, columns] = [entry.coverage for entry in sample.by_value]
        n_documents[row, columns] = [entry.n_documents for entry in sample.by_value]
        if variant == "released":
            weights = np.array([float(entry.n_documents) for entry in sample.by_value])
        else:
            extreme = (differences >= differences.max() - _ROUNDING) | (
                differences <= differences.min() + _ROUNDING
            )
            weights = extreme.astype(np.float64)
        sums[row, columns] = weights * differences
        counts[row, columns] = weights
    return Contributions(
        values=values, coverage=coverage, n_documents=n_documents, sums=sums, counts=counts
    )


def mean_coverage(parts: Contributions, multiplicities: FloatArray) -> FloatArray:
    """Return the mean coverage of each value over the samples that have it, shape (r, n_values).

    `multiplicities` have shape (r, n_samples); NaN where no sample has the value.
    """
    return divide(
        multiplicities @ parts.coverage, multiplicities @ parts.takes_part.astype(np.float64)
    )


def means(parts: Contributions, multiplicities: FloatArray) -> FloatArray:
    """Return the mean of each C_k for multiplicities of shape (r, n_samples): shape (r, n_values).

    NaN where C_k is empty.
    """
    return divide(multiplicities @ parts.sums, multiplicities @ parts.counts)


def parity(parts: Contributions, multiplicities: FloatArray) -> FloatArray:
    """Return CP, shape (r,), for multiplicities (r, n_samples); NaN if every C_k is empty."""
    absolute = np.abs(means(parts, multiplicities))
    nonempty = (~np.isnan(absolute)).astype(np.float64)
    return divide(np.nansum(absolute, axis=1), nonempty.sum(axis=1))


def value_parity(parts: Contributions, *, resampling: Resampling) -> CoverageParity:
    """Estimate the mean of each C_k, with intervals and p-values by bootstrap over samples.

    Needs at least one sample.
    """
    over, under = _extremes(parts)
    return CoverageParity(
        n=len(parts.sums), by_value=_by_value(parts, resampling), over=over, under=under
    )


def _by_value(parts: Contributions, resampling: Resampling) -> dict[str, ValueParity]:
    n_samples = len(parts.sums)
    estimates = resampling.statistics(lambda counts: means(parts, counts), n_samples, null=0.0)
    sample_counts = np.count_nonzero(parts.counts, axis=0)
    means_by_value = {
        value: _with_sample_counts(estimate, int(n), n_samples)
        for value, estimate, n in zip(parts.values, estimates, sample_counts, strict=True)
    }
    adjusted_p_values = adjust_by_name(means_by_value)
    return {
        value: ValueParity(
            n=int(n), mean=means_by_value[value], p_holm=adjusted_p_values.get(value)
        )
        for value, n in zip(parts.values, sample_counts, strict=True)
    }


def _with_sample_counts(
    estimate: Estimate | Undefined, n: int, n_samples: int
) -> Estimate | Undefined:
    if isinstance(estimate, Undefined):
        return Undefined(why="the value is never the most or the least covered")
    return replace(estimate, n=n, n_excluded=n_samples - n)


def _extremes(parts: Contributions) -> tuple[str | None, str | None]:
    observed = means(parts, np.ones((1, len(parts.sums))))[0]
    nonempty = np.flatnonzero(~np.isnan(observed))
    if not nonempty.size or np.ptp(observed[nonempty]) <= _ROUNDING:
        return None, None
    top, bottom = nonempty[observed[nonempty].argmax()], nonempty[observed[nonempty].argmin()]
    return parts.values[top], parts.values[bottom]
