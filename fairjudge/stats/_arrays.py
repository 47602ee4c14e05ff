"""Validation and encoding of input arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairjudge.errors import StatisticsError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]


def vector(values: ArrayLike, *, name: str) -> FloatArray:
    """Return `values` as a one-dimensional float array of finite numbers.

    Raises
    ------
    StatisticsError
        If `values` is not one-dimensional, or contains NaN or infinity; the message gives the first
        invalid index.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise StatisticsError(f"{name} must have one dimension, got shape {array.shape!r}")
    bad_indices = np.flatnonzero(~np.isfinite(array))
    if bad_indices.size:
        index = int(bad_indices[0])
        raise StatisticsError(
            f"{name}[{index}] is {float(array[index])!r}: remove missing values first"
        )
    return array


def same_length(**arrays: Sequence[object] | FloatArray | IntArray) -> int:
    """Return the common length of `arrays`; raise a `StatisticsError` if lengths differ."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise StatisticsError(f"expected equal lengths, got {lengths!r}")
    return next(iter(lengths.values()), 0)


def codes(labels: Sequence[Hashable]) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Encode labels as integers, shape (n,), by first appearance; also return distinct labels."""
    code_by_label: dict[Hashable, int] = {}
    label_codes = [code_by_label.setdefault(label, len(code_by_label)) for label in labels]
    return np.asarray(label_codes, dtype=np.intp), tuple(code_by_label)


def dense_ranks(values: FloatArray) -> tuple[IntArray, int]:
    """Return 0-based dense ranks of `values` (ties share a rank), and the number of ranks."""
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.astype(np.intp), distinct.size


def document_codes(documents: Sequence[Hashable] | None, n: int) -> tuple[IntArray, int]:
    """Return the document code of each of `n` rows, and the number of documents.

    Without `documents`, each row is its own document.
    """
    if documents is None:
        return np.arange(n, dtype=np.intp), n
    same_length(values=range(n), documents=documents)
    row_documents, distinct = codes(documents)
    return row_documents, len(distinct)


def totals(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    """Sum `rows`, shape (n, k), per document; return shape (n_documents, k)."""
    sums = np.zeros((n_documents, rows.shape[1]))
    np.add.at(sums, documents, rows)
    return sums


def check_level(level: float) -> float:
    """Return `level`; raise a `StatisticsError` unless it is strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise StatisticsError(f"level must lie strictly between 0 and 1, got {level!r}")
    return level
