"""Annotators behind a mean label: camps, severity, influence, confusion.

Averaging takes annotators to measure one thing. `annotator_camps` tests it first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairjudge.calibration.agreement import (
    BASELINE_RESAMPLES,
    FEWEST_ITEMS,
    Agreement,
    Resampling,
    score_agreement,
)
from fairjudge.calibration.confusion import count_pairs, nearest_levels
from fairjudge.calibration.items import JUDGE_SIDE, LABELS_SIDE, Joined
from fairjudge.domain import Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, codes
from fairjudge.stats.correlation import correlation

MOST_ANNOTATORS = 12
"""Annotators, those with most items, whose divisions in two are all looked at."""
FEWEST_ANNOTATORS = 4
FEWEST_PULLED = 3
N_PERMUTATIONS = 499
CAMPS_ALPHA = 0.01
_CAMP_SIDES = ("one camp's mean labels", "the other camp's mean labels")
_MOST_CATEGORIES = 11
_PULL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Camp:
    """Annotators who agree with one another, and the judge's agreement with their mean."""

    annotators: tuple[str, ...]
    within: float
    n_items: int
    judge: Agreement | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Camps:
    """The division of annotators in two that stands out most.

    ``within`` of a camp is the mean Pearson correlation of its pairs on the items that both
    labelled, ``between`` that of pairs across. ``gap`` is the smaller ``within`` less ``between``;
    `found` where its permutation p-value, which is at least ``p_floor``, is at most `CAMPS_ALPHA`.
    ``items`` and ``systems`` are Spearman's correlations of the two camps' means.
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
class AnnotatorFigures:
    """One annotator.

    ``severity`` is the offset of the additive model label = item + annotator + error, by least
    squares, whose sum over labels is 0: above 0 is mild. ``without`` is the judge's pooled
    Spearman correlation with the mean label of all others, ``pull`` what taking the annotator out
    adds to it. ``others`` is the annotator's Pearson correlation with the mean of the others.
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
    """Counts of the judge's answer (rows) by people's (columns), both rounded to ``levels``.

    ``base_rate`` is the share of each level among people's labels.
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    base_rate: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """Annotators of one group of labels.

    ``puller`` is an annotator without whom the judge's correlation changes by `_PULL` or more, and
    twice as much as without any other whose leaving changes it the same way.
    """

    camps: Camps | Undefined
    annotators: tuple[AnnotatorFigures, ...]
    puller: str | None
    systems: tuple[SystemMean, ...]
    confusion: Confusion | Undefined


def annotator_report(joined: Joined, *, resampling: Resampling, seed: int) -> AnnotatorReport:
    """Look behind the mean label of one group."""
    rng = np.random.default_rng(seed)
    offsets = severity(joined.ratings, joined.present)
    figures = tuple(
        _figures(joined, column, float(offsets[column])) for column in range(len(joined.annotators))
    )
    return AnnotatorReport(
        camps=annotator_camps(joined, resampling=resampling, rng=rng),
        annotators=figures,
        puller=_puller(figures),
        systems=_system_means(joined, offsets),
        confusion=_confusion(joined),
    )


def annotator_camps(
    joined: Joined, *, resampling: Resampling, rng: np.random.Generator
) -> Camps | Undefined:
    """Divide annotators in two where they agree within and not between, and test the division.

    All divisions into camps of two or more are compared by ``gap``. The test is against
    annotators who are exchangeable: their standardised labels are permuted among those who
    labelled an item, all items of a document alike where the same people labelled them, and the
    largest gap is taken anew (a maximum statistic, so that having chosen the division costs what
    it should); p = (1 + #{permuted >= observed}) / (1 + `N_PERMUTATIONS`). A single odd or
    careless annotator makes no camp.
    """
    counts = joined.present.sum(axis=0)
    chosen = np.sort(np.argsort(-counts, kind="stable")[:MOST_ANNOTATORS])
    chosen = chosen[counts[chosen] >= FEWEST_ITEMS]
    if chosen.size < FEWEST_ANNOTATORS:
        return Undefined(why=f"fewer than {FEWEST_ANNOTATORS} annotators with {FEWEST_ITEMS} items")
    present = joined.present[:, chosen]
    shared = present.astype(np.int64).T @ present
    if shared.min() < FEWEST_ITEMS:
        return Undefined(why=f"two annotators share fewer than {FEWEST_ITEMS} items")
    values = _standardised(joined.ratings[:, chosen], present)
    divisions = _divisions(chosen.size)
    correlations = _correlations(values, present)
    gaps = _gaps(correlations, divisions)
    best = int(gaps.argmax())
    # The larger camp first, or that of the first annotator.
    division = divisions[best]
    if (np.count_nonzero(~division), ~division[0]) > (np.count_nonzero(division), division[0]):
        division = ~division
    p_value = _p_value(gaps[best], values, present, divisions, documents=joined.documents, rng=rng)
    sides = [chosen[division == side] for side in (True, False)]
    first, second = (_mean_of(joined, side) for side in sides)
    has_both = ~np.isnan(first) & ~np.isnan(second)
    has_camps = bool(p_value <= CAMPS_ALPHA)
    return Camps(
        camps=tuple(
            Camp(
                annotators=tuple(joined.annotators[j] for j in side),
                within=_within(correlations, division == flag),
                n_items=int(np.count_nonzero(~np.isnan(mean))),
                judge=_judge_against(joined, mean, resampling, rng)
                if has_camps
                else Undefined(why="no camps"),
            )
            for side, flag, mean in zip(sides, (True, False), (first, second), strict=True)
        ),
        between=float(correlations[np.ix_(division, ~division)].mean()),
        gap=float(gaps[best]),
        p_value=p_value,
        p_floor=1 / (1 + N_PERMUTATIONS),
        found=has_camps,
        items=correlation("spearman", first[has_both], second[has_both], sides=_CAMP_SIDES),
        systems=_between_systems(joined, first, second, has_both),
    )


def severity(ratings: FloatArray, present: BoolArray) -> FloatArray:
    """Return annotators' offsets in label = item + annotator + error, by least squares.

    Items' effects are projected out, which leaves the Laplacian of who labelled with whom;
    annotators who share no item with others have an offset of 0. Offsets sum to 0 over labels.

    Parameters
    ----------
    ratings, present : arrays of shape (n, m)
    """
    weight = present.astype(np.float64)
    per_item = np.maximum(weight.sum(axis=1, keepdims=True), 1.0)
    means = (ratings * weight).sum(axis=1, keepdims=True) / per_item
    centred = np.where(present, ratings - means, 0.0)
    normal = np.diag(weight.sum(axis=0)) - (weight / per_item).T @ weight
    offsets = np.linalg.lstsq(normal, centred.sum(axis=0), rcond=None)[0]
    n = weight.sum()
    return np.asarray(offsets - (offsets @ weight.sum(axis=0)) / n if n else offsets)


def _p_value(
    gap: float,
    values: FloatArray,
    present: BoolArray,
    divisions: BoolArray,
    *,
    documents: Sequence[str],
    rng: np.random.Generator,
) -> float:
    """Return the p-value of `gap` among the largest gaps of exchangeable annotators."""
    # Rows are permuted alike of a document that the same people labelled.
    block, _ = codes(
        [(document, row.tobytes()) for document, row in zip(documents, present, strict=True)]
    )
    permuted_gaps = [
        float(_gaps(_correlations(_permute(values, block, present, rng), present), divisions).max())
        for _ in range(N_PERMUTATIONS)
    ]
    return (1 + sum(permuted >= gap - 1e-12 for permuted in permuted_gaps)) / (1 + N_PERMUTATIONS)


def _permute(
    values: FloatArray, block: IntArray, present: BoolArray, rng: np.random.Generator
) -> FloatArray:
    """Exchange the values of an item among those who labelled it, alike for rows of a `block`."""
    keys = rng.random((int(block.max(initial=-1)) + 1, present.shape[1]))[block]
    keys[~present] = 2.0  # those without a label stay behind all others
    order = np.argsort(keys, axis=1)
    places = np.argsort(~present, axis=1, kind="stable")
    out = np.zeros_like(values)
    np.put_along_axis(out, places, np.take_along_axis(values, order, axis=1), axis=1)
    return np.where(present, out, 0.0)


def _standardised(ratings: FloatArray, present: BoolArray) -> FloatArray:
    """Return each annotator's labels less their mean, in standard deviations; 0 where none."""
    n = present.sum(axis=0)
    centred = np.where(present, ratings - (ratings * present).sum(axis=0) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n)
    return np.asarray(centred / np.where(spread > 0.0, spread, 1.0))


def _correlations(values: FloatArray, present: BoolArray) -> FloatArray:
    """Return Pearson's r of each two annotators on the items that both labelled: (m, m)."""
    weight = present.astype(np.float64)
    n = weight.T @ weight
    sums, squares = values.T @ weight, (values**2).T @ weight
    covariance = values.T @ values / n - (sums / n) * (sums / n).T
    variance = squares / n - (sums / n) ** 2
    scale = np.sqrt(np.maximum(variance * variance.T, 0.0))
    return np.asarray(np.where(scale > 0.0, covariance / np.where(scale > 0.0, scale, 1.0), 0.0))


def _divisions(m: int) -> BoolArray:
    """Return every division of m in two sides of two or more: shape (k, m)."""
    number = np.arange(2 ** (m - 1))[:, None]
    sides = (number >> np.arange(m)) & 1 == 1
    size = sides.sum(axis=1)
    return np.asarray(sides[(size >= 2) & (size <= m - 2)])


def _gaps(correlations: FloatArray, divisions: BoolArray) -> FloatArray:
    """Return for each division the smaller mean within a side, less the mean between."""
    first_side = divisions.astype(np.float64)
    second_side = 1.0 - first_side

    def mean(first: FloatArray, second: FloatArray, pairs: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ki,ij,kj->k", first, correlations, second) / pairs)

    def within(side: FloatArray) -> FloatArray:
        n = side.sum(axis=1)
        diagonal = side @ np.diag(correlations)
        pairs = n * (n - 1.0)
        return np.asarray(mean(side, side, pairs) - diagonal / pairs)

    between = mean(first_side, second_side, first_side.sum(axis=1) * second_side.sum(axis=1))
    return np.asarray(np.minimum(within(first_side), within(second_side)) - between)


def _within(correlations: FloatArray, side: BoolArray) -> float:
    block = correlations[np.ix_(side, side)]
    n = block.shape[0]
    return float((block.sum() - np.trace(block)) / (n * (n - 1)))


def _mean_of(joined: Joined, columns: IntArray) -> FloatArray:
    """Return the mean label of each item by some annotators, NaN where there is none."""
    present = joined.present[:, columns]
    n = present.sum(axis=1)
    total = (joined.ratings[:, columns] * present).sum(axis=1)
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


def _judge_against(
    joined: Joined, mean: FloatArray, resampling: Resampling, rng: np.random.Generator
) -> Agreement | Undefined:
    has_mean = ~np.isnan(mean)
    if np.count_nonzero(has_mean) < FEWEST_ITEMS:
        return Undefined(why="too few items")
    of_camp = replace(joined, human=mean)
    values = np.where(has_mean, joined.judged, np.nan)
    few = replace(resampling, n_resamples=min(resampling.n_resamples, BASELINE_RESAMPLES))
    return score_agreement(of_camp, values, resampling=few, rng=rng, side=JUDGE_SIDE)


def _between_systems(
    joined: Joined, first: FloatArray, second: FloatArray, has_both: BoolArray
) -> float | Undefined:
    coded, names = codes([joined.systems[row] for row in np.flatnonzero(has_both)])
    if len(names) < 3:
        return Undefined(why="fewer than 3 systems")
    n = np.bincount(coded)
    means = (np.bincount(coded, side[has_both]) / n for side in (first, second))
    return correlation("spearman", *means, sides=_CAMP_SIDES)


def _figures(joined: Joined, column: int, offset: float) -> AnnotatorFigures:
    own_rows = joined.present[:, column]
    own = joined.ratings[own_rows, column]
    other_columns = np.delete(np.arange(len(joined.annotators)), column)
    mean_of_others = _mean_of(joined, other_columns)
    has_others = ~np.isnan(mean_of_others)
    shared = has_others & own_rows
    judged, sides = joined.judged[has_others], (JUDGE_SIDE, LABELS_SIDE)
    with_all, without = (
        correlation("spearman", judged, mean[has_others], sides=sides)
        for mean in (_mean_of(joined, np.r_[other_columns, column]), mean_of_others)
    )
    return AnnotatorFigures(
        annotator=joined.annotators[column],
        n_items=int(own_rows.sum()),
        mean=float(own.mean()) if own.size else 0.0,
        severity=offset,
        others=correlation(
            "spearman",
            joined.ratings[shared, column],
            mean_of_others[shared],
            sides=("the annotator's labels", "the other annotators' mean labels"),
        ),
        without=without,
        pull=None
        if isinstance(without, Undefined) or isinstance(with_all, Undefined)
        else without - with_all,
    )


def _puller(figures: Sequence[AnnotatorFigures]) -> str | None:
    pulls = {item.annotator: item.pull for item in figures if item.pull is not None}
    if len(pulls) < FEWEST_PULLED:
        return None
    strongest = max(pulls, key=lambda name: abs(pulls[name]))
    same_way = [
        abs(pull)
        for name, pull in pulls.items()
        if name != strongest and pull * pulls[strongest] > 0
    ]
    return (
        strongest if abs(pulls[strongest]) >= max(_PULL, 2.0 * max(same_way, default=0.0)) else None
    )


def _system_means(joined: Joined, offsets: FloatArray) -> tuple[SystemMean, ...]:
    if PROTOCOLS[joined.protocol].paired or joined.averaged_labels or not joined.keys:
        return ()
    n = np.maximum(joined.present.sum(axis=1), 1)
    adjusted = ((joined.ratings - offsets) * joined.present).sum(axis=1) / n
    plain = (joined.ratings * joined.present).sum(axis=1) / n
    coded, names = codes(joined.systems)
    size = np.bincount(coded)
    before, after = (np.bincount(coded, values) / size for values in (plain, adjusted))
    return tuple(
        SystemMean(system=str(name), mean=float(before[place]), adjusted=float(after[place]))
        for place, name in enumerate(names)
    )


def _confusion(joined: Joined) -> Confusion | Undefined:
    if PROTOCOLS[joined.protocol].paired or joined.averaged_labels:
        return Undefined(why="for labels of single items")
    low, high = joined.label_scale
    if joined.judge_scale != joined.label_scale or not float(high - low).is_integer():
        return Undefined(why="the judge's scale is not the labels' one")
    levels = tuple(np.arange(low, high + 1.0).tolist())
    if len(levels) > _MOST_CATEGORIES:
        return Undefined(why=f"more than {_MOST_CATEGORIES} answers")
    labels = nearest_levels(joined.ratings[joined.present], levels)
    shares = np.bincount(labels, minlength=len(levels)) / max(1, labels.size)
    return Confusion(
        levels=levels,
        counts=count_pairs(joined.judged, joined.human, levels, levels),
        base_rate=tuple(shares.tolist()),
    )
