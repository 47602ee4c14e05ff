"""Rows of nested files: lists of records within an object, and fields of objects as columns."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from fairjudge.converting.columns import FIELDS, name_key
from fairjudge.datasets._source import Row
from fairjudge.errors import InputError
from fairjudge.importing.sources import Json, Source

_SYSTEMS = frozenset(map(name_key, FIELDS["system"]))
_ANNOTATORS = frozenset(map(name_key, FIELDS["annotator"]))
_KEYS = frozenset(map(name_key, (*FIELDS["group"], *FIELDS["eid"]))) - {"id"} | _SYSTEMS
_MAX_DEPTH = 4
Rows: TypeAlias = Sequence[Json]


def unnest(source: Source) -> Source:
    """Return `source` with the records within its objects as rows, and their fields as columns.

    An object with one list of objects, or with objects by id, is replaced by these objects. A list
    of objects with systems or annotators becomes one row per object. The fields of an object
    ``meta`` become columns such as ``meta.story``, in addition to the column ``meta``.
    """
    rows = [row for row in source.rows if row.problem is not None or row.value is not None]
    if len(rows) == 1 and isinstance(rows[0].value, dict):
        rows = [replace(rows[0], value=value) for value in _records(rows[0].value)]
    numbered_rows = [
        (number, part) for number, row in enumerate(rows, 1) for part in _rows_within(row)
    ]
    return replace(
        source,
        rows=tuple(row for _, row in numbered_rows),
        numbers=tuple(number for number, _ in numbered_rows),
    )


def check_one_list(source: Source) -> None:
    """Reject an object of several lists whose rows refer to each other by ids.

    Raises
    ------
    InputError
        If `source` is such an object, since its lists cannot be read as one table.
    """
    if len(source.rows) != 1 or not isinstance(source.rows[0].value, dict):
        return
    lists = {name: part for name, part in source.rows[0].value.items() if _is_records(part)}
    for (_, rows), (_, referenced_rows) in combinations(lists.items(), 2):
        key = _shared_key(rows, referenced_rows) or _shared_key(referenced_rows, rows)
        if key is not None:
            path = source.path
            names = [shlex.quote(f"{name}.json") for name in lists]
            commands = [
                f"jq {shlex.quote(f'.[{json.dumps(name)}]')} {shlex.quote(str(path))} > {file}"
                for name, file in zip(lists, names, strict=True)
            ]
            raise InputError(
                f"its lists {', '.join(map(repr, lists))} refer to each other by {key!r}: write "
                f"each to a separate file and convert these together: {'; '.join(commands)}; "
                f"fairjudge convert {' '.join(names)} -o data",
                path=path,
            )


def _shared_key(rows: Rows, referenced_rows: Rows) -> str | None:
    """Return the column of `rows` that refers to rows of `referenced_rows`, or None."""
    ids = {str(row.get("id")) for row in referenced_rows}
    for name in rows[0]:
        values = {str(row.get(name)) for row in rows}
        common_values = {str(row[name]) for row in referenced_rows if name in row}
        by_name = name_key(name) in _KEYS and values & common_values
        by_id = name.casefold().endswith("_id") and values <= ids
        if len(values) > 1 and (by_name or by_id):
            return name
    return None


def _records(value: Json, depth: int = 0) -> list[Any]:
    """Return the records within an object, or the object itself if it is a record."""
    lists = [part for part in value.values() if _is_records(part)]
    objects = [part for part in value.values() if isinstance(part, dict)]
    if len(lists) == 1 and not _is_record(value):
        return list(lists[0])
    if len(objects) == len(value) > 1 and len({frozenset(part) for part in objects}) == 1:
        return [{"id": key, **part} for key, part in value.items()]
    if len(objects) == 1 and not lists and depth < _MAX_DEPTH:
        return _records(objects[0], depth + 1)
    return [value]


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _is_record(value: Json) -> bool:
    """Return whether an object also has a text or another list, as a cluster has."""
    return any(
        (isinstance(part, list) and not _is_records(part))
        or (isinstance(part, str) and name_key(name) in _TEXTS)
        for name, part in value.items()
    )


_TEXTS = frozenset(map(name_key, (*FIELDS["documents"], *FIELDS["text"], *FIELDS["reference"])))


def _rows_within(row: Row) -> Iterator[Row]:
    if not isinstance(row.value, dict):
        yield row
        return
    for value in _explode(row.value):
        yield replace(row, value=value)


def _explode(value: Json, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield one row per object of a list of objects with systems or annotators."""
    flat = dict(_flat(value))
    list_name = next(
        (name for name, part in flat.items() if _have_systems_or_annotators(part)), None
    )
    if list_name is None or depth == _MAX_DEPTH:
        yield flat
        return
    scalars = {name: part for name, part in flat.items() if name != list_name}
    for part in flat[list_name]:
        yield from _explode(
            scalars | {f"{list_name}.{name}": field for name, field in part.items()}, depth + 1
        )


def _have_systems_or_annotators(value: object) -> bool:
    if not _is_records(value):
        return False
    names = [{*map(name_key, item)} for item in value]  # type: ignore[attr-defined]
    return all(keys & _SYSTEMS for keys in names) or all(keys & _ANNOTATORS for keys in names)


def _flat(value: Json, within: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        yield within + name, part
        if isinstance(part, dict) and within.count(".") < _MAX_DEPTH:
            yield from _flat(part, f"{within}{name}.")
