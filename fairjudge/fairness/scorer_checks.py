"""Checks of scorers: their agreement, the best chunk size, and pseudo-summaries of known fairness.

Agreement of scorers is of coverage fairness, section 5.3, Table 2; chunk sizes of its appendix A.2,
Table 7; pseudo-summaries of FairSumm, appendix C.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from fairjudge.domain import Estimate, Summary, Undefined
from fairjudge.fairness.support import Support
from fairjudge.fairness.values import LabelledCorpus, LabelledSet
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.correlation import CorrelationName, row_correlations, weighted_correlation
from fairjudge.stats.permutation import compare_permutations
from fairjudge.stats.resampling import Resampling

Sample: TypeAlias = tuple[str, str]
"""(eid, system)."""
_Key = TypeVar("_Key", Sample, str)
_MIN_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerAgreement:
    """Correlation under two scorers, or of two measures, with a two-sided p-value against 0.

    ``n_unmatched`` counts what only one of the scorers has.
    """

    rho: Estimate | Undefined
    n: int
    n_unmatched: int


def agreement_over_samples(
    first: Mapping[Sample, float],
    second: Mapping[Sample, float],
    *,
    resampling: Resampling,
    correlation: CorrelationName = "spearman",
) -> ScorerAgreement:
    """Compare a measure of each summary, such as its Equal Coverage, under two scorers.

    Interval and p-value are by bootstrap over clusters: summaries of one cluster stay together.
    """
    return _agreement(first, second, resampling, correlation, unit=lambda key: key[0])


def agreement_over_systems(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    resampling: Resampling,
    correlation: CorrelationName = "spearman",
) -> ScorerAgreement:
    """Compare a measure of each system, such as its Coverage Parity, under two scorers.

    The interval is by bootstrap over systems, the p-value from permuting them: there are few.
    """
    agreement = _agreement(first, second, resampling, correlation, unit=lambda key: key)
    if isinstance(agreement.rho, Undefined):
        return agreement
    x, y = _matched(first, second)
    repeated = np.broadcast_to(x, (resampling.n_resamples, x.size))
    shuffled = resampling.rng.permuted(repeated, axis=1)
    permuted = row_correlations(correlation, shuffled, np.broadcast_to(y, shuffled.shape))
    placed = compare_permutations(agreement.rho.value, permuted, alternative="two-sided")
    rho = replace(agreement.rho, p_value=placed.p_value, p_floor=placed.p_floor)
    return replace(agreement, rho=rho)


def _agreement(
    first: Mapping[_Key, float],
    second: Mapping[_Key, float],
    resampling: Resampling,
    correlation: CorrelationName,
    *,
    unit: Callable[[_Key], Hashable],
) -> ScorerAgreement:
    """Correlate samples that both scorers have; `unit` maps a key to its unit of resampling."""
    shared = sorted(first.keys() & second.keys())
    units = [unit(key) for key in shared]
    rho: Estimate | Undefined = Undefined(
        why=f"{len(shared)} in common; a rank correlation needs {_MIN_PAIRS}"
    )
    if len(shared) >= _MIN_PAIRS:
        x, y = _matched(first, second)
        statistic = weighted_correlation(correlation, x, y, documents=units)
        rho = resampling.statistic(statistic, len(set(units)), n=x.size, null=0.0)
    return ScorerAgreement(rho=rho, n=len(shared), n_unmatched=len(first.keys() ^ second.keys()))


def _matched(
    first: Mapping[_Key, float], second: Mapping[_Key, float]
) -> tuple[FloatArray, FloatArray]:
    shared = sorted(first.keys() & second.keys())
    return np.array([first[key] for key in shared]), np.array([second[key] for key in shared])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSizes:
    """Share of summary units whose originating document the scorer finds, by chunk size.

    ``identified`` is keyed by the words a chunk may have, 0 for single sentences. ``best`` has
    the largest share, the smaller chunk where several have it; None where none is defined.
    """

    identified: Mapping[int, Estimate | Undefined]
    best: int | None


def compare_chunk_sizes(
    supports: Mapping[int, Sequence[Support]], *, resampling: Resampling
) -> ChunkSizes:
    """Tabulate how many units of trusted summaries some document entails, for each chunk size.

    A unit counts where entailment is the most probable label for some chunk of some document
    (without labels: where its score is above 0.5). Each summary contributes the share of its units;
    summaries of one cluster are averaged first, so the interval is over clusters. Summaries without
    units are left out and counted.
    """
    identified = {}
    for size, size_supports in sorted(supports.items()):
        shares: dict[str, list[float]] = {}
        for support in size_supports:
            share = _identified_share(support)
            if share is not None:
                shares.setdefault(support.eid, []).append(share)
        n_counted = sum(map(len, shares.values()))
        identified[size] = resampling.mean(
            [fmean(mine) for mine in shares.values()], n_excluded=len(size_supports) - n_counted
        )
    defined = {size: e.value for size, e in identified.items() if isinstance(e, Estimate)}
    best = max(defined, key=lambda size: (defined[size], -size), default=None)
    return ChunkSizes(identified=identified, best=best)


def _identified_share(support: Support) -> float | None:
    n_units = len(support.units)
    if not n_units:
        return None
    # Each unit by itself: merging would count two of the same as one.
    plain = replace(support, between_units=None)
    n_identified = int(plain.coverage("released").shape[1])
    return n_identified / n_units


Sampling: TypeAlias = Literal["biased", "balanced"]


def pseudo_summaries(
    corpus: LabelledCorpus, *, n_documents: int, rng: np.random.Generator
) -> list[Summary]:
    """Make a ``biased`` and a ``balanced`` pseudo-summary of each set with several values.

    Both join `n_documents` source documents (or as many as there are). The biased one takes them
    from one randomly drawn value; the balanced one keeps the source's shares of documents, by
    largest remainder. A sound measure finds the biased ones far less fair.
    """
    pseudo = []
    for labelled in corpus.sets:
        if labelled.exclusion is None:
            for sampling in ("biased", "balanced"):
                chosen = _choose(labelled, sampling, n_documents, rng)
                text = "\n".join(labelled.texts[place] for place in sorted(chosen))
                pseudo.append(Summary(eid=labelled.eid, system=sampling, text=text))
    return pseudo


def _choose(
    labelled: LabelledSet, sampling: Sampling, n_documents: int, rng: np.random.Generator
) -> list[int]:
    places = {
        value: [i for i, label in enumerate(labelled.labels) if label == value]
        for value in labelled.values
    }
    if sampling == "biased":
        value = labelled.values[int(rng.integers(len(labelled.values)))]
        quota = Counter({value: n_documents})
    else:
        quota = apportion({value: len(rows) for value, rows in places.items()}, n_documents)
    return [
        int(place)
        for value, rows in places.items()
        for place in rng.permutation(rows)[: quota[value]]
    ]


def apportion(sizes: dict[str, int], seats: int) -> Counter[str]:
    """Share `seats` in proportion to `sizes` by largest remainder; ties go to the larger size."""
    total = sum(sizes.values())
    seats = min(seats, total)
    quota = Counter({value: seats * size // total for value, size in sizes.items()})
    seats_left = seats - quota.total()
    by_remainder = sorted(
        sizes, key=lambda value: (-(seats * sizes[value] % total), -sizes[value], value)
    )
    quota.update(by_remainder[:seats_left])
    return quota
