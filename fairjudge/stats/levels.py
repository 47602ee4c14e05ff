"""Correlation of two scores at four levels: pooled items, summaries, per document, and systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, Unpack

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, codes, document_codes
from fairjudge.stats.bootstrap import (
    BootstrapOptions,
    WeightedStatistic,
    bootstrap,
    bootstrap_many,
    divide,
    weighted_mean,
)
from fairjudge.stats.correlation import (
    CORRELATIONS,
    SIDES,
    CorrelationName,
    Sides,
    correlation,
    document_correlation,
    row_correlations,
)
from fairjudge.stats.strengths import count_components, strengths
from fairjudge.text.counting import pluralize

Level: TypeAlias = Literal["pooled", "per_document", "system", "summary"]
LEVELS: tuple[Level, ...] = ("pooled", "per_document", "system", "summary")

_MAX_ROW_ITEMS = 64
"""Documents with more items are correlated one at a time, instead of as rows of a matrix."""
_DECIMALS = 12
"""Decimals of system means; smaller differences are rounding errors and count as ties."""
_STRENGTH_DECIMALS = 6
"""Decimals of strengths; smaller differences are within the fit's tolerance and count as ties."""
MIN_RANKED = 5
"""Minimum number of systems for an interval of a ranking. With fewer systems even the humans' exact
order is not significant: a random judge produces it with probability 1 / n!, two-sided 1 / 12 for 4
systems and 1 / 60 for 5 (Kendall's exact test)."""
MIN_SYSTEMS = 3
"""Minimum number of systems compared in pairs: the strengths of two always correlate perfectly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Two scores of the same items.

    ``first`` and ``second`` have shape (n,), without missing scores. ``documents``, shape (n,), are
    codes of the items' documents; several `Scores` may share a numbering. ``systems`` are the
    items' systems. If rows are pairs, ``opponents`` are the other systems, and a score above 0 is a
    win for the system in ``systems``. ``sides`` name the two scores in sentences.
    """

    first: FloatArray
    second: FloatArray
    documents: IntArray
    systems: Sequence[Hashable]
    opponents: Sequence[Hashable] | None = None
    sides: Sides = SIDES


def mean_correlations(
    parts: Sequence[Scores],
    aggregation: Level,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> dict[CorrelationName, Estimate | Undefined]:
    """Return Kendall's tau-b, Spearman's rho and Pearson's r at one level, on shared resamples.

    Each coefficient is averaged over `parts` (such as annotators), in [-1, 1]. Documents are
    resampled at every level. The levels of `aggregation` are:

    * ``"pooled"``: all items as one sample;
    * ``"per_document"``: correlations over the systems of each document, averaged over documents
      (SummEval's summary level);
    * ``"system"``: the systems' means or, for pairs, their strengths;
    * ``"summary"``: the mean of each summary (an item may be a sentence of it, or an answer) as one
      sample (DiverseSumm's summary level, Table 5).

    ``n`` is the number of items, of documents with a defined correlation, of systems or of
    summaries. Documents without a defined correlation (a single item, or only ties) are excluded
    and counted in ``n_excluded``. Undefined, with the reason, if scores are constant or too few.
    """
    statistics = {
        name: [_BUILDERS[aggregation](part, n_documents, name) for part in parts]
        for name in CORRELATIONS
    }
    defined_statistics = {
        name: defined
        for name, candidates in statistics.items()
        if (
            defined := [
                candidate for candidate in candidates if isinstance(candidate, _LevelStatistic)
            ]
        )
    }

    def averages(counts: FloatArray) -> FloatArray:
        return np.column_stack(
            [
                np.mean(
                    [candidate.statistic(counts) for candidate in candidates],
                    axis=0,
                )
                for candidates in defined_statistics.values()
            ]
        )

    estimates = (
        bootstrap_many(averages, n_documents=n_documents, rng=rng, **options)
        if defined_statistics
        else ()
    )
    mean_correlation = {
        name: _with_unit_counts(
            estimate, defined_statistics[name], is_system_level=aggregation == "system"
        )
        for name, estimate in zip(defined_statistics, estimates, strict=True)
    }
    return {
        name: mean_correlation[name]
        if name in mean_correlation
        else next(candidate for candidate in statistics[name] if isinstance(candidate, Undefined))
        for name in CORRELATIONS
    }


def correlation_gain(
    first: Scores,
    second: Scores,
    aggregation: Level,
    name: CorrelationName,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> Estimate | Undefined:
    """Return the correlation of `first` minus that of `second`, on the same resamples."""
    minuend, subtrahend = (
        _BUILDERS[aggregation](part, n_documents, name) for part in (first, second)
    )
    if isinstance(minuend, Undefined):
        return minuend
    if isinstance(subtrahend, Undefined):
        return subtrahend
    gain = bootstrap(
        lambda counts: minuend.statistic(counts) - subtrahend.statistic(counts),
        n_documents=n_documents,
        rng=rng,
        **options,
    )
    return gain if isinstance(gain, Undefined) else replace(gain, n=minuend.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LevelStatistic:
    statistic: WeightedStatistic
    n: int
    n_excluded: int = 0


def _with_unit_counts(
    estimate: Estimate | Undefined,
    statistics: Sequence[_LevelStatistic],
    *,
    is_system_level: bool,
) -> Estimate | Undefined:
    """Add numbers of units; remove an interval of width 0 over fewer than `MIN_RANKED`."""
    if isinstance(estimate, Undefined):
        return estimate
    n = max(statistic.n for statistic in statistics)
    if is_system_level and n < MIN_RANKED and estimate.low is not None:
        width = (estimate.high or 0.0) - estimate.low
        if not round(width, _DECIMALS):
            no_interval = f"no interval: every resample has one order, and {n} systems are too few"
            estimate = replace(
                estimate, low=None, high=None, p_value=None, p_floor=None, method=no_interval
            )
    return replace(
        estimate,
        n=sum(statistic.n for statistic in statistics),
        n_excluded=estimate.n_excluded + sum(statistic.n_excluded for statistic in statistics),
    )


def _pooled_correlation(
    data: Scores, n_documents: int, name: CorrelationName
) -> _LevelStatistic | Undefined:
    value = correlation(name, data.first, data.second, sides=data.sides)
    if isinstance(value, Undefined):
        return value
    statistic = document_correlation(
        name, data.first, data.second, data.documents, n_documents=n_documents
    )
    return _LevelStatistic(statistic=statistic, n=data.first.size)


def _mean_document_correlation(
    data: Scores, n_documents: int, name: CorrelationName
) -> _LevelStatistic | Undefined:
    values = document_correlations(data, n_documents, name)
    is_defined = ~np.isnan(values)
    n_defined = int(is_defined.sum())
    if not n_defined:
        if np.bincount(data.documents).max(initial=0) < 2:
            return Undefined(why="no document has more than one item")
        first, second = data.sides
        return Undefined(why=f"in no document do both {first} and {second} differ between items")
    statistic = weighted_mean(values[is_defined], np.flatnonzero(is_defined), n_documents)
    return _LevelStatistic(
        statistic=statistic, n=n_defined, n_excluded=np.unique(data.documents).size - n_defined
    )


def document_correlations(data: Scores, n_documents: int, name: CorrelationName) -> FloatArray:
    """Return the correlation over the items of each document, (n_documents,); NaN if undefined."""
    first, second, row_documents = data.first, data.second, data.documents
    row_order = np.argsort(row_documents, kind="stable")
    sizes = np.bincount(row_documents, minlength=n_documents)
    row_ends = np.cumsum(sizes)
    correlations = np.full(n_documents, np.nan)
    for size in np.unique(sizes[sizes >= 2]):
        documents = np.flatnonzero(sizes == size)
        rows = row_order[(row_ends - sizes)[documents][:, None] + np.arange(size)[None, :]]
        if size <= _MAX_ROW_ITEMS:
            correlations[documents] = row_correlations(name, first[rows], second[rows])
        else:
            for document, items in zip(documents, rows, strict=True):
                value = correlation(name, first[items], second[items])
                correlations[document] = np.nan if isinstance(value, Undefined) else value
    return correlations


def _system_correlation(
    data: Scores, n_documents: int, name: CorrelationName
) -> _LevelStatistic | Undefined:
    if data.opponents is not None:
        return _strength_correlation(data, data.opponents, n_documents, name)
    systems, n_systems = document_codes(data.systems, data.first.size)
    if n_systems < 2:
        return Undefined(why=f"{n_systems} system: nothing to correlate")
    sums = np.zeros((3, n_documents, n_systems))
    for index, values in enumerate((data.first, data.second, np.ones_like(data.first))):
        np.add.at(sums[index], (data.documents, systems), values)

    def system_means(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = counts @ sums[2]
        first, second = (np.round(divide(counts @ sums[k], n), _DECIMALS) for k in (0, 1))
        return first, second

    means_on_data = system_means(np.ones((1, n_documents)))
    for side, values in zip(data.sides, means_on_data, strict=True):
        if np.unique(values).size < 2:
            return Undefined(why=f"{side} give all systems the same mean")
    return _LevelStatistic(
        statistic=lambda counts: row_correlations(name, *system_means(counts)), n=n_systems
    )


def summary_codes(data: Scores) -> tuple[IntArray, int]:
    """Return the 0-based code of each item's summary (or pair), and the number of summaries."""
    other_systems = data.systems if data.opponents is None else data.opponents
    return document_codes(
        list(zip(data.documents.tolist(), data.systems, other_systems, strict=True)),
        len(other_systems),
    )


def average_summaries(data: Scores) -> Scores:
    """Average scores over the items of each summary (or pair)."""
    summary_of_row, n_summaries = summary_codes(data)
    n = np.bincount(summary_of_row, minlength=n_summaries)
    first, second = (
        np.round(np.bincount(summary_of_row, weights=values, minlength=n_summaries) / n, _DECIMALS)
        for values in (data.first, data.second)
    )
    rows = np.unique(summary_of_row, return_index=True)[1]
    return Scores(
        first=first,
        second=second,
        documents=data.documents[rows],
        systems=[data.systems[row] for row in rows],
        sides=data.sides,
    )


def _strength_correlation(
    data: Scores,
    opponents: Sequence[Hashable],
    n_documents: int,
    name: CorrelationName,
) -> _LevelStatistic | Undefined:
    """Correlate strengths of systems compared in pairs (win rates depend on the opponents)."""
    n = data.first.size
    system_codes, names = codes([*data.systems, *opponents])
    if len(names) < MIN_SYSTEMS:
        return Undefined(why=f"{pluralize(len(names), 'system')} in pairs: a correlation needs 3")
    system_pairs, pair_of_row = np.unique(
        np.column_stack([system_codes[:n], system_codes[n:]]), axis=0, return_inverse=True
    )
    n_components = count_components((system_pairs[:, 0], system_pairs[:, 1]), len(names))
    if n_components > 1:
        return Undefined(why=f"systems fall into {n_components} sets that are never compared")
    outcome_tables = [
        _outcomes(values, pair_of_row.ravel(), len(system_pairs), data.documents, n_documents)
        for values in (data.first, data.second)
    ]

    def strengths_by_side(counts: FloatArray) -> list[FloatArray]:
        return [
            np.round(
                strengths((counts @ side).reshape(len(counts), -1, 3), system_pairs, len(names)),
                _STRENGTH_DECIMALS,
            )
            for side in outcome_tables
        ]

    strengths_on_data = strengths_by_side(np.ones((1, n_documents)))
    for side, values in zip(data.sides, strengths_on_data, strict=True):
        if np.unique(values).size < 2:
            return Undefined(why=f"{side} give all systems the same strength")
    return _LevelStatistic(
        statistic=lambda counts: row_correlations(name, *strengths_by_side(counts)), n=len(names)
    )


def _outcomes(
    values: FloatArray, pairs: IntArray, n_pairs: int, documents: IntArray, n_documents: int
) -> FloatArray:
    """Count wins, losses and ties per document and pair: shape (n_documents, 3 n_pairs)."""
    outcomes = np.zeros((n_documents, n_pairs, 3))
    for index, has_outcome in enumerate((values > 0, values < 0, values == 0)):
        np.add.at(outcomes[:, :, index], (documents, pairs), has_outcome)
    return outcomes.reshape(n_documents, -1)


_BUILDERS: dict[Level, Callable[[Scores, int, CorrelationName], _LevelStatistic | Undefined]] = {
    "pooled": _pooled_correlation,
    "per_document": _mean_document_correlation,
    "system": _system_correlation,
    "summary": lambda data, n_documents, name: _pooled_correlation(
        average_summaries(data), n_documents, name
    ),
}
