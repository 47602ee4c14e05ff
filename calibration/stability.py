"""Stability of a judge over repeats and over prompt variants.

The model of a judgement is ``mean + item + variant + item x variant + repeat``. Its variance
components are estimated with the two-way random-effects analysis of variance of cell means (Searle,
Casella and McCulloch 1992, chapter 4), on the items that all variants judged. Negative components
are set to 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, codes, same_length, totals
from fairjudge.stats.bootstrap import bootstrap_many, divide
from fairjudge.stats.clustered import clip_interval, clustered_mean, transform_estimate
from fairjudge.stats.intervals import clustered_wilson

PARTS = ("item", "variant", "item_by_variant", "repeat")
REPEATS = (1, 2, 3, 5, 10)
"""Numbers of repeats for which precision is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedJudgements:
    """n judgements; verdicts on pairs are 1, 0 or -1.

    ``items`` identify the judged items; both orders of a pair are separate items. ``variants``
    identify the prompts, and are all equal if there is only one.
    """

    values: FloatArray
    items: Sequence[Hashable]
    variants: Sequence[Hashable]
    documents: Sequence[Hashable]

    def __post_init__(self) -> None:
        same_length(
            values=self.values, items=self.items, variants=self.variants, documents=self.documents
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatWorth:
    """The gain in precision from ``repeats`` judgements per item.

    ``width`` is the width of an interval of a mean over items, relative to that with one judgement
    per item. ``as_many_items`` is the factor by which the number of items would have to grow, with
    one judgement per item, for the same width.
    """

    repeats: int
    width: float
    as_many_items: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Differences between a judge's judgements of the same item.

    ``flips`` is the probability, in [0, 1], that two judgements of an item under one prompt differ;
    ``flips_between_variants`` that two under different prompts differ. ``unanimous`` is the share
    of repeated items and prompts with equal judgements. ``spread`` is the standard deviation within
    an item and prompt, in units of the scale. ``shares`` maps each of `PARTS` to its share of the
    variance.
    """

    n_judgements: int
    n_items: int
    n_repeated_items: int
    n_documents: int
    variants: tuple[str, ...]
    flips: Estimate | Undefined
    flips_between_variants: Estimate | Undefined
    unanimous: Estimate | Undefined
    spread: Estimate | Undefined
    shares: dict[str, Estimate | Undefined]
    worth: tuple[RepeatWorth, ...] | Undefined


def stability(
    judgements: RepeatedJudgements,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> Stability | Undefined:
    """Measure the stability of a judge, with intervals over documents.

    Measures that require repeats, or several variants, are Undefined without them. The result is
    Undefined if no item was judged more than once.
    """
    cells = _group_cells(judgements)
    by_item: dict[Hashable, list[_Cell]] = defaultdict(list)
    for cell in cells:
        by_item[cell.item].append(cell)
    n_variants = len(set(judgements.variants))
    repeated_cells = [cell for cell in cells if cell.values.size > 1]
    if not repeated_cells and n_variants < 2:
        return Undefined(why="no item was judged more than once")
    flips = [_flip_rate(cell.values) for cell in repeated_cells]
    unanimous = [float(flip == 0.0) for flip in flips]
    variances = [float(np.var(cell.values, ddof=1)) for cell in repeated_cells]
    documents = [cell.document for cell in repeated_cells]
    no_repeats = Undefined(why="no item was judged more than once under one prompt")
    items = list(by_item.values())
    shares, worth = _variance_shares(items, rng=rng, level=level, n_resamples=n_resamples)
    return Stability(
        n_judgements=judgements.values.size,
        n_items=len(set(judgements.items)),
        n_repeated_items=len({cell.item for cell in repeated_cells}),
        n_documents=len(set(judgements.documents)),
        variants=tuple(str(name) for name in dict.fromkeys(judgements.variants)),
        flips=_share(flips, documents, level) if repeated_cells else no_repeats,
        flips_between_variants=_flip_rate_between_prompts(items, level),
        unanimous=_share(unanimous, documents, level) if repeated_cells else no_repeats,
        spread=_standard_deviation(clustered_mean(variances, documents, level=level))
        if repeated_cells
        else no_repeats,
        shares=shares,
        worth=worth,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """The judgements of one item under one prompt."""

    item: Hashable
    variant: Hashable
    document: Hashable
    values: FloatArray


def _group_cells(judgements: RepeatedJudgements) -> list[_Cell]:
    rows: dict[tuple[Hashable, Hashable], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(judgements.items, judgements.variants, strict=True)):
        rows[key].append(row)
    return [
        _Cell(
            item=item,
            variant=variant,
            document=judgements.documents[indices[0]],
            values=judgements.values[indices],
        )
        for (item, variant), indices in rows.items()
    ]


def _flip_rate(values: FloatArray) -> float:
    """Return the share of pairs of judgements in a cell that differ."""
    _, counts = np.unique(values, return_counts=True)
    n = values.size
    return float(1.0 - np.sum(counts * (counts - 1)) / (n * (n - 1)))


def _flip_rate_between_prompts(
    items: Sequence[Sequence[_Cell]], level: float
) -> Estimate | Undefined:
    """Estimate the probability that judgements under two prompts differ, averaged over items."""
    items_with_variants = [cells for cells in items if len(cells) > 1]
    if not items_with_variants:
        return Undefined(why="no item was judged under more than one prompt")
    return _share(
        list(map(_difference_rate, items_with_variants)),
        [cells[0].document for cells in items_with_variants],
        level,
    )


def _difference_rate(cells: Sequence[_Cell]) -> float:
    rates = [
        np.mean(cell.values[:, None] != other_cell.values[None, :])
        for index, cell in enumerate(cells)
        for other_cell in cells[:index]
    ]
    return float(np.mean(rates))


def _share(
    values: Sequence[float], documents: Sequence[Hashable], level: float
) -> Estimate | Undefined:
    """Estimate a mean of shares; with Wilson's interval if all are 0 or 1."""
    if set(values) <= {0.0, 1.0}:
        return clustered_wilson(values, documents, level=level)
    return clip_interval(clustered_mean(values, documents, level=level), 0.0, 1.0)


def _standard_deviation(estimate: Estimate | Undefined) -> Estimate | Undefined:
    if isinstance(estimate, Undefined):
        return estimate
    method = f"{estimate.method}, of the variance"
    return transform_estimate(estimate, lambda variance: sqrt(max(variance, 0.0)), method=method)


def _variance_shares(
    items: Sequence[Sequence[_Cell]],
    *,
    rng: np.random.Generator,
    level: float,
    n_resamples: int,
) -> tuple[dict[str, Estimate | Undefined], tuple[RepeatWorth, ...] | Undefined]:
    variants = list(dict.fromkeys(cell.variant for cells in items for cell in cells))
    complete_items = [
        {cell.variant: cell for cell in cells} for cells in items if len(cells) == len(variants)
    ]
    if len(complete_items) < 2:
        too_few = Undefined(why="fewer than 2 items were judged under every prompt")
        return dict.fromkeys(PARTS, too_few), too_few
    sums = _Sums.from_cells(complete_items, variants)
    n_documents = sums.moments.shape[0]

    def parts(counts: FloatArray) -> FloatArray:
        components = sums.parts(counts)
        return divide(components, components.sum(axis=1, keepdims=True))

    estimates = bootstrap_many(
        parts,
        n_documents=n_documents,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        method="expanded",
        n=len(complete_items),
    )
    shares = {
        name: clip_interval(estimate, 0.0, 1.0)
        for name, estimate in zip(PARTS, estimates, strict=True)
    }
    if len(variants) < 2:
        shares |= dict.fromkeys(("variant", "item_by_variant"), Undefined(why="one prompt"))
    if not sums.has_repeats:
        shares["repeat"] = Undefined(why="nothing judged twice by one prompt")
    return shares, _repeat_worth(
        sums.parts(np.ones((1, n_documents)))[0], has_repeats=sums.has_repeats
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Sums per document.

    Numbers of items; cell means; products of cell means (``moments``); and ``squares``: squared
    deviations within cells, their degrees of freedom, and mean 1 / number of repeats.
    """

    items: FloatArray
    means: FloatArray
    moments: FloatArray
    squares: FloatArray
    has_repeats: bool

    @staticmethod
    def from_cells(
        complete_items: Sequence[dict[Hashable, _Cell]], variants: Sequence[Hashable]
    ) -> _Sums:
        document_codes, names = codes(
            [next(iter(by_variant.values())).document for by_variant in complete_items]
        )
        table = [[by_variant[name].values for name in variants] for by_variant in complete_items]
        means = np.array([[values.mean() for values in row] for row in table])
        grand_mean = means.mean()
        means = means - grand_mean
        squares = [
            (
                sum(float(np.sum((values - values.mean()) ** 2)) for values in row),
                sum(values.size - 1 for values in row),
                sum(1.0 / values.size for values in row) / len(row),
            )
            for row in table
        ]
        products = (means[:, :, None] * means[:, None, :]).reshape(len(complete_items), -1)
        n_documents = len(names)
        return _Sums(
            items=totals(np.ones((len(complete_items), 1)), document_codes, n_documents),
            means=totals(means, document_codes, n_documents),
            moments=totals(products, document_codes, n_documents),
            squares=totals(np.array(squares, dtype=np.float64), document_codes, n_documents),
            has_repeats=any(values.size > 1 for row in table for values in row),
        )

    def parts(self, counts: FloatArray) -> FloatArray:
        """Return variance components, shape (r, 4), in the order of `PARTS`."""
        n = counts @ self.items
        v = self.means.shape[1]
        sums, moments = counts @ self.means, counts @ self.moments
        products = (sums[:, :, None] * sums[:, None, :]).reshape(len(counts), -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            covariance = (moments - products / n) / (n - 1.0)
            squares = counts @ self.squares
            repeat = squares[:, 0] / squares[:, 1] if self.has_repeats else np.zeros(len(counts))
            noise = repeat * squares[:, 2] / n[:, 0]
            level = covariance.sum(axis=1) / v
            if v == 1:
                residual = np.zeros(len(counts))
                item, variant = level - noise, residual
            else:
                trace = covariance[:, :: v + 1].sum(axis=1)
                residual = (trace - level) / (v - 1)
                item = (level - residual) / v
                variant = np.var(sums / n, axis=1, ddof=1) - residual / n[:, 0]
                residual = residual - noise
        return np.asarray(np.maximum(np.column_stack([item, variant, residual, repeat]), 0.0))


def _repeat_worth(parts: FloatArray, *, has_repeats: bool) -> tuple[RepeatWorth, ...] | Undefined:
    if not has_repeats:
        return Undefined(why="nothing judged twice by one prompt")
    between, repeat = float(parts[0] + parts[2]), float(parts[3])
    if between + repeat <= 0.0:
        return Undefined(why="all judgements are alike")
    worth = []
    for k in REPEATS:
        ratio = (between + repeat / k) / (between + repeat)
        worth.append(RepeatWorth(repeats=k, width=sqrt(ratio), as_many_items=1.0 / ratio))
    return tuple(worth)
