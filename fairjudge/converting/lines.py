"""Files with one text per line that belong together, such as ``test.src`` and ``test.tgt``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fairjudge.converting.columns import DOCUMENTS, OUTPUTS, TABLES, TARGETS, system_name
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.records import Entry
from fairjudge.converting.roles import REFERENCE
from fairjudge.converting.texts import articles_of, cluster, summary
from fairjudge.datasets._source import read_lines
from fairjudge.errors import InputError
from fairjudge.importing.records import Skipped
from fairjudge.text.counting import pluralize

NOT_DATA = "not a data file by its name"


def split_line_files(paths: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split `paths` into files of lines, documents first, and other files.

    For documents alone, the ``.tgt`` file of the same name is added, if it exists.

    Raises
    ------
    InputError
        If there are two files of documents.
    """
    sources = [path for path in paths if _has_extension(path, DOCUMENTS)]
    if not sources:
        return (), tuple(paths)
    if len(sources) > 1:
        raise InputError("a second file of documents: convert one at a time", path=sources[1])
    lines = [
        path for path in paths if path not in sources and _has_extension(path, (*TARGETS, *OUTPUTS))
    ]
    other_paths = tuple(path for path in paths if path not in {*sources, *lines})
    target_path = _target_file(sources[0])
    if not lines and target_path is not None:
        lines = [target_path]
    return (sources[0], *lines), other_paths


def source_of(paths: Sequence[Path]) -> Path | None:
    """Return the first path whose name is that of a file of documents, or None."""
    return next((path for path in paths if _has_extension(path, DOCUMENTS)), None)


def line_file_problem(path: Path, source: Path) -> str | None:
    """Return why a file does not have a summary per line of `source`, None if it has."""
    if not _has_extension(path, OUTPUTS):
        return NOT_DATA
    try:
        return _length_problem(read_lines(path), read_lines(source), source)
    except InputError as error:
        return error.problem


def _length_problem(texts: Sequence[str], documents: Sequence[str], source: Path) -> str | None:
    if len(texts) == len(documents):
        return None
    return f"{pluralize(len(texts), 'line')} for the {len(documents)} of {source.name}"


def is_line_file(path: Path) -> bool:
    """Return whether a file has one text per line, by its name alone."""
    return _has_extension(path, (*DOCUMENTS, *TARGETS))


def _has_extension(path: Path, names: tuple[str, ...]) -> bool:
    parts = path.name.lower().split(".")[1:]
    return not (path.is_dir() or {*TABLES} & {*parts}) and any(part in names for part in parts)


def _target_file(source: Path) -> Path | None:
    for source_mark, target_mark in zip(DOCUMENTS, TARGETS, strict=True):
        path = source.with_name(source.name.replace(f".{source_mark}", f".{target_mark}"))
        if path != source and path.is_file():
            return path
    return None


def layout_of(paths: Sequence[Path], settings: Settings) -> Layout:
    """Return the layout of files of lines, of which the first has the documents."""
    first, *outputs = paths
    output_names = [f"{path.name} by {_system(path, settings)!r}" for path in outputs]
    return Layout(
        name=f"one cluster per line of {first.name}"
        + (f", summaries on the same lines of {', '.join(output_names)}" if output_names else ""),
        kinds=frozenset({"clusters", "summaries"} if outputs else {"clusters"}),
        entries=lambda: _entries(first, outputs, settings),
        n_numbered=len(read_lines(first)),
    )


def _system(path: Path, settings: Settings) -> str:
    if _has_extension(path, TARGETS):
        return REFERENCE
    return settings.system or system_name(path)


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
        if (problem := _length_problem(texts, documents, first)) is not None:
            raise InputError(problem, path=path)
        for number, text in enumerate(texts, 1):
            yield summary(str(number), _system(path, settings), text)
