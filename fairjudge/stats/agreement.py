"""Agreement of ratings: Cohen's and Randolph's kappa, Krippendorff's alpha.

Kappa and alpha have two functions: one returns a number, the other (``weighted_...``) a function of
the documents' multiplicities for `fairjudge.stats.bootstrap.bootstrap`.
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
from fairjudge.stats.bootstrap import WeightedStatistic, chunked, divide, weighted_mean
from fairjudge.text.counting import pluralize

KappaWeights: TypeAlias = Literal["none", "linear", "quadratic"]
AlphaLevel: TypeAlias = Literal["nominal", "ordinal", "interval"]

MOST_CATEGORIES = 200
"""Maximum number of categories; with more distinct values the measures are undefined."""


def cohen_kappa(x: ArrayLike, y: ArrayLike, *, weights: KappaWeights = "none") -> float | Undefined:
    """Return Cohen's kappa of two raters, shape (n,) each, in [-1, 1].

    kappa = 1 - sum(w O) / sum(w E) with O the observed and E the chance counts of each pair of
    categories (Cohen 1960, 1968). The disagreement w is 1 off the diagonal (``"none"``), or the
    absolute or squared difference of the two *values* (scikit-learn takes the difference of their
    places in the sorted list: the same on evenly spaced categories). Undefined where both raters
    use one and the same single category, or there are more than `MOST_CATEGORIES`.
    """
    first, second = vector(x, name="x"), vector(y, name="y")
    if same_length(x=first, y=second) == 0:
        return Undefined(why="no items")
    weighted = partial(weighted_kappa, first, second, weights=weights)
    return _unweighted(weighted, np.r_[first, second], first.size, raters="both")


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
    coded, n_documents = document_codes(documents, n)
    categories = _categories(np.r_[first, second])
    k = categories.size
    cells = np.searchsorted(categories, first) * k + np.searchsorted(categories, second)
    tables = np.zeros((n_documents, k * k))
    np.add.at(tables, (coded, cells), 1.0)
    disagreement = _disagreement(categories, weights)

    def statistic(counts: FloatArray) -> FloatArray:
        flat = counts @ tables
        observed = flat @ disagreement.ravel()
        table = flat.reshape(-1, k, k)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        chance = np.einsum("ri,ij,rj->r", rows, disagreement, columns) / rows.sum(axis=1)
        return 1.0 - divide(observed, chance)

    return chunked(statistic, k * k)


def krippendorff_alpha(
    ratings: FloatArray, present: BoolArray, *, level: AlphaLevel = "interval"
) -> float | Undefined:
    """Return Krippendorff's alpha, at most 1; 0 is chance, below 0 systematic disagreement.

    alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d) over coincidences o, with n pairable values and
    the squared difference d of the level (Krippendorff 2011, "Computing Krippendorff's
    alpha-reliability"). Items with fewer than two ratings are excluded.

    Parameters
    ----------
    ratings, present : arrays of shape (n_items, n_raters)
        A rating counts where `present` is true.

    Returns
    -------
    float or Undefined
        Undefined where no item has two ratings, or all pairable ratings are equal.
    """
    _check_ratings(ratings, present)
    if not np.any(present.sum(axis=1) >= 2):
        return Undefined(why="no item has two ratings")
    weighted = partial(weighted_alpha, ratings, present, level=level)
    return _unweighted(weighted, ratings[present], len(ratings), raters="all")


def weighted_alpha(
    ratings: FloatArray,
    present: BoolArray,
    *,
    level: AlphaLevel = "interval",
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return Krippendorff's alpha as a function of the documents' multiplicities."""
    _check_ratings(ratings, present)
    coded, _ = document_codes(documents, len(ratings))
    pairable = present.sum(axis=1) >= 2
    categories = _categories(ratings[present & pairable[:, None]])
    k = categories.size
    by_document = _coincidences(ratings, present, categories, coded)

    def statistic(counts: FloatArray) -> FloatArray:
        table = (counts @ by_document).reshape(-1, k, k)
        marginals = table.sum(axis=2)
        difference = _alpha_difference(marginals, categories, level)
        observed = np.einsum("rij,rij->r", table, difference)
        chance = np.einsum("ri,rij,rj->r", marginals, difference, marginals)
        alpha: FloatArray = 1.0 - (marginals.sum(axis=1) - 1.0) * divide(observed, chance)
        return alpha

    return chunked(statistic, 3 * k * k)


def weighted_randolph(
    ratings: FloatArray,
    present: BoolArray,
    *,
    n_categories: int,
    documents: Sequence[Hashable] | None = None,
) -> WeightedStatistic:
    """Return Randolph's free-marginal kappa as a function of the documents' multiplicities.

    kappa = (P - 1/k) / (1 - 1/k), in [-1/(k - 1), 1], with P the mean over items of the share of
    pairs of raters that agree, and k = `n_categories` that raters may choose from (Randolph 2005,
    "Free-marginal multirater kappa"): chance is 1/k, however often a category was chosen. Items
    with fewer than two ratings are excluded; NaN where there is no other.

    Parameters
    ----------
    ratings, present : arrays of shape (n_items, n_raters)
        A rating counts where `present` is true.

    Raises
    ------
    StatisticsError
        If `n_categories` is below 2.
    """
    if n_categories < 2:
        raise StatisticsError(f"expected two categories or more, got {n_categories!r}")
    coded, n_documents = document_codes(documents, len(ratings))
    raters = present.sum(axis=1)
    counts = [
        np.where(present & (ratings == value), 1, 0).sum(axis=1)
        for value in _categories(ratings[present])
    ]
    agreeing = sum((count * (count - 1) for count in counts), np.zeros(len(ratings)))
    pairs = np.maximum(raters * (raters - 1), 1)
    pairable = raters >= 2
    observed = weighted_mean((agreeing / pairs)[pairable], coded[pairable], n_documents)
    chance = 1.0 / n_categories
    return lambda draws: (observed(draws) - chance) / (1.0 - chance)


def _check_ratings(ratings: FloatArray, present: BoolArray) -> None:
    if ratings.shape != present.shape or ratings.ndim != 2:
        raise StatisticsError(
            f"expected two equal shapes (items, raters), got {ratings.shape!r}, {present.shape!r}"
        )
    vector(ratings[present], name="ratings")


def _unweighted(
    weighted: Callable[[], WeightedStatistic], values: FloatArray, n: int, *, raters: str
) -> float | Undefined:
    """Return a statistic in which each of `n` documents counts once; `values` are all ratings."""
    distinct = np.unique(values).size
    if distinct > MOST_CATEGORIES:
        return Undefined(why=f"{pluralize(distinct, 'distinct value')} are no categories")
    value = float(weighted()(np.ones((1, n)))[0])
    same = Undefined(why=f"{raters} raters gave every item the same one value")
    return same if np.isnan(value) else value


def _categories(values: FloatArray) -> FloatArray:
    distinct: FloatArray = np.unique(values)
    if distinct.size > MOST_CATEGORIES:
        raise StatisticsError(f"{pluralize(distinct.size, 'distinct value')} are no categories")
    return distinct


def _disagreement(categories: FloatArray, weights: KappaWeights) -> FloatArray:
    difference = np.abs(categories[:, None] - categories[None, :])
    if weights == "linear":
        return difference
    if weights == "quadratic":
        return difference**2
    return (difference > 0.0).astype(np.float64)


def _coincidences(
    ratings: FloatArray, present: BoolArray, categories: FloatArray, documents: IntArray
) -> FloatArray:
    """Return the coincidences of each document: shape (n_documents, k * k)."""
    k = categories.size
    placed = np.searchsorted(categories, np.where(present, ratings, categories[:1].sum()))
    out = np.zeros((int(documents.max(initial=-1)) + 1, k * k))
    share = 1.0 / np.maximum(present.sum(axis=1) - 1.0, 1.0)
    for i in range(ratings.shape[1]):
        for j in range(ratings.shape[1]):
            if i != j:
                rows = np.flatnonzero(present[:, i] & present[:, j])
                cells = placed[rows, i] * k + placed[rows, j]
                np.add.at(out, (documents[rows], cells), share[rows])
    return out


def _alpha_difference(
    marginals: FloatArray, categories: FloatArray, level: AlphaLevel
) -> FloatArray:
    """Return the squared differences, shape (r, k, k)."""
    if level == "ordinal":
        # Krippendorff's ordinal metric, the sum of counts between two ranks with both ends halved,
        # equals the difference of their mid-ranks.
        places = np.cumsum(marginals, axis=1) - marginals / 2.0
        return (places[:, :, None] - places[:, None, :]) ** 2
    gaps = categories[:, None] - categories[None, :]
    squared = gaps**2 if level == "interval" else (gaps != 0.0).astype(np.float64)
    return np.broadcast_to(squared, (len(marginals), *squared.shape))
