"""JSON in replies, and verdicts in it: whole, fenced, embedded, or a little broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.parsing._wording import FAULTS, QUALITY

_KEYS = (
    "final_verdict", "final_score", "final_answer", "verdict", "score", "overall_score", "rating",
    "overall_rating", "answer", "label", "winner", "preference", "preferred",
    "preferred_summary", "better_summary", "choice", "decision",
    "grade", "stars", "points", "judgment", "judgement", "result", "overall", "better", "value",
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

    ``several`` says that other verdicts stand beside this one, ``top`` what it is out of, and
    ``others`` what stands under other keys of verdicts.
    """

    start: int
    end: int
    value: Any
    several: bool = False
    top: str = ""
    others: tuple[Any, ...] = ()


def json_values(
    text: str, opening: re.Pattern[str], *, max_failures: int
) -> Iterator[JsonValue | None]:
    """Yield the JSON that begins at matches of `opening`; None for each that begins none.

    Each of those costs time in proportion to all of `text`: after `max_failures` it gives up.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object)
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of `pairs`; values that contradict each other under one key are a list."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        # NaN differs from itself, also where its key stands once.
        contradicts = key in found and found[key] != value
        found[key] = [found[key], value] if contradicts else value
    return found


def json_verdicts(text: str, *, aspect: str, kind: str) -> Iterator[JsonValue]:
    """Yield the verdicts of every JSON object in `text`, in order: texts, numbers, true and false.

    Each with the stretch of text that its object takes; None for an object without one.
    """
    found = failed = False
    for json_value in json_values(text, _OBJECT, max_failures=_MAX_FAILURES):
        if json_value is None:
            failed = True
        elif not (values := list(_verdicts_in(json_value.value, aspect.lower(), kind))):
            yield replace(json_value, value=None)
        else:
            found = True
            several = len({str(value) for value, _ in values}) > 1
            value, top = values[-1]
            others = _rivals(json_value.value)
            yield replace(json_value, value=value, several=several, top=top, others=others)
    if failed and not found:
        yield from _broken(text)


def _verdicts_in(value: Any, aspect: str, kind: str) -> Iterator[tuple[str | float | bool, str]]:
    """Yield what stands under the first key of `_KEYS` that `value` has, and what it is out of.

    Without one, what stands under the aspect's name or under its only rating ("fluency_score");
    else what the objects in it hold.
    """
    if not isinstance(value, dict):
        return
    lowered = {str(key).strip().lower().replace(" ", "_"): item for key, item in value.items()}
    rated = [k for k in lowered if k.endswith(("_score", "_rating")) and not k.startswith(_ASIDE)]
    key = next((key for key in (*_KEYS, aspect) if key in lowered), None)
    if key is None and (len(rated) == 1 or len(lowered) == 1):
        key = rated[0] if rated else next(iter(lowered))
        key = key if rated or _may_rate(key, lowered[key], kind) else None
    if key is None:
        for item in lowered.values():
            yield from _verdicts_in(item, aspect, kind)
        return
    item = lowered[key]
    if isinstance(item, dict):
        yield from _verdicts_in(item, aspect, kind)
        return
    tops = (_LAST_NUMBER.search(str(v)) for k, v in lowered.items() if _TOP.fullmatch(k))
    top = next(tops, None)
    for each in item if isinstance(item, list) else [item]:
        if isinstance(each, str | int | float):
            yield each, top[1] if top else ""


def _rivals(value: Any) -> tuple[Any, ...]:
    items = value.items() if isinstance(value, dict) else ()
    return tuple(v for k, v in items if str(k).lower() in _WHOLE and isinstance(v, str | int))


_WHOLE = frozenset({"verdict", "answer", "winner", "preference", "preferred", "choice", "decision"})
"""Keys of which each names the verdict: two that contradict each other are none."""
_ASIDE = ("max", "min", "confidence", "sub", "previous", "summary")
_TOP = re.compile(
    r"max(?:imum)?(?:_?(?:score|rating|points))?|out_?of|(?:rating_)?scale|(?:score_)?range"
)
"""Keys of the highest score that there is."""
_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")


def _may_rate(key: str, value: Any, kind: str) -> bool:
    """Whether an object's only key, which is no verdict's, names what is judged."""
    if FAULTS.search(key) or kind == "pair" or (isinstance(value, str) and len(value) > 12):
        return False
    return kind != "number" or bool(QUALITY.search(key))


def _broken(text: str) -> Iterator[JsonValue]:
    """Read objects that are not quite JSON: trailing commas, single quotes, quotes unescaped."""
    for match in list(_BROKEN.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=value)
