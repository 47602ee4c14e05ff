"""Normalise a reply before parsing, without moving a character.

Every step replaces characters one for one (ignored parts become spaces), so that an offset in the
cleaned text is the same offset in the reply, and hence in its tokens. Zero-width characters within
a word are replaced by spaces before the word.
"""

from __future__ import annotations

import re
import unicodedata

from fairjudge.parsing._words import SIGNS

_TABLE = str.maketrans({sign: plain for plain, signs in SIGNS.items() for sign in signs})
_SIGNS = frozenset("★☆⭐🌟✭✩✰🥇🥈☑")
_KEYCAP = "\u20e3"

_QUOTE = re.compile(r'"([^"\n]{0,4000})"')
_SINGLE_QUOTE = re.compile(r"(?<![\w'])'([^'\n]{0,300}(?:(?<=\w)'(?=\w)[^'\n]{0,300}){0,8})'(?!\w)")
_BLOCK_QUOTE = re.compile(r"^[ ]{0,8}>[^\n]*", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_MARKUP = re.compile(r"</?(?:b|i|p|em|strong|span|div)>", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\s_])_{1,3}(?![^\W_])")


def spaces(text: str) -> str:
    """Return `text` with all characters but line breaks replaced by spaces."""
    return re.sub(r"[^\n]", " ", text)


def blank(text: str, start: int, end: int) -> str:
    """Replace the characters `start` to `end` of `text` by spaces."""
    return text[:start] + spaces(text[start:end]) + text[end:]


def blank_all(pattern: re.Pattern[str], text: str) -> str:
    """Replace every match of `pattern` by spaces."""
    return pattern.sub(lambda match: spaces(match[0]), text)


_NOTE_MARK = re.compile("(?<=[0-9])[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉]{1,3}")
"""Superscript or subscript digits after a number: the mark of a footnote."""


_WORD_WITH_JOINTS = re.compile(
    "(?<!\\w)\\w{1,60}(?:[\u200b-\u200d\u2060\u00ad\ufeff]\\w{1,60}){1,9}"
)
"""A word with zero-width characters in it."""


def _without_joints(match: re.Match[str]) -> str:
    word = re.sub(r"\W", "", match[0])
    return " " * (len(match[0]) - len(word)) + word


def normalise(text: str) -> str:
    """Map look-alikes to ASCII (all digits, full-width signs, quotes), and markup to spaces."""
    if not text.isascii():
        text = _WORD_WITH_JOINTS.sub(_without_joints, blank_all(_NOTE_MARK, text))
        text = _NOT_ASCII.sub(lambda sign: _ascii_digit(sign[0]), text)
    for sign, pattern in (("</", _MARKUP), ("~~", _STRUCK), ("_", _EMPHASIS)):
        if sign in text:
            text = blank_all(pattern, text)
    return text.translate(_TABLE).replace(_KEYCAP, " ")


def lowercase(text: str) -> str:
    """Return `text` in lower case, at unchanged offsets; Turkish dotted and dotless i become i."""
    return text.replace("İ", "i").replace("ı", "i").lower()


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def _ascii_digit(sign: str) -> str:
    digit = unicodedata.digit(sign, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", sign)
    if len(plain) == 1 and plain.isascii():
        return plain
    return " " if unicodedata.category(sign) == "So" and sign not in _SIGNS else sign


def without_quotations(text: str) -> str:
    """Blank block quotes, and quotations that are longer than an answer."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] == '"' and stripped.count('"') == 2:
        text = text.replace('"', " ")
    if ">" in text:
        text = _BLOCK_QUOTE.sub(lambda match: " " * len(match[0]), text)
    for sign, pattern in (('"', _QUOTE), ("'", _SINGLE_QUOTE)):
        if sign in text:
            text = pattern.sub(_blank_if_long, text)
    return text


_INSTRUCTION = re.compile(
    r":|\b(?:rate|answer|say|give|score|reply|respond|output)\b", re.IGNORECASE
)


def _blank_if_long(match: re.Match[str]) -> str:
    is_key = match.string[match.end() : match.end() + 3].lstrip().startswith(":")
    is_answer = len(match[1].split()) <= 3 and not _INSTRUCTION.search(match[1])
    return f" {match[1]} " if is_key or is_answer else " " * len(match[0])
