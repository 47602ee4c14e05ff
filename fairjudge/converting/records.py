"""Result of a conversion: records, and counts of excluded rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Cluster, Label, Record, Reference, Summary
from fairjudge.errors import InputError
from fairjudge.importing.records import Skipped
from fairjudge.reports.next_commands import (
    Data,
    NextCommand,
    commands_after_conversion,
    label_protocols,
    ranking_obstacle,
)
from fairjudge.text.counting import pluralize
from fairjudge.text.usable import usable

Entry: TypeAlias = Reference | Cluster | Summary | Label | Skipped
Kind: TypeAlias = Literal["clusters", "references", "summaries", "labels"]
KINDS: tuple[Kind, ...] = ("clusters", "references", "summaries", "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """An input's layout and its unused columns."""

    path: str
    layout: str
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Converted:
    """Clusters, references, summaries and labels of other layouts.

    ``files`` are the inputs with their layouts. ``left_out`` counts the excluded rows, texts and
    values by reason. ``warnings`` are about doubtful cluster ids; ``command_line_warnings`` are
    the same warnings with options of the command line.

    Examples
    --------
    >>> import fairjudge as fj
    >>> conversion = fj.convert("clusters.json", "labels.jsonl")
    >>> conversion.files[0].layout
    "FairJudge's own clusters"
    >>> [path.name for path in conversion.write("data")]
    ['clusters.jsonl', 'labels.jsonl']
    """

    files: tuple[ReadFile, ...]
    clusters: tuple[Cluster, ...] = ()
    references: tuple[Reference, ...] = ()
    summaries: tuple[Summary, ...] = ()
    labels: tuple[Label, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    command_line_warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Converted({'; '.join(self.counts().values()) or 'nothing'})"

    def records(self) -> dict[Kind, tuple[Record, ...]]:
        """Return the non-empty kinds of records."""
        return {kind: records for kind in KINDS if (records := getattr(self, kind))}

    def records_of(self, kind: str) -> tuple[Record, ...]:
        """Return the records of a kind; for clusters, references are included."""
        if kind == "clusters":
            return (*self.clusters, *self.references)
        return next((records for name, records in self.records().items() if name == kind), ())

    def counts(self) -> dict[Kind, str]:
        """Return a description of the records of each kind."""
        counts = {
            "clusters": _articles("cluster", self.clusters),
            "references": _articles("reference", self.references),
            "summaries": f"{pluralize(len(self.summaries), 'summary', 'summaries')} by "
            + pluralize(len({summary.system for summary in self.summaries}), "system"),
            "labels": f"{pluralize(len(self.labels), 'label')} of "
            + ", ".join(sorted({label.aspect for label in self.labels})),
        }
        return {kind: counts[kind] for kind in self.records()}

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write each kind of records to ``<kind>.jsonl`` in `folder`, and return the files."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot make the folder: {error.strerror or error}"
            raise InputError(problem, path=target) from None
        paths = []
        for kind, records in self.records().items():
            paths.append(target / f"{kind}.jsonl")
            write_jsonl(paths[-1], records)
        return tuple(paths)

    def next_commands(self, folder: str | Path) -> tuple[NextCommand, ...]:
        """Return complete commands for the next steps with the files of `write` in `folder`."""
        target = Path(folder)
        paths = {kind: target / f"{kind}.jsonl" for kind in self.records()}
        data = Data(
            folder=target,
            clusters=paths.get("clusters"),
            references=paths.get("references"),
            summaries=[paths["summaries"]] if "summaries" in paths else [],
            labels=paths.get("labels"),
            label_protocols=label_protocols(self.labels),
            has_several_articles=any(
                len(usable(cluster.articles)[0]) > 1 for cluster in self.clusters
            ),
        )
        return tuple(commands_after_conversion(data))

    @property
    def too_few_to_rank(self) -> str:
        """The reason why the labels cannot show that a judge ranks systems; empty if they can."""
        return ranking_obstacle(self.labels)

    def to_json(self) -> dict[str, Any]:
        """Return layouts, counts and exclusions as JSON."""
        return {
            "files": [
                {"path": file.path, "layout": file.layout, "unused_columns": list(file.unused)}
                for file in self.files
            ],
            **{f"n_{kind}": len(self.records().get(kind, ())) for kind in KINDS},
            "n_articles": sum(
                len(cluster.articles) for cluster in (*self.clusters, *self.references)
            ),
            "left_out": dict(self.left_out),
            "warnings": list(self.command_line_warnings),
            "note": self.too_few_to_rank,
        }


def _articles(noun: str, clusters: Iterable[Cluster]) -> str:
    sizes = [len(cluster.articles) for cluster in clusters]
    low, high = min(sizes, default=0), max(sizes, default=0)
    range_text = f" ({low:,} each)" if low == high else f" ({low:,} to {high:,} each)"
    counts = f"{pluralize(len(sizes), noun)}, {pluralize(sum(sizes), 'article')}"
    return counts + (range_text if len(sizes) > 1 else "")


class RecordCollector:
    """Collects the records of several files; duplicates are dropped."""

    def __init__(self) -> None:
        self.files: list[ReadFile] = []
        self.clusters: dict[str, Cluster] = {}
        self.summaries: dict[tuple[str, str], Summary] = {}
        self.labels: list[Label] = []
        self.left_out: Counter[str] = Counter()

    def add(self, entry: Entry) -> None:
        """Add an entry.

        Raises
        ------
        InputError
            If two clusters have the same id and different articles.
        """
        match entry:
            case Skipped():
                self.left_out[entry.why] += 1
            case Label():
                self.labels.append(entry)
            case Summary():
                first = self.summaries.setdefault((entry.eid, entry.system), entry)
                if first.text != entry.text:
                    self.left_out["a second summary of a cluster by one system"] += 1
            case Cluster():
                self._add_cluster(entry)

    def _add_cluster(self, entry: Cluster) -> None:
        first = self.clusters.setdefault(entry.eid, entry)
        if first.articles != entry.articles:
            raise InputError(
                f"an earlier cluster {entry.eid!r} has other articles: specify the column of "
                "cluster ids with --map eid=COLUMN, or --group COLUMN if each row is an article",
                field="eid",
            )
        if isinstance(entry, Reference):
            self.clusters[entry.eid] = entry

    def result(self) -> Converted:
        """Return the collected records."""
        all_clusters = self.clusters.values()
        return Converted(
            files=tuple(self.files),
            clusters=tuple(
                cluster for cluster in all_clusters if not isinstance(cluster, Reference)
            ),
            references=tuple(cluster for cluster in all_clusters if isinstance(cluster, Reference)),
            summaries=tuple(self.summaries.values()),
            labels=tuple(self.labels),
            left_out=dict(self.left_out),
        )
