"""Pearson's r, Spearman's rho and Kendall's tau-b with multiplicities, vectorised over resamples.

Items with the same (x, y) are grouped into *cells*. A resample is a column of cell weights; the
weighted statistic equals the ordinary one on the data with each item repeated.
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
    dense_ranks,
    document_codes,
    same_length,
    totals,
    vector,
)
from fairjudge.stats.bootstrap import WeightedStatistic, divide, in_chunks

CorrelationName: TypeAlias = Literal["kendall", "spearman", "pearson"]
CORRELATIONS: tuple[CorrelationName, ...] = ("kendall", "spearman", "pearson")

Sides: TypeAlias = tuple[str, str]
"""Plural names of the two variables, for sentences: ``("the judge's scores", "labels")``."""
SIDES: Sides = ("the first values", "the second values")

_CELLS_PER_CHUNK = 2_000_000
_Weighted: TypeAlias = Callable[[FloatArray], FloatArray]


def correlation(
    name: CorrelationName, x: ArrayLike, y: ArrayLike, *, sides: Sides = SIDES
) -> float | Undefined:
    """Return the correlation coefficient `name`, in [-1, 1], of `x` and `y`, shape (n,) each.

    ``"pearson"`` is Pearson's r. ``"spearman"`` is Spearman's rho, Pearson's r of mid-ranks.
    ``"kendall"`` is Kendall's tau-b (Kendall 1945), in O(n log n):
    ``(P - Q) / sqrt((T - Tx)(T - Ty))`` with P concordant and Q discordant pairs, T all pairs, Tx
    and Ty pairs tied in x and in y. Undefined for fewer than 2 items or if `x` or `y` is constant;
    the reason calls them by the names in `sides`.
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
    """Return a correlation coefficient as a function of the documents' multiplicities.

    Parameters
    ----------
    x, y : arrays of shape (n,)
    documents
        The document of each row; by default each row is its own document. Multiplicities are in
        order of the documents' first appearance.
    """
    x_array, y_array = vector(x, name="x"), vector(y, name="y")
    row_documents, n_documents = document_codes(documents, same_length(x=x_array, y=y_array))
    return document_correlation(name, x_array, y_array, row_documents, n_documents=n_documents)


def document_correlation(
    name: CorrelationName, x: FloatArray, y: FloatArray, documents: IntArray, *, n_documents: int
) -> WeightedStatistic:
    """Return `weighted_correlation` for document codes from 0 to n_documents - 1.

    Documents may have no row, so that multiplicities can be shared with other data.
    """
    if name == "pearson":
        return _pearson_by_document(x, y, documents, n_documents)
    x_codes, y_codes, cell_of_row = _cells(x, y)
    kernel = _KERNELS[name](x_codes, y_codes)
    cell_by_document = csr_array(
        (np.ones(x.size), (cell_of_row, documents)), shape=(x_codes.size, n_documents)
    )

    def statistic(counts: FloatArray) -> FloatArray:
        return kernel(_product(cell_by_document, np.ascontiguousarray(counts.T)))

    return in_chunks(statistic, x_codes.size, max_cells=_CELLS_PER_CHUNK)


def row_correlations(name: CorrelationName, x: FloatArray, y: FloatArray) -> FloatArray:
    """Correlate each row of `x`, shape (r, s), with the same row of `y`; return shape (r,).

    Meant for few columns (systems): Kendall's tau-b compares all s (s - 1) / 2 pairs. Rows with NaN
    give NaN.
    """
    if name == "kendall":
        return _row_kendall(x, y)
    if name == "spearman":
        x, y = _row_ranks(x), _row_ranks(y)
    return _row_pearson(x, y)


def _cells(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the x and y codes of each distinct pair, and the index of each row's pair."""
    x_codes, _ = dense_ranks(x)
    y_codes, n_y = dense_ranks(y)
    pairs, cell_of_row = np.unique(x_codes * max(1, n_y) + y_codes, return_inverse=True)
    first, second = np.divmod(pairs, max(1, n_y))
    return first.astype(np.intp), second.astype(np.intp), cell_of_row.astype(np.intp)


def _pearson_by_document(
    x: FloatArray, y: FloatArray, documents: IntArray, n_documents: int
) -> WeightedStatistic:
    # Centre first to keep the moments small; r is invariant to shifts.
    x = x - x.mean() if x.size else x
    y = y - y.mean() if y.size else y
    moments = totals(
        np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]), documents, n_documents
    )

    def statistic(counts: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy = (counts @ moments).T
        vx = _zero_rounding_errors(n * sxx - sx**2, n * sxx)
        vy = _zero_rounding_errors(n * syy - sy**2, n * syy)
        return _clip_correlation(divide(n * sxy - sx * sy, np.sqrt(vx) * np.sqrt(vy)))

    return statistic


def _zero_rounding_errors(spread: FloatArray, scale: FloatArray) -> FloatArray:
    """Set spreads to 0 if they are rounding errors relative to `scale` (constant resamples)."""
    return np.where(spread <= 1e-13 * scale, 0.0, spread)


def _clip_correlation(r: FloatArray) -> FloatArray:
    coefficients: FloatArray = np.clip(r, -1.0, 1.0)
    return coefficients


def _spearman_kernel(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    def kernel(weights: FloatArray) -> FloatArray:
        x_weights, y_weights = _code_weights(weights, x_codes), _code_weights(weights, y_codes)
        # Mid-ranks, centred: the mean rank (W + 1) / 2 is already subtracted.
        half_total = weights.sum(axis=0) / 2.0
        x_rank = np.cumsum(x_weights, axis=0) - x_weights / 2.0 - half_total
        y_rank = np.cumsum(y_weights, axis=0) - y_weights / 2.0 - half_total
        cross = np.einsum("cr,cr,cr->r", weights, x_rank[x_codes], y_rank[y_codes])
        vx = np.einsum("ur,ur,ur->r", x_weights, x_rank, x_rank)
        vy = np.einsum("ur,ur,ur->r", y_weights, y_rank, y_rank)
        return _clip_correlation(divide(cross, np.sqrt(vx) * np.sqrt(vy)))

    return kernel


def _code_weights(weights: FloatArray, cell_codes: IntArray) -> FloatArray:
    """Sum `weights`, shape (c, r), over the cells of each code; return shape (u, r)."""
    n_codes = int(cell_codes.max()) + 1 if cell_codes.size else 0
    if n_codes == cell_codes.size:
        sums = np.empty_like(weights)
        sums[cell_codes] = weights
        return sums
    return _product(
        csr_array((np.ones(cell_codes.size), (cell_codes, np.arange(cell_codes.size)))), weights
    )


def _product(matrix: csr_array, columns: FloatArray) -> FloatArray:
    product: FloatArray = np.asarray(matrix @ columns)
    return product


def _kendall_kernel(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    # tau-b is symmetric: splitting the variable with fewer distinct values needs fewer levels.
    if y_codes.max(initial=0) > x_codes.max(initial=0):
        x_codes, y_codes = y_codes, x_codes
    count_discordant = _discordance(x_codes, y_codes)

    def kernel(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=0)
        all_pairs = total * (total - 1) / 2
        x_ties = _tied_pairs(_code_weights(weights, x_codes))
        y_ties = _tied_pairs(_code_weights(weights, y_codes))
        both_ties = _tied_pairs(weights)
        concordant_minus_discordant = (
            all_pairs - x_ties - y_ties + both_ties - 2 * count_discordant(weights)
        )
        spread = np.sqrt(all_pairs - x_ties) * np.sqrt(all_pairs - y_ties)
        return _clip_correlation(divide(concordant_minus_discordant, spread))

    return kernel


def _tied_pairs(code_weights: FloatArray) -> FloatArray:
    n_tied: FloatArray = (
        np.einsum("ur,ur->r", code_weights, code_weights) - code_weights.sum(axis=0)
    ) / 2
    return n_tied


def _discordance(x_codes: IntArray, y_codes: IntArray) -> _Weighted:
    """Return the weighted number of discordant pairs, as a function of the cells' weights.

    With cells sorted by (x, y), discordant pairs are the inversions of y. They are counted by
    repeatedly halving the range of y (a wavelet tree): a pair separated by a halving is an
    inversion if its higher value comes first. The order depends only on the values, so it is
    computed once for all resamples.
    """
    cell_order = np.lexsort((y_codes, x_codes))
    y = y_codes[cell_order]
    lower = np.zeros(y.size, dtype=np.intp)
    upper = np.full(y.size, int(y_codes.max(initial=0)) + 1, dtype=np.intp)
    levels: list[tuple[IntArray, FloatArray, IntArray]] = []
    while np.any(upper - lower > 1):
        middle = (lower + upper) // 2
        is_high = y >= middle
        starts = np.flatnonzero(np.r_[True, lower[1:] != lower[:-1]])
        levels.append((cell_order, is_high.astype(np.float64), starts))
        lower = np.where(is_high, middle, lower)
        upper = np.where(is_high, upper, middle)
        next_order = np.lexsort((np.arange(y.size), lower))
        cell_order, y, lower, upper = (
            cell_order[next_order],
            y[next_order],
            lower[next_order],
            upper[next_order],
        )

    def discordant(weights: FloatArray) -> FloatArray:
        n_discordant = np.zeros(weights.shape[1])
        for rows, is_high, starts in levels:
            ordered_weights = weights[rows]
            high_weights = ordered_weights * is_high[:, None]
            cumulative_high = np.cumsum(high_weights, axis=0)
            low_weights = ordered_weights
            low_weights -= high_weights
            n_discordant += np.einsum("cr,cr->r", low_weights, cumulative_high)
            # The cumulative sum must restart in each node: subtract its value before the node.
            if starts.size > 1:
                sum_before_node = cumulative_high[starts[1:] - 1]
                n_discordant -= np.einsum(
                    "cr,cr->r", np.add.reduceat(low_weights, starts, axis=0)[1:], sum_before_node
                )
        return n_discordant

    return discordant


_KERNELS: dict[CorrelationName, Callable[[IntArray, IntArray], _Weighted]] = {
    "spearman": _spearman_kernel,
    "kendall": _kendall_kernel,
}


def _row_pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    x_scale, y_scale = np.abs(x).max(axis=1), np.abs(y).max(axis=1)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    vx = _zero_rounding_errors(np.einsum("rs,rs->r", x, x), x_scale**2 * 1e-13)
    vy = _zero_rounding_errors(np.einsum("rs,rs->r", y, y), y_scale**2 * 1e-13)
    return _clip_correlation(divide(np.einsum("rs,rs->r", x, y), np.sqrt(vx) * np.sqrt(vy)))


def _row_ranks(values: FloatArray) -> FloatArray:
    n_less = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    n_tied = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    ranks: FloatArray = n_less + (n_tied + 1) / 2.0
    return np.where(np.isnan(values), np.nan, ranks)


def _row_kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    first, second = np.triu_indices(x.shape[1], k=1)
    x_signs, y_signs = np.sign(x[:, first] - x[:, second]), np.sign(y[:, first] - y[:, second])
    spread = np.sqrt((x_signs**2).sum(axis=1)) * np.sqrt((y_signs**2).sum(axis=1))
    return _clip_correlation(divide((x_signs * y_signs).sum(axis=1), spread))
