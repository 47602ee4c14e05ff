"""Calibrators: map a judge's score to the expected human score.

Calibrators are immutable, fitted on labelled items, and saved as JSON. `cross_fit` calibrates every
item with a curve fitted on other documents, so that calibrators can be assessed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from fairjudge.calibration.choices import CalibratorName
from fairjudge.calibration.curves import (
    Bins,
    Curve,
    Line,
    Sigmoid,
    Steps,
    check_format,
    curve_from_dict,
    read_number,
    read_numbers,
)
from fairjudge.calibration.grouping import GroupKey
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.records.results import to_json
from fairjudge.stats._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    document_codes,
    same_length,
    vector,
)
from fairjudge.stats.logistic import fit_logistic
from fairjudge.text.counting import pluralize

MIN_LABELS = 30
"""Minimum number of labelled items for fitting a calibrator."""
FORMAT_VERSION = 1
_MAX_LEVELS = 20
"""A judge with at most this many distinct scores counts as discrete."""
_MIN_IN_BIN = 5
_TOLERATED_GAP = 0.05
"""Share of a continuous score's range that may lie outside the labelled scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrator:
    """A fitted calibration curve with its data and settings.

    ``score_range`` is the range of the labelled scores, ``label_range`` that of the labels.
    """

    curve: Curve
    n_labels: int
    score_range: tuple[float, float]
    label_range: tuple[float, float]
    judge: str = ""
    aspect: str = ""
    protocol: str = ""
    unit: str = ""

    def __call__(self, scores: ArrayLike) -> FloatArray:
        """Return calibrated scores; scores outside ``score_range`` are clipped first."""
        return self.curve(np.clip(vector(scores, name="scores"), *self.score_range))

    def n_outside(self, scores: ArrayLike) -> int:
        """Count the scores outside ``score_range``."""
        array = vector(scores, name="scores")
        low, high = self.score_range
        return int(np.count_nonzero((array < low) | (array > high)))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"fairjudge_calibrator": FORMAT_VERSION, **to_json(self)}


def fit_calibrator(
    name: CalibratorName,
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    score_range: tuple[float, float] | None = None,
) -> Calibrator | Undefined:
    """Fit a calibrator, which names no judge, on labelled items.

    Undefined with fewer than `MIN_LABELS` labels, if the scores are constant, or if they do not
    cover `score_range`: both ends of it for discrete scores, at least 95 % of it otherwise.

    Parameters
    ----------
    scores, labels : arrays of shape (n,)
        The judge's score and the human value of each item.
    score_range
        Minimum and maximum of *all* the judge's scores, including unlabelled items.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y)
    reason = _reason_not_to_fit(x, score_range)
    if reason is not None:
        return reason
    curve = _FIT_FUNCTIONS[name](x, y)
    if isinstance(curve, Undefined):
        return curve
    return Calibrator(
        curve=curve,
        n_labels=n,
        score_range=(float(x.min()), float(x.max())),
        label_range=(float(y.min()), float(y.max())),
    )


def assign_folds(documents: Sequence[Hashable], n_folds: int, rng: np.random.Generator) -> IntArray:
    """Assign whole documents randomly to folds 0 to n_folds - 1 of equal size: shape (n,)."""
    row_documents, n_documents = document_codes(documents, len(documents))
    fold_of_document = rng.permutation(np.arange(n_documents) % n_folds)
    return np.asarray(fold_of_document[row_documents], dtype=np.intp)


def iterate_folds(
    documents: Sequence[Hashable], n_folds: int, rng: np.random.Generator
) -> Iterator[BoolArray]:
    """Yield the mask of held-out rows, shape (n,), of each of min(n_folds, documents) folds."""
    n_used = min(n_folds, len(set(documents)))
    folds = assign_folds(documents, n_used, rng)
    for fold in range(n_used):
        yield folds == fold


def cross_fit(
    name: CalibratorName,
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable],
    rng: np.random.Generator,
    n_folds: int = 10,
) -> FloatArray | Undefined:
    """Calibrate each item, shape (n,), with a curve fitted on the other folds' documents.

    Documents are not split between folds; there are at most as many folds as documents. Undefined
    with fewer than `MIN_LABELS` labels or 2 documents, or if a fold's curve is Undefined.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y, documents=documents)
    if n < MIN_LABELS:
        return _too_few_labels(n)
    if len(set(documents)) < 2:
        return Undefined(why="fewer than 2 documents: nothing to hold out")
    calibrated_scores = np.empty(n)
    for fold in iterate_folds(documents, n_folds, rng):
        curve = _FIT_FUNCTIONS[name](x[~fold], y[~fold])
        if isinstance(curve, Undefined):
            return curve
        calibrated_scores[fold] = curve(np.clip(x[fold], x[~fold].min(), x[~fold].max()))
    return calibrated_scores


def calibrator_from_dict(data: Mapping[str, Any]) -> Calibrator:
    """Return the calibrator from the output of `Calibrator.to_dict`.

    Raises
    ------
    InputError
        If it is not a calibrator, has another version, or has a missing or malformed field, which
        the error names.
    """
    check_format(data, "calibrator", FORMAT_VERSION)
    return Calibrator(
        curve=curve_from_dict(data.get("curve")),
        n_labels=int(read_number(data, "n_labels")),
        score_range=read_range(data, "score_range"),
        label_range=read_range(data, "label_range"),
        **{name: str(data.get(name, "")) for name in GroupKey._fields},
    )


def _too_few_labels(n: int) -> Undefined:
    return Undefined(why=f"{pluralize(n, 'labelled item')}: a calibrator needs {MIN_LABELS}")


def _reason_not_to_fit(x: FloatArray, score_range: tuple[float, float] | None) -> Undefined | None:
    if x.size < MIN_LABELS:
        return _too_few_labels(x.size)
    low, high = float(x.min()), float(x.max())
    if low == high:
        return Undefined(why=f"the judge gave every labelled item the same score, {low!r}")
    if score_range is None:
        return None
    is_continuous = np.unique(x).size > _MAX_LEVELS
    tolerance = _TOLERATED_GAP * (score_range[1] - score_range[0]) if is_continuous else 0.0
    if low > score_range[0] + tolerance or high < score_range[1] - tolerance:
        return Undefined(
            why=f"labelled items have scores from {low:g} to {high:g}, but the judge gave "
            f"{score_range[0]:g} to {score_range[1]:g}: label items over the whole range"
        )
    return None


def _fit_isotonic(x: FloatArray, y: FloatArray) -> Steps:
    levels, means, sizes = _level_means(x, y)
    isotonic_means = isotonic_regression(means, weights=sizes).x
    return Steps(scores=_to_floats(levels), values=_to_floats(isotonic_means))


def _fit_logistic(x: FloatArray, y: FloatArray) -> Sigmoid | Undefined:
    low, high = float(y.min()), float(y.max())
    if low == high:
        return Undefined(why=f"every label is {low!r}")
    unit_labels = (y - low) / (high - low)
    # Platt (1999): targets are shrunk with one pseudo-count per class, so that a finite fit exists.
    n_positive = float(unit_labels.sum())
    high_target, low_target = (n_positive + 1) / (n_positive + 2), 1 / (x.size - n_positive + 2)
    targets = unit_labels * high_target + (1 - unit_labels) * low_target
    centre, scale = float(x.mean()), float(x.std())
    design = np.column_stack([np.ones_like(x), (x - centre) / scale])
    fit = fit_logistic(design, targets)
    if isinstance(fit, Undefined):
        return fit
    intercept, slope = (float(value) for value in fit.coefficients)
    return Sigmoid(
        intercept=intercept - slope * centre / scale, slope=slope / scale, low=low, high=high
    )


def _fit_line(x: FloatArray, y: FloatArray) -> Line:
    centred_scores = x - x.mean()
    slope = (
        float(centred_scores @ y / (centred_scores @ centred_scores))
        if np.any(centred_scores)
        else 0.0
    )
    return Line(
        intercept=float(y.mean() - slope * x.mean()),
        slope=slope,
        low=float(y.min()),
        high=float(y.max()),
    )


def _fit_bins(x: FloatArray, y: FloatArray) -> Bins:
    levels, means, sizes = _level_means(x, y)
    min_size = max(_MIN_IN_BIN, -(-x.size // _MAX_LEVELS) if levels.size > _MAX_LEVELS else 0)
    starts, size_of_bin = [0], 0.0
    for index, size in enumerate(sizes):
        if size_of_bin >= min_size:
            starts.append(index)
            size_of_bin = 0.0
        size_of_bin += size
    if size_of_bin < min_size and len(starts) > 1:
        starts.pop()
    weights = np.add.reduceat(sizes, starts)
    values = np.add.reduceat(means * sizes, starts) / weights
    edges = [(levels[start - 1] + levels[start]) / 2 for start in starts[1:]]
    return Bins(edges=_to_floats(np.asarray(edges)), values=_to_floats(values))


def _level_means(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct scores, and the mean label and number of items of each."""
    levels, level_codes, sizes = np.unique(x, return_inverse=True, return_counts=True)
    return levels, np.bincount(level_codes, weights=y) / sizes, sizes.astype(np.float64)


def _to_floats(values: FloatArray) -> tuple[float, ...]:
    return tuple(values.tolist())


_FIT_FUNCTIONS: dict[CalibratorName, Callable[[FloatArray, FloatArray], Curve | Undefined]] = {
    "isotonic": _fit_isotonic,
    "logistic": _fit_logistic,
    "linear": _fit_line,
    "ordinal": _fit_bins,
}


def read_range(data: Mapping[str, Any], key: str) -> tuple[float, float]:
    """Read [low, high], or raise an `InputError` that names the field."""
    values = read_numbers(data, key)
    if len(values) != 2 or values[0] > values[1]:
        raise InputError(f"expected [low, high], got {values!r}", field=key)
    return values[0], values[1]
