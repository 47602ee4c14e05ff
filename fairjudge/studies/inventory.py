"""Inventory of data files and folders, for drafting a study file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairjudge.converting.files import (
    command_for,
    convert_files,
    data_files_of,
    layout_problem,
    paths_with_layout,
)
from fairjudge.converting.folders import text_folders
from fairjudge.converting.layouts import Settings
from fairjudge.datasets import read_clusters, read_labels, read_summaries
from fairjudge.datasets.recognising import recognise
from fairjudge.domain import Cluster, Label, ProtocolName
from fairjudge.engine.build_work import select_articles
from fairjudge.errors import InputError
from fairjudge.reports.next_commands import label_protocols
from fairjudge.text.counting import pluralize
from fairjudge.text.spellings import with_labels

_MAX_VALUES = 8
"""An attribute with more values than this is not used to group articles."""


@dataclass(slots=True)
class DataInventory:
    """The files of each kind, each with a description of its content.

    ``n_buildable`` is the number of clusters whose references can be built, ``n_labelled`` the
    number of labelled items per aspect, and ``protocols`` the protocol that matches the labels of
    an aspect. ``warnings`` concern doubtful ids of converted files; ``skip_reasons`` are the
    reasons why files are not used.
    """

    clusters: dict[Path, str] = field(default_factory=dict)
    references: dict[Path, str] = field(default_factory=dict)
    summaries: dict[Path, str] = field(default_factory=dict)
    labels: dict[Path, str] = field(default_factory=dict)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    systems: set[str] = field(default_factory=set)
    n_buildable: int = 0
    n_labelled: Counter[str] = field(default_factory=Counter)
    protocols: dict[str, ProtocolName] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    skip_reasons: dict[Path, str] = field(default_factory=dict)

    @property
    def has_questions(self) -> bool:
        """Whether there are references, or some can be built."""
        return bool(self.references or self.n_buildable)

    def add(self, path: Path) -> bool:
        """Add a file; return whether it has one of FairJudge's layouts."""
        try:
            kind = recognise(path).kind
        except InputError:
            return False
        if command_for(path, kind) is not None:
            return False
        match kind:
            case "clusters" | "references":
                clusters = read_clusters(path).records
                n_articles = sum(len(cluster.articles) for cluster in clusters)
                description = (
                    f"{pluralize(len(clusters), 'cluster')}, {pluralize(n_articles, 'article')}"
                )
                (self.clusters if kind == "clusters" else self.references)[path] = description
                self.attributes |= _attributes(clusters)
                self.n_buildable += sum(select_articles(cluster)[2] is None for cluster in clusters)
            case "summaries":
                summaries = read_summaries(path).records
                systems = {summary.system for summary in summaries}
                self.systems |= systems
                self.summaries[path] = (
                    f"{pluralize(len(summaries), 'summary', 'summaries')} by "
                    f"{pluralize(len(systems), 'system')}"
                )
            case "labels":
                labels = read_labels(path).records
                self._add_labels(labels)
                aspects = ", ".join(sorted({label.aspect for label in labels}))
                self.labels[path] = f"{pluralize(len(labels), 'label')} on {aspects}"
            case _:
                self.skip_reasons[path] = f"{kind}: a result, not input data"
        return True

    def _add_labels(self, labels: Sequence[Label]) -> None:
        """Count the labelled items; a study uses only the first file of labels."""
        if self.n_labelled:
            return
        items = {
            (label.aspect, label.eid, label.system, label.system_a, label.system_b)
            for label in labels
        }
        self.n_labelled.update(aspect for aspect, *_ in items)
        self.protocols = label_protocols(labels)


def find_data(
    inputs: Sequence[Path], *, output_folder: Path, settings: Settings | None = None
) -> DataInventory:
    """Return the inventory of `inputs`: files, and folders of files (without their subfolders).

    Files in other layouts are converted with `settings` to FairJudge's formats in `output_folder`.
    """
    settings = settings or Settings()
    inventory = DataInventory()
    paths, text_paths, skip_reasons = _files(inputs)
    other_paths = [path for path in paths if not inventory.add(path)]
    convertible = paths_with_layout(other_paths, settings)
    skip_reasons |= {path: layout_problem(path) for path in other_paths if path not in convertible}
    inventory.skip_reasons |= skip_reasons
    if convertible or text_paths:
        data = convert_files([*convertible, *text_paths], settings)
        inventory.warnings = data.command_line_warnings
        for path in data.write(output_folder):
            inventory.add(path)
    if not inventory.clusters and not inventory.references:
        raise InputError("no clusters or references here: see docs/your-data.md", path=inputs[0])
    return inventory


def _files(inputs: Iterable[Path]) -> tuple[list[Path], list[Path], dict[Path, str]]:
    """Return data files, folders of texts, and the reasons why other files are skipped."""
    files: list[Path] = []
    text_paths: list[Path] = []
    skip_reasons: dict[Path, str] = {}
    for path in inputs:
        if not path.exists():
            raise InputError("no such file or folder", path=path)
        if not path.is_dir():
            files.append(path)
            continue
        data_files, skipped_files = data_files_of(path)
        new_text_paths = text_folders(path, is_only_data=not data_files)
        files += data_files
        text_paths += new_text_paths
        skip_reasons |= {
            path / name: reason
            for name, reason in skipped_files.items()
            if not {path / name, path} & {*new_text_paths}
        }
    return files, text_paths, skip_reasons


def _attributes(clusters: Sequence[Cluster]) -> dict[str, list[str]]:
    """Return the attributes that group articles, each with its values."""
    values: dict[str, Counter[str]] = {}
    for cluster in with_labels(clusters):
        for article in cluster.articles:
            for name, value in article.attributes.items():
                values.setdefault(name, Counter())[str(value)] += 1
    return {
        name: sorted(counts) for name, counts in values.items() if 2 <= len(counts) <= _MAX_VALUES
    }
