"""Propagation of the scorer's error to the measures.

With human values for some samples, prediction-powered inference corrects a measure and widens its
interval. Without any, a band bounds the measure under an assumed error rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.domain import Undefined
from fairjudge.fairness.equal_coverage import SampleCoverage, ValueCoverage
from fairjudge.fairness.measures import Band

SampleValues: TypeAlias = Mapping[str, float]
"""Maps an eid to the value of a measure in that sample of one system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMeans:
    """Means over samples, corrected with human labels (prediction-powered inference).

    ``means`` has one mean per measure. ``difference`` has, per value, the mean over- or
    under-representation over the samples in which the value occurs. ``n_unused`` counts the
    excluded samples that have human labels; None if they are not counted.
    """

    means: Mapping[str, PpiMean | Undefined]
    difference: Mapping[str, PpiMean | Undefined]
    n_labelled: int
    n_unused: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSensitivity:
    """A value's mean difference under scorer error.

    ``tipping_rate`` is the smallest error rate that could bring the mean to 0; above it the sign
    may be due to scorer error.
    """

    mean: float
    band: Band
    tipping_rate: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Worst-case bounds of the measures if the scorer's error is at most ``error_rate``."""

    error_rate: float
    bands: Mapping[str, Band]
    by_value: Mapping[str, ValueSensitivity]


def correct_means(
    sample_values: Mapping[str, SampleValues],
    human: Mapping[str, SampleValues],
    *,
    level: float = 0.95,
) -> dict[str, PpiMean | Undefined]:
    """Correct the mean of each measure with the same measure computed from human labels.

    A mean is Undefined for fewer than 2 labelled clusters, or if every sample is labelled.

    Parameters
    ----------
    sample_values
        Per measure, the scorer's value in each sample: Equal Coverage, whether it is significant
        (0 or 1), a value's coverage difference, UER or BUR.
    human
        The same measures computed from human labels, for a random subset of the samples.
    """
    means: dict[str, PpiMean | Undefined] = {}
    for name, scorer_values in sample_values.items():
        human_values = human.get(name, {})
        labelled_eids, unlabelled_eids = (
            sorted(human_values),
            sorted(scorer_values.keys() - human_values.keys()),
        )
        means[name] = ppi_mean(
            [human_values[eid] for eid in labelled_eids],
            [scorer_values[eid] for eid in labelled_eids],
            [scorer_values[eid] for eid in unlabelled_eids],
            documents=labelled_eids,
            documents_unlabelled=unlabelled_eids,
            level=level,
        )
    return means


def equal_coverage_band(sample: SampleCoverage, *, error_rate: float) -> Band:
    """Bound Equal Coverage if each value's coverage has an error of at most `error_rate`.

    p(d, s | k) may have an error e_k with |e_k| <= error_rate, in any direction for each value.
    Since p(d, s) is the mean weighted by w_k, the share of documents, c_k changes by at most
    2 error_rate (1 - w_k). The bounds add up these extremes, so they may be wider than necessary.
    """
    max_changes = _max_changes(sample.by_value, error_rate)
    gaps = [abs(difference) for difference in sample.differences]
    n_values = len(gaps)
    return Band(
        low=sum(
            max(0.0, gap - max_change) for gap, max_change in zip(gaps, max_changes, strict=True)
        )
        / n_values,
        high=sum(gap + max_change for gap, max_change in zip(gaps, max_changes, strict=True))
        / n_values,
    )


def value_sensitivity(
    samples: Sequence[SampleCoverage], *, error_rate: float
) -> dict[str, ValueSensitivity]:
    """Bound each value's mean c_k over the samples in which it occurs, in the worst case.

    The error has the same direction in every sample, as if the scorer were better on one group's
    documents than on another's.
    """
    pairs: dict[str, list[tuple[float, float]]] = {}
    for sample in samples:
        max_changes = _max_changes(sample.by_value, 1.0)
        for entry, difference, max_change in zip(
            sample.by_value, sample.differences, max_changes, strict=True
        ):
            pairs.setdefault(entry.value, []).append((difference, max_change))
    return {value: _sensitivity(rows, error_rate) for value, rows in sorted(pairs.items())}


def _sensitivity(rows: Sequence[tuple[float, float]], error_rate: float) -> ValueSensitivity:
    mean = sum(difference for difference, _ in rows) / len(rows)
    # The change for an error rate of 1; 0 only if every document has the value.
    mean_change = sum(max_change for _, max_change in rows) / len(rows)
    return ValueSensitivity(
        mean=mean,
        band=Band(low=mean - error_rate * mean_change, high=mean + error_rate * mean_change),
        tipping_rate=abs(mean) / mean_change if mean_change else 1.0,
        n=len(rows),
    )


def _max_changes(by_value: Sequence[ValueCoverage], error_rate: float) -> list[float]:
    n_documents = sum(entry.n_documents for entry in by_value)
    return [2.0 * error_rate * (1.0 - entry.n_documents / n_documents) for entry in by_value]
