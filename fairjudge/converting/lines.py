"""Files of lines that belong together, as ``test.src`` and ``test.tgt``: a text on each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fairjudge.converting.columns import DOCUMENTS, OUTPUTS, TABLES, TARGETS, system_of
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.records import Entry
from fairjudge.converting.roles import REFERENCE
from fairjudge.converting.texts import articles_of, cluster, summary
from fairjudge.datasets._source import read_lines
from fairjudge.errors import InputError
from fairjudge.importing.records import Skipped
from fairjudge.text.counting import pluralize


def take_lines(paths: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split `paths` into files of lines, documents first, and other files.

    Where documents are given alone, the ``.tgt`` that lies beside them belongs to them.

    Raises
    ------
    InputError
        There are two files of documents.
    """
    sources = [path for path in paths if _is(path, DOCUMENTS)]
    if not sources:
        return (), tuple(paths)
    if len(sources) > 1:
        raise InputError("a second file of documents: convert one at a time", path=sources[1])
    lines = [path for path in paths if path not in sources and _is(path, (*TARGETS, *OUTPUTS))]
    other_paths = tuple(path for path in paths if path not in {*sources, *lines})
    beside = _beside(sources[0])
    if not lines and beside is not None:
        lines = [beside]
    return (sources[0], *lines), other_paths


def source_of(paths: Sequence[Path]) -> Path | None:
    """Return the first file of documents by its name."""
    return next((path for path in paths if _is(path, DOCUMENTS)), None)


def why_not_of(path: Path, source: Path) -> str | None:
    """Say why a file does not hold a summary for each line of `source`; None where it does."""
    if not _is(path, OUTPUTS):
        return "no file of data by its name"
    try:
        return _other_number(read_lines(path), read_lines(source), source)
    except InputError as error:
        return error.problem


def _other_number(texts: Sequence[str], documents: Sequence[str], source: Path) -> str | None:
    if len(texts) == len(documents):
        return None
    return f"{pluralize(len(texts), 'line')} for the {len(documents)} of {source.name}"


def is_lines(path: Path) -> bool:
    """Say whether a file is one of lines by its name, without another beside it."""
    return _is(path, (*DOCUMENTS, *TARGETS))


def _is(path: Path, names: tuple[str, ...]) -> bool:
    parts = path.name.lower().split(".")[1:]
    return not (path.is_dir() or {*TABLES} & {*parts}) and any(part in names for part in parts)


def _beside(source: Path) -> Path | None:
    for source_mark, target_mark in zip(DOCUMENTS, TARGETS, strict=True):
        path = source.with_name(source.name.replace(f".{source_mark}", f".{target_mark}"))
        if path != source and path.is_file():
            return path
    return None


def layout_of(paths: Sequence[Path], settings: Settings) -> Layout:
    """Return how files of lines are read; the first holds the documents."""
    first, *outputs = paths
    output_names = [f"{path.name} by {_system(path, settings)!r}" for path in outputs]
    return Layout(
        name=f"one cluster per line of {first.name}"
        + (f", summaries on the same lines of {', '.join(output_names)}" if output_names else ""),
        gives=frozenset({"clusters", "summaries"} if outputs else {"clusters"}),
        entries=lambda: _entries(first, outputs, settings),
        numbered=len(read_lines(first)),
    )


def _system(path: Path, settings: Settings) -> str:
    if _is(path, TARGETS):
        return REFERENCE
    return settings.system or system_of(path)


def _entries(first: Path, outputs: Sequence[Path], settings: Settings) -> Iterator[Entry]:
    documents = read_lines(first)
    for number, line in enumerate(documents, 1):
        articles = articles_of(line, split=settings.split)
        if articles:
            yield cluster(str(number), articles)
        else:
            yield Skipped(line=number, why="a cluster without an article that has text")
    for path in outputs:
        texts = read_lines(path)
        if (problem := _other_number(texts, documents, first)) is not None:
            raise InputError(problem, path=path)
        for number, text in enumerate(texts, 1):
            yield summary(str(number), _system(path, settings), text)
