"""Results as JSON (docs/formats.md): one form of a figure, and one where there is no value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

from fairjudge.domain import Estimate, Undefined

Json: TypeAlias = dict[str, Any]

ALL_FIELDS: Final = ("level", "n", "n_excluded", "method")
COUNT_ONLY: Final = ("n",)
"""What a figure says beside its value and interval; the p-value stands wherever there is one."""


def figure(
    value: Estimate | Undefined | float | None,
    *,
    times: float = 1.0,
    keep: Sequence[str] = ALL_FIELDS,
) -> Json:
    """Return ``{"value", "low", "high", ...}``; without a value all are null and ``why`` is given.

    `times` 100 turns shares to percent; `keep` are the fields of an estimate to give beside these.
    """
    if isinstance(value, Undefined):
        return {"value": None, "low": None, "high": None, "why": value.why}
    if not isinstance(value, Estimate):
        return {"value": _times(value, times), "low": None, "high": None}
    shown = {end: _times(getattr(value, end), times) for end in ("value", "low", "high")}
    shown |= {name: getattr(value, name) for name in keep}
    return shown if value.p_value is None else shown | {"p_value": value.p_value}


def excluded_json(excluded: Mapping[str, str]) -> Json:
    """Return how many are excluded, and how many for each reason; `excluded` maps eids to these."""
    by_reason = dict(sorted(Counter(excluded.values()).items()))
    return {"excluded": len(excluded), "excluded_by_reason": by_reason}


def to_json(value: Any, *, times: float = 1.0, keep: Sequence[str] = ALL_FIELDS) -> Any:
    """Return any result as JSON: estimates as figures, dataclasses by field, keys as text.

    `times` and `keep` are those of every `figure` in it; plain numbers stay as they are.
    """

    def inner(one: Any) -> Any:
        return to_json(one, times=times, keep=keep)

    if isinstance(value, Estimate | Undefined):
        return figure(value, times=times, keep=keep)
    if is_dataclass(value):
        return {field.name: inner(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): inner(one) for key, one in value.items()}
    return [inner(one) for one in value] if isinstance(value, tuple | list) else value


def _times(value: float | None, times: float) -> float | None:
    return None if value is None else value * times
