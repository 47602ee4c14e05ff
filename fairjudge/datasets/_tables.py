"""Rows of tables: text with a header (commas, semicolons, tabs or bars), Parquet and Arrow."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairjudge.datasets._source import Row, decode_text, read_json
from fairjudge.errors import InputError, needs_extra
from fairjudge.files import read_file

TEXT_TABLES = frozenset({".csv", ".tsv", ".tab"})
"""Extensions of text tables."""
_SEPARATORS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
PARQUET_MAGIC = b"PAR1"


def csv_rows(data: bytes, path: Path) -> Iterator[Row]:
    """Yield one row per line below the header; empty cells are omitted.

    The separator is taken from the header, or from a line ``sep=;`` before it, as written by
    spreadsheets. A first column without a name (the index written by pandas' ``to_csv``) and
    trailing columns and cells that are empty are ignored.
    """
    text = decode_text(data, path)
    separator_line = _SEPARATOR_LINE.match(text)
    separator = separator_line[1] if separator_line else _separator(text)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    line = 1
    try:
        if separator_line:
            next(reader)
        header = _strip_trailing([name.strip() for name in next(reader)])
        start = 1 if len(header) > 1 and not header[0] else 0
        _check_header(header[start:], path)
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells[start:]):
                yield _csv_row(header, cells, line, start=start, decimal_comma=separator == ";")
            line = reader.line_num + 1
    except csv.Error as error:
        yield Row(line=line, problem=_csv_problem(error))


def _separator(text: str) -> str:
    """Return the most frequent separator in the header; the comma wins ties."""
    header = text.lstrip().partition("\n")[0]
    return max(_SEPARATORS, key=header.count)


def _check_header(header: list[str], path: Path) -> None:
    for name in header:
        if not name:
            raise InputError("a column of the header has no name", path=path, line=1)
        if header.count(name) > 1:
            raise InputError("duplicate column in the header", path=path, line=1, field=name)


def _strip_trailing(cells: list[str]) -> list[str]:
    """Return `cells` without trailing empty ones."""
    n = max((position for position, cell in enumerate(cells, 1) if cell.strip()), default=0)
    return cells[:n]


def _csv_row(
    header: list[str], cells: list[str], line: int, *, start: int, decimal_comma: bool
) -> Row:
    cells = _strip_trailing(cells)
    if len(cells) > len(header):
        problem = f"expected {len(header)} cells as in the header, found {len(cells)}"
        return Row(line=line, problem=problem)
    fields = list(zip(header, cells, strict=False))[start:]
    value: dict[str, Any] = {name: cell for name, cell in fields if cell.strip()}
    return Row(line=line, value=_with_number(value, decimal_comma=decimal_comma), flat=True)


def _with_number(row: dict[str, Any], *, decimal_comma: bool = False) -> dict[str, Any]:
    """Return `row` with ``value`` as a number, if its cell is one.

    If ``value`` is empty, ``verdict`` is used, as in exported judgements.
    """
    verdict = row.get("value", row.get("verdict"))
    if isinstance(verdict, str):
        row["value"] = _number(verdict.strip(), decimal_comma=decimal_comma)
    return row


def _number(cell: str, *, decimal_comma: bool) -> int | float | str:
    """Return the number in a cell, or else the cell; with `decimal_comma` 3,5 is a number."""
    for kind in (int, float):
        try:
            return kind(cell.replace(",", ".") if decimal_comma else cell)
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


def parquet_rows(data: bytes, path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file; needs the extra [parquet]."""
    pa = _pyarrow("a Parquet file")
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read the Parquet file: {error}", path=path) from None
    return _arrow_rows(table.to_batches())


def folder_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of a data set written by Hugging Face's ``save_to_disk``.

    Raises
    ------
    InputError
        `folder` is not such a data set, or has several splits.
    """
    split = _split(folder)
    state = _read_object(split / "state.json")
    files = [split / entry["filename"] for entry in state.get("_data_files", ())]
    if not files:
        raise InputError("expected a file, found a folder; pass a file in it", path=folder)
    return _arrow_files(files)


def is_data_set(folder: Path) -> bool:
    """Whether `folder` is a data set written by ``save_to_disk``."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _split(folder: Path) -> Path:
    splits = _read_object(folder / "dataset_dict.json").get("splits", [])
    if len(splits) > 1:
        folders = ", ".join(str(folder / name) for name in splits)
        raise InputError(f"has several splits: pass one of {folders}", path=folder)
    return folder / splits[0] if splits else folder


def _read_object(path: Path) -> Mapping[str, Any]:
    info = read_json(path) if path.is_file() else {}
    return info if isinstance(info, dict) else {}


def _arrow_files(files: Iterable[Path]) -> Iterator[Row]:
    pa = _pyarrow("a data set of Hugging Face")
    batches = []
    for path in files:
        try:
            batches += pa.ipc.open_stream(io.BytesIO(read_file(path))).read_all().to_batches()
        except pa.ArrowException as error:
            raise InputError(f"cannot read the Arrow file: {error}", path=path) from None
    return _arrow_rows(batches)


def _arrow_rows(batches: Iterable[Any]) -> Iterator[Row]:
    rows = (row for batch in batches for row in batch.to_pylist())
    for line, row in enumerate(rows, start=1):
        yield Row(line=line, value=_with_number(_to_json_value(row)), flat=True)


def _to_json_value(value: Any) -> Any:
    """Return `value` as JSON types: without empty cells, dates as text."""
    if isinstance(value, dict):
        return {
            key: _to_json_value(part)
            for key, part in value.items()
            if part is not None and not _is_nan(part)
        }
    if isinstance(value, list):
        return [_to_json_value(part) for part in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _pyarrow(feature: str) -> Any:
    with needs_extra(feature, extra="parquet"):
        import pyarrow as pa
        from pyarrow import ipc  # noqa: F401
    return pa
