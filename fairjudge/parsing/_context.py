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

_REACH, _AHEAD = 48, 16
_CLAUSE = re.compile(r"[TYC]|,(?=[aCwf]*R)|,(?=f?I)")
_ENDS = re.compile(r"$|[.n,:()|wTCYIVWDa?>-]|[VGB]:|<[/|]|f=(?=[.n]|$)|t(?!f?A)")
_DENIED_AFTER = re.compile(r"\)?(?:\?|M|\(W|f?[^.n?A]{0,8}U|[=P]f?[NF])")
_SECOND = re.compile(r"\)*(?:[/~oat|-]|,[oa]?N?|:)\(*f?A")
_BUT = re.compile(r",?[Taf]{1,3}A")
_LINE_END = re.compile(r"[.)|:(-]{0,8}(?:n|$)")
_TOP = re.compile(
    r"(?:out\sof|\bmax\w*|(?:\(|\bon\sa\s|\bscale\s|\bof\s|\bfrom\s)[01]\s?(?:-|to|through))\s?"
    r"(\d{1,3})\b|\b(\d{1,3})-?\s?(?:point\b|点中|段階)",
    re.IGNORECASE,
)
"""The maximum of the scale that a sentence names."""
_SOURCE = re.compile(
    r"(?:^|\b(?:in|from)\s)\W{0,9}(?:the\s)?(?:summary|text|article|source)\s?:", re.IGNORECASE
)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range)|me\b)\w|\s?=\s?[a-z]")
_RATHER = re.compile(r",?\s(?:rather\sthan|instead\sof|not)\b", re.IGNORECASE)
_NEW_SENTENCE = re.compile(r"\s{1,4}[A-Z][a-z']*(?:\s[a-z]|:)")
_FROM = re.compile(r"\bfrom\s{0,3}\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """An answer in its context: `place` is its index among the words of a cleaned text."""

    text: str
    small: str
    words: Words
    scale: Scale
    place: int
    answer: Answer

    @cached_property
    def start(self) -> int:
        """The index of the word that begins its sentence, at most ``_REACH`` words back."""
        low = max(0, self.place - _REACH)
        kinds = self.words.kinds
        return max(low, max(kinds.rfind(sign, low, self.place) for sign in ".n?") + 1)

    @cached_property
    def before(self) -> str:
        """The kinds of the words of its sentence before it.

        A "No," that opens the sentence counts as a revision (kind ``W``) of what precedes it.
        """
        before = self.words.kinds[self.start : self.place]
        return "W" + before[1:] if before.startswith("N,") else before

    @cached_property
    def after(self) -> str:
        """The kinds of the next ``_AHEAD`` words."""
        return self.words.kinds[self.place + 1 : self.place + 1 + _AHEAD]

    @property
    def wording(self) -> str:
        """The text of the answer, in lower case."""
        return self.small[self.answer.start : self.answer.end]

    def words_between(self, start: int, end: int) -> str:
        """Return the words from index `start` to before `end`, in lower case."""
        starts, ends = self.words.starts, self.words.ends
        return self.small[starts[start] : ends[end - 1]] if start < end else ""

    @property
    def ends_line(self) -> bool:
        """Whether only punctuation follows on its line."""
        return bool(_LINE_END.match(self.words.kinds, self.place + 1))

    @property
    def ends(self) -> bool:
        """Whether the answer is complete, and does not count the noun that follows ("4 errors")."""
        follows, text, end = self.after[:1], self.text, self.answer.end
        if self.scale.kind != "number" and follows and follows in "=PG":
            return False
        spelled = self.scale.kind == "number" and self.wording.isalpha()
        if spelled and follows and follows in "wa" and not re.search("S[fw]*$", self.before):
            return False
        labelled = self.scale.kind == "number" or self.before.endswith(":")
        new = labelled and not self.wording.isalpha() and _NEW_SENTENCE.match(text, end)
        if _ENDS.match(self.after) or new or self.second:
            return True
        if self.scale.kind != "number" or not follows:
            return False
        explicit = self.answer.explicit and follows in "wtfQ"
        return explicit or follows in "=v" or bool(_RATHER.match(text, end))

    @cached_property
    def second(self) -> Answer | None:
        """Another answer that is offered beside this one: "3 or 4", "1, 2, 3", "yes/no"."""
        is_choice = self.scale.kind == "choice"
        match = _SECOND.match(self.after) or (_BUT.match(self.after) if is_choice else None)
        if match is None:
            return None
        place = self.place + match.end()
        other = self.words.answers[place]
        between = self.small[self.answer.end : other.start]
        offered = re.search("maybe|perhaps|possibly" if "N" in match[0] else "[>→≻]", between)
        if other.value == self.answer.value or (set(match[0]) & {"N", ":"} and not offered):
            return None
        if ":" in match[0]:
            return other
        beyond = self.words.kinds[place + 1 : place + 2]
        sure = offered or match[0].lstrip(")")[0] not in ",-"
        listed = beyond in {",", "", ".", "n", "o", "a", ")"}
        return other if listed or (sure and _ENDS.match(beyond)) else None

    @property
    def is_denied(self) -> bool:
        """Whether its sentence negates, supposes or reports it, or is about another scale."""
        if denies(self.before) or denied_after(self.after):
            return True
        before = self.text[self.words.starts[self.start] : self.answer.start]
        if _SOURCE.search(before) or (self.after[:1] == "t" and _FROM.search(before)):
            return True
        if self.scale.kind != "number":
            return False
        tops = {top for pair in _TOP.findall(before) for top in pair if top}
        of_another_scale = any(float(top) != self.scale.levels[-1].value for top in tops)
        compared = re.search("cf?$", self.before) or _BY.match(self.small, self.answer.end)
        return of_another_scale or bool(compared)


def denies(before: str) -> bool:
    """Whether the kinds before an answer negate it, suppose it, or report another's."""
    part = _CLAUSE.split(before.rstrip("(f"))[-1]
    near = re.split(r"[,:(]", part)[-1]
    return bool(re.search("[HU]", part) or re.search("N|[<>]$|^[^I]*M", near))


def denied_after(after: str) -> bool:
    """Whether the kinds after an answer make it a question, a supposition or a condition."""
    return bool(_DENIED_AFTER.match(after))


def is_denied(before: str) -> bool:
    """Whether the words before a form, such as JSON, negate it, suppose it, or report another's."""
    kinds = words_of(before, _NO_SCALE).kinds
    return kinds.endswith("o") or denies(kinds)


_NO_SCALE = options(["\0", "\1"])
