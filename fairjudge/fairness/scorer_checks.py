"""Checks of scorers: their agreement, the best chunk size, and pseudo-summaries of known fairness.

Sources: agreement, coverage fairness, section 5.3, Table 2; chunk sizes, coverage fairness,
appendix A.2, Table 7; pseudo-summaries, FairSumm, appendix C.
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
    """Correlation between two scorers or two measures, with a two-sided p-value against 0.

    ``n_unmatched`` counts the samples or systems that only one of the scorers has.
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
    """Correlate a measure of each summary, such as its Equal Coverage, between two scorers.

    Interval and p-value are by bootstrap over clusters, with all summaries of a cluster.
    """
    return _agreement(first, second, resampling, correlation, unit=lambda key: key[0])


def agreement_over_systems(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    resampling: Resampling,
    correlation: CorrelationName = "spearman",
) -> ScorerAgreement:
    """Correlate a measure of each system, such as its Coverage Parity, between two scorers.

    The interval is by bootstrap over systems; the p-value is by permutation, since systems are few.
    """
    agreement = _agreement(first, second, resampling, correlation, unit=lambda key: key)
    if isinstance(agreement.rho, Undefined):
        return agreement
    x, y = _matched_values(first, second)
    x_rows = np.broadcast_to(x, (resampling.n_resamples, x.size))
    permuted_x = resampling.rng.permuted(x_rows, axis=1)
    permuted_rho = row_correlations(correlation, permuted_x, np.broadcast_to(y, permuted_x.shape))
    test = compare_permutations(agreement.rho.value, permuted_rho, alternative="two-sided")
    rho = replace(agreement.rho, p_value=test.p_value, p_floor=test.p_floor)
    return replace(agreement, rho=rho)


def _agreement(
    first: Mapping[_Key, float],
    second: Mapping[_Key, float],
    resampling: Resampling,
    correlation: CorrelationName,
    *,
    unit: Callable[[_Key], Hashable],
) -> ScorerAgreement:
    """Correlate the keys that both scorers have; `unit` maps a key to its resampling unit."""
    shared_keys = sorted(first.keys() & second.keys())
    units = [unit(key) for key in shared_keys]
    rho: Estimate | Undefined = Undefined(
        why=f"{len(shared_keys)} in common; a rank correlation needs {_MIN_PAIRS}"
    )
    if len(shared_keys) >= _MIN_PAIRS:
        x, y = _matched_values(first, second)
        statistic = weighted_correlation(correlation, x, y, documents=units)
        rho = resampling.statistic(statistic, len(set(units)), n=x.size, null=0.0)
    return ScorerAgreement(
        rho=rho, n=len(shared_keys), n_unmatched=len(first.keys() ^ second.keys())
    )


def _matched_values(
    first: Mapping[_Key, float], second: Mapping[_Key, float]
) -> tuple[FloatArray, FloatArray]:
    shared_keys = sorted(first.keys() & second.keys())
    return np.array([first[key] for key in shared_keys]), np.array(
        [second[key] for key in shared_keys]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSizes:
    """Share of summary units that the scorer attributes to some document, by chunk size.

    Keys of ``identified`` are the maximum words per chunk, 0 for single sentences. ``best`` is the
    size with the largest share (the smaller one in case of ties), or None if no share is defined.
    """

    identified: Mapping[int, Estimate | Undefined]
    best: int | None


def compare_chunk_sizes(
    supports: Mapping[int, Sequence[Support]], *, resampling: Resampling
) -> ChunkSizes:
    """Compute the share of units of trusted summaries that some document entails, by chunk size.

    A unit counts if entailment is the most probable label for some chunk of some document (for a
    scorer without labels: if its score is above 0.5). The shares of the summaries of a cluster are
    averaged first, so the interval is over clusters. Summaries without units are excluded and
    counted.
    """
    share_by_size = {}
    for size, size_supports in sorted(supports.items()):
        shares_by_cluster: dict[str, list[float]] = {}
        for support in size_supports:
            share = _identified_share(support)
            if share is not None:
                shares_by_cluster.setdefault(support.eid, []).append(share)
        n_included = sum(map(len, shares_by_cluster.values()))
        share_by_size[size] = resampling.mean(
            [fmean(cluster_shares) for cluster_shares in shares_by_cluster.values()],
            n_excluded=len(size_supports) - n_included,
        )
    values = {
        size: estimate.value
        for size, estimate in share_by_size.items()
        if isinstance(estimate, Estimate)
    }
    best = max(values, key=lambda size: (values[size], -size), default=None)
    return ChunkSizes(identified=share_by_size, best=best)


def _identified_share(support: Support) -> float | None:
    n_units = len(support.units)
    if not n_units:
        return None
    # Without merging, which would count two equal units as one.
    unmerged = replace(support, between_units=None)
    n_identified = int(unmerged.coverage("released").shape[1])
    return n_identified / n_units


Sampling: TypeAlias = Literal["biased", "balanced"]


def pseudo_summaries(
    corpus: LabelledCorpus, *, n_documents: int, rng: np.random.Generator
) -> list[Summary]:
    """Make a ``biased`` and a ``balanced`` pseudo-summary of each set with several values.

    Both join `n_documents` source documents (or all, if there are fewer). The biased one draws
    them from one random value; the balanced one keeps the source's shares of documents, by largest
    remainder. A valid measure rates the biased ones as much less fair.
    """
    summaries = []
    for labelled_set in corpus.sets:
        if labelled_set.exclusion is None:
            for sampling in ("biased", "balanced"):
                indices = _choose_documents(labelled_set, sampling, n_documents, rng)
                text = "\n".join(labelled_set.texts[index] for index in sorted(indices))
                summaries.append(Summary(eid=labelled_set.eid, system=sampling, text=text))
    return summaries


def _choose_documents(
    labelled_set: LabelledSet, sampling: Sampling, n_documents: int, rng: np.random.Generator
) -> list[int]:
    indices_by_value = {
        value: [i for i, label in enumerate(labelled_set.labels) if label == value]
        for value in labelled_set.values
    }
    if sampling == "biased":
        value = labelled_set.values[int(rng.integers(len(labelled_set.values)))]
        quota = Counter({value: n_documents})
    else:
        quota = apportion(
            {value: len(indices) for value, indices in indices_by_value.items()}, n_documents
        )
    return [
        int(index)
        for value, indices in indices_by_value.items()
        for index in rng.permutation(indices)[: quota[value]]
    ]


def apportion(sizes: dict[str, int], seats: int) -> Counter[str]:
    """Apportion `seats` to `sizes` by largest remainder; the larger size wins ties."""
    total = sum(sizes.values())
    seats = min(seats, total)
    quota = Counter({value: seats * size // total for value, size in sizes.items()})
    n_left = seats - quota.total()
    by_remainder = sorted(
        sizes, key=lambda value: (-(seats * sizes[value] % total), -sizes[value], value)
    )
    quota.update(by_remainder[:n_left])
    return quota
