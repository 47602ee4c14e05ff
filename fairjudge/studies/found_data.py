"""The data in files and folders, as far as a study file says something of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairjudge.converting.files import (
    command_for,
    convert_files,
    files_of,
    that_hold_data,
    why_not_read,
)
from fairjudge.converting.folders import text_folders
from fairjudge.converting.layouts import Settings
from fairjudge.datasets import read_clusters, read_labels, read_summaries
from fairjudge.datasets.recognising import recognise
from fairjudge.domain import Cluster, Label, ProtocolName
from fairjudge.engine.build_work import taking_part
from fairjudge.errors import InputError
from fairjudge.reports.next_commands import protocols_of
from fairjudge.text.counting import pluralize
from fairjudge.text.spellings import with_labels

_MAX_VALUES = 8
"""An attribute with more values than this groups nothing by itself."""


@dataclass(slots=True)
class FoundData:
    """The files of each kind, and a summary of their contents.

    Of ``n_buildable`` clusters references can be built; ``labelled`` counts the labelled items of
    each aspect, and ``protocols`` says by which protocol a judge answers as its annotators did.
    ``warnings`` say where ids of converted files are doubtful, ``left_out`` why a file is not used.
    """

    clusters: dict[Path, str] = field(default_factory=dict)
    references: dict[Path, str] = field(default_factory=dict)
    summaries: dict[Path, str] = field(default_factory=dict)
    labels: dict[Path, str] = field(default_factory=dict)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    systems: set[str] = field(default_factory=set)
    n_buildable: int = 0
    labelled: Counter[str] = field(default_factory=Counter)
    protocols: dict[str, ProtocolName] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    left_out: dict[Path, str] = field(default_factory=dict)

    @property
    def has_questions(self) -> bool:
        """Whether there are references, or some can be built."""
        return bool(self.references or self.n_buildable)

    def add(self, path: Path) -> bool:
        """Note a file; return whether it has one of FairJudge's layouts."""
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
                sentence = (
                    f"{pluralize(len(clusters), 'cluster')}, {pluralize(n_articles, 'article')}"
                )
                (self.clusters if kind == "clusters" else self.references)[path] = sentence
                self.attributes |= _attributes(clusters)
                self.n_buildable += sum(taking_part(cluster)[2] is None for cluster in clusters)
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
                self._note(labels)
                aspects = ", ".join(sorted({label.aspect for label in labels}))
                self.labels[path] = f"{pluralize(len(labels), 'label')} on {aspects}"
            case _:
                self.left_out[path] = f"{kind}: a result, no data of a study"
        return True

    def _note(self, labels: Sequence[Label]) -> None:
        """Note what `labels` are on; only the first file of labels is the study's."""
        if self.labelled:
            return
        items = {
            (label.aspect, label.eid, label.system, label.system_a, label.system_b)
            for label in labels
        }
        self.labelled.update(aspect for aspect, *_ in items)
        self.protocols = protocols_of(labels)


def find_data(
    places: Sequence[Path], *, converted: Path, settings: Settings | None = None
) -> FoundData:
    """Return what the files, and the files right in the folders, of `places` hold.

    Files in other layouts are converted to FairJudge's formats in the folder `converted`, as
    `settings` say.
    """
    settings = settings or Settings()
    found_data = FoundData()
    paths, texts, left_out = _files(places)
    other_paths = [path for path in paths if not found_data.add(path)]
    convertible = that_hold_data(other_paths, settings)
    left_out |= {path: why_not_read(path) for path in other_paths if path not in convertible}
    found_data.left_out |= left_out
    if convertible or texts:
        data = convert_files([*convertible, *texts], settings)
        found_data.warnings = data.command_line_warnings
        for path in data.write(converted):
            found_data.add(path)
    if not found_data.clusters and not found_data.references:
        raise InputError("no clusters or references here: see docs/your-data.md", path=places[0])
    return found_data


def _files(places: Iterable[Path]) -> tuple[list[Path], list[Path], dict[Path, str]]:
    """Return data files, folders of texts, and why other files are left out."""
    files: list[Path] = []
    texts: list[Path] = []
    left_out: dict[Path, str] = {}
    for place in places:
        if not place.exists():
            raise InputError("no such file or folder", path=place)
        if not place.is_dir():
            files.append(place)
            continue
        data_files, skipped_files = files_of(place)
        of_texts = text_folders(place, alone=not data_files)
        files += data_files
        texts += of_texts
        paths = {place / name: why for name, why in skipped_files.items()}
        left_out |= {path: why for path, why in paths.items() if not {path, place} & {*of_texts}}
    return files, texts, left_out


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
