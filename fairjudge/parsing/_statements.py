"""Finds what a reply states that may be its verdict: under labels, in forms, alone, in prose."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairjudge.parsing import _wording as wording
from fairjudge.parsing._answers import Answer, Rank, answer_at
from fairjudge.parsing._clean import lowered
from fairjudge.parsing._context import (
    amid_a_sentence,
    by_others,
    continues,
    denied_before,
    ends,
    second_place,
    sentence_before,
    supposed_after,
)
from fairjudge.parsing._pairs import compared, preference, ranked
from fairjudge.scales import Position, Scale


def statements(
    text: str, scale: Scale, *, items: tuple[tuple[int, int], ...], aspect: str
) -> Iterator[Answer]:
    """Yield what a cleaned text states; `items` are the stretches of its lists. Linear."""
    small = lowered(text)
    reader = _Reader(
        text=text, small=small, scale=scale, items=items, aspect=aspect.lower(),
        said=wording.yes_and_no(text) if set(scale.answers) == {"yes", "no"} else frozenset(),
    )  # fmt: skip
    yield from reader.forms()
    yield from reader.labels()
    if scale.kind == "pair":
        yield from compared(text)
        yield from preference(text, scale)
    first = ranked(text) if scale.kind == "pair" else None
    yield from [first] if first else reader.alone()
    yield from reader.sentences()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A cleaned text, and the same in small letters."""

    text: str
    small: str
    scale: Scale
    items: tuple[tuple[int, int], ...]
    aspect: str
    said: frozenset[float]
    """The values of each yes and no that the text says by itself."""

    def forms(self) -> Iterator[Answer]:
        """Read what was asked for in so many forms: "[[B]]", "<score>4</score>"."""
        for match in wording.FORM.finditer(self.small):
            closing = _CLOSING_TAG.match(self.small, match.end())
            end = closing.end() if closing else match.end() + 3
            foreign = match["top"] and float(match["top"]) != self.scale.levels[-1].value
            about = bool(closing) and amid_a_sentence(self.text, end)
            found = [] if foreign or about else list(self._after(match.end(), Rank.FINAL))
            if found and not _is_about(self.text, match.start(), end):
                yield from found

    def labels(self) -> Iterator[Answer]:
        """Read "Verdict: 4", "| Overall | 4 |", "Worse: Summary 2", "the score is 4"."""
        for match in wording.LABELLED.finditer(self.small):
            place, start = match.end(), match.start("label")
            label = wording.AFTER_SIDE.sub("", match["label"])
            if match["below"] is not None:
                under = wording.UNDERLINE.match(self.small, place)
                if not under or not wording.OWN.fullmatch(label):
                    continue
                place = under.end()
            if not wording.RECKONED.match(self.small, start):
                rank = self._rank(label, start, row=match["row"] is not None)
                yield from self._labelled(match, label, place, rank)
        for match in wording.RECKONED.finditer(self.small):
            yield from self._after(match.end(), Rank.STATED)
        for match in wording.SAYS.finditer(self.small):
            before = re.split(r"[,:(]\s", sentence_before(self.small, match.start()))[-1]
            label = (before + match["label"])[-70:]
            if wording.HEAD.search(label) and not wording.OF_ELSE.search(label):
                rank = Rank.FINAL if self._is_final(label) else Rank.SAID
                yield from self._labelled(match, label, match.end(), rank)

    def _labelled(
        self, match: re.Match[str], label: str, place: int, rank: Rank | None
    ) -> Iterator[Answer]:
        start = match.start("label")
        listed = self._in_items(start) and rank is not None and rank < Rank.STATED
        found = [] if rank is None or listed else list(self._after(place, rank))
        if rank is None or not found or denied_before(self.text, match.end("label")):
            return
        top = wording.TOP.search(match[0])
        flips = self.scale.kind == "pair" and bool(wording.BAD.search(label))
        for answer in found:
            if rank is Rank.NAMED and not self._rates(label, answer):
                continue
            if top and self.scale.kind == "number" and float(top[1]) != self.scale.levels[-1].value:
                yield replace(answer, value=None, problem="off_scale")
            elif not flips:
                yield answer
            elif answer.value in _OTHER:
                yield replace(answer, value=_OTHER[answer.value])

    def _rates(self, label: str, answer: Answer) -> bool:
        """Whether a line that names no verdict rates a quality, rather than counts something."""
        if answer.explicit:
            return True
        rated = self.scale.kind == "choice" or wording.QUALITY.search(label)
        closed = _LINE_ENDS.match(self.text, answer.end) or ends(
            self.text, answer.end, strictly=True
        )
        return bool(rated and closed)

    def _counts(self, label: str) -> bool:
        """Whether `label` names what is counted, or what yes would say that it is bad."""
        bad = self.scale.kind == "choice" and wording.FAULTS.search(label)
        return bool(bad or wording.COUNTED.search(label))

    def _is_final(self, label: str) -> bool:
        if self.scale.kind == "pair" and (wording.GOOD.search(label) or wording.BAD.search(label)):
            return True
        return bool(wording.FINAL.search(label) or (self.aspect and self.aspect in label))

    def _rank(self, label: str, start: int, *, row: bool) -> Rank | None:
        """Say how plainly an answer under `label` is the verdict; None where it is none."""
        line = self.text.rfind("\n", max(0, start - 40), start) + 1
        opens = bool(line or start < 40) and not _LETTER.search(self.text, line, start)
        kind = self.scale.kind
        rank: Rank | None = Rank.NAMED
        if (wording.OF_ELSE_PAIR if kind == "pair" else wording.OF_ELSE).search(label):
            rank = None
        elif self._is_final(label):
            rank = Rank.FINAL
        elif row:
            rank = Rank.MENTIONED if opens else None
        elif wording.HEAD.search(label):
            rank = Rank.STATED if wording.OWN.fullmatch(label) or not opens else Rank.RATED
        elif kind == "pair" or not (opens or kind == "choice") or self._counts(label):
            rank = None
        return rank

    def alone(self) -> Iterator[Answer]:
        """Read a reply that begins or ends with a bare answer."""
        text = self.text
        answer = self._at_edge(0)
        leads = answer and (
            _AFTER_LEAD.match(text, answer.end)
            or (answer.explicit and _NEW_SENTENCE.match(text, answer.end))
        )
        numbered = answer and self.scale.kind == "choice" and _NUMBERED.match(text, answer.start)
        apart = answer and (numbered or self._enumerated(answer) or self._compared(answer))
        if answer and leads and not apart:
            yield from self._weighed(answer, Rank.STATED, bare=True)
        stripped = text.rstrip()
        start = stripped.rfind("\n") + 1
        last = self._at_edge(start)
        above = stripped[:start].rstrip()
        former = self._at_edge(above.rfind("\n") + 1) if above else None
        listed = former and former.value != (last and last.value) and _is_rest(above, former.end)
        if last and _is_rest(stripped, last.end) and not listed:
            yield from self._weighed(last, Rank.STATED, bare=True)
        yield from self._last_sentence(stripped)
        for match in _ASKED.finditer(text) if self.scale.kind != "number" else ():
            answer = answer_at(text, match.end(), self.scale)
            if answer and ends(text, answer.end, strictly=True):
                yield from self._weighed(answer, Rank.MENTIONED, bare=True)

    def _last_sentence(self, text: str) -> Iterator[Answer]:
        """Read a last sentence that is an answer alone: "It is not covered. No."."""
        for match in wording.BREAK.finditer(text, max(0, len(text) - 90)):
            answer = answer_at(text, match.end(), self.scale)
            if answer is None or not _is_rest(text, answer.end):
                continue
            before = lowered(text[max(0, match.start() - 60) : match.end()])
            named = before.rpartition("\n")[2].split()
            if match["weak"]:
                short = self.scale.kind == "number" or len(named) < 4 or "," in match["weak"]
                label = " ".join(named[-2:])
                short = short or text[answer.start : answer.end].isdigit()
                if (short and not answer.explicit) or wording.OF_ELSE.search(label):
                    continue
                if wording.FAULTS.search(label) or self._in_items(match.start()):
                    continue
            if not denied_before(text, match.end()) and not wording.NO_LAST.search(before):
                yield from self._weighed(answer, Rank.MENTIONED, bare=True)

    def _at_edge(self, start: int) -> Answer | None:
        edge = wording.EDGE.match(self.text, start)
        answer = answer_at(self.text, edge.end() if edge else start, self.scale)
        if answer and continues(self.text, answer.end) and self.text[answer.end] != ":":
            return None
        return answer

    def _enumerated(self, answer: Answer) -> bool:
        """Whether the opening "1." or "A:" is but the first of several such marks."""
        text, sign = self.text, self.text[answer.end : answer.end + 1]
        bracket = _BRACKET.match(text, answer.end)
        if bracket and answer_at(text, bracket.end(), self.scale):
            return True
        if answer.explicit or sign not in {".", ")", ":", "\n"}:
            return False
        marks = _MARK.finditer(text, answer.end)
        others = (answer_at(text, mark.end(), self.scale) for mark in marks)
        return any(
            other
            and other.value not in {None, answer.value}
            and text[other.end : other.end + 1] == sign
            for other in others
        )

    def sentences(self) -> Iterator[Answer]:
        """Read "I'd give it a 4", "earning a 4", "so yes", and second thoughts."""
        for pattern, rank in ((wording.SAID, Rank.SAID), (wording.MENTIONED, Rank.MENTIONED)):
            for match in pattern.finditer(self.small):
                yield from self._worded(match, rank)
        for match in wording.SECOND_THOUGHT.finditer(self.small):
            if set(self.scale.answers) == {"yes", "no"} and _NO.search(match[0]):
                continue
            for answer in self._worded(match, Rank.MENTIONED):
                yield replace(answer, rank=Rank.SAID, revises=True)
        for match in wording.RECKONED.finditer(self.small):
            yield from self._after(match.end(), Rank.STATED)

    def _worded(self, match: re.Match[str], rank: Rank) -> Iterator[Answer]:
        """Read the first answer in the rest of a sentence, if it ends there and is one's own."""
        if self._in_items(match.start()):
            return
        for place in wording.places(self.text, match.end(), far=rank is Rank.SAID):
            answer = answer_at(self.text, place, self.scale)
            if answer is None:
                continue
            ended = self._second(answer) or ends(self.text, answer.end)
            between = wording.NOT_BETWEEN.search(self.small[match.end() : place])
            by = self.scale.kind == "number" and by_others(self.text, answer.end)
            if not ended or by or between or self._compared(answer):
                return
            if not _is_about(self.text, match.start(), answer.end):
                if self._further(answer):
                    answer = replace(answer, value=None, problem="several")
                revises = bool(match.groupdict().get("revises"))
                yield from (replace(one, revises=revises) for one in self._weighed(answer, rank))
            return

    def _further(self, answer: Answer) -> bool:
        """Whether its sentence goes on to another score: "4/5, but its gaps leave it at 3/5"."""
        if self.scale.kind != "number":
            return False
        for match in _FURTHER.finditer(self.text, answer.end, answer.end + 200):
            if match["stop"]:
                return False
            other = answer_at(self.text, match.start(), self.scale)
            if other and other.value not in {None, answer.value} and ends(self.text, other.end):
                return not denied_before(self.text, match.start())
        return False

    def _after(self, place: int, rank: Rank) -> Iterator[Answer]:
        """Read the answer after a label; one of another scale there is off the scale."""
        text, start = self.text, place
        place += len(text[place : place + 20]) - len(text[place : place + 20].lstrip())
        filler = wording.FILL.match(text, place)
        places = (place, filler.end()) if filler else (place,)
        found = (answer_at(text, at, self.scale) for at in places)
        answer = next((one for one in found if one), None)
        if answer is None:
            least = Rank.FINAL if self.scale.kind == "pair" else Rank.RATED
            match = wording.FOREIGN.match(text, place) if rank >= least else None
            if match and ends(text, match.end(), strictly=True):
                start, end = match.span()
                yield Answer(start=start, end=end, value=None, problem="off_scale", rank=rank)
            return
        below = _BELOW.search(text[max(0, start - 9) : answer.start])
        fits = self._second(answer) or self._may_follow(answer)
        if fits and not (below and not _LINE_ENDS.match(text, answer.end)):
            in_tag = answer.start == place and text[place - 1 : place] == ">"
            if in_tag or not self._compared(answer):
                yield from self._weighed(answer, rank)

    def _may_follow(self, answer: Answer) -> bool:
        """Whether the answer ends there: "4th", "3 facts", "Summary 1 is worse" are none."""
        text = self.text
        if not ends(text, answer.end) and not _NEW_SENTENCE.match(text, answer.end):
            return False
        if _DENIES_AFTER.match(text, answer.end):
            return False
        return self.scale.kind != "pair" or not _SUBJECT.match(text, answer.end)

    def _compared(self, answer: Answer) -> bool:
        """Whether a sign makes it a bound (">3"), or one side of a comparison ("A > B")."""
        text = self.text
        if self.scale.kind == "number":
            bound = _BOUND.search(text[max(0, answer.start - 3) : answer.start])
            less = bound or _LESS.match(text, answer.end)
            return bool(less) and text[answer.end : answer.end + 1] != ">"
        return self.scale.kind == "pair" and bool(_COMPARED.match(text, answer.end))

    def _in_items(self, place: int) -> bool:
        at = bisect_right(self.items, (place, len(self.text))) - 1
        return at >= 0 and place < self.items[at][1]

    def _second(self, answer: Answer) -> Answer | None:
        """Return another answer offered in the same breath: "3 or 4", "1, 2, 3", "yes/no"."""
        for place, sure in second_place(self.text, answer.end):
            other = answer_at(self.text, place, self.scale)
            if other is None or other.value == answer.value:
                continue
            further = next(second_place(self.text, other.end), None)
            if further and answer_at(self.text, further[0], self.scale):
                return other
            bracket = self.text[answer.start - 1 : answer.start] == "["
            offered = sure or bracket or self.scale.kind == "pair"
            if offered and ends(self.text, other.end):
                return other
        return None

    def _weighed(self, answer: Answer, rank: Rank, *, bare: bool = False) -> Iterator[Answer]:
        """Yield the answer with its rank; or that it is one of several, or contradicted."""
        if _ASKS.match(self.text, answer.end):
            return
        if bare and wording.is_opposed(self.text, answer, self.said):
            return
        other = self._second(answer)
        answer = replace(answer, rank=rank)
        if other or wording.is_contradicted(self.text, answer, self.scale):
            end = other.end if other else answer.end
            answer = replace(answer, end=end, value=None, problem="several")
        yield answer


def _is_about(text: str, start: int, end: int) -> bool:
    """Whether what is worded from `start` to `end` is denied, supposed, or told of others."""
    return supposed_after(text, end) or denied_before(text, start)


def _is_rest(text: str, end: int) -> bool:
    return bool(_REST_OF_LINE.match(text, end))


_AFTER_LEAD = re.compile(
    r"\s{0,3}(?:$|[\n.:;,!)\]\"'|(]|-\s|-{2})|\s{1,3}-|\s(?:because|since|as|rather|instead|due|given|weil)\b"
)
_REST_OF_LINE = re.compile(r"(?:\sit\sis)?[\s.!)\]\"'|_>-]{0,200}$")
_MARK = re.compile(r"(?:\n|\s)[ (*#>-]{0,6}(?=(?:\w{1,12}\s)?#?\w{1,12}(?:[.):]\s|\n|$))")
_LINE_ENDS = re.compile(r"[ .!)|\]]{0,20}$|\s{1,4}-{1,2}\s(?=[^\W\d])", re.MULTILINE)
_DENIES_AFTER = re.compile(
    r"\s?[\[(](?:edit|correct|revis|updat|chang|now)|\s(?:if|unless|assuming|provided)\b"
    r"|\s(?:and|with)\s(?:no|\d)\b|\s{0,3}(?:→|-{1,2}>)\s{0,3}\d|\s?[+*]\s?[\d(]|\s?-\s?\d[^\n]{0,9}="
)
_CLOSING_TAG = re.compile(r"[^<\n]{0,40}</\w{1,20}>")
_NUMBERED = re.compile(r"\d[.)]\s{1,4}\w")
_FURTHER = re.compile(
    r"(?P<stop>[.!?;]\s|\n)|(?<![\w.])\d(?:[.,]\d)?\s?(?:/|out\sof)\s?\d", re.IGNORECASE
)
_NO = re.compile(r"\bno\b")
_BRACKET = re.compile(r"\s?\([^()\n]{1,40}\)[,;]\s")
_BELOW = re.compile(r"\n[\s\W]*$")
_NEW_SENTENCE = re.compile(r"\s{1,4}(?-i:[A-Z])[a-z']*(?:\s[a-z]|:)")
_BOUND = re.compile(r"(?:^|\s)[<>≤≥]=?\s?$")
_LESS = re.compile(r"\s?[<>]\s?\d")
_COMPARED = re.compile(r"\s?(?:[>=≈≥≤≠≻]|!=|<(?![/|]))")
_SUBJECT = re.compile(
    r"[ ]{1,3}(?!for|because|since|as|due|based|with|by|over|on|in|and|or)[a-z]{2}"
)
_ASKED = re.compile(r"\?\s{1,3}|\b(?:so|therefore|thus|hence),?\s", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_OTHER: dict[object, Position] = {"first": "second", "second": "first"}
_ASKS = re.compile(r"[)\]\"' ]{0,3}\?")
