"""Reads what models list: JSON as asked for, or a line for each item.

Models wrap JSON in fences, think and talk around it, number their lists, or answer in plain lines.
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
_BEGUN = re.compile(r"[\[{]\s*[\"'\[{]|^[ \t]*[\[{][ \t]*$", re.MULTILINE)
"""What JSON begins with and prose does not."""
_COMMA = re.compile(r"\s*,\s*")
_INSIDE = re.compile(r"(?:[\"']\s*:|[\[,{])\s*$")
"""What stands before a value that lies in another one."""
_LONGEST_BEFORE = 200
_MARKS = tuple("\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
_FENCE = re.compile(r"^\s*```\w{0,10}\s*$")
_BULLET = re.compile(r"^\s*(?:\d{1,3}[.):]|[-*•]|Q\d{1,3}[.:)])\s*")


def read_object(text: str, key: str) -> dict[str, Any] | None:
    """Return the last JSON object in a reply that has `key`, or None."""
    held = read_objects(text, key)
    return held[-1] if held else None


def read_objects(text: str, key: str) -> tuple[dict[str, Any], ...]:
    """Return the JSON objects in a reply that have `key`, in order; those inside others are not."""
    return tuple(one.value for one in _values(without_reasoning(text)) if _has(one, key))


def read_entries(reply: str) -> list[Any] | Unscored:
    """Return the entries of a reply that holds them once; quoted lists beside them are suspect."""
    found = [one["entries"] for one in read_objects(reply, "entries")]
    lists = [one for one in found if isinstance(one, list)]
    if len(lists) == len(found) == 1:
        return lists[0]
    detail = "it holds several lists of entries" if lists else "it holds no list of entries"
    return Unscored(reason="unparseable", detail=detail, raw=reply)


def read_list(text: str, key: str, *, cut_off: bool = False) -> list[Any] | None:
    """Return what a reply lists.

    That is the list under `key` in its last JSON object that has it; else its last JSON array; else
    its lines, without bullets and numbers. `cut_off` says that the limit on its tokens ended the
    reply: then the items that it came to the end of are the list. Linear in the length of `text`.

    None where nothing is listed: the reply is empty, or JSON that has no such list or is broken.
    Pieces of JSON are no items.
    """
    text = without_reasoning(text)
    values = [one for one in _values(text) if not _is_citation(one.value)]
    held = [one.value[key] for one in values if _has(one, key)]
    if held:
        return held[-1] if isinstance(held[-1], list) else None
    arrays = [
        one.value
        for one in values
        if isinstance(one.value, list)
        and _stands_for(key, text[max(0, one.start - _LONGEST_BEFORE) : one.start])
    ]
    if arrays:
        return arrays[-1]
    if values or _BEGUN.search(text):
        return _begun_items(text, key) or None if cut_off else None
    lines = text.splitlines()
    if cut_off and not text.endswith(("\n", "\r")):
        lines = lines[:-1]
    items = (without_bullet(line) for line in lines if not _FENCE.match(line))
    return [item for item in items if item] or None


def _has(json_value: JsonValue, key: str) -> bool:
    return isinstance(json_value.value, dict) and key in json_value.value


def _is_citation(value: Any) -> bool:
    """Say whether `value` is but numbers: the [1] or [2, 3] of prose."""
    return isinstance(value, list) and bool(value) and all(isinstance(n, int) for n in value)


def _stands_for(key: str, before: str) -> bool:
    """Say whether an array is `key`'s or by itself: not another's part in a broken object."""
    return not _INSIDE.search(before) or bool(re.search(rf"[\"']{key}[\"']\s*:\s*$", before))


def _begun_items(text: str, key: str) -> list[Any]:
    """Return the items of an array that breaks off, up to the last one that a comma follows."""
    decoder = json.JSONDecoder()
    begun = re.search(rf"(?:[\"']{key}[\"']\s*:|^(?:\s*```\w{{0,10}})?)\s*\[\s*", text)
    items, at = [], begun.end() if begun else len(text)
    while at < len(text):
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        comma = _COMMA.match(text, end)
        if not comma:
            break
        items.append(item)
        at = comma.end()
    return items


def whole_number(value: object) -> int | None:
    """Return the whole number that `value` of a reply is, also in words of digits, or None."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isdecimal() and len(digits) < 6 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def without_bullet(line: str) -> str:
    """Return `line` without what marks it as an item of a list, and without spaces around."""
    return _BULLET.sub("", line).strip()


def _values(text: str) -> list[JsonValue]:
    found = json_values(text, _OPENING, max_failures=_MAX_FAILURES)
    return [one for one in found if one is not None and not _is_quoted(one, text)]


def _is_quoted(json_value: JsonValue, text: str) -> bool:
    """Say whether a quotation amid other words begins with a value: told of a text, no reply."""
    before, after = text[: max(0, json_value.start - 1)], text[json_value.end + 1 :]
    return text[len(before) : json_value.start] in _MARKS and bool((before + after).strip())
