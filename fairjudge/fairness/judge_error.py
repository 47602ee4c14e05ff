"""The scorer's error, carried through to the measures.

With human values for some samples, prediction-powered inference corrects a measure and widens its
interval; without any, a band says what an assumed error rate could do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.domain import Undefined
from fairjudge.fairness.equal_coverage import SampleCoverage, ValueCoverage
from fairjudge.fairness.measures import Band

Measured: TypeAlias = Mapping[str, float]
"""Eid to a measure of one system's sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """Means over samples, corrected by people (prediction-powered inference).

    ``means`` has those of each measure, ``difference`` that of each value's over- or
    under-representation over the samples that hold it. ``n_unused`` counts the samples that people
    scored and that are excluded, None where they are not counted.
    """

    means: Mapping[str, PpiMean | Undefined]
    difference: Mapping[str, PpiMean | Undefined]
    n_labelled: int
    n_unused: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSensitivity:
    """A value's mean difference under scorer error.

    ``tipping_rate`` is the least error rate that could bring the mean to 0: beyond it the sign
    may be the scorer's doing.
    """

    mean: float
    band: Band
    tipping_rate: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What the measures may be if the scorer errs by at most ``error_rate``, in the worst case."""

    error_rate: float
    bands: Mapping[str, Band]
    by_value: Mapping[str, ValueSensitivity]


def corrected_means(
    measured: Mapping[str, Measured], human: Mapping[str, Measured], *, level: float = 0.95
) -> dict[str, PpiMean | Undefined]:
    """Correct the mean of each measure by the same measure from human labels, where it has some.

    Undefined below 2 labelled clusters, or where every sample is labelled.

    Parameters
    ----------
    measured
        Each measure by the scorer and sample: Equal Coverage, whether it is significant (0 or 1), a
        value's coverage difference, or a sample's UER or BUR.
    human
        The same measures computed from human support labels, for a random part of the samples.
    """
    means: dict[str, PpiMean | Undefined] = {}
    for name, scores in measured.items():
        by_people = human.get(name, {})
        labelled, unlabelled = sorted(by_people), sorted(scores.keys() - by_people.keys())
        means[name] = ppi_mean(
            [by_people[eid] for eid in labelled],
            [scores[eid] for eid in labelled],
            [scores[eid] for eid in unlabelled],
            documents=labelled,
            documents_unlabelled=unlabelled,
            level=level,
        )
    return means


def equal_coverage_band(sample: SampleCoverage, *, error_rate: float) -> Band:
    """Bound Equal Coverage where each value's coverage is off by at most `error_rate`.

    p(d, s | k) may be off by e_k with |e_k| <= error_rate, in any direction for each value. Since
    p(d, s) is the mean weighted by w_k, the share of documents, c_k moves by at most
    2 error_rate (1 - w_k). The bounds add up these extremes and so may be wider than need be.
    """
    moves = _moves(sample.by_value, error_rate)
    gaps = [abs(difference) for difference in sample.differences]
    n_values = len(gaps)
    return Band(
        low=sum(max(0.0, gap - move) for gap, move in zip(gaps, moves, strict=True)) / n_values,
        high=sum(gap + move for gap, move in zip(gaps, moves, strict=True)) / n_values,
    )


def value_sensitivity(
    samples: Sequence[SampleCoverage], *, error_rate: float
) -> dict[str, ValueSensitivity]:
    """Bound each value's mean c_k over the samples that hold it, in the worst case.

    The error takes the same direction in every sample, as a scorer that reads one group's
    documents better than another's would make it.
    """
    pairs: dict[str, list[tuple[float, float]]] = {}
    for sample in samples:
        moves = _moves(sample.by_value, 1.0)
        for entry, difference, move in zip(sample.by_value, sample.differences, moves, strict=True):
            pairs.setdefault(entry.value, []).append((difference, move))
    return {value: _sensitivity(rows, error_rate) for value, rows in sorted(pairs.items())}


def _sensitivity(rows: Sequence[tuple[float, float]], error_rate: float) -> ValueSensitivity:
    mean = sum(difference for difference, _ in rows) / len(rows)
    # What a rate of 1 moves; it is 0 only where the value holds every document.
    reach = sum(move for _, move in rows) / len(rows)
    return ValueSensitivity(
        mean=mean,
        band=Band(low=mean - error_rate * reach, high=mean + error_rate * reach),
        tipping_rate=abs(mean) / reach if reach else 1.0,
        n=len(rows),
    )


def _moves(by_value: Sequence[ValueCoverage], error_rate: float) -> list[float]:
    n_documents = sum(entry.n_documents for entry in by_value)
    return [2.0 * error_rate * (1.0 - entry.n_documents / n_documents) for entry in by_value]
