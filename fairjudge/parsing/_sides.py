"""Compare two sides by a ranking, or by a score for each."""

from __future__ import annotations

import re

from fairjudge.parsing import _words as words
from fairjudge.parsing._answers import Answer, Problem, Rank
from fairjudge.scales import Position

_NAME = rf"(?:the\s)?(?:{words.NOUN}\s{{0,3}})?[#(]?(?:[12AB]|one|two)\)?(?![\w'])"
_RANKING = re.compile("ranking", re.IGNORECASE)
_RANKED = re.compile(
    rf"^\W{{0,6}}(?:(?:rank(?:ing|ed)?|place)\W{{1,6}})?(?:\#|no\.\s?)?1(?:st)?(?:\splace)?\s?[-.):\s]\s{{0,3}}(?P<name>{_NAME})\s{{0,3}}(?:[,;.\n(]|$)"
    rf"|^\W{{0,6}}(?:first|gold)(?:\s(?:place|prize|choice))?\s{{0,3}}[:=]\s{{0,4}}(?P<placed>{_NAME})\s{{0,3}}(?:[,;.\n(]|$)"
    rf"|^\W{{0,6}}ranking\s{{0,3}}[:=]\s{{0,4}}\[?(?P<listed>{_NAME})\s{{0,3}}(?:,|then|>)\s{{0,3}}(?:{_NAME})\]?\W{{0,6}}$",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST = re.compile(rf"^\W{{0,6}}1[.)]\s{{1,3}}({_NAME})\s{{1,3}}-\s", re.IGNORECASE | re.MULTILINE)


def _score_pattern(side: str) -> str:
    return (
        rf"(?:{words.NOUN}\s{{0,3}})?(?P<{side}>[12AB])(?:\stotal)?\W{{1,6}}(?P<{side}n>\d{{1,3}}(?:\.\d)?)"
        rf"(?:\s?/\s?(?P<{side}d>\d{{1,3}}))?(?:\s?stars)?(?![.)]?[ ]?[^\W\d])"
    )


_BOTH = re.compile(
    rf"(?:\A|(?P<total>\b(?:total|overall|final)(?:\sscores?)?\W{{1,6}}))\W*{_score_pattern('a')}\W{{1,6}}{_score_pattern('b')}\W*\Z",
    re.IGNORECASE,
)
_CELL = r"[ ]{0,9}\|[ ]{0,9}"
_COLUMNS = re.compile(
    rf"^[^|\n]{{0,60}}\|?[^|\n]{{0,60}}{_CELL}(?:{words.NOUN}\s)?[1A]{_CELL}"
    rf"(?:{words.NOUN}\s)?[2B][ ]{{0,9}}(?:\||$)",
    re.IGNORECASE | re.MULTILINE,
)
_VALUE = r"(\d{1,3}(?:\.\d{1,2})?)[^|\n]{0,6}"
_ROW = re.compile(
    rf"^[ |]{{0,9}}(?:overall|total)[^|\n]{{0,20}}\|[ ]{{0,9}}{_VALUE}\|[ ]{{0,9}}{_VALUE}(?:\||$)",
    re.IGNORECASE | re.MULTILINE,
)


def leading_side(text: str) -> Answer | None:
    """Return the side that leads a ranking, or has the higher of two scores.

    The scores are the whole reply, or follow "total" or the like at its end, or are in the last row
    of a table. Equal scores have the problem "several".
    """
    scores = _BOTH.search(text)
    if scores and scores["a"].lower() != scores["b"].lower() and scores["ad"] == scores["bd"]:
        return _higher_side(
            scores, float(scores["an"]), float(scores["bn"]), swapped=scores["a"] in "2Bb"
        )
    row = _ROW.search(text) if _COLUMNS.search(text) else None
    if row and not text[row.end() :].strip(" |\n"):
        return _higher_side(row, float(row[1]), float(row[2]))
    match = _RANKED.search(text) or (_FIRST.search(text) if _RANKING.search(text) else None)
    if match is None:
        return None
    side_name = next(side_name for side_name in match.groups() if side_name)
    return _answer(match, "first" if re.search(r"(?:1|a|one)\)?$", side_name.lower()) else "second")


def _higher_side(
    match: re.Match[str], first_score: float, second_score: float, *, swapped: bool = False
) -> Answer:
    won: Position = "first" if (first_score > second_score) != swapped else "second"
    return _answer(match, None if first_score == second_score else won)


def _answer(match: re.Match[str], value: Position | None) -> Answer:
    start, end = match.span()
    problem: Problem | None = None if value else "several"
    return Answer(start=start, end=end, value=value, problem=problem, rank=Rank.STATED)
