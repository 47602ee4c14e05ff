"""Rows to records: checked, counted, and each problem with its place."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import ValidationError

from fairjudge.datasets._problems import describe, explain
from fairjudge.datasets._rows import Row
from fairjudge.domain import Record
from fairjudge.errors import InputError
from fairjudge.text.printable import counted

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that was left out under ``--skip-bad``, and why."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Loaded(Generic[R]):
    """What a file held.

    ``lines`` gives the line of each record (in a CSV or JSON file, where it starts), ``bad`` what
    was left out, and ``repaired`` the lines in which halves of surrogate pairs became U+FFFD.
    """

    path: str
    records: tuple[R, ...]
    lines: tuple[int, ...]
    bad: tuple[BadLine, ...] = ()
    repaired: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[R]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"Loaded({self.path!r}, {counted(len(self.records), 'record')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[R]):
    """How one kind of file is read; ``unique`` names what no two records may share."""

    model: type[R]
    name: str
    fields: str
    unique: Callable[[R], dict[str, Hashable]] | None = None
    csv_allowed: bool = False


def check_rows(
    source: str, rows: Iterable[Row], kind: Kind[R], *, skip_bad: bool = False
) -> Loaded[R]:
    """Return the records of `rows`; `source`, a path or an argument's name, stands in errors.

    Raises
    ------
    InputError
        At the first bad row; with ``skip_bad``, only where no row is good.
    """
    checker = _Checker(source, kind)
    bad: list[BadLine] = []
    for row in rows:
        try:
            checker.add(row)
        except InputError as error:
            if not skip_bad:
                raise
            problem = f"field {error.field!r}: {error.problem}" if error.field else error.problem
            bad.append(BadLine(line=row.line, problem=problem))
    return checker.finish(tuple(bad))


class _Checker(Generic[R]):
    """Collects the records of one file."""

    def __init__(self, path: str, kind: Kind[R]) -> None:
        self._path = path
        self._kind = kind
        self._records: list[R] = []
        self._lines: list[int] = []
        self._repaired: list[int] = []
        self._first_line: dict[Hashable, int] = {}

    def add(self, row: Row) -> None:
        if row.problem is not None:
            raise self._error(row, row.problem, row.field)
        if not isinstance(row.value, dict | self._kind.model):
            expected = f"expected an object, {self._kind.fields}, found {describe(row.value)}"
            raise self._error(row, expected)
        record = self._validated(row)
        self._check_unique(record, row)
        self._records.append(record)
        self._lines.append(row.line)
        if row.repaired:
            self._repaired.append(row.line)

    def finish(self, bad: tuple[BadLine, ...]) -> Loaded[R]:
        if not self._records:
            problem = f"holds no {self._kind.name}"
            if bad:
                n_bad = counted(len(bad), "bad line")
                problem += f"; the first of {n_bad} is {bad[0].line}: {bad[0].problem}"
            raise InputError(problem, path=self._path)
        return Loaded(
            path=self._path,
            records=tuple(self._records),
            lines=tuple(self._lines),
            bad=bad,
            repaired=tuple(self._repaired),
        )

    def _validated(self, row: Row) -> R:
        if isinstance(row.value, self._kind.model):
            return row.value
        try:
            return self._kind.model.model_validate(row.value)
        except ValidationError as error:
            field, problem = explain(error, row.value)
        if problem.startswith("missing"):
            problem += f"; expected {self._kind.fields}"
        raise self._error(row, problem, field)

    def _check_unique(self, record: R, row: Row) -> None:
        if self._kind.unique is None:
            return
        key = self._kind.unique(record)
        values = tuple(key.values())
        first = self._first_line.get(values)
        if first is not None:
            named = ", ".join(f"{name} {value!r}" for name, value in key.items())
            raise self._error(row, f"duplicate {named} (first on line {first})", next(iter(key)))
        self._first_line[values] = row.line

    def _error(self, row: Row, problem: str, field: str | None = None) -> InputError:
        return InputError(problem, path=self._path, line=row.line, field=field)
