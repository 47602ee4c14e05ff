"""Join two files by id (judgements with labels, two runs): matched and unmatched items.

All commands use these functions to join files by id. Ids that another program converted to floats
match, a join without matches is an error, and a join with few matches is the first finding of a
report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from fairjudge.domain import Record
from fairjudge.errors import InputError
from fairjudge.text.counting import pluralize

Side: TypeAlias = Literal["left", "right"]
K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=Record)

MIN_MATCHED_SHARE = 0.9
"""Minimum share of a side's items, in [0, 1], that should match; less is a finding of a report."""
_ID_FIELDS = (("eid",), ("system", "system_a", "system_b"))
"""Groups of fields with ids of the same kind."""
_WHOLE_FLOAT = re.compile(r"([+-]?\d{1,15})\.0+")
"""A whole number in a column of floats; a float represents 15 decimal digits exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Generic[K]):
    """The keys of two sides, split into matched and unmatched keys.

    ``left`` and ``right`` are the nouns for an item of each side, such as ``"labelled item"``;
    ``complete`` lists the sides whose items should all match.
    """

    left: str
    right: str
    matched_keys: tuple[K, ...]
    only_left: tuple[K, ...]
    only_right: tuple[K, ...]
    complete: tuple[Side, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and an example of each side's unmatched items."""
        return {
            "left": self.left,
            "right": self.right,
            "complete": list(self.complete),
            "n_matched": len(self.matched_keys),
            "n_only_left": len(self.only_left),
            "n_only_right": len(self.only_right),
            "example_left": item_label(self.only_left[0]) if self.only_left else None,
            "example_right": item_label(self.only_right[0]) if self.only_right else None,
        }

    def check(self, *, path: str | None = None) -> None:
        """Raise `InputError` if both sides have items and none match."""
        if not self.matched_keys and self.only_left and self.only_right:
            raise InputError(no_match(self.to_json()), path=path)


def match(
    first: Iterable[K],
    second: Iterable[K],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("right",),
) -> Match[K]:
    """Match the keys of two sides; `names` are the nouns for an item of each side."""
    left_keys, right_keys = dict.fromkeys(first), dict.fromkeys(second)
    return Match(
        left=names[0],
        right=names[1],
        matched_keys=tuple(key for key in left_keys if key in right_keys),
        only_left=tuple(key for key in left_keys if key not in right_keys),
        only_right=tuple(key for key in right_keys if key not in left_keys),
        complete=complete,
    )


def loss_finding(join: Mapping[str, Any]) -> str | None:
    """Return a sentence on the unmatched items of a join (`Match.to_json`), or None.

    None if, of each side that should match, at least the share `MIN_MATCHED_SHARE` matches.
    """
    other_side = {"left": "right", "right": "left"}
    n_matched = join["n_matched"]
    for side in join["complete"]:
        n_unmatched, example = join[f"n_only_{side}"], join[f"example_{side}"]
        if not n_unmatched or n_matched >= MIN_MATCHED_SHARE * (n_matched + n_unmatched):
            continue
        other_example = join[f"example_{other_side[side]}"]
        hint = f" (unmatched on the other side: {other_example})" if other_example else ""
        share = f"{n_matched:,} of {pluralize(n_matched + n_unmatched, join[side])}"
        return f"Only {share} match any {join[other_side[side]]}; {example} does not{hint}."
    return None


def item_label(key: object) -> str:
    """Return the ids of an item for a message, quoted so that trailing spaces are visible."""
    if not isinstance(key, tuple):
        return f"eid {key!r}"
    eid, *parts = key
    return ", ".join([f"eid {eid!r}", *(repr(part) for part in parts if part not in {"", None})])


def join_samples(
    rows: Iterable[R],
    reference_rows: Iterable[Record],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("left",),
    path: str | None = None,
) -> tuple[tuple[R, ...], Match[tuple[str, str]]]:
    """Return `rows` with ids spelled as in `reference_rows` (`harmonize_ids`), and their match.

    Both are joined by eid and system; a pair counts as two samples. `complete` lists the sides
    whose items should all match, by default `rows`.

    Raises
    ------
    InputError
        If no row matches.
    """
    reference_list = tuple(reference_rows)
    harmonized_rows = harmonize_ids(rows, reference_list)
    join = match(
        _samples(harmonized_rows), _samples(reference_list), names=names, complete=complete
    )
    join.check(path=path)
    return harmonized_rows, join


def _samples(rows: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """Yield (eid, system) of each row; a pair yields both systems."""
    for row in rows:
        for name in _ID_FIELDS[1]:
            if (system := getattr(row, name, None)) is not None:
                yield getattr(row, "eid", ""), system


def harmonize_ids(rows: Iterable[R], reference_rows: Iterable[Record]) -> tuple[R, ...]:
    """Return `rows` with ids spelled as in `reference_rows`, such as 5 instead of 5.0.

    Spreadsheets and data frames turn a column of whole numbers with a missing value into floats.
    An id is replaced only if `reference_rows` do not contain it, exactly one of their ids is the
    same whole number, and no other row already has that spelling.
    """
    all_rows, reference_list = tuple(rows), tuple(reference_rows)
    spellings_by_field = {
        name: spelling
        for fields in _ID_FIELDS
        if (spelling := _spellings(_values(all_rows, fields), _values(reference_list, fields)))
        for name in fields
    }
    if not spellings_by_field:
        return all_rows
    return tuple(_with_spellings(row, spellings_by_field) for row in all_rows)


def _values(rows: Sequence[Record], names: Sequence[str]) -> set[str]:
    return {
        value for name in names for row in rows if (value := getattr(row, name, None)) is not None
    }


def _spellings(ids: set[str], reference_ids: set[str]) -> dict[str, str]:
    """Return the ids to be replaced, mapped to their spelling in `reference_ids`."""
    unknown_ids = ids - reference_ids
    if not unknown_ids:
        return {}
    by_number: dict[str, list[str]] = {}
    for value in reference_ids:
        by_number.setdefault(_number(value), []).append(value)
    numbers = Counter(map(_number, ids))
    return {
        value: spellings[0]
        for value in unknown_ids
        if numbers[_number(value)] == 1 and len(spellings := by_number.get(_number(value), [])) == 1
    }


def _number(value: str) -> str:
    """Return an id without the ``.0`` of a whole number."""
    number = _WHOLE_FLOAT.fullmatch(value.strip())
    return number[1] if number else value


def _with_spellings(row: R, spellings_by_field: Mapping[str, Mapping[str, str]]) -> R:
    values = {name: getattr(row, name, None) for name in spellings_by_field}
    changes = {
        name: spellings_by_field[name].get(str(value), value) for name, value in values.items()
    }
    if changes == values:
        return row
    return row.model_copy(update={name: v for name, v in changes.items() if v != values[name]})


def no_match(join: Mapping[str, Any]) -> str:
    """Return the error message of a join (`Match.to_json`) without a match."""
    left, right = join["example_left"], join["example_right"]
    plain = {"".join(name.split()).casefold() for name in (left, right)}
    hint = " (they differ only in spaces or case)" if len(plain) == 1 else ""
    return (
        f"no {join['left']} matches any {join['right']}: a {join['left']} is {left}, a "
        f"{join['right']} {right}{hint}"
    )
