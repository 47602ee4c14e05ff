"""A fitted jury: people's values from the scores of several judges, by stacked regression.

Each member's score is calibrated by itself, and people's values are regressed on the calibrated
scores (stacking: Wolpert 1992; Breiman 1996, "Stacked regressions"), as "Calibrate, Don't Curate"
(arXiv 2605.09702) does with covariates of the text. With ``z`` the calibrated scores and covariates
that an item has, ``m`` and ``C`` their means and covariances with people's value ``y``, and ``R``
what `PRIOR_ITEMS` more items would add that weigh all members alike::

    y^ = m_y + b'(z - m_z),    b = (C_zz + R / n)^-1 C_zy

Any member may be missing of an item: ``b`` is then that of the members that are there, from the
same moments, which are those of maximum likelihood where values are missing
(`fairjudge.stats.multinormal.moments`). A mean put in its place would leave the others the weights
they have beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from fairjudge.calibration.calibrators import (
    FEWEST_LABELS,
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
"""The weights lean to equal ones by as much as this many labelled items say."""
_INNER_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacking:
    """The regression: means and covariance of members, covariates and people's value, in order.

    A column without variance, or without a value, has no weight.
    """

    n_members: int
    means: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    n: int

    def weights(self, present: BoolArray) -> tuple[float, FloatArray]:
        """Return the intercept, and weights of shape (k,), 0 where `present` (k,) is not."""
        means, covariance = np.array(self.means), np.array(self.covariance)
        used = np.flatnonzero(present & (np.diag(covariance)[:-1] > 0.0))
        out = np.zeros(len(means) - 1)
        if used.size:
            own = ridged(covariance, used, n_members=self.n_members, n=np.array(self.n))
            out[used] = np.linalg.pinv(own, hermitian=True) @ covariance[used, -1]
        return float(means[-1] - out @ means[:-1]), out

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return what people would say, shape (n,), NaN where no member has a value.

        `values` has shape (n, k), NaN where missing.
        """
        present = np.isfinite(values)
        out = np.full(len(values), np.nan)
        for pattern in np.unique(present, axis=0):
            if not pattern[: self.n_members].any():
                continue
            rows = (present == pattern).all(axis=1)
            intercept, weights = self.weights(pattern)
            out[rows] = intercept + np.where(pattern, values[rows], 0.0) @ weights
        return out


def ridged(covariance: FloatArray, used: IntArray, *, n_members: int, n: FloatArray) -> FloatArray:
    """Return ``C + R / n`` of the `used` columns; `covariance` is (..., k, k) and `n` is (...)."""
    own = covariance[..., used[:, None], used]
    variances = np.diagonal(own, axis1=-2, axis2=-1)
    member = used < n_members
    ridge = variances[..., None] * np.eye(used.size)
    if member.any():
        m = int(member.sum())
        size = variances[..., member].mean(axis=-1)[..., None, None]
        ridge[..., np.flatnonzero(member)[:, None], np.flatnonzero(member)] = size * (
            np.eye(m) - 1.0 / m
        )
    return np.asarray(own + PRIOR_ITEMS * ridge / n[..., None, None])


def fit_stacking(values: FloatArray, labels: FloatArray, *, n_members: int) -> Stacking:
    """Fit the regression of `labels`, (n,), on `values`, (n, k): members first, NaN if missing."""
    is_present = np.isfinite(values).any(axis=0)
    fitted = moments(np.column_stack([values[:, is_present], labels]))
    k = values.shape[1]
    columns = np.r_[np.flatnonzero(is_present), k]
    means, covariance = np.zeros(k + 1), np.zeros((k + 1, k + 1))
    means[columns], covariance[np.ix_(columns, columns)] = fitted.means, fitted.covariance
    return Stacking(
        n_members=n_members,
        means=tuple(means.tolist()),
        covariance=tuple(map(tuple, covariance.tolist())),
        n=fitted.n,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A judge of a jury; of prompt variants of one judge, ``variant`` names the prompt."""

    calibrator: Calibrator
    variant: str = ""

    @property
    def name(self) -> str:
        """Return the judge, with the prompt where it is one of several."""
        judge = self.calibrator.judge
        return f"{judge}, prompt {self.variant}" if self.variant else judge


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedJury:
    """Several judges' scores of an aspect, weighed as people's labels say.

    ``unit`` is the kind of unit that has labels; parts are averaged where it is ``"summary"``.
    """

    aspect: str
    unit: str
    members: tuple[Member, ...]
    covariates: tuple[CovariateName, ...]
    stacking: Stacking
    label_range: tuple[float, float]

    @property
    def n_labels(self) -> int:
        """Return how many labelled items it was fitted on."""
        return self.stacking.n

    @property
    def name(self) -> str:
        """Return what its judgements have as judge."""
        return f"jury-fitted({','.join(member.name for member in self.members)})"

    def __call__(self, scores: FloatArray, covariates: FloatArray | None = None) -> FloatArray:
        """Return what people would say, shape (n,), NaN where no member has a score.

        `scores` has shape (n, members), `covariates` (n, covariates); NaN where missing. Scores
        outside the labelled ones count as the nearest of these.
        """
        columns = [
            calibrated(member.calibrator, scores[:, place])
            for place, member in enumerate(self.members)
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


def calibrated(calibrator: Calibrator, scores: FloatArray) -> FloatArray:
    """Return calibrated scores, NaN where there is none."""
    out = np.full(len(scores), np.nan)
    is_finite = np.isfinite(scores)
    out[is_finite] = calibrator(scores[is_finite])
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryItems:
    """Labelled items: members' scores (n, members) and covariates (n, covariates), NaN if missing.

    ``mapped`` are the scores on the labels' scale by a straight line, not calibrated.
    """

    scores: FloatArray
    mapped: FloatArray
    covariates: FloatArray
    labels: FloatArray
    documents: tuple[str, ...]

    def subset(self, rows: BoolArray) -> JuryItems:
        """Return the items of some rows."""
        indices = np.flatnonzero(rows).tolist()
        return JuryItems(
            scores=self.scores[rows],
            mapped=self.mapped[rows],
            covariates=self.covariates[rows],
            labels=self.labels[rows],
            documents=tuple(self.documents[row] for row in indices),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedMembers:
    """Members' calibration curves and the regression on their values.

    ``calibrators`` has None for a member that has no curve here; ``errors`` is the mean squared
    error, over held-out documents, of each member's curve: infinite where there is none.
    ``held_out``, shape (n, members), are the values that the regression was fitted on.
    """

    calibrators: tuple[Calibrator | None, ...]
    errors: FloatArray
    held_out: FloatArray
    stacking: Stacking

    def values(self, items: JuryItems) -> FloatArray:
        """Return members' calibrated scores, shape (n, members), NaN where missing."""
        columns = [
            np.full(len(items.labels), np.nan)
            if calibrator is None
            else calibrated(calibrator, column)
            for calibrator, column in zip(self.calibrators, items.scores.T, strict=True)
        ]
        return np.column_stack(columns)


def fit_members(
    items: JuryItems, *, method: CalibratorName, rng: np.random.Generator
) -> FittedMembers | Undefined:
    """Fit each member's curve, and the regression on curves' values for held-out documents.

    Values for documents that a curve was fitted on would say too much for it (Breiman 1996).
    """
    n, k = items.scores.shape
    if n < FEWEST_LABELS:
        return Undefined(why=f"{pluralize(n, 'labelled item')}: a jury needs {FEWEST_LABELS}")
    values, errors = np.full((n, k), np.nan), np.full(k, np.inf)
    calibrators: list[Calibrator | None] = []
    for place in range(k):
        rows = np.flatnonzero(np.isfinite(items.scores[:, place]))
        scores, labels = items.scores[rows, place], items.labels[rows]
        documents = [items.documents[row] for row in rows.tolist()]
        held_out = cross_fit(
            method, scores, labels, documents=documents, rng=rng, n_folds=_INNER_FOLDS
        )
        curve = fit_calibrator(method, scores, labels)
        if isinstance(held_out, Undefined) or isinstance(curve, Undefined):
            calibrators.append(None)
            continue
        calibrators.append(curve)
        values[rows, place] = held_out
        errors[place] = float(np.mean((held_out - labels) ** 2))
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
    """Read what `FittedJury.to_dict` wrote.

    Raises
    ------
    InputError
        Not a jury, another version, or a missing or malformed field; the field is named.
    """
    check_format(data, "jury", FORMAT_VERSION)
    entries = data.get("members")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise InputError(f"expected a list of objects, got {entries!r}", field="members")
    members = tuple(
        Member(calibrator=calibrator_from_dict(entry), variant=str(entry.get("variant", "")))
        for entry in entries
    )
    names = data.get("covariates", [])
    choices = get_args(CovariateName)
    if not isinstance(names, list) or not all(name in choices for name in names):
        raise InputError(f"expected a list of {choices!r}, got {names!r}", field="covariates")
    covariates: tuple[CovariateName, ...] = tuple(names)
    stacking = data.get("stacking")
    if not isinstance(stacking, Mapping):
        raise InputError("expected an object", field="stacking")
    return FittedJury(
        aspect=str(data.get("aspect", "")),
        unit=str(data.get("unit", "")),
        members=members,
        covariates=covariates,
        stacking=_stacking(
            stacking, n_members=len(members), n_columns=len(members) + len(covariates)
        ),
        label_range=read_range(data, "label_range"),
    )


def _stacking(data: Mapping[str, Any], *, n_members: int, n_columns: int) -> Stacking:
    means, rows = read_numbers(data, "means"), data.get("covariance")
    if not isinstance(rows, list) or len(means) != n_columns + 1 or len(rows) != len(means):
        raise InputError("expected one number a member, covariate and label", field="means")
    covariance = tuple(read_numbers({"covariance": row}, "covariance") for row in rows)
    if any(len(row) != len(means) for row in covariance):
        raise InputError("expected a square table", field="covariance")
    n = int(read_number(data, "n"))
    if n < 1:
        raise InputError(f"expected 1 or more, got {n!r}", field="n")
    return Stacking(n_members=n_members, means=means, covariance=covariance, n=n)
