"""The Overall score of several data sets (coverage fairness, sections 5.5 and 5.6).

Without scaling, it is the mean over scorers (FairSumm, Table 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Undefined
from fairjudge.stats.measures import Direction

Scaling: TypeAlias = Literal["range", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """A system's score averaged over data sets: scaled, 0 is the best everywhere and 1 the worst.

    ``normalised`` maps each data set to the number that is averaged. With scaling it is in [0, 1],
    and data sets on which all systems have the same score are omitted.
    """

    value: float
    normalised: Mapping[str, float]


def overall(
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    scaling: Scaling = "range",
    direction: Direction = "lower",
) -> dict[str, Overall | Undefined]:
    """Normalise each data set to [0, 1] over systems, then average over data sets.

    Minimum and maximum are over the systems with a score on every data set, which reproduces the
    paper's tables. A system without a score on some data set is Undefined (the reason lists the
    data sets); all systems are Undefined if they are equal on every data set. `scores` maps data
    set to system to score, such as R_EC or Coverage Parity; None is no score.

    With `scaling` ``"none"`` the scores are averaged without normalisation. `direction` says
    whether lower or higher scores are fairer: the fairest system of a data set is scaled to 0.
    """
    systems = sorted({system for by_system in scores.values() for system in by_system})
    missing_sets = {
        system: [name for name, by_system in scores.items() if by_system.get(system) is None]
        for system in systems
    }
    complete_systems = [system for system in systems if not missing_sets[system]]
    normalised: dict[str, dict[str, float]] = {system: {} for system in complete_systems}
    for name, by_system in scores.items():
        complete_scores = {
            system: score
            for system, score in by_system.items()
            if score is not None and not missing_sets[system]
        }
        low, high = (
            min(complete_scores.values(), default=0.0),
            max(complete_scores.values(), default=0.0),
        )
        if scaling == "none":
            for system, score in complete_scores.items():
                normalised[system][name] = score
        elif high > low:
            for system, score in complete_scores.items():
                distance = score - low if direction == "lower" else high - score
                normalised[system][name] = distance / (high - low)
    return {
        system: Undefined(why=f"no score on {', '.join(missing_sets[system])}")
        if missing_sets[system]
        else _average(normalised[system])
        for system in systems
    }


def _average(normalised: Mapping[str, float]) -> Overall | Undefined:
    if not normalised:
        return Undefined(why="no data set tells the systems apart")
    return Overall(value=sum(normalised.values()) / len(normalised), normalised=normalised)
