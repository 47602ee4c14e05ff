"""Files in any layout to clusters, references, summaries and labels."""

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
from fairjudge.converting.nesting import check_one_list, unnested
from fairjudge.converting.ratings import check_words, possible_ratings
from fairjudge.converting.records import Converted, Entry, ReadFile, RecordCollector
from fairjudge.converting.rows import N_SAMPLE
from fairjudge.converting.together import (
    check_numbers,
    columns_of,
    of_columns,
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
    """Read files, data sets on disk, and the files of folders, which belong together.

    Raises
    ------
    InputError
        A file cannot be read (unless `skip_bad`), or its columns do not tell what it is.
    ConfigurationError
        A column that is named is not there.
    """
    collector = RecordCollector()
    files, texts, left_out = _files(paths)
    collector.left_out.update(left_out)
    line_files, other_files = lines.take_lines(files)
    layouts: list[tuple[Path, Layout]] = []
    if texts:
        layouts.append((paths[0], folders.layout_of(texts, settings)))
    if line_files:
        layouts.append((line_files[0], lines.layout_of(line_files, settings)))
    for path, layout in layouts:
        _add(collector, layout, path, skip_bad=skip_bad)
    sources = [_opened(path, settings, skip_bad=skip_bad) for path in other_files]
    recognised: list[tuple[Source, Layout]] = []
    eids = {*collector.clusters}
    for source, known in zip(sources, _recognise_together(sources, settings, eids), strict=True):
        if known is None:
            raise _not_known(source)
        recognised.append((source, known))
        _add(collector, known, source.path, source=source, skip_bad=skip_bad)
    layouts += [(source.path, layout) for source, layout in recognised]
    check_numbers(layouts, tuple(collector.clusters), sources)
    converted = collector.converted()
    if not converted.records():
        why = next(iter(converted.left_out), "no rows")
        raise InputError(f"nothing could be taken: {why}", path=paths[0])
    check_words(recognised, settings.values)
    warnings = (
        *warnings_of(converted, recognised),
        *labels_without_texts(converted),
        *possible_ratings(recognised),
        *(() if converted.summaries else possible_texts(recognised)),
    )
    return replace(converted, warnings=warnings, command_line_warnings=warnings)


def recognise(source: Source, settings: Settings) -> Layout | None:
    """Recognize a file's layout by its content; None if it is ambiguous."""
    by_rows = rows.layout_of(source, settings)
    if settings.is_explicit:
        return by_rows
    return _own(source, by_rows) or published.layout_of(source) or _of_tool(source) or by_rows


def _recognise_together(
    sources: Sequence[Source], settings: Settings, eids: Collection[str] = ()
) -> list[Layout | None]:
    """Recognize the files' layouts; the grouping column of one file has the ids of the others.

    `eids` are those of clusters that are no rows, such as folders.
    """
    by_file = settings_by_file(sources, settings)
    layouts = [recognise(*pair) for pair in zip(sources, by_file, strict=True)]
    grouped = any(layout is not None and layout.group for layout in layouts)
    if sources and settings.group and not grouped:
        raise ConfigurationError("--group: name the column of the text by --map content=COLUMN")
    keys = shared_keys(sources, layouts, eids)
    if not keys:
        return layouts
    regrouped = [
        recognise(source, replace(own, group=None, keys=keys))
        for source, own in zip(sources, by_file, strict=True)
    ]
    of_articles = [
        layout is not None
        and layout.group is not None
        and (other is None or other.group is not None or "clusters" in other.gives)
        for layout, other in zip(layouts, regrouped, strict=True)
    ]
    if not any(of_articles):
        of_articles = [layout is not None and layout.group is not None for layout in layouts]
    return [
        layout if articles else other
        for layout, other, articles in zip(layouts, regrouped, of_articles, strict=True)
    ]


def that_hold_data(paths: Sequence[Path], settings: Settings) -> list[Path]:
    """Return those of `paths`, which belong together, that are in a known layout, ours included."""
    line_files = {*lines.take_lines(paths)[0], *filter(lines.is_lines, paths)}
    sources = []
    for path in paths:
        if path in line_files:
            continue
        with suppress(FairJudgeError):
            source = _opened(path, settings, skip_bad=True)
            recognise(source, of_columns(settings, columns_of(source)))
            sources.append(source)
    layouts = _recognise_together(sources, settings)
    line_files |= {source.path for source, layout in zip(sources, layouts, strict=True) if layout}
    return [path for path in paths if path in line_files]


def command_for(path: Path, kind: str) -> str | None:
    """Return the command that would make records of kind `kind` of a file in another layout.

    None where it is in no layout that is known, gives no such records, or is in ours already.
    """
    try:
        source = _opened(path, Settings(), skip_bad=True)
        layout = recognise(source, Settings())
    except FairJudgeError:
        return None
    if layout is None or layout.name.startswith(_OUR_NAME) or kind not in layout.gives:
        return None
    return f"fairjudge convert {shlex.quote(str(path))} -o data"


def why_not_read(path: Path) -> str:
    """Say why a file is in no layout that is known."""
    try:
        source = _opened(path, Settings(), skip_bad=True)
    except FairJudgeError as error:
        return error.problem if isinstance(error, InputError) else str(error)
    bad = next((row.problem for row in source.rows if row.problem is not None), None)
    names = ", ".join(map(repr, source.first)) or "there are none"
    return bad or (
        f"columns not recognised ({names}): map them with 'fairjudge convert --map' "
        "(docs/your-data.md)"
    )


def files_of(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Return the files of a folder that are data, and of each other one why it is not."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    source, why = lines.source_of(paths), dict[str, str]()
    for path in paths:
        if path.is_dir():
            why[path.name] = "a folder"
        elif not lines.is_lines(path) and path.suffix not in DATA:
            problem = lines.why_not_of(path, source) if source else "no file of data by its name"
            why |= {path.name: problem} if problem else {}
    return [path for path in paths if path.name not in why], why


def _files(
    paths: Sequence[Path],
) -> tuple[list[Path], tuple[folders.TextFile, ...], list[str]]:
    """Return data files (also those in folders), text files, and why others are left out."""
    files: list[Path] = []
    texts: list[folders.TextFile] = []
    left_out: list[str] = []
    for path in paths:
        if not _is_folder(path) or realsumm.recognises(Source(path=path, rows=())):
            files.append(path)
            continue
        data_files, reasons = files_of(path)
        text_files = folders.texts_of(path, alone=not data_files)
        if not data_files and not text_files:
            raise InputError("holds no files of data", path=path)
        files += [file for file in data_files if file not in files]
        texts += text_files
        top_names = {file.path.relative_to(path).parts[0] for file in text_files}
        left_out += [
            f"{path / name}: {why}" for name, why in reasons.items() if name not in top_names
        ]
    return files, tuple(texts), left_out


def _is_folder(path: Path) -> bool:
    """Say whether a path is a folder, and no data set on disk."""
    return file_mode(path) is not None and path.is_dir() and not is_data_set(path)


def _opened(path: Path, settings: Settings, *, skip_bad: bool) -> Source:
    """Read a file; fields within objects are columns where the user or the layout needs them."""
    rows = () if _is_folder(path) else tuple(read_rows(path, csv_allowed=True, nan_as_null=True))
    answers = word_values(settings.values)
    source = label_studio.as_rows(Source(path=path, rows=rows, skip_bad=skip_bad, answers=answers))
    if not _is_nested(source, settings):
        return source
    check_one_list(source)
    return unnested(source)


def _is_nested(source: Source, settings: Settings) -> bool:
    """Say whether fields within objects are named by the user, or give more than the file's own."""
    beginning = replace(source, rows=source.rows[:N_SAMPLE])
    nested = unnested(beginning)
    if not source.first or nested.rows == beginning.rows:
        return False
    names, within = columns_of(source), columns_of(nested)
    if any(name in within and name not in names for name in settings.named):
        return True
    own = recognise(beginning, of_columns(settings, names))
    if own is None:
        return True
    layout = recognise(nested, of_columns(settings, within))
    return layout is not None and layout.gives > own.gives


def _own(source: Source, by_rows: Layout | None) -> Layout | None:
    """Return the layout of records that are ours already, with all that they carry."""
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
        gives=frozenset({kind}),
        entries=lambda: read_records(source.path, reader, skip_bad=source.skip_bad),
    )


def _is_plain(source: Source, by_rows: Layout | None) -> bool:
    """Whether rows of summaries have no further content such as ratings."""
    rows = source.objects
    items = {(str(row.get("eid")), str(row.get("system"))) for row in rows}
    return len(items) == len(rows) and (by_rows is None or by_rows.gives == {"summaries"})


def _of_tool(source: Source) -> Layout | None:
    """Return the layout of labels in a file that 'data import' knows."""
    tool = recognise_format(source)
    if tool is None:
        return None

    def entries() -> Iterator[Entry]:
        imported = import_file(
            source.path, tool=tool, answers=source.answers, skip_bad=source.skip_bad
        )
        yield from imported.labels
        yield from imported.skipped
        why = "a judgement: 'fairjudge data import' reads it"
        yield from (Skipped(line=line, why=why) for line in imported.lines)

    return Layout(name=tool, gives=frozenset({"labels"}), entries=entries)


def _add(
    gathered: RecordCollector,
    layout: Layout,
    path: Path,
    *,
    source: Source | None = None,
    skip_bad: bool,
) -> None:
    for entry in layout.entries():
        try:
            gathered.add(entry)
        except InputError as error:
            if not skip_bad:
                raise InputError(error.problem, path=path, field=error.field) from None
            gathered.left_out["another cluster of an id that is taken"] += 1
    bad = {line.line: line.why for line in source.skipped} if source is not None else {}
    for why in bad.values():
        gathered.left_out[why] += 1
    gathered.files.append(ReadFile(path=str(path), layout=layout.name, unused=layout.unused()))


def _not_known(source: Source) -> InputError:
    bad = next((row for row in source.rows if row.problem is not None), None)
    if bad is not None:
        problem = bad.problem or ""
        if file_extension(source.path) not in TEXT_TABLES | {".json", ".jsonl"}:
            problem += "; a table is read where its name ends in .csv or .tsv"
        return InputError(problem, path=source.path, line=bad.line, field=bad.field)
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
