"""JSON in replies, and verdicts in it: whole, fenced, embedded, or a little broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

_KEYS = (
    "verdict", "final_verdict", "score", "final_score", "overall_score", "rating", "overall_rating",
    "answer", "final_answer", "label", "winner", "preference", "preferred",
    "preferred_summary", "better_summary", "choice", "decision",
    "grade", "stars", "judgment", "judgement", "result", "overall", "better", "value",
)  # fmt: skip
_BROKEN = re.compile(
    rf"""["'](?:{"|".join(_KEYS[:-5])})["']\s{{0,5}}:\s{{0,5}}(?:["']([^"'\n]{{1,60}})["']|(-?[\d.]{{1,9}}|true|false)\b)""",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{")
_MAX_FAILURES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue:
    """An object or array, or the value under a verdict's key; and the stretch of text it takes.

    ``several`` says that other verdicts stand beside this one.
    """

    start: int
    end: int
    value: Any
    several: bool = False


def json_values(
    text: str, opening: re.Pattern[str], *, max_failures: int
) -> Iterator[JsonValue | None]:
    """Yield the JSON that begins at matches of `opening`; None for each that begins none.

    Each of those costs time in proportion to all of `text`: after `max_failures` it gives up.
    """
    decoder = json.JSONDecoder()
    at, n_failed = 0, 0
    while n_failed < max_failures and (match := opening.search(text, at)):
        start = match.start()
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            n_failed += 1
            yield None
        else:
            yield JsonValue(start=start, end=at, value=value)


def json_verdicts(text: str, *, aspect: str) -> Iterator[JsonValue]:
    """Yield the verdicts of every JSON object in `text`, in order: texts, numbers, true and false.

    Each with the stretch of text that its object takes.
    """
    found = failed = False
    for one in json_values(text, _OBJECT, max_failures=_MAX_FAILURES):
        if one is None:
            failed = True
        elif values := list(_verdicts_in(one.value, aspect.lower())):
            found = True
            several = len(set(map(str, values))) > 1
            yield replace(one, value=values[-1], several=several)
    if failed and not found:
        yield from _broken(text)


def _verdicts_in(value: Any, aspect: str) -> Iterator[str | float | bool]:
    """Yield what stands under the first key of `_KEYS` that `value` has; look one object deeper.

    Without one, what stands under the aspect's name or under its only rating ("fluency_score").
    """
    if not isinstance(value, dict):
        return
    lowered = {str(key).strip().lower().replace(" ", "_"): item for key, item in value.items()}
    rated = [k for k in lowered if k.endswith(("_score", "_rating")) and not k.startswith(_ASIDE)]
    key = next((key for key in (*_KEYS, aspect) if key in lowered), None)
    if key is None and (len(rated) == 1 or len(lowered) == 1):
        key = rated[0] if rated else next(iter(lowered))
        key = None if isinstance(lowered[key], str) and not rated else key
    if key is None:
        for item in lowered.values():
            yield from _verdicts_in(item, aspect)
        return
    item = lowered[key]
    if isinstance(item, dict):
        yield from _verdicts_in(item, aspect)
    elif isinstance(item, str | int | float):
        yield item
    elif isinstance(item, list):
        yield from (each for each in item if isinstance(each, str | int | float))


_ASIDE = ("max", "min", "confidence", "sub", "previous")


def _broken(text: str) -> Iterator[JsonValue]:
    """Read objects that are not quite JSON: trailing commas, single quotes, quotes unescaped."""
    for match in list(_BROKEN.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=value)
