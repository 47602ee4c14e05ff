"""Pearson's r, Spearman's rho and Kendall's tau-b with multiplicities, many resamples at a time.

Only distinct (x, y) pairs matter, so items are first gathered into *cells*. A resample is a column
of cell weights; the weighted statistic equals the ordinary one on the data with each item repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from fairjudge.domain import Undefined
from fairjudge.stats._arrays import (
    FloatArray,
    IntArray,
    dense,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.bootstrap import WeightedStatistic, chunked, divide

CorrelationName: TypeAlias = Literal["kendall", "spearman", "pearson"]
CORRELATIONS: tuple[CorrelationName, ...] = ("kendall", "spearman", "pearson")

Sides: TypeAlias = tuple[str, str]
"""What is correlated, in the plural, for sentences: ``("the judge's scores", "labels")``."""
SIDES: Sides = ("the first values", "the second values")

_CELLS_PER_CHUNK = 2_000_000
_Weighted: TypeAlias = Callable[[FloatArray], FloatArray]


def correlation(
    name: CorrelationName, x: ArrayLike, y: ArrayLike, *, sides: Sides = SIDES
) -> float | Undefined:
    """Return the correlation called `name`, in [-1, 1], of `x` and `y`, shape (n,) each.

    Pearson's r; Spearman's rho, Pearson's r of mid-ranks; or Kendall's tau-b (Kendall 1945), in
    O(n log n): ``(P - Q) / sqrt((T - Tx)(T - Ty))`` with P concordant and Q discordant pairs, T all
    pairs, Tx and Ty those tied in x and in y. Undefined below 2 items and where a side is constant;
    `sides` name `x` and `y` in the reason.
    """
    x_array, y_array = vector(x, name="x"), vector(y, name="y")
    if same_length(x=x_array, y=y_array) < 2:
        return Undefined(why="fewer than 2 items")
    for side, array in zip(sides, (x_array, y_array), strict=True):
        if np.all(array == array[0]):
            return Undefined(why=f"{side} are all {float(array[0]):g}")
    value = float(weighted_correlation(name, x_array, y_array)(np.ones((1, x_array.size)))[0])
    return Undefined(why="the spread underflows") if np.isnan(value) else value


def weighted_correlation(
    name: CorrelationName,
    x: ArrayLike,
    y: ArrayLike,
    *,
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return a correlation as a function of the documents' multiplicities, for `bootstrap`.

    Parameters
    ----------
    x, y : arrays of shape (n,)
    documents
        The document of each row; each row its own where None. Multiplicities are taken in order of
        first appearance.
    """
    x_array, y_array = vector(x, name="x"), vector(y, name="y")
    coded, n_documents = document_codes(documents, same_length(x=x_array, y=y_array))
    return coded_correlation(name, x_array, y_array, coded, n_documents=n_documents)


def coded_correlation(
    name: CorrelationName, x: FloatArray, y: FloatArray, documents: IntArray, *, n_documents: int
) -> WeightedStatistic:
    """Return `weighted_correlation` for documents coded from 0 to n_documents - 1.

    A document may have no row, so that multiplicities can be shared with other data.
    """
    if name == "pearson":
        return _pearson_by_document(x, y, documents, n_documents)
    x_codes, y_codes, cell_of_row = _cells(x, y)
    kernel = _KERNELS[name](x_codes, y_codes)
    spread = csr_array(
        (np.ones(x.size), (cell_of_row, documents)), shape=(x_codes.size, n_documents)
    )

    def statistic(counts: FloatArray) -> FloatArray:
        return kernel(_product(spread, np.ascontiguousarray(counts.T)))

    return chunked(statistic, x_codes.size, most=_CELLS_PER_CHUNK)


def rowwise(name: CorrelationName, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the correlation of each row of `x` with the same row of `y`: (r, s) to (r,).

    For few columns (systems): Kendall compares all s (s - 1) / 2 pairs. Rows with NaN give NaN.
    """
    if name == "kendall":
        return _rowwise_kendall(x, y)
    if name == "spearman":
        x, y = _row_ranks(x), _row_ranks(y)
    return _rowwise_pearson(x, y)


def _cells(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the x and y codes of each distinct pair, and the index of each row's pair."""
    x_codes, _ = dense(x)
    y_codes, n_y = dense(y)
    pairs, cell_of_row = np.unique(x_codes * max(1, n_y) + y_codes, return_inverse=True)
    first, second = np.divmod(pairs, max(1, n_y))
    return first.astype(np.intp), second.astype(np.intp), cell_of_row.astype(np.intp)


def _pearson_by_document(
    x: FloatArray, y: FloatArray, documents: IntArray, n_documents: int
) -> WeightedStatistic:
    # Centring first keeps the moments small; a common shift leaves r unchanged.
    x = x - x.mean() if x.size else x
    y = y - y.mean() if y.size else y
    moments = totals(
        np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]), documents, n_documents
    )

    def statistic(counts: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy = (counts @ moments).T
        vx = _clean(n * sxx - sx**2, n * sxx)
        vy = _clean(n * syy - sy**2, n * syy)
        return _bounded(divide(n * sxy - sx * sy, np.sqrt(vx) * np.sqrt(vy)))

    return statistic


def _clean(spread: FloatArray, scale: FloatArray) -> FloatArray:
    """Set spreads to 0 that are rounding errors relative to `scale`, as in a constant resample."""
    return np.where(spread <= 1e-13 * scale, 0.0, spread)


def _bounded(r: FloatArray) -> FloatArray:
    clipped: FloatArray = np.clip(r, -1.0, 1.0)
    return clipped


def _spearman_kernel(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    def kernel(weights: FloatArray) -> FloatArray:
        x_mass, y_mass = _mass(weights, x_codes), _mass(weights, y_codes)
        # Mid-ranks centred at 0: the mean rank (W + 1) / 2 is already subtracted.
        half = weights.sum(axis=0) / 2.0
        x_rank = np.cumsum(x_mass, axis=0) - x_mass / 2.0 - half
        y_rank = np.cumsum(y_mass, axis=0) - y_mass / 2.0 - half
        cross = np.einsum("cr,cr,cr->r", weights, x_rank[x_codes], y_rank[y_codes])
        vx = np.einsum("ur,ur,ur->r", x_mass, x_rank, x_rank)
        vy = np.einsum("ur,ur,ur->r", y_mass, y_rank, y_rank)
        return _bounded(divide(cross, np.sqrt(vx) * np.sqrt(vy)))

    return kernel


def _mass(weights: FloatArray, coded: IntArray) -> FloatArray:
    """Sum `weights`, shape (c, r), over the cells of each code; return shape (u, r)."""
    size = int(coded.max()) + 1 if coded.size else 0
    if size == coded.size:
        out = np.empty_like(weights)
        out[coded] = weights
        return out
    return _product(csr_array((np.ones(coded.size), (coded, np.arange(coded.size)))), weights)


def _product(matrix: csr_array, columns: FloatArray) -> FloatArray:
    product: FloatArray = np.asarray(matrix @ columns)
    return product


def _kendall_kernel(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    # tau-b is symmetric: splitting the variable with fewer values takes fewer levels.
    if y_codes.max(initial=0) > x_codes.max(initial=0):
        x_codes, y_codes = y_codes, x_codes
    discordant = _discordance(x_codes, y_codes)

    def kernel(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=0)
        all_pairs = total * (total - 1) / 2
        x_ties = _pairs(_mass(weights, x_codes))
        y_ties = _pairs(_mass(weights, y_codes))
        both_ties = _pairs(weights)
        difference = all_pairs - x_ties - y_ties + both_ties - 2 * discordant(weights)
        spread = np.sqrt(all_pairs - x_ties) * np.sqrt(all_pairs - y_ties)
        return _bounded(divide(difference, spread))

    return kernel


def _pairs(mass: FloatArray) -> FloatArray:
    tied: FloatArray = (np.einsum("ur,ur->r", mass, mass) - mass.sum(axis=0)) / 2
    return tied


def _discordance(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    """Return the weighted number of discordant pairs, as a function of the cells' weights.

    Sorted by (x, y), the discordant pairs of cells are the inversions of y. They are counted by
    repeatedly halving the range of y (a wavelet tree): of the pairs that a halving separates, those
    with the higher one first are inversions. The order depends on the values only and is computed
    once for all resamples.
    """
    order = np.lexsort((y_codes, x_codes))
    y = y_codes[order]
    low_end = np.zeros(y.size, dtype=np.intp)
    high_end = np.full(y.size, int(y_codes.max(initial=0)) + 1, dtype=np.intp)
    levels: list[tuple[IntArray, FloatArray, IntArray]] = []
    while np.any(high_end - low_end > 1):
        middle = (low_end + high_end) // 2
        is_high = y >= middle
        starts = np.flatnonzero(np.r_[True, low_end[1:] != low_end[:-1]])
        levels.append((order, is_high.astype(np.float64), starts))
        low_end = np.where(is_high, middle, low_end)
        high_end = np.where(is_high, high_end, middle)
        step = np.lexsort((np.arange(y.size), low_end))
        order, y, low_end, high_end = order[step], y[step], low_end[step], high_end[step]

    def discordant(weights: FloatArray) -> FloatArray:
        out = np.zeros(weights.shape[1])
        for rows, is_high, starts in levels:
            ordered_weights = weights[rows]
            high = ordered_weights * is_high[:, None]
            before = np.cumsum(high, axis=0)
            low = ordered_weights
            low -= high
            out += np.einsum("cr,cr->r", low, before)
            # The running sum must restart in each node: subtract its value before the node.
            if starts.size > 1:
                base = before[starts[1:] - 1]
                out -= np.einsum("cr,cr->r", np.add.reduceat(low, starts, axis=0)[1:], base)
        return out

    return discordant


_KERNELS: dict[CorrelationName, Callable[[IntArray, IntArray], _Weighted]] = {
    "spearman": _spearman_kernel,
    "kendall": _kendall_kernel,
}


def _rowwise_pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    x_scale, y_scale = np.abs(x).max(axis=1), np.abs(y).max(axis=1)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    vx = _clean(np.einsum("rs,rs->r", x, x), x_scale**2 * 1e-13)
    vy = _clean(np.einsum("rs,rs->r", y, y), y_scale**2 * 1e-13)
    return _bounded(divide(np.einsum("rs,rs->r", x, y), np.sqrt(vx) * np.sqrt(vy)))


def _row_ranks(values: FloatArray) -> FloatArray:
    less = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    tied = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    ranks: FloatArray = less + (tied + 1) / 2.0
    return np.where(np.isnan(values), np.nan, ranks)


def _rowwise_kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    first, second = np.triu_indices(x.shape[1], k=1)
    sx, sy = np.sign(x[:, first] - x[:, second]), np.sign(y[:, first] - y[:, second])
    spread = np.sqrt((sx**2).sum(axis=1)) * np.sqrt((sy**2).sum(axis=1))
    return _bounded(divide((sx * sy).sum(axis=1), spread))
