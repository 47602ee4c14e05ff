"""Agreement with people: the judge's, people's with one another, and trivial baselines'."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import ItemKey
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import BoolArray, FloatArray, IntArray, codes
from fairjudge.stats.agreement import (
    KappaWeights,
    cohen_kappa,
    krippendorff_alpha,
    weighted_alpha,
    weighted_kappa,
)
from fairjudge.stats.bootstrap import Method, WeightedStatistic, bootstrap, weighted_mean
from fairjudge.stats.levels import LEVELS, Level, Part, averaged_correlations, scores
from fairjudge.text.printable import counted

Figures: TypeAlias = dict[str, Estimate | Undefined]
Agreement: TypeAlias = dict[Level, Figures]

BASELINE_RESAMPLES = 500
FEWEST_ITEMS = 10
"""An annotator with fewer items is left out of averages over annotators."""
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


def judge_agreement(
    joined: Joined, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return the judge's agreement with the mean label, at three levels.

    ``"pooled"`` also holds raw agreement and the kappas, each the mean over annotators of the judge
    against that annotator, and Krippendorff's alpha with the judge as one more annotator. These
    are Undefined where the judge's scale is not the labels' one.
    """
    out = score_agreement(joined, joined.judged, resampling=resampling, rng=rng)
    pairs = [
        (joined.judged, joined.ratings[:, j], joined.present[:, j])
        for j in range(len(joined.annotators))
    ]
    out["pooled"] |= _categorical(joined, pairs, resampling, rng)
    out["pooled"] |= _alphas(
        joined,
        np.column_stack([joined.ratings, joined.judged]),
        np.column_stack([joined.present, np.ones(len(joined.keys), dtype=bool)]),
        resampling,
        rng,
    )
    if joined.judge_scale != joined.label_scale:
        why = Undefined(why="the judge's scale is not the labels' one")
        out["pooled"] |= {
            name: why for name in out["pooled"] if name.startswith(("raw", "kappa", "alpha"))
        }
    return out


def score_agreement(
    joined: Joined,
    values: Sequence[float | None] | FloatArray,
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Agreement:
    """Return the correlations of `values`, shape (n,), with the mean label, at three levels.

    Items whose value is None take no part, and are counted in ``n_excluded``.
    """
    rows = [row for row, value in enumerate(values) if value is not None]
    coded, n_documents = codes([joined.documents[row] for row in rows])
    data = scores(
        np.array([values[row] for row in rows], dtype=np.float64),
        joined.human[rows],
        documents=[joined.documents[row] for row in rows],
        systems=[joined.systems[row] for row in rows],
    )
    part = Part(data=data, documents=coded)
    n_excluded = len(joined.keys) - len(rows)
    return _correlations([part], len(n_documents), resampling, rng, n_excluded=n_excluded)


def human_agreement(
    joined: Joined, *, resampling: Resampling, rng: np.random.Generator
) -> Agreement:
    """Return people's agreement with people: the ceiling that a judge is measured by.

    Correlations are the mean over annotators of each against the mean of the others (leave one
    out); raw agreement and the kappas the mean over pairs of annotators; alpha is over all.
    """
    coded, n_documents = _documents(joined)
    parts = [
        Part(
            data=scores(
                joined.ratings[rows, j],
                _mean_of_others(joined, j, rows),
                documents=[joined.documents[row] for row in rows],
                systems=[joined.systems[row] for row in rows],
            ),
            documents=coded[rows],
        )
        for j, rows in _shared_rows(joined)
    ]
    if not parts:
        why = Undefined(why=f"no annotator shares {FEWEST_ITEMS} items with another")
        return {level: {"kendall": why, "spearman": why, "pearson": why} for level in LEVELS}
    out = _correlations(parts, n_documents, resampling, rng)
    m = len(joined.annotators)
    pairs = [
        (joined.ratings[:, i], joined.ratings[:, j], joined.present[:, i] & joined.present[:, j])
        for i in range(m)
        for j in range(i + 1, m)
    ]
    out["pooled"] |= _categorical(joined, pairs, resampling, rng)
    out["pooled"] |= _alphas(joined, joined.ratings, joined.present, resampling, rng)
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
    out: dict[str, Agreement | Undefined] = {}
    for name, table in baselines.items():
        values = [_baseline_value(key, table) for key in joined.keys]
        known = sum(value is not None for value in values)
        if known < FEWEST_ITEMS:
            out[name] = Undefined(
                why=f"such a score for {known} of {counted(len(values), 'item')}: too few"
            )
            continue
        out[name] = score_agreement(joined, values, resampling=resampling, rng=rng)
    noise = rng.random(len(joined.keys))
    out["random"] = score_agreement(joined, noise, resampling=resampling, rng=rng)
    return out


def _baseline_value(key: ItemKey, table: Mapping[tuple[str, str], float]) -> float | None:
    first = table.get((key[0], key[1]))
    if not key[2] or first is None:
        return first
    second = table.get((key[0], key[2]))
    return None if second is None else first - second


def _documents(joined: Joined) -> tuple[IntArray, int]:
    coded, distinct = codes(joined.documents)
    return coded, len(distinct)


def _correlations(
    parts: Sequence[Part],
    n_documents: int,
    resampling: Resampling,
    rng: np.random.Generator,
    *,
    n_excluded: int = 0,
) -> Agreement:
    out: Agreement = {}
    for level in LEVELS:
        found = averaged_correlations(
            parts,
            level,
            n_documents=n_documents,
            rng=rng,
            n_resamples=resampling.n_resamples,
            confidence=resampling.level,
            method=resampling.method,
            n_excluded=n_excluded if level == "pooled" else 0,
        )
        out[level] = {str(name): figure for name, figure in found.items()}
    return out


def _shared_rows(joined: Joined) -> list[tuple[int, IntArray]]:
    shared = joined.present & (joined.present.sum(axis=1, keepdims=True) >= 2)
    every = [(j, np.flatnonzero(shared[:, j])) for j in range(shared.shape[1])]
    return [(j, rows) for j, rows in every if rows.size >= FEWEST_ITEMS]


def _mean_of_others(joined: Joined, annotator: int, rows: IntArray) -> FloatArray:
    there = joined.present[rows].copy()
    there[:, annotator] = False
    sums = np.where(there, joined.ratings[rows], 0.0).sum(axis=1)
    # Rounded: equal means that were added in another order are ties.
    return np.asarray(np.round(sums / there.sum(axis=1), 12))


def _categorical(
    joined: Joined,
    pairs: Sequence[tuple[FloatArray, FloatArray, BoolArray]],
    resampling: Resampling,
    rng: np.random.Generator,
) -> Figures:
    coded, n_documents = _documents(joined)
    usable = [pair for pair in pairs if int(pair[2].sum()) >= FEWEST_ITEMS]
    n = sum(int(pair[2].sum()) for pair in usable)

    def averaged(statistics: Sequence[WeightedStatistic], why: str) -> Estimate | Undefined:
        if not statistics:
            return Undefined(why=why)
        return _average(statistics, n_documents, n, resampling, rng)

    few = f"no two raters share {FEWEST_ITEMS} items"
    out: Figures = {
        "raw_agreement": averaged(
            [
                weighted_mean((x == y)[here].astype(np.float64), coded[here], n_documents)
                for x, y, here in usable
            ],
            few,
        )
    }
    for name, weights in _KAPPAS.items():
        values = [cohen_kappa(x[here], y[here], weights=weights) for x, y, here in usable]
        reasons = [value.why for value in values if isinstance(value, Undefined)]
        out[name] = averaged(
            [
                _kappa(x[here], y[here], coded[here], weights)
                for (x, y, here), value in zip(usable, values, strict=True)
                if not isinstance(value, Undefined)
            ],
            reasons[0] if reasons else few,
        )
    return out


def _kappa(
    x: FloatArray, y: FloatArray, documents: IntArray, weights: KappaWeights
) -> WeightedStatistic:
    return _on_all_documents(
        lambda names: weighted_kappa(x, y, weights=weights, documents=names), documents
    )


def _on_all_documents(
    build: Callable[[Sequence[Hashable]], WeightedStatistic], documents: IntArray
) -> WeightedStatistic:
    """Let a statistic of some documents take the multiplicities of all."""
    names = documents.tolist()
    statistic = build(names)
    picked = np.array(list(dict.fromkeys(names)), dtype=np.intp)
    return lambda counts: statistic(counts[:, picked])


def _alphas(
    joined: Joined,
    ratings: FloatArray,
    present: BoolArray,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Figures:
    coded, n_documents = _documents(joined)
    out: Figures = {}
    for level in ("nominal", "ordinal", "interval"):
        value = krippendorff_alpha(ratings, present, level=level)
        if isinstance(value, Undefined):
            out[f"alpha_{level}"] = value
            continue
        statistic = weighted_alpha(ratings, present, level=level, documents=coded.tolist())
        n = int((present.sum(axis=1) >= 2).sum())
        out[f"alpha_{level}"] = _average([statistic], n_documents, n, resampling, rng)
    return out


def _average(
    statistics: Sequence[WeightedStatistic],
    n_documents: int,
    n: int,
    resampling: Resampling,
    rng: np.random.Generator,
) -> Estimate | Undefined:
    estimate = bootstrap(
        lambda counts: np.mean([statistic(counts) for statistic in statistics], axis=0),
        n_documents=n_documents,
        rng=rng,
        n_resamples=resampling.n_resamples,
        level=resampling.level,
        method=resampling.method,
    )
    return estimate if isinstance(estimate, Undefined) else replace(estimate, n=n)
