"""Records from a file, what a reader returned, dicts, or a data frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fairjudge.datasets._loading import Kind, Loaded, check_rows
from fairjudge.datasets._problems import describe
from fairjudge.datasets._rows import Row, read_rows
from fairjudge.domain import Record
from fairjudge.errors import InputError

_R = TypeVar("_R", bound=Record)


def read_records(
    source: object, kind: Kind[_R], *, skip_bad: bool = False, argument: str | None = None
) -> Loaded[_R]:
    """Return the records of one kind that `source` holds.

    Parameters
    ----------
    source
        A path, what a reader returned, one record, an iterable of records or dicts (a list, a
        Hugging Face data set, ...), or a pandas data frame with one row a record.
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
        rows = read_rows(Path(source), csv_allowed=kind.csv_allowed)
        return check_rows(str(source), rows, kind, skip_bad=skip_bad)
    if isinstance(source, Loaded) and all(isinstance(one, kind.model) for one in source.records):
        return source
    name = argument or kind.name
    return check_rows(name, _rows(source, kind, name), kind, skip_bad=skip_bad)


def _rows(given: object, kind: Kind[Any], argument: str) -> Iterator[Row]:
    for number, one in enumerate(_items(given, kind, argument), start=1):
        if isinstance(one, kind.model):
            yield Row(line=number, value=one)
        elif isinstance(one, Record):
            yield Row(line=number, value=one.to_json())
        elif isinstance(one, Mapping):
            yield Row(line=number, value=_plain(one))
        else:
            yield Row(line=number, value=one)


def _items(given: object, kind: Kind[Any], argument: str) -> Iterable[object]:
    if isinstance(given, Record | Mapping):
        return (given,)
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # a pandas data frame
        return (_present(row) for row in given.to_dict("records"))
    if isinstance(given, Iterable):
        return given
    raise InputError(
        f"expected a path, a list of {kind.name} or a data frame, found {describe(given)}",
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
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value
