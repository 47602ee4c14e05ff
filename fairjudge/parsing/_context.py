"""What stands around an answer: whether it ends there, is denied, supposed, or told of others."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONTINUES = re.compile(r"[-/:.,]\d|-\w|:\w|(?!です|입니다)\w|'\w|\+|%")
_ENDS = re.compile(
    r"""
    \s*$ | \s*\n | ,(?=[^\W\d]) | \s{0,40}[.,;:!?)\]}"'|>](?=\W|$) | \s{1,3}-{1,2}\s | \s{0,3}\(
    | \s{1,5}(?:for|on|because|since|as|due|given|based|with|and|but|overall|in|here|rather|from|too
        |which|is|seems|feels|to\s(?:reflect|this|the|it)|again|instead|now|therefore|so|if|had|were|after
        |would\sbe\s(?:fair|appropriate|right|suitable|more)|at\s(?:best|most)|by|it\sis|weil|da|für|à|pour
        |para|parce|porque|perché|depending|geben)\b
    | です | 입니다 | \$ | \s{0,3}<[/|] | \s{1,5}[-]\s | \s{1,5}[^\s\w]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STRICT_END = re.compile(
    r"""\s*$ | \s*\n | \s{0,3}[.,:;!?)\]}"'](?=\W|$) | \s{1,3}\(""", re.VERBOSE
)
_OR = re.compile(
    r"\s{0,3}(?:,\s{0,3}or|or|to|and|&|\||~|,(?=\s{1,3}(?:maybe|perhaps|possibly|arguably)))\s{1,3}"
    r"(?:(?:maybe|perhaps|possibly|arguably|even)\s{1,3})?(?:an?\s{1,3}(?=[\d(\"]))?"
    r"|\s{0,3}(?:-{1,2}>|→)\s{0,3}|\s{0,3}[-~|或]\s{0,3}|\s{0,2}/\s{0,2}"
)
"""Before a second alternative: "3 or 4", "3-4"."""
_COMMA = re.compile(r"\s{0,3}[,|]\s{0,3}(?:or\s{1,3}|and\s{1,3})?")
_SENTENCE = re.compile(r"(?<!e\.g)[.!?;](?=\s|$)|(?<!:)(?<!: )\n|。")
_TURN = re.compile(
    r"\b(?:(?<!anything\s)(?<!nothing\s)but|however|although|so|thus|hence|therefore|which|result\w*|yet|still|nevertheless)\b",
    re.IGNORECASE,
)
_MINE = re.compile(r",\s(?=(?:i|my)\b)", re.IGNORECASE)
_HENCE = re.compile(r"(?:thus\s|thereby\s|hence\s)?\w{2,12}ing\b", re.IGNORECASE)
_CLAUSE = re.compile(rf",\s(?={_HENCE.pattern})", re.IGNORECASE)
_REACH = 160
_DENIED = re.compile(
    r"\b(?:not|cannot|never|hardly|scarcely|barely|neither|nor|nothing|nobody|none|few|no\s(?!doubt|question|wait)\w+"
    r"|without|doubt\w*(?<!doubtless)|fail\w*|false|wrong|short\sof|instead\sof|rather\sthan|than|below|above|under|over|beyond"
    r"|at\s(?:least|most)|might|may|could|should\shave|would\s(?:have|take|require|need|only\sbe)|tempted|consider(?:ed|ing)|thought\s(?:of|about)"
    r"|thinking|initially|at\sfirst|first\sthought|inclined|wanted|hesitat\w*|debat\w*|torn|argue\w*|prevent\w*|keeps?|stops?|maybe|perhaps|possibly"
    r"|probably|between|going\sto|trying|tr(?:y|ies)\sto|refuse\w*|unclear|almost|nearly|anything|reluctan\w*|previously|earlier|unfair|said\sto)\b|n't\b"
    r"|\bto\s(?:\w+ly\s)?$|\b(?:nicht|kein\w*|weder)\b|不(?!如|相上下)|没",
    re.IGNORECASE,
)
"""Before an answer in its part of the sentence: what denies it, or makes it one of several."""
_SUPPOSED = re.compile(
    r"\b(?:if(?!\s(?:only\sjust|forced|pressed|i\s(?:had|have|must)))|unless|whether|assuming|provided\s(?:that|it|the)|suppos\w+|were\s(?:it|the|this)"
    r"|had\s(?:it|the|this|i\b)|wenn|falls|depend\w*|for\s(?:example|instance)|e\.g|according\sto|example"
    r"|to\s(?:get|reach|earn|achieve|be|obtain|raise|merit|deserve)(?:\sto)?\s(?:an?\s|the\s|for\s)?(?:\w+\s){0,3}\d)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"^\s{0,8}>|\b(?:says|said|saying|claims?|claimed|states?|contains?|includes?|asks?|asking|tells|told|demands?"
    r"|instructs?|insists?|orders\s(?:me|the|to)|requests?|writes?|ends?\s(?:with)?|ignor(?:e|es|ing)|such\sas|an\sexample|for\s(?:example|instance)|the\sline|quotes?|begs?|wants?"
    r"|me\ssay|(?:answer|reply|respond)\swith|different\ssummary|critics?"
    r"|jury|jurors|film|movie|match|minister|people|someone|somebody|anyone|one\smight|author|some\s(?:say|would|claim)|others\s(?:say|would)"
    r"|(?:another|other|some|many|most|previous|earlier|lenient)\s(?:\w+\s)?(?:judges?|evaluators?|raters?|people|reviewers?|readers?|annotators?|graders?))\b"
    r"|\breads\s{0,3}(?:[:,]|$)|(?:\b(?:in|from)\s|^\W{0,9})(?:the\s)?(?:summary|text|article|source)\s?:|\bin\sthe\ssummary\b",
    re.IGNORECASE,
)
_SUPPOSED_AFTER = re.compile(
    r"[^.!?;\n]{0,60}\b(?:if\s+(?!i\s(?:had|have)\sto|i\smust|forced|pressed|you\sinsist|only\sjust)|had\s(?:it|the|this)|were\sit"
    r"|but\sfor\b|unless\b|or\sso\b)|[^.!?;\n]{0,60}\b(?:is|are|be)\s(?:\w+\s)?(?:false|wrong|untrue|mistaken|unfair|incorrect|not\strue)\b"
    r"|\s+(?:would\s(?!be\s(?:fair|appropriate|right|suitable|more\sa))|requires?|needs|is\s(?:reserved|for|only|given\s(?:to|when|if|for)|what)"
    r"|means|indicates|represents|being|is\swhat|=|is\s(?:too|out))\b|\s(?:is|are|was)\s(?:an?\s(?:attempt|injection|attack))",
    re.IGNORECASE,
)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range)|me\b)\w", re.IGNORECASE)
_GOES_ON = re.compile(r"[\"'`]?\s{1,3}(?!because|since|as|due|for|out|with|and|but)[a-z]")


def continues(text: str, end: int) -> bool:
    """Whether the word or number goes on past `end`: "5-year", "2-1", "3.1", "B+"."""
    return bool(_CONTINUES.match(text, end))


def ends(text: str, end: int, *, strictly: bool = False) -> bool:
    """Whether an answer may end here, rather than count the noun that follows ("3 goals")."""
    if continues(text, end):
        return False
    return bool((_STRICT_END if strictly else _ENDS).match(text, end))


def sentence_before(text: str, start: int) -> str:
    """Return the sentence up to `start`; a line that ends with a colon belongs to the next one."""
    return _SENTENCE.split(text[max(0, start - _REACH) : start])[-1]


def told(text: str, start: int) -> bool:
    """Whether what begins at `start` is told of others: "The summary says Verdict: 5"."""
    return bool(_TOLD.search(_TURN.split(sentence_before(text, start))[-1]))


def denied_before(text: str, start: int) -> bool:
    """Whether what stands before `start` denies what begins there, supposes it, or tells of it."""
    part = _TURN.split(sentence_before(text, start))[-1]
    near = re.split(r"[,:(]\s", part)[-1]
    part = "" if part.endswith(", ") and _HENCE.match(text, start) else _CLAUSE.split(part)[-1]
    own = _MINE.split(part + text[start : start + 3])[-1]
    return bool(_DENIED.search(near) or _SUPPOSED.search(part) or _TOLD.search(own))


def supposed_after(text: str, end: int) -> bool:
    """Whether what follows supposes it ("if"), denies it, or describes a line of the rubric."""
    return bool(_SUPPOSED_AFTER.match(text, end))


def by_others(text: str, end: int) -> bool:
    """Whether a score that ends there was given by others: "4 stars from critics"."""
    return bool(_BY.match(text, end))


def amid_a_sentence(text: str, end: int) -> bool:
    """Whether the sentence goes on after a form that ends there, and so only speaks of it."""
    return bool(_GOES_ON.match(text, end))


def second_place(text: str, end: int) -> Iterator[tuple[int, bool]]:
    """Yield where another alternative may begin after one that ends at `end`, and if for sure."""
    if match := _OR.match(text, end):
        yield match.end(), True
    if match := _COMMA.match(text, end):
        yield match.end(), False
