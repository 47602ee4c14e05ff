"""Finds what a reply states that may be its verdict, and how plainly it states it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fairjudge.parsing import _wording as wording
from fairjudge.parsing._answers import Answer, answer_at
from fairjudge.parsing._clean import lowered
from fairjudge.parsing._context import (
    COMMA,
    OR,
    amid_a_sentence,
    by_others,
    continues,
    denied,
    ends,
    reported,
    supposed_before,
)
from fairjudge.parsing._pairs import ranked
from fairjudge.parsing._preferences import preferences, stating
from fairjudge.parsing._stated import Rank, Statement, several
from fairjudge.parsing._yes_no import is_contradicted, is_foreign, is_opposed
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Scale


def statements(
    text: str, scale: Scale, *, items: tuple[tuple[int, int], ...], aspect: str
) -> Iterator[Statement]:
    """Yield what a cleaned text states; `items` are the stretches of its lists. Linear."""
    small = lowered(text)
    reader = _Reader(text=text, small=small, scale=scale, items=items, aspect=aspect.lower())
    first = ranked(text) if scale.kind == "pair" else None
    yield from [stating(first, Rank.STATED)] if first else reader.alone()
    yield from reader.labelled()
    yield from preferences(text, scale) if scale.kind == "pair" else reader.named_lines()
    yield from reader.forms()
    for match in wording.RECKONED.finditer(small):
        yield from reader.stated(match.end(), Rank.STATED)
    for pattern, rank in ((wording.SAID, Rank.SAID), (wording.MENTIONED, Rank.MENTIONED)):
        for match in pattern.finditer(small):
            yield from reader.worded(match, rank)
    for match in wording.SECOND_THOUGHT.finditer(small):
        if not PROTOCOLS[scale.protocol].yes_no or not _NO.search(match[0]):
            yield from reader.worded(match, Rank.SAID, revises=True)
    for match in wording.BARE.finditer(small):
        yield from reader.bare(match.end())
    for match in wording.FIRST_PERSON.finditer(small):
        yield from reader.first_person(match)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A cleaned text, and the same in small letters."""

    text: str
    small: str
    scale: Scale
    items: tuple[tuple[int, int], ...]
    aspect: str

    def alone(self) -> Iterator[Statement]:
        """Read a reply that begins or ends with a bare answer."""
        text, scale = self.text, self.scale
        edge = wording.EDGE.match(text)
        answer = answer_at(text, edge.end() if edge else 0, scale)
        ended = answer and (not continues(text, answer.end) or text[answer.end] == ":")
        leads = answer and ended and _AFTER_LEAD.match(text, answer.end)
        apart = answer and (self._enumerated(answer) or self._compared(answer))
        if answer and leads and not apart and not _asks(text, answer):
            yield from self._weighed(answer, Rank.STATED, bare=True)
        yield from self._last_line()
        if scale.kind != "number":
            yield from self._last_sentence()

    def _enumerated(self, answer: Answer) -> bool:
        """Whether the opening "1." or "A:" is but the first of several such marks."""
        text, sign = self.text, self.text[answer.end : answer.end + 1]
        if answer.explicit or sign not in {".", ")", ":", "\n"}:
            return False
        if self.scale.kind == "pair":
            place = answer.end + len(text[answer.end :]) - len(text[answer.end :].lstrip(".): "))
            named = answer_at(text, place, self.scale)
            if text[place : place + 1].isdigit() or (named and named.value != answer.value):
                return True
        for mark in _MARK.finditer(text[answer.end :]):
            other = answer_at(text, answer.end + mark.end(), self.scale)
            if other is None or other.value in {None, answer.value}:
                continue
            if text[other.end : other.end + 1] == sign and ("\n" in mark[0] or sign != ":"):
                return sign != "\n" or "\n" not in text[answer.end + 1 : other.start]
        return False

    def _last_line(self) -> Iterator[Statement]:
        """Read a last line that is an answer alone; two such lines in a row are a list."""
        stripped = self.text.rstrip()
        start = stripped.rfind("\n") + 1
        last = self._whole_line(stripped, start)
        above = stripped[:start].rstrip()
        former = self._whole_line(above, above.rfind("\n") + 1) if above.strip() else None
        if last and not (former and former.value != last.value):
            yield from self._weighed(last, Rank.STATED, bare=True)

    def _whole_line(self, text: str, start: int) -> Answer | None:
        edge = wording.EDGE.match(text, start)
        answer = answer_at(text, edge.end() if edge else start, self.scale)
        return answer if answer and _REST_OF_LINE.match(text, answer.end) else None

    def _last_sentence(self) -> Iterator[Statement]:
        """Read a last sentence that is an answer alone: "It is not covered. No."."""
        stripped = self.text.rstrip()
        match = wording.LAST_SENTENCE.search(stripped, max(0, len(stripped) - 60))
        answer = answer_at(stripped, match.start(1), self.scale) if match else None
        if answer is None or not _REST_OF_LINE.match(stripped, answer.end):
            return
        before = lowered(stripped[max(0, answer.start - 60) : answer.start])
        name = before.rpartition("\n")[2] if ":" in before[-4:] else ""
        told = reported(stripped, answer.start) or self._is_fault(name)
        told = told or bool(wording.COUNTED.search(name) or _NUMBERED.search(before))
        told = told or (bool(name) and answer.value in {"first", "second"})
        if not told and not wording.OF_ELSE.search(name):
            yield from self._weighed(answer, Rank.MENTIONED, bare=True)

    def labelled(self) -> Iterator[Statement]:
        """Read "Verdict: 4", "My final score for this = 4", "Fluency score: 4"."""
        for match in wording.LABELLED.finditer(self.small):
            before = wording.modifiers(self.small, match.start())
            words = before + match["head"]
            of_another = _ANOTHER.search(match[0])
            start = match.start() - len(before)
            rank = Rank.STATED
            if wording.FINAL.search(words) or self._is_aspect(before):
                rank = Rank.FINAL
            elif not wording.OWN.fullmatch(before) and self._begins_line(start):
                rank = Rank.RATED
            apart = rank is Rank.RATED and self._in_items(match.start())
            reckoned = wording.RECKONED.match(self.small, match.start())
            if (
                apart
                or of_another
                or _DENYING.search(before)
                or reckoned
                or wording.OF_ELSE.search(words)
            ):
                continue
            found = list(self.stated(match.end(), rank, top=_TOP.search(match[0])))
            if found and not (
                reported(self.text, match.start()) or supposed_before(self.text, start)
            ):
                yield from found

    def forms(self) -> Iterator[Statement]:
        """Read what was asked for in so many forms: "[[B]]", "<score>4</score>"."""
        text, top = self.text, self.scale.levels[-1].value
        for match in wording.FORM.finditer(self.small):
            found = list(self.stated(match.end(), Rank.FINAL))
            closing = _CLOSING_TAG.match(self.small, match.end())
            end = closing.end() if closing else match.end() + 3
            spoken_of = bool(closing) and amid_a_sentence(text, end)
            foreign = match["top"] and float(match["top"]) != top
            if found and not (
                foreign
                or spoken_of
                or denied(text, match.start(), end)
                or reported(text, match.start())
            ):
                yield from found

    def named_lines(self) -> Iterator[Statement]:
        """Read lines and rows of a table that name a quality: "Fluency: 4", "| Overall | 4 |"."""
        for match in wording.NAMED_LINE.finditer(self.text):
            name = match["name"].lower()
            final = wording.FINAL.search(name) or self._is_aspect(name)
            row = "|" in self.text[match.end("name") : match.end()]
            rank = Rank.FINAL if final else Rank.MENTIONED if row else Rank.NAMED
            told = self._in_items(match.start("name")) or self._is_fault(name)
            told = told or bool(wording.COUNTED.search(name))
            if wording.OF_ELSE.search(name) or (told and not final):
                continue
            answer = answer_at(self.text, match.end(), self.scale)
            if (
                answer
                and (rank is not Rank.NAMED or self._is_quality(name, answer))
                and not _DENIED_AFTER.match(self.text, answer.end)
                and (_LINE_ENDS.match(self.text, answer.end) or self._is_fraction(answer))
            ):
                yield from self._weighed(answer, rank)

    def _is_quality(self, name: str, answer: Answer) -> bool:
        """Whether what `name` rates is a quality, rather than of what is measured: "Length: 3"."""
        rated = self.scale.kind != "number" or answer.explicit
        return rated or bool(wording.QUALITY.search(name))

    def _is_fault(self, name: str) -> bool:
        return self.scale.kind == "choice" and bool(wording.FAULTS.search(name))

    def _is_fraction(self, answer: Answer) -> bool:
        return answer.explicit and self._ended(answer)

    def _is_aspect(self, words: str) -> bool:
        return bool(self.aspect) and self.aspect in words

    def _begins_line(self, start: int) -> bool:
        line = self.text.rfind("\n", max(0, start - 40), start) + 1
        return not re.sub(r"[\W\d_]+", "", self.text[line:start]) if line or start < 40 else False

    def _in_items(self, place: int) -> bool:
        at = bisect_right(self.items, (place, len(self.text))) - 1
        return at >= 0 and place < self.items[at][1]

    def worded(
        self, match: re.Match[str], rank: Rank, *, revises: bool = False
    ) -> Iterator[Statement]:
        """Read the answer after a wording, if it is complete there, not denied and one's own."""
        if self._in_items(match.start()):
            return
        before = wording.modifiers(self.small, match.start())
        words = before + (match.groupdict().get("head") or match[0])
        elsewhere = wording.OF_ELSE if rank is Rank.SAID else wording.ELSEWHERE
        if elsewhere.search(words):
            return
        if rank is Rank.SAID and wording.FINAL.search(words) and not revises:
            rank = Rank.FINAL
        answer = self._first_at(wording.after_filler(self.text, match.end()))
        if answer and self._is_own(answer, match.start(), strictly=revises):
            yield from self._weighed(answer, rank, revises=revises)

    def _first_at(self, places: Iterable[int]) -> Answer | None:
        answers = (answer_at(self.text, place, self.scale) for place in places)
        return next((answer for answer in answers if answer), None)

    def _is_own(self, answer: Answer, start: int, *, strictly: bool = False) -> bool:
        """Whether the answer worded from `start` ends there, and is not denied or another's."""
        ended = self._second(answer) or ends(self.text, answer.end, strictly=strictly)
        if not ended or self._compared(answer) or denied(self.text, start, answer.end):
            return False
        by = self.scale.kind == "number" and by_others(self.text, answer.end)
        return not (by or reported(self.text, start))

    def stated(
        self, place: int, rank: Rank, *, top: re.Match[str] | None = None
    ) -> Iterator[Statement]:
        """Read the answer after a label; one of another scale there is off the scale.

        `top` is the highest score that the label names, if any.
        """
        answer = self._first_at(wording.after_filler(self.text, place))
        rescaled = (
            top and self.scale.kind == "number" and float(top[1]) != self.scale.levels[-1].value
        )
        if answer and rescaled:
            answer = replace(answer, value=None, problem="off_scale")
        if answer:
            below = _BELOW.search(self.text[max(0, place - 9) : answer.start])
            alone = not below or _LINE_ENDS.match(self.text, answer.end)
            complete = self._second(answer) or self._may_follow(answer)
            if alone and complete and not self._compared(answer) and not _asks(self.text, answer):
                yield from self._weighed(answer, rank)
            return
        match = wording.FOREIGN.match(self.text, place)
        if match and ends(self.text, match.end(), strictly=True):
            answer = Answer(start=match.start(), end=match.end(), value=None, problem="off_scale")
            yield Statement(answer=answer, rank=rank)

    def _may_follow(self, answer: Answer) -> bool:
        """Whether the answer ends there: "4th", "3 facts", "Summary 1 is worse" are none."""
        if not self._ended(answer) or _DENIED_AFTER.match(self.text, answer.end):
            return False
        return self.scale.kind != "pair" or not _SUBJECT.match(self.text, answer.end)

    def _ended(self, answer: Answer) -> bool:
        return ends(self.text, answer.end) or bool(_NEW_SENTENCE.match(self.text, answer.end))

    def _compared(self, answer: Answer) -> bool:
        """Whether a sign makes it a bound (">3"), or one side of a comparison ("A > B")."""
        if self.scale.kind == "number":
            bound = _BOUND.search(self.text[max(0, answer.start - 3) : answer.start])
            less = bound or _LESS.match(self.text, answer.end)
            return bool(less) and self.text[answer.end : answer.end + 1] != ">"
        return self.scale.kind == "pair" and bool(_COMPARED.match(self.text, answer.end))

    def bare(self, place: int) -> Iterator[Statement]:
        """Read "4/5" and "3 stars" wherever they stand, and an answer that closes the reply."""
        answer = answer_at(self.text, place, self.scale)
        if answer is None or self._in_items(place) or is_foreign(self.text, answer, self.scale):
            return
        asked = _asks(self.text, answer)
        if not asked and self._stands_bare(answer, place) and self._is_own(answer, place):
            yield from self._weighed(answer, Rank.MENTIONED, bare=True)

    def _stands_bare(self, answer: Answer, place: int) -> bool:
        text, length = self.text, answer.end - answer.start
        if self._second(answer):
            return True
        if answer.explicit:
            foreign = self.scale.kind == "number" and (
                wording.AFTER_A_NOUN.search(text[max(0, place - 20) : place])
                or wording.AFTER_A_NAME.search(text[max(0, place - 50) : place])
                or by_others(text, answer.end)
            )
            return not foreign and ends(text, answer.end)
        if self.scale.kind == "choice" and length > 1:
            asked = _ASKED.search(text[max(0, place - 5) : place])
            if asked and text[answer.end : answer.end + 1] == ":":
                return True
            if ends(text, answer.end, strictly=length < 4 or bool(asked)):
                return length > 3 or bool(asked) or ends(text, answer.end, strictly=True)
        return self._closes(answer)

    def _closes(self, answer: Answer) -> bool:
        """Whether it is the last sentence, or stands in brackets at the end: "... (1)."."""
        opened = _SENTENCE_START.search(self.text[max(0, answer.start - 14) : answer.start])
        return bool(opened and _CLOSING.match(self.text, answer.end))

    def first_person(self, match: re.Match[str]) -> Iterator[Statement]:
        """Read the first answer in the rest of a sentence that begins "I would rate"."""
        if self._in_items(match.start()):
            return
        end = min(len(self.text), match.end() + _WINDOW)
        stop = _WINDOW_END.search(self.text, match.end(), end)
        words = _WORD.finditer(self.text, match.end(), stop.start() if stop else end)
        answer = self._first_at(
            place
            for place in (word.start() for word in words)
            if not wording.NOT_AN_ANSWER.search(self.text[max(0, place - 20) : place])
        )
        if answer and self._is_own(answer, match.start()):
            yield from self._weighed(answer, Rank.SAID, revises=bool(match["revises"]))

    def _second(self, answer: Answer) -> Answer | None:
        """Return another answer offered in the same breath: "3 or 4", "1, 2, 3", "yes/no"."""
        text, scale = self.text, self.scale
        place = _after(OR, text, answer.end)
        dashed = place is not None and "-" in text[answer.end : place]
        if place is not None and (scale.kind == "number" or not dashed):
            other = answer_at(text, place, scale)
            if other and other.value != answer.value and ends(text, other.end):
                return other
        place = _after(COMMA, text, answer.end)
        if place is not None and scale.kind == "pair" and dashed is False:
            other = answer_at(text, place, scale)
            if other and other.value != answer.value and _REST_OF_LINE.match(text, other.end):
                return other
        other = None if place is None else answer_at(text, place, scale)
        if other is None or other.value == answer.value:
            return None
        if text[answer.start - 1 : answer.start] == "[":
            return other
        further = _after(COMMA, text, other.end) or _after(OR, text, other.end)
        return other if further is not None and answer_at(text, further, scale) else None

    def _weighed(
        self, answer: Answer, rank: Rank, *, revises: bool = False, bare: bool = False
    ) -> Iterator[Statement]:
        """Yield the answer, or that it is one of several; a `bare` one has no label."""
        named = rank is Rank.MENTIONED
        if bare and is_opposed(self.text, answer, self.scale, named=named):
            return
        other = self._second(answer)
        one = several(answer, other.end) if other else answer
        if is_contradicted(self.text, answer, self.scale):
            one = several(answer, answer.end)
        yield Statement(answer=one, rank=rank, revises=revises)


def _asks(text: str, answer: Answer) -> bool:
    """Whether the answer is put as a question: "Winner: 1? 2?"."""
    return bool(re.match(r"[)\]\"' ]{0,3}\?", text[answer.end : answer.end + 4]))


def _after(pattern: re.Pattern[str], text: str, end: int) -> int | None:
    match = pattern.match(text, end)
    return match.end() if match else None


_AFTER_LEAD = re.compile(
    r"\s{0,3}(?:$|[\n.:;,!?)\]\"'|(]|-\s|-{2})|\s{1,3}-|\s(?:because|since|as|rather|instead|due|given|weil)\b"
)
_REST_OF_LINE = re.compile(r"[\s.!)\]\"'|_>-]{0,200}$")
_MARK = re.compile(r"(?:^|\n|\s)[ (*#>-]{0,6}(?=(?:\w{1,12}\s)?#?\w{1,12}(?:[.):]\s|\n|$))")
_LINE_ENDS = re.compile(r"[ .!)|\]]{0,20}$|\s{1,4}-{1,2}\s(?=[^\W\d])", re.MULTILINE)
_DENIED_AFTER = re.compile(
    r"\s?[\[(](?:edit|correct|revis|updat|chang|now)|\s(?:if|unless|assuming|provided)\b|\s(?:and|with)\s(?:no|\d)\b|\s{0,3}(?:→|-{1,2}>)\s{0,3}\d"
)
_CLOSING_TAG = re.compile(r"[^<\n]{0,40}</\w{1,20}>")
_ANOTHER = re.compile(r"\b(?:other|another|previous)\b")
_BELOW = re.compile(r"\n[\s\W]*$")
_NEW_SENTENCE = re.compile(r"\s{1,4}(?-i:[A-Z])[a-z']*(?:\s[a-z]|:)")
_BOUND = re.compile(r"(?:^|\s)[<>≤≥]=?\s?$")
_LESS = re.compile(r"\s?[<>]\s?\d")
_COMPARED = re.compile(r"\s?(?:[>=≈≥≤≠≻]|!=|<(?![/|]))")
_SUBJECT = re.compile(
    r"\s{1,3}(?!for|because|since|as|due|based|with|by|over|on|in|and|or)[a-z]{2}"
)
_CLOSING = re.compile(r"(?:\sit\sis)?[\s.!)\"']{0,20}$", re.IGNORECASE)
_SENTENCE_START = re.compile(
    r"(?:(?<!e\.g)[.!?;(]|\b(?:so|thus|therefore|hence),?)\s{0,3}$", re.IGNORECASE
)
_DENYING = re.compile(r"\b(?:not|never|no)\b")
_TOP = re.compile(r"(?:out\sof|max\w*|[-/]|\bto)\s?(\d{1,3})\b")
_NUMBERED = re.compile(r"(?:^|\n)\W{0,3}\d[.)]\s{0,3}$")
_NO = re.compile(r"\bno\b")
_ASKED = re.compile(r"\?\s{1,3}$")
_WINDOW = 90
_WINDOW_END = re.compile(r"[!?;\n]|\.(?!\d)(?!\.)")
_WORD = re.compile(r"(?<![\w.,/:$€£-])[\w★(\[\"]")
