"""Inference of a scale from its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from fairjudge.domain import ProtocolName
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, codes

Scale: TypeAlias = tuple[float, float]

_KNOWN: tuple[Scale, ...] = ((1, 5), (0, 1), (1, 7), (1, 10), (0, 10), (0, 100))
_MAX_OFF = 0.2
"""A judge's scale is taken where at most this share of its values lies off it."""
_FEWEST_TO_TELL = 10


def infer_scale(values: FloatArray, protocol: ProtocolName, *, max_off: float = _MAX_OFF) -> Scale:
    """Return the first usual scale off which lie at most `max_off` of `values`, or their range.

    Likert tries 1 to 5 first, binary 0 to 1; a pair's verdicts lie on -1 (b) to 1 (a).
    """
    if PROTOCOLS[protocol].paired:
        return (-1.0, 1.0)
    order = sorted(_KNOWN, key=lambda scale: (scale != (0, 1)) if PROTOCOLS[protocol].yes_no else 0)
    for low, high in order:
        if not values.size or np.mean((values < low) | (values > high)) <= max_off:
            return (float(low), float(high))
    return (float(values.min()), float(values.max()))


def off_scale(values: FloatArray, scale: Scale) -> np.ndarray:
    """Return which values lie off the scale: shape (n,)."""
    return np.asarray((values < scale[0]) | (values > scale[1]))


def rescale(values: FloatArray, source: Scale, target: Scale) -> FloatArray:
    """Map one scale linearly to another."""
    if source == target or source[0] == source[1]:
        return values
    slope = (target[1] - target[0]) / (source[1] - source[0])
    return target[0] + (values - source[0]) * slope


def refuse_mixed(values: FloatArray, annotators: Sequence[str], protocol: ProtocolName) -> None:
    """Raise an `InputError` where annotators plainly use different scales.

    Annotators with fewer than 10 labels are not judged by them.
    """
    name_by_scale: dict[Scale, str] = {}
    coded, names = codes(annotators)
    for place, name in enumerate(names):
        own = values[coded == place]
        if own.size >= _FEWEST_TO_TELL:
            name_by_scale.setdefault(infer_scale(own, protocol), str(name))
    if len(name_by_scale) > 1:
        scales = ", ".join(
            f"{name} {low:g} to {high:g}" for (low, high), name in name_by_scale.items()
        )
        raise InputError(
            f"annotators use different scales ({scales}): choose some with --annotators",
            field="value",
        )
