"""Ratings of summaries in the cells of a table: their columns, and the values of words."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from fairjudge.converting.columns import ASPECTS, FIELDS, Columns, leaf, name_key
from fairjudge.converting.texts import id_of
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.importing.records import Skipped, make_label
from fairjudge.importing.sources import Json, Source, score
from fairjudge.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from fairjudge.converting.layouts import Layout
    from fairjudge.converting.records import Entry
    from fairjudge.converting.roles import Roles

Files: TypeAlias = "Sequence[tuple[Source, Layout]]"
LABEL_STUDIO = frozenset({"annotation_id", "lead_time", "created_at", "updated_at"})
"""Columns of Label Studio's JSON-MIN other than a task's data and ratings."""
_VERDICTS = ASPECTS | {name_key(name) for name in (*FIELDS["value"], "verdict", "accept", "choice")}
_TIES = frozenset({"tie", "equal", "same", "both", "neither", "draw"})
_SUMMARY = re.compile(r"(summary|summaries|output|text|response|prediction)s?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\d+,\d+", re.ASCII)
_SIGNS = " _-.:()[]"
_MISSING = frozenset({"", "-", "--", "?", "n/a", "na", "nan", "none", "null"})
_MAX_WORDS, _MAX_ANSWER_LENGTH = 8, 5
"""Maximum number and length (in words) of the distinct answers in a column of ratings."""
_SCALE, _MAX_LEVELS = (0.0, 10.0), 11
"""Range, and maximum number of distinct values, of ratings on an unusual aspect."""
_OTHER_NUMBERS = re.compile(
    r"(^|[\W_])(id|ids|index|idx|nr|no|num|number|n|rank|order|position|pos|round|batch|fold|seed|"
    r"version|split|group|session|task|year|month|week|day|hours?|minutes?|seconds?|secs?|time|"
    r"duration|timestamp|age|price|cost|lengths?|words?|tokens?|sentences?|chars?|characters|"
    r"articles|counts?|confidence|rouge\w*|bleu\w*|meteor|bertscore|temperature)($|[\W_])",
    re.IGNORECASE,
)
"""Names of numeric columns that are not ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A column of ratings on an aspect; of one system if a row has summaries by several.

    ``pair`` are the two systems that a column of preferences compares.
    """

    column: str
    aspect: str
    system: str | None = None
    pair: tuple[str, str] | None = None

    def __str__(self) -> str:
        aspect = "" if self.aspect == leaf(self.column) else f" of {self.aspect!r}"
        of_pair = f"{self.pair[0]} and {self.pair[1]}" if self.pair else ""
        system = f" for {self.system or of_pair!r}" if self.system or of_pair else ""
        return f"{self.column!r}{aspect}{system}"


def rating_columns(
    source: Source, sample: list[Json], columns: Columns, roles: Roles
) -> Iterator[Rating]:
    """Yield the columns with ratings of the row's summaries.

    Raises
    ------
    InputError
        If a mapped column contains words instead of numbers, or the rated system is unknown.
    """
    if not roles.system and not roles.texts:
        return
    mapped_ratings = [
        _mapped_rating(source, column, target, roles) for column, target in columns.targets("value")
    ]
    yield from mapped_ratings
    ignored_columns = (
        roles.used() | LABEL_STUDIO | {"id"} | {rating.column for rating in mapped_ratings}
    )
    ignored_columns |= columns.mapped_columns | {name.rpartition(".")[0] for name in columns.names}
    aspects = {(name_key(rating.aspect), rating.system) for rating in mapped_ratings}
    numbers = {
        rating: values
        for name in columns.names
        if name not in ignored_columns and (rating := _rating_by_name(name, roles)) is not None
        if (name_key(rating.aspect), rating.system) not in aspects
        if (values := _numbers(sample, name, source))
    }
    usual_ratings = [rating for rating in numbers if name_key(rating.aspect) in ASPECTS]
    if len(LABEL_STUDIO & {*columns.names}) > 1 and not mapped_ratings:
        yield from numbers
        return
    has_human_ratings = bool(usual_ratings) or (roles.annotator is not None and not mapped_ratings)
    scale = [value for rating in usual_ratings for value in numbers[rating]] or _SCALE
    for rating, values in numbers.items():
        is_rating = has_human_ratings and _are_ratings(rating.aspect, values, scale)
        if rating in usual_ratings or is_rating:
            yield rating


def _numbers(sample: Sequence[Json], column: str, source: Source) -> list[float]:
    """Return the numbers of a column; none if a cell contains something else."""
    numbers = [rating_of(cell, source) for cell in _cells(sample, column)]
    return [] if None in numbers else [number for number in numbers if number is not None]


def _are_ratings(name: str, values: Sequence[float], scale: Sequence[float]) -> bool:
    """Return whether numbers under the name of an unusual aspect are ratings on `scale`."""
    low, high = min(scale), max(scale)
    if _OTHER_NUMBERS.search(name) or len({*values}) > _MAX_LEVELS:
        return False
    return all(min(low, 1) <= value <= max(high, 5) for value in values)


def _mapped_rating(source: Source, column: str, target: str | None, roles: Roles) -> Rating:
    aspect, _, system = (target or "").partition("@")
    by_name = _rating_by_name(column, roles)
    if pair := _preferences(source, column, roles):
        return Rating(column=column, aspect=aspect or leaf(column), pair=pair)
    if not system and by_name is None:
        raise InputError(
            f"column {column!r}: the rated system is unknown; specify it with "
            f"{map_option(f'value:{aspect or leaf(column)}@SYSTEM={column}')}",
            path=source.path,
        )
    _check_words(source, column, aspect)
    rating = by_name or Rating(column=column, aspect=leaf(column))
    return replace(rating, aspect=aspect or rating.aspect, system=system or rating.system)


def _rating_by_name(column: str, roles: Roles) -> Rating | None:
    """Return the rating that a column's name describes, or None if it names no system."""
    name = leaf(column)
    if roles.system or len(roles.texts) < 2:
        return Rating(column=column, aspect=name)
    matches = [
        (word, system)
        for text, system in roles.texts
        for word in (text, system, short_name(text), short_name(system or ""))
        if word and system and name_key(word) and name_key(word) in name_key(name)
    ]
    if not matches:
        return None
    word, system = max(matches, key=lambda pair: len(pair[0]))
    aspect = re.sub(re.escape(word), "", name, flags=re.IGNORECASE).strip(_SIGNS)
    return Rating(column=column, aspect=aspect or name, system=system)


def short_name(name: str) -> str:
    """Return the distinguishing part of a summary column's name: ``gpt`` of ``gpt_summary``."""
    return _SUMMARY.sub("", name).strip(_SIGNS)


def _preferences(source: Source, column: str, roles: Roles) -> tuple[str, str] | None:
    """Return the two systems of a row, if a column contains preferences between them."""
    systems = [system for _, system in roles.texts if system]
    cells = _cells(source.objects, column)
    words = {name_key(cell) for cell in cells if isinstance(cell, str)}
    if roles.system or len(systems) != 2 or not words:
        return None
    choices = {*_sides((systems[0], systems[1])), *_TIES}
    return (systems[0], systems[1]) if words <= choices else None


def rating_of(value: object, source: Source) -> float | None:
    """Return the number of a rating; of a list of one choice its element's, of "3,5" 3.5."""
    cell = _one_value(value)
    if isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell.strip()):
        cell = cell.replace(",", ".")
    return source.score(cell)


def labels_of(
    line: int,
    row: Json,
    eid: str,
    roles: Roles,
    *,
    source: Source,
    row_counts: Counter[tuple[str, str, str]],
) -> Iterator[Entry]:
    """Yield the labels of a row's summaries; `row_counts` counts the rows of each summary."""
    if not roles.kinds & {"labels"}:
        return
    default_system = id_of(row, roles.system) or next((name for _, name in roles.texts), None)
    unit = id_of(row, roles.unit) or "summary"
    ratings = roles.ratings
    if roles.aspect and roles.value:
        ratings = (Rating(column=roles.value, aspect=str(row.get(roles.aspect))),)
    annotators: dict[str, str] = {}
    for rating in ratings:
        systems = rating.pair or (rating.system or default_system,)
        if None in systems:
            continue
        systems_key = " ".join(map(str, systems))
        if systems_key not in annotators:
            row_counts[eid, systems_key, unit] += 1
            annotators[systems_key] = f"annotator{row_counts[eid, systems_key, unit]}"
        cell = _one_value(row.get(rating.column))
        value = _parse_preference(cell, rating.pair) if rating.pair else rating_of(cell, source)
        if value is None:
            cell_text = f": {cell!r}" if isinstance(cell, str) and cell.strip() else ""
            reason = f"a rating of {rating.aspect!r} that is not a number{cell_text}"
            yield Skipped(line=line, why=reason)
            continue
        names = ("system_a", "system_b") if rating.pair else ("system",)
        item = {"eid": eid, "aspect": rating.aspect, **dict(zip(names, systems, strict=True))}
        item |= {"annotator": id_of(row, roles.annotator) or annotators[systems_key]}
        item |= {"unit": unit} if roles.unit else {}
        is_whole = isinstance(value, float) and value.is_integer()
        yield make_label(**item, value=int(value) if is_whole else value)


def _parse_preference(cell: object, pair: tuple[str, str]) -> str | None:
    word = name_key(cell) if isinstance(cell, str) else ""
    return "tie" if word in _TIES else _sides(pair).get(word)


def _sides(pair: tuple[str, str]) -> dict[str, str]:
    """Return the side of a pair by each name of its systems."""
    names = zip(pair, "ab", strict=True)
    return {name_key(word): side for system, side in names for word in (system, short_name(system))}


def possible_ratings(files: Files) -> Iterator[str]:
    """Yield advice on unused columns that seem to contain ratings of summaries."""
    for source, layout in files:
        if layout.roles is not None and "summaries" in layout.kinds:
            yield from _possible_ratings(source, layout.roles, layout.unused())


def _possible_ratings(source: Source, roles: Roles, columns: Iterable[str]) -> Iterator[str]:
    rows = source.objects
    for column in columns:
        if _preferences(source, column, roles):
            option = map_option(f"value:quality={column}")
            yield f"Column {column!r} is not read. If it says which summary is better: {option}"
            continue
        list_cells = [cell for row in rows if isinstance(cell := row.get(column), list) and cell]
        has_levels = bool(roles.ratings) and _are_levels(column, rows, source)
        if not list_cells and not has_levels and name_key(leaf(column)) not in _VERDICTS:
            continue
        option = map_option(f"value={column}")
        cells = _cells(rows, column)
        words = _words(cells, source)
        if words:
            option += f" {_values_option(words)}"
            yield f"Column {column!r} is not read. If it rates summaries: {option}"
        elif cells and all(rating_of(cell, source) is not None for cell in cells):
            yield f"Column {column!r} is not read. If it rates summaries: {option}"


def _are_levels(column: str, rows: Sequence[Json], source: Source) -> bool:
    """Return whether a column next to ratings may contain ratings on another scale."""
    values = _numbers(rows, column, source)
    return bool(values) and not _OTHER_NUMBERS.search(leaf(column)) and len({*values}) > 1


def map_option(text: str) -> str:
    """Return the option that maps a field to a column, quoted for a shell."""
    return f"--map {shlex.quote(text)}"


def _cells(rows: Iterable[Json], column: str) -> list[object]:
    """Return the values of a column, without missing ones."""
    return [cell for row in rows if not _is_missing(cell := _one_value(row.get(column)))]


def _one_value(value: object) -> object:
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return value


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _MISSING)


def check_words(files: Files, values: Mapping[str, float]) -> None:
    """Check that each word of `values` is in a cell.

    Raises
    ------
    ConfigurationError
        If no cell contains one of the words.
    """
    if not values or not files:
        return
    cells = {
        _word(text) for source, _ in files for row in source.rows for text in _texts(row.value)
    }
    for word in values:
        if _word(word) not in cells:
            words = sorted({text for file in files for text in _rated_words(*file)})
            columns = f"; columns of ratings contain {', '.join(map(repr, words))}" if words else ""
            advice = did_you_mean(word, words)
            raise ConfigurationError(f"--values: no cell contains {word!r}{columns}{advice}")


def _rated_words(source: Source, layout: Layout) -> Iterator[str]:
    """Yield the words in the columns of ratings."""
    roles = layout.roles
    columns = [*(rating.column for rating in roles.ratings), roles.value] if roles else []
    for column in filter(None, columns):
        cells = [_one_value(row.get(column)) for row in source.objects]
        yield from (cell.strip() for cell in cells if isinstance(cell, str) and score(cell) is None)


def _texts(value: object) -> Iterator[str]:
    """Yield all texts within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _word(text: str) -> str:
    return text.strip().casefold()


def _check_words(source: Source, column: str, aspect: str) -> None:
    cells = _cells(source.objects, column)
    if any(rating_of(cell, source) is not None for cell in cells):
        return
    if words := _words(cells, source):
        raise InputError(
            f"column {column!r} contains words, not numbers; define their values with "
            f"{_values_option(words)}",
            path=source.path,
        )
    target = f"{aspect!r}" if aspect else "an aspect"
    raise InputError(f"column {column!r} contains no ratings of {target}", path=source.path)


def _words(cells: Iterable[object], source: Source) -> list[str]:
    """Return the distinct words of a column, sorted; none if there are too many or long ones."""
    texts = {cell.strip() for cell in cells if isinstance(cell, str)}
    words = {word for word in texts if rating_of(word, source) is None}
    is_text = any(len(word.split()) > _MAX_ANSWER_LENGTH for word in words)
    return [] if is_text or len(words) > _MAX_WORDS else sorted(words)


def _values_option(words: Iterable[str]) -> str:
    return f"--values {shlex.quote(','.join(f'{word}=NUMBER' for word in words))}"
