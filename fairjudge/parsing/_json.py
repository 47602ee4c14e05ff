"""Find JSON in replies, and verdicts in it: whole, fenced, embedded, or slightly malformed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.parsing._words import KEYS

_VERDICT, _SCORE = frozenset(KEYS["verdict"]), frozenset(KEYS["score"])
_WHOLE, _WORSE = frozenset(KEYS["whole"]), frozenset(KEYS["worse"])
"""Words in the keys of a verdict, of a score, of an overall score, and of the worse side."""
_MAXIMUM_KEY = re.compile(
    r"max(?:imum)?(?:_?(?:score|rating|points))?|out_?of|total|(?:rating_)?scale|(?:score_)?range"
)
"""Keys of the maximum of the scale."""
_OTHER_KEYS = re.compile("|".join(KEYS["aside"]))
"""Keys of values that are not verdicts, or are high if the summary is bad."""
_QUALITY = re.compile(r"(?:ness|ity|ency|ence|ance|acy|coverage|fluency|style)$")
_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")
_MALFORMED_VERDICT = re.compile(
    rf"""["'](?:final_|overall_)?(?:{"|".join(sorted(_VERDICT | _SCORE))})["']\s{{0,5}}:\s{{0,5}}"""
    r"""(?:["']([^"'\n]{1,60})["']|(-?[\d.]{1,9}|true|false)\b)(?!\s{0,3}(?:or\b|\||/(?![*/])))""",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{")
_MAX_FAILURES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue:
    """A JSON object or array, with its span in the text (half-open, in characters).

    ``verdicts`` are the values under keys of verdicts, each with whether its key is of the worse
    side; ``top`` is the maximum in the object, and ``prose`` are its long texts.
    """

    start: int
    end: int
    value: Any
    verdicts: tuple[tuple[Any, bool], ...] = ()
    top: str = ""
    prose: str = ""


def json_values(
    text: str, start_pattern: re.Pattern[str], *, max_failures: int
) -> Iterator[JsonValue | None]:
    """Yield the JSON values that begin at matches of `start_pattern`; None where no value begins.

    It stops after `max_failures`, since each may take time linear in the length of `text`.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    position, n_failed = 0, 0
    while n_failed < max_failures and (match := start_pattern.search(text, position)):
        start = match.start()
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            n_failed += 1
            yield None
        else:
            yield JsonValue(start=start, end=position, value=value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of `pairs`, with a list where a repeated key has different values."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        # "in", not get(): NaN differs from itself, so that a single NaN would become a list.
        contradicts = key in result and result[key] != value
        result[key] = [result[key], value] if contradicts else value
    return result


def json_verdicts(text: str, *, aspect: str, kind: str) -> Iterator[JsonValue]:
    """Yield every JSON object in `text`, in order, with its verdicts."""
    has_verdicts = has_failures = False
    for json_value in json_values(text, _OBJECT, max_failures=_MAX_FAILURES):
        if json_value is None:
            has_failures = True
            continue
        verdicts, top = _verdicts_in(json_value.value, aspect.lower().replace(" ", "_"), kind)
        has_verdicts = has_verdicts or bool(verdicts)
        yield replace(json_value, verdicts=tuple(verdicts), top=top, prose=_prose(json_value.value))
    if has_failures and not has_verdicts:
        yield from _malformed(text)


def _verdicts_in(value: Any, aspect: str, kind: str) -> tuple[list[tuple[Any, bool]], str]:
    """Return the values under the most explicit kind of keys in `value`, and its maximum.

    Keys of a verdict have priority over keys of an overall score, of the worse side, and a single
    key of a quality; without these, the verdicts of nested objects are returned.
    """
    if not isinstance(value, dict):
        return [], ""
    items = {re.sub("[ -]", "_", str(key).strip().lower()): item for key, item in value.items()}
    if kind == "pair" and isinstance(order := items.get("ranking"), list) and len(order) > 1:
        return [(order[0], False)], ""
    maxima = (
        _LAST_NUMBER.search(str(item)) for key, item in items.items() if _MAXIMUM_KEY.fullmatch(key)
    )
    top = next((match[1] for match in maxima if match), "")
    keys, worse = _most_explicit_keys(items, aspect, kind)
    nested = [key for key in items if isinstance(items[key], dict) and not _OTHER_KEYS.search(key)]
    verdicts: list[tuple[Any, bool]] = []
    for key in keys or nested:
        item = items[key]
        if isinstance(item, dict):
            inner, inner_top = _verdicts_in(item, aspect, kind)
            verdicts, top = verdicts + inner, top or inner_top
        else:
            verdicts += [
                (element, worse) for element in (item if isinstance(item, list) else [item])
            ]
    return verdicts, top


def _most_explicit_keys(items: dict[str, Any], aspect: str, kind: str) -> tuple[list[str], bool]:
    """Return the keys of the most explicit kind, and whether they are of the worse side."""
    words = {key: set(key.split("_")) for key in items if not _OTHER_KEYS.search(key)}
    verdict_keys = [k for k in words if words[k] <= _VERDICT | _SCORE | _WHOLE or k == aspect]
    verdict_keys = [k for k in verdict_keys if words[k] & (_VERDICT | _SCORE) or k == aspect]
    for keys in (
        [k for k in verdict_keys if words[k] & {"final", "verdict"}],
        [k for k in verdict_keys if words[k] & _VERDICT],
        [k for k in verdict_keys if words[k] & _WHOLE and words[k] & _SCORE],
    ):
        if keys:
            return keys, False
    if len({str(items[key]) for key in verdict_keys}) == 1:
        return verdict_keys, False
    if worse := [k for k in words if words[k] & _WORSE]:
        return worse, True
    rated_keys = [k for k in words if k == aspect or k.endswith(("_score", "_rating"))]
    rated_keys = (
        [] if kind == "pair" or len({str(items[key]) for key in rated_keys}) > 1 else rated_keys
    )
    only_keys = [k for k in words if len(words) == 1 and _is_judged(k, items[k], kind)]
    return rated_keys or only_keys, False


def _is_judged(key: str, value: Any, kind: str) -> bool:
    """Return whether a key is the judged quality itself: {"consistent": false}."""
    is_long = isinstance(value, dict | list) or (isinstance(value, str) and len(value) > 12)
    if kind == "pair" or is_long:
        return False
    return bool(_QUALITY.search(key)) if kind == "number" else key not in {"yes", "no"}


def _prose(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return "\n".join(str(v) for v in value.values() if isinstance(v, str) and len(v) > 10)


def _malformed(text: str) -> Iterator[JsonValue]:
    """Yield the last verdict of malformed JSON: trailing commas, single or unescaped quotes."""
    for match in list(_MALFORMED_VERDICT.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=None, verdicts=((value, False),))
