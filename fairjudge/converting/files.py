"""Convert files in any layout to clusters, references, summaries and labels."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairjudge.converting import folders, lines, published, rows
from fairjudge.converting.id_warnings import labels_without_texts, possible_texts, warnings_of
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.nesting import check_one_list, unnest
from fairjudge.converting.ratings import check_words, possible_ratings
from fairjudge.converting.records import Converted, Entry, ReadFile, RecordCollector
from fairjudge.converting.rows import N_SAMPLE
from fairjudge.converting.together import (
    check_numbers,
    columns_of,
    restrict_to_columns,
    settings_by_file,
    shared_keys,
)
from fairjudge.datasets._loading import read_records
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import file_extension
from fairjudge.datasets._tables import TEXT_TABLES, is_data_set
from fairjudge.datasets.readers import CLUSTERS, LABELS, REFERENCES, SUMMARIES
from fairjudge.datasets.recognising import record_kind
from fairjudge.errors import ConfigurationError, FairJudgeError, InputError
from fairjudge.files import file_mode
from fairjudge.importing import label_studio, realsumm
from fairjudge.importing.formats import import_file, recognise_format, word_values
from fairjudge.importing.records import Skipped
from fairjudge.importing.sources import Source

_OURS: Mapping[str, Any] = {kind.name: kind for kind in (CLUSTERS, REFERENCES, SUMMARIES, LABELS)}
_OUR_NAME = "FairJudge's own "
DATA = frozenset({".json", ".jsonl", ".csv", ".tsv", ".parquet", ".gz", ".src", ".tgt"})
"""Extensions of the files of a folder that are data."""


def convert_files(
    paths: Sequence[Path], settings: Settings, *, skip_bad: bool = False
) -> Converted:
    """Convert files, data sets on disk, and files of folders, which belong together.

    Raises
    ------
    InputError
        If a file cannot be read (unless `skip_bad`), or its layout is unknown.
    ConfigurationError
        If a column in the settings does not exist.
    """
    collector = RecordCollector()
    files, text_files, exclusions = _files(paths)
    collector.left_out.update(exclusions)
    line_files, other_files = lines.split_line_files(files)
    layouts: list[tuple[Path, Layout]] = []
    if text_files:
        layouts.append((paths[0], folders.layout_of(text_files, settings)))
    if line_files:
        layouts.append((line_files[0], lines.layout_of(line_files, settings)))
    for path, layout in layouts:
        _add(collector, layout, path, skip_bad=skip_bad)
    sources = [_open_source(path, settings, skip_bad=skip_bad) for path in other_files]
    recognised_layouts: list[tuple[Source, Layout]] = []
    eids = {*collector.clusters}
    for source, known_layout in zip(
        sources, _recognise_layouts(sources, settings, eids), strict=True
    ):
        if known_layout is None:
            raise _unknown_layout(source)
        recognised_layouts.append((source, known_layout))
        _add(collector, known_layout, source.path, source=source, skip_bad=skip_bad)
    layouts += [(source.path, layout) for source, layout in recognised_layouts]
    check_numbers(layouts, tuple(collector.clusters), sources)
    conversion = collector.result()
    if not conversion.records():
        reason = next(iter(conversion.left_out), "no rows")
        raise InputError(f"no records could be converted: {reason}", path=paths[0])
    check_words(recognised_layouts, settings.values)
    warnings = (
        *warnings_of(conversion, recognised_layouts),
        *labels_without_texts(conversion),
        *possible_ratings(recognised_layouts),
        *(() if conversion.summaries else possible_texts(recognised_layouts)),
    )
    return replace(conversion, warnings=warnings, command_line_warnings=warnings)


def recognise(source: Source, settings: Settings) -> Layout | None:
    """Return a file's layout by its content; None if it is unknown."""
    by_rows = rows.layout_of(source, settings)
    if settings.is_explicit:
        return by_rows
    return (
        _own_layout(source, by_rows)
        or published.layout_of(source)
        or _tool_layout(source)
        or by_rows
    )


def _recognise_layouts(
    sources: Sequence[Source], settings: Settings, eids: Collection[str] = ()
) -> list[Layout | None]:
    """Return the files' layouts; the grouping column of one file has the ids of the others.

    `eids` are the ids of clusters that are not rows, such as folders.
    """
    by_file = settings_by_file(sources, settings)
    layouts = [recognise(*pair) for pair in zip(sources, by_file, strict=True)]
    has_groups = any(layout is not None and layout.group for layout in layouts)
    if sources and settings.group and not has_groups:
        raise ConfigurationError("--group: specify the column of texts with --map content=COLUMN")
    keys = shared_keys(sources, layouts, eids)
    if not keys:
        return layouts
    layouts_by_keys = [
        recognise(source, replace(file_settings, group=None, keys=keys))
        for source, file_settings in zip(sources, by_file, strict=True)
    ]
    have_articles = [
        layout is not None
        and layout.group is not None
        and (
            layout_by_keys is None
            or layout_by_keys.group is not None
            or "clusters" in layout_by_keys.kinds
        )
        for layout, layout_by_keys in zip(layouts, layouts_by_keys, strict=True)
    ]
    if not any(have_articles):
        have_articles = [layout is not None and layout.group is not None for layout in layouts]
    return [
        layout if has_articles else layout_by_keys
        for layout, layout_by_keys, has_articles in zip(
            layouts, layouts_by_keys, have_articles, strict=True
        )
    ]


def paths_with_layout(paths: Sequence[Path], settings: Settings) -> list[Path]:
    """Return the `paths` in a known layout, FairJudge's own included; `paths` belong together."""
    line_files = {*lines.split_line_files(paths)[0], *filter(lines.is_line_file, paths)}
    sources = []
    for path in paths:
        if path in line_files:
            continue
        with suppress(FairJudgeError):
            source = _open_source(path, settings, skip_bad=True)
            recognise(source, restrict_to_columns(settings, columns_of(source)))
            sources.append(source)
    layouts = _recognise_layouts(sources, settings)
    line_files |= {source.path for source, layout in zip(sources, layouts, strict=True) if layout}
    return [path for path in paths if path in line_files]


def command_for(path: Path, kind: str) -> str | None:
    """Return the command that converts a file to records of `kind`.

    None if its layout is unknown or FairJudge's own, or has no such records.
    """
    try:
        source = _open_source(path, Settings(), skip_bad=True)
        layout = recognise(source, Settings())
    except FairJudgeError:
        return None
    if layout is None or layout.name.startswith(_OUR_NAME) or kind not in layout.kinds:
        return None
    return f"fairjudge convert {shlex.quote(str(path))} -o data"


def layout_problem(path: Path) -> str:
    """Return why the layout of a file is unknown."""
    try:
        source = _open_source(path, Settings(), skip_bad=True)
    except FairJudgeError as error:
        return error.problem if isinstance(error, InputError) else str(error)
    problem = next((row.problem for row in source.rows if row.problem is not None), None)
    names = ", ".join(map(repr, source.first)) or "there are none"
    return problem or (
        f"columns not recognised ({names}): map them with 'fairjudge convert --map' "
        "(docs/your-data.md)"
    )


def data_files_of(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Return the data files of a folder, and the reason for each other file."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    source, reasons = lines.source_of(paths), dict[str, str]()
    for path in paths:
        if path.is_dir():
            reasons[path.name] = "a folder"
        elif not lines.is_line_file(path) and path.suffix not in DATA:
            problem = lines.line_file_problem(path, source) if source else lines.NOT_DATA
            reasons |= {path.name: problem} if problem else {}
    return [path for path in paths if path.name not in reasons], reasons


def _files(
    paths: Sequence[Path],
) -> tuple[list[Path], tuple[folders.TextFile, ...], list[str]]:
    """Return data files (also those in folders), text files, and reasons for excluded files."""
    files: list[Path] = []
    all_text_files: list[folders.TextFile] = []
    exclusions: list[str] = []
    for path in paths:
        if not _is_folder(path) or realsumm.recognises(Source(path=path, rows=())):
            files.append(path)
            continue
        data_files, reasons = data_files_of(path)
        text_files = folders.texts_of(path, is_only_data=not data_files)
        if not data_files and not text_files:
            raise InputError("contains no data files", path=path)
        files += [file for file in data_files if file not in files]
        all_text_files += text_files
        top_names = {file.path.relative_to(path).parts[0] for file in text_files}
        exclusions += [
            f"{path / name}: {reason}" for name, reason in reasons.items() if name not in top_names
        ]
    return files, tuple(all_text_files), exclusions


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder, and not a data set on disk."""
    return file_mode(path) is not None and path.is_dir() and not is_data_set(path)


def _open_source(path: Path, settings: Settings, *, skip_bad: bool) -> Source:
    """Read a file; fields of objects become columns if the user or the layout needs them."""
    rows = () if _is_folder(path) else tuple(read_rows(path, csv_allowed=True, nan_as_null=True))
    answers = word_values(settings.values)
    source = label_studio.as_rows(Source(path=path, rows=rows, skip_bad=skip_bad, answers=answers))
    if not _is_nested(source, settings):
        return source
    check_one_list(source)
    return unnest(source)


def _is_nested(source: Source, settings: Settings) -> bool:
    """Return whether the settings need fields of objects, or these have more kinds of records."""
    beginning = replace(source, rows=source.rows[:N_SAMPLE])
    nested = unnest(beginning)
    if not source.first or nested.rows == beginning.rows:
        return False
    names, nested_names = columns_of(source), columns_of(nested)
    if any(name in nested_names and name not in names for name in settings.named_columns):
        return True
    flat_layout = recognise(beginning, restrict_to_columns(settings, names))
    if flat_layout is None:
        return True
    nested_layout = recognise(nested, restrict_to_columns(settings, nested_names))
    return nested_layout is not None and nested_layout.kinds > flat_layout.kinds


def _own_layout(source: Source, by_rows: Layout | None) -> Layout | None:
    """Return the layout of FairJudge's own records, which keep all their fields, or None."""
    kind = record_kind(source.first)
    if kind is None or kind == "judgements":
        return None
    if kind == "summaries" and not _is_plain(source, by_rows):
        return None
    reader = _OURS[kind]
    try:
        reader.model.model_validate(source.first)
    except ValidationError:
        return None
    return Layout(
        name=f"{_OUR_NAME}{kind}",
        kinds=frozenset({kind}),
        entries=lambda: read_records(source.path, reader, skip_bad=source.skip_bad),
    )


def _is_plain(source: Source, by_rows: Layout | None) -> bool:
    """Return whether rows of summaries have no further content such as ratings."""
    rows = source.objects
    items = {(str(row.get("eid")), str(row.get("system"))) for row in rows}
    return len(items) == len(rows) and (by_rows is None or by_rows.kinds == {"summaries"})


def _tool_layout(source: Source) -> Layout | None:
    """Return the layout of labels in a file that 'data import' supports, or None."""
    tool = recognise_format(source)
    if tool is None:
        return None

    def entries() -> Iterator[Entry]:
        imported_file = import_file(
            source.path, tool=tool, answers=source.answers, skip_bad=source.skip_bad
        )
        yield from imported_file.labels
        yield from imported_file.skipped
        reason = "a judgement; import it with 'fairjudge data import'"
        yield from (Skipped(line=line, why=reason) for line in imported_file.lines)

    return Layout(name=tool, kinds=frozenset({"labels"}), entries=entries)


def _add(
    collector: RecordCollector,
    layout: Layout,
    path: Path,
    *,
    source: Source | None = None,
    skip_bad: bool,
) -> None:
    for entry in layout.entries():
        try:
            collector.add(entry)
        except InputError as error:
            if not skip_bad:
                raise InputError(error.problem, path=path, field=error.field) from None
            collector.left_out["another cluster with the id of an earlier one"] += 1
    reasons = (
        {skipped_row.line: skipped_row.why for skipped_row in source.skipped}
        if source is not None
        else {}
    )
    for reason in reasons.values():
        collector.left_out[reason] += 1
    collector.files.append(ReadFile(path=str(path), layout=layout.name, unused=layout.unused()))


def _unknown_layout(source: Source) -> InputError:
    bad_row = next((row for row in source.rows if row.problem is not None), None)
    if bad_row is not None:
        problem = bad_row.problem or ""
        if file_extension(source.path) not in TEXT_TABLES | {".json", ".jsonl"}:
            problem += "; the name of a table must end in .csv or .tsv"
        return InputError(problem, path=source.path, line=bad_row.line, field=bad_row.field)
    names = ", ".join(map(repr, source.first)) or "there are none"
    if source.first.keys() & {"response", "raw"}:
        return InputError(
            f"these are recorded replies of a judge ({names}): use "
            "fairjudge data import with --protocol",
            path=source.path,
        )
    return InputError(
        f"columns not recognised ({names}). If a row is a cluster, specify its documents: "
        "--map documents=COLUMN; if it is an article: --group COLUMN; if it is a summary: "
        "--map system=COLUMN,text=COLUMN; if it has a summary per system: "
        "--map text=COLUMN,text=COLUMN (docs/your-data.md)",
        path=source.path,
    )
