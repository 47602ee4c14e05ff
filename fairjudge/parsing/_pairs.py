"""Read preferences in sentences: "Summary 2 is better", "A beats B", "A > B", "a tie".

Regular expressions here match kinds of words, one letter each (see ``words.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import AnswerMatch, denied_after
from fairjudge.scales import Position

OTHER: dict[object, Position] = {"first": "second", "second": "first"}
COMPARED = re.compile(r"(?:[><~]{1,3}(?![/|])|:+)A")
_SUBJECT = re.compile(r"(?:^|[,:(TYCa=HIMp-])[fwCIRTaWM,=]*$")
"""May precede a side that is the subject of a preference."""
_BETTER = re.compile(
    r"\)?(?:,[^,.n?A]{1,10}(?:A[^,.n?A]{0,9})?,)?(?P<gap>(?:[fwvat=PQCR]|cA|f?Ap){0,8}?)"
    r"(?:(?P<good>G|(?<=[=f])V)|(?P<bad>B)|(?P<wins>D)f?A|(?P<loses>d)f?A"
    r"|(?P<more>g[fa]?F|b(?=[fQxKGS])|F(?=g))|(?P<less>g(?=[fQxKGS])|bf?F|F(?=b)))(?P<rest>[^.n?]*)"
)
_WHOLE = re.compile(r"(?:f|A|wA|[ctD]f?A|G|S|V|w(?=[fV]))*(?:$|[.n,:()TYUCa=-]|w)")
"""May follow an unrestricted preference: "better than B", not "better grammar"."""
_UNSPACED = re.compile(rf"x{{0,8}}[.n]?$|x{{0,8}},|{_WHOLE.pattern}")
_THAN = re.compile(r"[fxS]{0,2}[ctD]f?A")
_RESPECT = re.compile(r"(?:f|cf?A)*w[fxw]{0,2}Q")


def preferences_at(candidate: AnswerMatch) -> Iterator[Answer]:
    """Yield the preference of a sentence whose subject is the answer of `candidate`.

    A side that is better overall is `NAMED`, or `ASSIGNED` if the sentence is a conclusion; one
    that is only more faithful or has fewer errors is `MENTIONED`; being better in one respect is
    not a verdict.
    """
    answer, kinds_after = candidate.answer, candidate.kinds_after
    if answer.value == "tie":
        yield from _ties(candidate)
    elif COMPARED.match(kinds_after):
        yield from _comparisons(candidate)
    elif _SUBJECT.search(candidate.kinds_before):
        rank = re.match("[vR=]f?A", kinds_after)
        yield from _ranks(candidate, rank.end()) if rank else _preferences(candidate)


def _ties(candidate: AnswerMatch) -> Iterator[Answer]:
    """Read ties: "equally good", "neither is better"."""
    wording, kinds_before = candidate.wording, candidate.kinds_before
    is_listed = kinds_before != "A:" and re.search("[o/:][f(]*$|Q:[^:]*$", kinds_before)
    neither = wording.startswith("neither") and re.match("[^.nT]{0,9}G", candidate.kinds_after)
    names_both = wording.startswith(("both", "same", "the same", "neither"))
    ends = candidate.ends or candidate.kinds_after[:1] in {"f", "N"}
    is_unqualified = re.search("(?:^|[,CTY:])[fICtRaAS=]*$|=[fw]*$", kinds_before) and ends
    is_tie = neither or (not names_both and (is_unqualified or not wording.isascii()))
    if len(wording) > 2 and not is_listed and is_tie:
        is_partial = re.search(r"equally\s(?!good|bad|strong)\w", wording)
        yield replace(candidate.answer, rank=Rank.MENTIONED if is_partial else Rank.NAMED)


def _comparisons(candidate: AnswerMatch) -> Iterator[Answer]:
    """Read signs between two sides: "A > B", "2 < 1", "A = B"; chains of three are ignored."""
    kinds, end = candidate.words.kinds, candidate.answer.end
    other_index = (
        candidate.index + len(candidate.kinds_after) - len(candidate.kinds_after.lstrip("><~:")) + 1
    )
    other = candidate.words.answers[other_index]
    sign = candidate.text[end : end + 3].strip()[:1]
    later_kinds = kinds[other_index + 1 : other_index + 9]
    is_chain = (
        later_kinds[:1] in {">", ":"} or kinds[max(0, candidate.index - 1) : candidate.index] == ">"
    )
    if is_chain or denied_after(later_kinds) or other.value not in {"first", "second"}:
        return
    if other.value != candidate.answer.value and sign in "><=≈~≻":
        won = candidate.answer if sign in ">≻" else other
        value: Position = "tie" if sign in "=≈~" else won.value  # type: ignore[assignment]
        yield replace(candidate.answer, end=other.end, value=value, rank=Rank.STATED)


def _ranks(candidate: AnswerMatch, length: int) -> Iterator[Answer]:
    """Read "Summary 2 comes first"."""
    other = candidate.words.answers[candidate.index + length]
    rank = candidate.lower_text[other.start : other.end].removeprefix("the ")
    if rank in {"first", "second"} and re.match(
        "[xR]?(?:$|[.n,;])", candidate.kinds_after[length:]
    ):
        yield _preference(candidate, rank == "first", Rank.NAMED, other.end)


def _preferences(candidate: AnswerMatch) -> Iterator[Answer]:
    kinds, kinds_before = candidate.words.kinds, candidate.kinds_before
    claim = _BETTER.match(kinds, candidate.index + 1, candidate.index + 30)
    if claim is None or re.search("Nf*$|^[CT,]*Yf?$", kinds_before):
        return
    remainder, end = claim["rest"], candidate.words.ends[claim.start("rest") - 1]
    is_spaced = candidate.text[end - 1].isascii()
    is_partial = claim["more"] or claim["less"]
    follows = kinds[claim.start("rest") : claim.start("rest") + 16]
    is_question = kinds[claim.end() : claim.end() + 1] == "?"
    is_negated = re.match("x?N" if is_spaced else "x{0,8}N", remainder)
    if is_question or is_negated or denied_after(follows.lstrip("fQxFK")):
        return
    if is_partial:
        remainder = remainder.lstrip("fQxFKS")
        is_short = sum(kinds.count(sign) for sign in ".n?") < 3
        is_count = "v" in claim["gap"] and "F" not in claim[0][: len(claim["gap"]) + 3]
        if not _THAN.match(remainder) and (
            is_count or not (is_short or re.search("[CI]", kinds_before))
        ):
            return
    if not (
        claim["wins"] or claim["loses"] or (_WHOLE if is_spaced else _UNSPACED).match(remainder)
    ):
        return
    if not is_partial and _RESPECT.match(remainder):
        yield replace(candidate.answer, value=None, problem="several")
        return
    concludes = re.search("[CVI]", kinds_before + remainder[-3:])
    rank = Rank.MENTIONED if is_partial else Rank.ASSIGNED if concludes else Rank.NAMED
    yield _preference(candidate, claim["good"] or claim["less"] or claim["wins"], rank, end)


def _preference(candidate: AnswerMatch, is_better: object, rank: Rank, end: int) -> Answer:
    value = candidate.answer.value if is_better else OTHER[candidate.answer.value]
    return replace(candidate.answer, end=end, value=value, rank=rank)
