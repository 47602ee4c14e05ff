"""Rows of tables: text with a header (commas, semicolons, tabs or bars), Parquet and Arrow."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairjudge.datasets._source import Row, decoded, read_json
from fairjudge.errors import InputError, needs_extra
from fairjudge.files import read_file

TEXT_TABLES = frozenset({".csv", ".tsv", ".tab"})
"""Extensions of tables that are text."""
_SEPARATORS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
PARQUET_MAGIC = b"PAR1"


def csv_rows(data: bytes, path: Path) -> Iterator[Row]:
    """Yield one row for each line under the header; empty cells are left out of the record.

    The header says what separates cells, or a line ``sep=;`` before it, as spreadsheets have it. A
    first column without a name, as pandas' ``to_csv`` writes its index, is left out, and so are
    columns without names and cells at the end.
    """
    text = decoded(data, path)
    marked = _SEPARATOR_LINE.match(text)
    separator = marked[1] if marked else _separator(text)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    line = 1
    try:
        if marked:
            next(reader)
        header = _without_end([name.strip() for name in next(reader)])
        start = 1 if len(header) > 1 and not header[0] else 0
        _check_header(header[start:], path)
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells[start:]):
                yield _csv_row(header, cells, line, start=start, comma=separator == ";")
            line = reader.line_num + 1
    except csv.Error as error:
        yield Row(line=line, problem=_csv_problem(error))


def _separator(text: str) -> str:
    """Return what separates the names in the header; of equally many, the comma goes first."""
    header = text.lstrip().partition("\n")[0]
    return max(_SEPARATORS, key=header.count)


def _check_header(header: list[str], path: Path) -> None:
    for name in header:
        if not name:
            raise InputError("a column of the header has no name", path=path, line=1)
        if header.count(name) > 1:
            raise InputError("duplicate column in the header", path=path, line=1, field=name)


def _without_end(cells: list[str]) -> list[str]:
    """Return `cells` without empty ones at the end."""
    n = max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)
    return cells[:n]


def _csv_row(header: list[str], cells: list[str], line: int, *, start: int, comma: bool) -> Row:
    cells = _without_end(cells)
    if len(cells) > len(header):
        problem = f"expected {len(header)} cells as in the header, found {len(cells)}"
        return Row(line=line, problem=problem)
    fields = list(zip(header, cells, strict=False))[start:]
    value: dict[str, Any] = {name: cell for name, cell in fields if cell.strip()}
    return Row(line=line, value=_with_number(value, comma=comma), flat=True)


def _with_number(row: dict[str, Any], *, comma: bool = False) -> dict[str, Any]:
    """Return `row` with a number under ``value`` where its cell holds one.

    Where ``value`` is empty, it is what stands under ``verdict``, as in exported judgements.
    """
    verdict = row.get("value", row.get("verdict"))
    if isinstance(verdict, str):
        row["value"] = _number(verdict.strip(), comma=comma)
    return row


def _number(cell: str, *, comma: bool) -> int | float | str:
    """Return the number that a cell holds, else the cell; `comma`: 3,5 is a number too."""
    for kind in (int, float):
        try:
            return kind(cell.replace(",", ".") if comma else cell)
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
    """Yield the rows of a Parquet file; it takes the extra [parquet]."""
    pa = _pyarrow("a Parquet file")
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read the Parquet file: {error}", path=path) from None
    return _arrow_rows(table.to_batches())


def folder_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of a data set as Hugging Face's ``save_to_disk`` writes it.

    Raises
    ------
    InputError
        `folder` is no such data set, or has several splits: then one is to be named.
    """
    split = _split(folder)
    state = _json_of(split / "state.json")
    files = [split / entry["filename"] for entry in state.get("_data_files", ())]
    if not files:
        raise InputError("expected a file, found a folder; name a file in it", path=folder)
    return _arrow_files(files)


def is_data_set(folder: Path) -> bool:
    """Say whether `folder` is what ``save_to_disk`` writes."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _split(folder: Path) -> Path:
    splits = _json_of(folder / "dataset_dict.json").get("splits", [])
    if len(splits) > 1:
        folders = ", ".join(str(folder / name) for name in splits)
        raise InputError(f"holds several splits: name one of {folders}", path=folder)
    return folder / splits[0] if splits else folder


def _json_of(path: Path) -> Mapping[str, Any]:
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
        yield Row(line=line, value=_with_number(_plain(row)), flat=True)


def _plain(value: Any) -> Any:
    """Return `value` as JSON has it: without cells that are empty, dates as text."""
    if isinstance(value, dict):
        return {
            key: _plain(part) for key, part in value.items() if part is not None and not _nan(part)
        }
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _pyarrow(feature: str) -> Any:
    with needs_extra(feature, extra="parquet"):
        import pyarrow as pa
        from pyarrow import ipc  # noqa: F401
    return pa
