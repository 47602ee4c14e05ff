"""Make controlled inputs for the bias measures from annotated documents; annotate documents."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.analysis.name_files import popular_names, read_census, read_name_lists
from fairjudge.bias.annotated import (
    AnnotatedDocument,
    ContentWord,
    Range,
    Word,
    with_spaces,
)
from fairjudge.bias.assignments import ControlledInput, Design, controlled_inputs
from fairjudge.bias.controlled import to_cluster
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.templates import make_template
from fairjudge.datasets import read_clusters, write_records
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import file_extension
from fairjudge.datasets.conll2012 import read_conll2012
from fairjudge.domain import Undefined
from fairjudge.errors import ConfigurationError, InputError, error_location
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeInputs:
    """The result of ``bias inputs -o``; ``skipped`` has documents with the reason."""

    inputs: tuple[ControlledInput, ...]
    n_documents: int
    skipped: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]

    @property
    def skipped_by_reason(self) -> Mapping[str, int]:
        """The number of skipped documents by reason."""
        return dict(sorted(Counter(reason for _, reason in self.skipped).items()))

    @property
    def people_by_group(self) -> Mapping[str, int]:
        """The number of people with a name in all inputs, by group."""
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
    """Make controlled inputs from annotated documents and write them as clusters."""
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
            # Seeded by the document's id, so that results do not depend on other documents.
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
        reason = f": {skipped[0][1]}" if skipped else ""
        raise InputError(f"none of {pluralize(len(ids), 'document')} can be used{reason}")
    write_records(output, [to_cluster(item) for item in inputs])
    return MadeInputs(
        inputs=tuple(inputs), n_documents=len(ids), skipped=tuple(skipped), groups=name_lists.groups
    )


def annotate(
    clusters: object,
    output: str | Path,
    *,
    census: str | Path | None = None,
    pipeline: str | None = None,
) -> dict[str, int]:
    """Annotate people in clusters, one document per article, and write input for `make_inputs`."""
    from fairjudge.scorers.annotated_people import annotate_documents

    loaded = read_clusters(clusters)
    genders: dict[str, str] = {}
    if census is not None:
        first_names = read_census(census)
        groups = NameGroups(first_names)
        names = {name.lower() for frequencies in first_names.values() for name in frequencies}
        genders = {name: group for name in names if (group := groups.of_first_name(name))}
    texts = [
        (f"{cluster.eid}:{article.aid}", article.content)
        for cluster in loaded
        for article in cluster.articles
        if article.content.strip()
    ]
    rows = list(annotate_documents(texts, pipeline=pipeline, genders=genders))
    write_records(output, rows)
    return {
        "n_documents": len(rows),
        "n_names": sum(len(row["people"]) for row in rows),
        "n_people": sum(len(row["chains"]) for row in rows),
        "n_without_people": sum(not row["people"] for row in rows),
    }


def _files(documents: Sequence[Path]) -> list[Path]:
    """Return the files, including ``*_conll`` and ``*.conll`` files in folders."""
    files: list[Path] = []
    for path in documents:
        if not path.is_dir():
            files.append(path)
            continue
        conll_files = sorted(p for p in path.rglob("*") if p.name.endswith(("_conll", ".conll")))
        if not conll_files:
            raise InputError("the folder holds no *_conll or *.conll file", path=path)
        files += conll_files
    return files


def check_one_of(names: object, census: object) -> None:
    """Raise `ConfigurationError` unless exactly one of name lists and census is given."""
    if (names is None) == (census is None):
        raise ConfigurationError("pass either --names (your name lists) or --census (by gender)")


def read_annotated(path: str | Path) -> tuple[AnnotatedDocument, ...]:
    """Read annotated documents.

    ``.json`` and ``.jsonl`` files have objects with ``id``, ``tokens`` (strings) and ``people``
    (pairs ``[start, end]`` of token positions, end-exclusive). Optional are ``chains`` (lists of
    such pairs), ``tags`` (Penn tags), ``text`` (contains the tokens in order, with spacing) and
    ``content_words`` (objects with ``span``, ``people``, ``female``, ``male`` and optionally
    ``neutral``). Other files are read as CoNLL-2012. Raises `InputError`, with the location, for
    malformed files.
    """
    path = Path(path)
    if file_extension(path) not in {".json", ".jsonl"}:
        return read_conll2012(path)
    documents = []
    for row in read_rows(path, csv_allowed=False):
        if row.problem is not None:
            raise InputError(row.problem, path=path, line=row.line, field=row.field)
        with error_location(path=path, line=row.line):
            documents.append(_from_json(row.value))
    return tuple(documents)


def _from_json(value: Any) -> AnnotatedDocument:
    if not isinstance(value, dict):
        raise InputError("expected an object with 'id', 'tokens' and 'people'")
    name = value.get("id")
    if not isinstance(name, str) or not name:
        raise InputError("expected a non-empty string", field="id")
    tokens = _strings(value, "tokens")
    tags = _strings(value, "tags") if value.get("tags") is not None else [""] * len(tokens)
    if len(tags) != len(tokens):
        raise InputError(f"expected {len(tokens)} tags, found {len(tags)}", field="tags")
    chains = value.get("chains") or []
    if not isinstance(chains, list):
        raise InputError("expected a list of chains", field="chains")
    return AnnotatedDocument(
        id=name,
        words=_words(tokens, tags, value.get("text")),
        people=_ranges(value.get("people"), "people"),
        chains=tuple(_ranges(chain, "chains") for chain in chains),
        content_words=tuple(map(_content_word, value.get("content_words") or ())),
    )


def _content_word(value: Any) -> ContentWord:
    fields = value if isinstance(value, dict) else {}
    forms = {name: fields[name] for name in ("female", "male", "neutral") if fields.get(name)}
    if not {"female", "male"} <= forms.keys() or not all(
        isinstance(form, str) for form in forms.values()
    ):
        raise InputError(
            "expected an object with 'span', 'people', 'female' and 'male'", field="content_words"
        )
    (span,) = _ranges([fields.get("span")], "content_words.span")
    people = _ranges(fields.get("people"), "content_words.people")
    return ContentWord(span=span, people=people, **forms)


def _strings(value: dict[str, Any], field: str) -> list[str]:
    strings = value.get(field)
    if not isinstance(strings, list) or not all(isinstance(text, str) and text for text in strings):
        raise InputError("expected a list of non-empty strings", field=field)
    return strings


def _ranges(value: Any, field: str) -> tuple[Range, ...]:
    if not isinstance(value, list):
        raise InputError("expected a list of [start, end] pairs", field=field)
    ranges = []
    for pair in value:
        is_range = isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair)
        if not is_range:
            raise InputError(f"expected [start, end] token positions, found {pair!r}", field=field)
        ranges.append(Range(start=pair[0], end=pair[1]))
    return tuple(ranges)


def _words(tokens: list[str], tags: list[str], text: Any) -> tuple[Word, ...]:
    if text is None:
        return with_spaces(tuple(zip(tokens, tags, strict=True)))
    if not isinstance(text, str):
        raise InputError("expected a string", field="text")
    words, position = [], 0
    for token, tag in zip(tokens, tags, strict=True):
        start = text.find(token, position)
        if start < 0 or text[position:start].strip():
            raise InputError(f"token {token!r} does not come next in the text", field="text")
        words.append(Word(text=token, before=text[position:start], tag=tag))
        position = start + len(token)
    if text[position:].strip():
        raise InputError(f"the tokens end before {text[position:][:20]!r}", field="text")
    return tuple(words)
