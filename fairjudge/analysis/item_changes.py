"""Where two runs differ: items one by one, a confusion table, and their settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from fairjudge.calibration.labels import ItemKey
from fairjudge.domain import Judgement

Scored: TypeAlias = tuple[float, float, ItemKey]
"""The value of an item in the first run and in the second."""
MAX_ITEMS = 20
"""Items that are named, those with the largest differences."""
MAX_VALUES = 12
"""With more distinct values there is no confusion table."""
_ALIKE = 1e-9


def item_changes(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return items by how far the runs are apart, and how often which value became which.

    ``largest`` has at most `MAX_ITEMS` that changed, ``n_changed`` counts all; ``confusion`` is
    None where a run has more than `MAX_VALUES` values: rows are the first run's.
    """
    changed = [item for item in scored if abs(item[1] - item[0]) > _ALIKE]
    changed.sort(key=lambda item: (-abs(item[1] - item[0]), item[2]))
    return {
        "n_changed": len(changed),
        "largest": [
            {
                "eid": eid,
                "system": system,
                **({"system_b": other} if other else {}),
                "unit": unit,
                "first": first,
                "second": second,
            }
            for first, second, (eid, system, other, unit) in changed[:MAX_ITEMS]
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
    """Return each setting of the signatures in which two runs differ, with its values in either."""
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
