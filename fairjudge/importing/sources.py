"""Another tool's file, opened: its rows, and what is wrong with a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairjudge.datasets._rows import Row, read_rows
from fairjudge.errors import InputError
from fairjudge.importing.inspect_archive import is_archive, read_archive
from fairjudge.importing.records import Skipped
from fairjudge.inputs import mode_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file (its rows) or a folder (none).

    With ``skip_bad`` what cannot be read is added to ``bad``; without, it is an error.
    """

    path: Path
    rows: tuple[Row, ...]
    skip_bad: bool = False
    bad: list[Skipped] = field(default_factory=list)

    @property
    def first(self) -> Mapping[str, Any]:
        """The first object, empty where there is none."""
        return next((row.value for row in self.rows if isinstance(row.value, dict)), {})

    def records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the line and value of each row that is an object."""
        for row in self.rows:
            with self.at(row.line):
                if row.problem is not None:
                    raise InputError(row.problem, field=row.field)
                if not isinstance(row.value, dict):
                    raise InputError("expected an object")
                yield row.line, row.value

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Name the file and `line` in errors from within, or list them under ``skip_bad``."""
        try:
            yield
        except InputError as error:
            if error.path is not None:  # it is named already
                raise
            if not self.skip_bad:
                problem, name = error.problem, error.field
                raise InputError(problem, path=self.path, line=line, field=name) from error
            where = f"field {error.field!r}: " if error.field else ""
            self.bad.append(Skipped(line=line, why=f"{where}{error.problem}"))


def open_source(path: Path, *, skip_bad: bool = False) -> Source:
    """Read the rows of `path`; NaN, which tools write for "no number", is read as null."""
    if mode_of(path) is not None and path.is_dir():
        return Source(path=path, rows=(), skip_bad=skip_bad)
    if is_archive(path):
        return Source(path=path, rows=(Row(line=1, value=read_archive(path)),), skip_bad=skip_bad)
    rows = tuple(read_rows(path, csv_allowed=False, nan_as_null=True))
    return Source(path=path, rows=rows, skip_bad=skip_bad)
