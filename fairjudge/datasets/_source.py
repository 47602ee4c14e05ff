"""Read files as bytes, text or JSON with readable errors; and the `Row` of a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.errors import InputError
from fairjudge.files import GZIP_MAGIC, read_file, unpack, whole_number

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""Magic bytes of .xlsx and other zip archives, and of .xls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The raw value of a record, or its ``problem``; ``line`` is 1-based.

    ``flat`` is whether it is from a table, in which nested values are JSON in cells.
    """

    line: int
    value: Any = None
    problem: str | None = None
    field: str | None = None
    repaired: bool = False
    flat: bool = False


def read_bytes(path: Path) -> bytes:
    """Return the content of ``path``, decompressed if gzip, without a UTF-8 byte order mark.

    Raises `InputError` for UTF-16, workbooks, archives and empty files.
    """
    data = read_file(path)
    if data.startswith(GZIP_MAGIC):
        data = unpack(data, path=path)
    elif path.suffix.lower() == ".gz":
        raise InputError("the name ends in .gz, but the content is not gzip", path=path)
    if data.startswith(_UTF16_BOMS):
        raise InputError("the file is UTF-16; save it as UTF-8", path=path)
    if data.startswith(_WORKBOOKS):
        raise InputError("a workbook or an archive, not text: save its table as CSV", path=path)
    data = data.removeprefix(_UTF8_BOM)
    if not data.strip():
        raise InputError("the file is empty", path=path)
    return data


def read_json(path: str | Path) -> Any:
    """Return the JSON value in the file at ``path``, such as the settings of a command.

    For records, use the stricter `fairjudge.datasets.readers`.
    """
    try:
        return json.loads(read_bytes(Path(path)), parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path=path) from None


def file_extension(path: Path) -> str:
    """Return the file's extension in lower case, without ``.gz``."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def decode_text(data: bytes, path: Path) -> str:
    """Decode `data` as UTF-8; raise `InputError` with the position of an invalid byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        line_start = data.rfind(b"\n", 0, error.start) + 1
        problem = utf8_problem(error, data, line_start)
        raise InputError(problem, path=path, line=line) from None


def read_lines(path: Path) -> list[str]:
    """Return the lines of the text file at `path`, without an empty one after the last newline."""
    lines = decode_text(read_bytes(path), path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def utf8_problem(error: UnicodeDecodeError, data: bytes, line_start: int = 0) -> str:
    """Return the problem of a byte that is not UTF-8; its line starts at `line_start`."""
    byte = data[error.start]
    column = error.start - line_start + 1
    return f"not UTF-8 text: byte 0x{byte:02X} at byte {column} of the line; save it as UTF-8"
