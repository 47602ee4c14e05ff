"""The words in which verdicts are given, as patterns over a cleaned text in small letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairjudge.parsing import _languages as words
from fairjudge.parsing._answers import Answer
from fairjudge.scales import Scale

NUMERAL = r"(?:\d|★|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)"
_HEAD = (
    r"(?:verdicts?|scores?|ratings?|rated?|final|overall|answer|grade|judge?ment|decision|choice"
    r"|preference|preferred|winner|conclusion|result|label|evaluation|assessment|stars|vote"
    r"|selection|pick|classification|option|awarded|mine|corrected|adjusted|revised|updated|output"
    rf"|better|best|level|{words.LABEL})"
)
_ALONE = r"(?<![a-zà-ÿа-яё])"
HEAD = re.compile(rf"{_ALONE}{_HEAD}(?![a-zà-ÿа-яё])")
LABELLED = re.compile(
    rf"(?:(?<=\s)(?=(?:final\s)?{_HEAD}\s{{0,3}}[:=])|"
    r"^[ #>|•\"'(\[{-]{0,200}(?:\d{1,2}[.)]\s{1,3})?|(?<=[.;,!?:(|\]]\s)|(?<=\s-\s)|(?<=[。,(:|>])"
    r"|(?<=[ ]{3}))(?P<label>(?:\d(?=[a-z]))?[^\W\d][^\n:=|.;!?,()\[\]→]{0,70}?)[ ]{0,3}"
    r"(?:[(\[][^()\[\]\n]{0,40}[)\]][ ]{0,3})?"
    r"(?:\s{0,120}(?:[:=]>?|→|\.{3,40}|\s-{1,2}(?=\s))[ ]{0,20}"
    r"|(?P<below>(?=\n))|(?P<row>(?:\|[ ]{0,9}){1,8})"
    rf"|(?<=score|grade)\s(?={NUMERAL})|(?<=rating)\s(?={NUMERAL})|(?<=verdict|overall)\s(?={NUMERAL}))",
    re.MULTILINE,
)
"""A label from where a line, sentence or part of one begins up to its sign: "Score (1-5):"."""
SAYS = re.compile(
    rf"{_ALONE}(?P<label>{_HEAD}(?:\s(?:for|of|on|to|assigned|given)(?:\s[\w'#-]{{1,30}}){{1,6}}?|\si\s(?:would|will)?\s?(?:assign|give))?)"
    r"(?:\s{1,60}(?:is|would\sbe|will\sbe|should\sbe|becomes|stands\sat|est|es|ist|è|é)\b\s{0,3}[:,]?\s{0,4}|(?:是|为|は|[는은])\s?)"
)
"""A sentence that names the score: "my final score for this is 4"."""
AFTER_SIDE = re.compile(
    rf"^.{{0,60}}{words.NOUN}\s[12ab]\s(?=(?:final\s)?(?:winner|verdict|better)$)"
)
"""What may stand before a label where no sign ends the line before: "Summary 1 Winner: ..."."""
UNDERLINE = re.compile(r"\n[-=\s]{0,40}")
FINAL = re.compile(
    r"final|overall|verdict|decision|conclusion|\bdefinitive|revised|adjusted|updated|corrected"
    rf"|{words.FINAL}"
)
OF_ELSE_PAIR = re.compile(
    r"\b(?:confidence|max|min|preliminary|draft|initial|example|sample|not|never|no(?=\s(?!doubt|question))|margin"
    r"|to\sbest|to\sworst|equally|certainty|scale)\b|\?"
    rf"|{words.NOUN}\s(?:[12]|(?-i:[ab]))\b"
)
OF_ELSE = re.compile(
    OF_ELSE_PAIR.pattern
    + r"|\b(?:passing|previous|first|baseline|threshold|target|expected|difficulty|average|mean"
    r"|prior|original|second|last|other|another|worst|worse|wrong|human|median|reference|user|highest|lowest"
    r"|possible|maximum|minimum|pass\smark|old|former|film|match|before|after|weight|article|without|earlier)\b"
)
"""Labels of what is no verdict on this summary."""
GOOD = re.compile(
    r"\b(?:verdict|winner|answer|conclusion|decision|preference|choice|better|best|top|preferred|pick"
    r"|strong(?:er|est)|overall|final|vs"
    r")\b|^(?:the\s)?(?:more|most)\s(?!\w*(?:error|mistake|omission|hallucination|issue))\w+(?:\s\w+)?$"
    r"|^(?:the\s)?(?:first|1st|gold|rank(?:ed)?\s1|1)(?:\s(?:place|prize|choice))?$"
    rf"|{words.WINNER}|{words.BETTER}|{words.LABEL}"
)
BAD = re.compile(
    r"\b(?:wors[et]|worst|second|2nd|last|silver|runner-up|loser|lost|weak(?:er|est)|reject\w*|eliminated"
    rf"|discard\w*|(?:less|least)\s(?!\w*(?:error|mistake|omission|hallucination|issue))\w+|hallucinates|(?:more|most)\s\w*(?:error|mistake|omission|hallucination|issue)s?)\b|{words.WORSE}"
)
OWN = re.compile(
    rf"(?:\b(?:{_HEAD}|the|a|an|our|your|this|that|so|therefore|thus|hence|is|and|but|summary's|it|its|in|of|for"
    r"|with|correct|fair|appropriate|suitable|given|following|single|perfect|here|as|to|by|or|summary|we|i|would"
    r"|consequently|assign|give|own|proposed|recommended|suggested|most|new|actual|ma|mein|meine|mon|mi|la|le|il|моя"
    r"|scores)\b[\s'-]{0,3})*"
)
FAULTS = re.compile(
    r"reason|explan|confiden|certain|error|hallucinat|missing|wrong|unsupported|contradict|omi(?:t|ss)"
    r"|incorrect|inconsist|unfaithful|fabricat|fault|wors|loser|reject|weak|max|min|count|num|absent|^n_"
    r"|^(?:not|no)[_\s](?!doubt)|invent|left\sout|false|lack"
)
"""Names of what is no verdict, or of what is bad."""
QUALITY = re.compile(
    r"(?:ness|(?<!ant)ity|ency|ance|(?<!sent)ence|acy|ism|sion|tion)\b"
    r"|\b(?:coverage|style|grammar|spelling|structure|clarity|points|précision|therefore|thus|hence|so|assistant)\b"
)
"""Names of qualities that are rated, rather than of what is measured ("Length: 3")."""
COUNTED = re.compile(
    r"\b(?:errors?|omissions?|mistakes?|hallucinations?|facts?|claims?|counts?|number|answers?"
    r"|questions?|summary|articles?|sources?|steps?|sentences?|missing|issues?|words?|time|reviewer)\b"
)
TOP = re.compile(r"(?:out\sof|max\w*|[-/]|\bto)\s?(\d{1,3})\b")
FORM = re.compile(
    rf"['\"]{_HEAD}['\"]\s{{0,4}}:\s{{0,4}}|\[\[|\[result\]\s{{0,4}}|#{{4}}\s|\\boxed\{{(?:\\text(?:bf)?\{{)?"
    rf"|<(?:final_)?{_HEAD}(?:\s[^<>\n\d]{{0,30}}(?P<top>\d{{1,4}})?[\x22\x27 ]?)?>\s{{0,8}}"
)
FOREIGN = re.compile(r"[(\[\"']?(?:[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?)(?![\w+-])")
RECKONED = re.compile(
    rf"{_ALONE}{_HEAD}\s{{0,3}}:\s{{0,3}}[(\d][^\n=]{{0,70}}[-+*/][^\n=]{{0,70}}=\s{{0,3}}(?=\d)(?!\d[\d.]*\s?%)"
)
"""A score that is reckoned out: 5, less 1 for an omission and 1 for a wrong date, makes 3."""
EDGE = re.compile(
    r"(?:[\s#>→()\[\"'•|_=:$✅❌✔]|-(?!\d)){0,200}(?:(?:an?|level)\s(?=[\d★])|(?:definitely|clearly|surely)\san?\s(?=\d)"
    r"|(?:definitely|clearly|surely|certainly|it's|it\sis|so|therefore|thus|hence),?\s"
    r"(?=(?:the\s)?(?:summary|option|first|second|yes|no|true|false)\b|[A-E]\W)|(?:overall|insgesamt|total),?\s(?=\d)"
    r"|(?:an?\s)?(?:solid|strong|clear|firm|definite|resounding|weak|perfect)\s)?",
    re.IGNORECASE,
)
BREAK = re.compile(
    r"(?:(?P<weak>[:,]\s{1,3}|\s-\s)|[.!?;](?=\s|\()\s{0,3}\(?|\(|\b(?:so|thus|therefore|hence)[,:]?\s)",
    re.IGNORECASE,
)
"""Before a last sentence, or before what a last sentence ends in."""
NO_LAST = re.compile(
    r"\b(?:in|of|from|summary|article|sentence|line|page|point)\s?$|(?:^|\n)\W{0,3}\d[.)]\s{0,3}$"
)
_VERB = (
    r"(?:giv(?:e|ing)|gave|rat(?:e|ed|ing)|assign(?:ed|ing)?|scor(?:e|ed|ing)|award(?:ed|ing)?|graded?|put|place|mark"
    r"|rank|call|say|answer|think|believe|go(?:ing)?\s(?:with|for)|choose|chose|pick|select|settl(?:e|ed)\s(?:on|at)"
    r"|vote\sfor|lean\s(?:towards?|to)|opt\sfor|judge|(?:conclude|stick)\swith|deem)"
)
SAID = re.compile(
    rf"\b(?:(?:i|we)(?:'d|'ll|'m|'ve|\s(?:would|will|have|am|must|can|shall))?(?:\s\w{{1,12}}ly|\s(?:still|then|also|have\sto|therefore|thus|hence))?\s{_VERB}"
    rf"|(?:let\sme|let's)\s{_VERB}|settl(?:ed|ing)\son"
    r"|(?P<revises>(?:i(?:'d|'ll|'m|\s(?:would|will|must|have\sto|now))?|let\sme|let's)\s(?:lower|rais|revis|chang|adjust|downgrad|upgrad|reduc"
    r"|bump|drop|correct|updat|mov)(?:e|es|ed|ing)?\s(?:it|that|this|my|the\s(?:score|rating))"
    r"|(?:score|rating)(?:\sof\s\d)?(?:\s(?:is|was|went|goes|drops|falls|rises|lowered|raised|revised|adjusted|updated|down|up))+(?=\s(?:from|to|down|up)\b))"
    r"|ich\s(?:gebe|vergebe|würde)|je\s(?:lui\s)?(?:donne(?:rais)?|met(?:s|trais)|attribue)|j'attribue|le\s(?:doy|pongo)|dou\snota"
    r"|ставлю|я\sбы\sпоставил)\b|我(?:会|可以)?给|[给打](?=\d)"
)
_CRITERION = (
    r"(?:\w+ness|\w+(?:ency|ence|ance|acy|ity)|coverage|consistent|relevant|coherent|fluent)"
)
_OBJECT = r"(?:(?:it|itself|this|the\s{1,3}summary|this\s{1,3}summary)\s{1,3})?"
MENTIONED = re.compile(
    r"\b(?:(?:scores?|ratings?|grade|mark|points|marks:)\s{1,3}(?:of|at|as)\s{1,3}|option\s{1,3}"
    r"|(?:summary|one|it|this|thus|therefore|hence|so|and)\s(?:scores|gets|earns|receives|rates)\s{1,3}"
    r"|(?:this|it|that|summary)(?:'s|\s(?:is|was))\s(?:only\s|just\s|clearly\s|definitely\s)?(?=an?\s)"
    r"|(?:earn|receiv|deserv|merit|scor|get|rat|warrant|garner|achiev|award|assign|giv|call|mak)"
    rf"(?:e|es|ed|en|s|ing|ting)?\s{{1,3}}{_OBJECT}(?:only\s{{1,3}}|just\s{{1,3}})?(?=(?:an?|at|as)\s|\d\s?(?:/|out\s|points|stars|of\s\d))"
    r"|(?:plac|put|land|rank)(?:e|es|ed|ing|s|ting)?\s(?:it|this|the\ssummary)?\s?at\s"
    r"|(?:it|this|summary)\s(?:is|was)\s(?:given|awarded|assigned|rated|scored|graded)\s"
    r"|(?:score|rating)\s(?:drops|falls|goes|rises|comes)\s(?:down\s|up\s)?to\s"
    r"|(?:deserves|merits|warrants|rated|rates|(?:rating|rated|scored|scoring|giving|gave)\sit|scoring)\s{1,3}"
    r"|(?:(?<=but\s)|(?<=just\s)|(?<=only\s)|(?<=then\s))an?\s"
    rf"|{_CRITERION}(?:\s(?:score|rating))?,?\s(?:of\s|at\s|is\s|=\s|score\s|scoring\s|rating\s)?(?={NUMERAL}\s{{0,2}}[.!]?\s{{0,9}}$|{NUMERAL}\s(?:out|/))"
    r"|note\sde\s(?=\d[\d.,]{0,3}\s?(?:/|sur\b))|(?:mérite|otorgo|doy)\s(?:un[ea]?\s)?(?:puntuación\sde\s)?"
    r"|(?:claim|statement|it|this|answer)\s(?:is|would\sbe)\s(?=\w))"
    r"|(?:选项|我选)[:\s]{0,2}|(?:スコア|評価|点数)は\s{0,8}|(?:评分|分数|得分|评价)[是为]|(?:점수|평점)[는은]\s?"
)
SECOND_THOUGHT = re.compile(
    r"\b(?:actually|(?:on|upon)\s(?:second\sthoughts?|reflection|reconsideration)|wait|hmm+|scratch\sthat|make\sthat|make\sit)[\s,.:;-]{1,6}"
    r"|(?:^|[.,!?;(]\s{0,3}|\n)[ #>]{0,6}(?:correction|rather|no(?=,)|sorry|edit|update|revised)"
    r"(?:[,.:;-]\s{0,3}|\s)"
)
REVISED = re.compile(
    r"\b(?:actually|(?:on|upon)\s(?:\w+\s)?(?:reflection|reconsideration|thoughts?)|wait|hmm+"
    r"|correct(?:ion|ed|ing)|scratch\sthat|rather|no,|no\s(?=\w)|sorry|edit|update[ds]?|revis\w+|make\s(?:that|it)"
    r"|clos(?:er|e)\s(?:look|reading|inspection)|reconsider\w*|re-?(?:read|check|evaluat|think)\w*"
    r"|chang\w+|adjust\w*|lower(?:ed|ing)?|rais(?:e|ed|ing)|downgrad\w+|mistaken|overlooked|mixed"
    r"|settl(?:e|ed)|after\schecking)\b"
)
REVERSED = re.compile(
    r"(?:^|[.!?\n]\s{0,3})(?:actually|wait|hmm+|scratch\sthat|correction|(?:on|upon)\s(?:reflection|second\sthoughts?))\b",
    re.IGNORECASE,
)
TURNED = re.compile(
    r"\b(?:but|however|although|though|while|yet|so|therefore|thus|hence|overall|instead|ultimately"
    r"|conclusion|final(?:ly)?|consequently|i'd|i|not|given)\b"
)
FILL = re.compile(
    r"(?:(?:(?-i:an?)\s|(?:the|about|level|approximately|roughly|around|option|choice|answer|score|rating|of|at|as"
    r"|solid|strong|clear|firm|perfect|full|weak|mere|low|high|respectable|only|just|be|it\s{1,3}is|it's|is|un|une|een"
    r"|i'd\s{1,3}say|definitely|straight|therefore|thus|now)\b|[~≈>|:=→{\[(<\"'$✅❌-])\s{0,4}){1,5}",
    re.IGNORECASE,
)
NOT_BETWEEN = re.compile(rf"\b(?:between|not|if|either|or|never|no)\b|n't\b|{words.NOT}")
_WINDOW_END = re.compile(r"[!?;\n]|\.(?!\d)(?!\.)")
_WORD = re.compile(
    r"(?<![a-z0-9.,/:$€£-])(?!(?:(?<=this\s)|(?<=that\s)|(?<=the\s))one\b)[a-z0-9★(\[\"]",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"(?:(?<!the\s)(?<!this\s)\b(?:summary|summaries|article|source|sentence|paragraph|point|question|from|step|#|no\.|number"
    r"|all|these|those|scale|(?<!score\s)(?<!rating\s)of)\s{0,3}|[a-z0-9$€£#/.,-])$",
    re.IGNORECASE,
)
"""After these a number or letter is a name or a part of something."""


def places(text: str, start: int, *, far: bool) -> Iterator[int]:
    """Yield where an answer may begin after a wording: right there, or `far` in its sentence."""
    filler = FILL.match(text, start)
    yield start
    if not far:
        yield from [filler.end()] if filler else []
        return
    end = min(len(text), start + 90)
    stop = _WINDOW_END.search(text, start, end)
    for word in _WORD.finditer(text, start, stop.start() if stop else end):
        if not _NO_ANSWER.search(text[max(0, word.start() - 20) : word.start()]):
            yield word.start()


_FAULTY = (
    r"(?:missing|absent|omitted|lacking|wrong|false|incorrect|unsupported|uncovered|left\sout)"
)
_CLAIM = re.compile(
    rf"\b(?P<none>nothing|none)?(?:it|this|that|answer|claim|statement|information)?(?:\s(?:is|was|are)|'s)"
    rf"(?P<not>n't|\snot)?\s(?:\w+ly\s)?(?:(?P<bad>{_FAULTY})|covered|mentioned|stated|present|conveyed|supported"
    r"|included|correct)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(r"\b(?:so|therefore|thus|hence),?\s$", re.IGNORECASE)


_SAYS_YES = dict.fromkeys(("yes", *words.YES), 1.0) | dict.fromkeys(("no", *words.NO), 0.0)
_TOKEN = re.compile(
    r"(?:^|[.?!;,]|\s-(?=\s)|\b(?:but|aber|mais|pero|and|und|et|so|thus|therefore|hence)(?=\s))"
    rf"[\s\"]{{0,9}}(?P<said>{'|'.join(_SAYS_YES)})(?=[\s\"]{{0,3}}(?:[.,;!:\n]|$))",
    re.IGNORECASE | re.MULTILINE,
)


def is_contradicted(text: str, answer: Answer, scale: Scale) -> bool:
    """Whether the sentence around a yes or no says its contrary: "No, it isn't absent"."""
    if set(scale.answers) != {"yes", "no"} or answer.value is None:
        return False
    rest = re.match(r"[^.!?\n]{0,200}", text[answer.end :])
    if rest and answer.value == 1.0 and re.fullmatch(r",?(?:\s\w+){0,2}\snot", rest[0]):
        return True
    if rest and (claim := _CLAIM.search(rest[0])):
        faults = [claim["none"], claim["not"], claim["bad"], "n't" in rest[0][: claim.start()]]
        if (sum(map(bool, faults)) % 2 == 1) == (answer.value == 1.0):
            return True
    before = text[max(0, answer.start - 210) : answer.start]
    asked = re.search(r"([^.?!\n]{0,200})\?\s{0,3}$", before)
    return bool(asked and re.search(rf"\b{_FAULTY}\b", asked[1], re.IGNORECASE))


def yes_and_no(text: str) -> frozenset[float]:
    """Return the values of each yes and no that `text` says by itself, also in other languages."""
    return frozenset(_SAYS_YES[match["said"].lower()] for match in _TOKEN.finditer(text))


def is_opposed(text: str, answer: Answer, said: frozenset[float]) -> bool:
    """Whether a bare yes or no stands beside its contrary: "Yes, no"; "so no" is above that."""
    concludes = _CONCLUDES.search(text[max(0, answer.start - 12) : answer.start])
    return not concludes and bool(said - {answer.value})
