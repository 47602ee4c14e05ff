"""Rows of nested files: lists of records within an object, and fields of objects as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fairjudge.converting.columns import FIELDS, folded
from fairjudge.datasets._row import Row
from fairjudge.importing.sources import Source

_SYSTEMS = frozenset(map(folded, FIELDS["system"]))
_ANNOTATORS = frozenset(map(folded, FIELDS["annotator"]))
_MAX_DEPTH = 4


def unnested(source: Source) -> Source:
    """Return `source` with the records within its objects as rows, and their fields as columns.

    An object that holds one list of objects, or objects by their ids, stands for these. A list of
    objects that name systems or annotators makes a row of each. Fields of an object ``meta`` are
    columns such as ``meta.story``, beside the column ``meta``.
    """
    rows = [row for row in source.rows if row.problem is not None or row.value is not None]
    if len(rows) == 1 and isinstance(rows[0].value, dict):
        rows = [replace(rows[0], value=value) for value in _records(rows[0].value)]
    made = [(number, part) for number, row in enumerate(rows, 1) for part in _made(row)]
    return replace(
        source, rows=tuple(row for _, row in made), numbers=tuple(number for number, _ in made)
    )


def _records(value: Mapping[str, Any], depth: int = 0) -> list[Any]:
    """Return the records that an object holds; itself, where it is one."""
    lists = [part for part in value.values() if _is_records(part)]
    objects = [part for part in value.values() if isinstance(part, dict)]
    if len(lists) == 1 and not _fields_of_record(value):
        return list(lists[0])
    if len(objects) == len(value) > 1 and len({frozenset(part) for part in objects}) == 1:
        return [{"id": key, **part} for key, part in value.items()]
    if len(objects) == 1 and not lists and depth < _MAX_DEPTH:
        return _records(objects[0], depth + 1)
    return [value]


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _fields_of_record(value: Mapping[str, Any]) -> bool:
    """Say whether an object has a text or a list beside its list of objects, as a cluster has."""
    return any(
        (isinstance(part, list) and not _is_records(part))
        or (isinstance(part, str) and folded(name) in _TEXTS)
        for name, part in value.items()
    )


_TEXTS = frozenset(map(folded, (*FIELDS["documents"], *FIELDS["text"], *FIELDS["reference"])))


def _made(row: Row) -> Iterator[Row]:
    if not isinstance(row.value, dict):
        yield row
        return
    for value in _exploded(row.value):
        yield replace(row, value=value)


def _exploded(value: Mapping[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row for each object of a list that names systems or annotators."""
    flat = dict(_flat(value))
    several = next((name for name, part in flat.items() if _names_people(part)), None)
    if several is None or depth == _MAX_DEPTH:
        yield flat
        return
    rest = {name: part for name, part in flat.items() if name != several}
    for part in flat[several]:
        yield from _exploded(
            rest | {f"{several}.{name}": field for name, field in part.items()}, depth + 1
        )


def _names_people(value: object) -> bool:
    if not _is_records(value):
        return False
    names = [{*map(folded, item)} for item in value]  # type: ignore[attr-defined]
    return all(some & _SYSTEMS for some in names) or all(some & _ANNOTATORS for some in names)


def _flat(value: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        yield within + name, part
        if isinstance(part, dict) and within.count(".") < _MAX_DEPTH:
            yield from _flat(part, f"{within}{name}.")
