"""Fitted juries: prediction of human values from several judges' scores by stacked regression.

Each member's score is calibrated separately, and human values are regressed on the calibrated
scores (stacking: Wolpert 1992; Breiman 1996, "Stacked regressions"), with covariates of the text as
in "Calibrate, Don't Curate" (arXiv 2605.09702). With ``z`` the available calibrated scores and
covariates of an item, ``m`` and ``C`` their means and covariances with the human value ``y``, and
``R`` a ridge penalty worth `PRIOR_ITEMS` items that shrinks members' weights towards equality::

    y^ = m_y + b'(z - m_z),    b = (C_zz + R / n)^-1 C_zy

Members may be missing: ``b`` is then computed for the available members, from the same moments,
which are maximum-likelihood estimates under missing values
(`fairjudge.stats.multinormal.moments`). Mean imputation would not adapt the other members' weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from fairjudge.calibration.calibrators import (
    MIN_LABELS,
    Calibrator,
    calibrator_from_dict,
    cross_fit,
    fit_calibrator,
    read_range,
)
from fairjudge.calibration.choices import CalibratorName, CovariateName
from fairjudge.calibration.curves import check_format, read_number, read_numbers
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.records.results import to_json
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray
from fairjudge.stats.multinormal import moments
from fairjudge.text.counting import pluralize

FORMAT_VERSION = 1
PRIOR_ITEMS = 10.0
"""Strength of the shrinkage towards equal weights, in labelled items."""
_INNER_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacking:
    """The regression: means and covariance of members, covariates and human value, in this order.

    Columns without variance or without values have weight 0.
    """

    n_members: int
    means: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    n: int

    def weights(self, present: BoolArray) -> tuple[float, FloatArray]:
        """Return the intercept and the weights, shape (k,), 0 where `present` is False."""
        means, covariance = np.array(self.means), np.array(self.covariance)
        columns = np.flatnonzero(present & (np.diag(covariance)[:-1] > 0.0))
        weights = np.zeros(len(means) - 1)
        if columns.size:
            ridged_covariance = ridge_covariance(
                covariance, columns, n_members=self.n_members, n=np.array(self.n)
            )
            weights[columns] = (
                np.linalg.pinv(ridged_covariance, hermitian=True) @ covariance[columns, -1]
            )
        return float(means[-1] - weights @ means[:-1]), weights

    def __call__(self, values: FloatArray) -> FloatArray:
        """Predict human values, shape (n,), from `values`, shape (n, k), with NaN where missing.

        NaN where no member has a value.
        """
        present = np.isfinite(values)
        predictions = np.full(len(values), np.nan)
        for pattern in np.unique(present, axis=0):
            if not pattern[: self.n_members].any():
                continue
            rows = (present == pattern).all(axis=1)
            intercept, weights = self.weights(pattern)
            predictions[rows] = intercept + np.where(pattern, values[rows], 0.0) @ weights
        return predictions


def ridge_covariance(
    covariance: FloatArray, columns: IntArray, *, n_members: int, n: FloatArray
) -> FloatArray:
    """Return ``C + R / n`` for `columns`; `covariance` has shape (..., k, k), `n` shape (...)."""
    submatrix = covariance[..., columns[:, None], columns]
    variances = np.diagonal(submatrix, axis1=-2, axis2=-1)
    is_member = columns < n_members
    ridge = variances[..., None] * np.eye(columns.size)
    if is_member.any():
        m = int(is_member.sum())
        mean_variance = variances[..., is_member].mean(axis=-1)[..., None, None]
        ridge[..., np.flatnonzero(is_member)[:, None], np.flatnonzero(is_member)] = (
            mean_variance * (np.eye(m) - 1.0 / m)
        )
    return np.asarray(submatrix + PRIOR_ITEMS * ridge / n[..., None, None])


def fit_stacking(values: FloatArray, labels: FloatArray, *, n_members: int) -> Stacking:
    """Fit the regression of `labels`, (n,), on `values`, (n, k): members first, NaN for missing."""
    is_present = np.isfinite(values).any(axis=0)
    fitted_moments = moments(np.column_stack([values[:, is_present], labels]))
    k = values.shape[1]
    columns = np.r_[np.flatnonzero(is_present), k]
    means, covariance = np.zeros(k + 1), np.zeros((k + 1, k + 1))
    means[columns], covariance[np.ix_(columns, columns)] = (
        fitted_moments.means,
        fitted_moments.covariance,
    )
    return Stacking(
        n_members=n_members,
        means=tuple(means.tolist()),
        covariance=tuple(map(tuple, covariance.tolist())),
        n=fitted_moments.n,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of a jury; ``variant`` is the prompt variant if members are variants of a judge."""

    calibrator: Calibrator
    variant: str = ""

    @property
    def name(self) -> str:
        """The judge's name, with the prompt variant if there is one."""
        judge = self.calibrator.judge
        return f"{judge}, prompt {self.variant}" if self.variant else judge


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedJury:
    """A jury of several judges of an aspect, with weights fitted to human labels.

    ``unit`` is the kind of labelled unit; for ``"summary"``, scores of parts are averaged.
    """

    aspect: str
    unit: str
    members: tuple[Member, ...]
    covariates: tuple[CovariateName, ...]
    stacking: Stacking
    label_range: tuple[float, float]

    @property
    def n_labels(self) -> int:
        """The number of labelled items in the fit."""
        return self.stacking.n

    @property
    def name(self) -> str:
        """The judge's name in the jury's judgements."""
        return f"jury-fitted({','.join(member.name for member in self.members)})"

    def __call__(self, scores: FloatArray, covariates: FloatArray | None = None) -> FloatArray:
        """Predict human values, shape (n,); NaN where no member has a score.

        `scores` has shape (n, members), `covariates` (n, covariates), with NaN where missing.
        Scores are clipped to the range of the labelled ones.
        """
        columns = [
            calibrate_scores(member.calibrator, scores[:, index])
            for index, member in enumerate(self.members)
        ]
        if covariates is None:
            covariates = np.full((len(scores), len(self.covariates)), np.nan)
        return np.clip(self.stacking(np.column_stack([*columns, covariates])), *self.label_range)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON object."""
        members = [
            {**member.calibrator.to_dict(), "variant": member.variant} for member in self.members
        ]
        return {
            "fairjudge_jury": FORMAT_VERSION,
            **to_json(replace(self, members=())),
            "members": members,
        }


def calibrate_scores(calibrator: Calibrator, scores: FloatArray) -> FloatArray:
    """Calibrate scores, leaving NaN as they are."""
    calibrated_scores = np.full(len(scores), np.nan)
    is_finite = np.isfinite(scores)
    calibrated_scores[is_finite] = calibrator(scores[is_finite])
    return calibrated_scores


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryItems:
    """Labelled items: members' scores (n, members) and covariates (n, covariates), NaN if missing.

    ``rescaled_scores`` are the scores mapped linearly to the labels' scale, without calibration.
    """

    scores: FloatArray
    rescaled_scores: FloatArray
    covariates: FloatArray
    labels: FloatArray
    documents: tuple[str, ...]

    def subset(self, rows: BoolArray) -> JuryItems:
        """Return the items where the mask `rows` is True."""
        indices = np.flatnonzero(rows).tolist()
        return JuryItems(
            scores=self.scores[rows],
            rescaled_scores=self.rescaled_scores[rows],
            covariates=self.covariates[rows],
            labels=self.labels[rows],
            documents=tuple(self.documents[row] for row in indices),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedMembers:
    """Members' calibration curves and the regression on their values.

    ``calibrators`` is None for members without a curve. ``errors`` are the mean squared errors of
    members' curves over held-out documents, infinite without a curve. ``held_out``, shape
    (n, members), are the cross-fitted values on which the regression was fitted.
    """

    calibrators: tuple[Calibrator | None, ...]
    errors: FloatArray
    held_out: FloatArray
    stacking: Stacking

    def values(self, items: JuryItems) -> FloatArray:
        """Return members' calibrated scores of `items`, shape (n, members), NaN where missing."""
        columns = [
            np.full(len(items.labels), np.nan)
            if calibrator is None
            else calibrate_scores(calibrator, column)
            for calibrator, column in zip(self.calibrators, items.scores.T, strict=True)
        ]
        return np.column_stack(columns)


def fit_members(
    items: JuryItems, *, method: CalibratorName, rng: np.random.Generator
) -> FittedMembers | Undefined:
    """Fit each member's curve, and the regression on the curves' values for held-out documents.

    Values for documents in a curve's own fit would overstate its accuracy (Breiman 1996).
    """
    n, k = items.scores.shape
    if n < MIN_LABELS:
        return Undefined(why=f"{pluralize(n, 'labelled item')}: a jury needs {MIN_LABELS}")
    values, errors = np.full((n, k), np.nan), np.full(k, np.inf)
    calibrators: list[Calibrator | None] = []
    for index in range(k):
        rows = np.flatnonzero(np.isfinite(items.scores[:, index]))
        scores, labels = items.scores[rows, index], items.labels[rows]
        documents = [items.documents[row] for row in rows.tolist()]
        held_out_values = cross_fit(
            method, scores, labels, documents=documents, rng=rng, n_folds=_INNER_FOLDS
        )
        curve = fit_calibrator(method, scores, labels)
        if isinstance(held_out_values, Undefined) or isinstance(curve, Undefined):
            calibrators.append(None)
            continue
        calibrators.append(curve)
        values[rows, index] = held_out_values
        errors[index] = float(np.mean((held_out_values - labels) ** 2))
    if sum(curve is not None for curve in calibrators) < 2:
        return Undefined(why="fewer than 2 judges have a calibrator of their own")
    return FittedMembers(
        calibrators=tuple(calibrators),
        errors=errors,
        held_out=values,
        stacking=fit_stacking(
            np.column_stack([values, items.covariates]), items.labels, n_members=k
        ),
    )


def jury_from_dict(data: Mapping[str, Any]) -> FittedJury:
    """Return the jury from the output of `FittedJury.to_dict`.

    Raises
    ------
    InputError
        If it is not a jury, has another version, or has a missing or malformed field, which the
        error names.
    """
    check_format(data, "jury", FORMAT_VERSION)
    entries = data.get("members")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise InputError(f"expected a list of objects, got {entries!r}", field="members")
    members = tuple(
        Member(calibrator=calibrator_from_dict(entry), variant=str(entry.get("variant", "")))
        for entry in entries
    )
    covariate_names = data.get("covariates", [])
    choices = get_args(CovariateName)
    if not isinstance(covariate_names, list) or not all(
        name in choices for name in covariate_names
    ):
        raise InputError(
            f"expected a list of {choices!r}, got {covariate_names!r}", field="covariates"
        )
    covariates: tuple[CovariateName, ...] = tuple(covariate_names)
    stacking = data.get("stacking")
    if not isinstance(stacking, Mapping):
        raise InputError("expected an object", field="stacking")
    return FittedJury(
        aspect=str(data.get("aspect", "")),
        unit=str(data.get("unit", "")),
        members=members,
        covariates=covariates,
        stacking=_stacking_from_dict(
            stacking, n_members=len(members), n_columns=len(members) + len(covariates)
        ),
        label_range=read_range(data, "label_range"),
    )


def _stacking_from_dict(data: Mapping[str, Any], *, n_members: int, n_columns: int) -> Stacking:
    means, covariance_rows = read_numbers(data, "means"), data.get("covariance")
    if (
        not isinstance(covariance_rows, list)
        or len(means) != n_columns + 1
        or len(covariance_rows) != len(means)
    ):
        raise InputError("expected one number per member, covariate and label", field="means")
    covariance = tuple(read_numbers({"covariance": row}, "covariance") for row in covariance_rows)
    if any(len(row) != len(means) for row in covariance):
        raise InputError("expected a square table", field="covariance")
    n = int(read_number(data, "n"))
    if n < 1:
        raise InputError(f"expected 1 or more, got {n!r}", field="n")
    return Stacking(n_members=n_members, means=means, covariance=covariance, n=n)
