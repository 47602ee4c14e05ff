"""Support of each summary unit by each document: the input of all coverage measures."""

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
    """The support p(d, s) of one summary's units by documents (coverage fairness, equation 2).

    Parameters
    ----------
    aids : tuple of str
        The ids of the documents, one per row.
    units : tuple of str
        The summary's atomic units or sentences, one per column; empty for an empty summary.
    probabilities : array of shape (n_documents, n_units)
        Entailment probabilities or verdicts in [0, 1], or cosine similarities in [-1, 1].
    arg_max : array of the same shape, or None
        The largest probability among the document's chunks for which entailment is the most
        probable label, 0 if there is none; None if the scorer returns no labels.
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
        """Return the coverage matrix that the measures average, shape (n_documents, <= n_units).

        ``"paper"`` returns `probabilities`. ``"released"`` follows the authors' code: pairs are 0
        unless entailment is the most probable label (without labels: unless the probability is
        above 0.5), units that entail each other are merged by taking the larger value, and units
        that no document covers are removed.
        """
        if variant == "paper":
            return self.probabilities
        entailments = self.arg_max
        if entailments is None:
            entailments = np.where(self.probabilities > 0.5, self.probabilities, 0.0)
        merged_units = np.zeros((len(self.aids), 0))
        if self.units:
            groups = _unit_groups(self.between_units, len(self.units))
            columns = [entailments[:, groups == g].max(axis=1) for g in range(groups.max() + 1)]
            merged_units = np.column_stack(columns)
        return merged_units[:, merged_units.max(axis=0, initial=0.0) > 0.0]

    def rows(self, indices: Sequence[int]) -> Support:
        """Return the support restricted to the documents at `indices`, in that order."""
        return replace(
            self,
            aids=tuple(self.aids[index] for index in indices),
            probabilities=self.probabilities[indices],
            arg_max=None if self.arg_max is None else self.arg_max[indices],
        )


class SupportRecord(Record):
    """A line of a support file: a scorer's results for one summary.

    ``support[i][j]`` is the support of ``units[j]`` by document ``aids[i]``; ``arg_max`` and
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

    def to_support(self) -> Support:
        """Convert the record to the `Support` that the measures use.

        Raises
        ------
        InputError
            A matrix does not have one row per document and one column per unit, or has numbers
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
        The documents differ; the message contains one that differs.
    """
    if support.aids == tuple(aids):
        return support
    row = {aid: index for index, aid in enumerate(support.aids)}
    unmatched_aids = sorted(set(aids) ^ set(support.aids))
    if unmatched_aids or len(row) != len(support.aids):
        example = repr(unmatched_aids[0]) if unmatched_aids else "a repeated document"
        raise InputError(
            f"support of {support.system!r} for {support.eid!r} and its cluster do not have the "
            f"same articles: {example}",
            field="aids",
        )
    return support.rows([row[aid] for aid in aids])


def _unit_groups(entailment: FloatArray | None, n_units: int) -> IntArray:
    """Return a group number per unit; units that entail each other (transitively) share one."""
    if entailment is None:
        return np.arange(n_units)
    is_entailed = entailment > MUTUAL_ENTAILMENT
    _, groups = connected_components(is_entailed & is_entailed.T, directed=False)
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
    bad_row = next((index for index, row in enumerate(rows) if len(row) != n_units), None)
    if bad_row is not None:
        raise InputError(
            f"row {bad_row} of {eid!r} has {pluralize(len(rows[bad_row]), 'number')} "
            f"for {pluralize(n_units, 'unit')}",
            field=name,
        )
    matrix = np.array(rows, dtype=np.float64).reshape(len(rows), n_units)
    minimum = -1.0 if kind == "similarity" else 0.0
    if matrix.size and (matrix.min() < minimum or matrix.max() > 1.0):
        raise InputError(
            f"{eid!r} has numbers from {matrix.min():g} to {matrix.max():g}; expected {minimum:g} "
            f"to 1 for kind {kind!r}",
            field=name,
        )
    return matrix
