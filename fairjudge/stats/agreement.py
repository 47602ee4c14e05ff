"""Inter-rater agreement: Cohen's and Randolph's kappa, Krippendorff's alpha.

Functions named ``weighted_...`` return the measure as a function of the documents' multiplicities,
for `fairjudge.stats.bootstrap.bootstrap`; the others return a number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.domain import Undefined
from fairjudge.errors import StatisticsError
from fairjudge.stats._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    document_codes,
    same_length,
    vector,
)
from fairjudge.stats.bootstrap import WeightedStatistic, divide, in_chunks, weighted_mean
from fairjudge.text.counting import pluralize

KappaWeights: TypeAlias = Literal["none", "linear", "quadratic"]
AlphaLevel: TypeAlias = Literal["nominal", "ordinal", "interval"]

MAX_CATEGORIES = 200
"""Maximum number of categories; with more distinct values, kappa and alpha are undefined."""


def cohen_kappa(x: ArrayLike, y: ArrayLike, *, weights: KappaWeights = "none") -> float | Undefined:
    """Return Cohen's kappa of two raters, shape (n,) each, in [-1, 1].

    kappa = 1 - sum(w O) / sum(w E) with O the observed and E the chance counts of each pair of
    categories (Cohen 1960, 1968). The disagreement w is 1 off the diagonal (``"none"``), or the
    absolute or squared difference of the two *values* (scikit-learn uses the difference of their
    indices in the sorted list: equal for evenly spaced categories). Undefined if both raters use
    the same single category, or if there are more than `MAX_CATEGORIES` categories.
    """
    first, second = vector(x, name="x"), vector(y, name="y")
    if same_length(x=first, y=second) == 0:
        return Undefined(why="no items")
    make_statistic = partial(weighted_kappa, first, second, weights=weights)
    return _value_on_data(make_statistic, np.r_[first, second], first.size, raters="both")


def weighted_kappa(
    x: ArrayLike,
    y: ArrayLike,
    *,
    weights: KappaWeights = "none",
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return Cohen's kappa as a function of the documents' multiplicities."""
    first, second = vector(x, name="x"), vector(y, name="y")
    n = same_length(x=first, y=second)
    row_documents, n_documents = document_codes(documents, n)
    categories = _categories(np.r_[first, second])
    k = categories.size
    cells = np.searchsorted(categories, first) * k + np.searchsorted(categories, second)
    tables = np.zeros((n_documents, k * k))
    np.add.at(tables, (row_documents, cells), 1.0)
    disagreement = _kappa_disagreement(categories, weights)

    def statistic(counts: FloatArray) -> FloatArray:
        flat_tables = counts @ tables
        observed = flat_tables @ disagreement.ravel()
        table = flat_tables.reshape(-1, k, k)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        chance = np.einsum("ri,ij,rj->r", rows, disagreement, columns) / rows.sum(axis=1)
        return 1.0 - divide(observed, chance)

    return in_chunks(statistic, k * k)


def krippendorff_alpha(
    ratings: FloatArray, present: BoolArray, *, level: AlphaLevel = "interval"
) -> float | Undefined:
    """Return Krippendorff's alpha: at most 1; 0 is chance, negative is systematic disagreement.

    alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d) over coincidences o, with n pairable values and
    the squared difference d for the `level` of measurement (Krippendorff 2011, "Computing
    Krippendorff's alpha-reliability"). Items with fewer than two ratings are excluded.

    Parameters
    ----------
    ratings, present : arrays of shape (n_items, n_raters)
        `present` is False for missing ratings.

    Returns
    -------
    float or Undefined
        Undefined if no item has two ratings, or if all pairable ratings are equal.
    """
    _check_ratings(ratings, present)
    if not np.any(present.sum(axis=1) >= 2):
        return Undefined(why="no item has two ratings")
    make_statistic = partial(weighted_alpha, ratings, present, level=level)
    return _value_on_data(make_statistic, ratings[present], len(ratings), raters="all")


def weighted_alpha(
    ratings: FloatArray,
    present: BoolArray,
    *,
    level: AlphaLevel = "interval",
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return Krippendorff's alpha as a function of the documents' multiplicities."""
    _check_ratings(ratings, present)
    row_documents, _ = document_codes(documents, len(ratings))
    pairable = present.sum(axis=1) >= 2
    categories = _categories(ratings[present & pairable[:, None]])
    k = categories.size
    document_tables = _coincidences(ratings, present, categories, row_documents)

    def statistic(counts: FloatArray) -> FloatArray:
        table = (counts @ document_tables).reshape(-1, k, k)
        marginals = table.sum(axis=2)
        disagreement = _alpha_disagreement(marginals, categories, level)
        observed = np.einsum("rij,rij->r", table, disagreement)
        chance = np.einsum("ri,rij,rj->r", marginals, disagreement, marginals)
        alpha: FloatArray = 1.0 - (marginals.sum(axis=1) - 1.0) * divide(observed, chance)
        return alpha

    return in_chunks(statistic, 3 * k * k)


def weighted_randolph(
    ratings: FloatArray,
    present: BoolArray,
    *,
    n_categories: int,
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return Randolph's free-marginal kappa as a function of the documents' multiplicities.

    kappa = (P - 1/k) / (1 - 1/k), in [-1/(k - 1), 1], with P the mean over items of the share of
    rater pairs that agree, and k = `n_categories` available to raters (Randolph 2005,
    "Free-marginal multirater kappa"): chance is 1/k, regardless of how often a category was used.
    Items with fewer than two ratings are excluded; NaN if no item remains.

    Parameters
    ----------
    ratings, present : arrays of shape (n_items, n_raters)
        `present` is False for missing ratings.

    Raises
    ------
    StatisticsError
        If `n_categories` is below 2.
    """
    if n_categories < 2:
        raise StatisticsError(f"expected two categories or more, got {n_categories!r}")
    row_documents, n_documents = document_codes(documents, len(ratings))
    n_raters = present.sum(axis=1)
    counts = [
        np.where(present & (ratings == value), 1, 0).sum(axis=1)
        for value in _categories(ratings[present])
    ]
    n_agreeing_pairs = sum((count * (count - 1) for count in counts), np.zeros(len(ratings)))
    n_pairs = np.maximum(n_raters * (n_raters - 1), 1)
    pairable = n_raters >= 2
    observed = weighted_mean(
        (n_agreeing_pairs / n_pairs)[pairable], row_documents[pairable], n_documents
    )
    chance = 1.0 / n_categories
    return lambda draws: (observed(draws) - chance) / (1.0 - chance)


def _check_ratings(ratings: FloatArray, present: BoolArray) -> None:
    if ratings.shape != present.shape or ratings.ndim != 2:
        raise StatisticsError(
            f"expected two equal shapes (items, raters), got {ratings.shape!r}, {present.shape!r}"
        )
    vector(ratings[present], name="ratings")


def _value_on_data(
    make_statistic: Callable[[], WeightedStatistic], values: FloatArray, n: int, *, raters: str
) -> float | Undefined:
    """Evaluate a statistic with multiplicity 1 for each of `n` documents; `values`: all ratings."""
    n_distinct = np.unique(values).size
    if n_distinct > MAX_CATEGORIES:
        return Undefined(why=f"{pluralize(n_distinct, 'distinct value')} are no categories")
    value = float(make_statistic()(np.ones((1, n)))[0])
    no_variation = Undefined(why=f"{raters} raters gave every item the same one value")
    return no_variation if np.isnan(value) else value


def _categories(values: FloatArray) -> FloatArray:
    categories: FloatArray = np.unique(values)
    if categories.size > MAX_CATEGORIES:
        raise StatisticsError(f"{pluralize(categories.size, 'distinct value')} are no categories")
    return categories


def _kappa_disagreement(categories: FloatArray, weights: KappaWeights) -> FloatArray:
    difference = np.abs(categories[:, None] - categories[None, :])
    if weights == "linear":
        return difference
    if weights == "quadratic":
        return difference**2
    return (difference > 0.0).astype(np.float64)


def _coincidences(
    ratings: FloatArray, present: BoolArray, categories: FloatArray, documents: IntArray
) -> FloatArray:
    """Return the coincidence table of each document, flattened: shape (n_documents, k * k)."""
    k = categories.size
    category_indices = np.searchsorted(categories, np.where(present, ratings, categories[:1].sum()))
    tables = np.zeros((int(documents.max(initial=-1)) + 1, k * k))
    weights = 1.0 / np.maximum(present.sum(axis=1) - 1.0, 1.0)
    for i in range(ratings.shape[1]):
        for j in range(ratings.shape[1]):
            if i != j:
                rows = np.flatnonzero(present[:, i] & present[:, j])
                cells = category_indices[rows, i] * k + category_indices[rows, j]
                np.add.at(tables, (documents[rows], cells), weights[rows])
    return tables


def _alpha_disagreement(
    marginals: FloatArray, categories: FloatArray, level: AlphaLevel
) -> FloatArray:
    """Return the squared differences of categories per resample, shape (r, k, k)."""
    if level == "ordinal":
        # Krippendorff's ordinal metric (the sum of counts between two ranks, each endpoint halved)
        # equals the difference of their mid-ranks.
        mid_ranks = np.cumsum(marginals, axis=1) - marginals / 2.0
        return (mid_ranks[:, :, None] - mid_ranks[:, None, :]) ** 2
    differences = categories[:, None] - categories[None, :]
    squared_differences = (
        differences**2 if level == "interval" else (differences != 0.0).astype(np.float64)
    )
    return np.broadcast_to(squared_differences, (len(marginals), *squared_differences.shape))
