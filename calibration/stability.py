"""How stable a judge is: repeats of one item, and the same item under several prompts.

A judgement is ``mean + item + variant + item x variant + repeat``. The parts of its variance are
estimated by the two-way random-effects analysis of variance of cell means (Searle, Casella and
McCulloch 1992, chapter 4); items take part that every variant judged. Parts below 0 are set to 0.
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
"""Numbers of repeats whose effect is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedJudgements:
    """Judgements of length n; pairs as 1, 0 and -1.

    ``items`` name what was judged, an order of a pair being an item of its own; ``variants`` the
    prompt, all alike where there is one.
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
    """What the mean of ``repeats`` judgements an item gains over one.

    ``width`` is the width of an interval of a mean over items, as a share of that with one repeat;
    ``as_many_items`` how many items judged once, per item judged so often, would do as much.
    """

    repeats: int
    width: float
    as_many_items: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How much a judge's judgements of one item differ.

    ``flips`` is the chance, in [0, 1], that two judgements of one item under one prompt differ;
    ``flips_between_variants`` that two under different prompts do; ``unanimous`` the share of items
    judged more than once of which all judgements are alike, prompts apart. ``spread`` is the
    standard deviation within an item and prompt, in units of the scale; ``shares`` maps each of
    `PARTS` to its share of the variance.
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
    """Measure stability, with intervals over documents.

    Figures that need repeats are Undefined without them, those that need several variants
    likewise. Returns Undefined where nothing is judged twice at all.
    """
    cells = _cells(judgements)
    by_item: dict[Hashable, list[_Cell]] = defaultdict(list)
    for cell in cells:
        by_item[cell.item].append(cell)
    n_variants = len(set(judgements.variants))
    repeated = [cell for cell in cells if cell.values.size > 1]
    if not repeated and n_variants < 2:
        return Undefined(why="no item was judged more than once")
    flips = [_flips(cell.values) for cell in repeated]
    unanimous = [float(flip == 0.0) for flip in flips]
    variances = [float(np.var(cell.values, ddof=1)) for cell in repeated]
    at = [cell.document for cell in repeated]
    none = Undefined(why="no item was judged more than once under one prompt")
    items = list(by_item.values())
    shares, worth = _variance(items, rng=rng, level=level, n_resamples=n_resamples)
    return Stability(
        n_judgements=judgements.values.size,
        n_items=len(set(judgements.items)),
        n_repeated_items=len({cell.item for cell in repeated}),
        n_documents=len(set(judgements.documents)),
        variants=tuple(str(name) for name in dict.fromkeys(judgements.variants)),
        flips=_share(flips, at, level) if repeated else none,
        flips_between_variants=_disagreement_between_prompts(items, level),
        unanimous=_share(unanimous, at, level) if repeated else none,
        spread=_root(clustered_mean(variances, at, level=level)) if repeated else none,
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


def _cells(repeated: RepeatedJudgements) -> list[_Cell]:
    rows: dict[tuple[Hashable, Hashable], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(repeated.items, repeated.variants, strict=True)):
        rows[key].append(row)
    return [
        _Cell(
            item=item,
            variant=variant,
            document=repeated.documents[indices[0]],
            values=repeated.values[indices],
        )
        for (item, variant), indices in rows.items()
    ]


def _flips(values: FloatArray) -> float:
    """Return the share of pairs of judgements that differ."""
    _, counts = np.unique(values, return_counts=True)
    n = values.size
    return float(1.0 - np.sum(counts * (counts - 1)) / (n * (n - 1)))


def _disagreement_between_prompts(
    items: Sequence[Sequence[_Cell]], level: float
) -> Estimate | Undefined:
    """Return the chance that judgements under two different prompts differ, averaged over items."""
    several = [cells for cells in items if len(cells) > 1]
    if not several:
        return Undefined(why="no item was judged under more than one prompt")
    return _share(list(map(_differ, several)), [cells[0].document for cells in several], level)


def _differ(cells: Sequence[_Cell]) -> float:
    pairs = [
        np.mean(cell.values[:, None] != other.values[None, :])
        for place, cell in enumerate(cells)
        for other in cells[:place]
    ]
    return float(np.mean(pairs))


def _share(
    values: Sequence[float], documents: Sequence[Hashable], level: float
) -> Estimate | Undefined:
    """Return a mean of shares; Wilson's interval where each is 0 or 1, which may all be alike."""
    if set(values) <= {0.0, 1.0}:
        return clustered_wilson(values, documents, level=level)
    return clip_interval(clustered_mean(values, documents, level=level), 0.0, 1.0)


def _root(estimate: Estimate | Undefined) -> Estimate | Undefined:
    if isinstance(estimate, Undefined):
        return estimate
    method = f"{estimate.method}, of the variance"
    return transform_estimate(estimate, lambda variance: sqrt(max(variance, 0.0)), method=method)


def _variance(
    items: Sequence[Sequence[_Cell]],
    *,
    rng: np.random.Generator,
    level: float,
    n_resamples: int,
) -> tuple[dict[str, Estimate | Undefined], tuple[RepeatWorth, ...] | Undefined]:
    variants = list(dict.fromkeys(cell.variant for cells in items for cell in cells))
    full = [
        {cell.variant: cell for cell in cells} for cells in items if len(cells) == len(variants)
    ]
    if len(full) < 2:
        why = Undefined(why="fewer than 2 items were judged under every prompt")
        return dict.fromkeys(PARTS, why), why
    sums = _Sums.from_cells(full, variants)
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
        n=len(full),
    )
    shares = {
        name: clip_interval(estimate, 0.0, 1.0)
        for name, estimate in zip(PARTS, estimates, strict=True)
    }
    if len(variants) < 2:
        shares |= dict.fromkeys(("variant", "item_by_variant"), Undefined(why="one prompt"))
    if not sums.has_repeats:
        shares["repeat"] = Undefined(why="nothing judged twice by one prompt")
    return shares, _worth(sums.parts(np.ones((1, n_documents)))[0], has_repeats=sums.has_repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """By document: items; cell means, summed; their products; squares within cells; 1 / repeats."""

    items: FloatArray
    means: FloatArray
    moments: FloatArray
    squares: FloatArray
    has_repeats: bool

    @staticmethod
    def from_cells(full: Sequence[dict[Hashable, _Cell]], variants: Sequence[Hashable]) -> _Sums:
        coded, names = codes([next(iter(by_variant.values())).document for by_variant in full])
        table = [[by_variant[name].values for name in variants] for by_variant in full]
        means = np.array([[values.mean() for values in row] for row in table])
        centre = means.mean()
        means = means - centre
        squares = [
            (
                sum(float(np.sum((values - values.mean()) ** 2)) for values in row),
                sum(values.size - 1 for values in row),
                sum(1.0 / values.size for values in row) / len(row),
            )
            for row in table
        ]
        products = (means[:, :, None] * means[:, None, :]).reshape(len(full), -1)
        d = len(names)
        return _Sums(
            items=totals(np.ones((len(full), 1)), coded, d),
            means=totals(means, coded, d),
            moments=totals(products, coded, d),
            squares=totals(np.array(squares, dtype=np.float64), coded, d),
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


def _worth(parts: FloatArray, *, has_repeats: bool) -> tuple[RepeatWorth, ...] | Undefined:
    if not has_repeats:
        return Undefined(why="nothing judged twice by one prompt")
    between, repeat = float(parts[0] + parts[2]), float(parts[3])
    if between + repeat <= 0.0:
        return Undefined(why="all judgements are alike")
    out = []
    for k in REPEATS:
        ratio = (between + repeat / k) / (between + repeat)
        out.append(RepeatWorth(repeats=k, width=sqrt(ratio), as_many_items=1.0 / ratio))
    return tuple(out)
