"""Agreement with human labels: of the judge, of annotators with each other, of baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.items import JUDGE_SIDE, LABELS_SIDE, JoinedItems
from fairjudge.calibration.scales import Scale
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, codes
from fairjudge.stats.agreement import (
    MAX_CATEGORIES,
    KappaWeights,
    cohen_kappa,
    krippendorff_alpha,
    weighted_alpha,
    weighted_kappa,
    weighted_randolph,
)
from fairjudge.stats.bootstrap import Method, WeightedStatistic, bootstrap, weighted_mean
from fairjudge.stats.correlation import Sides
from fairjudge.stats.levels import (
    LEVELS,
    Level,
    Scores,
    correlation_gain,
    mean_correlations,
    summary_codes,
)
from fairjudge.text.counting import pluralize

Figures: TypeAlias = dict[str, Estimate | Undefined]
Agreement: TypeAlias = dict[Level, Figures]

BASELINE_RESAMPLES = 500
MIN_ITEMS = 10
"""Minimum number of items for an annotator to be included in averages over annotators."""
_BASELINE_SIDE = "the baseline's scores"
_KAPPAS: dict[str, KappaWeights] = {
    "kappa": "none",
    "kappa_linear": "linear",
    "kappa_quadratic": "quadratic",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Settings of the bootstrap intervals of an analysis.

    The default method widens percentile intervals for few documents: in simulations
    (benchmarks/coverage_of_intervals.py) its coverage is closest to nominal.
    """

    n_resamples: int = 2000
    level: float = 0.95
    method: Method = "expanded"


def kendall(agreement: Agreement | Undefined, level: Level) -> Estimate | Undefined:
    """Return the tau-b of `agreement` at one level."""
    return agreement if isinstance(agreement, Undefined) else agreement[level]["kendall"]


def judge_agreement(
    items: JoinedItems, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return the judge's agreement with the mean label, at four levels.

    ``"pooled"`` also contains raw agreement and the kappas, each averaged over the pairs of the
    judge and an annotator, and Krippendorff's alpha with the judge as an additional annotator.
    These are Undefined if the judge and the labels have different scales.
    """
    agreement = score_agreement(
        items, items.judged, resampling=resampling, rng=rng, side=JUDGE_SIDE
    )
    ratings = np.column_stack([items.ratings, items.judged])
    present = np.column_stack([items.present, np.ones(len(items.keys), dtype=bool)])
    draws = _Draws.from_items(items, resampling, rng)
    m = len(items.annotators)
    pairs = [(m, j) for j in range(m)]
    categorical = _categorical_agreement(ratings, present, pairs, items.label_scale, draws)
    if items.averaged_labels or items.judge_scale != items.label_scale:
        reason = (
            "the labels are means over parts"
            if items.averaged_labels
            else "the judge's scale is not the labels' one"
        )
        categorical = dict.fromkeys(categorical, Undefined(why=reason))
    agreement["pooled"] |= categorical
    return agreement


def score_agreement(
    items: JoinedItems,
    values: FloatArray,
    *,
    resampling: Resampling,
    rng: np.random.Generator,
    side: str,
) -> Agreement:
    """Return the correlations of `values`, shape (n,), with the mean label, at four levels.

    Items whose value is NaN are excluded and counted in ``n_excluded``. `side` is the plural name
    of the values, for the reasons of Undefined correlations.
    """
    data, n_documents = _with_labels(items, values, np.flatnonzero(~np.isnan(values)), side)
    draws = _Draws(data.documents, n_documents, resampling, rng)
    return draws.correlations([data], n_excluded=len(items.keys) - data.first.size)


def human_agreement(
    items: JoinedItems, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return the agreement between annotators: the ceiling for a judge.

    Correlations are between an annotator and the mean of the other annotators, averaged over
    annotators (leave one out). Raw agreement and the kappas are averaged over pairs of annotators.
    Alpha is over all annotators.
    """
    draws = _Draws.from_items(items, resampling, rng)
    parts = [
        _score_pairs(
            items,
            items.ratings[rows, j],
            _other_annotators_mean(items, j, rows),
            rows,
            documents=draws.documents[rows],
            sides=(f"labels by {items.annotators[j]}", "the other annotators' mean labels"),
        )
        for j, rows in _shared_rows_by_annotator(items)
    ]
    if not parts:
        reason = Undefined(why=f"no annotator shares {MIN_ITEMS} items with another")
        return {
            level: {"kendall": reason, "spearman": reason, "pearson": reason} for level in LEVELS
        }
    agreement = draws.correlations(parts)
    pairs = list(combinations(range(len(items.annotators)), 2))
    agreement["pooled"] |= _categorical_agreement(
        items.ratings, items.present, pairs, items.label_scale, draws
    )
    return agreement


def baseline_agreement(
    items: JoinedItems,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> dict[str, Agreement | Undefined]:
    """Return the agreement of baselines, which need no judge, by name.

    Each baseline maps (eid, system) to a score; a pair gets the difference of its systems' scores.
    Items without a score (an empty summary has no support) are excluded and counted; the agreement
    is Undefined if fewer than `MIN_ITEMS` items remain. A ``"random"`` baseline is always added.
    At most `BASELINE_RESAMPLES` resamples are drawn, since these intervals are only for plots.
    """
    resampling = replace(resampling, n_resamples=min(resampling.n_resamples, BASELINE_RESAMPLES))
    agreement = partial(score_agreement, items, resampling=resampling, rng=rng, side=_BASELINE_SIDE)
    agreements: dict[str, Agreement | Undefined] = {}
    for name, scores in baselines.items():
        item_scores = baseline_values(items, scores)
        n_known = np.count_nonzero(~np.isnan(item_scores))
        if n_known < MIN_ITEMS:
            agreements[name] = Undefined(
                why=f"such a score for {n_known} of {pluralize(item_scores.size, 'item')}: too few"
            )
            continue
        agreements[name] = agreement(item_scores)
    agreements["random"] = agreement(rng.random(len(items.keys)))
    return agreements


def gain_over_systems(
    items: JoinedItems,
    values: FloatArray,
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Estimate | Undefined:
    """Return the judge's tau-b over systems minus that of `values`, on the items that have both.

    `values` has shape (n,), NaN where missing. Both are computed on the same resamples.
    """
    rows = np.flatnonzero(~np.isnan(values))
    judge, n_documents = _with_labels(items, items.judged, rows, JUDGE_SIDE)
    baseline, _ = _with_labels(items, values, rows, _BASELINE_SIDE)
    return correlation_gain(
        judge,
        baseline,
        "system",
        "kendall",
        n_documents=n_documents,
        rng=rng,
        **asdict(resampling),
    )


def baseline_values(items: JoinedItems, scores: Mapping[tuple[str, str], float]) -> FloatArray:
    """Return a baseline's score of each item (of a pair, the difference); NaN where missing."""
    first, second = (
        np.array([scores.get((key[0], key[side]), np.nan) for key in items.keys]) for side in (1, 2)
    )
    return np.where([bool(key[2]) for key in items.keys], first - second, first)


@dataclass(frozen=True, slots=True)
class _Draws:
    """The document codes of all items, and the resampling settings."""

    documents: IntArray
    n_documents: int
    resampling: Resampling
    rng: np.random.Generator

    @staticmethod
    def from_items(items: JoinedItems, resampling: Resampling, rng: np.random.Generator) -> _Draws:
        document_codes, documents = codes(items.documents)
        return _Draws(document_codes, len(documents), resampling, rng)

    def correlations(self, parts: Sequence[Scores], *, n_excluded: int = 0) -> Agreement:
        agreement: Agreement = {}
        # A separate random stream for summaries, so that results of other levels do not change.
        (summary_rng,) = self.rng.spawn(1)
        for level in LEVELS:
            # If each summary is one item, the pooled correlations are those over summaries.
            if level == "summary" and all(
                summary_codes(data)[1] == data.first.size for data in parts
            ):
                agreement[level] = dict(agreement["pooled"])
                continue
            estimates = mean_correlations(
                parts,
                level,
                n_documents=self.n_documents,
                rng=summary_rng if level == "summary" else self.rng,
                n_excluded=n_excluded if level == "pooled" else 0,
                **asdict(self.resampling),
            )
            agreement[level] = {str(name): figure for name, figure in estimates.items()}
        return agreement

    def mean(self, statistics: Sequence[WeightedStatistic], n: int) -> Estimate | Undefined:
        """Estimate the mean of `statistics`, over `n` items."""
        return bootstrap(
            lambda counts: np.mean([statistic(counts) for statistic in statistics], axis=0),
            n_documents=self.n_documents,
            rng=self.rng,
            n=n,
            **asdict(self.resampling),
        )


def judge_scores(items: JoinedItems) -> Scores:
    """Return the judge's values paired with the human values."""
    return _with_labels(items, items.judged, np.arange(len(items.keys)), JUDGE_SIDE)[0]


def _with_labels(
    items: JoinedItems, values: FloatArray, rows: IntArray, side: str
) -> tuple[Scores, int]:
    """Pair the values of `rows` with the mean labels; also return the number of documents."""
    documents, document_names = codes([items.documents[row] for row in rows])
    sides = (side, LABELS_SIDE)
    data = _score_pairs(
        items, values[rows], items.human[rows], rows, documents=documents, sides=sides
    )
    return data, len(document_names)


def _score_pairs(
    items: JoinedItems,
    first: FloatArray,
    second: FloatArray,
    rows: IntArray,
    *,
    documents: IntArray,
    sides: Sides,
) -> Scores:
    """Return two scores of the items in `rows` as `Scores`."""
    keys = [items.keys[row] for row in rows]
    return Scores(
        first=first,
        second=second,
        documents=documents,
        systems=[key[1] for key in keys],
        opponents=[key[2] for key in keys] if PROTOCOLS[items.protocol].paired else None,
        sides=sides,
    )


def _shared_rows_by_annotator(items: JoinedItems) -> list[tuple[int, IntArray]]:
    shared = items.present & (items.present.sum(axis=1, keepdims=True) >= 2)
    rows_by_annotator = [(j, np.flatnonzero(shared[:, j])) for j in range(shared.shape[1])]
    return [(j, rows) for j, rows in rows_by_annotator if rows.size >= MIN_ITEMS]


def _other_annotators_mean(items: JoinedItems, annotator: int, rows: IntArray) -> FloatArray:
    present = items.present[rows].copy()
    present[:, annotator] = False
    sums = np.where(present, items.ratings[rows], 0.0).sum(axis=1)
    # Round, so that equal means summed in a different order are ties.
    return np.asarray(np.round(sums / present.sum(axis=1), 12))


def _categorical_agreement(
    ratings: FloatArray,
    present: BoolArray,
    pairs: Sequence[tuple[int, int]],
    scale: Scale,
    draws: _Draws,
) -> Figures:
    """Return agreement measures for categories; `ratings` and `present` have shape (n, raters).

    Raw agreement and kappas are averaged over `pairs` of raters, the others are over all raters.
    """
    masks_by_pair = [(i, j, present[:, i] & present[:, j]) for i, j in pairs]
    shared_pairs = [
        (ratings[mask, i], ratings[mask, j], draws.documents[mask])
        for i, j, mask in masks_by_pair
        if int(mask.sum()) >= MIN_ITEMS
    ]
    too_few = Undefined(why=f"no two raters share {MIN_ITEMS} items")
    n = sum(x.size for x, *_ in shared_pairs)
    raw_agreements = [
        weighted_mean((x == y).astype(np.float64), documents, draws.n_documents)
        for x, y, documents in shared_pairs
    ]
    estimates: Figures = {
        "raw_agreement": draws.mean(raw_agreements, n) if raw_agreements else too_few
    }
    for name, weights in _KAPPAS.items():
        kappa_values = [cohen_kappa(x, y, weights=weights) for x, y, _ in shared_pairs]
        kappas = [
            _kappa_statistic(*pair, weights)
            for pair, value in zip(shared_pairs, kappa_values, strict=True)
            if not isinstance(value, Undefined)
        ]
        reasons = [value for value in kappa_values if isinstance(value, Undefined)]
        estimates[name] = draws.mean(kappas, n) if kappas else next(iter(reasons), too_few)
    return estimates | _agreement_of_all_raters(ratings, present, scale, draws)


def _kappa_statistic(
    x: FloatArray, y: FloatArray, documents: IntArray, weights: KappaWeights
) -> WeightedStatistic:
    """Return the kappa of rows in `documents` as a function of all documents' multiplicities."""
    document_codes = documents.tolist()
    statistic = weighted_kappa(x, y, weights=weights, documents=document_codes)
    distinct_codes = np.array(list(dict.fromkeys(document_codes)), dtype=np.intp)
    return lambda counts: statistic(counts[:, distinct_codes])


def _n_categories(values: FloatArray, scale: Scale) -> int:
    """Return the number of categories: the whole numbers of the scale, or the distinct values."""
    low, high = scale
    is_whole = not np.any(values % 1.0) and not (high - low) % 1.0
    return int(high - low) + 1 if is_whole else np.unique(values).size


def _agreement_of_all_raters(
    ratings: FloatArray, present: BoolArray, scale: Scale, draws: _Draws
) -> Figures:
    n = int((present.sum(axis=1) >= 2).sum())
    documents = draws.documents.tolist()
    estimates: Figures = {}
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha(ratings, present, level=level)
        if isinstance(alpha, Undefined):
            estimates[f"alpha_{level}"] = alpha
            continue
        statistic = weighted_alpha(ratings, present, level=level, documents=documents)
        estimates[f"alpha_{level}"] = draws.mean([statistic], n)
    k = _n_categories(ratings[present], scale)
    is_defined = n > 0 and 2 <= k <= MAX_CATEGORIES
    # Use a copy of the random stream, so that resamples of other measures do not change.
    draws = replace(draws, rng=deepcopy(draws.rng))
    estimates["kappa_randolph"] = (
        draws.mean([weighted_randolph(ratings, present, n_categories=k, documents=documents)], n)
        if is_defined
        else Undefined(
            why="no item has two ratings"
            if n == 0
            else f"{pluralize(k, 'value')} are no categories"
        )
    )
    return estimates
