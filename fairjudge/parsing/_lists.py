"""Parse lists in replies: JSON as requested, or one item per line.

Models wrap JSON in fences, add reasoning and remarks, number their lists, or answer in plain lines.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fairjudge.domain import Unscored
from fairjudge.parsing._json import JsonValue, json_values
from fairjudge.parsing._thoughts import without_reasoning

_OPENING = re.compile(r"[\[{]")
_MAX_FAILURES = 500
_JSON_START = re.compile(r"[\[{]\s*[\"'\[{]|^[ \t]*[\[{][ \t]*$", re.MULTILINE)
"""The beginning of JSON, as opposed to brackets in prose."""
_COMMA = re.compile(r"\s*,\s*")
_INSIDE = re.compile(r"(?:[\"']\s*:|[\[,{])\s*$")
"""Precedes a value that is nested in another one."""
_MAX_CHARACTERS_BEFORE = 200
_MARKS = tuple("\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
_FENCE = re.compile(r"^\s*```\w{0,10}\s*$")
_BULLET = re.compile(r"^\s*(?:\d{1,3}[.):]|[-*•]|Q\d{1,3}[.:)])\s*")


def read_object(text: str, key: str) -> dict[str, Any] | None:
    """Return the last JSON object in a reply that has `key`, or None."""
    objects = read_objects(text, key)
    return objects[-1] if objects else None


def read_objects(text: str, key: str) -> tuple[dict[str, Any], ...]:
    """Return the JSON objects in a reply that have `key`, in order, without nested objects."""
    return tuple(
        json_value.value for json_value in _values(without_reasoning(text)) if _has(json_value, key)
    )


def read_entries(reply: str) -> list[Any] | Unscored:
    """Return the list under "entries" of a reply; Unscored unless there is exactly one."""
    values = [json_object["entries"] for json_object in read_objects(reply, "entries")]
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values) == 1:
        return lists[0]
    detail = "it holds several lists of entries" if lists else "it holds no list of entries"
    return Unscored(reason="unparseable", detail=detail, raw=reply)


def read_list(text: str, key: str, *, cut_off: bool = False) -> list[Any] | None:
    """Return the items that a reply lists, or None.

    The list is the one under `key` in the last JSON object that has it; else the last JSON array;
    else the lines of the reply, without bullets and numbers. With `cut_off` the token limit ended
    the reply, and the complete items of a truncated list are returned. Linear in the length of
    `text`.

    None is returned for an empty reply, and for JSON that is malformed or has no such list:
    fragments of JSON are never items.
    """
    text = without_reasoning(text)
    values = [json_value for json_value in _values(text) if not _is_citation(json_value.value)]
    values_at_key = [json_value.value[key] for json_value in values if _has(json_value, key)]
    if values_at_key:
        return values_at_key[-1] if isinstance(values_at_key[-1], list) else None
    arrays = [
        json_value.value
        for json_value in values
        if isinstance(json_value.value, list)
        and _is_value_of(
            key, text[max(0, json_value.start - _MAX_CHARACTERS_BEFORE) : json_value.start]
        )
    ]
    if arrays:
        return arrays[-1]
    if values or _JSON_START.search(text):
        return _complete_items(text, key) or None if cut_off else None
    lines = text.splitlines()
    if cut_off and not text.endswith(("\n", "\r")):
        lines = lines[:-1]
    items = (without_bullet(line) for line in lines if not _FENCE.match(line))
    return [item for item in items if item] or None


def _has(json_value: JsonValue, key: str) -> bool:
    return isinstance(json_value.value, dict) and key in json_value.value


def _is_citation(value: Any) -> bool:
    """Return whether `value` is a list of integers, as in citations: [1] or [2, 3]."""
    return isinstance(value, list) and bool(value) and all(isinstance(n, int) for n in value)


def _is_value_of(key: str, text_before: str) -> bool:
    """Return whether an array is the value of `key` or alone, by the text before it.

    In a malformed object it may be the value of another key.
    """
    return not _INSIDE.search(text_before) or bool(
        re.search(rf"[\"']{key}[\"']\s*:\s*$", text_before)
    )


def _complete_items(text: str, key: str) -> list[Any]:
    """Return the complete items of a truncated array: those before a comma."""
    decoder = json.JSONDecoder()
    array_start = re.search(rf"(?:[\"']{key}[\"']\s*:|^(?:\s*```\w{{0,10}})?)\s*\[\s*", text)
    items, position = [], array_start.end() if array_start else len(text)
    while position < len(text):
        try:
            item, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        comma = _COMMA.match(text, end)
        if not comma:
            break
        items.append(item)
        position = comma.end()
    return items


def whole_number(value: object) -> int | None:
    """Return `value` as an integer (also 3.0, or a string of up to 5 digits), or None."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isdecimal() and len(digits) < 6 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def indices_in(value: object, n: int) -> list[int] | None:
    """Return a list's numbers, counted from 1 to `n`, as indices from 0; None for anything else."""
    numbers = [whole_number(item) for item in value] if isinstance(value, list) else [None]
    indices = [number - 1 for number in numbers if number is not None and 1 <= number <= n]
    return indices if len(indices) == len(numbers) else None


def without_bullet(line: str) -> str:
    """Return `line` without its bullet or number, stripped."""
    return _BULLET.sub("", line).strip()


def _values(text: str) -> list[JsonValue]:
    json_values_or_none = json_values(text, _OPENING, max_failures=_MAX_FAILURES)
    return [
        json_value
        for json_value in json_values_or_none
        if json_value is not None and not _is_quoted(json_value, text)
    ]


def _is_quoted(json_value: JsonValue, text: str) -> bool:
    """Return whether a value follows a quotation mark within other text, and so is a quotation."""
    text_before, text_after = text[: max(0, json_value.start - 1)], text[json_value.end + 1 :]
    return text[len(text_before) : json_value.start] in _MARKS and bool(
        (text_before + text_after).strip()
    )
