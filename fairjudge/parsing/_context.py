"""What stands around an answer: whether it ends there, is one of several, is denied or supposed."""

from __future__ import annotations

import re

_CONTINUES = re.compile(r"[-/:.,]\d|-\w|:\w|\w|'\w|\+|%")
_ENDS = re.compile(
    r"""
    \s*$ | \s*\n | \s{0,3}[.,;:!?)\]}"'|>](?=\W|$) | \s{1,3}-{1,2}\s | \s{0,3}\(
    | \s{1,5}(?:for|on|because|since|as|due|given|based|with|and|but|overall|in|here|rather|from|too
        |which|is|seems|feels|to\s(?:reflect|this|the|it)|again|instead|now|therefore|so|if|had|were
        |would\sbe\s(?:fair|appropriate|right|suitable|more)|at\s(?:best|most)|by)\b
    | \s{0,3}<[/|] | \s{1,5}[-]\s | \s{1,5}[^\s\w]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STRICT_END = re.compile(r"""\s*$ | \s*\n | \s{0,3}[.,;!?)\]}"'](?=\W|$) | \s{1,3}\(""", re.VERBOSE)
_OR = re.compile(
    r"\s{0,3}(?:,\s{0,3}or|or|to|and|\||~|,(?=\s{1,3}(?:maybe|perhaps|possibly)))\s{1,3}"
    r"(?:(?:maybe|perhaps|possibly|even)\s{1,3})?(?:an?\s{1,3}(?=[\d(\"]))?|\s{0,3}(?:-{1,2}>|→)\s{0,3}|\s{0,3}[-~|]\s{0,3}|\s{0,2}/\s{0,2}"
)
_COMMA = re.compile(r"\s{0,3}[,|]\s{0,3}(?:or\s{1,3}|and\s{1,3})?")
_DENIED = re.compile(
    r"""
    (?:\bnot|n't|\bnever|\bcannot|\bhardly|\bshort\sof|\binstead\sof|\brather\sthan|\bbelow|\babove
       |\bless\sthan|\bmore\sthan|\bthan|\bat\sleast|\bat\smost|\bunder|\bover|\bwithout)
    \s+(?:(?:quite|really|be|have|been|a|an|the|it|this|for|get|give|giving|given|getting|reach|reaching
       |earn|earning|deserve|deserving|receive|receiving|warrant|merit|worth|enough|go|perfect|full|to|say|that|\w+ly)\s+){0,6}$
    | \b(?:prevent\w*|keep\w*|stop\w*|bar\w*)\s(?:it|this|the\ssummary|me|them)?\s?
      from\s+(?:\w+\s+){0,4}$
    | \b(?:would|could|might|should)\s+have\s+(?:\w+\s+){0,3}$
    | \b(?:to|for)\s+(?:be|get|earn|receive|reach|achieve|deserve|merit|obtain|attain|warrant
       |qualify)
      \s(?:for\s)?(?:an?\s|the\s)?(?:\w+\s)?$
    | \b(?:tempted|considered|considering|thought\s(?:of|about)|thinking\s(?:of|about)
       |inclined|wanted
       |hesitat\w+|debat\w+)\s+(?:\w+\s+){0,4}$
    | \b(?:if|unless|whether)\s+(?:\w+\s+){0,5}$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"[^.!?;\n]{0,60}\b(?:if\s+(?!i\s(?:had|have)\sto|i\smust|forced|pressed|you\sinsist)|had\s(?:it|the|this)|were\sit|but\sfor\b|unless\b)",
    re.IGNORECASE,
)
_RUBRIC = re.compile(
    r"\s+(?:would\s(?:require|need|mean|have|imply|indicate)|requires?|needs|is\s(?:reserved|for|only|given)|means|indicates|represents|being|=)\b",
    re.IGNORECASE,
)
_LOOK_BACK = 90


def continues(text: str, end: int) -> bool:
    """Whether the word or number goes on past `end`: "5-year", "2-1", "3.1", "B+"."""
    return bool(_CONTINUES.match(text, end))


def ends(text: str, end: int, *, strictly: bool = False) -> bool:
    """Whether an answer may end here, rather than count the noun that follows ("3 goals")."""
    if continues(text, end):
        return False
    return bool((_STRICT_END if strictly else _ENDS).match(text, end))


def or_after(text: str, end: int) -> int | None:
    """Return where a second alternative would begin ("3 or 4", "3-4"), or None."""
    match = _OR.match(text, end)
    return match.end() if match else None


def comma_after(text: str, end: int) -> int | None:
    """Return where the next member of a list would begin ("1, 2, 3"), or None."""
    match = _COMMA.match(text, end)
    return match.end() if match else None


def denied(text: str, start: int, end: int) -> bool:
    """Whether the answer framed at `start` and ended at `end` is denied or only supposed."""
    before = text[max(0, start - _LOOK_BACK) : start]
    if _DENIED.search(re.split(r"[.!?;\n]\s", before)[-1]):
        return True
    return bool(_SUPPOSED.match(text, end) or _RUBRIC.match(text, end))
