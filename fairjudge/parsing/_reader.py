"""Chooses the verdict among the answers a reply gives: the final one, checked against the scale."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairjudge.domain import Unscored, UnscoredReason
from fairjudge.parsing._answers import Answer
from fairjudge.parsing._candidates import candidates, choose
from fairjudge.parsing._clean import first_turn, without_reasoning
from fairjudge.parsing._weighing import Candidate
from fairjudge.refusals import looks_like_refusal
from fairjudge.scales import Position, Scale

PARSER_VERSION = "3"
"""Part of every judgement's signature; raised whenever any reply would be read differently."""
_AFTER_SETTLED = re.compile(r"[^\n]{0,20}\n|[^\n]{20}|[\"']?\s{0,3}(?:\}|\]\]|</)")
"""What stands after a verdict that more text would not have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A verdict, and where in the reply it stands (half-open, in characters)."""

    value: float | Position
    start: int
    end: int


def read_verdict(text: str, scale: Scale, *, cut_off: bool = False) -> float | Position | Unscored:
    """Return the verdict that a judge's reply arrives at.

    The final verdict wins, and only then is it checked against `scale`. Nothing is rescaled,
    rounded or guessed. Linear in the length of `text`.

    `cut_off` says that the limit on its tokens ended the reply. Then a verdict counts only if it is
    stated as such, not mentioned amid reasons that were to go on, and if it is closed (by the end
    of a line, JSON or a tag) or 20 more characters follow: "1" may be the beginning of "10", or of
    "1 out of 10". A reply that is an answer and nothing else counts where no other answer begins
    with it.

    Returns
    -------
    float or Position or Unscored
        ``Unscored`` with reason ``"off_scale"`` (8/10 on 1 to 5), ``"refused"``, or
        ``"unparseable"``; its ``raw`` is `text`.
    """
    reading = locate_verdict(text, scale, cut_off=cut_off)
    return reading if isinstance(reading, Unscored) else reading.value


def locate_verdict(text: str, scale: Scale, *, cut_off: bool = False) -> Reading | Unscored:
    """Like `read_verdict`, and say where the verdict stands in `text`."""
    turn = first_turn(text)
    if turn != text and isinstance(reading := _locate(turn, scale), Reading):
        return reading
    return _locate(text, scale, cut_off=cut_off)


def _locate(text: str, scale: Scale, *, cut_off: bool = False) -> Reading | Unscored:
    if not text.strip():
        return Unscored(reason="unparseable", detail="the reply is empty", raw=text)
    thought = without_reasoning(text)
    if not thought.strip():
        detail = "the reply holds reasoning and no answer"
        return Unscored(reason="unparseable", detail=detail, raw=text)
    found = candidates(thought, scale)
    chosen = choose(found)
    if chosen is None:
        if looks_like_refusal(thought.strip()):
            return Unscored(reason="refused", detail="the judge declined", raw=text)
        return Unscored(reason="unparseable", detail="no verdict found", raw=text)
    answer = chosen.answer
    if answer.value is None or (cut_off and not _is_settled(answer, found, text, scale)):
        return _unusable(answer, text, scale)
    return Reading(value=answer.value, start=answer.start, end=answer.end)


def _is_settled(answer: Answer, found: list[Candidate], text: str, scale: Scale) -> bool:
    """Whether a cut-off reply states `answer` where the cut cannot have changed it.

    One that is repeated until the limit ends it stands settled before. A reply that is an answer
    and nothing else was given room for no more: its first token is read, as G-Eval does.
    """
    if scale.token_readable and text.strip() == text[answer.start : answer.end].strip():
        return True
    return any(
        one.strength == "stated"
        and one.answer.value == answer.value
        and _AFTER_SETTLED.match(text, one.answer.end)
        for one in found
    )


def _unusable(answer: Answer, text: str, scale: Scale) -> Unscored:
    if answer.value is not None:
        return Unscored(reason="unparseable", detail="no verdict that was settled", raw=text)
    said = text[answer.start : answer.end].strip()
    reason: UnscoredReason = "off_scale" if answer.problem == "off_scale" else "unparseable"
    offered = ", ".join(scale.answers)
    detail = (
        f"{said!r} is not among {offered}"
        if reason == "off_scale"
        else f"more than one verdict at {said!r}"
    )
    return Unscored(reason=reason, detail=detail, raw=text)
