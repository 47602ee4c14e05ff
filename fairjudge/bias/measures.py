"""How the bias measures are computed and estimated, whichever they are.

`fairjudge.bias.registry` names the measures. Each is a function of counts that are summed over all
summaries of a system (`fairjudge.bias.resampling`), so none is a mean over samples, and none has
bounds under an assumed error.
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


# Without slots: a frozen generic class with them cannot be made through an alias in Python 3.11.
@dataclass(frozen=True, kw_only=True)
class BiasMeasure(Measure, Generic[DataT]):
    """A measure of one system over all its summaries.

    Parameters
    ----------
    units
        Returns the counts that are summed, one row a summary; `Undefined` where there are none.
    corpus_formula
        Maps summed counts, shape (r, m), to the measure, shape (r,); NaN where there is none.
    why
        Says why the sums over all summaries give no value.
    null
        The value of no bias, where it is tested; None for a measure without a p-value.
    title
        Heads the table of the measure; ``label`` by default.
    across
        Names the axis of its plot, and says which value is unbiased.
    note
        Says under the table how to read the score.
    """

    units: Callable[[DataT], Units | Undefined]
    corpus_formula: Callable[[DataT, FloatArray], FloatArray]
    why: Callable[[DataT], str] = lambda _: NO_VALUE
    null: float | None = None
    title: str = ""
    across: str = ""
    note: str = ""

    def estimate(self, data: DataT, resampling: Resampling) -> TwoWay:
        """Estimate the measure of one system, with both intervals.

        Every measure sees the same resamples, so that adding one moves no other.
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
