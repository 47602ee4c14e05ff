"""Rows of a JSON, JSONL or CSV file: a value, or what is wrong with the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.datasets._json import (
    JsonError,
    end_of_refused,
    parse,
    parse_at,
    without_lone_surrogates,
)
from fairjudge.datasets._source import kind_of, read_bytes
from fairjudge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record's raw value, or its ``problem``; ``line`` counts from 1."""

    line: int
    value: Any = None
    problem: str | None = None
    field: str | None = None
    repaired: bool = False


def read_rows(path: Path, *, csv_allowed: bool, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield the rows of ``path`` in file order; blank lines are passed over.

    The extension tells the format; without a known one, a leading ``[`` means one JSON list and
    anything else means one object a line. `nan_as_null` is for tools that write
    NaN where they have no number.
    """
    data = read_bytes(path)
    kind = kind_of(path)
    if kind == ".csv":
        if not csv_allowed:
            raise InputError(
                "these records are nested and cannot be CSV; use .json or .jsonl",
                path=path,
            )
        return csv_rows(data, path)
    if kind == ".json" or (kind != ".jsonl" and data.lstrip().startswith(b"[")):
        return json_rows(data, path, nan_as_null=nan_as_null)
    return jsonl_rows(data, nan_as_null=nan_as_null)


def jsonl_rows(data: bytes, *, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield one row for each line that is not blank."""
    lines = data.split(b"\n")
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Row(line=number, problem=_not_utf8(error, raw))
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
            problem += "; each record must stand whole on one line (else name the file .json)"
        return Row(line=line, problem=problem, field=error.field)
    if isinstance(value, list):
        return Row(line=line, problem="expected an object, found a list (name the file .json?)")
    value, repaired = without_lone_surrogates(text, value)
    return Row(line=line, value=value, repaired=repaired)


def json_rows(data: bytes, path: Path, *, nan_as_null: bool = False) -> Iterator[Row]:
    """Yield the items of the one list that the file holds, or its one object."""
    text = _decoded(data, path)
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
            yield _list_broken(text, position)
            return
    _nothing_follows(text, position + 1, path)


def _list_broken(text: str, position: int) -> Row:
    line = text.count("\n", 0, position) + 1
    if position >= len(text):
        return Row(line=line, problem="the file is cut off: its list has no closing ']'")
    found = text[position : position + 20]
    return Row(line=line, problem=f"not valid JSON: expected ',' or ']', found {found!r}")


def _json_item(
    text: str, position: int, path: Path, *, line: int | None = None, nan_as_null: bool
) -> tuple[Row, int]:
    """Return the row that starts at ``position`` and where it ends, or -1 if that is unknown."""
    alone = line is None
    line = line or text.count("\n", 0, position) + 1
    try:
        value, end = parse_at(text, position, nan_as_null=nan_as_null)
    except JsonError as error:
        if error.position is None:
            row = Row(line=line, problem=error.problem, field=error.field)
            return row, end_of_refused(text, position) or -1
        at_line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        problem = f"{error.problem} (column {column})"
        if error.cut_off:
            problem = f"the file is cut off in the middle of a record: {problem}"
        return Row(line=at_line, problem=problem), -1
    if alone:
        _nothing_follows(text, end, path)
    value, repaired = without_lone_surrogates(text[position:end], value)
    return Row(line=line, value=value, repaired=repaired), end


def _nothing_follows(text: str, position: int, path: Path) -> None:
    position = _skip_space(text, position)
    if position < len(text):
        found = text[position : position + 20]
        raise InputError(
            f"nothing should follow the first JSON value, found {found!r} "
            "(one object a line belongs in a .jsonl file)",
            path=path,
            line=text.count("\n", 0, position) + 1,
        )


def _skip_space(text: str, position: int) -> int:
    while text[position : position + 1] in {" ", "\t", "\r", "\n"}:
        position += 1
    return position


def csv_rows(data: bytes, path: Path) -> Iterator[Row]:
    """Yield one row for each line under the header; empty cells are left out of the record."""
    text = _decoded(data, path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    line = 1
    try:
        header = [name.strip() for name in next(reader)]
        _check_header(header, path)
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield _csv_row(header, cells, line)
            line = reader.line_num + 1
    except csv.Error as error:
        yield Row(line=line, problem=_csv_problem(error))


def _check_header(header: list[str], path: Path) -> None:
    for name in header:
        if not name:
            raise InputError("a column of the header has no name", path=path, line=1)
        if header.count(name) > 1:
            raise InputError("duplicate column in the header", path=path, line=1, field=name)
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise InputError("expected columns separated by commas", path=path, line=1)


def _csv_row(header: list[str], cells: list[str], line: int) -> Row:
    if len(cells) > len(header):
        problem = f"expected {len(header)} cells as in the header, found {len(cells)}"
        return Row(line=line, problem=problem)
    value: dict[str, Any] = {
        name: cell for name, cell in zip(header, cells, strict=False) if cell.strip()
    }
    if "value" in value:
        value["value"] = _number(value["value"].strip())
    return Row(line=line, value=value)


def _number(cell: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _csv_problem(error: csv.Error) -> str:
    if "field larger" in str(error):
        limit = csv.field_size_limit()
        return f"a cell is longer than {limit:,} characters; is a closing quote missing?"
    if "unexpected end" in str(error):
        return "the file ends inside a quoted cell that begins in this row"
    return f"not valid CSV: {error}"


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column_from = data.rfind(b"\n", 0, error.start) + 1
        problem = _not_utf8(error, data, column_from)
        raise InputError(problem, path=path, line=line) from None


def _not_utf8(error: UnicodeDecodeError, data: bytes, column_from: int = 0) -> str:
    byte = data[error.start]
    return f"not UTF-8 text: byte 0x{byte:02X} at byte {error.start - column_from + 1} of the line"
