"""Fields of other tools' records; what is of another type raises `InputError`."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from fairjudge.errors import InputError

T = TypeVar("T")

_WORDS = dict.fromkeys(("yes", "true", "pass"), 1.0) | dict.fromkeys(("no", "false", "fail"), 0.0)
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?", re.ASCII)


def text(row: Mapping[str, Any], name: str) -> str:
    """Return the text, or whole number, that must stand under `name` and not be empty, as text."""
    found = text_or_none(row, name)
    if not found:
        raise InputError("missing" if row.get(name) is None else "must not be empty", field=name)
    return found


def text_or_none(row: Mapping[str, Any], name: str) -> str | None:
    """Return the text, or whole number, under `name`, as text, None where there is none."""
    found = row.get(name)
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    raise InputError(f"expected text, found {_kind(found)}", field=name)


def mapping(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under `name`, an empty one where there is none."""
    return _typed(row, name, dict) or {}


def items(row: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of the list under `name`; none where there is no list."""
    for index, item in enumerate(_typed(row, name, list) or ()):
        if not isinstance(item, dict):
            raise InputError(f"expected an object, found {_kind(item)}", field=f"{name}[{index}]")
        yield item


def present(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of the fields that are there and not null."""
    return {name: row[name] for name in names if row.get(name) is not None}


def given(row: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of `names` that holds a text or a whole number, None where none does."""
    for name in names:
        found = row.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool) and str(found):
            return str(found)
    return None


def score(value: object) -> float | None:
    """Return the number that a tool's score is: true and "yes" are 1, "3" is 3; else None."""
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        word = value.strip().casefold()
        if _NUMBER.fullmatch(word):
            return float(word)
        return _WORDS.get(word)
    return None


def fingerprint(*parts: str) -> str:
    """Return 16 hexadecimal digits that stand for `parts`, for items without an id."""
    joined = "\x1f".join(parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Ids:
    """Ids that tell apart what has one name but not one content."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[object, int]] = {}

    def of(self, name: str, content: object) -> str:
        """Return `name`; with ``#2`` and so on for other contents of that name."""
        contents = self._seen.setdefault(name, {})
        number = contents.setdefault(content, len(contents) + 1)
        return name if number == 1 else f"{name}#{number}"


def _typed(row: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    found = row.get(name)
    if found is None or isinstance(found, kind):
        return found
    expected = "a list" if kind is list else "an object"
    raise InputError(f"expected {expected}, found {_kind(found)}", field=name)


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
