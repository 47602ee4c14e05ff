"""How well the documents of each value are covered, over a system's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.equal_coverage import SampleCoverage
from fairjudge.resampling import Resampling, adjusted_by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCoverageMeans:
    """Means over the ``n`` samples that hold a value.

    ``coverage`` is the mean of p(d, s | k), ``difference`` that of c_k = p(d, s | k) - p(d, s)
    with a p-value against 0, Holm-corrected over the values in ``p_holm``; positive means
    over-represented. Coverage Parity looks at fewer samples: those in which the value is the most
    or the least covered.
    """

    n: int
    coverage: Estimate | Undefined
    difference: Estimate | Undefined
    p_holm: float | None = None


def value_coverage(
    samples: Sequence[SampleCoverage], *, resampling: Resampling
) -> dict[str, ValueCoverageMeans]:
    """Average each value over the samples that hold it, values in alphabetical order."""
    covered: dict[str, list[float]] = {}
    differences: dict[str, list[float]] = {}
    for sample in samples:
        for entry in sample.by_value:
            covered.setdefault(entry.value, []).append(entry.coverage)
            differences.setdefault(entry.value, []).append(entry.coverage - sample.overall)
    values = sorted(covered)
    left_out = {value: len(samples) - len(covered[value]) for value in values}
    moved = {
        value: resampling.mean(differences[value], n_excluded=left_out[value], null=0.0)
        for value in values
    }
    adjusted = adjusted_by_name(moved)
    return {
        value: ValueCoverageMeans(
            n=len(covered[value]),
            coverage=resampling.mean(covered[value], n_excluded=left_out[value]),
            difference=moved[value],
            p_holm=adjusted.get(value),
        )
        for value in values
    }
