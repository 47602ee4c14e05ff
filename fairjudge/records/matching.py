"""Join two files by id (judgements with labels, two runs): matched and unmatched items.

Every command that joins two files by id goes through here, so that ids which another program turned
into floats match, a join without matches is an error, and one with few matches is the first finding
of a report.
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

LEAST_MATCHED = 0.9
"""Share of a side's items, in [0, 1], below which the loss is the first finding of a report."""
_ID_FIELDS = (("eid",), ("system", "system_a", "system_b"))
"""Groups of fields with ids of one kind: one file has a system, another a pair of systems."""
_WHOLE_FLOAT = re.compile(r"([+-]?\d{1,15})\.0+")
"""A whole number as a float column writes it; a float holds 15 decimal digits exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Generic[K]):
    """Keys of two sides: those in both, and those in one only.

    ``left`` and ``right`` are the nouns for an item of each side, such as ``"labelled item"``;
    ``complete`` names the sides whose items should all match.
    """

    left: str
    right: str
    both: tuple[K, ...]
    only_left: tuple[K, ...]
    only_right: tuple[K, ...]
    complete: tuple[Side, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and an example of each side's unmatched items."""
        return {
            "left": self.left,
            "right": self.right,
            "complete": list(self.complete),
            "n_matched": len(self.both),
            "n_only_left": len(self.only_left),
            "n_only_right": len(self.only_right),
            "example_left": name_of(self.only_left[0]) if self.only_left else None,
            "example_right": name_of(self.only_right[0]) if self.only_right else None,
        }

    def check(self, *, path: str | None = None) -> None:
        """Raise `InputError` where both sides have items and none matches."""
        if not self.both and self.only_left and self.only_right:
            raise InputError(no_match(self.to_json()), path=path)


def match(
    first: Iterable[K],
    second: Iterable[K],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("right",),
) -> Match[K]:
    """Compare the keys of two sides; `names` are the nouns for an item of each."""
    left_keys, right_keys = dict.fromkeys(first), dict.fromkeys(second)
    return Match(
        left=names[0],
        right=names[1],
        both=tuple(key for key in left_keys if key in right_keys),
        only_left=tuple(key for key in left_keys if key not in right_keys),
        only_right=tuple(key for key in right_keys if key not in left_keys),
        complete=complete,
    )


def loss_finding(join: Mapping[str, Any]) -> str | None:
    """Return a sentence on a join (`Match.to_json`) that lost much of a side that should match.

    None where at least the share `LEAST_MATCHED` of each such side matches.
    """
    other = {"left": "right", "right": "left"}
    n_matched = join["n_matched"]
    for side in join["complete"]:
        lost, example = join[f"n_only_{side}"], join[f"example_{side}"]
        if not lost or n_matched >= LEAST_MATCHED * (n_matched + lost):
            continue
        unmatched = join[f"example_{other[side]}"]
        beside = f" (on the other side: {unmatched})" if unmatched else ""
        share = f"{n_matched:,} of {pluralize(n_matched + lost, join[side])}"
        return f"Only {share} match any {join[other[side]]}; {example} does not{beside}."
    return None


def name_of(key: object) -> str:
    """Return the ids of an item for a message, in quotes, which make trailing spaces visible."""
    if not isinstance(key, tuple):
        return f"eid {key!r}"
    eid, *more = key
    return ", ".join([f"eid {eid!r}", *(repr(part) for part in more if part not in {"", None})])


def join_samples(
    rows: Iterable[R],
    reference_rows: Iterable[Record],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("left",),
    path: str | None = None,
) -> tuple[tuple[R, ...], Match[tuple[str, str]]]:
    """Return `rows`, with the ids of `reference_rows` (`with_ids_of`), and how they match it.

    Both are joined by eid and system; a pair counts as two samples. `complete` names the sides
    whose items should all match, by default `rows`.

    Raises
    ------
    InputError
        If no row matches.
    """
    reference_list = tuple(reference_rows)
    respelled = with_ids_of(rows, reference_list)
    join = match(_samples(respelled), _samples(reference_list), names=names, complete=complete)
    join.check(path=path)
    return respelled, join


def _samples(rows: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """Yield (eid, system) of each row, for a pair of both systems."""
    for row in rows:
        for name in _ID_FIELDS[1]:
            if (system := getattr(row, name, None)) is not None:
                yield getattr(row, "eid", ""), system


def with_ids_of(rows: Iterable[R], reference_rows: Iterable[Record]) -> tuple[R, ...]:
    """Return `rows` with ids respelled as in `reference_rows` where they differ as 5 and 5.0 do.

    Spreadsheets and data frames turn a column of whole numbers with a gap into floats. An id is
    replaced only where `reference_rows` does not have it, exactly one of their ids is the same
    whole number, and no other row already has that spelling.
    """
    all_rows, reference_list = tuple(rows), tuple(reference_rows)
    replaced = {
        name: spelling
        for fields in _ID_FIELDS
        if (spelling := _spellings(_values(all_rows, fields), _values(reference_list, fields)))
        for name in fields
    }
    if not replaced:
        return all_rows
    return tuple(_respelled(row, replaced) for row in all_rows)


def _values(rows: Sequence[Record], names: Sequence[str]) -> set[str]:
    return {
        value for name in names for row in rows if (value := getattr(row, name, None)) is not None
    }


def _spellings(ids: set[str], reference_ids: set[str]) -> dict[str, str]:
    """Return the ids to be replaced, each with its spelling in `reference_ids`."""
    strange = ids - reference_ids
    if not strange:
        return {}
    by_number: dict[str, list[str]] = {}
    for value in reference_ids:
        by_number.setdefault(_number(value), []).append(value)
    numbers = Counter(map(_number, ids))
    return {
        value: spellings[0]
        for value in strange
        if numbers[_number(value)] == 1 and len(spellings := by_number.get(_number(value), [])) == 1
    }


def _number(value: str) -> str:
    """Return an id without the ``.0`` of a whole number."""
    number = _WHOLE_FLOAT.fullmatch(value.strip())
    return number[1] if number else value


def _respelled(row: R, replaced: Mapping[str, Mapping[str, str]]) -> R:
    values = {name: getattr(row, name, None) for name in replaced}
    changes = {name: replaced[name].get(str(value), value) for name, value in values.items()}
    if changes == values:
        return row
    return row.model_copy(update={name: v for name, v in changes.items() if v != values[name]})


def no_match(join: Mapping[str, Any]) -> str:
    """Return the error message of a join (`Match.to_json`) without a match."""
    left, right = join["example_left"], join["example_right"]
    plain = {"".join(name.split()).casefold() for name in (left, right)}
    hint = " (they differ in spaces or case alone)" if len(plain) == 1 else ""
    return (
        f"no {join['left']} matches any {join['right']}: a {join['left']} is {left}, a "
        f"{join['right']} {right}{hint}"
    )
