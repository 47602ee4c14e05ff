"""Finds every answer in a reply that may be meant as its verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairjudge.parsing._answers import Answer, answer_at
from fairjudge.parsing._clean import blank, normalised, without_quotations
from fairjudge.parsing._context import comma_after, continues, denied, ends, or_after
from fairjudge.parsing._frames import NOT_AN_ANSWER, Frame, Strength, frames
from fairjudge.parsing._json import JsonVerdict, json_verdicts
from fairjudge.parsing._pairs import pair_statements
from fairjudge.scales import Level, Position, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An answer that may be the verdict, and how plainly the reply says so."""

    answer: Answer
    strength: Strength


def choose(found: list[Candidate]) -> Candidate | None:
    """Return the last stated verdict; else the last mentioned one, if possible a usable one."""
    stated = [c for c in found if c.strength == "stated"]
    if stated:
        return max(stated, key=lambda c: (c.answer.end, c.answer.start))
    usable = [c for c in found if c.answer.problem != "several"]
    return max(usable or found, key=lambda c: (c.answer.end, c.answer.start), default=None)


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
    if scale.kind == "number":
        found += _named_lines(text, scale)
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
    low, high = (re.escape(scale.answers[i]) for i in (0, -1))
    whole = (
        rf"(?<![\w.,/-])(?:from\s)?{low}\s?(?:-|to|through|and|\.\.+|~)\s?{high}(?![\w/]|[.,-]\d)"
    )
    return re.sub(whole, lambda match: " " * len(match[0]), text)


_EDGE = re.compile(r"[\s#>(\[\"'•|_=-]{0,200}")
_AFTER_LEAD = re.compile(r"\s{0,3}(?:$|[\n.:;,!?)\]\"'|]|-\s|-{2})|\s{1,3}-")
_REST_OF_LINE = re.compile(r"[\s.!)\]\"'|_>-]{0,200}$")


def _leading(text: str, scale: Scale) -> Iterator[Candidate]:
    """Read a reply that opens with a bare answer: "B: ...", "Four stars. ...", "4 - ..."."""
    edge = _EDGE.match(text)
    place = edge.end() if edge else 0
    answer = answer_at(text, place, scale)
    if answer is None or (continues(text, answer.end) and text[answer.end] != ":"):
        return
    if _AFTER_LEAD.match(text, answer.end) and not _is_enumerated(text, answer, scale):
        yield from _weighed(text, answer, scale, "stated")


def _is_enumerated(text: str, answer: Answer, scale: Scale) -> bool:
    """Whether the opening "1." or "A:" is but the first of several such marks."""
    if answer.explicit or text[answer.end : answer.end + 1] not in {".", ")", ":"}:
        return False
    for mark in re.finditer(r"(?:^|\n|\s)[ (*#>-]{0,6}(?=\w{1,12}[.):]\s)", text[answer.end :]):
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


def _whole_line(text: str, start: int, scale: Scale) -> Answer | None:
    edge = _EDGE.match(text, start)
    answer = answer_at(text, edge.end() if edge else start, scale)
    return answer if answer and _REST_OF_LINE.match(text, answer.end) else None


_NAMED_LINE = re.compile(
    r"^[ #>|•-]{0,12}[^\W\d][^\W\d -]{1,20}(?: [^\W\d]{1,20}){0,3}\s{0,3}[:|]\s{0,4}", re.MULTILINE
)


def _named_lines(text: str, scale: Scale) -> Iterator[Candidate]:
    """Lines such as "Consistency: 4"; where they differ, none of them is the verdict."""
    found = [
        answer
        for match in _NAMED_LINE.finditer(text)
        if (answer := answer_at(text, match.end(), scale))
        and re.compile(r"[ .!)|]{0,20}$", re.MULTILINE).match(text, answer.end)
    ]
    if found:
        agreed = len({answer.value for answer in found}) == 1
        answer = found[-1] if agreed else replace(found[-1], value=None, problem="several")
        yield Candidate(answer=answer, strength="mentioned")


def _framed(frame: Frame, text: str, scale: Scale) -> Iterator[Candidate]:
    for place in frame.starts:
        if frame.in_sentence and NOT_AN_ANSWER.search(text[max(0, place - 20) : place]):
            continue
        answer = answer_at(text, place, scale)
        if answer is None:
            continue
        if _may_stand(frame, answer, text, scale):
            yield from _weighed(text, answer, scale, frame.strength)
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


def _may_stand(frame: Frame, answer: Answer, text: str, scale: Scale) -> bool:
    """Whether the answer is complete where it ends, and neither denied nor only supposed."""
    one_of_several = _second(text, answer, scale) is not None
    if frame.labelled:
        return one_of_several or _may_follow_label(answer, text, scale)
    if denied(text, frame.start, answer.end):
        return False
    if one_of_several:
        return True
    if frame.bare and not answer.explicit:
        length = answer.end - answer.start
        whole = scale.kind == "choice" and length > 1
        return (whole and ends(text, answer.end, strictly=length < 4)) or _closes(text, answer)
    return ends(text, answer.end, strictly=frame.strict)


def _may_follow_label(answer: Answer, text: str, scale: Scale) -> bool:
    """Whether the answer is not the beginning of something else: "4th", "Summary 1 is worse"."""
    if continues(text, answer.end):
        return False
    if scale.kind == "pair":
        return ends(text, answer.end) and not _SUBJECT.match(text, answer.end)
    return True


_SUBJECT = re.compile(
    r"\s?[<>=≈]|\s{1,3}(?!for|because|since|as|due|based|with|by|over|on|in|and|or)[a-z]{2}"
)
_CLOSING = re.compile(r"[\s.!)\"']{0,20}$")
_SENTENCE_START = re.compile(r"[.!?;(]\s{0,3}$")


def _closes(text: str, answer: Answer) -> bool:
    """Whether the answer is the last sentence, or stands in brackets at the end: "... (1)."."""
    opened = _SENTENCE_START.search(text[max(0, answer.start - 4) : answer.start])
    return bool(opened and _CLOSING.match(text, answer.end))


def _second(text: str, answer: Answer, scale: Scale) -> Answer | None:
    """Return another answer offered in the same breath: "3 or 4", "1, 2, 3", "yes/no"."""
    place = or_after(text, answer.end)
    if place is not None and not (
        scale.kind != "number" and text[place - 1] in "- " and "-" in text[answer.end : place]
    ):
        other = answer_at(text, place, scale)
        if other and other.value != answer.value and ends(text, other.end):
            return other
    place = comma_after(text, answer.end)
    other = None if place is None else answer_at(text, place, scale)
    if other is None or other.value == answer.value:
        return None
    further = comma_after(text, other.end) or or_after(text, other.end)
    return other if further is not None and answer_at(text, further, scale) else None


_FALLING = re.compile(r"(\d{1,3})-(\d{1,3})")


def _weighed(text: str, answer: Answer, scale: Scale, strength: Strength) -> Iterator[Candidate]:
    """Yield the answer as a candidate, as one of several, or (a match result, "6-1") not at all."""
    other = _second(text, answer, scale)
    if other is not None:
        result = _FALLING.match(text, answer.start)
        if result and int(result[1]) > int(result[2]) and strength == "mentioned":
            return
        several = replace(answer, end=other.end, value=None, problem="several")
        yield Candidate(answer=several, strength=strength)
        return
    if strength == "mentioned" and _concludes(text, answer):
        strength = "stated"
    yield Candidate(answer=answer, strength=strength)


_LAST_WORDS = re.compile(r"(?:\s(?:for|on|in)\s(?:\w{1,20}\s){0,3}\w{1,20})?[\s.!)\"']{0,20}$")


def _concludes(text: str, answer: Answer) -> bool:
    return bool(_LAST_WORDS.match(text, answer.end)) and not _STARS.search(
        text, answer.start, answer.end
    )


_STARS = re.compile(r"star|★", re.IGNORECASE)


def _stated_pairs(text: str, scale: Scale) -> Iterator[Candidate]:
    """Yield the preference that the prose concludes with; several that disagree are no verdict."""
    statements = [s for s in pair_statements(text) if _offers(scale, s.position)]
    if not statements:
        return
    concluding = [s for s in statements if s.concludes]
    last = (concluding or statements)[-1]
    agreed = bool(concluding) or len({s.position for s in statements}) == 1
    answer = Answer(
        start=last.start,
        end=last.end,
        value=last.position if agreed else None,
        problem=None if agreed else "several",
    )
    labelled = _PAIR_LABEL.search(text, max(0, last.start - 20), last.end)
    yield Candidate(answer=answer, strength="stated" if labelled else "mentioned")


_PAIR_LABEL = re.compile(
    r"\[\[|\b(?:verdict|winner|answer|conclusion|decision|preference)\s{0,3}[:=]", re.IGNORECASE
)


def _offers(scale: Scale, position: Position) -> bool:
    """Whether the scale offers `position`; some offer no tie."""
    return any(level.value == position for level in scale.levels)
