"""Calibration curves, and their parsing from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import expit

from fairjudge.calibration.choices import CalibratorName
from fairjudge.errors import InputError
from fairjudge.stats._arrays import FloatArray

CALIBRATORS: tuple[CalibratorName, ...] = get_args(CalibratorName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Isotonic regression: linear interpolation between knots, constant beyond them.

    ``scores`` and ``values`` are the knots, both ascending.
    """

    method: Literal["isotonic"] = "isotonic"
    scores: tuple[float, ...]
    values: tuple[float, ...]

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return calibrated scores, shape (n,)."""
        return np.interp(scores, self.scores, self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sigmoid:
    """Logistic (Platt) scaling: ``low + (high - low) / (1 + exp(-(intercept + slope s)))``."""

    method: Literal["logistic"] = "logistic"
    intercept: float
    slope: float
    low: float
    high: float

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return calibrated scores, shape (n,)."""
        share: FloatArray = expit(self.intercept + self.slope * scores)
        return self.low + (self.high - self.low) * share


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Least squares: ``intercept + slope s``, clipped to the range of the labels."""

    method: Literal["linear"] = "linear"
    intercept: float
    slope: float
    low: float
    high: float

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return calibrated scores, shape (n,)."""
        return np.clip(self.intercept + self.slope * scores, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Mean label of each bin of scores.

    ``edges`` are the inner bin edges, one fewer than ``values``. A score on an edge belongs to the
    upper bin.
    """

    method: Literal["ordinal"] = "ordinal"
    edges: tuple[float, ...]
    values: tuple[float, ...]

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return calibrated scores, shape (n,)."""
        return np.asarray(self.values)[np.searchsorted(self.edges, scores, side="right")]


Curve: TypeAlias = Steps | Sigmoid | Line | Bins


def curve_from_dict(curve: object) -> Curve:
    """Return the curve from its JSON object; raise an `InputError` that names an invalid field."""
    if not isinstance(curve, Mapping) or curve.get("method") not in CALIBRATORS:
        raise InputError(f"expected an object with one of {CALIBRATORS!r}", field="curve.method")
    if curve["method"] in ("logistic", "linear"):
        curve_class = Sigmoid if curve["method"] == "logistic" else Line
        names = ("intercept", "slope", "low", "high")
        return curve_class(
            method=curve["method"], **{name: read_number(curve, name) for name in names}
        )
    values = read_numbers(curve, "values")
    if curve["method"] == "isotonic":
        scores = read_numbers(curve, "scores")
        if len(scores) != len(values) or list(scores) != sorted(scores):
            raise InputError("expected ascending scores, one per value", field="curve.scores")
        return Steps(scores=scores, values=values)
    edges = read_numbers(curve, "edges")
    if len(edges) != len(values) - 1 or list(edges) != sorted(edges):
        raise InputError("expected ascending edges, one fewer than values", field="curve.edges")
    return Bins(edges=edges, values=values)


def check_format(data: Mapping[str, Any], kind: str, version: object) -> None:
    """Raise an `InputError` unless ``data["fairjudge_<kind>"]`` is `version`."""
    key = f"fairjudge_{kind}"
    if data.get(key) != version:
        raise InputError(
            f"expected {version!r}, got {data.get(key)!r}: not a {kind} that this version can read",
            field=key,
        )


def read_number(data: Mapping[str, Any], key: str) -> float:
    """Return the finite number in field `key`; raise an `InputError` if it is not one."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InputError(f"expected a finite number, got {value!r}", field=key)
    return float(value)


def read_numbers(data: Mapping[str, Any], key: str) -> tuple[float, ...]:
    """Return the finite numbers in field `key`; raise an `InputError` if it is no such list."""
    values = data.get(key)
    if not isinstance(values, list | tuple):
        raise InputError(f"expected a list of numbers, got {values!r}", field=key)
    return tuple(read_number({key: value}, key) for value in values)
