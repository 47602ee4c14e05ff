"""Two runs on the same items: how often they agree, and which way they differ.

Nothing here says which of the two is right; that takes labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, codes
from fairjudge.stats.bootstrap import bootstrap
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.correlation import coded_correlation
from fairjudge.stats.intervals import clustered_wilson

_ALIKE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemShift:
    """One system in both runs: means over the items that both scored, and second less first."""

    system: str
    first: float
    second: float
    shift: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """What two runs say of the items that both scored.

    ``agreement`` is the share of items with one value in both, in [0, 1]; ``shift`` the mean of
    second less first and ``distance`` that of its absolute value, in units of the scale; ``order``
    Kendall's tau-b between the two.
    """

    n_items: int
    n_documents: int
    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    distance: Estimate | Undefined
    order: Estimate | Undefined
    systems: tuple[SystemShift, ...]


def compare_runs(
    first: FloatArray,
    second: FloatArray,
    *,
    documents: Sequence[Hashable],
    systems: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
) -> RunComparison:
    """Compare two runs item by item; intervals are over documents. No item: all Undefined.

    `first` and `second`, shapes (n,), are the values of the items in either run.
    """
    differences = second - first
    alike = (np.abs(differences) < _ALIKE).astype(np.float64)
    return RunComparison(
        n_items=len(first),
        n_documents=len(set(documents)),
        agreement=clustered_wilson(alike, documents, level=level),
        shift=clustered_mean(differences, documents, level=level, null=0.0),
        distance=clustered_mean(np.abs(differences), documents, level=level),
        order=_order(first, second, documents, rng=rng, level=level),
        systems=_systems(first, second, documents, systems, level=level),
    )


def _order(
    first: FloatArray,
    second: FloatArray,
    documents: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    level: float,
) -> Estimate | Undefined:
    coded, names = codes(documents)
    if not len(names):
        return Undefined(why="no item was scored in both runs")
    statistic = coded_correlation("kendall", first, second, coded, n_documents=len(names))
    return bootstrap(statistic, n_documents=len(names), rng=rng, level=level, n=len(first))


def _systems(
    first: FloatArray,
    second: FloatArray,
    documents: Sequence[Hashable],
    systems: Sequence[str],
    *,
    level: float,
) -> tuple[SystemShift, ...]:
    places: Mapping[str, list[int]] = defaultdict(list)
    for place, system in enumerate(systems):
        places[system].append(place)
    found = [
        SystemShift(
            system=system,
            first=float(first[some].mean()),
            second=float(second[some].mean()),
            shift=clustered_mean(
                second[some] - first[some], [documents[one] for one in some], level=level, null=0.0
            ),
        )
        for system, some in places.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.first, one.system)))
