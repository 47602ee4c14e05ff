"""The input of ``fairjudge calibrate align``: labelled summaries, split by document."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations
from math import fsum
from typing import Any, TypeAlias, get_args

import numpy as np

from fairjudge.aligning.audits import groups_by_attribute
from fairjudge.aligning.candidates import KINDS, CandidateKind, RatedItem
from fairjudge.aligning.decision import PartName, check_enough, split_documents
from fairjudge.aligning.items import LabelReading
from fairjudge.analysis.label_lines import locate_label_errors
from fairjudge.calibration.labels import SIGNS, Labels, item_key
from fairjudge.calibration.scales import infer_scale
from fairjudge.datasets import (
    Loaded,
    check_distinct,
    match_summaries,
    read_clusters,
    read_references,
)
from fairjudge.domain import Label, ProtocolName, Record, Reference, Summary
from fairjudge.engine.runs import digest
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.judges.criteria import fence_articles, fence_questions
from fairjudge.options.judging import JudgeOptions
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import Match, harmonize_ids, match
from fairjudge.run.material import Sources

Item: TypeAlias = tuple[str, str]
"""Eid and system of a summary."""
_Pair: TypeAlias = tuple[str, str, str]
"""Eid and both systems of a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOptions:
    """Options of ``fairjudge calibrate align``.

    ``judging`` is the old judge, ``kinds`` are the kinds of candidates to try, ``rewordings`` is
    the number of anchor sets to request, and ``seed`` is for the split and the intervals.
    ``attributes`` are attributes of the articles by which the audits group documents.
    """

    judging: JudgeOptions
    kinds: tuple[CandidateKind, ...] = KINDS
    attributes: tuple[str, ...] = ()
    rewordings: int = 2
    reading: LabelReading = field(default_factory=LabelReading)
    seed: int = 0
    level: float = 0.95
    reopen: bool = False

    def __post_init__(self) -> None:
        unknown_kinds = sorted(set(self.kinds) - set(KINDS))
        if unknown_kinds or not self.kinds:
            raise ConfigurationError(f"candidates: choose from {KINDS}, got {self.kinds!r}")
        if not 1 <= self.rewordings <= 10:
            raise ConfigurationError(f"rewordings: expected 1 to 10, found {self.rewordings}")
        if not PROTOCOLS[self.judging.plan().protocol].paired:
            return
        if "scale" in self.kinds:
            raise ConfigurationError(
                "pairs have only one scale (first, second, tie): use the candidates 'anchors' and "
                "'examples'"
            )
        if self.reading.scale is not None:
            raise ConfigurationError("--label-scale only applies to ratings, not to preferences")


def kinds_tried(kinds: Iterable[Any] | None, judging: JudgeOptions) -> tuple[Any, ...]:
    """Return the distinct `kinds` of candidates, by default all that apply to the protocol."""
    if kinds is not None:
        return tuple(dict.fromkeys(kinds))
    paired = PROTOCOLS[judging.plan().protocol].paired
    return tuple(kind for kind in KINDS if kind != "scale" or not paired)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignMaterial:
    """Sources and labelled summaries, split into parts.

    ``attributes`` maps the name of an attribute to the group of each document.
    """

    sources: Sources
    summaries: tuple[Loaded[Summary], ...]
    labels: tuple[Label, ...]
    parts: Mapping[PartName, tuple[str, ...]]
    protocol: ProtocolName
    scale: tuple[float, float] | None
    joined: Match[tuple[str, str]]
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """SHA-256 of all labelled summaries and their labels; independent of the split."""
        all_summaries = [summary for file in self.summaries for summary in file]
        return _records_hash(all_summaries, self.labels)

    def sha256_of(self, part: PartName) -> str:
        """Return a hash of a part's items and labels."""
        return _records_hash(self.summaries_of(part), self.labels_of(part))

    def documents_of(self, part: PartName) -> frozenset[str]:
        """Return the documents of a part."""
        return frozenset(self.parts[part])

    def loaded_summaries(self, part: PartName) -> tuple[Loaded[Summary], ...]:
        """Return the labelled summaries of a part, by file."""
        documents = self.documents_of(part)
        subsets = (
            _select(file, [summary.eid in documents for summary in file]) for file in self.summaries
        )
        return tuple(file for file in subsets if len(file))

    def summaries_of(self, part: PartName) -> tuple[Summary, ...]:
        """Return the labelled summaries of a part."""
        return tuple(summary for file in self.loaded_summaries(part) for summary in file)

    def labels_of(self, part: PartName) -> tuple[Label, ...]:
        """Return the human labels of a part."""
        documents = self.documents_of(part)
        return tuple(label for label in self.labels if label.eid in documents)

    def sizes(self) -> dict[str, dict[str, int]]:
        """Return the number of documents and labelled items of each part."""
        return {
            part: {"documents": len(self.documents_of(part)), "items": self.n_items(part)}
            for part in get_args(PartName)
        }

    def n_items(self, part: PartName) -> int:
        """Return the number of labelled summaries or pairs of a part."""
        return len({item_key(label)[0] for label in self.labels_of(part)})

    def rated(self) -> tuple[RatedItem, ...]:
        """Return the items of the examples part with their mean rating and notes."""
        examples = self.labels_of("examples")
        if PROTOCOLS[self.protocol].paired:
            summaries = self.summaries_of("examples")
            return preferred_pairs(examples, summaries, self._materials(), self._articles())
        by_item: dict[Item, list[Label]] = defaultdict(list)
        for label in examples:
            by_item[label.eid, str(label.system)].append(label)
        ratings = [float(label.value) for label in (*examples, *self.labels_of("development"))]
        low, high = self.scale or infer_scale(np.array(ratings), self.protocol)
        materials, articles = self._materials(), self._articles()
        items = []
        for summary in self.summaries_of("examples"):
            labels = by_item[summary.eid, summary.system]
            mean = fsum(float(label.value) for label in labels) / len(labels)
            items.append(
                RatedItem(
                    text=summary.text,
                    value=mean,
                    n_labels=len(labels),
                    share=min(1.0, max(0.0, (mean - low) / (high - low))),
                    notes=tuple(filter(None, map(note_of, labels))),
                    material=materials.get(summary.eid, ""),
                    articles=articles.get(summary.eid, ()),
                )
            )
        return tuple(items)

    def _materials(self) -> Mapping[str, str]:
        """Return each reference's questions and answers."""
        return {
            source.eid: "\n\n".join(fence_questions(source.question_answers).texts)
            for source in self.sources
            if isinstance(source, Reference)
        }

    def _articles(self) -> Mapping[str, tuple[str, ...]]:
        """Return the articles of each cluster that is not a reference."""
        return {
            source.eid: fence_articles(source.articles).texts
            for source in self.sources
            if not isinstance(source, Reference)
        }


def read_sources(source: object, judging: JudgeOptions, *, skip_bad: bool = False) -> Sources:
    """Read references, or clusters if the aspect needs no questions, from a path or values."""
    if judging.needs_questions:
        return read_references(source, skip_bad=skip_bad)
    return read_clusters(source, skip_bad=skip_bad, argument="references")


def prepare(
    sources: Sources,
    summaries: Sequence[Loaded[Summary]],
    labels: Loaded[Label],
    *,
    options: AlignOptions,
) -> AlignMaterial:
    """Select the summaries with labels of the aspect, and split them by document."""
    judging = options.judging
    files = [match_summaries(file, sources) for file in summaries]
    check_distinct(files)
    records = [summary for file in files for summary in file]
    summary_keys = {(summary.eid, summary.system) for summary in records}
    protocol = judging.plan().protocol
    usable_labels = _labels_of_aspect(labels, records, options=options)
    labelled_summaries = [
        (label.eid, name) for label in usable_labels for name in systems_of(label)
    ]
    summary_match = match(
        labelled_summaries, summary_keys, names=("labelled summary", "summary"), complete=("left",)
    )
    summary_match.check(path=labels.path)
    if PROTOCOLS[protocol].paired:
        usable_labels = preferences(usable_labels, summary_keys)
    else:
        usable_labels = tuple(
            label for label in usable_labels if (label.eid, label.system) in summary_keys
        )
    if not usable_labels:
        unit = "a pair of summaries" if PROTOCOLS[protocol].paired else "a whole summary"
        raise InputError(
            f"no label of {unit} on {judging.aspect!r} matches the summaries (aspects: "
            f"{', '.join(sorted(Counter(label.aspect for label in labels))) or 'none'})",
            path=labels.path,
        )
    items = {(label.eid, name) for label in usable_labels for name in systems_of(label)}
    align_material = AlignMaterial(
        sources=sources,
        summaries=tuple(
            _select(file, [(summary.eid, summary.system) in items for summary in file])
            for file in summaries
        ),
        labels=usable_labels,
        parts=split_documents((label.eid for label in usable_labels), seed=options.seed),
        protocol=protocol,
        scale=options.reading.scale,
        joined=summary_match,
        attributes={
            name: groups_by_attribute(sources.records, name) for name in options.attributes
        },
    )
    check_enough(align_material.n_items("development"))
    return align_material


def _labels_of_aspect(
    labels: Loaded[Label], summaries: Sequence[Summary], *, options: AlignOptions
) -> tuple[Label, ...]:
    """Return the human labels of the aspect, with the ids of `summaries` and a checked scale."""
    judging, reading = options.judging, options.reading
    selected_labels = tuple(
        label
        for label in harmonize_ids(labels, summaries)
        if label.aspect == judging.aspect
        and label.unit == "summary"
        and not label.adjudicated
        and any(fnmatchcase(label.annotator, pattern) for pattern in reading.annotators)
    )
    protocol = judging.plan().protocol
    with locate_label_errors(labels):
        # Check the scale before any request to a model.
        for aspect_labels in Labels.by_aspect(selected_labels, ("*",)).values():
            summary_labels, _ = aspect_labels.for_unit("summary", paired=PROTOCOLS[protocol].paired)
            summary_labels.scale(protocol, reading.scale)
    return selected_labels


def _select(file: Loaded[Summary], keep: Sequence[bool]) -> Loaded[Summary]:
    rows = [row for row, is_kept in enumerate(keep) if is_kept]
    return replace(
        file,
        records=tuple(file.records[row] for row in rows),
        lines=tuple(file.lines[row] for row in rows),
    )


def _records_hash(*records: Iterable[Record]) -> str:
    """Return a hash of records, independent of their order in the files."""
    parts = [sorted(digest([entry]) for entry in record) for record in records]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def preferences(labels: Sequence[Label], items: Collection[Item]) -> tuple[Label, ...]:
    """Return the labels of pairs whose summaries are both in `items`.

    If there are none, derive preferences from ratings: an annotator prefers the higher one.
    """
    pairs = [label for label in labels if label.system is None]
    if not pairs:
        return tuple(
            _from_ratings([label for label in labels if (label.eid, label.system) in items])
        )
    for label in pairs:
        if not isinstance(label.value, str):
            raise InputError(
                f"{label.annotator!r} gave {label.value!r} for a pair: expected 'a', 'b' or 'tie'",
                field="value",
            )
    return tuple(
        pair for pair in pairs if all((pair.eid, name) in items for name in systems_of(pair))
    )


def systems_of(label: Label) -> tuple[str, ...]:
    """Return the labelled system, or both systems of a pair."""
    systems = (label.system,) if label.system is not None else (label.system_a, label.system_b)
    return tuple(map(str, systems))


def _from_ratings(labels: Iterable[Label]) -> Iterator[Label]:
    ratings: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    aspects = {}
    for label in labels:
        ratings[label.eid, label.annotator][str(label.system)].append(float(label.value))
        aspects[label.eid, label.annotator] = label.aspect
    for (eid, annotator), values in ratings.items():
        means = {system: fsum(points) / len(points) for system, points in values.items()}
        for a, b in combinations(sorted(means), 2):
            yield Label(
                eid=eid,
                system_a=a,
                system_b=b,
                aspect=aspects[eid, annotator],
                annotator=annotator,
                value="tie" if means[a] == means[b] else "a" if means[a] > means[b] else "b",
            )


def preferred_pairs(
    labels: Iterable[Label],
    summaries: Iterable[Summary],
    materials: Mapping[str, str],
    articles: Mapping[str, tuple[str, ...]],
) -> tuple[RatedItem, ...]:
    """Return each labelled pair in the order seen by its first annotator, with the mean preference.

    Only notes of annotators who saw the pair in this order are kept, since notes may refer to the
    first or the second.
    """
    texts = {(summary.eid, summary.system): summary.text for summary in summaries}
    values_by_pair: dict[_Pair, list[tuple[_Pair, float, str]]] = defaultdict(list)
    for label in labels:
        a, b = systems_of(label)
        pair, sign = (label.eid, a, b), 1.0
        if (label.model_extra or {}).get("order") == "ba":
            pair, sign = (label.eid, b, a), -1.0
        values_by_pair[label.eid, min(a, b), max(a, b)].append(
            (pair, sign * SIGNS[str(label.value)], note_of(label))
        )
    items = []
    for entries in values_by_pair.values():
        first_pair = entries[0][0]
        mean = fsum(value if pair == first_pair else -value for pair, value, _ in entries) / len(
            entries
        )
        eid, first, second = first_pair
        items.append(
            RatedItem(
                text=texts[eid, first],
                second=texts[eid, second],
                value=mean,
                share=(mean + 1.0) / 2.0,
                n_labels=len(entries),
                notes=tuple(note for pair, _, note in entries if note and pair == first_pair),
                material=materials.get(eid, ""),
                articles=articles.get(eid, ()),
            )
        )
    return tuple(items)


def note_of(label: Label) -> str:
    """Return the annotator's note on a label, which ``annotate`` stores as ``note``."""
    note = (label.model_extra or {}).get("note")
    return note.strip() if isinstance(note, str) else ""
