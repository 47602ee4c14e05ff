"""Classes to compute and estimate any bias measure.

`fairjudge.bias.registry` lists the measures. Each is a function of counts summed over all summaries
of a system (`fairjudge.bias.resampling`), so none is a mean over samples, and none has bounds under
an assumed error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fairjudge.bias.resampling import TwoWay, Units, two_way
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.bootstrap import NO_VALUE
from fairjudge.stats.measures import Measure, Measures
from fairjudge.stats.resampling import Resampling

DataT = TypeVar("DataT")


# No slots: in Python 3.11 a frozen generic class with slots cannot be created through an alias.
@dataclass(frozen=True, kw_only=True)
class BiasMeasure(Measure, Generic[DataT]):
    """A measure of one system over all its summaries.

    Parameters
    ----------
    units
        Returns the counts to sum, one row per summary; `Undefined` if there are none.
    corpus_formula
        Maps summed counts, shape (r, m), to the measure, shape (r,); NaN if it is undefined.
    why
        Returns the reason why the measure has no value for the sums over all summaries.
    null
        The value without bias, to test against; None for a measure without a p-value.
    title
        Title of the measure's table; ``label`` by default.
    axis_label
        Label of the axis of its plot, with the unbiased value.
    note
        Explanation of the score, shown below the table.
    """

    units: Callable[[DataT], Units | Undefined]
    corpus_formula: Callable[[DataT, FloatArray], FloatArray]
    why: Callable[[DataT], str] = lambda _: NO_VALUE
    null: float | None = None
    title: str = ""
    axis_label: str = ""
    note: str = ""

    def estimate(self, data: DataT, resampling: Resampling) -> TwoWay:
        """Estimate the measure of one system, with both intervals.

        All measures use the same resamples, so that adding one changes no other.
        """
        units = self.units(data)
        if isinstance(units, Undefined):
            return TwoWay(over_documents=units, over_assignments=units)
        return two_way(
            units,
            lambda sums: self.corpus_formula(data, sums),
            resampling=resampling,
            null=self.null,
            why=self.why(data),
        )


class BiasMeasures(Measures[BiasMeasure[DataT]]):
    """The measures of ``bias words``, ``bias entities`` or ``bias distinguishability``."""

    def estimates(self, data: DataT, resampling: Resampling) -> dict[str, TwoWay]:
        """Estimate every measure of one system, by key."""
        return {measure.key: measure.estimate(data, resampling) for measure in self}
