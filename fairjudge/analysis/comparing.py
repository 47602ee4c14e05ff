"""Two files of judgements on the same items, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from fairjudge.calibration.run_comparison import compare_runs
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.results import to_json

_SIGNS = {"a": 1.0, "b": -1.0, "tie": 0.0}
_Item: TypeAlias = tuple[str, str, str, str]
"""eid, system (or the first of a pair, by name), the second or "", unit."""
_Run: TypeAlias = Mapping[_Item, float | None]
_Aspect: TypeAlias = tuple[str, str]
"""Aspect and protocol."""


def comparison_report(
    first: Iterable[Judgement], second: Iterable[Judgement], *, level: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Return what two runs say of the same items, by aspect, protocol and judge.

    Repeats of an item and both orders of a pair are averaged first. Judges are matched by name, or
    whatever their names where either run has one.

    Raises
    ------
    InputError
        If the runs have no aspect and protocol in common.
    """
    one, other = _by_aspect(first), _by_aspect(second)
    groups = [
        {
            "aspect": aspect,
            "protocol": protocol,
            "first": names[0],
            "second": names[1],
            **_group(*runs, paired=protocol == "pairwise", level=level, seed=seed),
        }
        for aspect, protocol in one
        if (aspect, protocol) in other
        for names, runs in _matched(one[aspect, protocol], other[aspect, protocol])
    ]
    if not groups:
        raise InputError(
            f"nothing to compare: the first run has {_named(one)}, the second {_named(other)}"
        )
    return {"groups": groups}


def _named(found: Mapping[_Aspect, Mapping[str, _Run]]) -> str:
    """Name aspects, protocols and judges."""
    return (
        "; ".join(
            f"{aspect} by {protocol} ({', '.join(judges)})"
            for (aspect, protocol), judges in found.items()
        )
        or "no judgement"
    )


def _matched(
    one: Mapping[str, _Run], other: Mapping[str, _Run]
) -> list[tuple[tuple[str, str], tuple[_Run, _Run]]]:
    if len(one) == len(other) == 1:
        return [((a, b), (x, y)) for (a, x), (b, y) in zip(one.items(), other.items(), strict=True)]
    return [((name, name), (run, other[name])) for name, run in one.items() if name in other]


def _by_aspect(rows: Iterable[Judgement]) -> dict[_Aspect, dict[str, _Run]]:
    """Return each judge's items by aspect and protocol, None for one without a score."""
    values: dict[tuple[_Aspect, str], dict[_Item, list[float]]] = defaultdict(dict)
    for row in rows:
        item, sign = _item(row)
        some = values[(row.aspect, row.protocol), row.judge].setdefault(item, [])
        if row.value is not None:
            number = _SIGNS[row.value] if isinstance(row.value, str) else float(row.value)
            some.append(sign * number)
    found: dict[_Aspect, dict[str, _Run]] = defaultdict(dict)
    for (aspect, judge), items in values.items():
        found[aspect][judge] = {key: fmean(some) if some else None for key, some in items.items()}
    return found


def _item(row: Judgement) -> tuple[_Item, float]:
    if row.system is not None:
        return (row.eid, row.system, "", row.unit), 1.0
    first, second = str(row.system_a), str(row.system_b)
    if first <= second:
        return (row.eid, first, second, row.unit), 1.0
    return (row.eid, second, first, row.unit), -1.0


def _group(one: _Run, other: _Run, *, paired: bool, level: float, seed: int) -> dict[str, Any]:
    common = [item for item in one if item in other]
    values = [(one[item], other[item], item) for item in common]
    scored = [(x, y, item) for x, y, item in values if x is not None and y is not None]
    found = compare_runs(
        _array([x for x, _, _ in scored]),
        _array([y for _, y, _ in scored]),
        documents=[item[0] for *_, item in scored],
        systems=[] if paired else [item[1] for *_, item in scored],
        rng=np.random.default_rng(seed),
        level=level,
    )
    return {
        "n_only_first": len(one) - len(common),
        "n_only_second": len(other) - len(common),
        "n_unscored_first": sum(x is None for x, _, _ in values),
        "n_unscored_second": sum(y is None for _, y, _ in values),
        **to_json(found),
    }


def _array(values: Sequence[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)
