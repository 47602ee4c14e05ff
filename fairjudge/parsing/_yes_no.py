"""What stands around a yes or a no and takes it back: its contrary, or a sentence that says so."""

from __future__ import annotations

import re
from functools import cache

from fairjudge.parsing import _languages
from fairjudge.parsing._answers import Answer
from fairjudge.scales import Scale

_FAULTY = (
    r"(?:missing|absent|omitted|lacking|wrong|false|incorrect|unsupported|uncovered|left\sout)"
)
_CLAIM = re.compile(
    rf"\b(?P<none>nothing|none)?(?:it|this|that|answer|claim|statement|information)?(?:\s(?:is|was|are)|'s)"
    rf"(?P<not>n't|\snot)?\s(?:\w+ly\s)?(?:(?P<bad>{_FAULTY})|covered|mentioned|stated|present|conveyed|supported|included|correct)\b",
    re.IGNORECASE,
)


_SO = re.compile(r"\b(?:so|therefore|thus|hence),?\s$", re.IGNORECASE)


@cache
def _tokens(scale: Scale) -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|[.?!;,]|(?P<named>:)|\s-(?=\s)|\b(?:but|aber|mais|pero|and|und|et|so|thus|therefore|hence)(?=\s))"
        rf"[\s\"]{{0,9}}(?P<said>{'|'.join(w for w, _ in _binary_words(scale))})"
        r"(?=[\s\"]{0,3}(?:[.,;!:\n]|$))",
        re.IGNORECASE | re.MULTILINE,
    )


def is_opposed(text: str, answer: Answer, scale: Scale, *, named: bool) -> bool:
    """Whether a bare yes or no is beside its contrary ("Yes, no"); `named` ones count too."""
    words = dict(_binary_words(scale))
    if _SO.search(text[max(0, answer.start - 12) : answer.start]):
        return False
    found = _tokens(scale).finditer(text) if words else ()
    said = {words[match["said"].lower()] for match in found if named or not match["named"]}
    return bool(said - {answer.value})


def is_contradicted(text: str, answer: Answer, scale: Scale) -> bool:
    """Whether the sentence around a yes or no says its contrary: "No, it isn't absent"."""
    if not _binary_words(scale) or answer.value is None:
        return False
    asked = re.search(
        r"([^.?!\n]{0,200})\?\s{0,3}$", text[max(0, answer.start - 210) : answer.start]
    )
    rest = re.match(r"[^.!?\n]{0,200}", text[answer.end :])
    if rest and answer.value == 1.0 and re.fullmatch(r",?(?:\s\w+){0,2}\snot", rest[0]):
        return True
    claim = _CLAIM.search(rest[0]) if rest else None
    if claim:
        faults = [claim["none"], claim["not"], claim["bad"]]
        return (sum(map(bool, faults)) % 2 == 1) == (answer.value == 1.0)
    return bool(asked and re.search(rf"\b{_FAULTY}\b", asked[1], re.IGNORECASE))


@cache
def _binary_words(scale: Scale) -> tuple[tuple[str, float], ...]:
    if set(scale.answers) != {"yes", "no"}:
        return ()
    no = [(word, 0.0) for word in ("no", *_languages.NO)]
    return (*no, *((word, 1.0) for word in ("yes", *_languages.YES)))


def is_foreign(text: str, answer: Answer, scale: Scale) -> bool:
    """Whether `answer` is a word of another language or a colloquial one, which prose may hold."""
    word = text[answer.start : answer.end].strip("([\"'<{# ").lower()
    return scale.kind == "choice" and word in {*_languages.YES, *_languages.NO}
