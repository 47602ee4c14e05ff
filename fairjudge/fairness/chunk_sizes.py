"""Choosing the chunk size of a scorer (coverage fairness, appendix A.2, Table 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.support import Support
from fairjudge.stats.resampling import Resampling


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
