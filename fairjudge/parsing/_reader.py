"""Chooses the verdict among what a reply states, and checks it against the scale.

The plainest statement counts: the form that was asked for (JSON, tags) or a label that says
verdict, final or overall; then other labels, and answers that stand alone; then what a line says
of a named quality; then what the prose says of a score. Two that contradict each other, neither
taken back, are no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from fairjudge.domain import Unscored, UnscoredReason
from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._boxes import BOXED, in_box, ticked
from fairjudge.parsing._clean import (
    blank,
    blank_all,
    first_turn,
    lowered,
    normalised,
    without_quotations,
    without_told_quotations,
)
from fairjudge.parsing._context import amid_a_sentence, told
from fairjudge.parsing._json import JsonValue, json_verdicts
from fairjudge.parsing._statements import statements
from fairjudge.parsing._thoughts import without_reasoning
from fairjudge.parsing._wording import REVERSED, REVISED, TURNED
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.scales import Position, Scale

PARSER_VERSION = "7"
"""Part of every judgement's signature; raised whenever any reply would be read differently."""
_AFTER_SETTLED = re.compile(r"[^\n]{0,20}\n|[^\n]{20}|[\"']?\s{0,3}(?:\}|\]\]|</)")
"""What stands after a verdict that more text would not have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A verdict, and where in the reply it stands (half-open, in characters)."""

    value: float | Position
    start: int
    end: int


def read_verdict(
    text: str, scale: Scale, *, aspect: str = "", cut_off: bool = False
) -> float | Position | Unscored:
    """Return the verdict that a judge's reply states.

    The plainest statement counts, and only then is it checked against `scale`: what is named
    verdict, final or overall, or after `aspect`, stands against everything else. What is denied,
    supposed, quoted, told of others, counted, or one of a list of scores is none. Nothing is
    rescaled, rounded or guessed. Linear in the length of `text`.

    `aspect` is what was judged, where it is known: then "Fluency: 4" is told from "Grammar: 5".

    `cut_off` says that the limit on its tokens ended the reply. Then a verdict counts only if it is
    stated as such, not mentioned amid reasons that were to go on, and if it is closed (by the end
    of a line, JSON or a tag) or 20 more characters follow: "1" may be the beginning of "10", or of
    "1 out of 10". A reply that is an answer and nothing else counts where no other answer begins
    with it.

    ``Unscored`` has the reason ``"off_scale"`` (8/10 on 1 to 5), ``"refused"``, or
    ``"unparseable"`` (none stated, or several that contradict each other); its ``raw`` is `text`.
    """
    reading = locate_verdict(text, scale, aspect=aspect, cut_off=cut_off)
    return reading if isinstance(reading, Unscored) else reading.value


def locate_verdict(
    text: str, scale: Scale, *, aspect: str = "", cut_off: bool = False
) -> Reading | Unscored:
    """Like `read_verdict`, and say where the verdict stands in `text`."""
    turn = first_turn(text)
    if turn != text and isinstance(reading := _locate(turn, scale, aspect=aspect), Reading):
        return reading
    return _locate(text, scale, aspect=aspect, cut_off=cut_off)


def _locate(text: str, scale: Scale, *, aspect: str, cut_off: bool = False) -> Reading | Unscored:
    if not text.strip():
        return Unscored(reason="unparseable", detail="the reply is empty", raw=text)
    thought = without_reasoning(text)
    if not thought.strip():
        detail = "the reply holds reasoning and no answer"
        return Unscored(reason="unparseable", detail=detail, raw=text)
    found = _found(thought, scale, aspect)
    answer = _chosen(found, thought)
    if answer is None:
        if looks_like_refusal(thought.strip()):
            return Unscored(reason="refused", detail="the judge declined", raw=text)
        return Unscored(reason="unparseable", detail="no verdict found", raw=text)
    if answer.value is None or (cut_off and not _is_settled(answer, found, text, scale)):
        return _unusable(answer, text, scale)
    return Reading(value=answer.value, start=answer.start, end=answer.end)


def _found(thought: str, scale: Scale, aspect: str) -> list[Answer]:
    """Return every statement of a reply; places are those of the reply."""
    thought = without_told_quotations(thought)
    found: list[Answer] = []
    if boxes := ticked(thought):
        found += [in_box(boxes, scale)]
        thought = blank_all(BOXED, thought)
    text = normalised(thought)
    for verdict in json_verdicts(thought, aspect=aspect, kind=scale.kind):
        is_told = _is_template(verdict.value, scale) or told(text, verdict.start)
        if not is_told and not amid_a_sentence(text, verdict.end):
            found.append(_from_json(verdict, thought, scale))
        text = blank(text, verdict.start, verdict.end)
    text = without_quotations(text)
    if scale.kind == "number":
        text = blank_all(_scale_words(scale.answers[0], scale.answers[-1]), text)
    items = tuple(match.span() for match in _ITEM.finditer(thought))
    fences = tuple(match.span() for match in _FENCED.finditer(thought))
    outside = any(thought[end:].strip() for _, end in fences[-1:])
    for statement in statements(text, scale, items=items if len(items) > 1 else (), aspect=aspect):
        fenced = outside and any(a <= statement.start < b for a, b in fences)
        found.append(replace(statement, rank=Rank.MENTIONED) if fenced else statement)
    return found


def _is_template(value: object, scale: Scale) -> bool:
    """Whether what stands under a verdict's key is nothing, or but names what may stand there."""
    low, high = scale.answers[0], scale.answers[-1]
    offered = (f"{low}-{high}", f"{low}–{high}", "...", "|".join(scale.answers))
    return value is None or (isinstance(value, str) and value.strip() in offered)


_ITEM = re.compile(r"^[ \t]{0,12}(?:\d{1,2}[.)]|[-*•+](?![*-]))\s{1,4}\S[^\n]*", re.MULTILINE)
_FENCED = re.compile(r"^```[^\n]{0,20}\n(?:(?!```)[^\n]*\n)*```", re.MULTILINE)


def _from_json(verdict: JsonValue, text: str, scale: Scale) -> Answer:
    """Read the value under a verdict's key as a reply of its own."""
    value = verdict.value
    said = f"{value:g}" if isinstance(value, float) else str(value)
    place = max(text.rfind(said, verdict.start, verdict.end), verdict.start)
    if verdict.top and said.replace(".", "", 1).isdecimal() and scale.kind == "number":
        said += f"/{verdict.top}"
    answer = Answer(
        start=place, end=place + len(said), value=None, problem="several", rank=Rank.FINAL
    )
    if not verdict.several and not (isinstance(value, bool) and scale.kind == "number"):
        inner = _chosen(_found(said, scale, ""), said)
        others = (_chosen(_found(str(one), scale, ""), str(one)) for one in verdict.others)
        if inner and any(one and one.value not in {None, inner.value} for one in others):
            return answer
        if inner is not None:
            answer = replace(answer, value=inner.value, problem=inner.problem)
        elif re.fullmatch(r"[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?", said):
            answer = replace(answer, problem="off_scale")
    return answer


def _chosen(found: Sequence[Answer], text: str) -> Answer | None:
    """Return the answer stated most plainly; of those, the last one that takes back the others."""
    ranges = [s for s in found if s.problem == "several"]
    alone = [s for s in found if s.revises or not any(_holds(one, s) for one in ranges)]
    best = max((s.rank for s in alone), default=None)
    top = [s for s in alone if s.rank == best or s.revises]
    top.sort(key=lambda s: (s.end, s.start))
    usable = [answer for answer in top if answer.problem != "off_scale"]
    if best == Rank.MENTIONED and usable:
        top = usable
    if len({(answer.value, answer.problem) for answer in top}) < 2:
        return _unless_reversed(top[-1], found, text) if top else None
    if best in {Rank.NAMED, Rank.RATED} and _is_broken_down(text, top):
        return top[0]
    if top[-1].revises or _is_taken_back(text, top, best):
        return top[-1]
    return replace(top[-1], start=top[0].start, value=None, problem="several")


def _unless_reversed(answer: Answer, found: Sequence[Answer], text: str) -> Answer:
    """Return `answer`, or that it is one of several: what is said after "actually" is another."""
    for other in found:
        differs = other.value not in {None, answer.value}
        if differs and other.start > answer.end and REVERSED.search(text, answer.end, other.start):
            return replace(answer, value=None, problem="several")
    return answer


def _holds(several: Answer, one: Answer) -> bool:
    """Whether `one` is but one of `several` that are stated as plainly or more."""
    if one.problem == "several" or several.rank < one.rank:
        return False
    return several.start <= one.start and one.end <= several.end


_PARTS = re.compile(r"\b(?:breakdown|break\sit\sdown|sub-?scores|components)\b")
_REASONS = re.compile(r"\b(?:detail|criteri|explan|reason|here)[^\n:]{0,80}:")


def _is_broken_down(text: str, named: list[Answer]) -> bool:
    """Whether a score stands first, and the others are given as its parts."""
    between = lowered(text[named[0].end : named[1].start])
    opens = not text[: named[0].start].strip().count("\n")
    return bool(_PARTS.search(between) or (opens and _REASONS.search(between)))


def _is_taken_back(text: str, top: list[Answer], rank: Rank | None) -> bool:
    """Whether the words before the last answer take back those that contradict it."""
    last = top[-1]
    other = [
        answer for answer in top if (answer.value, answer.problem) != (last.value, last.problem)
    ]
    between = lowered(text[min(other[-1].end, last.start) : last.end])[-2_000:]
    if rank == Rank.FINAL and "final" in between and "final" not in lowered(text[: other[-1].end]):
        return True
    if rank == Rank.MENTIONED and (TURNED.search(between) or _CONCLUDES.match(text, last.end)):
        return True
    return bool(REVISED.search(between))


_CONCLUDES = re.compile(r"(?:\s(?:for|on|in)\s(?:\w{1,20}\s){0,3}\w{1,20})?[\s.!*)\"']{0,20}$")


def _is_settled(answer: Answer, found: list[Answer], text: str, scale: Scale) -> bool:
    """Whether a cut-off reply states `answer` where the cut cannot have changed it.

    One that is repeated until the limit ends it stands settled before. A reply that is an answer
    and nothing else was given room for no more: its first token is read, as G-Eval does.
    """
    if scale.token_readable and text.strip() == text[answer.start : answer.end].strip():
        return True
    return any(
        one.rank >= Rank.NAMED and one.value == answer.value and _AFTER_SETTLED.match(text, one.end)
        for one in found
    )


def _unusable(answer: Answer, text: str, scale: Scale) -> Unscored:
    if answer.value is not None:
        return Unscored(reason="unparseable", detail="no verdict that was settled", raw=text)
    said = text[answer.start : answer.end].strip()
    reason: UnscoredReason = "off_scale" if answer.problem == "off_scale" else "unparseable"
    detail = f"more than one verdict at {said[:200]!r}"
    if reason == "off_scale":
        detail = f"{said!r} is not among {', '.join(scale.answers)}"
    return Unscored(reason=reason, detail=detail, raw=text)


@cache
def _scale_words(low: str, high: str) -> re.Pattern[str]:
    """Match what describes the scale: "1-5", "from 1 to 5", "5-point", "(1 = poor)", "满分5分"."""
    low, high = re.escape(low), re.escape(high)
    line = r"[ ]{0,4}\d{1,2}\s?[=:][^\n]{2,80}"
    return re.compile(
        rf"(?<![\w.,/-])(?:on\s(?:a|the)\sscale\s(?:of|from)\s)?(?:from\s)?{low}\s?(?:-|to|through|and|\.\.+|~)\s?{high}(?![\w/]|[.,-]\d)"
        rf"|\b(?:{high}|four|five|six|seven|ten)-?\s?point\b|{high}(?:段階|点)中|(?:满分|总分)[为是]?\s?\d{{1,3}}\s?分"
        rf"|\([^()\n]{{0,80}}\d\s?=[^()\n]{{0,80}}\)|^{line}\n(?:{line}(?:\n|$)){{1,10}}",
        re.IGNORECASE | re.MULTILINE,
    )
