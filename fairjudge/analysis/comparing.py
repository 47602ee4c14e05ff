"""Two files of judgements on the same items, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any, TypeAlias, TypeVar

import numpy as np

from fairjudge.analysis.item_changes import item_changes, settings_apart
from fairjudge.calibration.comparison import compare_runs
from fairjudge.calibration.grouping import by_group
from fairjudge.calibration.labels import SIGNS, ItemKey, item_key
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS, shown_protocol
from fairjudge.records.matching import match, no_match, with_ids_of
from fairjudge.records.results import to_json

_Run: TypeAlias = Mapping[ItemKey, float | None]
_Of = TypeVar("_Of")
_NAMES = ("first-run item", "second-run item")
Aspect: TypeAlias = tuple[str, str, str]
"""Aspect, protocol and unit."""


def comparison_report(
    first: Iterable[Judgement], second: Iterable[Judgement], *, level: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Return what two runs say of the same items, by aspect, protocol, unit and judge.

    Repeats of an item and both orders of a pair are averaged first. Judges are matched by name, or
    whatever their names where either run has one.

    Raises
    ------
    InputError
        If the runs have no aspect, protocol and unit, or no item, in common.
    """
    rows, others = tuple(first), tuple(second)
    one, other = _by_aspect(rows), _by_aspect(with_ids_of(others, rows))
    groups = [
        {
            "aspect": aspect,
            "protocol": protocol,
            "unit": unit,
            "first": names[0],
            "second": names[1],
            **_group(*runs, paired=PROTOCOLS[protocol].paired, level=level, seed=seed),
        }
        for of in one
        if of in other
        for aspect, protocol, unit in [of]
        for names, runs in matched(one[of], other[of])
    ]
    if groups and all(group["join"]["n_matched"] == 0 for group in groups):
        raise InputError(no_match(groups[0]["join"]))
    if not groups:
        raise InputError(
            f"nothing to compare: the first run has {_named(one)}, the second {_named(other)}"
        )
    return {"settings": settings_apart(rows, others), "groups": groups}


def _named(found: Mapping[Aspect, Mapping[str, _Run]]) -> str:
    """Name aspects, protocols and judges."""
    names = (
        f"{aspect} by {shown_protocol(protocol, unit)} ({', '.join(judges)})"
        for (aspect, protocol, unit), judges in found.items()
    )
    return "; ".join(names) or "no judgement"


def matched(
    one: Mapping[str, _Of], other: Mapping[str, _Of]
) -> list[tuple[tuple[str, str], tuple[_Of, _Of]]]:
    """Return what two sides have by the same judges, or by the only one of either."""
    if len(one) == len(other) == 1:
        return [((a, b), (x, y)) for (a, x), (b, y) in zip(one.items(), other.items(), strict=True)]
    return [((name, name), (run, other[name])) for name, run in one.items() if name in other]


def _by_aspect(rows: Iterable[Judgement]) -> dict[Aspect, dict[str, _Run]]:
    """Return each judge's items by aspect, protocol and unit, None for one without a score."""
    found: dict[Aspect, dict[str, _Run]] = defaultdict(dict)
    for (judge, *of), some in by_group(rows).items():
        values: dict[ItemKey, list[float]] = defaultdict(list)
        for row in some:
            item, sign = item_key(row)
            known = values[item]
            if row.value is not None:
                known.append(sign * (SIGNS[row.value] if isinstance(row.value, str) else row.value))
        found[of[0], of[1], of[2]][judge] = {
            item: fmean(known) if known else None for item, known in values.items()
        }
    return found


def _group(run: _Run, other: _Run, *, paired: bool, level: float, seed: int) -> dict[str, Any]:
    found = match(run, other, names=_NAMES, complete=("left", "right"))
    values = [(run[item], other[item], item) for item in found.both]
    scored = [(x, y, item) for x, y, item in values if x is not None and y is not None]
    compared = compare_runs(
        np.array([x for x, _, _ in scored], dtype=np.float64),
        np.array([y for _, y, _ in scored], dtype=np.float64),
        documents=[item[0] for *_, item in scored],
        systems=[] if paired else [item[1] for *_, item in scored],
        rng=np.random.default_rng(seed),
        level=level,
    )
    return {
        "join": found.to_json(),
        "n_only_first": len(found.only_left),
        "n_only_second": len(found.only_right),
        "n_unscored_first": sum(x is None for x, _, _ in values),
        "n_unscored_second": sum(y is None for _, y, _ in values),
        **to_json(compared),
        **item_changes(scored),
    }
