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
"""Words in keys of a verdict, of a score, of an overall score, and of the worse side."""
_TOP = re.compile(
    r"max(?:imum)?(?:_?(?:score|rating|points))?|out_?of|total|(?:rating_)?scale|(?:score_)?range"
)
"""Keys of the maximum of the scale."""
_ASIDE = re.compile("|".join(KEYS["aside"]))
"""Keys of values that are no verdicts, or are high where the summary is bad."""
_QUALITY = re.compile(r"(?:ness|ity|ency|ence|ance|acy|coverage|fluency|style)$")
_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")
_BROKEN = re.compile(
    rf"""["'](?:final_|overall_)?(?:{"|".join(sorted(_VERDICT | _SCORE))})["']\s{{0,5}}:\s{{0,5}}"""
    r"""(?:["']([^"'\n]{1,60})["']|(-?[\d.]{1,9}|true|false)\b)(?!\s{0,3}(?:or\b|\||/(?![*/])))""",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{")
_MAX_FAILURES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue:
    """A JSON object or array, with its span in the text (half-open, in characters).

    ``verdicts`` are the values under keys of verdicts, each with whether its key names the worse
    side; ``top`` is the maximum that the object names, and ``prose`` are its long texts.
    """

    start: int
    end: int
    value: Any
    verdicts: tuple[tuple[Any, bool], ...] = ()
    top: str = ""
    prose: str = ""


def json_values(
    text: str, opening: re.Pattern[str], *, max_failures: int
) -> Iterator[JsonValue | None]:
    """Yield the JSON values that begin at matches of `opening`; None where no value begins.

    Each failure may cost time in proportion to the length of `text`: after `max_failures` it stops.
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
    """Return the object of `pairs`, with a list where a repeated key has different values."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        # "in", not get(): NaN differs from itself, so that a single NaN would become a list.
        contradicts = key in result and result[key] != value
        result[key] = [result[key], value] if contradicts else value
    return result


def json_verdicts(text: str, *, aspect: str, kind: str) -> Iterator[JsonValue]:
    """Yield every JSON object in `text`, in order, with its verdicts."""
    has_verdicts = failed = False
    for json_value in json_values(text, _OBJECT, max_failures=_MAX_FAILURES):
        if json_value is None:
            failed = True
            continue
        verdicts, top = _verdicts_in(json_value.value, aspect.lower().replace(" ", "_"), kind)
        has_verdicts = has_verdicts or bool(verdicts)
        yield replace(json_value, verdicts=tuple(verdicts), top=top, prose=_prose(json_value.value))
    if failed and not has_verdicts:
        yield from _malformed(text)


def _verdicts_in(value: Any, aspect: str, kind: str) -> tuple[list[tuple[Any, bool]], str]:
    """Return the values under the most explicit kind of keys in `value`, and its maximum.

    First keys of a verdict, then those of an overall score, then those of the worse side; then the
    only key that names a quality; else the verdicts of nested objects.
    """
    if not isinstance(value, dict):
        return [], ""
    items = {re.sub("[ -]", "_", str(key).strip().lower()): item for key, item in value.items()}
    if kind == "pair" and isinstance(order := items.get("ranking"), list) and len(order) > 1:
        return [(order[0], False)], ""
    tops = (_LAST_NUMBER.search(str(item)) for key, item in items.items() if _TOP.fullmatch(key))
    top = next((match[1] for match in tops if match), "")
    keys, worse = _plainest(items, aspect, kind)
    nested = [key for key in items if isinstance(items[key], dict) and not _ASIDE.search(key)]
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


def _plainest(items: dict[str, Any], aspect: str, kind: str) -> tuple[list[str], bool]:
    """Return the keys of the most explicit kind, and whether they name the worse side."""
    words = {key: set(key.split("_")) for key in items if not _ASIDE.search(key)}
    plain = [k for k in words if words[k] <= _VERDICT | _SCORE | _WHOLE or k == aspect]
    plain = [k for k in plain if words[k] & (_VERDICT | _SCORE) or k == aspect]
    for keys in (
        [k for k in plain if words[k] & {"final", "verdict"}],
        [k for k in plain if words[k] & _VERDICT],
        [k for k in plain if words[k] & _WHOLE and words[k] & _SCORE],
    ):
        if keys:
            return keys, False
    if len({str(items[key]) for key in plain}) == 1:
        return plain, False
    if worse := [k for k in words if words[k] & _WORSE]:
        return worse, True
    rated = [k for k in words if k == aspect or k.endswith(("_score", "_rating"))]
    rated = [] if kind == "pair" or len({str(items[key]) for key in rated}) > 1 else rated
    only = [k for k in words if len(words) == 1 and _is_judged(k, items[k], kind)]
    return rated or only, False


def _is_judged(key: str, value: Any, kind: str) -> bool:
    """Whether a key names the judged quality itself: {"consistent": false}."""
    long = isinstance(value, dict | list) or (isinstance(value, str) and len(value) > 12)
    if kind == "pair" or long:
        return False
    return bool(_QUALITY.search(key)) if kind == "number" else key not in {"yes", "no"}


def _prose(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return "\n".join(str(v) for v in value.values() if isinstance(v, str) and len(v) > 10)


def _malformed(text: str) -> Iterator[JsonValue]:
    """Yield the last verdict of malformed JSON: trailing commas, single or unescaped quotes."""
    for match in list(_BROKEN.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=None, verdicts=((value, False),))
