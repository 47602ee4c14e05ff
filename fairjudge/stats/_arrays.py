"""Checking and coding input arrays: the one place where bad numbers are refused."""

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
        Not one-dimensional, or NaN or infinite; the message names the first bad position.
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
    """Code `values` by ascending rank from 0, ties sharing a code; and how many are distinct."""
    distinct, coded = np.unique(values, return_inverse=True)
    return coded.astype(np.intp), distinct.size


def document_codes(documents: Sequence[Hashable] | None, n: int) -> tuple[IntArray, int]:
    """Code each of `n` rows by its document (each row its own where None), and count documents."""
    if documents is None:
        return np.arange(n, dtype=np.intp), n
    same_length(values=range(n), documents=documents)
    coded, distinct = codes(documents)
    return coded, len(distinct)


def totals(rows: FloatArray, documents: IntArray, n_documents: int) -> FloatArray:
    """Sum the columns of `rows`, shape (n, k), within each document: shape (n_documents, k)."""
    out = np.zeros((n_documents, rows.shape[1]))
    np.add.at(out, documents, rows)
    return out


def check_level(level: float) -> float:
    """Return `level` if it is strictly between 0 and 1, or raise a `StatisticsError`."""
    if not 0.0 < level < 1.0:
        raise StatisticsError(f"level must lie strictly between 0 and 1, got {level!r}")
    return level
