"""Classes to compute, estimate and bound any fairness measure.

The measures are in `fairjudge.fairness.proportional` and `fairjudge.fairness.coverage_measures`.
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
"""Maps a measure's key to its value in one sample; a bool if the measure is a share of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Bounds of a measure if the scorer's mean error is at most the assumed rate."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMatrices:
    """The samples of a system as matrices: the input of corpus formulas.

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


# No slots: in Python 3.11 a frozen generic class with slots cannot be created through an alias.
@dataclass(frozen=True, kw_only=True)
class FairnessMeasure(Measure, Generic[DataT, CorpusT, ErrorsT]):
    """A measure of one system over its samples, with exactly one of the two formulas.

    Parameters
    ----------
    sample_formula
        Maps the samples of a system (at least one) to one number or bool per sample, shape (n,).
        The measure is their mean; ``--human`` corrects it.
    corpus_formula
        Maps the samples (at least one) and their multiplicities, shape (r, n), to the measure,
        shape (r,); NaN if it is undefined. For measures that are not means over samples.
    band
        Bounds the measure under an assumed error of the scorer (``--error-rate``); None if the
        measure has no bounds.
    sample_key
        Key in the JSON of a sample; ``key`` by default.
    parameter
        Field of a system's JSON to show with the label, such as ``"tau"``.
    stream
        ``"own"``: the measure has a separate random stream, so that adding it changes no other
        interval. ``"shared"``: for measures whose intervals were published before.
    """

    sample_formula: Callable[[DataT], NDArray[Any]] | None = None
    corpus_formula: Callable[[CorpusT, FloatArray], FloatArray] | None = None
    band: Callable[[ErrorsT], Band] | None = None
    sample_key: str = ""
    parameter: str = ""
    stream: Literal["own", "shared"] = "own"

    def __post_init__(self) -> None:
        if (self.sample_formula is None) == (self.corpus_formula is None):
            definition = "neither" if self.sample_formula is None else "both"
            raise StatisticsError(
                f"measure {self.key!r}: pass sample_formula or corpus_formula, got {definition}"
            )

    @property
    def sample_json_key(self) -> str:
        """The key in the JSON of a sample."""
        return self.sample_key or self.key

    def resampling(self, shared_resampling: Resampling) -> Resampling:
        """Return the resampling settings and random stream of the measure."""
        if self.stream == "shared":
            return shared_resampling
        return shared_resampling.with_stream(self.key)

    def numbers(self, data: DataT, n_samples: int) -> NDArray[Any]:
        """Return the measure's value in each sample, shape (n_samples,)."""
        if self.sample_formula is None or not n_samples:
            return np.zeros(0)
        return np.asarray(self.sample_formula(data))


class FairnessMeasures(Measures[FairnessMeasure[DataT, CorpusT, ErrorsT]]):
    """The measures of ``fairness proportional`` or ``fairness coverage``."""

    @property
    def sample_measures(self) -> tuple[FairnessMeasure[DataT, CorpusT, ErrorsT], ...]:
        """The measures that are means over samples."""
        return tuple(measure for measure in self if measure.sample_formula is not None)

    @property
    def corpus_measures(self) -> tuple[FairnessMeasure[DataT, CorpusT, ErrorsT], ...]:
        """The measures that are computed over all samples at once."""
        return tuple(measure for measure in self if measure.corpus_formula is not None)

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
            measure_resampling, formula = measure.resampling(resampling), measure.corpus_formula
            if formula is None:
                numbers = measure.numbers(data, n_samples)
                estimates[measure.key] = measure_resampling.mean(numbers, n_excluded=n_excluded)
            elif n_samples:
                estimates[measure.key] = measure_resampling.statistic(
                    partial(formula, corpus), n_samples, n_excluded=n_excluded
                )
            else:
                estimates[measure.key] = NO_SAMPLES
        return estimates

    def by_sample(self, data: DataT, n_samples: int) -> dict[str, NDArray[Any]]:
        """Return the values per sample of the displayed measures that are means over samples."""
        return {
            measure.key: measure.numbers(data, n_samples)
            for measure in self.shown
            if measure.sample_formula is not None
        }

    def bands(self, errors: ErrorsT) -> dict[str, Band]:
        """Return the bounds under an assumed scorer error, of the measures that have bounds."""
        return {measure.key: measure.band(errors) for measure in self if measure.band is not None}

    def sample_json(self, numbers: SampleNumbers) -> dict[str, float | bool]:
        """Return the values of one sample as JSON, in the measures' units."""
        return {
            self[key].sample_json_key: number
            if isinstance(number, bool)
            else number * self[key].times
            for key, number in numbers.items()
        }


def rows_from_columns(by_sample: Mapping[str, NDArray[Any]], n_samples: int) -> list[SampleNumbers]:
    """Transpose arrays of values per measure into one mapping per sample."""
    columns = {key: numbers.tolist() for key, numbers in by_sample.items()}
    return [{key: numbers[row] for key, numbers in columns.items()} for row in range(n_samples)]
