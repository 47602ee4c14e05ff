"""From controlled inputs and summaries to distinguishability, and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairjudge.bias.analysis import fingerprint, people_of, stated
from fairjudge.bias.masking import mask
from fairjudge.bias.reporting import (
    BiasOptions,
    Excluded,
    Sample,
    pair,
    split_usable,
)
from fairjudge.bias.representation import (
    Distinguishability,
    count_vectors,
    distinguishability,
)
from fairjudge.domain import Cluster, Summary

Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Maps texts to vectors, shape (n, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemDistinguishability:
    """One system; ``dense`` is None where no embeddings were asked for."""

    n: int
    counts: Distinguishability
    dense: Distinguishability | None
    excluded: tuple[Excluded, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinguishabilityReport:
    """All systems."""

    systems: Mapping[str, SystemDistinguishability]
    notes: tuple[str, ...]
    signature: str


def report_distinguishability(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    embed: Embed | None = None,
    embedder: str | None = None,
    stop_words: Collection[str] = (),
    options: BiasOptions | None = None,
) -> DistinguishabilityReport:
    """Measure distinguishability of every system (`news_bias` 3.4) on inputs of one group each.

    Parameters
    ----------
    clusters
        Controlled inputs; those that name no ``group`` take no part (``no_group``).
    embed
        Maps texts to vectors, for the dense representation; ``embedder`` names it in the signature.
    stop_words
        Left out of the counts. The published code leaves out scikit-learn's English list.
    """
    how = options or BiasOptions()
    samples = pair(clusters, summaries)
    return DistinguishabilityReport(
        systems={
            system: _distinguish(system, mine, embed, frozenset(stop_words), how)
            for system, mine in samples.by_system.items()
        },
        notes=samples.notes,
        signature=stated(
            how,
            measure="distinguishability",
            embedder=embedder,
            stop_words=fingerprint({"": sorted(stop_words)}) if stop_words else None,
        ),
    )


def _distinguish(
    system: str,
    samples: Sequence[Sample],
    embed: Embed | None,
    stop_words: frozenset[str],
    options: BiasOptions,
) -> SystemDistinguishability:
    usable, excluded = split_usable(system, samples)
    used, groups, texts = [], [], []
    for sample in usable:
        known = sample.source.controlled
        if known is None or known.group is None:
            excluded.append(Excluded(eid=sample.source.eid, system=system, reason="no_group"))
            continue
        used.append(sample)
        groups.append(known.group)
        texts.append(mask(sample.text, people_of(sample)))

    def measure(vectors: Any) -> Distinguishability:
        return distinguishability(
            vectors,
            groups,
            [sample.source.original for sample in used],
            resampling=options.resampling(system),
            n_excluded=len(excluded),
        )

    return SystemDistinguishability(
        n=len(used),
        counts=measure(count_vectors(texts, stop_words=stop_words)),
        dense=None if embed is None else measure(embed(texts)),
        excluded=tuple(excluded),
    )
