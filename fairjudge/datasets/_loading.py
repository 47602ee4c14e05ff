"""Load and validate records from a file, a reader's result, dicts or a data frame."""

from __future__ import annotations

import math
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._problems import describe, validate_record
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import Row
from fairjudge.domain import Record
from fairjudge.errors import InputError
from fairjudge.text.counting import pluralize

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that was skipped under ``--skip-bad``, and the problem."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Loaded(Generic[R]):
    """The records of a file.

    ``lines`` has the line of each record (its first line in a CSV or JSON file), ``bad`` the
    skipped lines, and ``repaired`` the lines in which lone surrogates were replaced by U+FFFD.
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
        return f"Loaded({self.path!r}, {pluralize(len(self.records), 'record')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[R]):
    """How to read one kind of records; their values of the fields ``unique`` must be distinct."""

    model: type[R]
    name: str
    fields: str
    unique: tuple[str, ...] = ()
    csv_allowed: bool = False


def read_records(
    source: object, kind: Kind[R], *, skip_bad: bool = False, argument: str | None = None
) -> Loaded[R]:
    """Read the records of one kind from `source`.

    Parameters
    ----------
    source
        A path, the result of a reader or of `fairjudge.convert`, one record, an iterable of records
        or dicts (a list, a Hugging Face data set, ...), or a pandas data frame with one row per
        record.
    kind
        The kind of the records.
    skip_bad
        Skip bad records, and list them in ``bad``.
    argument
        The name of `source` in errors if it is not a file.

    Raises
    ------
    InputError
        At the first bad record (with ``skip_bad``, only if all are bad), or if `source` has another
        type; with file or argument, line and field.
    """
    if isinstance(source, str | Path):
        try:
            rows = read_rows(Path(source), csv_allowed=kind.csv_allowed)
            return _check_rows(str(source), rows, kind, skip_bad=skip_bad)
        except InputError as error:
            raise _error_with_command(error, Path(source), kind) from None
    if isinstance(source, Loaded) and all(
        isinstance(record, kind.model) for record in source.records
    ):
        return source
    name = argument or kind.name
    return _check_rows(name, _rows(source, kind, name), kind, skip_bad=skip_bad)


def _error_with_command(error: InputError, path: Path, kind: Kind[Any]) -> InputError:
    """Return `error`, with the command that converts the file to such records, if there is one."""
    from fairjudge.converting.files import command_for

    if error.problem.startswith("duplicate"):  # the file already has the expected layout
        return error
    if error.field == "question_answers" and error.problem.startswith("missing"):
        advice = "To build references from clusters: "
        command, call = f"fairjudge build {shlex.quote(str(path))} -o FILE", "fj.build"
    elif convert_command := command_for(path, kind.name):
        advice = "To convert it from another layout: "
        command, call = convert_command, "fj.convert"
    else:
        return error
    shell_error, python_error = (
        InputError(f"{error.problem}. {hint}", path=error.path, line=error.line, field=error.field)
        for hint in (advice + command, f"{advice}{call}({str(path)!r})")
    )
    shell_error.command_line_text, shell_error.args = str(shell_error), python_error.args
    return shell_error


def _rows(source: object, kind: Kind[Any], argument: str) -> Iterator[Row]:
    for number, item in enumerate(_items(source, kind, argument), start=1):
        value = item
        if isinstance(item, Mapping):
            value = _to_builtin(item)
        elif isinstance(item, Record) and not isinstance(item, kind.model):
            value = item.to_json()
        yield Row(line=number, value=value)


def _items(source: object, kind: Kind[Any], argument: str) -> Iterable[object]:
    if hasattr(source, "records_of"):  # the result of `fairjudge.convert`
        records: Iterable[object] = source.records_of(kind.name)
        return records
    if isinstance(source, Record | Mapping):
        return (source,)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas data frame
        return (_without_empty_cells(row) for row in source.to_dict("records"))
    if isinstance(source, Iterable):
        return source
    raise InputError(
        f"expected a path, a list of {kind.name} or a data frame, found {describe(source)}",
        path=argument,
    )


def _without_empty_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return `row` without the cells that are empty in a data frame."""
    return {key: value for key, value in row.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _to_builtin(value: Any) -> Any:
    """Return `value` with arrays and their numbers as built-in types."""
    if isinstance(value, Mapping):
        return {key: _to_builtin(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_builtin(part) for part in value]
    return _to_builtin(value.tolist()) if hasattr(value, "tolist") else value


def _check_rows(source: str, rows: Iterable[Row], kind: Kind[R], *, skip_bad: bool) -> Loaded[R]:
    """Return the records of `rows`; `source`, a path or an argument's name, is used in errors."""
    records: list[tuple[Row, R]] = []
    bad_lines: list[BadLine] = []
    first_lines: dict[tuple[Hashable, ...], int] = {}
    for row in rows:
        try:
            record = _record(row, kind)
            _check_unique(record, row.line, kind, first_lines)
        except InputError as error:
            problem, field = error.problem, error.field
            if not skip_bad:
                raise InputError(problem, path=source, line=row.line, field=field) from None
            problem = f"field {field!r}: {problem}" if field else problem
            bad_lines.append(BadLine(line=row.line, problem=problem))
        else:
            records.append((row, record))
    if not records:
        problem = f"holds no {kind.name}"
        if bad_lines:
            n_bad = pluralize(len(bad_lines), "bad line")
            problem += f"; the first of {n_bad} is {bad_lines[0].line}: {bad_lines[0].problem}"
        raise InputError(problem, path=source)
    return Loaded(
        path=source,
        records=tuple(record for _, record in records),
        lines=tuple(row.line for row, _ in records),
        bad=tuple(bad_lines),
        repaired=tuple(row.line for row, _ in records if row.repaired),
    )


def _record(row: Row, kind: Kind[R]) -> R:
    if row.problem is not None:
        raise InputError(row.problem, field=row.field)
    if isinstance(row.value, kind.model):
        return row.value
    if not isinstance(row.value, dict):
        raise InputError(f"expected an object, {kind.fields}, found {describe(row.value)}")
    value = _parse_cells(row.value, kind.model) if row.flat else row.value
    try:
        return validate_record(kind.model, value)
    except InputError as error:
        expected = f"; expected {kind.fields}" if error.problem.startswith("missing") else ""
        raise InputError(error.problem + expected, field=error.field) from None


def _parse_cells(row: Mapping[str, Any], model: type[Record]) -> dict[str, Any]:
    """Return `row` with nested values parsed from the JSON in its cells."""
    nested_fields = {"meta"} | {
        name
        for name, field in model.model_fields.items()
        if {get_origin(part) for part in (field.annotation, *get_args(field.annotation))}
        & {tuple, Mapping}
    }
    return {
        name: _parse_cell(cell) if name in nested_fields else cell for name, cell in row.items()
    }


def _parse_cell(cell: object) -> object:
    try:
        return parse(cell) if isinstance(cell, str) else cell
    except JsonError:
        return cell


def _check_unique(
    record: R, line: int, kind: Kind[R], first_lines: dict[tuple[Hashable, ...], int]
) -> None:
    values = tuple(getattr(record, name) for name in kind.unique)
    if values and values in first_lines:
        key = ", ".join(
            f"{name} {value!r}" for name, value in zip(kind.unique, values, strict=True)
        )
        problem = f"duplicate {key} (first on line {first_lines[values]})"
        raise InputError(problem, field=kind.unique[0])
    first_lines[values] = line
