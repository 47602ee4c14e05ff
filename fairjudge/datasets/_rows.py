"""Rows of a JSON file or table, each with a value or the line's error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairjudge.datasets._json import (
    JsonError,
    find_value_end,
    parse,
    parse_at,
    replace_surrogate_escapes,
)
from fairjudge.datasets._source import Row, decode_text, file_extension, read_bytes, utf8_problem
from fairjudge.datasets._tables import (
    PARQUET_MAGIC,
    TEXT_TABLES,
    csv_rows,
    folder_rows,
    parquet_rows,
)
from fairjudge.errors import InputError
from fairjudge.files import file_mode


def read_rows(path: Path, *, csv_allowed: bool, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield the rows of ``path`` in file order; blank lines are skipped.

    Parquet is recognised by content, and a folder is a Hugging Face data set. Otherwise the
    extension determines the format; if it is unknown, a file with a leading ``[`` is one JSON list,
    any other file has one object per line. `nan_as_null` is for tools that write NaN for missing
    numbers.
    """
    if file_mode(path) is not None and path.is_dir():
        return folder_rows(path)
    data = read_bytes(path)
    kind = file_extension(path)
    if data.startswith(PARQUET_MAGIC):
        return parquet_rows(data, path)
    if kind in TEXT_TABLES:
        if not csv_allowed:
            raise InputError(
                f"these records are nested and cannot be {kind.removeprefix('.').upper()}; use "
                ".json or .jsonl",
                path=path,
            )
        return csv_rows(data, path)
    if (kind == ".json" and not _is_lines(data)) or (
        kind != ".jsonl" and data.lstrip().startswith(b"[")
    ):
        return json_rows(data, path, nan_as_null=nan_as_null)
    return jsonl_rows(data, nan_as_null=nan_as_null)


def _is_lines(data: bytes) -> bool:
    """Whether the file has one object per line, as some tools write to .json."""
    first, _, body = data.strip().partition(b"\n")
    if not (first.startswith(b"{") and body.lstrip().startswith(b"{")):
        return False
    try:
        parse(first.decode("utf-8"), nan_as_null=True)
    except (JsonError, UnicodeDecodeError):
        return False
    return True


def jsonl_rows(data: bytes, *, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield one row per line that is not blank."""
    lines = data.split(b"\n")
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Row(line=number, problem=utf8_problem(error, raw))
            continue
        is_last = number == len(lines)
        yield _jsonl_row(text.removesuffix("\r"), number, is_last=is_last, nan_as_null=nan_as_null)


def _jsonl_row(text: str, line: int, *, is_last: bool, nan_as_null: bool) -> Row:
    try:
        value = parse(text, nan_as_null=nan_as_null)
    except JsonError as error:
        problem = error.problem
        if error.position is not None:
            problem += f" (column {error.position + 1})"
        if error.cut_off and is_last:
            problem = f"the file is cut off in the middle of this record: {problem}"
        elif error.cut_off:
            problem += "; each record must be on one line (or rename the file to .json)"
        return Row(line=line, problem=problem, field=error.field)
    if isinstance(value, list):
        return Row(
            line=line, problem="expected an object, found a list (rename the file to .json?)"
        )
    value, repaired = replace_surrogate_escapes(text, value)
    return Row(line=line, value=value, repaired=repaired)


def json_rows(data: bytes, path: Path, *, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield the items of the file's list, or its single object."""
    text = decode_text(data, path)
    position = _skip_space(text, 0)
    if text[position] != "[":
        yield _json_item(text, position, path, nan_as_null=nan_as_null)[0]
        return
    yield from _list_items(text, position + 1, path, nan_as_null=nan_as_null)


def _list_items(text: str, position: int, path: Path, *, nan_as_null: bool) -> Iterator[Row]:
    position = _skip_space(text, position)
    line, counted_to = 1, 0
    while text[position : position + 1] != "]":
        line += text.count("\n", counted_to, position)
        counted_to = position
        row, position = _json_item(text, position, path, line=line, nan_as_null=nan_as_null)
        yield row
        if position < 0:
            return
        position = _skip_space(text, position)
        if text[position : position + 1] == ",":
            position = _skip_space(text, position + 1)
        elif text[position : position + 1] != "]":
            yield _broken_list_row(text, position)
            return
    _check_end(text, position + 1, path)


def _broken_list_row(text: str, position: int) -> Row:
    line = text.count("\n", 0, position) + 1
    if position >= len(text):
        return Row(line=line, problem="the file is cut off: its list has no closing ']'")
    excerpt = text[position : position + 20]
    return Row(line=line, problem=f"not valid JSON: expected ',' or ']', found {excerpt!r}")


def _json_item(
    text: str, position: int, path: Path, *, line: int | None = None, nan_as_null: bool
) -> tuple[Row, int]:
    """Return the row that starts at ``position``, and its end (-1 if unknown)."""
    is_single_value = line is None
    line = line or text.count("\n", 0, position) + 1
    try:
        value, end = parse_at(text, position, nan_as_null=nan_as_null)
    except JsonError as error:
        if error.position is None:
            row = Row(line=line, problem=error.problem, field=error.field)
            return row, find_value_end(text, position) or -1
        error_line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        problem = f"{error.problem} (column {column})"
        if error.cut_off:
            problem = f"the file is cut off in the middle of a record: {problem}"
        return Row(line=error_line, problem=problem), -1
    if is_single_value:
        _check_end(text, end, path)
    value, repaired = replace_surrogate_escapes(text[position:end], value)
    return Row(line=line, value=value, repaired=repaired), end


def _check_end(text: str, position: int, path: Path) -> None:
    position = _skip_space(text, position)
    if position < len(text):
        excerpt = text[position : position + 20]
        raise InputError(
            f"unexpected text after the first JSON value: {excerpt!r} "
            "(for one object per line, rename the file to .jsonl)",
            path=path,
            line=text.count("\n", 0, position) + 1,
        )


def _skip_space(text: str, position: int) -> int:
    while text[position : position + 1] in {" ", "\t", "\r", "\n"}:
        position += 1
    return position
