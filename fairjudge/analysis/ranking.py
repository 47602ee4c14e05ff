"""Ranking of systems from stored judgements of pairs or rankings, as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from fairjudge.calibration.grouping import GroupKey, group_judgements
from fairjudge.calibration.judge_ranking import JudgeRanking, rank_by_judges
from fairjudge.calibration.plackett_luce import Rankings, rank_by_rankings
from fairjudge.calibration.ranking import Ranking, rank_systems
from fairjudge.domain import Judgement, ProtocolName, Undefined
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import to_json
from fairjudge.scores.strengths import comparisons


def ranking_report(rows: Iterable[Judgement], *, level: float, seed: int) -> dict[str, Any]:
    """Return the ranking by judge, aspect, protocol and unit, and by all judges of an aspect.

    Each order is one comparison or ranking. ``together`` has the rankings from the pairs of several
    judges, by aspect and unit; verdicts of a jury are excluded, since its members are included.

    Raises
    ------
    InputError
        If there is neither a judgement of a pair nor a ranking.
    """
    judgements_by_group = group_judgements(rows)
    groups = [
        {"judge": key.judge, "aspect": key.aspect, "unit": key.unit}
        | _ranking_of_protocol(key.protocol, judgements, level=level, seed=seed)
        for key, judgements in judgements_by_group.items()
        if PROTOCOLS[key.protocol].paired
    ]
    if not groups:
        raise InputError(
            "a ranking needs judgements of pairs or rankings, and there are none: judge with "
            "--protocol pairwise or ranking"
        )
    return {
        "groups": groups,
        "together": list(_rankings_over_judges(judgements_by_group, level=level, seed=seed)),
    }


def _rankings_over_judges(
    groups: Mapping[GroupKey, Sequence[Judgement]], *, level: float, seed: int
) -> Iterator[dict[str, Any]]:
    by_aspect: dict[tuple[str, str], list[tuple[str, Judgement]]] = defaultdict(list)
    for key, rows in groups.items():
        protocol = PROTOCOLS[key.protocol]
        if protocol.paired and not protocol.listwise:
            member_rows = [row for row in rows if "members" not in (row.model_extra or {})]
            by_aspect[key.aspect, key.unit] += ((key.judge, row) for row in member_rows)
    for (aspect, unit), pairs in by_aspect.items():
        if len({judge for judge, _ in pairs}) < 2:
            continue
        scored_pairs = [(judge, row) for judge, row in pairs if isinstance(row.value, str)]
        ranking = rank_by_judges(
            comparisons(row for _, row in scored_pairs),
            [judge for judge, _ in scored_pairs],
            rng=np.random.default_rng(seed),
            level=level,
        )
        result = _ranking_json(ranking, n_unscored=len(pairs) - len(scored_pairs))
        yield {"aspect": aspect, "unit": unit, "judges": [], **result}


def _ranking_of_protocol(
    protocol: ProtocolName, rows: Sequence[Judgement], *, level: float, seed: int
) -> dict[str, Any]:
    if not PROTOCOLS[protocol].listwise:
        return _group(rows, level=level, seed=seed)
    rows_by_ranking = {
        (row.eid, row.unit, row.order, row.repeat, row.variant, row.ranking): row for row in rows
    }
    ranked_rows = [row for row in rows_by_ranking.values() if row.ranking is not None]
    rankings = Rankings(
        rankings=tuple(row.ranking or () for row in ranked_rows),
        documents=tuple(row.eid for row in ranked_rows),
    )
    ranking = rank_by_rankings(rankings, rng=np.random.default_rng(seed), level=level)
    head = {"protocol": protocol, "n_rankings": len(ranked_rows)}
    outcomes = [(*pair, 1.0) for order in rankings.rankings for pair in combinations(order, 2)]
    return {
        **head,
        **_ranking_json(ranking, n_unscored=len(rows_by_ranking) - len(ranked_rows)),
        "pairs": _pairs(outcomes),
    }


def _group(rows: Sequence[Judgement], *, level: float, seed: int) -> dict[str, Any]:
    outcomes_of_pairs = comparisons(rows)
    ranking = rank_systems(outcomes_of_pairs, rng=np.random.default_rng(seed), level=level)
    n_unscored = sum(row.unscored is not None for row in rows)
    pairs = zip(
        outcomes_of_pairs.system_a,
        outcomes_of_pairs.system_b,
        outcomes_of_pairs.wins.tolist(),
        strict=True,
    )
    return {**_ranking_json(ranking, n_unscored=n_unscored), "pairs": _pairs(pairs)}


def _pairs(outcomes: Iterable[tuple[str, str, float]]) -> list[dict[str, Any]]:
    """Count wins of the first, ties and losses by pair; an outcome is 1, 0.5 or 0."""
    counts: dict[tuple[str, str], Counter[float]] = defaultdict(Counter)
    for system, other, won in outcomes:
        first, second = sorted((system, other))
        counts[first, second][won if first == system else 1.0 - won] += 1
    return [
        {"system_a": a, "system_b": b, "wins": n[1.0], "ties": n[0.5], "losses": n[0.0]}
        for (a, b), n in sorted(counts.items())
    ]


def _ranking_json(
    ranking: Ranking | JudgeRanking | Undefined, *, n_unscored: int
) -> dict[str, Any]:
    if isinstance(ranking, Undefined):
        return {"n_unscored": n_unscored, "why": ranking.why, "systems": []}
    return {"n_unscored": n_unscored, "why": None, **to_json(ranking)}
