"""Split a cleaned reply into words, each represented by its kind (one letter)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from fairjudge.parsing._answers import Answer, answer_at, begins_number
from fairjudge.parsing._clean import lowercase
from fairjudge.parsing._words import begins_phrase, kind_of
from fairjudge.scales import Scale

_PIECE = re.compile(
    r" ?(?:[^\S\n]|_)*(?:(?P<n>\n\s*)|(?P<script>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?P<word>[-+]?\d+(?:[.,]\d+)*(?:[^\W\d_]+)?"
    r"|(?:[a-z]+|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f])+(?:['.-][^\W\d_]+)*)"
    r"|(?P<unlike>!=|≠)|(?P<arrow>[-=]{1,3}>|[→≻])|(?P<dash>-{1,2})|(?P<dots>\.{2,40})|(?P<glyph>[★½☆#])"
    r"|(?P<sign>[^\w\s]))"
)
_SIGNS = dict(zip(".!?;,:=|/([{)]}><~≈&%+", "..?.,::|/((()))><~~axx", strict=True))
_STARTS = re.compile(
    r"(?<![\w/:$€£-])(?<!\d[.,])|(?<=[^\W\d][:/])|(?<=\.\.)|(?<=[\u3040-\u9fff\uac00-\ud7af])"
)


@dataclass(frozen=True, slots=True)
class Words:
    """A text as a string of kinds, one letter for each word or sign.

    ``starts`` and ``ends`` are offsets in the text, one for each kind; ``answers`` are keyed by
    their index in ``kinds``.
    """

    kinds: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    answers: dict[int, Answer]


def words_of(text: str, scale: Scale) -> Words:
    """Split `text` into words; kind ``A`` is an answer on `scale`, ``n`` the end of a line."""
    lower_text = lowercase(text)
    kinds: list[str] = []
    spans: list[tuple[int, int]] = []
    answers: dict[int, Answer] = {}
    end = 0
    is_number = scale.kind == "number"
    while piece := _PIECE.match(lower_text, end):
        group = piece.lastgroup or ""
        start, end = piece.span(group)
        if is_number and group == "word" and (word_kind := _plain_kind(lower_text[start:end])):
            kinds.append(word_kind)
            spans.append((start, end))
            continue
        kind, end, answer = _kind(text, lower_text, piece, scale)
        if kind == "★" and kinds[-1:] == ["A"] and is_number:
            continue  # "3/5 ⭐⭐⭐"
        if kind and answer:
            kind, answers[len(kinds)] = "A", answer
        if kind:
            kinds.append(kind)
            spans.append((start, end))
    starts, ends = zip(*spans, strict=True) if spans else ((), ())
    return Words("".join(kinds), starts, ends, answers)


@lru_cache(maxsize=10_000)
def _plain_kind(word: str) -> str:
    """Return the kind of a word that begins neither a phrase nor a number; "" for all others."""
    if begins_phrase(word) or begins_number(word):
        return ""
    return kind_of(word, 0, len(word))[0]


def _kind(
    text: str, lower_text: str, piece: re.Match[str], scale: Scale
) -> tuple[str, int, Answer | None]:
    """Return the kind of a word or sign, its end, and the answer that begins with it, if any."""
    group = piece.lastgroup or ""
    start, at = piece.span(group)
    if group in {"script", "word"}:
        kind, end = kind_of(lower_text, start, at)
        is_phrase = end > at and group == "word"
        answer = None if is_phrase else _answer(text, start, scale)
        return kind, answer.end if answer else end, answer
    if group == "glyph":
        answer = _answer(text, start, scale)
        return ("★", answer.end, answer) if answer else ("", at, None)
    if group == "dots":
        return ":" if at - start > 3 else ".", at, None
    if group == "sign":
        return _sign(lower_text, start), at, None
    return {"n": "n", "arrow": ":", "unlike": "N", "dash": "-"}[group], at, None


def _sign(lower_text: str, start: int) -> str:
    """Return the kind of a sign; "" for a full stop within a word or after "e.g"."""
    sign, next_character = lower_text[start], lower_text[start + 1 : start + 2]
    if lower_text[start - 3 : start] in {"e.g", "i.e"}:
        return ""
    if sign in ".!" and next_character.isalnum() and next_character.isascii():
        return "N" if sign == "!" and not lower_text[start - 1 : start].isalnum() else ""
    return "x" if "\u202a" <= sign <= "\u202e" else _SIGNS.get(sign, "")  # bidirectional control


def _answer(text: str, start: int, scale: Scale) -> Answer | None:
    answer = answer_at(text, start, scale)
    if answer is None or (start and not _STARTS.match(text, start)):
        return None
    return None if _CONTINUES.match(text, answer.end) else answer


_CONTINUES = re.compile(
    r"(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?:[-/:.,]\d|-\w|'\w|\+|%|\w)"
)
"""Continues a word or number, which then is not an answer: "5-year", "2-1", "3.1", "B+"."""
