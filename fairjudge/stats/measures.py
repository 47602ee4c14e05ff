"""The base class of measures, and the registry of a command's measures.

Each command has one registry, a `Measures` instance, next to the formulas
(`fairjudge.fairness.proportional`, `fairjudge.fairness.coverage_measures`,
`fairjudge.bias.measures`). Estimates, JSON, tables, plots, comparisons and the Python results
iterate over the registry, so that a new measure appears everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from fairjudge.errors import StatisticsError

Unit: TypeAlias = Literal["number", "percent"]
Direction: TypeAlias = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of systems: its names, unit and direction.

    Formulas return plain numbers, such as shares in [0, 1]; ``unit`` determines how files and
    tables display them. Subclasses implement the computation.

    Parameters
    ----------
    key
        Name in JSON and of data frame columns, such as ``"uer"``.
    label
        Name in tables and plots, such as ``"UER"``.
    unit
        ``"percent"`` for shares that are displayed as percentages.
    direction
        Whether lower or higher values are fairer.
    shown
        False for published variants that are only in the JSON.
    """

    key: str
    label: str
    unit: Unit = "number"
    direction: Direction = "lower"
    shown: bool = True

    @property
    def times(self) -> float:
        """The factor that converts a formula's number to the unit of files and tables."""
        return 100.0 if self.unit == "percent" else 1.0

    @property
    def digits(self) -> int:
        """Number of decimals in tables."""
        return 2 if self.unit == "percent" else 4

    @property
    def label_with_unit(self) -> str:
        """The label for tables with measures of several units."""
        return f"{self.label} %" if self.unit == "percent" else self.label

    def is_fairer(self, difference: float) -> bool:
        """Whether a change by `difference` makes the system fairer."""
        return difference < 0 if self.direction == "lower" else difference > 0


MeasureT = TypeVar("MeasureT", bound=Measure)


class Measures(Generic[MeasureT]):
    """The measures of one command, in display order.

    Parameters
    ----------
    name
        Name of the command, such as ``"proportional"``.
    *measures
        The measures; their keys must be unique.
    """

    def __init__(self, name: str, *measures: MeasureT) -> None:
        self.name = name
        self._by_key: dict[str, MeasureT] = {}
        for measure in measures:
            self._add(measure)

    def _add(self, measure: MeasureT) -> None:
        if measure.key in self._by_key:
            raise StatisticsError(f"two {self.name} measures are called {measure.key!r}")
        self._by_key[measure.key] = measure

    @contextmanager
    def adding(self, measure: MeasureT) -> Iterator[None]:
        """Add `measure` within a ``with`` block, to try it out or for tests."""
        self._add(measure)
        try:
            yield
        finally:
            del self._by_key[measure.key]

    def __iter__(self) -> Iterator[MeasureT]:
        return iter(tuple(self._by_key.values()))

    def __getitem__(self, key: str) -> MeasureT:
        return self._by_key[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    @property
    def shown(self) -> tuple[MeasureT, ...]:
        """The measures that are displayed in tables."""
        return tuple(measure for measure in self if measure.shown)
