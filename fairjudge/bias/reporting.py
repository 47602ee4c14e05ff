"""Shared parts of the bias reports: samples, exclusions, report classes, and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from fairjudge.bias.controlled import ControlledProvenance, controlled_provenance
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
    """Options of the bootstrap intervals."""

    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95

    def resampling(self, system: str) -> Resampling:
        """Return the resampling of one system, independent of other systems in the file."""
        return Resampling(
            rng=generator(self.seed, system),
            n_resamples=self.n_resamples,
            level=self.level,
        )

    def signature(self, **parts: str | None) -> str:
        """Return the signature of a measure with these options."""
        return signature(
            {**parts, "resamples": self.n_resamples, "level": self.level, "seed": self.seed}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of a cluster, with its original, assignment and provenance."""

    eid: str
    text: str
    original: str
    variant: int
    controlled: ControlledProvenance | None

    @classmethod
    def from_cluster(cls, cluster: Cluster) -> Source:
        """Convert a cluster; a cluster that is not a controlled input is its own original."""
        controlled = controlled_provenance(cluster)
        provenance_or_default = controlled or ControlledProvenance()
        return cls(
            eid=cluster.eid,
            text="\n\n".join(article.content for article in cluster.articles),
            original=provenance_or_default.original or cluster.eid,
            variant=provenance_or_default.variant,
            controlled=controlled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A source with one system's summary of it."""

    source: Source
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport:
    """One system: number of included summaries, and reasons for exclusion by eid."""

    n: int
    excluded: Mapping[str, Exclusion]


SystemT = TypeVar("SystemT", bound=SystemReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[SystemT]):
    """All systems, with notes on the input."""

    systems: Mapping[str, SystemT]
    notes: tuple[str, ...]
    signature: str


def pair_samples(
    clusters: Iterable[Cluster], summaries: Sequence[Summary]
) -> tuple[dict[str, tuple[Sample, ...]], tuple[str, ...]]:
    """Join summaries with their clusters.

    Raises
    ------
    InputError
        Two summaries of one cluster by one system, or no summary of any cluster.
    """
    sources = {cluster.eid: Source.from_cluster(cluster) for cluster in clusters}
    samples: dict[str, dict[str, Sample]] = {}
    unknown_eids: list[str] = []
    for summary in summaries:
        source = sources.get(summary.eid)
        if source is None:
            unknown_eids.append(summary.eid)
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
    if unknown_eids:
        examples = ", ".join(list(dict.fromkeys(unknown_eids))[:5])
        notes.append(
            f"excluded {pluralize(len(unknown_eids), 'summary', 'summaries')} of unknown clusters: "
            f"{examples}"
        )
    for system, by_eid in sorted(samples.items()):
        if len(by_eid) < len(sources):
            n = len(sources) - len(by_eid)
            notes.append(f"{system} has no summary of {n} of {pluralize(len(sources), 'cluster')}")
    by_system = {system: tuple(by_eid.values()) for system, by_eid in sorted(samples.items())}
    return by_system, tuple(notes)


def split_usable(samples: Sequence[Sample]) -> tuple[list[Sample], dict[str, Exclusion]]:
    """Separate samples with text in source and summary from the others."""
    usable_samples: list[Sample] = []
    exclusions: dict[str, Exclusion] = {}
    for sample in samples:
        if sample.text.strip() and sample.source.text.strip():
            usable_samples.append(sample)
        else:
            exclusions[sample.source.eid] = (
                "empty_source" if sample.text.strip() else "empty_summary"
            )
    return usable_samples, exclusions


def make_counts(rows: Sequence[Any], samples: Sequence[Sample], n_columns: int) -> Counts:
    """Return one row of counts per sample, with its original and assignment; rows may be empty."""
    return Counts.from_rows(
        np.asarray(rows, dtype=np.float64).reshape(len(rows), n_columns),
        documents=[sample.source.original for sample in samples],
        assignments=[sample.source.variant for sample in samples],
    )


def annotated_people(sample: Sample) -> tuple[Person, ...]:
    """Return the people in the provenance of a sample's source."""
    provenance = sample.source.controlled
    return () if provenance is None else provenance.people
