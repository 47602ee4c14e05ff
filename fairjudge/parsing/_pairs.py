"""Read preferences in sentences: "Summary 2 is better", "A beats B", "A > B", "a tie".

Regular expressions here match kinds of words, one letter each (see ``words.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import Place, denied_after
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


def preferences_at(place: Place) -> Iterator[Answer]:
    """Yield the preference of a sentence whose subject is the answer at `place`.

    A side that is better overall is `NAMED`, or `ASSIGNED` where the sentence concludes; one that
    is only more faithful or has fewer errors is `MENTIONED`; better in one respect is no verdict.
    """
    answer, after = place.answer, place.after
    if answer.value == "tie":
        yield from _ties(place)
    elif COMPARED.match(after):
        yield from _comparisons(place)
    elif _SUBJECT.search(place.before):
        rank = re.match("[vR=]f?A", after)
        yield from _ranks(place, rank.end()) if rank else _preferences(place)


def _ties(place: Place) -> Iterator[Answer]:
    """Read ties: "equally good", "neither is better"."""
    wording, before = place.wording, place.before
    listed = before != "A:" and re.search("[o/:][f(]*$|Q:[^:]*$", before)
    neither = wording.startswith("neither") and re.match("[^.nT]{0,9}G", place.after)
    names_both = wording.startswith(("both", "same", "the same", "neither"))
    ends = place.ends or place.after[:1] in {"f", "N"}
    plain = re.search("(?:^|[,CTY:])[fICtRaAS=]*$|=[fw]*$", before) and ends
    fits = neither or (not names_both and (plain or not wording.isascii()))
    if len(wording) > 2 and not listed and fits:
        narrow = re.search(r"equally\s(?!good|bad|strong)\w", wording)
        yield replace(place.answer, rank=Rank.MENTIONED if narrow else Rank.NAMED)


def _comparisons(place: Place) -> Iterator[Answer]:
    """Read signs between two sides: "A > B", "2 < 1", "A = B"; chains of three are ignored."""
    kinds, end = place.words.kinds, place.answer.end
    at = place.place + len(place.after) - len(place.after.lstrip("><~:")) + 1
    other = place.words.answers[at]
    sign = place.text[end : end + 3].strip()[:1]
    beyond = kinds[at + 1 : at + 9]
    several = beyond[:1] in {">", ":"} or kinds[max(0, place.place - 1) : place.place] == ">"
    if several or denied_after(beyond) or other.value not in {"first", "second"}:
        return
    if other.value != place.answer.value and sign in "><=≈~≻":
        won = place.answer if sign in ">≻" else other
        value: Position = "tie" if sign in "=≈~" else won.value  # type: ignore[assignment]
        yield replace(place.answer, end=other.end, value=value, rank=Rank.STATED)


def _ranks(place: Place, length: int) -> Iterator[Answer]:
    """Read "Summary 2 comes first"."""
    other = place.words.answers[place.place + length]
    rank = place.small[other.start : other.end].removeprefix("the ")
    if rank in {"first", "second"} and re.match("[xR]?(?:$|[.n,;])", place.after[length:]):
        yield _preference(place, rank == "first", Rank.NAMED, other.end)


def _preferences(place: Place) -> Iterator[Answer]:
    kinds, before = place.words.kinds, place.before
    claim = _BETTER.match(kinds, place.place + 1, place.place + 30)
    if claim is None or re.search("Nf*$|^[CT,]*Yf?$", before):
        return
    remainder, end = claim["rest"], place.words.ends[claim.start("rest") - 1]
    spaced = place.text[end - 1].isascii()
    narrow = claim["more"] or claim["less"]
    follows = kinds[claim.start("rest") : claim.start("rest") + 16]
    is_question = kinds[claim.end() : claim.end() + 1] == "?"
    denied = re.match("x?N" if spaced else "x{0,8}N", remainder)
    if is_question or denied or denied_after(follows.lstrip("fQxFK")):
        return
    if narrow:
        remainder = remainder.lstrip("fQxFKS")
        alone = sum(kinds.count(sign) for sign in ".n?") < 3
        counted = "v" in claim["gap"] and "F" not in claim[0][: len(claim["gap"]) + 3]
        if not _THAN.match(remainder) and (counted or not (alone or re.search("[CI]", before))):
            return
    if not (claim["wins"] or claim["loses"] or (_WHOLE if spaced else _UNSPACED).match(remainder)):
        return
    if not narrow and _RESPECT.match(remainder):
        yield replace(place.answer, value=None, problem="several")
        return
    concludes = re.search("[CVI]", before + remainder[-3:])
    rank = Rank.MENTIONED if narrow else Rank.ASSIGNED if concludes else Rank.NAMED
    yield _preference(place, claim["good"] or claim["less"] or claim["wins"], rank, end)


def _preference(place: Place, good: object, rank: Rank, end: int) -> Answer:
    value = place.answer.value if good else OTHER[place.answer.value]
    return replace(place.answer, end=end, value=value, rank=rank)
