"""Detection of judges and annotators that gave one value to all items, or to nearly all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairjudge.calibration.agreement import MIN_ITEMS
from fairjudge.domain import ProtocolName
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray
from fairjudge.text.counting import pluralize

NEARLY_CONSTANT_SHARE = 0.9
"""Minimum share of the most frequent value for a judge to be nearly constant."""
MAX_VARIED_SHARE = 0.5
"""Maximum share of the most frequent label for labels to count as varied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The side that gave one value to ``n_alike`` of ``n`` items (to all items if None)."""

    who: Literal["judge", "people"]
    n: int
    n_alike: int | None = None

    def in_words(self, item: str = "item") -> str:
        """Return a clause: ``"the judge gave one score to all 36 items"``."""
        subject, value = ("people", "label") if self.who == "people" else ("the judge", "score")
        quantity = "all" if self.n_alike is None else f"{self.n_alike:,} of"
        return f"{subject} gave one {value} to {quantity} {pluralize(self.n, item)}"


def constant_side(judged: FloatArray, human: FloatArray, protocol: ProtocolName) -> Constant | None:
    """Return the side that gave all items one value, annotators before the judge; else None.

    Also None with fewer than `MIN_ITEMS` items. For pairs only constant ties count: the order of
    the two systems is arbitrary, so the same winner in all pairs may be right.
    """
    for side, values in (("people", human), ("judge", judged)):
        if _mode_share(values, protocol) == 1.0:
            return Constant(who="people" if side == "people" else "judge", n=values.size)
    return None


def constant_scores(
    values: Iterable[float | str | None], protocol: ProtocolName
) -> Constant | None:
    """Return the judge as a `Constant` if all its scores are equal, as in `constant_side`."""
    scores = [
        0.0 if value == "tie" else 1.0 if isinstance(value, str) else value
        for value in values
        if value is not None
    ]
    if _mode_share(np.asarray(scores, dtype=np.float64), protocol) < 1.0:
        return None
    return Constant(who="judge", n=len(scores))


def nearly_constant_judge(
    judged: FloatArray, human: FloatArray, protocol: ProtocolName
) -> Constant | None:
    """Return the judge as a `Constant` if it is nearly constant although the labels vary.

    That is, its most frequent value has at least the share `NEARLY_CONSTANT_SHARE`, and the most
    frequent label at most `MAX_VARIED_SHARE`.
    """
    share = _mode_share(judged, protocol)
    if not NEARLY_CONSTANT_SHARE <= share < 1.0 or _mode_share(human, protocol) > MAX_VARIED_SHARE:
        return None
    return Constant(who="judge", n=judged.size, n_alike=round(share * judged.size))


def _mode_share(values: FloatArray, protocol: ProtocolName) -> float:
    """Return the share of the most frequent value (for pairs, of ties); 0 for too few items."""
    if values.size < MIN_ITEMS:
        return 0.0
    if PROTOCOLS[protocol].paired:
        return float(np.mean(values == 0.0))
    return float(np.unique(values, return_counts=True)[1].max() / values.size)
