"""Inference of scales from values, and linear rescaling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from fairjudge.domain import ProtocolName
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, codes

Scale: TypeAlias = tuple[float, float]

_USUAL_SCALES: tuple[Scale, ...] = ((1, 5), (0, 1), (1, 7), (1, 10), (0, 10), (0, 100))
_MAX_OFF_SHARE = 0.2
"""Maximum share of a judge's values that may be off its inferred scale."""
_MIN_LABELS = 10


def infer_scale(
    values: FloatArray, protocol: ProtocolName, *, max_off_share: float = _MAX_OFF_SHARE
) -> Scale:
    """Return the first usual scale with at most the share `max_off_share` of `values` off it.

    Without such a scale, the range of the values. Likert protocols try 1 to 5 first, yes-or-no
    protocols 0 to 1. Verdicts on pairs are from -1 (b) to 1 (a).
    """
    if PROTOCOLS[protocol].paired:
        return (-1.0, 1.0)
    candidates = sorted(
        _USUAL_SCALES, key=lambda scale: (scale != (0, 1)) if PROTOCOLS[protocol].yes_no else 0
    )
    for low, high in candidates:
        if not values.size or np.mean((values < low) | (values > high)) <= max_off_share:
            return (float(low), float(high))
    return (float(values.min()), float(values.max()))


def is_off_scale(values: FloatArray, scale: Scale) -> np.ndarray:
    """Return a mask of the values off the scale, shape (n,)."""
    return np.asarray((values < scale[0]) | (values > scale[1]))


def rescale(values: FloatArray, source: Scale, target: Scale) -> FloatArray:
    """Map values linearly from the scale `source` to the scale `target`."""
    if source == target or source[0] == source[1]:
        return values
    slope = (target[1] - target[0]) / (source[1] - source[0])
    return target[0] + (values - source[0]) * slope


def check_same_scale(values: FloatArray, annotators: Sequence[str], protocol: ProtocolName) -> None:
    """Raise an `InputError` if annotators use different scales.

    Annotators with fewer than `_MIN_LABELS` labels are ignored.
    """
    name_by_scale: dict[Scale, str] = {}
    annotator_codes, names = codes(annotators)
    for code, name in enumerate(names):
        annotator_values = values[annotator_codes == code]
        if annotator_values.size >= _MIN_LABELS:
            name_by_scale.setdefault(infer_scale(annotator_values, protocol), str(name))
    if len(name_by_scale) > 1:
        scales = ", ".join(
            f"{name} {low:g} to {high:g}" for (low, high), name in name_by_scale.items()
        )
        raise InputError(
            f"annotators use different scales ({scales}): choose some with --annotators",
            field="value",
        )
