"""Judges and people that gave one value to all items, or to nearly all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairjudge.calibration.agreement import FEWEST_ITEMS
from fairjudge.domain import ProtocolName
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray
from fairjudge.text.counting import pluralize

NEARLY_ALL = 0.9
"""Share of the items with one value from which a side is nearly constant."""
VARIED = 0.5
"""Maximum share of the items with the same label for labels to count as varied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The side that gave one value to ``n_alike`` of ``n`` items, to all where it is None."""

    who: Literal["judge", "people"]
    n: int
    n_alike: int | None = None

    def in_words(self, item: str = "item") -> str:
        """Return a clause: ``"the judge gave one score to all 36 items"``."""
        source, value = ("people", "label") if self.who == "people" else ("the judge", "score")
        of = "all" if self.n_alike is None else f"{self.n_alike:,} of"
        return f"{source} gave one {value} to {of} {pluralize(self.n, item)}"


def constant_side(judged: FloatArray, human: FloatArray, protocol: ProtocolName) -> Constant | None:
    """Return whether people or else the judge gave all items one value; None if values differ.

    Fewer than `FEWEST_ITEMS` items say nothing. Of pairs only ties count: which of two systems
    stands first is arbitrary, so that one verdict to all of them may be right.
    """
    for source, values in (("people", human), ("judge", judged)):
        if _largest_share(values, protocol) == 1.0:
            return Constant(who="people" if source == "people" else "judge", n=values.size)
    return None


def constant_scores(
    values: Iterable[float | str | None], protocol: ProtocolName
) -> Constant | None:
    """Return how many items were scored if all got one value, as in `constant_side`."""
    scored = [
        0.0 if value == "tie" else 1.0 if isinstance(value, str) else value
        for value in values
        if value is not None
    ]
    if _largest_share(np.asarray(scored, dtype=np.float64), protocol) < 1.0:
        return None
    return Constant(who="judge", n=len(scored))


def nearly_constant_judge(
    judged: FloatArray, human: FloatArray, protocol: ProtocolName
) -> Constant | None:
    """Return how many items got the judge's most frequent value, if nearly all that people varied.

    They are at least `NEARLY_ALL` of the items, and no label of people has more than `VARIED`.
    """
    share = _largest_share(judged, protocol)
    if not NEARLY_ALL <= share < 1.0 or _largest_share(human, protocol) > VARIED:
        return None
    return Constant(who="judge", n=judged.size, n_alike=round(share * judged.size))


def _largest_share(values: FloatArray, protocol: ProtocolName) -> float:
    """Return the share of the most frequent value; of pairs that of ties. 0 for few items."""
    if values.size < FEWEST_ITEMS:
        return 0.0
    if PROTOCOLS[protocol].paired:
        return float(np.mean(values == 0.0))
    return float(np.unique(values, return_counts=True)[1].max() / values.size)
