"""Strengths of systems compared in pairs in an incomplete design, instead of win rates.

A win rate depends on the opponents. If not every pair of systems is compared in every cluster, a
system with weak opponents has a high rate; the strengths of `fairjudge.calibration.ranking` account
for the opponents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.scores.ratings import ScoreRow

if TYPE_CHECKING:
    from fairjudge.calibration.paired_comparisons import Comparisons
    from fairjudge.calibration.ranking import Ranking

INCOMPLETE = "not every pair of systems is compared in every cluster"
_WINS = {"a": 1.0, "b": 0.0, "tie": 0.5}
_POSITIONS = {"ab": 1.0, "ba": -1.0, None: 0.0}


def comparisons(rows: Iterable[ScoreRow]) -> Comparisons:
    """Return the scored pairwise judgements of `rows`; each order is one comparison."""
    from fairjudge.calibration.paired_comparisons import Comparisons

    pairs = [row for row in rows if isinstance(row.value, str)]
    return Comparisons(
        wins=np.array([_WINS[str(row.value)] for row in pairs]),
        system_a=tuple(str(row.system_a) for row in pairs),
        system_b=tuple(str(row.system_b) for row in pairs),
        positions=np.array([_POSITIONS[row.order] for row in pairs]),
        documents=tuple(row.eid for row in pairs),
    )


def strengths(rows: Iterable[ScoreRow], *, seed: int = 0) -> Ranking | Undefined | None:
    """Return the systems' strengths, None unless `rows` are pairs of an incomplete design.

    `rows` are of one aspect, protocol and judge. A pair without a score counts as compared.
    ``Undefined`` if some systems are not connected to the others by comparisons.
    """
    pairs = list(_pairs(rows))
    if _is_complete(pairs):
        return None
    from fairjudge.calibration.ranking import rank_systems

    return rank_systems(comparisons(pairs), rng=np.random.default_rng(seed))


def _pairs(rows: Iterable[ScoreRow]) -> Iterator[ScoreRow]:
    for row in rows:
        if PROTOCOLS[row.protocol].paired and row.systems is None and row.system_b is not None:
            yield row


def _is_complete(pairs: Sequence[ScoreRow]) -> bool:
    """Return whether every two systems are compared in the same clusters."""
    units_by_pair: dict[frozenset[str | None], set[tuple[str, str]]] = defaultdict(set)
    for row in pairs:
        units_by_pair[frozenset((row.system_a, row.system_b))].add((row.eid, row.unit))
    systems = sorted({str(name) for pair in units_by_pair for name in pair})
    first = next(iter(units_by_pair.values()), set())
    return all(units_by_pair.get(frozenset(pair)) == first for pair in combinations(systems, 2))
