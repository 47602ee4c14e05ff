"""Look up the kind of a word, in all supported languages, in ``words.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

_TABLE = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
KEYS: dict[str, list[str]] = {name: words.split() for name, words in _TABLE["keys"].items()}
SIGNS: dict[str, str] = _TABLE["signs"]
_ANSWERS = {name: words.split() for name, words in _TABLE["answers"].items()}
YES, NO = ([word.replace("_", " ") for word in _ANSWERS[name]] for name in ("yes", "no"))
NOUN, FIRST, SECOND, TIE, REVISED = (
    f"(?:{'|'.join(_ANSWERS[name])})" for name in ("noun", "first", "second", "tie", "revised")
)
LAST = re.compile(r"\b(?:final|revised|corrected|updated|adjusted|definitive)\b")
"""Words of a label whose answer replaces answers under earlier labels."""

_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_Phrases: TypeAlias = dict[str, dict[str, dict[tuple[str, ...], str]]]


def _tables() -> tuple[dict[str, str], dict[str, str], _Phrases]:
    """Return the kinds of single words, of stems, and of phrases by their first and second word."""
    single: dict[str, str] = {}
    stems: dict[str, str] = {}
    phrases: _Phrases = {}
    for kind, words in _TABLE["kinds"].items():
        for word in words.split():
            phrase = word.replace("_", " ")
            if phrase.endswith("~"):
                stems.setdefault(phrase[:-1], kind)
            elif " " in phrase and not _SCRIPT.search(phrase):
                first, second, *next_words = phrase.split()
                by_second = phrases.setdefault(first, {}).setdefault(second, {})
                by_second.setdefault(tuple(next_words), kind)
            else:
                single.setdefault(phrase, kind)
    return single, stems, phrases


_SINGLE, _STEMS, _PHRASES = _tables()
_WORD = re.compile(r"\s{1,3}([^\W_]+(?:['.-][^\W\d_]+)*)")
_LONGEST, _SHORTEST = max(map(len, _STEMS)), 3


def kind_of(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the kind of the lower-case word or phrase at `start`, and its end.

    `end` is the end of its first word; in scripts without spaces the longest word in the table.
    """
    if text[start] >= "\u3040" and _SCRIPT.match(text, start):
        ends = range(start + 6, start, -1)
        prefixes = ((end, text[start:end]) for end in ends)
        kinds = ((_SINGLE.get(prefix) or _STEMS.get(prefix), end) for end, prefix in prefixes)
        return next(((kind, end) for kind, end in kinds if kind), ("x", start + 1))
    word = _without_possessive(text[start:end])
    if (phrases := _PHRASES.get(word)) and (second := _WORD.match(text, end)):
        best, end_of_best = "", 0
        for next_words, kind in phrases.get(second[1], {}).items():
            if (end_of_phrase := _end_of(next_words, text, second.end())) > end_of_best:
                best, end_of_best = kind, end_of_phrase
        if end_of_best:
            return best, end_of_best
    return _kind_of_word(word), end


def begins_phrase(word: str) -> bool:
    """Return whether a phrase of several words begins with the lower-case `word`."""
    return _without_possessive(word) in _PHRASES


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s") if len(word) > 4 else word


def _end_of(next_words: tuple[str, ...], text: str, position: int) -> int:
    """Return the end of a phrase whose words `next_words` begin at `position`; 0 if they do not."""
    for part in next_words:
        match = _WORD.match(text, position)
        if match is None or match[1] != part:
            return 0
        position = match.end()
    return position


@lru_cache(maxsize=10_000)
def _kind_of_word(word: str) -> str:
    if word in _SINGLE:
        return _SINGLE[word]
    for length in range(min(_LONGEST, len(word)), _SHORTEST - 1, -1):
        if word[:length] in _STEMS:
            return _STEMS[word[:length]]
    if word.endswith(("ness", "ity", "ency", "ence", "ance", "acy", "ism", "sion", "tion")):
        return "Q"
    return "f" if word.endswith("ly") or word.isdigit() else "x"
