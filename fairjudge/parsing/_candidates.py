"""Finds every answer in a reply that may be meant as its verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from fairjudge.parsing._answers import Answer, answer_at
from fairjudge.parsing._clean import blank, normalised, without_quotations
from fairjudge.parsing._context import continues, ends
from fairjudge.parsing._frames import NOT_AN_ANSWER, Frame, frames
from fairjudge.parsing._json import JsonVerdict, json_verdicts
from fairjudge.parsing._pairs import pair_statements
from fairjudge.parsing._weighing import Candidate, may_stand, weighed
from fairjudge.scales import Level, Position, Scale


def choose(found: list[Candidate]) -> Candidate | None:
    """Return the last stated verdict; else the last mentioned one, if possible a usable one."""
    stated = [c for c in found if c.strength == "stated"]
    if stated:
        return max(stated, key=_place)
    several = [(c.answer.start, c.answer.end) for c in found if c.answer.problem == "several"]
    usable = [
        c
        for c in found
        if not any(start <= c.answer.start and c.answer.end <= end for start, end in several)
    ]
    return max(usable or found, key=_place, default=None)


def _place(candidate: Candidate) -> tuple[int, bool, int]:
    """Order by place; where two end together, the one that saw several answers saw more."""
    answer = candidate.answer
    return answer.end, answer.problem == "several", answer.start


def candidates(thought: str, scale: Scale) -> list[Candidate]:
    """Every answer that the reply may mean as its verdict; places are those of the reply."""
    text = normalised(thought)
    found: list[Candidate] = []
    for verdict in json_verdicts(thought):
        found += _from_json(verdict, thought, scale)
        text = blank(text, verdict.start, verdict.end)
    text = _without_scale(without_quotations(text), scale)
    found += _leading(text, scale)
    found += _last_line(text, scale)
    if scale.kind != "pair":
        found += _named_lines(text, scale)
    if scale.kind != "number":
        found += _last_sentence(text, scale)
    for frame in frames(text):
        found += _framed(frame, text, scale)
    if scale.kind == "pair":
        found += _stated_pairs(text, scale)
    return found


def _from_json(verdict: JsonVerdict, text: str, scale: Scale) -> Iterator[Candidate]:
    """Read the value under a verdict's key as a reply of its own."""
    value = verdict.value
    if value is None:
        return
    said = f"{value:g}" if isinstance(value, float) else str(value)
    place = max(text.rfind(said, verdict.start, verdict.end), verdict.start)
    answer = Answer(start=place, end=place + len(said), value=None, problem="several")
    if not verdict.several and not (isinstance(value, bool) and scale.kind == "number"):
        inner = choose(candidates(said, scale))
        if inner is None and _FOREIGN.fullmatch(said):
            answer = replace(answer, problem="off_scale")
        elif inner is not None:
            answer = replace(answer, value=inner.answer.value, problem=inner.answer.problem)
    yield Candidate(answer=answer, strength="stated")


_POINT_SCALE = re.compile(
    r"\b(?:\d{1,3}|one|two|three|four|five|six|seven|ten)-?\s?point\b", re.IGNORECASE
)
_LEGEND = re.compile(r"\([^()\n]{0,80}\d\s?=[^()\n]{0,80}\)")


@cache
def _described(level: Level) -> str:
    """Return the line that describes a level in the prompt, as it looks once cleaned."""
    return normalised(f"{level.answer}: {level.anchor}") if level.anchor else ""


def _without_scale(text: str, scale: Scale) -> str:
    """Blank descriptions of the scale itself: "1-5", "from 1 to 5", "5-point", "(1 = poor)"."""
    echoed = [said for said in map(_described, scale.levels) if said and said in text]
    if len(echoed) > 1:
        for said in echoed:
            text = text.replace(said, " " * len(said))
    for pattern in (_POINT_SCALE, _LEGEND):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    if scale.kind != "number":
        return text
    span = _span(scale.levels[0].answer, scale.levels[-1].answer)
    return span.sub(lambda match: " " * len(match[0]), text)


@cache
def _span(low: str, high: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.,/-])(?:from\s)?{re.escape(low)}\s?(?:-|to|through|and|\.\.+|~)\s?{re.escape(high)}(?![\w/]|[.,-]\d)"
    )


_EDGE = re.compile(
    r"[\s#>→(\[\"'•|_=:$-]{0,200}(?:(?:an?|level)\s(?=[\d★])"
    r"|(?:definitely|clearly|it's|it\sis)\s(?=(?:the\s)?(?:summary|option|first|second)\b))?",
    re.IGNORECASE,
)
_AFTER_LEAD = re.compile(r"\s{0,3}(?:$|[\n.:;,!?)\]\"'|(]|-\s|-{2})|\s{1,3}-")
_REST_OF_LINE = re.compile(r"[\s.!)\]\"'|_>-]{0,200}$")


def _leading(text: str, scale: Scale) -> Iterator[Candidate]:
    """Read a reply that opens with a bare answer: "B: ...", "Four stars. ...", "4 - ..."."""
    edge = _EDGE.match(text)
    place = edge.end() if edge else 0
    answer = answer_at(text, place, scale)
    if answer is None or (continues(text, answer.end) and text[answer.end] != ":"):
        return
    if _AFTER_LEAD.match(text, answer.end) and not _is_enumerated(text, answer, scale):
        yield from weighed(text, answer, scale, "stated")


def _is_enumerated(text: str, answer: Answer, scale: Scale) -> bool:
    """Whether the opening "1." or "A:" is but the first of several such marks."""
    if answer.explicit or text[answer.end : answer.end + 1] not in {".", ")", ":"}:
        return False
    for mark in re.finditer(
        r"(?:^|\n|\s)[ (*#>-]{0,6}(?=(?:\w{1,12}\s)?#?\w{1,12}[.):]\s)", text[answer.end :]
    ):
        other = answer_at(text, answer.end + mark.end(), scale)
        if other is None or other.value in {None, answer.value}:
            continue
        same_sign = text[other.end : other.end + 1] == text[answer.end]
        if same_sign and ("\n" in mark[0] or text[answer.end] != ":"):
            return True
    return False


def _last_line(text: str, scale: Scale) -> Iterator[Candidate]:
    """Read a last line that is an answer alone; two such lines in a row are a list."""
    stripped = text.rstrip()
    start = stripped.rfind("\n") + 1
    last = _whole_line(stripped, start, scale)
    if last is None:
        return
    above = stripped[:start].rstrip()
    former = _whole_line(above, above.rfind("\n") + 1, scale) if above.strip() else None
    if former and former.value != last.value:
        last = replace(last, value=None, problem="several")
    yield Candidate(answer=last, strength="stated")


_LAST_SENTENCE = re.compile(r"[.!?;:]\s{1,3}([^.!?;:\n]{1,40})[.!)\"' ]{0,5}$")


def _last_sentence(text: str, scale: Scale) -> Iterator[Candidate]:
    """Read a last sentence that is an answer alone: "It is not covered. No."."""
    stripped = text.rstrip()
    window = max(0, len(stripped) - 60)
    match = _LAST_SENTENCE.search(stripped, window)
    answer = answer_at(stripped, match.start(1), scale) if match else None
    if answer and _REST_OF_LINE.match(stripped, answer.end):
        yield Candidate(answer=answer, strength="mentioned")


def _whole_line(text: str, start: int, scale: Scale) -> Answer | None:
    edge = _EDGE.match(text, start)
    answer = answer_at(text, edge.end() if edge else start, scale)
    return answer if answer and _REST_OF_LINE.match(text, answer.end) else None


_NAMED_LINE = re.compile(
    r"^[ #>|•-]{0,12}"
    r"(?![^:\n]{0,40}\b(?:errors?|omissions?|mistakes?|hallucinations?|confidence|facts?|claims?|counts?"
    r"|number|answers?|questions?|summary|articles?|sources?|steps?|sentences?|missing|issues?|words?)\b)"
    r"[^\W\d][^\W\d -]{1,20}(?: [^\W\d]{1,20}){0,3}\s{0,3}[:|]\s{0,4}",
    re.MULTILINE | re.IGNORECASE,
)

_LINE_ENDS = re.compile(r"[ .!)|]{0,20}$", re.MULTILINE)


def _named_lines(text: str, scale: Scale) -> Iterator[Candidate]:
    """Lines such as "Consistency: 4"; where they differ, none of them is the verdict."""
    found = [
        answer
        for match in _NAMED_LINE.finditer(text)
        if (answer := answer_at(text, match.end(), scale)) and _LINE_ENDS.match(text, answer.end)
    ]
    agreed = len({answer.value for answer in found}) == 1
    for answer in found[-1:] if agreed else found:
        one = answer if agreed else replace(answer, value=None, problem="several")
        yield Candidate(answer=one, strength="mentioned")


def _framed(frame: Frame, text: str, scale: Scale) -> Iterator[Candidate]:
    for place in frame.starts:
        if frame.in_sentence and NOT_AN_ANSWER.search(text[max(0, place - 20) : place]):
            continue
        answer = answer_at(text, place, scale)
        if answer is None:
            continue
        if may_stand(frame, answer, text, scale):
            yield from weighed(text, answer, scale, frame.strength)
        return
    if frame.labelled:
        yield from _foreign(text, frame)


_FOREIGN = re.compile(r"[(\[\"']?(?:[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?)(?![\w+-])")


def _foreign(text: str, frame: Frame) -> Iterator[Candidate]:
    """Yield an answer of another scale after a plain label: "Grade: F" where A to E are offered."""
    match = _FOREIGN.match(text, frame.starts[0])
    if match and ends(text, match.end(), strictly=True):
        answer = Answer(start=match.start(), end=match.end(), value=None, problem="off_scale")
        yield Candidate(answer=answer, strength=frame.strength)


def _stated_pairs(text: str, scale: Scale) -> Iterator[Candidate]:
    """Yield the preference that the prose concludes with; several that disagree are no verdict."""
    statements = [s for s in pair_statements(text) if _offers(scale, s.position)]
    if not statements:
        return
    concluding = [s for s in statements if s.concludes]
    last = (concluding or statements)[-1]
    several = len({s.position for s in concluding or statements}) > 1
    agreed = not several or (bool(concluding) and last.turns)
    answer = Answer(
        start=last.start,
        end=last.end,
        value=last.position if agreed else None,
        problem=None if agreed else "several",
    )
    labelled = _PAIR_LABEL.search(text, max(0, last.start - 2), last.end)
    yield Candidate(answer=answer, strength="stated" if labelled else "mentioned")


_PAIR_LABEL = re.compile(
    r"\[\[|\b(?:verdict|winner|answer|conclusion|decision|preference)\s{0,3}[:=]", re.IGNORECASE
)


def _offers(scale: Scale, position: Position) -> bool:
    """Whether the scale offers `position`; some offer no tie."""
    return any(level.value == position for level in scale.levels)
