"""Systems ranked by stored pairwise judgements, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fairjudge.calibration.labels import by_group
from fairjudge.calibration.ranking import Comparisons, rank_systems
from fairjudge.domain import Judgement, Undefined
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import to_json

_WINS = {"a": 1.0, "b": 0.0, "tie": 0.5}
_POSITIONS = {"ab": 1.0, "ba": -1.0, None: 0.0}


def ranking_report(rows: Iterable[Judgement], *, level: float, seed: int) -> dict[str, Any]:
    """Return the ranking by judge and aspect; every judgement of either order is one comparison.

    Raises
    ------
    InputError
        If there is no pairwise judgement.
    """
    groups = [
        {"judge": judge, "aspect": aspect, **_group(some, level=level, seed=seed)}
        for (judge, aspect, protocol), some in by_group(rows).items()
        if PROTOCOLS[protocol].paired
    ]
    if not groups:
        raise InputError("a ranking needs pairwise judgements, and there are none")
    return {"groups": groups}


def comparisons(rows: Sequence[Judgement]) -> Comparisons:
    """Return the scored pairwise judgements among `rows`."""
    scored = [row for row in rows if isinstance(row.value, str)]
    return Comparisons(
        wins=np.array([_WINS[str(row.value)] for row in scored]),
        system_a=tuple(str(row.system_a) for row in scored),
        system_b=tuple(str(row.system_b) for row in scored),
        positions=np.array([_POSITIONS[row.order] for row in scored]),
        documents=tuple(row.eid for row in scored),
    )


def _group(rows: Sequence[Judgement], *, level: float, seed: int) -> dict[str, Any]:
    ranking = rank_systems(comparisons(rows), rng=np.random.default_rng(seed), level=level)
    n_unscored = sum(row.unscored is not None for row in rows)
    if isinstance(ranking, Undefined):
        return {"n_unscored": n_unscored, "why": ranking.why, "systems": []}
    return {"n_unscored": n_unscored, "why": None, **to_json(ranking)}
