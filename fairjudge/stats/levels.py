"""Correlation of two scores at four levels: over items, summaries, within documents, systems."""

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
from fairjudge.stats.strengths import count_parts, strengths
from fairjudge.text.counting import pluralize

Level: TypeAlias = Literal["pooled", "per_document", "system", "summary"]
LEVELS: tuple[Level, ...] = ("pooled", "per_document", "system", "summary")

_WIDE = 64
"""Documents with more items than this are correlated one at a time, not as rows of a matrix."""
_DECIMALS = 12
"""Decimals of system means: smaller differences are rounding errors, and count as ties."""
_STRENGTH_DECIMALS = 6
"""Decimals of strengths: smaller differences are within the fit's tolerance, and count as ties."""
FEWEST_RANKED = 5
"""Of fewer systems even people's very order is no evidence: a judge that guesses has it with
probability 1 / n!, two-sided 1 / 12 for 4 systems and 1 / 60 for 5 (Kendall's exact test)."""
FEWEST_SYSTEMS = 3
"""Minimum of systems compared in pairs: two have opposite strengths, which always correlate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Two scores of the same items.

    ``first`` and ``second`` have shape (n,), without missing scores; ``documents``, shape (n,), are
    codes of the items' documents, in a numbering that several `Scores` may share, and ``systems``
    name their systems. Where rows are pairs, ``opponents`` names the other system, and a score
    above 0 is a win of the system. ``sides`` name the two scores in sentences.
    """

    first: FloatArray
    second: FloatArray
    documents: IntArray
    systems: Sequence[Hashable]
    opponents: Sequence[Hashable] | None = None
    sides: Sides = SIDES


def averaged_correlations(
    parts: Sequence[Scores],
    at: Level,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> dict[CorrelationName, Estimate | Undefined]:
    """Return Kendall's tau-b, Spearman's rho and Pearson's r at one level, on shared resamples.

    ``"pooled"`` takes all items as one sample; ``"per_document"`` correlates over the systems of
    each document and averages (SummEval's summary level); ``"system"`` correlates the systems'
    means, for pairs their strengths; ``"summary"`` correlates the means of each system in each
    document as one sample (DiverseSumm's summary level, Table 5: an item may be a sentence of a
    summary or an answer). Documents are resampled at every level. Each correlation is averaged over
    `parts` (such as annotators), in [-1, 1]. ``n`` is the number of items, of documents with a
    defined correlation, of systems or of summaries; documents with an undefined one (a single item,
    or only ties) are excluded and counted in ``n_excluded``.

    Undefined, with the reason, where the scores are constant or too few.
    """
    prepared = {
        name: [_BUILDERS[at](part, n_documents, name) for part in parts] for name in CORRELATIONS
    }
    defined = {
        name: usable
        for name, items in prepared.items()
        if (usable := [item for item in items if isinstance(item, _Prepared)])
    }

    def averages(counts: FloatArray) -> FloatArray:
        return np.column_stack(
            [
                np.mean([item.statistic(counts) for item in items], axis=0)
                for items in defined.values()
            ]
        )

    estimates = (
        bootstrap_many(averages, n_documents=n_documents, rng=rng, **options) if defined else ()
    )
    averaged = {
        name: _counted(estimate, defined[name], of_systems=at == "system")
        for name, estimate in zip(defined, estimates, strict=True)
    }
    return {
        name: averaged[name]
        if name in averaged
        else next(item for item in prepared[name] if isinstance(item, Undefined))
        for name in CORRELATIONS
    }


def correlation_gain(
    first: Scores,
    second: Scores,
    at: Level,
    name: CorrelationName,
    *,
    n_documents: int,
    rng: np.random.Generator,
    **options: Unpack[BootstrapOptions],
) -> Estimate | Undefined:
    """Return the correlation of `first` less that of `second`, on the same resamples."""
    minuend, subtrahend = (_BUILDERS[at](part, n_documents, name) for part in (first, second))
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
class _Prepared:
    statistic: WeightedStatistic
    n: int
    n_excluded: int = 0


def _counted(
    estimate: Estimate | Undefined,
    items: Sequence[_Prepared],
    *,
    of_systems: bool,
) -> Estimate | Undefined:
    """Count the units; few systems that stand in one order in every resample have no interval."""
    if isinstance(estimate, Undefined):
        return estimate
    n = max(item.n for item in items)
    if of_systems and n < FEWEST_RANKED and estimate.low is not None:
        width = (estimate.high or 0.0) - estimate.low
        if not round(width, _DECIMALS):
            why = f"no interval: every resample has one order, and {n} systems are too few"
            estimate = replace(
                estimate, low=None, high=None, p_value=None, p_floor=None, method=why
            )
    return replace(
        estimate,
        n=sum(item.n for item in items),
        n_excluded=estimate.n_excluded + sum(item.n_excluded for item in items),
    )


def _pooled(data: Scores, n_documents: int, name: CorrelationName) -> _Prepared | Undefined:
    value = correlation(name, data.first, data.second, sides=data.sides)
    if isinstance(value, Undefined):
        return value
    statistic = document_correlation(
        name, data.first, data.second, data.documents, n_documents=n_documents
    )
    return _Prepared(statistic=statistic, n=data.first.size)


def _per_document(data: Scores, n_documents: int, name: CorrelationName) -> _Prepared | Undefined:
    values = document_correlations(data, n_documents, name)
    defined = ~np.isnan(values)
    n_defined = int(defined.sum())
    if not n_defined:
        if np.bincount(data.documents).max(initial=0) < 2:
            return Undefined(why="no document has more than one item")
        first, second = data.sides
        return Undefined(why=f"in no document do both {first} and {second} differ between items")
    statistic = weighted_mean(values[defined], np.flatnonzero(defined), n_documents)
    return _Prepared(
        statistic=statistic, n=n_defined, n_excluded=np.unique(data.documents).size - n_defined
    )


def document_correlations(data: Scores, n_documents: int, name: CorrelationName) -> FloatArray:
    """Return each document's correlation over its items: shape (n_documents,), NaN if undefined."""
    first, second, coded = data.first, data.second, data.documents
    order = np.argsort(coded, kind="stable")
    sizes = np.bincount(coded, minlength=n_documents)
    ends = np.cumsum(sizes)
    out = np.full(n_documents, np.nan)
    for size in np.unique(sizes[sizes >= 2]):
        documents = np.flatnonzero(sizes == size)
        rows = order[(ends - sizes)[documents][:, None] + np.arange(size)[None, :]]
        if size <= _WIDE:
            out[documents] = row_correlations(name, first[rows], second[rows])
        else:
            for document, items in zip(documents, rows, strict=True):
                value = correlation(name, first[items], second[items])
                out[document] = np.nan if isinstance(value, Undefined) else value
    return out


def _system(data: Scores, n_documents: int, name: CorrelationName) -> _Prepared | Undefined:
    if data.opponents is not None:
        return _strengths(data, data.opponents, n_documents, name)
    systems, n_systems = document_codes(data.systems, data.first.size)
    if n_systems < 2:
        return Undefined(why=f"{n_systems} system: nothing to correlate")
    sums = np.zeros((3, n_documents, n_systems))
    for plane, values in enumerate((data.first, data.second, np.ones_like(data.first))):
        np.add.at(sums[plane], (data.documents, systems), values)

    def means(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = counts @ sums[2]
        first, second = (np.round(divide(counts @ sums[k], n), _DECIMALS) for k in (0, 1))
        return first, second

    observed = means(np.ones((1, n_documents)))
    for side, values in zip(data.sides, observed, strict=True):
        if np.unique(values).size < 2:
            return Undefined(why=f"{side} give all systems the same mean")
    return _Prepared(statistic=lambda counts: row_correlations(name, *means(counts)), n=n_systems)


def summaries_of(data: Scores) -> tuple[IntArray, int]:
    """Return the code of each item's summary (or pair), from 0, and the number of summaries."""
    other_systems = data.systems if data.opponents is None else data.opponents
    return document_codes(
        list(zip(data.documents.tolist(), data.systems, other_systems, strict=True)),
        len(other_systems),
    )


def over_summaries(data: Scores) -> Scores:
    """Return the mean scores over the items of each summary (or pair)."""
    places, n_summaries = summaries_of(data)
    n = np.bincount(places, minlength=n_summaries)
    first, second = (
        np.round(np.bincount(places, weights=values, minlength=n_summaries) / n, _DECIMALS)
        for values in (data.first, data.second)
    )
    rows = np.unique(places, return_index=True)[1]
    return Scores(
        first=first,
        second=second,
        documents=data.documents[rows],
        systems=[data.systems[row] for row in rows],
        sides=data.sides,
    )


def _strengths(
    data: Scores,
    opponents: Sequence[Hashable],
    n_documents: int,
    name: CorrelationName,
) -> _Prepared | Undefined:
    """Correlate the strengths of systems compared in pairs.

    Not the means of their points, which depend on the opponents.
    """
    n = data.first.size
    coded, names = codes([*data.systems, *opponents])
    if len(names) < FEWEST_SYSTEMS:
        return Undefined(why=f"{pluralize(len(names), 'system')} in pairs: a correlation needs 3")
    places, pairs = np.unique(np.column_stack([coded[:n], coded[n:]]), axis=0, return_inverse=True)
    parts = count_parts((places[:, 0], places[:, 1]), len(names))
    if parts > 1:
        return Undefined(why=f"systems fall into {parts} sets that are never compared")
    sides = [
        _outcomes(values, pairs.ravel(), len(places), data.documents, n_documents)
        for values in (data.first, data.second)
    ]

    def both_strengths(counts: FloatArray) -> list[FloatArray]:
        return [
            np.round(
                strengths((counts @ side).reshape(len(counts), -1, 3), places, len(names)),
                _STRENGTH_DECIMALS,
            )
            for side in sides
        ]

    observed = both_strengths(np.ones((1, n_documents)))
    for side, values in zip(data.sides, observed, strict=True):
        if np.unique(values).size < 2:
            return Undefined(why=f"{side} give all systems the same strength")
    return _Prepared(
        statistic=lambda counts: row_correlations(name, *both_strengths(counts)), n=len(names)
    )


def _outcomes(
    values: FloatArray, pairs: IntArray, n_pairs: int, documents: IntArray, n_documents: int
) -> FloatArray:
    """Return the wins, losses and ties of each pair in each document: (n_documents, 3 n_pairs)."""
    out = np.zeros((n_documents, n_pairs, 3))
    for place, has_outcome in enumerate((values > 0, values < 0, values == 0)):
        np.add.at(out[:, :, place], (documents, pairs), has_outcome)
    return out.reshape(n_documents, -1)


_BUILDERS: dict[Level, Callable[[Scores, int, CorrelationName], _Prepared | Undefined]] = {
    "pooled": _pooled,
    "per_document": _per_document,
    "system": _system,
    # the means over the items of each document and system
    "summary": lambda data, n_documents, name: _pooled(over_summaries(data), n_documents, name),
}
