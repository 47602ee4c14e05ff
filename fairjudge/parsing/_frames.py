"""Where in a cleaned reply verdicts are stated, and how plainly.

A frame is the wording before an answer ("Verdict:", "I'd give it a", "earning a score of"). Frames
say nothing of the scale; `fairjudge.parsing._answers` reads what follows them.

The patterns are searched for in small letters: half the time that ignoring case would take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.parsing._clean import lowered

Strength: TypeAlias = Literal["stated", "mentioned"]
"""``stated``: the reply says that this is its verdict. ``mentioned``: it speaks of a score."""

_LABEL = (
    r"(?:verdicts?|scores?|ratings?|rate|final|overall|answer|grade|judge?ment|decision|choice|preference|preferred|winner"
    r"|conclusion|result|label|evaluation|assessment|stars|vote|selection|pick|classification|option"
    r"|better(?:\s(?:summary|one|response))?|best(?:\s(?:summary|one|response))?"
    r"|评分|分数|得分|打分|评价|答案|结论|裁决|判断|評価|スコア|点数|점수|평가|평점"
    r"|puntuación|puntaje|calificación|bewertung|punktzahl|urteil|wertung|punteggio|valutazione"
    r"|оценка|балл|вердикт|ответ|التقييم|الدرجة|النتيجة|स्कोर|अंक)"
)
_ALONE = r"(?<![^\W\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])"
"""No word goes on here; scripts that put no space between words may."""
_OF = r"(?:\s{1,3}(?:for|of|on|to|assigned|given|out\s{1,3}of)(?:\s{1,3}[\w'#-]{1,30}){1,6}?)?"
_FILL = re.compile(
    r"(?:(?:(?-i:an?)\s|(?:the|about|level|approximately|roughly|around|option|choice|answer|score|rating|of|at|as"
    r"|solid|strong|clear|perfect|full|weak|mere|low|high|respectable|only|just|be|it\s{1,3}is|it's|is"
    r"|i'd\s{1,3}say|definitely|probably|likely|straight|therefore|thus|now)\b|[~≈>|:=→{\[(<\"'$-])\s{0,4}){1,5}",
    re.IGNORECASE,
)
_VERB = (
    r"(?:give|gave|giving|rate|rated|rating|assign|assigned|assigning|score|scored|scoring|award|awarded|awarding|grade|graded|put|place|mark|rank"
    r"|say|think|believe|go\swith|going\s(?:with|for)|choose|pick|select|prefer|favou?r|settle\son|settled\son|vote\sfor|lean\s(?:towards?|to)|chose|opt\sfor|judge|conclude\swith|stick\swith|deem|consider)"
)

_PLAIN_LABEL = (
    r"(?:verdict|scores?|ratings?|grade|stars|level|judge?ment|decision|winner|preference)"
)
_NUMERAL = r"(?:\d|★|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)"
_VERB_STEM = r"(?:earn|receiv|deserv|merit|scor|get|rat|warrant|garner|achiev|award|assign|giv)"
_OBJECT = r"(?:(?:it|itself|this|the\s{1,3}summary|this\s{1,3}summary)\s{1,3})?"

# Plain labels such as "Verdict: 4", "Score for consistency (1-5) = 4", "[[B]]", "<score>4"
_LABELLED = re.compile(
    rf"{_ALONE}{_LABEL}{_OF}(?:\s{{0,3}}\([^()\n]{{0,40}}\))?\s{{0,120}}[:=→]\s{{0,8}}"
    rf"|['\"]{_LABEL}['\"]\s{{0,4}}:\s{{0,4}}"
    rf"|\[\[|\\boxed\{{(?:\\text(?:bf)?\{{)?|<{_LABEL}>\s{{0,8}}",
)
_LABEL_PLACE = re.compile(rf"{_ALONE}(?={_LABEL})|(?=['\"<]|\[\[|\\boxed)")
"""Where alone `_LABELLED`, `_SAID` and `_RECKONED` may match: one search in place of three."""
# A score that is reckoned out: 5, less 1 for an omission and 1 for a wrong date, makes 3
_RECKONED = re.compile(
    rf"{_ALONE}{_LABEL}\s{{0,3}}:\s{{0,3}}\d[^\n=]{{0,70}}[-+*/][^\n=]{{0,70}}=\s{{0,3}}(?=\d)",
)
# "the answer is B", "my score for this would be 4"
_SAID = re.compile(
    rf"(?<!\w){_LABEL}{_OF}\s{{1,3}}(?:is|would\sbe|will\sbe|should\sbe|becomes|stands\sat)\b"
    r"\s{0,3}[:,]?\s{0,4}",
)
# "Score - 4", "Rating 4" where a line or sentence begins
_OPENING = re.compile(
    r"(?:^|[.;!?]\s)[ #>|•-]{0,8}(?:(?:final|overall|my|the)\s{1,3}){0,2}"
    rf"{_PLAIN_LABEL}{_OF}[\s|-]{{1,8}}",
    re.MULTILINE,
)
# "earning a score of 3", "deserves a 4"
_MENTIONED = re.compile(
    r"\b(?:(?:scores?|ratings?|grade|mark)\s{1,3}(?:of|at|as)\s{1,3}|(?:option|choice)\s{1,3}"
    r"|(?:summary|it|this)\s(?:scores|gets|earns|receives|rates)\s{1,3}"
    r"|(?:this|it|that|summary)(?:'s|\s(?:is|was))\s(?:only\s|just\s|clearly\s|definitely\s)?(?=an?\s)"
    rf"|{_VERB_STEM}(?:e|es|ed|en|s|ing|ting)?\s{{1,3}}{_OBJECT}(?:only\s{{1,3}}|just\s{{1,3}})?(?=(?:an?|at|as)\s)"
    r"|(?:deserves|merits|warrants|rated|rates|(?:rating|rated|scored|scoring|giving|gave)\sit)\s{1,3}"
    r"|note\s(?:finale\s)?de\s(?=\d[\d.,]{0,3}\s?(?:/|sur\b)))"
    r"|(?:我|本人)[^.!?;\n]{0,20}打[了出]?\s?|(?:选项|我选)[:\s]{0,2}",
)
# "4/5", "3 stars" wherever they stand; "so yes", "is partially supported"
_BARE = re.compile(
    rf"(?<![\w.,/:$€£★-])(?={_NUMERAL})|\b(?:so|therefore|thus|hence|is|are|be),?\s{{1,3}}",
)
_FIRST_PERSON = re.compile(
    rf"\b(?:i(?:'d|'ll|'m|'ve|\s(?:would|will|have|am|must|can|shall))?(?:\s\w{{1,12}}ly|\sstill|\sthen|\salso|\shave\sto)?\s{_VERB}\b"
    rf"|(?:let\sme|let's|let\sus)\s{_VERB}\b"
    r"|(?:lower|rais|revis|chang|adjust|downgrad|upgrad|reduc|bump|drop|increas|correct|updat|mov|amend)(?:e|es|ed|ing|ping|ped|s)?\s(?:it|that|this|my|the\s(?:score|rating|verdict|grade))\b"
    r"|settl(?:e|ed|ing)\son\b)",
)
_SECOND_THOUGHT = re.compile(
    r"\b(?:actually|on\s(?:second\sthoughts?|reflection|reconsideration)|upon\sreflection|wait|hmm+"
    r"|correction|scratch\sthat|rather|no|sorry|edit|update|revised|make\sthat|make\sit)[\s,.:;-]{1,6}",
)
_WINDOW = 90
_WINDOW_END = re.compile(r"[!?;\n]|\.(?!\d)(?!\.)")
NOT_AN_ANSWER = re.compile(
    r"(?:(?<!the\s)(?<!this\s)\b(?:summary|summaries|article|source|sentence|paragraph|point|question|from|step|#|no\.|number|all|these|those|scale|of)\s{0,3}|[\w$€£#/.,-])$",
    re.IGNORECASE,
)
_ANSWER_START = re.compile(r"(?<![\w.,/:$€£-])[\w★(\[\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A place where an answer may begin. ``starts`` are the places to try, in order."""

    start: int
    starts: tuple[int, ...]
    strength: Strength
    in_sentence: bool = False
    strict: bool = False
    labelled: bool = False
    bare: bool = False


def frames(text: str) -> Iterator[Frame]:
    """Yield every frame in a cleaned text; linear in its length."""
    small = lowered(text)
    labels = [match.start() for match in _LABEL_PLACE.finditer(small)]
    for match in _matches_at(labels, _LABELLED, small):
        starts = _with_filler(text, match.end())
        yield Frame(start=match.start(), starts=starts, strength="stated", labelled=True)
    plain: tuple[tuple[Iterator[re.Match[str]], Strength], ...] = (
        (_matches_at(labels, _SAID, small), "stated"),
        (_matches_at(labels, _RECKONED, small), "stated"),
        (_OPENING.finditer(small), "stated"),
        (_MENTIONED.finditer(small), "mentioned"),
    )
    for matches, strength in plain:
        for match in matches:
            starts = _with_filler(text, match.end())
            yield Frame(start=match.start(), starts=starts, strength=strength)
    for match in _BARE.finditer(small):
        yield Frame(start=match.end(), starts=(match.end(),), strength="mentioned", bare=True)
    for match in _FIRST_PERSON.finditer(small):
        yield Frame(
            start=match.start(),
            starts=_in_window(text, match.end()),
            strength="stated",
            in_sentence=True,
        )
    for match in _SECOND_THOUGHT.finditer(small):
        starts = _with_filler(text, match.end())
        yield Frame(start=match.start(), starts=starts, strength="stated", strict=True)


def _matches_at(places: list[int], pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield what ``pattern.finditer(text)`` does, where it can match nowhere but at `places`."""
    free = 0
    for place in places:
        if place >= free and (match := pattern.match(text, place)):
            free = match.end()
            yield match


def _with_filler(text: str, place: int) -> tuple[int, ...]:
    filler = _FILL.match(text, place)
    return (place, filler.end()) if filler else (place,)


def _in_window(text: str, place: int) -> tuple[int, ...]:
    """Return the places in the rest of the sentence at which words begin, at most 90 signs on."""
    end = min(len(text), place + _WINDOW)
    stop = _WINDOW_END.search(text, place, end)
    end = stop.start() if stop else end
    return tuple(m.start() for m in _ANSWER_START.finditer(text, place, end))
