"""Results as JSON (docs/formats.md), for statistics with and without a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

from fairjudge.domain import Estimate, Undefined

Json: TypeAlias = dict[str, Any]

ALL_FIELDS: Final = ("level", "n", "n_excluded", "method")
COUNT_ONLY: Final = ("n",)
"""The fields of a statistic besides value, interval and p-value."""


def figure(
    value: Estimate | Undefined | float | None,
    *,
    times: float = 1.0,
    keep: Sequence[str] = ALL_FIELDS,
) -> Json:
    """Return ``{"value", "low", "high", ...}``; without a value, all are null and ``why`` is set.

    `times` is a factor (100 converts shares to percent); `keep` lists further fields to return.
    """
    if isinstance(value, Undefined):
        return {"value": None, "low": None, "high": None, "why": value.why}
    if not isinstance(value, Estimate):
        return {"value": _times(value, times), "low": None, "high": None}
    fields_json = {name: _times(getattr(value, name), times) for name in ("value", "low", "high")}
    fields_json |= {name: getattr(value, name) for name in keep}
    p_values = {"p_value": value.p_value, "p_floor": value.p_floor}
    return fields_json | {name: p for name, p in p_values.items() if p is not None}


def excluded_json(reasons: Mapping[str, str]) -> Json:
    """Return the number of excluded items, total and by reason, from `reasons` by eid."""
    by_reason = dict(sorted(Counter(reasons.values()).items()))
    return {"excluded": len(reasons), "excluded_by_reason": by_reason}


def to_json(value: Any, *, times: float = 1.0, keep: Sequence[str] = ALL_FIELDS) -> Any:
    """Return any result as JSON: statistics by `figure`, dataclasses by field, keys as text.

    `times` and `keep` are passed to `figure` for every estimate; plain numbers are not changed.
    """

    def inner(part: Any) -> Any:
        return to_json(part, times=times, keep=keep)

    if isinstance(value, Estimate | Undefined):
        return figure(value, times=times, keep=keep)
    if is_dataclass(value):
        return {field.name: inner(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): inner(part) for key, part in value.items()}
    return [inner(part) for part in value] if isinstance(value, tuple | list) else value


def _times(value: float | None, times: float) -> float | None:
    return None if value is None else value * times
