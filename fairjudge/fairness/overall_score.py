"""The Overall score of several data sets (coverage fairness, sections 5.5 and 5.6).

Unscaled, it is the mean of several scorers (FairSumm, Table 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Undefined

Scaling: TypeAlias = Literal["range", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """A system's score averaged over data sets: scaled, 0 is the best everywhere and 1 the worst.

    ``normalised`` has what is averaged, one number a data set. Scaled, it is in [0, 1], and data
    sets on which all systems score the same are absent.
    """

    value: float
    normalised: Mapping[str, float]


def overall(
    scores: Mapping[str, Mapping[str, float]], *, scaling: Scaling = "range"
) -> dict[str, Overall | Undefined]:
    """Normalise each data set to [0, 1] over systems, then average over data sets.

    Only systems with a score on every data set are compared, and only they set the least and
    the largest score, which is what reproduces the paper's tables. A system that lacks a data set
    (it is named) is Undefined, and so are all where systems are equal on all data sets. `scores`
    maps a data set to systems to scores, such as R_EC or Coverage Parity.

    With `scaling` ``"none"`` scores are averaged as they are.
    """
    systems = sorted({system for by_system in scores.values() for system in by_system})
    missing = {
        system: [name for name, by_system in scores.items() if system not in by_system]
        for system in systems
    }
    complete = [system for system in systems if not missing[system]]
    normalised: dict[str, dict[str, float]] = {system: {} for system in complete}
    for name, by_system in scores.items():
        compared = {system: by_system[system] for system in complete}
        low, high = min(compared.values(), default=0.0), max(compared.values(), default=0.0)
        if scaling == "none":
            low, high = 0.0, 1.0
        if high > low:
            for system, score in compared.items():
                normalised[system][name] = (score - low) / (high - low)
    return {
        system: Undefined(why=f"no score on {', '.join(missing[system])}")
        if missing[system]
        else _average(normalised[system])
        for system in systems
    }


def _average(normalised: Mapping[str, float]) -> Overall | Undefined:
    if not normalised:
        return Undefined(why="no data set tells the systems apart")
    return Overall(value=sum(normalised.values()) / len(normalised), normalised=normalised)
