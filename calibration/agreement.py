"""Agreement with people: the judge's, people's with one another, and trivial baselines'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.items import JUDGE_SIDE, LABELS_SIDE, Joined
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
FEWEST_ITEMS = 10
"""An annotator with fewer items is left out of averages over annotators."""
_BASELINE_SIDE = "the baseline's scores"
_KAPPAS: dict[str, KappaWeights] = {
    "kappa": "none",
    "kappa_linear": "linear",
    "kappa_quadratic": "quadratic",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are made; one instance for a whole analysis.

    The default method widens percentile intervals for few documents: in simulation
    (benchmarks/coverage_of_intervals.py) it covers closest to what it says.
    """

    n_resamples: int = 2000
    level: float = 0.95
    method: Method = "expanded"


def kendall(agreement: Agreement | Undefined, level: Level) -> Estimate | Undefined:
    """Return tau-b at one level."""
    return agreement if isinstance(agreement, Undefined) else agreement[level]["kendall"]


def judge_agreement(
    joined: Joined, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return the judge's agreement with the mean label, at four levels.

    ``"pooled"`` also holds raw agreement and the kappas, each the mean over annotators of the judge
    against that annotator, and Krippendorff's alpha with the judge as one more annotator. These
    are Undefined where the judge's scale is not the labels' one.
    """
    out = score_agreement(joined, joined.judged, resampling=resampling, rng=rng, side=JUDGE_SIDE)
    ratings = np.column_stack([joined.ratings, joined.judged])
    present = np.column_stack([joined.present, np.ones(len(joined.keys), dtype=bool)])
    draws = _Draws.of(joined, resampling, rng)
    m = len(joined.annotators)
    pairs = [(m, j) for j in range(m)]
    categorical = _categorical(ratings, present, pairs, joined.label_scale, draws)
    if joined.averaged_labels or joined.judge_scale != joined.label_scale:
        why = (
            "the labels are means over parts"
            if joined.averaged_labels
            else "the judge's scale is not the labels' one"
        )
        categorical = dict.fromkeys(categorical, Undefined(why=why))
    out["pooled"] |= categorical
    return out


def score_agreement(
    joined: Joined,
    values: FloatArray,
    *,
    resampling: Resampling,
    rng: np.random.Generator,
    side: str,
) -> Agreement:
    """Return the correlations of `values`, shape (n,), with the mean label, at four levels.

    Items whose value is NaN are excluded, and are counted in ``n_excluded``. `side` says in the
    plural what the values are, where a correlation is Undefined.
    """
    data, n_documents = _beside_labels(joined, values, np.flatnonzero(~np.isnan(values)), side)
    draws = _Draws(data.documents, n_documents, resampling, rng)
    return draws.correlations([data], n_excluded=len(joined.keys) - data.first.size)


def human_agreement(
    joined: Joined, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return people's agreement with people: the ceiling that a judge is measured by.

    Correlations are the mean over annotators of each against the mean of the others (leave one
    out); raw agreement and the kappas the mean over pairs of annotators; alpha is over all.
    """
    draws = _Draws.of(joined, resampling, rng)
    parts = [
        _scores(
            joined,
            joined.ratings[rows, j],
            _mean_of_others(joined, j, rows),
            rows,
            documents=draws.documents[rows],
            sides=(f"labels by {joined.annotators[j]}", "the other annotators' mean labels"),
        )
        for j, rows in _shared_rows(joined)
    ]
    if not parts:
        why = Undefined(why=f"no annotator shares {FEWEST_ITEMS} items with another")
        return {level: {"kendall": why, "spearman": why, "pearson": why} for level in LEVELS}
    out = draws.correlations(parts)
    pairs = list(combinations(range(len(joined.annotators)), 2))
    out["pooled"] |= _categorical(joined.ratings, joined.present, pairs, joined.label_scale, draws)
    return out


def baseline_agreement(
    joined: Joined,
    baselines: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> dict[str, Agreement | Undefined]:
    """Return the agreement of scores that need no judge, by name.

    Each baseline maps (eid, system) to a score; a pair gets the difference of its two. Items that
    a baseline does not score (an empty summary has no support) are left out of its figures and
    counted; Undefined where fewer than `FEWEST_ITEMS` remain. ``"random"`` is added always. At most
    `BASELINE_RESAMPLES` resamples are drawn: these intervals are for the eye.
    """
    resampling = replace(resampling, n_resamples=min(resampling.n_resamples, BASELINE_RESAMPLES))
    agreement = partial(
        score_agreement, joined, resampling=resampling, rng=rng, side=_BASELINE_SIDE
    )
    out: dict[str, Agreement | Undefined] = {}
    for name, table in baselines.items():
        values = baseline_values(joined, table)
        n_known = np.count_nonzero(~np.isnan(values))
        if n_known < FEWEST_ITEMS:
            out[name] = Undefined(
                why=f"such a score for {n_known} of {pluralize(values.size, 'item')}: too few"
            )
            continue
        out[name] = agreement(values)
    out["random"] = agreement(rng.random(len(joined.keys)))
    return out


def gain_over_systems(
    joined: Joined,
    values: FloatArray,
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Estimate | Undefined:
    """Return the judge's tau-b over systems less that of `values`, on the items that have both.

    `values` has shape (n,), NaN where missing. The two are over the same resampled documents.
    """
    rows = np.flatnonzero(~np.isnan(values))
    judge, n_documents = _beside_labels(joined, joined.judged, rows, JUDGE_SIDE)
    baseline, _ = _beside_labels(joined, values, rows, _BASELINE_SIDE)
    return correlation_gain(
        judge,
        baseline,
        "system",
        "kendall",
        n_documents=n_documents,
        rng=rng,
        **asdict(resampling),
    )


def baseline_values(joined: Joined, table: Mapping[tuple[str, str], float]) -> FloatArray:
    """Return a baseline's score of each item, of a pair the difference; NaN where it has none."""
    first, second = (
        np.array([table.get((key[0], key[side]), np.nan) for key in joined.keys]) for side in (1, 2)
    )
    return np.where([bool(key[2]) for key in joined.keys], first - second, first)


@dataclass(frozen=True, slots=True)
class _Draws:
    """The documents of all items, coded, and how they are resampled."""

    documents: IntArray
    n_documents: int
    resampling: Resampling
    rng: np.random.Generator

    @staticmethod
    def of(joined: Joined, resampling: Resampling, rng: np.random.Generator) -> _Draws:
        coded, distinct = codes(joined.documents)
        return _Draws(coded, len(distinct), resampling, rng)

    def correlations(self, parts: Sequence[Scores], *, n_excluded: int = 0) -> Agreement:
        out: Agreement = {}
        # Summaries draw from a stream of their own: the other levels' figures stay as they were.
        (apart,) = self.rng.spawn(1)
        for level in LEVELS:
            # Where each summary is one item, the pooled figures are those over summaries.
            if level == "summary" and all(
                summary_codes(data)[1] == data.first.size for data in parts
            ):
                out[level] = dict(out["pooled"])
                continue
            correlations = mean_correlations(
                parts,
                level,
                n_documents=self.n_documents,
                rng=apart if level == "summary" else self.rng,
                n_excluded=n_excluded if level == "pooled" else 0,
                **asdict(self.resampling),
            )
            out[level] = {str(name): figure for name, figure in correlations.items()}
        return out

    def mean(self, statistics: Sequence[WeightedStatistic], n: int) -> Estimate | Undefined:
        """Return the mean of statistics of `n` items."""
        return bootstrap(
            lambda counts: np.mean([statistic(counts) for statistic in statistics], axis=0),
            n_documents=self.n_documents,
            rng=self.rng,
            n=n,
            **asdict(self.resampling),
        )


def judge_scores(joined: Joined) -> Scores:
    """Return the judge's values beside people's."""
    return _beside_labels(joined, joined.judged, np.arange(len(joined.keys)), JUDGE_SIDE)[0]


def _beside_labels(
    joined: Joined, values: FloatArray, rows: IntArray, side: str
) -> tuple[Scores, int]:
    """Put the values of some items beside the mean labels; return their number of documents too."""
    documents, distinct = codes([joined.documents[row] for row in rows])
    sides = (side, LABELS_SIDE)
    data = _scores(joined, values[rows], joined.human[rows], rows, documents=documents, sides=sides)
    return data, len(distinct)


def _scores(
    joined: Joined,
    first: FloatArray,
    second: FloatArray,
    rows: IntArray,
    *,
    documents: IntArray,
    sides: Sides,
) -> Scores:
    """Put two values of some items beside each other."""
    keys = [joined.keys[row] for row in rows]
    return Scores(
        first=first,
        second=second,
        documents=documents,
        systems=[key[1] for key in keys],
        opponents=[key[2] for key in keys] if PROTOCOLS[joined.protocol].paired else None,
        sides=sides,
    )


def _shared_rows(joined: Joined) -> list[tuple[int, IntArray]]:
    shared = joined.present & (joined.present.sum(axis=1, keepdims=True) >= 2)
    every = [(j, np.flatnonzero(shared[:, j])) for j in range(shared.shape[1])]
    return [(j, rows) for j, rows in every if rows.size >= FEWEST_ITEMS]


def _mean_of_others(joined: Joined, annotator: int, rows: IntArray) -> FloatArray:
    present = joined.present[rows].copy()
    present[:, annotator] = False
    sums = np.where(present, joined.ratings[rows], 0.0).sum(axis=1)
    # Rounded: equal means that were added in another order are ties.
    return np.asarray(np.round(sums / present.sum(axis=1), 12))


def _categorical(
    ratings: FloatArray,
    present: BoolArray,
    pairs: Sequence[tuple[int, int]],
    scale: Scale,
    draws: _Draws,
) -> Figures:
    """Return raw agreement and kappas, means over `pairs` of raters; the others over all raters.

    `ratings` and `present` have shape (n, raters).
    """
    shared_items = [(i, j, present[:, i] & present[:, j]) for i, j in pairs]
    usable = [
        (ratings[shared, i], ratings[shared, j], draws.documents[shared])
        for i, j, shared in shared_items
        if int(shared.sum()) >= FEWEST_ITEMS
    ]
    few = Undefined(why=f"no two raters share {FEWEST_ITEMS} items")
    n = sum(x.size for x, *_ in usable)
    raw = [
        weighted_mean((x == y).astype(np.float64), documents, draws.n_documents)
        for x, y, documents in usable
    ]
    out: Figures = {"raw_agreement": draws.mean(raw, n) if raw else few}
    for name, weights in _KAPPAS.items():
        values = [cohen_kappa(x, y, weights=weights) for x, y, _ in usable]
        kappas = [
            _kappa(*pair, weights)
            for pair, value in zip(usable, values, strict=True)
            if not isinstance(value, Undefined)
        ]
        reasons = [value for value in values if isinstance(value, Undefined)]
        out[name] = draws.mean(kappas, n) if kappas else next(iter(reasons), few)
    return out | _of_all_raters(ratings, present, scale, draws)


def _kappa(
    x: FloatArray, y: FloatArray, documents: IntArray, weights: KappaWeights
) -> WeightedStatistic:
    """Return the kappa of some documents as a statistic of the multiplicities of all."""
    names = documents.tolist()
    statistic = weighted_kappa(x, y, weights=weights, documents=names)
    picked = np.array(list(dict.fromkeys(names)), dtype=np.intp)
    return lambda counts: statistic(counts[:, picked])


def _n_categories(values: FloatArray, scale: Scale) -> int:
    """Return how many values raters choose from: whole ones, or those given where some are not."""
    low, high = scale
    whole = not np.any(values % 1.0) and not (high - low) % 1.0
    return int(high - low) + 1 if whole else np.unique(values).size


def _of_all_raters(ratings: FloatArray, present: BoolArray, scale: Scale, draws: _Draws) -> Figures:
    n = int((present.sum(axis=1) >= 2).sum())
    documents = draws.documents.tolist()
    out: Figures = {}
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha(ratings, present, level=level)
        if isinstance(alpha, Undefined):
            out[f"alpha_{level}"] = alpha
            continue
        statistic = weighted_alpha(ratings, present, level=level, documents=documents)
        out[f"alpha_{level}"] = draws.mean([statistic], n)
    k = _n_categories(ratings[present], scale)
    is_defined = n > 0 and 2 <= k <= MAX_CATEGORIES
    # From a copy of the stream, so that it moves no other figure's resamples.
    draws = replace(draws, rng=deepcopy(draws.rng))
    out["kappa_randolph"] = (
        draws.mean([weighted_randolph(ratings, present, n_categories=k, documents=documents)], n)
        if is_defined
        else Undefined(
            why="no item has two ratings"
            if n == 0
            else f"{pluralize(k, 'value')} are no categories"
        )
    )
    return out
