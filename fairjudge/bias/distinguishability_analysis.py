"""From controlled inputs and summaries to distinguishability, and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairjudge.bias.analysis import fingerprint
from fairjudge.bias.masking import mask
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    pair,
    people_of,
    split_usable,
)
from fairjudge.bias.representation import (
    Distinguishability,
    count_vectors,
    distinguishability,
)
from fairjudge.domain import Cluster, Summary
from fairjudge.resampling import Resampling

Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Maps texts to vectors, shape (n, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemDistinguishability(SystemReport):
    """One system; ``dense`` is None where no embeddings were asked for."""

    counts: Distinguishability
    dense: Distinguishability | None


DistinguishabilityReport: TypeAlias = Report[SystemDistinguishability]


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
    return Report(
        systems={
            system: _distinguish(mine, embed, frozenset(stop_words), how.resampling(system))
            for system, mine in samples.by_system.items()
        },
        notes=samples.notes,
        signature=how.stated(
            measure="distinguishability",
            embedder=embedder,
            stop_words=fingerprint({"": sorted(stop_words)}) if stop_words else None,
        ),
    )


def _distinguish(
    samples: Sequence[Sample],
    embed: Embed | None,
    stop_words: frozenset[str],
    resampling: Resampling,
) -> SystemDistinguishability:
    usable, excluded = split_usable(samples)
    used, groups, texts = [], [], []
    for sample in usable:
        known = sample.source.controlled
        if known is None or known.group is None:
            excluded[sample.source.eid] = "no_group"
            continue
        used.append(sample)
        groups.append(known.group)
        texts.append(mask(sample.text, people_of(sample)))

    def measure(vectors: Any) -> Distinguishability:
        return distinguishability(
            vectors,
            groups,
            [sample.source.original for sample in used],
            resampling=resampling,
            n_excluded=len(excluded),
        )

    return SystemDistinguishability(
        n=len(used),
        counts=measure(count_vectors(texts, stop_words=stop_words)),
        dense=None if embed is None else measure(embed(texts)),
        excluded=excluded,
    )
