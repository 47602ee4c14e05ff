"""Cuts a cleaned reply into words by kind: what the grammar of verdicts is read from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairjudge.parsing._answers import Answer, answer_at
from fairjudge.parsing._clean import lowered
from fairjudge.parsing._words import kind_of
from fairjudge.scales import Scale

_PIECE = re.compile(
    r"(?P<n>\n\s*)|(?P<script>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?P<word>[-+]?\d+(?:[.,]\d+)*(?:[^\W\d_]+)?"
    r"|(?:[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f])+(?:['.-][^\W\d_]+)*)"
    r"|(?P<unlike>!=|≠)|(?P<arrow>[-=]{1,3}>|[→≻])|(?P<dash>-{1,2})|(?P<dots>\.{2,40})|(?P<glyph>[★½☆#])"
    r"|(?P<sign>[^\w\s])"
)
_SIGNS = {
    ".": ".", "!": ".", "?": "?", ";": ".", ",": ",", ":": ":", "=": ":", "|": "|", "/": "/",
    "(": "(", "[": "(", "{": "(", ")": ")", "]": ")", "}": ")", ">": ">", "<": "<", "~": "~", "&": "a",
    "≈": "~", "%": "x", "+": "x", "$": "",
}  # fmt: skip
_STARTS = re.compile(
    r"(?<![\w/:$€£-])(?<!\d[.,])|(?<=[^\W\d][:/])|(?<=\.\.)|(?<=[\u3040-\u9fff\uac00-\ud7af])"
)


@dataclass(frozen=True, slots=True)
class Words:
    """A text as a string of kinds, one letter a word or sign; the places, and the answers in it."""

    kinds: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    answers: dict[int, Answer]


def words_of(text: str, scale: Scale) -> Words:
    """Cut `text` into words; ``A`` in the kinds stands for an answer on `scale`, ``n`` for a line."""
    small = lowered(text)
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    answers: dict[int, Answer] = {}
    at = 0
    while piece := _PIECE.search(small, at):
        start, at = piece.span()
        kind, answer = "", None
        if piece["n"] is not None:
            kind = "n"
        else:
            if piece["script"] or piece["word"]:
                kind, end = kind_of(small, start, at)
                phrase = end > at and not piece["script"]
                answer = None if phrase else _answer(text, start, scale)
                at = answer.end if answer else end
            elif piece["glyph"] and (answer := _answer(text, start, scale)):
                at = answer.end
            if answer and piece["glyph"] and kinds[-1:] == ["A"] and scale.kind == "number":
                kind = ""  # "3/5 ⭐⭐⭐"
            elif answer:
                kind = "A"
                answers[len(kinds)] = answer
            elif piece["arrow"] or piece["unlike"]:
                kind = ":" if piece["arrow"] else "N"
            elif piece["dots"]:
                kind = ":" if at - start > 3 else "."
            elif piece["dash"]:
                kind = "-"
            elif piece["glyph"] or piece["sign"]:
                kind = _SIGNS.get(small[start], "")
                if small[start] in ".!" and small[at : at + 1].isalnum() and small[at].isascii():
                    kind = (
                        "N"
                        if small[start] == "!" and not small[start - 1 : start].isalnum()
                        else ""
                    )
                if small[start - 3 : start] in {"e.g", "i.e"}:
                    kind = ""
        if kind:
            kinds.append(kind)
            starts.append(start)
            ends.append(at)
    return Words("".join(kinds), tuple(starts), tuple(ends), answers)


def _answer(text: str, start: int, scale: Scale) -> Answer | None:
    if start and not _STARTS.match(text, start):
        return None
    answer = answer_at(text, start, scale)
    return None if answer is None or continues(text, answer.end) else answer


_CONTINUES = re.compile(r"[-/:.,]\d|-\w|'\w|\+|%|\w")


def continues(text: str, end: int) -> bool:
    """Whether the word or number goes on past `end`: "5-year", "2-1", "3.1", "B+"."""
    found = _CONTINUES.match(text, end)
    return bool(found) and not _CJK.match(text, end)


_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
