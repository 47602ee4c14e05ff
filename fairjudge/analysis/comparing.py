"""Comparison of two files of judgements on the same items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from fairjudge.calibration.comparison import compare_runs
from fairjudge.calibration.grouping import group_judgements
from fairjudge.calibration.labels import SIGNS, ItemKey, item_key
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS, protocol_label
from fairjudge.records.matching import harmonize_ids, match, no_match
from fairjudge.records.results import to_json

Scored: TypeAlias = tuple[float, float, ItemKey]
"""The values of an item in the first and the second run, and its key."""
MAX_ITEMS = 20
"""Maximum number of items listed, by largest difference."""
MAX_VALUES = 12
"""Maximum number of distinct values for a confusion table."""
_TOLERANCE = 1e-9

_Run: TypeAlias = Mapping[ItemKey, float | None]
_Of = TypeVar("_Of")
_NAMES = ("first-run item", "second-run item")


class Aspect(NamedTuple):
    """An aspect with the protocol and unit by which it is judged."""

    aspect: str
    protocol: str
    unit: str


def comparison_report(
    first: Iterable[Judgement], second: Iterable[Judgement], *, level: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Compare two runs on the same items, by aspect, protocol, unit and judge.

    Repeats of an item and both orders of a pair are averaged first. Judges are matched by name, or,
    if each run has only one judge, regardless of names.

    Raises
    ------
    InputError
        If the runs have no aspect with protocol and unit, or no item, in common.
    """
    rows, second_rows = tuple(first), tuple(second)
    first_runs, second_runs = _by_aspect(rows), _by_aspect(harmonize_ids(second_rows, rows))
    groups = [
        {
            **aspect._asdict(),
            "first": names[0],
            "second": names[1],
            **_group(*runs, paired=PROTOCOLS[aspect.protocol].paired, level=level, seed=seed),
        }
        for aspect in first_runs
        if aspect in second_runs
        for names, runs in matched(first_runs[aspect], second_runs[aspect])
    ]
    if groups and all(group["join"]["n_matched"] == 0 for group in groups):
        raise InputError(no_match(groups[0]["join"]))
    if not groups:
        raise InputError(
            f"nothing to compare: the first run has {in_words(first_runs) or 'no judgement'}, "
            f"the second {in_words(second_runs) or 'no judgement'}"
        )
    return {"settings": settings_apart(rows, second_rows), "groups": groups}


def in_words(judges_by_aspect: Mapping[Aspect, Iterable[str]]) -> str:
    """Return aspects, protocols and judges as text."""
    return "; ".join(
        f"{aspect} by {protocol_label(protocol, unit)} ({', '.join(judges)})"
        for (aspect, protocol, unit), judges in judges_by_aspect.items()
    )


def matched(
    first: Mapping[str, _Of], second: Mapping[str, _Of]
) -> list[tuple[tuple[str, str], tuple[_Of, _Of]]]:
    """Pair the runs of two sides by judge, or the only runs of both sides."""
    if len(first) == len(second) == 1:
        return [
            ((a, b), (x, y)) for (a, x), (b, y) in zip(first.items(), second.items(), strict=True)
        ]
    return [((name, name), (run, second[name])) for name, run in first.items() if name in second]


def _by_aspect(rows: Iterable[Judgement]) -> dict[Aspect, dict[str, _Run]]:
    """Return each judge's items by aspect, protocol and unit; the value is None if unscored."""
    runs_by_aspect: dict[Aspect, dict[str, _Run]] = defaultdict(dict)
    for (judge, *of), records in group_judgements(rows).items():
        values: dict[ItemKey, list[float]] = defaultdict(list)
        for row in records:
            item, sign = item_key(row)
            scores = values[item]
            if row.value is not None:
                scores.append(
                    sign * (SIGNS[row.value] if isinstance(row.value, str) else row.value)
                )
        runs_by_aspect[Aspect(*of)][judge] = {
            item: fmean(scores) if scores else None for item, scores in values.items()
        }
    return runs_by_aspect


def _group(
    first_run: _Run, second_run: _Run, *, paired: bool, level: float, seed: int
) -> dict[str, Any]:
    join = match(first_run, second_run, names=_NAMES, complete=("left", "right"))
    values = [(first_run[item], second_run[item], item) for item in join.matched_keys]
    scored_items = [(x, y, item) for x, y, item in values if x is not None and y is not None]
    comparison = compare_runs(
        np.array([x for x, _, _ in scored_items], dtype=np.float64),
        np.array([y for _, y, _ in scored_items], dtype=np.float64),
        documents=[item[0] for *_, item in scored_items],
        systems=[] if paired else [item[1] for *_, item in scored_items],
        rng=np.random.default_rng(seed),
        level=level,
    )
    return {
        "join": join.to_json(),
        "n_only_first": len(join.only_left),
        "n_only_second": len(join.only_right),
        "n_unscored_first": sum(x is None for x, _, _ in values),
        "n_unscored_second": sum(y is None for _, y, _ in values),
        **to_json(comparison),
        **item_changes(scored_items),
    }


def item_changes(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the items with the largest differences, and a confusion table of the values.

    ``largest`` has at most `MAX_ITEMS` changed items, ``n_changed`` counts all. ``confusion`` has
    the first run's values as rows; it is None if a run has more than `MAX_VALUES` values.
    """
    changed_items = [item for item in scored if abs(item[1] - item[0]) > _TOLERANCE]
    changed_items.sort(key=lambda item: (-abs(item[1] - item[0]), item[2]))
    return {
        "n_changed": len(changed_items),
        "largest": [
            {
                "eid": eid,
                "system": system,
                **({"system_b": other} if other else {}),
                "unit": unit,
                "first": first,
                "second": second,
            }
            for first, second, (eid, system, other, unit) in changed_items[:MAX_ITEMS]
        ],
        "confusion": _confusion(scored),
    }


def _confusion(scored: Sequence[Scored]) -> dict[str, Any] | None:
    rows = sorted({first for first, *_ in scored})
    columns = sorted({second for _, second, _ in scored})
    if not scored or max(len(rows), len(columns)) > MAX_VALUES:
        return None
    counts = Counter((first, second) for first, second, _ in scored)
    return {
        "rows": rows,
        "columns": columns,
        "counts": [[counts[row, column] for column in columns] for row in rows],
    }


def settings_apart(first: Iterable[Judgement], second: Iterable[Judgement]) -> list[dict[str, Any]]:
    """Return the settings in the signatures that differ between two runs, with their values."""
    runs = [_settings(rows) for rows in (first, second)]
    names = list(dict.fromkeys(name for run in runs for name in run))
    return [
        {"setting": name, "first": values[0], "second": values[1]}
        for name in names
        if (values := [sorted(run.get(name, ())) for run in runs]) and values[0] != values[1]
    ]


def _settings(rows: Iterable[Judgement]) -> dict[str, set[str]]:
    values_by_setting: dict[str, set[str]] = {}
    for signature in {row.signature for row in rows if row.signature}:
        for part in signature.split("|"):
            name, _, value = part.partition(":")
            values_by_setting.setdefault(name, set()).add(value)
    return values_by_setting
