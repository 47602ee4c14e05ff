"""Write records atomically: a file is either complete or unchanged."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fairjudge.datasets._source import file_extension
from fairjudge.domain import Record, replace_lone_surrogates
from fairjudge.errors import InputError
from fairjudge.records.folder import atomic_replacement
from fairjudge.text.printable import shows_on_terminal


def write_jsonl(path: str | Path, records: Iterable[Record | Mapping[str, Any]]) -> None:
    """Write one object per line; ``-`` is standard output, and ``.gz`` is compressed.

    The file is replaced only after it is complete; on any error (`InputError` if the path cannot be
    written to) the old file is kept.
    """
    ascii_only = shows_on_terminal(path)
    write_bytes(path, (json_line(record, ascii_only=ascii_only) for record in records))


def write_records(path: str | Path, records: Iterable[Record | Mapping[str, Any]]) -> None:
    """Write in the extension's format: ``.json`` is one list, otherwise one object per line."""
    kind = file_extension(Path(path))
    if kind == ".csv":
        raise InputError("records are written as .json or .jsonl, not as .csv", path=path)
    if kind != ".json":
        write_jsonl(path, records)
    else:
        write_bytes(path, _list_parts(records))


def _list_parts(records: Iterable[Record | Mapping[str, Any]]) -> Iterator[bytes]:
    yield b"[\n"
    for index, record in enumerate(records):
        yield (b",\n" if index else b"") + json_line(record, indent=1).rstrip(b"\n")
    yield b"\n]\n"


def json_line(
    record: Record | Mapping[str, Any], *, indent: int | None = None, ascii_only: bool = False
) -> bytes:
    """Return `record` as JSON in UTF-8, with a newline, that all readers accept."""
    value = record.to_json() if isinstance(record, Record) else dict(record)
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
    return f"{replace_lone_surrogates(text)}\n".encode()


def write_bytes(path: str | Path, parts: Iterable[bytes]) -> None:
    """Write the concatenated `parts`, with the guarantees of `write_jsonl`."""
    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # to write to the target of a link
    try:
        with _open_atomically(target) as raw:
            if target.suffix.lower() != ".gz":
                raw.writelines(parts)
                return
            # Omit file name and mtime, so that the output is reproducible.
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as compressed:
                compressed.writelines(parts)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write the file: {reason}", path=path) from error


@contextmanager
def _open_atomically(target: Path) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing; open a pipe or a device directly."""
    if target.exists() and not target.is_file():
        with target.open("wb") as raw:
            yield raw
        return
    with atomic_replacement(target) as draft, draft.open("wb") as raw:
        yield raw
        raw.flush()
        os.fsync(raw.fileno())
