"""Ratings of summaries in the cells of a table: their columns, and the numbers of words."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fairjudge.converting.columns import ASPECTS, FIELDS, Columns, folded, leaf
from fairjudge.converting.texts import id_of
from fairjudge.errors import InputError
from fairjudge.importing.records import Skipped, make_label
from fairjudge.importing.sources import Source

if TYPE_CHECKING:
    from fairjudge.converting.records import Entry
    from fairjudge.converting.roles import Roles

Row = Mapping[str, Any]
LABEL_STUDIO = frozenset({"annotation_id", "lead_time", "created_at", "updated_at"})
"""What Label Studio's JSON-MIN has beside a task's data and its ratings."""
_VERDICTS = ASPECTS | {folded(name) for name in (*FIELDS["value"], "verdict", "accept", "choice")}
_MISSING = frozenset({"", "-", "--", "?", "n/a", "na", "nan", "none", "null"})
_MAX_WORDS, _LONGEST = 8, 5
"""A column with more different answers than this, or with longer ones, holds texts."""


def rating_columns(
    source: Source, sample: list[Row], columns: Columns, roles: Roles
) -> Iterator[tuple[str, str]]:
    """Yield the columns that hold a rating of the row's summary, each with its aspect.

    Raises
    ------
    InputError
        A column that the user names holds words, and no number.
    """
    if not roles.system and not roles.texts:
        return
    if mapped := columns.named("value"):
        for column, aspect in mapped:
            _check_words(source, column, aspect)
            yield column, aspect or leaf(column)
        return
    any_name = len(LABEL_STUDIO & {*columns.names}) > 1
    ignored = roles.used() | LABEL_STUDIO | {"id"}
    for name in columns.names:
        if name not in ignored and (any_name or folded(leaf(name)) in ASPECTS):
            cells = [cell for row in sample if not _is_missing(cell := _one_value(row.get(name)))]
            if cells and all(source.score(cell) is not None for cell in cells):
                yield name, leaf(name)


def rating_of(value: object, source: Source) -> float | None:
    """Return the number of a rating; a list of one choice counts as its element."""
    return source.score(_one_value(value))


def labels_of(
    line: int,
    row: Row,
    eid: str,
    roles: Roles,
    *,
    source: Source,
    seen: Counter[tuple[str, str, str]],
) -> Iterator[Entry]:
    """Yield the labels of a row's summary; `seen` counts the rows of each summary."""
    system = id_of(row, roles.system) or next((name for _, name in roles.texts), None)
    if not roles.gives & {"labels"} or not system:
        return
    unit = id_of(row, roles.unit) or "summary"
    seen[eid, system, unit] += 1
    annotator = id_of(row, roles.annotator) or f"annotator{seen[eid, system, unit]}"
    rated = {aspect: row.get(column) for column, aspect in roles.ratings}
    if roles.aspect and roles.value:
        rated = {str(row.get(roles.aspect)): row.get(roles.value)}
    for aspect, cell in rated.items():
        value = rating_of(cell, source)
        if value is None:
            word = _one_value(cell)
            named = f": {word!r}" if isinstance(word, str) and word.strip() else ""
            yield Skipped(line=line, why=f"a rating of {aspect!r} that is no number{named}")
        else:
            item = {"eid": eid, "system": system, "aspect": aspect, "annotator": annotator}
            item |= {"unit": unit} if roles.unit else {}
            yield make_label(**item, value=int(value) if value.is_integer() else value)


def possible_ratings(rows: Iterable[Row], columns: Iterable[str], source: Source) -> Iterator[str]:
    """Yield how unused columns that seem to hold ratings are read."""
    rows = list(rows)
    for column in columns:
        if folded(leaf(column)) not in _VERDICTS:
            continue
        option = f"--map {shlex.quote(f'value={column}')}"
        cells = [cell for row in rows if not _is_missing(cell := _one_value(row.get(column)))]
        words = _words(cells, source)
        if words:
            yield f"Column {column!r} is not read. If it rates summaries: {option} {_values(words)}"
        elif cells and all(source.score(cell) is not None for cell in cells):
            yield f"Column {column!r} is not read. If it rates summaries: {option}"


def _one_value(value: object) -> object:
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return value


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _MISSING)


def _check_words(source: Source, column: str, aspect: str | None) -> None:
    cells = [
        _one_value(row.value.get(column)) for row in source.rows if isinstance(row.value, dict)
    ]
    if any(source.score(cell) is not None for cell in cells):
        return
    if words := _words(cells, source):
        raise InputError(
            f"column {column!r} holds words, no numbers: say what each is worth by "
            f"{_values(words)}",
            path=source.path,
        )
    wanted = f"{aspect!r}" if aspect else "an aspect"
    raise InputError(f"column {column!r} holds no ratings of {wanted}", path=source.path)


def _words(cells: Iterable[object], source: Source) -> list[str]:
    """Return the different words of a column of few, sorted; none where there are others."""
    values = list(cells)
    words = {cell.strip() for cell in values if isinstance(cell, str) and not _is_missing(cell)}
    words = {word for word in words if source.score(word) is None}
    is_text = any(len(word.split()) > _LONGEST for word in words)
    return [] if is_text or len(words) > _MAX_WORDS else sorted(words)


def _values(words: Iterable[str]) -> str:
    return f"--values {shlex.quote(','.join(f'{word}=NUMBER' for word in words))}"
