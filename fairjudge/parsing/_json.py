"""JSON in replies, and verdicts in it: whole, fenced, embedded, or a little broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.parsing._words import KEYS

_VERDICT, _SCORE = frozenset(KEYS["verdict"]), frozenset(KEYS["score"])
_WHOLE, _WORSE = frozenset(KEYS["whole"]), frozenset(KEYS["worse"])
"""Words of keys: of the verdict, of a score, of one on the whole, and of the worse."""
_TOP = re.compile(
    r"max(?:imum)?(?:_?(?:score|rating|points))?|out_?of|total|(?:rating_)?scale|(?:score_)?range"
)
"""Keys of the highest score that there is."""
_ASIDE = re.compile("|".join(KEYS["aside"]))
"""Names of what is no verdict, or of what is bad."""
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
    """An object or array, or what stands under its keys of verdicts; and the text that it takes.

    ``verdicts`` are pairs of a value and whether its key names the worse; ``top`` is what a score
    is out of, ``prose`` the texts under other keys.
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
    """Yield every JSON object in `text`, in order, with its verdicts."""
    found = failed = False
    for one in json_values(text, _OBJECT, max_failures=_MAX_FAILURES):
        if one is None:
            failed = True
            continue
        verdicts, top = _verdicts_in(one.value, aspect.lower().replace(" ", "_"), kind)
        found = found or bool(verdicts)
        yield replace(one, verdicts=tuple(verdicts), top=top, prose=_prose(one.value))
    if failed and not found:
        yield from _broken(text)


def _verdicts_in(value: Any, aspect: str, kind: str) -> tuple[list[tuple[Any, bool]], str]:
    """Return what stands under the keys of the plainest kind that `value` has, and its maximum.

    Keys that name a verdict, then those that name a score on the whole, then those of the worse;
    then the one key that names what is judged; else what the objects in it hold.
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
    found: list[tuple[Any, bool]] = []
    for key in keys or nested:
        item = items[key]
        if isinstance(item, dict):
            inner, inner_top = _verdicts_in(item, aspect, kind)
            found, top = found + inner, top or inner_top
        else:
            found += [(one, worse) for one in (item if isinstance(item, list) else [item])]
    return found, top


def _plainest(items: dict[str, Any], aspect: str, kind: str) -> tuple[list[str], bool]:
    """Return the keys of the plainest kind, and whether they name the worse."""
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
    """Whether a key that is no verdict's names what is judged: {"consistent": false}."""
    long = isinstance(value, dict | list) or (isinstance(value, str) and len(value) > 12)
    if kind == "pair" or long:
        return False
    return bool(_QUALITY.search(key)) if kind == "number" else key not in {"yes", "no"}


def _prose(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return "\n".join(str(v) for v in value.values() if isinstance(v, str) and len(v) > 10)


def _broken(text: str) -> Iterator[JsonValue]:
    """Read objects that are not quite JSON: trailing commas, single quotes, quotes unescaped."""
    for match in list(_BROKEN.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=None, verdicts=((value, False),))
