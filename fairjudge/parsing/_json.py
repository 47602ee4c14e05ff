"""JSON in replies, and verdicts in it: whole, fenced, embedded, or a little broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

_VERDICT = frozenset(
    [
        "verdict",
        "answer",
        "label",
        "winner",
        "preference",
        "preferred",
        "choice",
        "decision",
        "judgment",
        "judgement",
        "result",
        "better",
        "vencedor",
        "ganador",
        "gagnant",
        "gewinner",
        "vincitore",
        "respuesta",
        "resposta",
        "réponse",
        "antwort",
        "risposta",
        "urteil",
        "ответ",
        "答案",
        "结论",
        "判定",
        "結論",
        "best",
    ]
)
"""Words of keys that name the verdict."""
_SCORE = frozenset(
    [
        "score",
        "rating",
        "grade",
        "stars",
        "points",
        "value",
        "overall",
        "puntuación",
        "nota",
        "评分",
        "得分",
    ]
)
_WHOLE = frozenset(["final", "overall", "total", "summary", "better", "preferred"])
_PLAIN = _VERDICT | _SCORE | _WHOLE
_WORSE = frozenset(["worse", "worst", "loser", "rejected", "weaker", "inferior"])
_TOP = re.compile(
    r"max(?:imum)?(?:_?(?:score|rating|points))?|out_?of|total|(?:rating_)?scale|(?:score_)?range"
)
"""Keys of the highest score that there is."""
_ASIDE = re.compile(
    r"reason|explan|confiden|certain|comment|feedback|note|error|hallucinat|missing|wrong|unsupported|contradict"
    r"|omi(?:t|ss)|incorrect|inconsist|unfaithful|fabricat|fault|weak|max|min|count|num|absent|^n_|^(?:not|no)_|invent"
    r"|false|lack|justif|example|input|previous|issues|strength|index|^id$|code|length|year|evidence|quote|forced|thought"
)
"""Names of what is no verdict, or of what is bad."""
_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")
_BROKEN = re.compile(
    rf"""["'](?:final_|overall_)?(?:{"|".join(sorted(_PLAIN - _WHOLE))})["']\s{{0,5}}:\s{{0,5}}(?:["']([^"'\n]{{1,60}})["']|(-?[\d.]{{1,9}}|true|false)\b)(?!\s{{0,3}}(?:or\b|\||/(?![*/])))""",
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
    items = {
        str(key).strip().lower().replace(" ", "_").replace("-", "_"): v for key, v in value.items()
    }
    top = next(
        (
            m[1]
            for k, v in items.items()
            if _TOP.fullmatch(k) and (m := _LAST_NUMBER.search(str(v)))
        ),
        "",
    )
    if kind == "pair" and isinstance(ranking := items.get("ranking"), list) and len(ranking) > 1:
        return [(ranking[0], False)], ""
    words = {key: set(key.split("_")) for key in items if not _ASIDE.search(key)}
    plain = [
        key
        for key in words
        if key == aspect
        or (words[key] <= _PLAIN and words[key] & (_VERDICT | _SCORE | {"overall"}))
    ]
    tiers = (
        [k for k in plain if words[k] & {"final", "verdict"}], [k for k in plain if words[k] & _VERDICT],
        [k for k in plain if words[k] & _WHOLE and words[k] & _SCORE], plain,
        [k for k in words if words[k] & _WORSE],
        [k for k in words if k == aspect or (k.endswith(("_score", "_rating")) and kind != "pair")],
        [k for k in words if _is_judged(k, items[k], kind)] if len(words) == 1 else [],
    )  # fmt: skip
    for n, keys in enumerate(tiers):
        if not keys or (n > 3 and len({str(items[key]) for key in keys}) > 1 and n != 4):
            continue
        found: list[tuple[Any, bool]] = []
        for key in keys:
            item = items[key]
            if isinstance(item, dict):
                inner, inner_top = _verdicts_in(item, aspect, kind)
                top = top or inner_top
                found += inner
            else:
                found += [(one, n == 4) for one in (item if isinstance(item, list) else [item])]
        return found, top
    found = []
    for key, item in items.items():
        if isinstance(item, dict) and (key in words) and not found:
            inner, inner_top = _verdicts_in(item, aspect, kind)
            found, top = found + inner, top or inner_top
        elif isinstance(item, dict) and key in words:
            found += _verdicts_in(item, aspect, kind)[0]
    return found, top


def _is_judged(key: str, value: Any, kind: str) -> bool:
    """Whether a key that is no verdict's names what is judged: {"consistent": false}."""
    if (
        kind == "pair"
        or (isinstance(value, str) and len(value) > 12)
        or isinstance(value, dict | list)
    ):
        return False
    if kind == "number":
        return bool(re.search(r"(?:ness|ity|ency|ence|ance|acy|coverage|fluency|style)$", key))
    return key not in {"yes", "no"}


def _prose(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return "\n".join(str(v) for v in value.values() if isinstance(v, str) and len(v) > 20)


def _broken(text: str) -> Iterator[JsonValue]:
    """Read objects that are not quite JSON: trailing commas, single quotes, quotes unescaped."""
    for match in list(_BROKEN.finditer(text))[-1:]:
        start = text.rfind("{", 0, match.start())
        end = text.find("}", match.end()) + 1 or match.end()
        value = match[1] if match[1] is not None else match[2]
        yield JsonValue(start=max(start, 0), end=end, value=None, verdicts=((value, False),))
