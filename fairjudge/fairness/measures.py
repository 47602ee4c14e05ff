"""How the fairness measures are computed, estimated and bounded, whichever they are.

`fairjudge.fairness.proportional` and `fairjudge.fairness.coverage_measures` hold the measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Estimate, Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.measures import Measure, Measures
from fairjudge.stats.resampling import Resampling

DataT = TypeVar("DataT")
CorpusT = TypeVar("CorpusT")
ErrorsT = TypeVar("ErrorsT")

NO_SAMPLES = Undefined(why="no samples with at least two values")
SampleNumbers: TypeAlias = Mapping[str, float | bool]
"""Measure to its number in one sample; a truth value where the measure counts samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What a measure may be if the scorer's mean error stays within the assumed rate."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMatrices:
    """The samples of a system, as the formulas of a corpus get them.

    Every field that is an array has shape (n_samples, n_values), with columns as in ``values``, and
    is 0 where a sample does not have a value.
    """

    values: tuple[str, ...]

    @property
    def matrices(self) -> dict[str, NDArray[Any]]:
        """The fields that are arrays, by name."""
        by_name = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: part for name, part in by_name.items() if isinstance(part, np.ndarray)}

    def take(self, indices: IntArray) -> Self:
        """Return the samples with row indices `indices`."""
        parts: dict[str, Any] = {name: part[indices] for name, part in self.matrices.items()}
        return replace(self, **parts)

    def concatenate(self, other: Self) -> Self:
        """Return the samples, followed by those of `other`, over the values of both."""
        values = tuple(sorted({*self.values, *other.values}))
        column = {value: index for index, value in enumerate(values)}
        parts: dict[str, Any] = {}
        for name, first in self.matrices.items():
            n_first, second = len(first), other.matrices[name]
            part = np.zeros((n_first + len(second), len(values)), dtype=first.dtype)
            part[:n_first, [column[value] for value in self.values]] = first
            part[n_first:, [column[value] for value in other.values]] = second
            parts[name] = part
        return replace(self, values=values, **parts)


# Without slots: a frozen generic class with them cannot be made through an alias in Python 3.11.
@dataclass(frozen=True, kw_only=True)
class FairnessMeasure(Measure, Generic[DataT, CorpusT, ErrorsT]):
    """A measure of one system over its samples; exactly one of the two formulas is given.

    Parameters
    ----------
    of_sample
        Maps all samples of a system, at least one, to one number or truth value each, shape (n,).
        The measure is their mean; ``--human`` corrects it.
    of_corpus
        Maps all samples, at least one, and how often each counts, shape (r, n), to the measure,
        shape (r,); NaN where there is none. For measures that are no means over samples.
    band
        Bounds the measure under an assumed error of the scorer (``--error-rate``); None for a
        measure without bounds.
    sample_key
        Name in the JSON of a sample; ``key`` by default.
    parameter
        Field of a system's JSON that belongs to the label, such as ``"tau"``.
    stream
        ``"own"``: resamples are drawn from a stream of the measure's own, so that adding it moves
        no other interval. ``"shared"`` is for the measures whose intervals were published before.
    """

    of_sample: Callable[[DataT], NDArray[Any]] | None = None
    of_corpus: Callable[[CorpusT, FloatArray], FloatArray] | None = None
    band: Callable[[ErrorsT], Band] | None = None
    sample_key: str = ""
    parameter: str = ""
    stream: Literal["own", "shared"] = "own"

    def __post_init__(self) -> None:
        if (self.of_sample is None) == (self.of_corpus is None):
            definition = "neither" if self.of_sample is None else "both"
            raise StatisticsError(
                f"measure {self.key!r}: expected either of_sample or of_corpus, got {definition}"
            )

    @property
    def in_samples(self) -> str:
        """The name in the JSON of a sample."""
        return self.sample_key or self.key

    def resampling(self, shared: Resampling) -> Resampling:
        """Return what the measure draws its resamples from."""
        return shared if self.stream == "shared" else shared.with_stream(self.key)

    def numbers(self, data: DataT, n_samples: int) -> NDArray[Any]:
        """Return each sample's number, shape (n_samples,)."""
        if self.of_sample is None or not n_samples:
            return np.zeros(0)
        return np.asarray(self.of_sample(data))


class FairnessMeasures(Measures[FairnessMeasure[DataT, CorpusT, ErrorsT]]):
    """The measures of ``fairness proportional`` or ``fairness coverage``."""

    @property
    def of_samples(self) -> tuple[FairnessMeasure[DataT, CorpusT, ErrorsT], ...]:
        """The measures that are means over samples."""
        return tuple(measure for measure in self if measure.of_sample is not None)

    @property
    def of_corpora(self) -> tuple[FairnessMeasure[DataT, CorpusT, ErrorsT], ...]:
        """The measures that are taken over all samples at once."""
        return tuple(measure for measure in self if measure.of_corpus is not None)

    def estimates(
        self,
        data: DataT,
        corpus: CorpusT,
        *,
        n_samples: int,
        resampling: Resampling,
        n_excluded: int = 0,
    ) -> dict[str, Estimate | Undefined]:
        """Estimate every measure of a system, by key, with intervals by bootstrap over samples."""
        estimates: dict[str, Estimate | Undefined] = {}
        for measure in self:
            own, of_corpus = measure.resampling(resampling), measure.of_corpus
            if of_corpus is None:
                numbers = measure.numbers(data, n_samples)
                estimates[measure.key] = own.mean(numbers, n_excluded=n_excluded)
            elif n_samples:
                estimates[measure.key] = own.statistic(
                    partial(of_corpus, corpus), n_samples, n_excluded=n_excluded
                )
            else:
                estimates[measure.key] = NO_SAMPLES
        return estimates

    def by_sample(self, data: DataT, n_samples: int) -> dict[str, NDArray[Any]]:
        """Return each sample's numbers of the measures shown that are means over samples."""
        return {
            measure.key: measure.numbers(data, n_samples)
            for measure in self.shown
            if measure.of_sample is not None
        }

    def bands(self, errors: ErrorsT) -> dict[str, Band]:
        """Bound every measure that has bounds under an assumed error of the scorer."""
        return {measure.key: measure.band(errors) for measure in self if measure.band is not None}

    def sample_json(self, numbers: SampleNumbers) -> dict[str, float | bool]:
        """Return one sample's numbers as JSON, in the measures' units."""
        return {
            self[key].in_samples: number if isinstance(number, bool) else number * self[key].times
            for key, number in numbers.items()
        }


def by_rows(by_sample: Mapping[str, NDArray[Any]], n_samples: int) -> list[SampleNumbers]:
    """Turn the numbers of each measure into those of each sample."""
    columns = {key: numbers.tolist() for key, numbers in by_sample.items()}
    return [{key: numbers[row] for key, numbers in columns.items()} for row in range(n_samples)]
