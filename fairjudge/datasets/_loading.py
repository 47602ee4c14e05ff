"""Records from a file, what a reader returned, dicts, or a data frame: checked and counted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._problems import describe, validated
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import Row
from fairjudge.domain import Record
from fairjudge.errors import InputError
from fairjudge.text.counting import pluralize

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
        return f"Loaded({self.path!r}, {pluralize(len(self.records), 'record')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[R]):
    """How one kind of file is read; ``unique`` names the fields that no two records may share."""

    model: type[R]
    name: str
    fields: str
    unique: tuple[str, ...] = ()
    csv_allowed: bool = False


def read_records(
    source: object, kind: Kind[R], *, skip_bad: bool = False, argument: str | None = None
) -> Loaded[R]:
    """Return the records of one kind that `source` holds.

    Parameters
    ----------
    source
        A path, what a reader or `fairjudge.convert` returned, one record, an iterable of records
        or dicts (a list, a Hugging Face data set, ...), or a pandas data frame with one row a
        record.
    kind
        What the records are.
    skip_bad
        Leave bad records out, and list them in ``bad``.
    argument
        What errors call `source` where it is no file.

    Raises
    ------
    InputError
        At the first bad record (with ``skip_bad``, only where none is good), or if `source` is of
        another type: names file or argument, line and field.
    """
    if isinstance(source, str | Path):
        try:
            rows = read_rows(Path(source), csv_allowed=kind.csv_allowed)
            return _checked(str(source), rows, kind, skip_bad=skip_bad)
        except InputError as error:
            raise _naming_command(error, Path(source), kind) from None
    if isinstance(source, Loaded) and all(
        isinstance(record, kind.model) for record in source.records
    ):
        return source
    name = argument or kind.name
    return _checked(name, _rows(source, kind, name), kind, skip_bad=skip_bad)


def _naming_command(error: InputError, path: Path, kind: Kind[Any]) -> InputError:
    """Return `error`, with the command that makes such records of the file, if there is one."""
    from fairjudge.converting.files import command_for

    if error.problem.startswith("duplicate"):  # records of ours, all the same
        return error
    if error.field == "question_answers" and error.problem.startswith("missing"):
        advice = "Clusters become references by: "
        command, call = f"fairjudge build {shlex.quote(str(path))} -o FILE", "fj.build"
    elif converting := command_for(path, kind.name):
        advice = "It is in another layout: "
        command, call = converting, "fj.convert"
    else:
        return error
    in_shell, in_python = (
        InputError(f"{error.problem}. {hint}", path=error.path, line=error.line, field=error.field)
        for hint in (advice + command, f"{advice}{call}({str(path)!r})")
    )
    in_shell.command_line_text, in_shell.args = str(in_shell), in_python.args
    return in_shell


def _rows(source: object, kind: Kind[Any], argument: str) -> Iterator[Row]:
    for number, item in enumerate(_items(source, kind, argument), start=1):
        value = item
        if isinstance(item, Mapping):
            value = _plain(item)
        elif isinstance(item, Record) and not isinstance(item, kind.model):
            value = item.to_json()
        yield Row(line=number, value=value)


def _items(source: object, kind: Kind[Any], argument: str) -> Iterable[object]:
    if hasattr(source, "records_of"):  # what `fairjudge.convert` returned
        records: Iterable[object] = source.records_of(kind.name)
        return records
    if isinstance(source, Record | Mapping):
        return (source,)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas data frame
        return (_present(row) for row in source.to_dict("records"))
    if isinstance(source, Iterable):
        return source
    raise InputError(
        f"expected a path, a list of {kind.name} or a data frame, found {describe(source)}",
        path=argument,
    )


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a data frame fills cells with that have no value."""
    return {key: value for key, value in row.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _plain(value: Any) -> Any:
    """Return `value` with arrays and their numbers as Python's own."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _checked(source: str, rows: Iterable[Row], kind: Kind[R], *, skip_bad: bool) -> Loaded[R]:
    """Return the records of `rows`; `source`, a path or an argument's name, stands in errors."""
    good: list[tuple[Row, R]] = []
    bad: list[BadLine] = []
    first_line: dict[tuple[Hashable, ...], int] = {}
    for row in rows:
        try:
            record = _record(row, kind)
            _check_unique(record, row.line, kind, first_line)
        except InputError as error:
            problem, field = error.problem, error.field
            if not skip_bad:
                raise InputError(problem, path=source, line=row.line, field=field) from None
            problem = f"field {field!r}: {problem}" if field else problem
            bad.append(BadLine(line=row.line, problem=problem))
        else:
            good.append((row, record))
    if not good:
        problem = f"holds no {kind.name}"
        if bad:
            n_bad = pluralize(len(bad), "bad line")
            problem += f"; the first of {n_bad} is {bad[0].line}: {bad[0].problem}"
        raise InputError(problem, path=source)
    return Loaded(
        path=source,
        records=tuple(record for _, record in good),
        lines=tuple(row.line for row, _ in good),
        bad=tuple(bad),
        repaired=tuple(row.line for row, _ in good if row.repaired),
    )


def _record(row: Row, kind: Kind[R]) -> R:
    if row.problem is not None:
        raise InputError(row.problem, field=row.field)
    if isinstance(row.value, kind.model):
        return row.value
    if not isinstance(row.value, dict):
        raise InputError(f"expected an object, {kind.fields}, found {describe(row.value)}")
    value = _unpacked(row.value, kind.model) if row.flat else row.value
    try:
        return validated(kind.model, value)
    except InputError as error:
        expected = f"; expected {kind.fields}" if error.problem.startswith("missing") else ""
        raise InputError(error.problem + expected, field=error.field) from None


def _unpacked(row: Mapping[str, Any], model: type[Record]) -> dict[str, Any]:
    """Return `row` with nested values parsed from the JSON in its cells."""
    nests = {"meta"} | {
        name
        for name, field in model.model_fields.items()
        if {get_origin(part) for part in (field.annotation, *get_args(field.annotation))}
        & {tuple, Mapping}
    }
    return {name: _parsed(cell) if name in nests else cell for name, cell in row.items()}


def _parsed(cell: object) -> object:
    try:
        return parse(cell) if isinstance(cell, str) else cell
    except JsonError:
        return cell


def _check_unique(
    record: R, line: int, kind: Kind[R], first_line: dict[tuple[Hashable, ...], int]
) -> None:
    values = tuple(getattr(record, name) for name in kind.unique)
    if values and values in first_line:
        key = ", ".join(f"{name} {v!r}" for name, v in zip(kind.unique, values, strict=True))
        problem = f"duplicate {key} (first on line {first_line[values]})"
        raise InputError(problem, field=kind.unique[0])
    first_line[values] = line
