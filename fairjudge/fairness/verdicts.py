"""Supports from a judge's verdicts on each article: any judge can be the scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from fairjudge.domain import Cluster, Judgement
from fairjudge.errors import InputError
from fairjudge.fairness.support import Support

Range: TypeAlias = tuple[float, float]

RANGES: Mapping[str, Range] = MappingProxyType({"likert": (1.0, 5.0), "binary": (0.0, 1.0)})
"""The ends of each protocol's scale, which become 0 and 1."""
_PREFIX = "article:"
_UNIT = "the whole summary"


def supports_from_judgements(
    clusters: Sequence[Cluster],
    judgements: Sequence[Judgement],
    *,
    ranges: Mapping[str, Range] = RANGES,
) -> list[Support]:
    """Turn verdicts on (article, summary) pairs to supports with one unit, the summary.

    Parameters
    ----------
    judgements
        With units ``article:<aid>``, likert or binary; others are passed over.

    Returns
    -------
    list of Support
        One for each summary whose every article has a value; the others stay unscored.

    Raises
    ------
    InputError
        No verdict is about an article, or a value lies outside its scale.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for judgement in judgements:
        value = _support(judgement, ranges)
        if value is not None and judgement.system is not None:
            aid = judgement.unit.removeprefix(_PREFIX)
            found.setdefault((judgement.eid, judgement.system), {})[aid] = value
    if not found:
        raise InputError(
            "no verdict is about a single article; judge faithfulness with --reference-unit article"
        )
    supports = []
    by_eid = {cluster.eid: cluster for cluster in clusters}
    for (eid, system), values in found.items():
        aids = [article.aid for article in by_eid[eid].articles] if eid in by_eid else []
        if aids and all(aid in values for aid in aids):
            supports.append(
                Support(
                    eid=eid,
                    system=system,
                    aids=tuple(aids),
                    units=(_UNIT,),
                    probabilities=np.array([[values[aid]] for aid in aids]),
                    kind="verdict",
                )
            )
    return supports


def _support(judgement: Judgement, ranges: Mapping[str, Range]) -> float | None:
    """Return a verdict on an article as a number in [0, 1], None for anything else."""
    value = judgement.value
    if not judgement.unit.startswith(_PREFIX) or not isinstance(value, float | int):
        return None
    if judgement.protocol not in ranges:
        return None
    low, high = ranges[judgement.protocol]
    if not low <= value <= high:
        raise InputError(
            f"value {value!r} of {judgement.eid!r} lies outside the {judgement.protocol} scale "
            f"from {low:g} to {high:g}",
            field="value",
        )
    return (value - low) / (high - low)
