"""Check and encode input arrays; all checks for invalid numbers are here."""

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
        If `values` is not one-dimensional, or holds NaN or infinity; the message names the first
        bad position.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise StatisticsError(f"{name} must have one dimension, got shape {array.shape!r}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        first = int(bad[0])
        raise StatisticsError(
            f"{name}[{first}] is {float(array[first])!r}: leave missing values out"
        )
    return array


def same_length(**arrays: Sequence[object] | FloatArray | IntArray) -> int:
    """Return the common length of `arrays`, or raise a `StatisticsError` that names them."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise StatisticsError(f"expected equal lengths, got {lengths!r}")
    return next(iter(lengths.values()), 0)


def codes(labels: Sequence[Hashable]) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Return codes of shape (n,) by first appearance, and the distinct labels in that order."""
    order: dict[Hashable, int] = {}
    coded = [order.setdefault(label, len(order)) for label in labels]
    return np.asarray(coded, dtype=np.intp), tuple(order)


def dense(values: FloatArray) -> tuple[IntArray, int]:
    """Return codes of `values` by ascending rank from 0, equal for ties, and their number."""
    distinct, coded = np.unique(values, return_inverse=True)
    return coded.astype(np.intp), distinct.size


def document_codes(documents: Sequence[Hashable] | None, n: int) -> tuple[IntArray, int]:
    """Return the document code of each of `n` rows, and the number of documents.

    Without `documents` each row is a document of its own.
    """
    if documents is None:
        return np.arange(n, dtype=np.intp), n
    same_length(values=range(n), documents=documents)
    coded, distinct = codes(documents)
    return coded, len(distinct)


def totals(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    """Sum `rows`, shape (n, k), within each document; return shape (n_documents, k)."""
    out = np.zeros((n_documents, rows.shape[1]))
    np.add.at(out, documents, rows)
    return out


def check_level(level: float) -> float:
    """Return `level` if it is strictly between 0 and 1, or raise a `StatisticsError`."""
    if not 0.0 < level < 1.0:
        raise StatisticsError(f"level must lie strictly between 0 and 1, got {level!r}")
    return level
