"""What stands around an answer: what follows it, and whether it is denied, supposed or reported."""

from __future__ import annotations

import re

_CONTINUES = re.compile(r"[-/:.,]\d|-\w|:\w|(?!です|입니다)\w|'\w|\+|%")
_ENDS = re.compile(
    r"""
    \s*$ | \s*\n | ,(?=[^\W\d]) | \s{0,3}[.,;:!?)\]}"'|>](?=\W|$) | \s{1,3}-{1,2}\s | \s{0,3}\(
    | \s{1,5}(?:for|on|because|since|as|due|given|based|with|and|but|overall|in|here|rather|from|too
        |which|is|seems|feels|to\s(?:reflect|this|the|it)|again|instead|now|therefore|so|if|had|were
        |would\sbe\s(?:fair|appropriate|right|suitable|more)|at\s(?:best|most)|by|it\sis|weil|da|für|à|pour|para
        |parce|porque|perché|depending)\b
    | です | 입니다 | \$ | \s{0,3}<[/|] | \s{1,5}[-]\s | \s{1,5}[^\s\w]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STRICT_END = re.compile(r"""\s*$ | \s*\n | \s{0,3}[.,;!?)\]}"'](?=\W|$) | \s{1,3}\(""", re.VERBOSE)
OR = re.compile(
    r"\s{0,3}(?:,\s{0,3}or|or|to|and|&|\||~|,(?=\s{1,3}(?:maybe|perhaps|possibly)))\s{1,3}"
    r"(?:(?:maybe|perhaps|possibly|even)\s{1,3})?(?:an?\s{1,3}(?=[\d(\"]))?"
    r"|\s{0,3}(?:-{1,2}>|→)\s{0,3}|\s{0,3}[-~|]\s{0,3}|\s{0,2}/\s{0,2}"
)
"""Before a second alternative: "3 or 4", "3-4"."""
COMMA = re.compile(r"\s{0,3}[,|]\s{0,3}(?:or\s{1,3}|and\s{1,3})?")
# Right before the wording of a score: what denies it or only supposes it
_DENIED = re.compile(
    r"""
    (?:\bnot|n't|\bnever|\bcannot|\bhardly|\bneither|\bnor|\bno|\bshort\sof|\binstead\sof
       |\brather\sthan|\bbelow|\babove|\bthan|\bat\sleast|\bat\smost|\bunder|\bover|\bwithout)
    \s+(?:(?:quite|really|be|have|been|a|an|the|it|this|for|get|give|giving|given|getting|reach|reaching
       |earn|earning|deserve|deserving|answer|choose|pick|select|call|rate|receive|receiving|warrant|merit|worth|enough|go|perfect|full|to|say|that|\w+ly)\s+){0,6}$
    | \b(?:don't|didn't|wouldn't|couldn't|can't|cannot|(?:would|do|did|can|could)\snot)
      \s(?:think|believe|say|call|agree|see|consider|find|justify|claim)\b[^,;]*$
    | \b(?:prevent\w*|keep\w*|stop\w*|bar\w*)\s(?:\w+\s){0,3}from\s+(?:\w+\s+){0,4}$
    | \b(?:would|could|might|should)\s+have\s+(?:\w+\s+){0,3}$
    | \b(?:could|might|may)\s(?:\w+\s){0,3}$
    | \b(?:to|for)\s+(?:be|get|earn|receive|reach|achieve|deserve|merit|obtain|attain|warrant
       |qualify|score)\s(?:for\s)?(?:an?\s|the\s)?(?:\w+\s){0,2}$
    | \b(?:tempted|considered|considering|thought\s(?:of|about)|thinking\s(?:of|about)
       |initially|first|inclined|wanted|hesitat\w+|debat\w+|argue\sfor|going\sto)\s+(?:\w+\s+){0,4}$
    | \bto\s+(?:\w+ly\s+)?$
    | \b(?:if|unless|whether|were|had)\s+(?:\w+\s+){0,5}$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:^|[,;:]|\b(?:and|but|that|because|since))\s{0,3}(?:if(?!\s(?:forced|pressed|i\s(?:had|have|must)))|unless|assuming|provided|were\s(?:it|the|this)|had\s(?:it|the|this)"
    r"|wenn|falls)\s[^.!?;\n]*,[^.!?;\n]*$",
    re.IGNORECASE,
)
# After a score: what makes it a supposition, a line of the scale's description, or another's
_SUPPOSED = re.compile(
    r"[^.!?;\n]{0,60}\b(?:if\s+(?!i\s(?:had|have)\sto|i\smust|forced|pressed|you\sinsist|only\sjust)"
    r"|had\s(?:it|the|this)|were\sit|but\sfor\b|unless\b)",
    re.IGNORECASE,
)
_RUBRIC = re.compile(
    r"\s+(?:would\s(?!be\s(?:fair|appropriate|right|suitable|more\sa))|requires?|needs|is\s(?:reserved|for|only|given\s(?:to|when|if|for)|what)|means|indicates|represents"
    r"|being|is\swhat|=)\b|\s(?:is|are|was)\s(?:wrong|an?\s(?:attempt|injection|attack))",
    re.IGNORECASE,
)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range))\w", re.IGNORECASE)
_AND = (
    r"and|but|so|thus|hence|therefore|which|for\b|earn|result|lead|giv|making|scor|receiv|deserv"
    r"|merit|warrant"
)
_TOLD = (
    r"says|said|saying|me\ssay|reads?|(?<!the\s)claims|claimed|states?|contains?|includes?|asks?|asking|tells?|told|demands?|instructs?"
    r"|insists?|orders?|requests?|outputs?|writes?|ends?\swith|ignor(?:e|es|ing)|example|e\.g\.|such\sas|the\sline|quotes?|begs?|wants?"
    r"|(?:answer|reply|respond|ask|asks|end)\swith|different\ssummary"
)
_OTHERS = (
    r"(?:another|other|some|many|most|previous|earlier)\s(?:\w+\s)?(?:judges?|raters?|people|critics?|reviewers?|readers?|annotators?)"
    r"|critics?|jury|jurors|film|movie|match|minister|people|someone|somebody|anyone|one\smight|author"
)
_REPORTED = re.compile(
    r"^\s{0,8}>|(?:\b(?:in|from)\s|^\W{0,9})the\s(?:summary|text|article|source)\s?:[^.;!?\n]{0,60}$|"
    rf"\b(?:{_TOLD})\b(?:(?!\b(?:{_AND}))[^.,;!?\n]){{0,60}}$"
    rf"|\b(?:says|claims?|states?|insists?|argues?|asks?|tells?|demands?|instructs?)\s(?:\w+\s){{0,2}}?(?:that|to)\s"
    rf"(?:(?!\b(?:and|but|so|thus|which|therefore|result|earn|lead))[^.,;!?\n]){{0,60}}$"
    rf"|\b(?:{_OTHERS})\s(?:(?!\b(?:and|but|so|thus|which|therefore|result|earn|lead))[^.,;!?\n]){{0,40}}$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[\"'`]?\s{1,3}(?!because|since|as|due|for|out|with|and|but)[a-z]")
_SENTENCE = re.compile(r"(?<!e\.g)[.!?;](?=\s)|(?<!:)(?<!: )\n")
_LOOK_BACK = 160


def continues(text: str, end: int) -> bool:
    """Whether the word or number goes on past `end`: "5-year", "2-1", "3.1", "B+"."""
    return bool(_CONTINUES.match(text, end))


def ends(text: str, end: int, *, strictly: bool = False) -> bool:
    """Whether an answer may end here, rather than count the noun that follows ("3 goals")."""
    if continues(text, end):
        return False
    return bool((_STRICT_END if strictly else _ENDS).match(text, end))


def denied(text: str, start: int, end: int) -> bool:
    """Whether the answer worded from `start` to `end` is denied, or only supposed."""
    after = _SUPPOSED.match(text, end) or _RUBRIC.match(text, end)
    return supposed_before(text, start) or bool(after)


def _sentence_before(text: str, start: int) -> str:
    """Return the sentence up to `start`; a line that ends with a colon belongs to the next one."""
    return _SENTENCE.split(text[max(0, start - _LOOK_BACK) : start])[-1]


def supposed_before(text: str, start: int) -> bool:
    """Whether what stands before `start` denies it, or only supposes it."""
    before = _sentence_before(text, start)
    return bool(_DENIED.search(before) or _CONDITION.search(before))


def reported(text: str, start: int) -> bool:
    """Whether what begins at `start` is told of others: "The summary says Verdict: 5"."""
    return bool(_REPORTED.search(_sentence_before(text, start)))


def by_others(text: str, end: int) -> bool:
    """Whether a score that ends there was given by others: "4 stars from critics"."""
    return bool(_BY.match(text, end))


def amid_a_sentence(text: str, end: int) -> bool:
    """Whether the sentence goes on after a form that ends there, and so only speaks of it."""
    return bool(_GOES_ON.match(text, end))
