"""Differences between annotators: camps, severity, influence, confusion.

A mean label assumes that annotators measure the same quantity; `annotator_camps` tests this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import (
    BASELINE_RESAMPLES,
    MIN_ITEMS,
    Agreement,
    Resampling,
    score_agreement,
)
from fairjudge.calibration.confusion import count_pairs, nearest_levels
from fairjudge.calibration.items import JUDGE_SIDE, LABELS_SIDE, JoinedItems
from fairjudge.domain import Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, codes
from fairjudge.stats.correlation import correlation

MAX_ANNOTATORS = 12
"""Maximum number of annotators, those with the most items, in the search for camps."""
MIN_ANNOTATORS = 4
MIN_FOR_PULLER = 3
N_PERMUTATIONS = 499
CAMPS_ALPHA = 0.01
_CAMP_SIDES = ("one camp's mean labels", "the other camp's mean labels")
_MAX_CATEGORIES = 11
_MIN_PULL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Camp:
    """Annotators who agree with each other, and the judge's agreement with their mean label."""

    annotators: tuple[str, ...]
    within: float
    n_items: int
    judge: Agreement | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Camps:
    """The division of annotators into two camps with the largest gap.

    ``within`` of a camp is the mean Pearson correlation of its pairs of annotators, on the items
    that both labelled; ``between`` is that of pairs across camps. ``gap`` is the smaller ``within``
    minus ``between``. ``found`` is true if its permutation p-value, at least ``p_floor``, is at
    most `CAMPS_ALPHA`. ``items`` and ``systems`` are Spearman's correlations of the camps' means.
    """

    camps: tuple[Camp, ...]
    between: float
    gap: float
    p_value: float
    p_floor: float
    found: bool
    items: float | Undefined
    systems: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorMeasures:
    """Measures of one annotator.

    ``severity`` is the annotator's least-squares offset in label = item + annotator + error;
    offsets sum to 0 over labels, and positive ones mean leniency. ``others`` is the annotator's
    Spearman correlation with the mean of the other annotators. ``without`` is the judge's pooled
    Spearman correlation with that mean, and ``pull`` its increase from excluding the annotator.
    """

    annotator: str
    n_items: int
    mean: float
    severity: float
    others: float | Undefined
    without: float | Undefined
    pull: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """A system's mean label, raw and adjusted for annotators' severity."""

    system: str
    mean: float
    adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Confusion table of the judge's answer (rows) and the mean label (columns).

    Both are rounded to ``levels``. ``base_rate`` is the share of each level among the labels.
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    base_rate: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """Report on the annotators of one group of labels.

    ``puller`` is an annotator whose exclusion changes the judge's correlation by at least
    `_MIN_PULL`, and by twice as much as that of any other annotator in the same direction.
    """

    camps: Camps | Undefined
    annotators: tuple[AnnotatorMeasures, ...]
    puller: str | None
    systems: tuple[SystemMean, ...]
    confusion: Confusion | Undefined


def annotator_report(items: JoinedItems, *, resampling: Resampling, seed: int) -> AnnotatorReport:
    """Analyse the annotators behind the mean label of one group."""
    rng = np.random.default_rng(seed)
    offsets = severity(items.ratings, items.present)
    measures = tuple(
        _annotator_measures(items, column, float(offsets[column]))
        for column in range(len(items.annotators))
    )
    return AnnotatorReport(
        camps=annotator_camps(items, resampling=resampling, rng=rng),
        annotators=measures,
        puller=_find_puller(measures),
        systems=_system_means(items, offsets),
        confusion=_annotator_confusion(items),
    )


def annotator_camps(
    items: JoinedItems, *, resampling: Resampling, rng: np.random.Generator
) -> Camps | Undefined:
    """Find the division of annotators into two camps with the largest ``gap``, and test it.

    All divisions into camps of two or more annotators are compared. The null hypothesis is that
    annotators are exchangeable: standardised labels are permuted among the annotators of an item
    (jointly for all items of a document with the same annotators), and the largest gap over all
    divisions is recomputed, which accounts for the choice of the division;
    p = (1 + #{permuted >= observed}) / (1 + `N_PERMUTATIONS`). A single deviating annotator is not
    a camp.
    """
    counts = items.present.sum(axis=0)
    columns = np.sort(np.argsort(-counts, kind="stable")[:MAX_ANNOTATORS])
    columns = columns[counts[columns] >= MIN_ITEMS]
    if columns.size < MIN_ANNOTATORS:
        return Undefined(why=f"fewer than {MIN_ANNOTATORS} annotators with {MIN_ITEMS} items")
    present = items.present[:, columns]
    n_shared = present.astype(np.int64).T @ present
    if n_shared.min() < MIN_ITEMS:
        return Undefined(why=f"two annotators share fewer than {MIN_ITEMS} items")
    values = _standardise(items.ratings[:, columns], present)
    divisions = _all_divisions(columns.size)
    correlations = _correlations(values, present)
    gaps = _gaps(correlations, divisions)
    best_index = int(gaps.argmax())
    # The larger camp first, or that of the first annotator.
    division = divisions[best_index]
    if (np.count_nonzero(~division), ~division[0]) > (np.count_nonzero(division), division[0]):
        division = ~division
    p_value = _permutation_p_value(
        gaps[best_index], values, present, divisions, documents=items.documents, rng=rng
    )
    camp_columns = [columns[division == camp] for camp in (True, False)]
    first_means, second_means = (_mean_label(items, camp) for camp in camp_columns)
    has_both = ~np.isnan(first_means) & ~np.isnan(second_means)
    has_camps = bool(p_value <= CAMPS_ALPHA)
    return Camps(
        camps=tuple(
            Camp(
                annotators=tuple(items.annotators[j] for j in camp),
                within=_mean_within(correlations, division == flag),
                n_items=int(np.count_nonzero(~np.isnan(mean))),
                judge=_judge_camp_agreement(items, mean, resampling, rng)
                if has_camps
                else Undefined(why="no camps"),
            )
            for camp, flag, mean in zip(
                camp_columns, (True, False), (first_means, second_means), strict=True
            )
        ),
        between=float(correlations[np.ix_(division, ~division)].mean()),
        gap=float(gaps[best_index]),
        p_value=p_value,
        p_floor=1 / (1 + N_PERMUTATIONS),
        found=has_camps,
        items=correlation(
            "spearman", first_means[has_both], second_means[has_both], sides=_CAMP_SIDES
        ),
        systems=_correlate_systems(items, first_means, second_means, has_both),
    )


def severity(ratings: FloatArray, present: BoolArray) -> FloatArray:
    """Return annotators' least-squares offsets in label = item + annotator + error, shape (m,).

    Item effects are projected out, which leaves the Laplacian of the co-labelling graph. Annotators
    who share no item with others have an offset of 0. Offsets sum to 0 over labels.

    Parameters
    ----------
    ratings, present : arrays of shape (n, m)
        `present` is False for missing ratings.
    """
    weight = present.astype(np.float64)
    per_item = np.maximum(weight.sum(axis=1, keepdims=True), 1.0)
    means = (ratings * weight).sum(axis=1, keepdims=True) / per_item
    residuals = np.where(present, ratings - means, 0.0)
    normal = np.diag(weight.sum(axis=0)) - (weight / per_item).T @ weight
    offsets = np.linalg.lstsq(normal, residuals.sum(axis=0), rcond=None)[0]
    n = weight.sum()
    return np.asarray(offsets - (offsets @ weight.sum(axis=0)) / n if n else offsets)


def _permutation_p_value(
    gap: float,
    values: FloatArray,
    present: BoolArray,
    divisions: BoolArray,
    *,
    documents: Sequence[str],
    rng: np.random.Generator,
) -> float:
    """Return the p-value of `gap` among the largest gaps of exchangeable annotators."""
    # Rows of a document with the same annotators are permuted together.
    block, _ = codes(
        [(document, row.tobytes()) for document, row in zip(documents, present, strict=True)]
    )
    permuted_gaps = [
        float(
            _gaps(
                _correlations(_permute_labels(values, block, present, rng), present), divisions
            ).max()
        )
        for _ in range(N_PERMUTATIONS)
    ]
    return (1 + sum(permuted >= gap - 1e-12 for permuted in permuted_gaps)) / (1 + N_PERMUTATIONS)


def _permute_labels(
    values: FloatArray, block: IntArray, present: BoolArray, rng: np.random.Generator
) -> FloatArray:
    """Permute each item's values among its annotators, equally for the rows of a `block`."""
    keys = rng.random((int(block.max(initial=-1)) + 1, present.shape[1]))[block]
    keys[~present] = 2.0  # annotators without a label come last
    order = np.argsort(keys, axis=1)
    columns = np.argsort(~present, axis=1, kind="stable")
    permuted_values = np.zeros_like(values)
    np.put_along_axis(permuted_values, columns, np.take_along_axis(values, order, axis=1), axis=1)
    return np.where(present, permuted_values, 0.0)


def _standardise(ratings: FloatArray, present: BoolArray) -> FloatArray:
    """Standardise each annotator's labels to mean 0 and variance 1; 0 where missing."""
    n = present.sum(axis=0)
    centred = np.where(present, ratings - (ratings * present).sum(axis=0) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n)
    return np.asarray(centred / np.where(spread > 0.0, spread, 1.0))


def _correlations(values: FloatArray, present: BoolArray) -> FloatArray:
    """Return Pearson's r of each pair of annotators on the items that both labelled: (m, m)."""
    weight = present.astype(np.float64)
    n = weight.T @ weight
    sums, squares = values.T @ weight, (values**2).T @ weight
    covariance = values.T @ values / n - (sums / n) * (sums / n).T
    variance = squares / n - (sums / n) ** 2
    scale = np.sqrt(np.maximum(variance * variance.T, 0.0))
    return np.asarray(np.where(scale > 0.0, covariance / np.where(scale > 0.0, scale, 1.0), 0.0))


def _all_divisions(m: int) -> BoolArray:
    """Return masks of all divisions of m annotators into two sides of two or more: shape (k, m)."""
    number = np.arange(2 ** (m - 1))[:, None]
    sides = (number >> np.arange(m)) & 1 == 1
    size = sides.sum(axis=1)
    return np.asarray(sides[(size >= 2) & (size <= m - 2)])


def _gaps(correlations: FloatArray, divisions: BoolArray) -> FloatArray:
    """Return each division's smaller mean correlation within a side minus that between sides."""
    first_side = divisions.astype(np.float64)
    second_side = 1.0 - first_side

    def mean(first: FloatArray, second: FloatArray, pairs: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ki,ij,kj->k", first, correlations, second) / pairs)

    def mean_within(side: FloatArray) -> FloatArray:
        n = side.sum(axis=1)
        diagonal = side @ np.diag(correlations)
        pairs = n * (n - 1.0)
        return np.asarray(mean(side, side, pairs) - diagonal / pairs)

    mean_between = mean(first_side, second_side, first_side.sum(axis=1) * second_side.sum(axis=1))
    return np.asarray(np.minimum(mean_within(first_side), mean_within(second_side)) - mean_between)


def _mean_within(correlations: FloatArray, side: BoolArray) -> float:
    block = correlations[np.ix_(side, side)]
    n = block.shape[0]
    return float((block.sum() - np.trace(block)) / (n * (n - 1)))


def _mean_label(items: JoinedItems, columns: IntArray) -> FloatArray:
    """Return each item's mean label by the annotators in `columns`, NaN where missing."""
    present = items.present[:, columns]
    n = present.sum(axis=1)
    total = (items.ratings[:, columns] * present).sum(axis=1)
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


def _judge_camp_agreement(
    items: JoinedItems, mean: FloatArray, resampling: Resampling, rng: np.random.Generator
) -> Agreement | Undefined:
    has_mean = ~np.isnan(mean)
    if np.count_nonzero(has_mean) < MIN_ITEMS:
        return Undefined(why="too few items")
    camp_items = replace(items, human=mean)
    values = np.where(has_mean, items.judged, np.nan)
    fast_resampling = replace(
        resampling, n_resamples=min(resampling.n_resamples, BASELINE_RESAMPLES)
    )
    return score_agreement(camp_items, values, resampling=fast_resampling, rng=rng, side=JUDGE_SIDE)


def _correlate_systems(
    items: JoinedItems, first: FloatArray, second: FloatArray, has_both: BoolArray
) -> float | Undefined:
    system_codes, names = codes([items.systems[row] for row in np.flatnonzero(has_both)])
    if len(names) < 3:
        return Undefined(why="fewer than 3 systems")
    n = np.bincount(system_codes)
    means = (np.bincount(system_codes, side[has_both]) / n for side in (first, second))
    return correlation("spearman", *means, sides=_CAMP_SIDES)


def _annotator_measures(items: JoinedItems, column: int, offset: float) -> AnnotatorMeasures:
    is_labelled = items.present[:, column]
    labels = items.ratings[is_labelled, column]
    other_columns = np.delete(np.arange(len(items.annotators)), column)
    other_mean = _mean_label(items, other_columns)
    has_other_labels = ~np.isnan(other_mean)
    is_shared = has_other_labels & is_labelled
    scores, sides = items.judged[has_other_labels], (JUDGE_SIDE, LABELS_SIDE)
    with_all, without = (
        correlation("spearman", scores, mean[has_other_labels], sides=sides)
        for mean in (_mean_label(items, np.r_[other_columns, column]), other_mean)
    )
    return AnnotatorMeasures(
        annotator=items.annotators[column],
        n_items=int(is_labelled.sum()),
        mean=float(labels.mean()) if labels.size else 0.0,
        severity=offset,
        others=correlation(
            "spearman",
            items.ratings[is_shared, column],
            other_mean[is_shared],
            sides=("the annotator's labels", "the other annotators' mean labels"),
        ),
        without=without,
        pull=None
        if isinstance(without, Undefined) or isinstance(with_all, Undefined)
        else without - with_all,
    )


def _find_puller(annotators: Sequence[AnnotatorMeasures]) -> str | None:
    pulls = {item.annotator: item.pull for item in annotators if item.pull is not None}
    if len(pulls) < MIN_FOR_PULLER:
        return None
    strongest = max(pulls, key=lambda name: abs(pulls[name]))
    same_sign_pulls = [
        abs(pull)
        for name, pull in pulls.items()
        if name != strongest and pull * pulls[strongest] > 0
    ]
    return (
        strongest
        if abs(pulls[strongest]) >= max(_MIN_PULL, 2.0 * max(same_sign_pulls, default=0.0))
        else None
    )


def _system_means(items: JoinedItems, offsets: FloatArray) -> tuple[SystemMean, ...]:
    if PROTOCOLS[items.protocol].paired or items.averaged_labels or not items.keys:
        return ()
    n = np.maximum(items.present.sum(axis=1), 1)
    adjusted_means = ((items.ratings - offsets) * items.present).sum(axis=1) / n
    raw_means = (items.ratings * items.present).sum(axis=1) / n
    system_codes, names = codes(items.systems)
    size = np.bincount(system_codes)
    raw, adjusted = (
        np.bincount(system_codes, values) / size for values in (raw_means, adjusted_means)
    )
    return tuple(
        SystemMean(system=str(name), mean=float(raw[index]), adjusted=float(adjusted[index]))
        for index, name in enumerate(names)
    )


def _annotator_confusion(items: JoinedItems) -> Confusion | Undefined:
    if PROTOCOLS[items.protocol].paired or items.averaged_labels:
        return Undefined(why="for labels of single items")
    low, high = items.label_scale
    if items.judge_scale != items.label_scale or not float(high - low).is_integer():
        return Undefined(why="the judge's scale is not the labels' one")
    levels = tuple(np.arange(low, high + 1.0).tolist())
    if len(levels) > _MAX_CATEGORIES:
        return Undefined(why=f"more than {_MAX_CATEGORIES} answers")
    labels = nearest_levels(items.ratings[items.present], levels)
    shares = np.bincount(labels, minlength=len(levels)) / max(1, labels.size)
    return Confusion(
        levels=levels,
        counts=count_pairs(items.judged, items.human, levels, levels),
        base_rate=tuple(shares.tolist()),
    )
