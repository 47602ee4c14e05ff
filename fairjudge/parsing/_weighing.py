"""Whether an answer found in a reply may be its verdict, and how plainly it is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairjudge.parsing._answers import Answer, answer_at
from fairjudge.parsing._context import comma_after, continues, denied, ends, or_after
from fairjudge.parsing._frames import Frame, Strength
from fairjudge.scales import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An answer that may be the verdict, and how plainly the reply says so."""

    answer: Answer
    strength: Strength


def may_stand(frame: Frame, answer: Answer, text: str, scale: Scale) -> bool:
    """Whether the answer is complete where it ends, and neither denied nor only supposed."""
    if _is_compared(answer, text, scale):
        return False
    one_of_several = _second(text, answer, scale) is not None
    if frame.labelled:
        return one_of_several or _may_follow_label(answer, text, scale)
    if denied(text, frame.start, answer.end):
        return False
    if frame.bare and not answer.explicit and not one_of_several:
        length = answer.end - answer.start
        whole = scale.kind == "choice" and length > 1
        return (whole and ends(text, answer.end, strictly=length < 4)) or _closes(text, answer)
    elsewhere = scale.kind == "number" and _of_something_else(frame, answer, text)
    return one_of_several or (not elsewhere and ends(text, answer.end, strictly=frame.strict))


def _is_compared(answer: Answer, text: str, scale: Scale) -> bool:
    """Whether a sign makes it a bound (">3"), or one side of a comparison ("A > B")."""
    if scale.kind == "number":
        bound = _BOUND.search(text[max(0, answer.start - 3) : answer.start])
        return bool(bound) and text[answer.end : answer.end + 1] != ">"
    return scale.kind == "pair" and bool(_COMPARED.match(text, answer.end))


_BOUND = re.compile(r"(?:^|\s)[<>≤≥]\s?$")


def _of_something_else(frame: Frame, answer: Answer, text: str) -> bool:
    """Whether a score is told of others: "rated 4 stars by", "gave the film 4 out of 5"."""
    if _BY.match(text, answer.end):
        return True
    return frame.bare and bool(_AFTER_A_NOUN.search(text[max(0, frame.start - 20) : frame.start]))


_BY = re.compile(r"\s{1,3}by\b", re.IGNORECASE)
_AFTER_A_NOUN = re.compile(
    r"(?<!\w)(?!(?:an?|is|of|at|as|it|this|that|summary|so|thus|overall|be|to|with|solid|only|just"
    r"|about|around|deserves?|scores?|gets?|say|therefore|hence|final|rating|score|perfect|and|but"
    r"|approximately|roughly|therefore|get|earns?|rate|give|receives?|merits?|verdict|likely|full"
    r"|probably|strong|weak|mere|or|maybe|perhaps|then|now|stay|stays|remains?|by|think|consistency"
    r"|coverage|relevance|faithfulness|quality)\s)\w+\s{1,3}$",
    re.IGNORECASE,
)


def _may_follow_label(answer: Answer, text: str, scale: Scale) -> bool:
    """Whether the answer is not the beginning of something else: "4th", "Summary 1 is worse"."""
    if continues(text, answer.end):
        return False
    if scale.kind == "pair":
        return ends(text, answer.end) and not _SUBJECT.match(text, answer.end)
    return not (scale.kind == "number" and _MEASURED.match(text, answer.end))


_COMPARED = re.compile(r"\s?(?:[>=≈]|<(?![/|]))")
_SUBJECT = re.compile(
    r"\s{1,3}(?!for|because|since|as|due|based|with|by|over|on|in|and|or)[a-z]{2}"
)
_MEASURED = re.compile(
    r"\s{0,3}(?:→|-{1,2}>)\s{0,3}\d|\s{1,3}(?:years?|months?|weeks?|days?|hours?|minutes?|people|percent|thousand|million|billion"
    r"|dollars?|euros?|pounds?|goals?|votes?|deaths?|miles|km|met(?:er|re)s)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s.!)\"']{0,20}$")
_SENTENCE_START = re.compile(r"(?:[.!?;(]|\b(?:so|thus|therefore|hence),?)\s{0,3}$", re.IGNORECASE)


def _closes(text: str, answer: Answer) -> bool:
    """Whether the answer is the last sentence, or stands in brackets at the end: "... (1)."."""
    opened = _SENTENCE_START.search(text[max(0, answer.start - 14) : answer.start])
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


def weighed(text: str, answer: Answer, scale: Scale, strength: Strength) -> Iterator[Candidate]:
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
    """Whether the reply ends with this score; stars and named lines may tell of other things."""
    if not _LAST_WORDS.match(text, answer.end) or _STARS.search(text, answer.start, answer.end):
        return False
    return not _NAMED.search(text[max(0, answer.start - 60) : answer.start])


_NAMED = re.compile(r"(?:^|\n)[^\n:]{1,50}:\s{0,4}$")


_STARS = re.compile(r"star|★", re.IGNORECASE)
