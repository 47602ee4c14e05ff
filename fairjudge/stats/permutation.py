"""Permutation tests: labels shuffled, or signs of differences flipped by document."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes, totals, vector

LabelStatistic: TypeAlias = Callable[[IntArray], FloatArray]
"""Maps label codes of shape (r, n) to values of shape (r,)."""
Alternative: TypeAlias = Literal["greater", "less", "two-sided"]

_CELLS_A_CHUNK = 4_000_000
_ROUNDING = 1e-12
"""Permuted values this close, relatively, count as equal to the observed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """A statistic against its permutation distribution.

    ``p_value`` is ``(1 + #{permuted >= observed}) / (1 + n)`` (Phipson and Smyth 2010), never 0.
    ``p_value_strict`` is ``#{permuted > observed} / n``, which some papers print and which can
    be 0. Both are turned for the other alternatives.
    """

    observed: float
    p_value: float
    p_value_strict: float
    n_permutations: int
    alternative: Alternative


def permute_labels(labels: IntArray, n_permutations: int, rng: np.random.Generator) -> IntArray:
    """Return shape (n_permutations, n): each row an independent shuffle of `labels`."""
    rows = np.broadcast_to(labels, (n_permutations, labels.size))
    return rng.permuted(rows, axis=1)


def label_permutation_test(
    statistic: LabelStatistic,
    labels: IntArray,
    *,
    rng: np.random.Generator,
    n_permutations: int = 5000,
    alternative: Alternative = "greater",
) -> PermutationTest | Undefined:
    """Test whether `statistic` is larger with the real labels than with shuffled ones.

    Parameters
    ----------
    statistic
        Takes label codes of shape (r, n) and returns shape (r,).
    labels : integer array of shape (n,)

    Returns
    -------
    PermutationTest or Undefined
        Undefined where fewer than two distinct labels occur: every permutation is the same.
    """
    if np.unique(labels).size < 2:
        return Undefined(why="fewer than two distinct labels: nothing to permute")
    observed = float(statistic(labels[None, :])[0])
    size = max(1, _CELLS_A_CHUNK // labels.size)
    parts = [
        statistic(permute_labels(labels, min(size, n_permutations - start), rng))
        for start in range(0, n_permutations, size)
    ]
    return compare(observed, np.concatenate(parts), alternative=alternative)


def sign_flip_test(
    differences: ArrayLike,
    *,
    rng: np.random.Generator,
    documents: Sequence[Hashable] | None = None,
    n_permutations: int = 5000,
    alternative: Alternative = "two-sided",
) -> PermutationTest | Undefined:
    """Test whether paired `differences`, shape (n,), have mean 0 by flipping signs.

    All rows of a document flip together, so dependence within documents is kept. Undefined
    for no differences, or where all are 0.
    """
    array = vector(differences, name="differences")
    if not np.any(array):
        return Undefined(why="no differences, or all are 0")
    coded, n_documents = document_codes(documents, array.size)
    sums = totals(array[:, None], coded, n_documents)[:, 0]
    size = max(1, _CELLS_A_CHUNK // n_documents)
    parts = [
        rng.choice([-1.0, 1.0], size=(min(size, n_permutations - start), n_documents)) @ sums
        for start in range(0, n_permutations, size)
    ]
    permuted = np.concatenate(parts) / array.size
    return compare(float(array.mean()), permuted, alternative=alternative)


def compare(
    observed: float, permuted: FloatArray, *, alternative: Alternative = "greater"
) -> PermutationTest:
    """Place `observed` in `permuted`, shape (n,); two-sided compares absolute values."""
    if not permuted.size:
        raise StatisticsError("a permutation test needs at least one permutation")
    turned, target = permuted, observed
    if alternative == "less":
        turned, target = -permuted, -observed
    elif alternative == "two-sided":
        turned, target = np.abs(permuted), abs(observed)
    slack = _ROUNDING * max(1.0, abs(target))
    at_least = int(np.count_nonzero(turned >= target - slack))
    above = int(np.count_nonzero(turned > target + slack))
    return PermutationTest(
        observed=observed,
        p_value=(1 + at_least) / (1 + permuted.size),
        p_value_strict=above / permuted.size,
        n_permutations=int(permuted.size),
        alternative=alternative,
    )
