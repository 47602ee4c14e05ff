"""Export and import a cache's entries as JSONL."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.postgres import PostgresCache
from fairjudge.errors import InputError
from fairjudge.files import check_regular

AnyCache: TypeAlias = ReplyCache | PostgresCache
_KEY = re.compile(r"[0-9a-f]{64}")
_MAX_LINE_CHARACTERS = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """Result of `import_cache`: entries added, and entries that the cache already contained."""

    n_added: int
    n_known: int


def export_cache(cache: AnyCache, path: str | Path) -> int:
    """Write all valid entries of `cache` to `path` and return their number.

    Each line is ``{"key", "value"}``; a file whose name ends in ``.gz`` is compressed. A file that
    cannot be written raises `InputError`.
    """
    n_written = 0
    try:
        with _open(path, "wt") as file:
            for key, value in cache.items():
                line = json.dumps({"key": key, "value": value}, ensure_ascii=False)
                file.write(line + "\n")
                n_written += 1
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from error
    return n_written


def import_cache(cache: AnyCache, path: str | Path) -> ImportReport:
    """Add the entries of an exported file to `cache`; existing entries are not changed.

    An unreadable file and an invalid line raise `InputError`; entries before it have been added.
    """
    n_added = n_known = 0
    check_regular(Path(path))
    try:
        with _open(path, "rt") as file:
            lines = iter(lambda: file.readline(_MAX_LINE_CHARACTERS + 1), "")
            for number, line in enumerate(lines, start=1):
                if len(line) > _MAX_LINE_CHARACTERS:
                    problem = f"a line has more than {_MAX_LINE_CHARACTERS:,} characters"
                    raise InputError(problem, path=path, line=number)
                if not line.strip():
                    continue
                key, value = _entry(line, path=path, number=number)
                if cache.get(key) is None:
                    cache.put(key, value)
                    n_added += 1
                else:
                    n_known += 1
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"cannot read: {error}", path=path) from error
    return ImportReport(n_added=n_added, n_known=n_known)


def _open(path: str | Path, mode: str) -> IO[str]:
    opener: Any = gzip.open if str(path).endswith(".gz") else open
    file: IO[str] = opener(path, mode, encoding="utf-8", newline="\n")
    return file


def _entry(line: str, *, path: str | Path, number: int) -> tuple[str, Mapping[str, Any]]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:  # too many digits, too deep
        problem = getattr(error, "msg", error)
        raise InputError(f"not JSON: {problem}", path=path, line=number) from None
    entry = entry if isinstance(entry, dict) else {}
    key, value = entry.get("key"), entry.get("value")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError("expected 64 hexadecimal digits", path=path, line=number, field="key")
    if not isinstance(value, dict):
        raise InputError("expected an object", path=path, line=number, field="value")
    return key, value
