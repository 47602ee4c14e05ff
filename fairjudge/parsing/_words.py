"""The words of verdicts in the languages that are read, by what they do in a sentence.

They stand in `words.toml`; here is the look-up.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

_TABLE = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
KEYS: dict[str, list[str]] = {name: words.split() for name, words in _TABLE["keys"].items()}
SIGNS: dict[str, str] = _TABLE["signs"]
_ANSWERS = {name: words.split() for name, words in _TABLE["answers"].items()}
YES, NO = ([word.replace("_", " ") for word in _ANSWERS[name]] for name in ("yes", "no"))
NOUN, FIRST, SECOND, TIE, REVISED = (
    f"(?:{'|'.join(_ANSWERS[name])})" for name in ("noun", "first", "second", "tie", "revised")
)
LAST = re.compile(r"\b(?:final|revised|corrected|updated|adjusted|definitive)\b")
"""In a label: it takes back what other labels said before."""

_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, dict[tuple[str, ...], str]]]:
    """Return the single words, the stems, and the phrases by their first word, each by its kind."""
    single: dict[str, str] = {}
    stems: dict[str, str] = {}
    phrases: dict[str, dict[tuple[str, ...], str]] = {}
    for kind, words in _TABLE["kinds"].items():
        for word in words.split():
            said = word.replace("_", " ")
            if said.endswith("~"):
                stems.setdefault(said[:-1], kind)
            elif " " in said and not _SCRIPT.search(said):
                first, *rest = said.split()
                phrases.setdefault(first, {}).setdefault(tuple(rest), kind)
            else:
                single.setdefault(said, kind)
    return single, stems, phrases


_SINGLE, _STEMS, _PHRASES = _tables()
_WORD = re.compile(r"\s{1,3}([^\W_]+(?:['.-][^\W\d_]+)*)")
_LONGEST, _SHORTEST = max(map(len, _STEMS)), 3


def kind_of(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the kind of the word in small letters from `start` to `end`, and where it ends.

    Phrases go past `end`; in scripts without spaces a word is the longest known one.
    """
    if _SCRIPT.match(text, start):
        ends = range(start + 6, start, -1)
        known = ((end, text[start:end]) for end in ends)
        kinds = ((_SINGLE.get(said) or _STEMS.get(said), end) for end, said in known)
        return next(((kind, end) for kind, end in kinds if kind), ("x", start + 1))
    word = text[start:end]
    word = word.removesuffix("'s") if len(word) > 4 else word
    best = ("", 0)
    for rest, kind in _PHRASES.get(word, {}).items():
        best = max(best, (kind, _end_of(rest, text, end)), key=lambda one: one[1])
    return best if best[1] else (_of_word(word), end)


def _end_of(rest: tuple[str, ...], text: str, place: int) -> int:
    """Return where a phrase ends of which `rest` is to follow at `place`; 0 where it does not."""
    for part in rest:
        found = _WORD.match(text, place)
        if found is None or found[1] != part:
            return 0
        place = found.end()
    return place


@lru_cache(maxsize=10_000)
def _of_word(word: str) -> str:
    if word in _SINGLE:
        return _SINGLE[word]
    for length in range(min(_LONGEST, len(word)), _SHORTEST - 1, -1):
        if word[:length] in _STEMS:
            return _STEMS[word[:length]]
    if word.endswith(("ness", "ity", "ency", "ence", "ance", "acy", "ism", "sion", "tion")):
        return "Q"
    return "f" if word.endswith("ly") or word.isdigit() else "x"
