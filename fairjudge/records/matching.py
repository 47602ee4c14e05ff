"""The join of judgements with labels, of two runs, or of any two files: what matches and what not.

Every command that joins two files by id goes through here, so that ids which another program turned
into floats match, a join that matches nothing is an error, and one that matches little is reported
first.
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
"""Share of a side that must match, below which the loss is the first finding of a report."""
_ID_FIELDS = (("eid",), ("system", "system_a", "system_b"))
"""The fields that hold ids of one kind: a system stands alone in one file, in a pair in another."""
_WHOLE_FLOAT = re.compile(r"([+-]?\d{1,15})\.0+")
"""A whole number as a float column of a table writes it; with more digits it lost some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Generic[K]):
    """Keys of two sides: those of both, and those of one alone.

    ``left`` and ``right`` say what an item of each side is, such as ``"labelled item"``;
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
    left: Iterable[K],
    right: Iterable[K],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("right",),
) -> Match[K]:
    """Compare the keys of two sides; `names` say what an item of each is."""
    one, other = dict.fromkeys(left), dict.fromkeys(right)
    return Match(
        left=names[0],
        right=names[1],
        both=tuple(key for key in one if key in other),
        only_left=tuple(key for key in one if key not in other),
        only_right=tuple(key for key in other if key not in one),
        complete=complete,
    )


def loss_finding(join: Mapping[str, Any]) -> str | None:
    """Return the sentence on a join (`Match.to_json`) that lost much of a side that should match.

    None where at least `LEAST_MATCHED` of each such side does.
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
    """Return an item's parts as an error names them; `repr` shows a space at the end."""
    if not isinstance(key, tuple):
        return f"eid {key!r}"
    eid, *more = key
    return ", ".join([f"eid {eid!r}", *(repr(part) for part in more if part not in {"", None})])


def join_samples(
    rows: Iterable[R],
    known: Iterable[Record],
    *,
    names: tuple[str, str],
    complete: tuple[Side, ...] = ("left",),
    path: str | None = None,
) -> tuple[tuple[R, ...], Match[tuple[str, str]]]:
    """Return `rows`, with the ids of `known` (`with_ids_of`), and how they match it.

    They are joined by eid and system; a pair of `known` has two. `complete` names the sides that
    should match whole: by default `rows`.

    Raises
    ------
    InputError
        None of them does.
    """
    others = tuple(known)
    respelled = with_ids_of(rows, others)
    found = match(_samples(respelled), _samples(others), names=names, complete=complete)
    found.check(path=path)
    return respelled, found


def _samples(rows: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """Yield eid and system of each row, of a pair those of both sides."""
    for row in rows:
        for name in _ID_FIELDS[1]:
            if (system := getattr(row, name, None)) is not None:
                yield getattr(row, "eid", ""), system


def with_ids_of(rows: Iterable[R], known: Iterable[Record]) -> tuple[R, ...]:
    """Return `rows` whose ids are spelled as in `known` where they differ as 5 and 5.0 do.

    Spreadsheets and data frames turn a column of whole numbers with a gap into floats. An id is
    replaced only where `known` does not have it and one spelling in `known` is the same whole
    number, and where no other row already has that spelling.
    """
    every, others = tuple(rows), tuple(known)
    replaced = {
        name: spelling
        for fields in _ID_FIELDS
        if (spelling := _spellings(_values(every, fields), _values(others, fields)))
        for name in fields
    }
    if not replaced:
        return every
    return tuple(_respelled(row, replaced) for row in every)


def _values(rows: Sequence[Record], names: Sequence[str]) -> set[str]:
    return {
        value for name in names for row in rows if (value := getattr(row, name, None)) is not None
    }


def _spellings(given: set[str], known: set[str]) -> dict[str, str]:
    """Return each id of `given` that is to be replaced, with its spelling in `known`."""
    strange = given - known
    if not strange:
        return {}
    by_number: dict[str, list[str]] = {}
    for value in known:
        by_number.setdefault(_number(value), []).append(value)
    numbers = Counter(map(_number, given))
    return {
        value: same[0]
        for value in strange
        if numbers[_number(value)] == 1 and len(same := by_number.get(_number(value), [])) == 1
    }


def _number(value: str) -> str:
    """Return an id without the ``.0`` of a whole number."""
    found = _WHOLE_FLOAT.fullmatch(value.strip())
    return found[1] if found else value


def _respelled(row: R, replaced: Mapping[str, Mapping[str, str]]) -> R:
    given = {name: getattr(row, name, None) for name in replaced}
    changes = {name: replaced[name].get(str(value), value) for name, value in given.items()}
    if changes == given:
        return row
    return row.model_copy(update={name: v for name, v in changes.items() if v != given[name]})


def no_match(join: Mapping[str, Any]) -> str:
    """Return the error of a join (`Match.to_json`) without a match: an item of each side."""
    left, right = join["example_left"], join["example_right"]
    plain = {"".join(name.split()).casefold() for name in (left, right)}
    hint = " (they differ in spaces or case alone)" if len(plain) == 1 else ""
    return (
        f"no {join['left']} matches any {join['right']}: the first file has {left}, the second "
        f"{right}{hint}"
    )
