"""How far each document supports each unit of a summary: the input of all coverage measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field
from scipy.sparse.csgraph import connected_components

from fairjudge.domain import Id, Record
from fairjudge.errors import InputError
from fairjudge.fairness.choices import CoverageVariant
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.text.counting import pluralize

SupportKind: TypeAlias = Literal["entailment", "similarity", "verdict"]

MUTUAL_ENTAILMENT = 0.95
"""Units that entail each other above this are one unit (variant ``"released"``)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Support:
    """p(d, s) of one summary (coverage fairness, equation 2).

    Parameters
    ----------
    aids : tuple of str
        The documents, one a row.
    units : tuple of str
        The summary's atomic units or sentences, one a column; empty for an empty summary.
    probabilities : array of shape (n_documents, n_units)
        Entailment probabilities or verdicts in [0, 1], or cosine similarities in [-1, 1].
    arg_max : array of the same shape, or None
        The largest probability among the chunks of the document where entailment is the most
        probable label, 0 where there is none; None where the scorer gives no labels.
    between_units : array of shape (n_units, n_units), or None
        Probability that the row's unit entails the column's.
    """

    eid: str
    system: str
    aids: tuple[str, ...]
    units: tuple[str, ...]
    probabilities: FloatArray
    arg_max: FloatArray | None = None
    between_units: FloatArray | None = None
    kind: SupportKind = "entailment"

    def __post_init__(self) -> None:
        shape = (len(self.aids), len(self.units))
        _check(self.probabilities, shape, "probabilities", self.eid)
        if self.arg_max is not None:
            _check(self.arg_max, shape, "arg_max", self.eid)
        if self.between_units is not None:
            _check(self.between_units, (shape[1], shape[1]), "between_units", self.eid)

    def coverage(self, variant: CoverageVariant = "paper") -> FloatArray:
        """Return the matrix that the measures average, shape (n_documents, at most n_units).

        ``"paper"`` is `probabilities` as they are. ``"released"`` does what the authors' code
        does: a pair counts only where entailment is the most probable label (without labels:
        where its probability is above 0.5), units that entail each other are merged by the
        larger value, and units that no document covers are left out.
        """
        if variant == "paper":
            return self.probabilities
        counted = self.arg_max
        if counted is None:
            counted = np.where(self.probabilities > 0.5, self.probabilities, 0.0)
        merged = np.zeros((len(self.aids), 0))
        if self.units:
            groups = _same_unit(self.between_units, len(self.units))
            columns = [counted[:, groups == g].max(axis=1) for g in range(groups.max() + 1)]
            merged = np.column_stack(columns)
        return merged[:, merged.max(axis=0, initial=0.0) > 0.0]

    def rows(self, places: Sequence[int]) -> Support:
        """Return the documents at `places`, in that order."""
        return replace(
            self,
            aids=tuple(self.aids[place] for place in places),
            probabilities=self.probabilities[places],
            arg_max=None if self.arg_max is None else self.arg_max[places],
        )


class SupportRecord(Record):
    """A line of a support file: what any scorer found for one summary.

    ``support[i][j]`` is how far document ``aids[i]`` supports ``units[j]``; ``arg_max`` and
    ``between_units`` are optional, as in `Support`.
    """

    eid: Id
    system: Id
    aids: tuple[Id, ...] = Field(min_length=1)
    units: tuple[str, ...]
    support: tuple[tuple[float, ...], ...]
    arg_max: tuple[tuple[float, ...], ...] | None = None
    between_units: tuple[tuple[float, ...], ...] | None = None
    kind: SupportKind = "entailment"

    def read(self) -> Support:
        """Return the value that the measures take.

        Raises
        ------
        InputError
            A matrix does not have one row a document and one column a unit, or holds numbers
            outside [0, 1] ([-1, 1] for similarities).
        """
        n_units = len(self.units)
        return Support(
            eid=self.eid,
            system=self.system,
            aids=self.aids,
            units=self.units,
            probabilities=_matrix(self.support, n_units, "support", self.eid, self.kind),
            arg_max=_optional(self.arg_max, n_units, "arg_max", self.eid),
            between_units=_optional(self.between_units, n_units, "between_units", self.eid),
            kind=self.kind,
        )


def align(support: Support, aids: Sequence[str]) -> Support:
    """Return `support` with its rows in the order of `aids`.

    Raises
    ------
    InputError
        The documents are not the same; the message names one that differs.
    """
    if support.aids == tuple(aids):
        return support
    row = {aid: place for place, aid in enumerate(support.aids)}
    odd = sorted(set(aids) ^ set(support.aids))
    if odd or len(row) != len(support.aids):
        example = repr(odd[0]) if odd else "a repeated document"
        raise InputError(
            f"support of {support.system!r} for {support.eid!r} and its cluster do not have the "
            f"same articles: {example}",
            field="aids",
        )
    return support.rows([row[aid] for aid in aids])


def _same_unit(between: FloatArray | None, n_units: int) -> IntArray:
    """Return a number a unit; those that entail each other, also by a chain, share a number."""
    if between is None:
        return np.arange(n_units)
    strong = between > MUTUAL_ENTAILMENT
    _, groups = connected_components(strong & strong.T, directed=False)
    return np.asarray(groups, dtype=np.intp)


def _check(matrix: FloatArray, shape: tuple[int, int], name: str, eid: str) -> None:
    if matrix.shape != shape:
        raise InputError(
            f"{name} of {eid!r} has shape {matrix.shape!r}, expected {shape!r}", field=name
        )
    if not np.all(np.isfinite(matrix)):
        raise InputError(f"{name} of {eid!r} holds a number that is not finite", field=name)


def _optional(
    rows: tuple[tuple[float, ...], ...] | None, n_units: int, name: str, eid: str
) -> FloatArray | None:
    return None if rows is None else _matrix(rows, n_units, name, eid, "entailment")


def _matrix(
    rows: tuple[tuple[float, ...], ...], n_units: int, name: str, eid: str, kind: SupportKind
) -> FloatArray:
    uneven = next((place for place, row in enumerate(rows) if len(row) != n_units), None)
    if uneven is not None:
        raise InputError(
            f"row {uneven} of {eid!r} has {pluralize(len(rows[uneven]), 'number')} "
            f"for {pluralize(n_units, 'unit')}",
            field=name,
        )
    matrix = np.array(rows, dtype=np.float64).reshape(len(rows), n_units)
    least = -1.0 if kind == "similarity" else 0.0
    if matrix.size and (matrix.min() < least or matrix.max() > 1.0):
        raise InputError(
            f"{eid!r} has numbers from {matrix.min():g} to {matrix.max():g}; expected {least:g} "
            f"to 1 for kind {kind!r}",
            field=name,
        )
    return matrix
