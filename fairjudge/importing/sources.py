"""Another tool's file: its rows, typed access to their fields, and errors with line numbers.

A field of an unexpected type raises `InputError`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from fairjudge.datasets._problems import describe
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import Row, read_bytes
from fairjudge.errors import InputError
from fairjudge.files import file_mode
from fairjudge.importing.inspect_archive import is_archive, read_archive
from fairjudge.importing.records import Skipped

T = TypeVar("T")
Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""

_WORDS = dict.fromkeys(("yes", "true", "pass"), 1.0) | dict.fromkeys(("no", "false", "fail"), 0.0)
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file with its rows, or a folder without rows.

    With ``skip_bad`` invalid rows are added to ``skipped``; without, they are errors. ``answers``
    maps words (in lower case) to values, for verbal scores. ``numbers`` are the record numbers of
    the rows, if a record has several rows.
    """

    path: Path
    rows: tuple[Row, ...]
    skip_bad: bool = False
    skipped: list[Skipped] = field(default_factory=list)
    answers: Mapping[str, float] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()

    def score(self, value: object) -> float | None:
        """Return the number of a score, from ``answers`` if they have its word, else by `score`."""
        word = value.strip().casefold() if isinstance(value, str) else ""
        return self.answers[word] if word in self.answers else score(value)

    @property
    def first(self) -> Json:
        """The first object, empty if there is none."""
        return next((row.value for row in self.rows if isinstance(row.value, dict)), {})

    @property
    def objects(self) -> list[Json]:
        """The values of the rows that are objects."""
        return [row.value for row in self.rows if isinstance(row.value, dict)]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number from 1, text) of each non-blank line; nothing for a folder."""
        if not self.path.is_dir():
            content = read_bytes(self.path).decode("utf-8", "replace")
            yield from ((n, line) for n, line in enumerate(content.split("\n"), 1) if line.strip())

    def records(self) -> Iterator[tuple[int, Json]]:
        """Yield (line number, value) of each row that is an object."""
        yield from ((line, value) for _, line, value in self.numbered_records())

    def numbered_records(self) -> Iterator[tuple[int, int, Json]]:
        """Yield (record number, line number, value) of each row that is an object."""
        numbers = self.numbers or range(1, len(self.rows) + 1)
        for number, row in zip(numbers, self.rows, strict=True):
            with self.locate_errors(row.line):
                if row.problem is not None:
                    raise InputError(row.problem, field=row.field)
                if not isinstance(row.value, dict):
                    raise InputError("expected an object")
                yield number, row.line, row.value

    @contextmanager
    def locate_errors(self, line: int) -> Iterator[None]:
        """Add file and line to errors in the block; with ``skip_bad`` list them in ``skipped``."""
        try:
            yield
        except InputError as error:
            if error.path is not None:  # already located
                raise
            if not self.skip_bad:
                problem, name = error.problem, error.field
                raise InputError(problem, path=self.path, line=line, field=name) from error
            prefix = f"field {error.field!r}: " if error.field else ""
            self.skipped.append(Skipped(line=line, why=f"{prefix}{error.problem}"))


def open_source(
    path: Path, *, skip_bad: bool = False, answers: Mapping[str, float] | None = None
) -> Source:
    """Read the rows of `path`; NaN, which tools write for missing numbers, is read as null."""
    rows: tuple[Row, ...] = ()
    if is_archive(path):
        rows = (Row(line=1, value=read_archive(path)),)
    elif file_mode(path) is None or not path.is_dir():
        rows = tuple(read_rows(path, csv_allowed=True, nan_as_null=True))
    return Source(path=path, rows=rows, skip_bad=skip_bad, answers=answers or {})


def text(row: Json, name: str) -> str:
    """Return the required, non-empty text or whole number under `name`, as text."""
    value = text_or_none(row, name)
    if not value:
        raise InputError("missing" if row.get(name) is None else "must not be empty", field=name)
    return value


def text_or_none(row: Json, name: str) -> str | None:
    """Return the text or whole number under `name`, as text, None if it is missing."""
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"expected text, found {describe(value)}", field=name)


def mapping(row: Json, name: str) -> Json:
    """Return the object under `name`, an empty one if it is missing."""
    return _value_of_type(row, name, dict) or {}


def items(row: Json, name: str) -> Iterator[Json]:
    """Yield the objects of the list under `name`; nothing if it is missing."""
    for index, item in enumerate(_value_of_type(row, name, list) or ()):
        if not isinstance(item, dict):
            raise InputError(
                f"expected an object, found {describe(item)}", field=f"{name}[{index}]"
            )
        yield item


def non_null_fields(row: Json, *names: str) -> dict[str, Any]:
    """Return the fields of `names` that are not null."""
    return {name: row[name] for name in names if row.get(name) is not None}


def first_text(row: Json, *names: str) -> str | None:
    """Return the first non-empty text or whole number under `names`, as text, or None."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
            return str(value)
    return None


def name_in(row: Json, field: str, *names: str) -> str | None:
    """Return the name under `field`: its text, or in an object the first text under `names`."""
    value = row.get(field)
    return first_text(value, *names) if isinstance(value, dict) else first_text(row, field)


def judged_item(
    metadata: Json, *, eid: Callable[[], str], system: str, unit: str | None = None
) -> dict[str, Any]:
    """Return eid, system and unit of the judged item; the user's `metadata` have priority."""
    return {
        "eid": first_text(metadata, "eid") or eid(),
        "system": first_text(metadata, "system") or system,
        "unit": first_text(metadata, "unit") or unit or "summary",
    }


def score(value: object) -> float | None:
    """Return the number of a tool's score: true and "yes" are 1, "3" is 3; else None."""
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        word = value.strip().casefold()
        if _NUMBER.fullmatch(word):
            return float(word)
        return _WORDS.get(word)
    return None


def fingerprint(*parts: str) -> str:
    """Return a hash of `parts` (16 hexadecimal digits), for items without an id."""
    content = "\x1f".join(parts)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Ids:
    """Unique ids for items with equal names and different contents."""

    def __init__(self) -> None:
        self._contents: dict[str, dict[object, int]] = {}

    def unique_id(self, name: str, content: object) -> str:
        """Return `name`, with the suffix ``#2``, ``#3`` ... for further contents of that name."""
        contents = self._contents.setdefault(name, {})
        number = contents.setdefault(content, len(contents) + 1)
        return name if number == 1 else f"{name}#{number}"


def _value_of_type(row: Json, name: str, kind: type[T]) -> T | None:
    value = row.get(name)
    if value is None or isinstance(value, kind):
        return value
    expected = "a list" if kind is list else "an object"
    raise InputError(f"expected {expected}, found {describe(value)}", field=name)
