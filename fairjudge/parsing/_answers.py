"""Recognise answers on a scale in a text: numbers, words, stars and sides of a pair."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Literal, TypeAlias

from fairjudge.parsing import _words as words
from fairjudge.scales import NUMBER_WORDS, Position, Scale

Problem: TypeAlias = Literal["off_scale", "several"]

_WORD = "|".join(NUMBER_WORDS)
_NUMBER = re.compile(
    rf"""
    (?P<number>[-+]?(?<!\d)\d{{1,9}}(?!\d)(?:[.,]\d{{1,6}}(?!\d))? | (?:{_WORD})\b)
    (?P<half>\s{{1,3}}and\s{{1,3}}a\s{{1,3}}half\b | \s?½)?
    (?P<percent>\s?%)?
    (?:\s{{0,2}}\(\d{{1,2}}\))?
    (?:\s{{0,3}}-?\s?(?P<counted>stars?|points?|estrellas?|étoiles?|sternen?|pts)\b)?
    (?:\s{{0,3}}(?:/|\(?\bout\s{{1,3}}of\b(?:\sa\s(?:possible|maximum|total)(?:\sof)?\b)?|\bof\b(?=\s{{1,3}}(?:\d|{_WORD}))
                 |\bsur\b|\bsobre\b|من|\bvon\b|\bde\b|\bsu\b|из)\s{{0,3}}
       (?P<denominator>\d{{1,9}}(?:\.0)?(?!\d)|(?:{_WORD})\b)(?:\s?\(\d{{1,2}}\)|(?<=\d)\))?)?
    (?:\s{{0,3}}-?\s?(?P<unit>stars?|points?|punkten?|puntos|estrellas?|étoiles?|sternen?|pts|분|점|分|星|点)(?![^\W\d](?<![で입])))?
    (?:\s{{0,3}}\(?(?:on|in|using)\s(?:an?|the)\s(?:given\s)?(?:scale\s(?:of|from)\s(?:\d{{1,3}}\s?(?:to|-)\s?)?
       (?P<scale>\d{{1,3}}|(?:{_WORD})\b)|(?P<points>\d{{1,3}}|(?:{_WORD}))-?\s?point\sscale)\)?)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NUMBER_START = re.compile(rf"[-+\d]|(?:{_WORD})\b", re.IGNORECASE)
_GLYPHS = re.compile(r"(?P<full>★(?:\s?★){0,99})(?P<half>\s?½)?(?P<empty>(?:\s?☆){0,99})")
_SUMMARY = rf"(?:(?:the|le|la|el|il|o|die)\s{{1,3}})?{words.NOUN}"
_TIE = rf"(?:it(?:'?s|\s{{1,3}}is)\s{{1,3}})?(?:a\s{{1,3}})?{words.TIE}"


class Rank(IntEnum):
    """How explicitly a reply states an answer as its verdict; the most explicit one counts."""

    CLAIMED = 0
    """A description that implies yes or no ("it is not consistent"): it can only contradict."""
    MENTIONED = 1
    """In passing in a sentence: "earning a 4", "4/5", "Summary 2 is better"."""
    NAMED = 2
    """Under the name of a quality: "Fluency: 4"."""
    ASSIGNED = 3
    """As the object of a sentence: "I'd give it a 4", "the score is 4"."""
    RATED = 4
    """Under a label of a score of something: "Fluency score: 4"."""
    STATED = 5
    """Under a plain label ("Score: 4"), or alone at the beginning or end of the reply."""
    FINAL = 6
    """In a requested form (JSON, tags), or under a label with verdict, final or overall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer in a text: its value on the scale, or its problem, and its rank.

    ``start`` and ``end`` are half-open, in characters. ``explicit`` is true if the answer includes
    its maximum or unit ("4/5", not "4"); ``revises`` if it replaces the answers before it.
    """

    start: int
    end: int
    value: float | Position | None
    problem: Problem | None = None
    explicit: bool = False
    rank: Rank = Rank.MENTIONED
    revises: bool = False


def answer_at(text: str, position: int, scale: Scale) -> Answer | None:
    """Return the answer that begins at `position` of a cleaned text, or None."""
    if scale.kind == "number":
        return _number_at(text, position, scale)
    match = _pattern(scale).match(text, position)
    if match is None:
        return None
    value = _value_of(match, scale)
    return None if value is None else Answer(start=position, end=match.end(), value=value)


def begins_number(word: str) -> bool:
    """Return whether `word` may be an answer on a scale of numbers, or the beginning of one."""
    return _NUMBER_START.match(word) is not None


def _number_at(text: str, position: int, scale: Scale) -> Answer | None:
    match = _NUMBER.match(text, position) if _NUMBER_START.match(text, position) else None
    if match is None:
        return _glyphs_at(text, position, scale) if text[position : position + 1] == "★" else None
    number = _to_number(match["number"]) + (0.5 if match["half"] else 0.0)
    denominator = match["denominator"] or match["scale"] or match["points"]
    is_other_scale = match["percent"] or (
        denominator and _to_number(denominator) != scale.levels[-1].value
    )
    value = None if is_other_scale else _on_scale(number, scale)
    explicit = bool(denominator or match["unit"] or match["counted"])
    return _number(match, value, explicit=explicit)


def _glyphs_at(text: str, position: int, scale: Scale) -> Answer | None:
    match = _GLYPHS.match(text, position)
    if match is None:
        return None
    number = match["full"].count("★") + (0.5 if match["half"] else 0.0)
    empty = match["empty"].count("☆")
    total = number + empty + (0.5 if match["half"] and empty else 0.0)
    is_other_scale = bool(empty) and total != scale.levels[-1].value
    return _number(match, None if is_other_scale else _on_scale(number, scale), explicit=True)


def _number(match: re.Match[str], value: float | None, *, explicit: bool) -> Answer:
    problem: Problem | None = "off_scale" if value is None else None
    start, end = match.span()
    return Answer(start=start, end=end, value=value, problem=problem, explicit=explicit)


def _to_number(word: str) -> float:
    lower_word = word.lower()
    if lower_word in NUMBER_WORDS:
        return float(NUMBER_WORDS.index(lower_word))
    return float(word.replace(",", "."))


def _on_scale(number: float, scale: Scale) -> float | None:
    """Return `number` if it is a level of the scale, or a fraction that the scale allows."""
    values = [level.value for level in scale.levels if isinstance(level.value, float)]
    if number in values:
        return number
    return number if scale.fractions and values[0] < number < values[-1] else None


@lru_cache(maxsize=64)
def _pattern(scale: Scale) -> re.Pattern[str]:
    """Compile one named group for each word of a level.

    Longer words come first, so that "not supported" is matched before "supported".
    """
    yes_no = set(scale.answers) == {"yes", "no"}
    other_words = {"yes": words.YES, "no": words.NO} if yes_no else {}
    words_with_index = [
        (word, index)
        for index, level in enumerate(scale.levels)
        for word in (level.answer, *level.aliases, *other_words.get(level.answer, ()))
    ]
    words_with_index.sort(key=lambda pair: -len(pair[0]))
    parts = [
        f"(?P<w{n}_{index}>{_word_pattern(word)})"
        for n, (word, index) in enumerate(words_with_index)
    ]
    pattern = "|".join(parts)
    if scale.kind == "pair":
        pattern = rf"(?:{_SUMMARY}[\s_]{{0,3}}[#(]?\s?)?(?:{pattern})\)?" + _pair_words(scale)
    return re.compile(
        rf"[(\[\"'<{{#]?(?:{pattern})(?![+]|(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])\w)",
        re.IGNORECASE,
    )


def _pair_words(scale: Scale) -> str:
    reference = rf"(?:the\s{{1,3}})?(?:{_SUMMARY}\s{{1,3}})?(?:%s)(?:\s{{1,3}}(?:one|{_SUMMARY}))?"
    parts = [
        f"|(?P<first>{reference % words.FIRST}|{_SUMMARY}\\s{{1,3}}one)",
        f"|(?P<second>{reference % words.SECOND}|{_SUMMARY}\\s{{1,3}}two)",
    ]
    if any(level.value == "tie" for level in scale.levels):
        parts.append(f"|(?P<tie>{_TIE})")
    return "".join(parts)


def _word_pattern(word: str) -> str:
    return r"[\s_-]{1,3}".join(re.escape(part) for part in re.split(r"[\s_-]+", word) if part)


def _value_of(match: re.Match[str], scale: Scale) -> float | Position | None:
    name, word = next((n, f) for n, f in match.groupdict().items() if f is not None)
    if name in {"first", "second", "tie"}:
        return next(lv.value for lv in scale.levels if lv.value == name)
    if len(word) == 1 and _is_article(match):
        return None
    value = scale.levels[int(name.rsplit("_", 1)[1])].value
    return None if value == "tie" and re.fullmatch(r"\w{2,}\sc", match[0], re.IGNORECASE) else value


def _is_article(match: re.Match[str]) -> bool:
    """Return whether a single "a" or "I" begins a phrase ("A summary that ..."), not an answer."""
    is_side = match[0] == "A" and _SIDE_CONTINUES.match(match.string, match.end())
    if match[0].lower() not in {"a", "i"} or is_side:
        return False
    next_characters = match.string[match.end() : match.end() + 3]
    return bool(re.match("[ \xa0][^\\W\\d]|'", next_characters)) or (
        match[0].islower() and match.string.strip().lower() != match[0]
    )


_SIDE_CONTINUES = re.compile(
    r"\s(?:is|was|has|wins?|won|beats|over|loses|does|performs|seems|appears|outperforms|because|since|for|by|and|with|as"
    r"|but|due|gets|covers|contains|provides|or|vs|would|narrowly|then|it)\b"
)
"""Follows the letter A if it is the name of a side, not the article."""
