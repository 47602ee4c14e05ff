"""Controlled inputs for the bias measures, made of annotated documents, and their annotation."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairjudge.analysis.annotated_files import read_annotated
from fairjudge.analysis.name_files import popular_names, read_census, read_name_lists
from fairjudge.bias.assignments import ControlledInput, Design, controlled_inputs
from fairjudge.bias.controlled import to_cluster
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.templates import make_template
from fairjudge.datasets import read_clusters, write_records
from fairjudge.domain import Undefined
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeInputs:
    """What ``bias inputs -o`` wrote; ``skipped`` documents with the reason."""

    inputs: tuple[ControlledInput, ...]
    n_documents: int
    skipped: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]

    @property
    def skipped_by_reason(self) -> Mapping[str, int]:
        """How many documents were skipped for each reason."""
        return dict(sorted(Counter(why for _, why in self.skipped).items()))

    @property
    def people_by_group(self) -> Mapping[str, int]:
        """How many named people of each group stand in all inputs."""
        counts = Counter(person.group for item in self.inputs for person in item.people)
        return {group: counts[group] for group in self.groups}


def make_inputs(
    documents: Sequence[Path],
    output: Path,
    *,
    design: Design,
    names: Path | None = None,
    census: Path | None = None,
    n_names: int = 100,
    n_variants: int = 20,
    seed: int = 0,
) -> MadeInputs:
    """Make controlled inputs of annotated documents and write them as clusters."""
    check_one_of(names, census)
    name_lists = (
        popular_names(read_census(census), n_names)
        if census is not None
        else read_name_lists(names or Path())
    )
    inputs: list[ControlledInput] = []
    skipped: list[tuple[str, str]] = []
    ids: set[str] = set()
    for path in _files(documents):
        for document in read_annotated(path):
            if document.id in ids:
                raise InputError(f"two documents have the id {document.id!r}", path=path)
            ids.add(document.id)
            # Seeded by the document's name: other documents change nothing.
            digest = hashlib.sha256(document.id.encode("utf-8")).digest()[:8]
            variants = controlled_inputs(
                make_template(document),
                name_lists,
                design=design,
                n_variants=n_variants,
                rng=np.random.default_rng([seed, *digest]),
            )
            if isinstance(variants, Undefined):
                skipped.append((document.id, variants.why))
            else:
                inputs += variants
    if not inputs:
        why = f": {skipped[0][1]}" if skipped else ""
        raise InputError(f"none of {pluralize(len(ids), 'document')} can be used{why}")
    write_records(output, [to_cluster(item) for item in inputs])
    return MadeInputs(
        inputs=tuple(inputs), n_documents=len(ids), skipped=tuple(skipped), groups=name_lists.groups
    )


def annotate(
    clusters: object, output: Path, *, census: Path | None = None, pipeline: str | None = None
) -> dict[str, int]:
    """Mark people in plain clusters, an article a document, and write what `make_inputs` reads."""
    from fairjudge.scorers.annotated_people import annotated

    loaded = read_clusters(clusters)
    genders: dict[str, str] = {}
    if census is not None:
        groups = NameGroups(read_census(census))
        names = {
            name.lower() for frequencies in read_census(census).values() for name in frequencies
        }
        genders = {name: group for name in names if (group := groups.of_first_name(name))}
    texts = [
        (f"{cluster.eid}:{article.aid}", article.content)
        for cluster in loaded
        for article in cluster.articles
        if article.content.strip()
    ]
    rows = list(annotated(texts, pipeline=pipeline, genders=genders))
    write_records(output, rows)
    return {
        "n_documents": len(rows),
        "n_names": sum(len(row["people"]) for row in rows),
        "n_people": sum(len(row["chains"]) for row in rows),
        "n_without_people": sum(not row["people"] for row in rows),
    }


def _files(documents: Sequence[Path]) -> list[Path]:
    """Return the files, those of folders by name: ``*_conll`` as OntoNotes' are called."""
    files: list[Path] = []
    for path in documents:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(p for p in path.rglob("*") if p.name.endswith(("_conll", ".conll")))
        if not inside:
            raise InputError("the folder holds no *_conll or *.conll file", path=path)
        files += inside
    return files


def check_one_of(names: Path | None, census: Path | None) -> None:
    """Raise a `ConfigurationError` unless one of name lists and a census is given."""
    if (names is None) == (census is None):
        raise ConfigurationError("give either --names (your name lists) or --census (by gender)")
