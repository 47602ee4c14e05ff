"""Shared by the bias reports: samples, exclusions, report classes, and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from fairjudge.bias.controlled import Controlled, controlled_of
from fairjudge.bias.people import Person
from fairjudge.bias.resampling import Counts
from fairjudge.domain import Cluster, Summary
from fairjudge.errors import InputError
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling, generator
from fairjudge.text.counting import pluralize

Exclusion: TypeAlias = Literal["empty_summary", "empty_source", "no_people_known", "no_group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasOptions:
    """How intervals are made."""

    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95

    def resampling(self, system: str) -> Resampling:
        """Return a seed for one system, independent of other systems in the file."""
        return Resampling(
            rng=generator(self.seed, system),
            n_resamples=self.n_resamples,
            level=self.level,
        )

    def stated(self, **parts: str | None) -> str:
        """Return the signature of a resampled measure."""
        return signature(
            {**parts, "resamples": self.n_resamples, "level": self.level, "seed": self.seed}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A cluster with its text, original, assignment and provenance."""

    eid: str
    text: str
    original: str
    variant: int
    controlled: Controlled | None

    @classmethod
    def of(cls, cluster: Cluster) -> Source:
        """Read a cluster; one that was not made from another is its own original."""
        controlled = controlled_of(cluster)
        origin = controlled or Controlled()
        return cls(
            eid=cluster.eid,
            text="\n\n".join(article.content for article in cluster.articles),
            original=origin.original or cluster.eid,
            variant=origin.variant,
            controlled=controlled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A source with one system's summary of it."""

    source: Source
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport:
    """One system: number of summaries included, and reasons of exclusion by eid."""

    n: int
    excluded: Mapping[str, Exclusion]


SystemT = TypeVar("SystemT", bound=SystemReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[SystemT]):
    """All systems, and what a reader should know."""

    systems: Mapping[str, SystemT]
    notes: tuple[str, ...]
    signature: str


def pair(
    clusters: Iterable[Cluster], summaries: Sequence[Summary]
) -> tuple[dict[str, tuple[Sample, ...]], tuple[str, ...]]:
    """Join summaries with their clusters.

    Raises
    ------
    InputError
        Two summaries of one cluster by one system, or no summary of any cluster.
    """
    sources = {cluster.eid: Source.of(cluster) for cluster in clusters}
    samples: dict[str, dict[str, Sample]] = {}
    strays: list[str] = []
    for summary in summaries:
        source = sources.get(summary.eid)
        if source is None:
            strays.append(summary.eid)
            continue
        by_eid = samples.setdefault(summary.system, {})
        if summary.eid in by_eid:
            raise InputError(
                f"two summaries of {summary.eid!r} by {summary.system!r}", field="system"
            )
        by_eid[summary.eid] = Sample(source=source, text=summary.text)
    if not samples:
        raise InputError("no summary belongs to any of the clusters (compare their eids)")
    notes = []
    if strays:
        examples = ", ".join(list(dict.fromkeys(strays))[:5])
        notes.append(
            f"excluded {pluralize(len(strays), 'summary', 'summaries')} of unknown clusters: "
            f"{examples}"
        )
    for system, by_eid in sorted(samples.items()):
        if len(by_eid) < len(sources):
            n = len(sources) - len(by_eid)
            notes.append(f"{system} has no summary of {n} of {pluralize(len(sources), 'cluster')}")
    by_system = {system: tuple(by_eid.values()) for system, by_eid in sorted(samples.items())}
    return by_system, tuple(notes)


def split_usable(samples: Sequence[Sample]) -> tuple[list[Sample], dict[str, Exclusion]]:
    """Part the samples with text on both sides from those without."""
    used: list[Sample] = []
    excluded: dict[str, Exclusion] = {}
    for sample in samples:
        if sample.text.strip() and sample.source.text.strip():
            used.append(sample)
        else:
            excluded[sample.source.eid] = "empty_source" if sample.text.strip() else "empty_summary"
    return used, excluded


def counts_of(rows: Sequence[Any], samples: Sequence[Sample], n_columns: int) -> Counts:
    """Return a row of counts a sample, with its original and assignment; for no rows too."""
    return Counts.of(
        np.asarray(rows, dtype=np.float64).reshape(len(rows), n_columns),
        documents=[sample.source.original for sample in samples],
        assignments=[sample.source.variant for sample in samples],
    )


def people_of(sample: Sample) -> tuple[Person, ...]:
    """Return the people that a source is known to hold."""
    controlled = sample.source.controlled
    return () if controlled is None else controlled.people
