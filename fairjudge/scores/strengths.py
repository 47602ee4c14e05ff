"""Systems compared in pairs by an incomplete design: their strengths stand for win rates.

A win rate says how a system did against those that it met. Where not every pair of systems meets in
every cluster, who met weak ones has a high rate; the strengths of `fairjudge.calibration.ranking`
account for whom each met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairjudge.domain import Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.scores.ratings import Rated

if TYPE_CHECKING:
    from fairjudge.calibration.paired_comparisons import Comparisons
    from fairjudge.calibration.ranking import Ranking

INCOMPLETE = "not every pair of systems is compared in every cluster"
_WINS = {"a": 1.0, "b": 0.0, "tie": 0.5}
_POSITIONS = {"ab": 1.0, "ba": -1.0, None: 0.0}


def comparisons(rows: Iterable[Rated]) -> Comparisons:
    """Return the scored judgements of pairs among `rows`; each order is a comparison."""
    from fairjudge.calibration.paired_comparisons import Comparisons

    scored = [row for row in rows if isinstance(row.value, str)]
    return Comparisons(
        wins=np.array([_WINS[str(row.value)] for row in scored]),
        system_a=tuple(str(row.system_a) for row in scored),
        system_b=tuple(str(row.system_b) for row in scored),
        positions=np.array([_POSITIONS[row.order] for row in scored]),
        documents=tuple(row.eid for row in scored),
    )


def strengths(rows: Iterable[Rated], *, seed: int = 0) -> Ranking | Undefined | None:
    """Return the systems' strengths, None unless `rows` are pairs of an incomplete design.

    `rows` are of one aspect, protocol and judge. A pair without a score was asked for, and makes no
    design incomplete. Undefined where some systems are never compared with the others.
    """
    pairs = list(_pairs(rows))
    if _is_complete(pairs):
        return None
    from fairjudge.calibration.ranking import rank_systems

    return rank_systems(comparisons(pairs), rng=np.random.default_rng(seed))


def _pairs(rows: Iterable[Rated]) -> Iterator[Rated]:
    for row in rows:
        if PROTOCOLS[row.protocol].paired and row.systems is None and row.system_b is not None:
            yield row


def _is_complete(pairs: Sequence[Rated]) -> bool:
    """Whether every two systems are compared in the same clusters."""
    met: dict[frozenset[str | None], set[tuple[str, str]]] = defaultdict(set)
    for row in pairs:
        met[frozenset((row.system_a, row.system_b))].add((row.eid, row.unit))
    systems = sorted({str(name) for pair in met for name in pair})
    first = next(iter(met.values()), set())
    return all(met.get(frozenset(pair)) == first for pair in combinations(systems, 2))
