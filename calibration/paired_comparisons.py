"""Design of paired comparisons for a regression: systems, positions, and outcomes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    codes,
    document_codes,
    same_length,
    vector,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Pairwise judgements, all of length n.

    ``wins`` is 1 for system_a, 0 for system_b, 0.5 for a tie; ``positions`` is 1 where a stood
    first, -1 where b did, 0 if unknown.
    """

    wins: FloatArray
    system_a: tuple[str, ...]
    system_b: tuple[str, ...]
    positions: FloatArray
    documents: tuple[Hashable, ...]


def check_comparisons(comparisons: Comparisons) -> None:
    """Raise a `StatisticsError` for unequal lengths, and values other than those documented."""
    same_length(
        wins=vector(comparisons.wins, name="wins"),
        system_a=comparisons.system_a,
        system_b=comparisons.system_b,
        positions=vector(comparisons.positions, name="positions"),
        documents=comparisons.documents,
    )
    if not np.all(np.isin(comparisons.wins, (0.0, 0.5, 1.0))):
        raise StatisticsError("wins must be 0, 0.5 or 1")
    if not np.all(np.isin(comparisons.positions, (-1.0, 0.0, 1.0))):
        raise StatisticsError("positions must be -1, 0 or 1")
    for a, b in zip(comparisons.system_a, comparisons.system_b, strict=True):
        if a == b:
            raise StatisticsError(f"a comparison must hold two different systems, got {a!r} twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Design of shape (n, k) of d; outcomes of shape (n, 3): a, b, tie."""

    names: tuple[str, ...]
    places: IntArray
    design: FloatArray
    outcomes: FloatArray
    has_position: bool
    confounded: bool
    has_ties: bool
    documents: IntArray
    n_documents: int

    @staticmethod
    def of(comparisons: Comparisons) -> Design:
        """Return the design of comparisons."""
        n = len(comparisons.wins)
        coded, names = codes([*comparisons.system_a, *comparisons.system_b])
        places = np.column_stack([coded[:n], coded[n:]])
        system = np.eye(len(names))
        design = np.column_stack([system[coded[:n]] - system[coded[n:]], comparisons.positions])
        products = design.T @ design
        n_free = int(np.linalg.matrix_rank(products[:-1, :-1]))
        has_position = int(np.linalg.matrix_rank(products)) > n_free
        documents, n_documents = document_codes(comparisons.documents, n)
        return Design(
            names=tuple(str(name) for name in names),
            places=places,
            design=design if has_position else design[:, :-1],
            outcomes=outcomes_of(comparisons.wins),
            has_position=has_position,
            confounded=bool(np.any(comparisons.positions)) and not has_position,
            has_ties=bool(np.any(comparisons.wins == 0.5)),
            documents=documents,
            n_documents=n_documents,
        )

    def n_parts(self, connection: Literal["weak", "strong"]) -> int:
        """Count the components of the graph of who beat or tied whom."""
        return count_parts(self.places, self.outcomes, len(self.names), connection)


def outcomes_of(wins: FloatArray) -> FloatArray:
    """Return 1 for what came of each comparison: a, b or a tie, shape (n, 3)."""
    return np.column_stack([wins == won for won in (1.0, 0.0, 0.5)]).astype(float)


def count_parts(
    places: IntArray, outcomes: FloatArray, n_systems: int, connection: Literal["weak", "strong"]
) -> int:
    """Count the components of the graph of who beat or tied whom.

    `places` are the codes of a and b, shape (n, 2); `outcomes` those of `outcomes_of`.
    """
    beats, ties = outcomes[:, 0] == 1.0, outcomes[:, 2] == 1.0
    forward, backward = beats | ties, ~beats
    rows = np.r_[places[forward, 0], places[backward, 1]]
    columns = np.r_[places[forward, 1], places[backward, 0]]
    graph = csr_array((np.ones(rows.size), (rows, columns)), shape=(n_systems,) * 2)
    n_parts, _ = connected_components(graph, directed=True, connection=connection)
    return int(n_parts)


def probabilities(d: FloatArray, tie: float | FloatArray) -> FloatArray:
    """Return P(a), P(b), P(tie), shape (n, 3); `tie` is -inf in a model without ties."""
    weights = [d / 2, -d / 2, np.broadcast_to(tie, d.shape)]
    return np.asarray(softmax(np.column_stack(weights), axis=1))
