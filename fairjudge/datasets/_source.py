"""A file's bytes, unpacked, its text, or the JSON it is, else one clear error; and a row of it."""

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
"""The first bytes of .xlsx and other zip archives, and of .xls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record's raw value, or its ``problem``; ``line`` counts from 1.

    ``flat`` says that it comes from a table, whose cells hold as JSON what nests.
    """

    line: int
    value: Any = None
    problem: str | None = None
    field: str | None = None
    repaired: bool = False
    flat: bool = False


def read_bytes(path: Path) -> bytes:
    """Return the content of ``path``, unpacked if it is gzip, without a UTF-8 byte order mark.

    What is UTF-16, or has nothing in it, is refused with `InputError`.
    """
    data = read_file(path)
    if data.startswith(GZIP_MAGIC):
        data = unpack(data, path=path)
    elif path.suffix.lower() == ".gz":
        raise InputError("the name ends in .gz, but the content is not gzip", path=path)
    if data.startswith(_UTF16_BOMS):
        raise InputError("the file is UTF-16; save it as UTF-8", path=path)
    if data.startswith(_WORKBOOKS):
        raise InputError("a workbook or an archive, no text: save its table as CSV", path=path)
    data = data.removeprefix(_UTF8_BOM)
    if not data.strip():
        raise InputError("the file is empty", path=path)
    return data


def read_json(path: str | Path) -> Any:
    """Return the one JSON value that the file at ``path`` is, such as a command's own settings.

    Records are read more strictly: see `fairjudge.datasets.readers`.
    """
    try:
        return json.loads(read_bytes(Path(path)), parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path=path) from None


def kind_of(path: Path) -> str:
    """Return the file's extension in lower case, without ``.gz``."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()


def decoded(data: bytes, path: Path) -> str:
    """Return the text that `data` are in UTF-8; else `InputError` says where they are not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column_from = data.rfind(b"\n", 0, error.start) + 1
        problem = not_utf8(error, data, column_from)
        raise InputError(problem, path=path, line=line) from None


def read_lines(path: Path) -> list[str]:
    """Return the lines of the text file at `path`; its last end of line begins no further one."""
    lines = decoded(read_bytes(path), path).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def not_utf8(error: UnicodeDecodeError, data: bytes, column_from: int = 0) -> str:
    """Say which byte of a line that starts at `column_from` is not UTF-8."""
    byte = data[error.start]
    place = error.start - column_from + 1
    return f"not UTF-8 text: byte 0x{byte:02X} at byte {place} of the line; save it as UTF-8"
