"""The context of an answer: whether it ends there, and is negated, hypothetical or reported.

Regular expressions here match strings of kinds, one letter for each word or sign (see
``words.toml``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from fairjudge.parsing._answers import Answer
from fairjudge.parsing._tokens import Words, words_of
from fairjudge.scales import Scale, options

_MAX_WORDS_BEFORE, _MAX_WORDS_AFTER = 48, 16
_CLAUSE = re.compile(r"[TYC]|,(?=[aCwf]*R)|,(?=f?I)")
_ENDS = re.compile(r"$|[.n,:()|wTCYIVWDa?>-]|[VGB]:|<[/|]|f=(?=[.n]|$)|t(?!f?A)")
_DENIED_AFTER = re.compile(r"\)?(?:\?|M|\(W|f?[^.n?A]{0,8}U|[=P]f?[NF])")
_SECOND = re.compile(r"\)*(?:[/~oat|-]|,[oa]?N?|:)\(*f?A")
_BUT = re.compile(r",?[Taf]{1,3}A")
_LINE_END = re.compile(r"[.)|:(-]{0,8}(?:n|$)")
_MAXIMUM = re.compile(
    r"(?:out\sof|\bmax\w*|(?:\(|\bon\sa\s|\bscale\s|\bof\s|\bfrom\s)[01]\s?(?:-|to|through))\s?"
    r"(\d{1,3})\b|\b(\d{1,3})-?\s?(?:point\b|点中|段階)",
    re.IGNORECASE,
)
"""The maximum of the scale in a sentence."""
_SOURCE = re.compile(
    r"(?:^|\b(?:in|from)\s)\W{0,9}(?:the\s)?(?:summary|text|article|source)\s?:", re.IGNORECASE
)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range)|me\b)\w|\s?=\s?[a-z]")
_RATHER = re.compile(r",?\s(?:rather\sthan|instead\sof|not)\b", re.IGNORECASE)
_NEW_SENTENCE = re.compile(r"\s{1,4}[A-Z][a-z']*(?:\s[a-z]|:)")
_FROM = re.compile(r"\bfrom\s{0,3}\Z", re.IGNORECASE)


@dataclass(frozen=True)
class AnswerMatch:
    """An answer in its context; `index` is its index among the words of the cleaned text."""

    text: str
    lower_text: str
    words: Words
    scale: Scale
    index: int
    answer: Answer

    @cached_property
    def start(self) -> int:
        """The index of the first word of its sentence, at most ``_MAX_WORDS_BEFORE`` words back."""
        low = max(0, self.index - _MAX_WORDS_BEFORE)
        kinds = self.words.kinds
        return max(low, max(kinds.rfind(sign, low, self.index) for sign in ".n?") + 1)

    @cached_property
    def kinds_before(self) -> str:
        """The kinds of the words before it in its sentence.

        A "No," that opens the sentence is a revision (kind ``W``) of the preceding sentence.
        """
        before = self.words.kinds[self.start : self.index]
        return "W" + before[1:] if before.startswith("N,") else before

    @cached_property
    def kinds_after(self) -> str:
        """The kinds of the next ``_MAX_WORDS_AFTER`` words."""
        return self.words.kinds[self.index + 1 : self.index + 1 + _MAX_WORDS_AFTER]

    @property
    def wording(self) -> str:
        """The text of the answer, in lower case."""
        return self.lower_text[self.answer.start : self.answer.end]

    def words_between(self, start: int, end: int) -> str:
        """Return the words from index `start` to before `end`, in lower case."""
        starts, ends = self.words.starts, self.words.ends
        return self.lower_text[starts[start] : ends[end - 1]] if start < end else ""

    @property
    def ends_line(self) -> bool:
        """Whether only punctuation follows on its line."""
        return bool(_LINE_END.match(self.words.kinds, self.index + 1))

    @property
    def ends(self) -> bool:
        """Whether the answer is complete, and does not count the noun that follows ("4 errors")."""
        next_kind, text, end = self.kinds_after[:1], self.text, self.answer.end
        if self.scale.kind != "number" and next_kind and next_kind in "=PG":
            return False
        is_word = self.scale.kind == "number" and self.wording.isalpha()
        if (
            is_word
            and next_kind
            and next_kind in "wa"
            and not re.search("S[fw]*$", self.kinds_before)
        ):
            return False
        has_label = self.scale.kind == "number" or self.kinds_before.endswith(":")
        begins_sentence = (
            has_label and not self.wording.isalpha() and _NEW_SENTENCE.match(text, end)
        )
        if _ENDS.match(self.kinds_after) or begins_sentence or self.second:
            return True
        if self.scale.kind != "number" or not next_kind:
            return False
        explicit = self.answer.explicit and next_kind in "wtfQ"
        return explicit or next_kind in "=v" or bool(_RATHER.match(text, end))

    @cached_property
    def second(self) -> Answer | None:
        """Another answer next to this one: "3 or 4", "1, 2, 3", "yes/no"."""
        is_choice = self.scale.kind == "choice"
        match = _SECOND.match(self.kinds_after) or (
            _BUT.match(self.kinds_after) if is_choice else None
        )
        if match is None:
            return None
        other_index = self.index + match.end()
        other = self.words.answers[other_index]
        between = self.lower_text[self.answer.end : other.start]
        is_offered = re.search("maybe|perhaps|possibly" if "N" in match[0] else "[>→≻]", between)
        if other.value == self.answer.value or (set(match[0]) & {"N", ":"} and not is_offered):
            return None
        if ":" in match[0]:
            return other
        next_kind = self.words.kinds[other_index + 1 : other_index + 2]
        is_choice_of_two = is_offered or match[0].lstrip(")")[0] not in ",-"
        is_last = next_kind in {",", "", ".", "n", "o", "a", ")"}
        return other if is_last or (is_choice_of_two and _ENDS.match(next_kind)) else None

    @property
    def is_denied(self) -> bool:
        """Whether its sentence negates it, is hypothetical, reports it, or is on another scale."""
        if denies(self.kinds_before) or denied_after(self.kinds_after):
            return True
        text_before = self.text[self.words.starts[self.start] : self.answer.start]
        if _SOURCE.search(text_before) or (
            self.kinds_after[:1] == "t" and _FROM.search(text_before)
        ):
            return True
        if self.scale.kind != "number":
            return False
        maxima = {top for pair in _MAXIMUM.findall(text_before) for top in pair if top}
        is_other_scale = any(float(top) != self.scale.levels[-1].value for top in maxima)
        is_comparison = re.search("cf?$", self.kinds_before) or _BY.match(
            self.lower_text, self.answer.end
        )
        return is_other_scale or bool(is_comparison)


def denies(kinds_before: str) -> bool:
    """Return whether the kinds before an answer negate it, make it hypothetical, or report it."""
    part = _CLAUSE.split(kinds_before.rstrip("(f"))[-1]
    near = re.split(r"[,:(]", part)[-1]
    return bool(re.search("[HU]", part) or re.search("N|[<>]$|^[^I]*M", near))


def denied_after(kinds_after: str) -> bool:
    """Return whether the kinds after an answer make it a question, hypothetical or conditional."""
    return bool(_DENIED_AFTER.match(kinds_after))


def is_denied(kinds_before: str) -> bool:
    """Return whether the words before a form, such as JSON, negate it or report it (`denies`)."""
    kinds = words_of(kinds_before, _NO_SCALE).kinds
    return kinds.endswith("o") or denies(kinds)


_NO_SCALE = options(["\0", "\1"])
