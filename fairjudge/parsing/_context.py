"""An answer and what stands around it: whether it ends there, is denied, supposed or told of."""

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
_TOLD_AFTER = re.compile(r"\)?(?:\?|M|\(W|f?[^.n?A]{0,8}U|[=P]f?[NF])")
_SECOND = re.compile(r"\)*(?:[/~oat|-]|,[oa]?N?|:)\(*f?A")
_BUT = re.compile(r",?[Taf]{1,3}A")
_LINE_END = re.compile(r"[.)|:(-]{0,8}(?:n|$)")
_TOP = re.compile(
    r"(?:out\sof|\bmax\w*|(?:\(|\bon\sa\s|\bscale\s|\bof\s|\bfrom\s)[01]\s?(?:-|to|through))\s?"
    r"(\d{1,3})\b|\b(\d{1,3})-?\s?(?:point\b|点中|段階)",
    re.IGNORECASE,
)
"""The highest score that there is."""
_SOURCE = re.compile(
    r"(?:^|\b(?:in|from)\s)\W{0,9}(?:the\s)?(?:summary|text|article|source)\s?:", re.IGNORECASE
)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range)|me\b)\w|\s?=\s?[a-z]")
_RATHER = re.compile(r",?\s(?:rather\sthan|instead\sof|not)\b", re.IGNORECASE)
_NEW_SENTENCE = re.compile(r"\s{1,4}[A-Z][a-z']*(?:\s[a-z]|:)")
_FROM = re.compile(r"\bfrom\s{0,3}\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """An answer at a `place` among the words of a cleaned text, read on a scale."""

    text: str
    small: str
    words: Words
    scale: Scale
    place: int
    answer: Answer

    @cached_property
    def start(self) -> int:
        """Where among the words its sentence begins (not further back than a long one's)."""
        low = max(0, self.place - _REACH)
        kinds = self.words.kinds
        return max(low, max(kinds.rfind(sign, low, self.place) for sign in ".n?") + 1)

    @cached_property
    def before(self) -> str:
        """The kinds of its sentence up to it; "No," before a sentence takes back what was said."""
        before = self.words.kinds[self.start : self.place]
        return "W" + before[1:] if before.startswith("N,") else before

    @cached_property
    def after(self) -> str:
        """The kinds of the words after it."""
        return self.words.kinds[self.place + 1 : self.place + 1 + _AHEAD]

    @property
    def said(self) -> str:
        """The answer itself, in small letters."""
        return self.small[self.answer.start : self.answer.end]

    def words_between(self, start: int, end: int) -> str:
        """Return the words from `start` to before `end`, in small letters."""
        starts, ends = self.words.starts, self.words.ends
        return self.small[starts[start] : ends[end - 1]] if start < end else ""

    @property
    def ends_line(self) -> bool:
        """Whether nothing but signs follow on its line."""
        return bool(_LINE_END.match(self.words.kinds, self.place + 1))

    @property
    def ends(self) -> bool:
        """Whether the answer may end there, rather than count the noun that follows."""
        follows, text, end = self.after[:1], self.text, self.answer.end
        if self.scale.kind != "number" and follows and follows in "=PG":
            return False
        spelled = self.scale.kind == "number" and self.said.isalpha()
        if spelled and follows and follows in "wa" and not re.search("S[fw]*$", self.before):
            return False
        labelled = self.scale.kind == "number" or self.before.endswith(":")
        new = labelled and not self.said.isalpha() and _NEW_SENTENCE.match(text, end)
        if _ENDS.match(self.after) or new or self.second:
            return True
        if self.scale.kind != "number" or not follows:
            return False
        explicit = self.answer.explicit and follows in "wtfQ"
        return explicit or follows in "=v" or bool(_RATHER.match(text, end))

    @cached_property
    def second(self) -> Answer | None:
        """Another answer offered in the same breath: "3 or 4", "1, 2, 3", "yes/no"."""
        is_choice = self.scale.kind == "choice"
        found = _SECOND.match(self.after) or (_BUT.match(self.after) if is_choice else None)
        if found is None:
            return None
        place = self.place + found.end()
        other = self.words.answers[place]
        between = self.small[self.answer.end : other.start]
        offered = re.search("maybe|perhaps|possibly" if "N" in found[0] else "[>→≻]", between)
        if other.value == self.answer.value or (set(found[0]) & {"N", ":"} and not offered):
            return None
        if ":" in found[0]:
            return other
        beyond = self.words.kinds[place + 1 : place + 2]
        sure = offered or found[0].lstrip(")")[0] not in ",-"
        listed = beyond in {",", "", ".", "n", "o", "a", ")"}
        return other if listed or (sure and _ENDS.match(beyond)) else None

    @property
    def is_denied(self) -> bool:
        """Whether its sentence denies it, supposes it, tells of others, or is of another scale."""
        if denies(self.before) or told_after(self.after):
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
    """Whether the kinds before an answer deny it, suppose it, or tell of others."""
    part = _CLAUSE.split(before.rstrip("(f"))[-1]
    near = re.split(r"[,:(]", part)[-1]
    return bool(re.search("[HU]", part) or re.search("N|[<>]$|^[^I]*M", near))


def told_after(after: str) -> bool:
    """Whether the kinds after an answer ask for it, suppose it, or say what it would take."""
    return bool(_TOLD_AFTER.match(after))


def is_denied(before: str) -> bool:
    """Whether the words before a form deny it, suppose it, or tell of others."""
    kinds = words_of(before, _NO_SCALE).kinds
    return kinds.endswith("o") or denies(kinds)


_NO_SCALE = options(["\0", "\1"])
