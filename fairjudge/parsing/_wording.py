"""The words in which verdicts are given, as patterns over a cleaned text in small letters."""

from __future__ import annotations

import re

NUMERAL = r"(?:\d|★|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)"
_ALONE = r"(?<![^\W\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])"
"""No word goes on here; scripts that put no space between words may."""
_HEAD = (
    r"(?:verdicts?|scores?|ratings?|rate|final|overall|answer|grade|judge?ment|decision|choice"
    r"|preference|preferred|winner|conclusion|result|label|evaluation|assessment|stars|vote"
    r"|selection|pick|classification|option|awarded|mine|corrected|adjusted|revised|updated"
    r"|(?:better|best)(?:\s(?:summary|one|response|answer|output))?"
    r"|(?:最终|综合|总体?|最終|総合)?(?:评分|分数|得分|打分|评价|答案|结论|裁决|判断|評価|スコア|点数)|总分|점수|평가|평점"
    r"|puntuación(?:\sfinal)?|puntaje|calificación|(?:gesamt)?(?:bewertung|note|urteil)|endnote|punktzahl|wertung"
    r"|nota|pontuação|veredi[ct]to|note(?:\s(?:finale|globale))?"
    r"|voto|punteggio|valutazione|giudizio(?:\sfinale)?"
    r"|оценка|балл|вердикт|ответ|التقييم|الدرجة|النتيجة|स्कोर|अंक)"
)
_OF = (
    r"(?:\s{1,3}(?:for|of|on|to|assigned|given|out\s{1,3}of)(?:\s{1,3}[\w'#-]{1,30}){1,6}?"
    r"|\s{1,3}i\s{1,3}(?:would|will|'d)?\s?(?:assign|give))?"
)
FINAL = re.compile(
    r"final|overall|verdict|decision|conclusion|\bdefinitive|revised|adjusted|updated|corrected"
    r"|gesamt|endnote|finale|globale|urteil|veredi|giudizio|最终|综合|总|最終|総合|вердикт"
)
ELSEWHERE = re.compile(
    r"\b(?:confidence|max|min|passing|previous|initial"
    r"|preliminary|draft|first|baseline|threshold|target|expected|certainty|difficulty|average|mean"
    r"|prior|original|second|last|other|another|worst|worse|wrong|example|sample|human|median)\b"
    r"|\bof\s(?:an?|the)\s(?:maximum|minimum|highest|lowest)\b"
)
OF_ELSE = re.compile(ELSEWHERE.pattern + r"|\b(?:highest|lowest|possible|maximum|minimum)\b")
"""For a label: "lowest score: 1" is of the scale, "earning the lowest score of 1" is not."""
OWN = re.compile(
    r"(?:\b(?:my|the|a|an|our|your|this|that|so|therefore|thus|hence|is|and|but|summary's|it|its|in|of|for|with|correct|fair|appropriate|suitable|given|following|single|perfect|best|better|here|as|to|by|or|answer|score|rating|final|overall|consequently|assign|own|proposed|recommended|suggested|most)\b\s{0,3})*"
)
# Labels and a sign, as "Verdict: 4", "Score for consistency (1-5) = 4", "Overall.....4"
LABELLED = re.compile(
    rf"{_ALONE}(?P<head>{_HEAD}){_OF}(?:\s{{0,3}}[(\[][^()\[\]\n]{{0,40}}[)\]])?\s{{0,120}}(?:[:=→]|\.{{3,40}})\s{{0,20}}"
)
# What was asked for in so many forms: "[[B]]", "[RESULT] 4", "<score>4", "\boxed{4}"
FORM = re.compile(
    rf"['\"]{_HEAD}['\"]\s{{0,4}}:\s{{0,4}}|\[\[|\[result\]\s{{0,4}}|#{{4}}\s|\\boxed\{{(?:\\text(?:bf)?\{{)?|<(?:final_)?{_HEAD}"
    rf"(?:\s[^<>\n\d]{{0,30}}(?P<top>\d{{1,4}})?[\x22\x27 ]?)?>\s{{0,8}}"
)
# A score that is reckoned out: 5, less 1 for an omission and 1 for a wrong date, makes 3
RECKONED = re.compile(
    rf"{_ALONE}{_HEAD}\s{{0,3}}:\s{{0,3}}[(\d][^\n=]{{0,70}}[-+*/][^\n=]{{0,70}}=\s{{0,3}}(?=\d)(?!\d[\d.]*\s?%)"
)
# "the answer is B", "my score for this would be 4", and "Score - 4" where a sentence begins
SAID = re.compile(
    rf"(?<!\w)(?P<head>{_HEAD}){_OF}\s{{1,3}}(?:is|would\sbe|will\sbe|should\sbe|becomes|stands\sat)\b"
    r"\s{0,3}[:,]?\s{0,4}"
    r"|(?:^|[.;!?]\s)[ #>|•-]{0,8}(?:(?:final|overall|my|the)\s{1,3}){0,2}"
    rf"(?:verdict|scores?|ratings?|grade|stars|level|judge?ment|decision|winner|preference)[\s|-]{{1,8}}(?={NUMERAL})",
    re.MULTILINE,
)
_CRITERION = (
    r"(?:consistency|relevance|coherence|fluency|faithfulness|coverage|accuracy|quality|readability"
    r"|informativeness|completeness|conciseness|factuality|consistent|relevant|coherent|fluent)"
)
_OBJECT = r"(?:(?:it|itself|this|the\s{1,3}summary|this\s{1,3}summary)\s{1,3})?"
# "earning a score of 3", "deserves a 4", "a perfect consistency of 5"
MENTIONED = re.compile(
    r"\b(?:(?:scores?|ratings?|grade|mark|points)\s{1,3}(?:of|at|as)\s{1,3}|(?:option|choice)\s{1,3}"
    r"|(?:summary|it|this|thus|therefore|hence|so|and)\s(?:scores|gets|earns|receives|rates)\s{1,3}"
    r"|(?:this|it|that|summary)(?:'s|\s(?:is|was))\s(?:only\s|just\s|clearly\s|definitely\s)?(?=an?\s)"
    r"|(?:earn|receiv|deserv|merit|scor|get|rat|warrant|garner|achiev|award|assign|giv|call|mak)"
    rf"(?:e|es|ed|en|s|ing|ting)?\s{{1,3}}{_OBJECT}(?:only\s{{1,3}}|just\s{{1,3}})?(?=(?:an?|at|as)\s)"
    r"|(?:plac|put|land|rank)(?:e|es|ed|ing|s|ting)?\s(?:it|this|the\ssummary)?\s?at\s"
    r"|(?:it|this|summary)\s(?:is|was)\s(?:given|awarded|assigned|rated|scored|graded)\s|mak(?:es|ing)\sit\sscore\s"
    r"|(?:score|rating)\s(?:drops|falls|goes|rises|comes)\s(?:down\s|up\s)?to\s"
    r"|(?:bring|drop|reduc|lower|rais|limit)(?:e|es|ed|ing|ping|s)?\s(?:the|its|this)\s(?:\w+\s)?(?:score|rating)\s(?:down\s|up\s)?to\s"
    r"|(?:deserves|merits|warrants|rated|rates|(?:rating|rated|scored|scoring|giving|gave)\sit)\s{1,3}"
    r"|(?<!anything\s)(?<!nothing\s)(?:but|just|only|then)\san?\s"
    rf"|(?:{_CRITERION}|,)\s(?:scor(?:e|ing)|rating)\s(?:(?:of|at|is)\s)?(?={NUMERAL})"
    rf"|{_CRITERION}\s?(?:of|at|=|:)\s(?={NUMERAL})|{_CRITERION},?\s(?={NUMERAL}\s{{0,2}}[.!]?\s{{0,9}}$)"
    r"|note\sde\s(?=\d[\d.,]{0,3}\s?(?:/|sur\b))|(?:mérite|otorgo|doy)\s(?:un[ea]?\s)?(?:puntuación\sde\s)?)"
    r"|(?<!\w)[给打](?=\d)|我给[^.!?;\n\d]{0,12}|(?:我|本人|可以)[^.!?;\n]{0,20}[打给][了出]?\s?|(?:选项|我选)[:\s]{0,2}|(?:スコア|評価|点数)は\s{0,8}|(?:评分|分数|得分|评价)[是为]|(?:점수|평점)[는은]\s?"
)
BARE = re.compile(
    rf"(?<![\w.,/:$€£★!<>=-])(?={NUMERAL})|\b(?:so|therefore|thus|hence|is|are|be|as|call\sit)[,:]?\s{{1,3}}|\?\s{{1,3}}"
)
_VERB = (
    r"(?:give|gave|giving|rate|rated|rating|assign|assigned|assigning|score|scored|scoring|award|awarded|awarding"
    r"|grade|graded|put|place|mark|rank|call|say|answer|think|believe|go\s(?:with|for)|going\s(?:with|for)|choose|pick"
    r"|select|prefer|favou?r|settle\son|settled\son|vote\sfor|lean\s(?:towards?|to)|chose|opt\sfor|judge"
    r"|conclude\swith|stick\swith|deem|consider)"
)
FIRST_PERSON = re.compile(
    rf"\b(?:i(?:'d|'ll|'m|'ve|\s(?:would|will|have|am|must|can|shall))?(?:\s\w{{1,12}}ly|\sstill|\sthen|\salso|\shave\sto)?\s{_VERB}\b"
    rf"|(?:let\sme|let's|let\sus)\s{_VERB}\b"
    r"|(?P<revises>(?:\bi(?:'d|'ll|'m|\s(?:would|will|must|have\sto|am|now|therefore|thus))?\s(?:\w{1,12}\s)?|let\sme\s|let's\s|^\W{0,9})"
    r"(?:lower|rais|revis|chang|adjust|downgrad|upgrad|reduc|bump|drop|increas|correct|updat|mov|amend)(?:e|es|ed|ing|ping|ped|s)?"
    r"\s(?:it|that|this|my|the\s(?:score|rating|verdict|grade))"
    r"|(?:score|rating|grade|verdict)(?:\sof\s\d)?(?:\s(?:is|was|went|goes|has\sbeen|drops|falls|rises|lowered|raised|revised|changed|adjusted|reduced|updated|down|up)){1,3}(?=\s(?:from|to|down|up)\b))\b"
    r"|settl(?:e|ed|ing)\son\b|ich\s(?:gebe|vergebe|würde)\b|je\s(?:donne(?:rais)?|met(?:s|trais))\b|le\s(?:doy|pongo)\b"
    r"|\bdou\snota\b|ставлю\b|я\sбы\sпоставил)"
)
SECOND_THOUGHT = re.compile(
    r"\b(?:actually|on\s(?:second\sthoughts?|reflection|reconsideration)|upon\sreflection|wait|hmm+"
    r"|scratch\sthat|make\sthat|make\sit)[\s,.:;-]{1,6}"
    r"|(?:^|[.,!?;(]\s{0,3}|\n)[ #>]{0,6}(?:correction|rather|no|sorry|edit|update|revised)"
    r"(?:[,.:;-]\s{0,3}|\s)"
)
REVISED = re.compile(
    r"\b(?:actually|(?:on|upon)\s(?:\w+\s)?(?:reflection|reconsideration|thoughts?)|wait|hmm+"
    r"|correct(?:ion|ed|ing)|scratch\sthat|rather|no,|no\s(?=\w)|sorry|edit|update[ds]?|revis\w+|make\s(?:that|it)"
    r"|clos(?:er|e)\s(?:look|reading|inspection)|reconsider\w*|re-?(?:read|check|evaluat|think)\w*"
    r"|chang\w+|adjust\w*|lower(?:ed|ing)?|rais(?:e|ed|ing)|downgrad\w+|mistaken|overlooked"
    r"|settl(?:e|ed)|after\schecking)\b"
)
TURNED = re.compile(
    r"\b(?:but|however|although|though|while|yet|so|therefore|thus|hence|overall|instead|ultimately"
    r"|conclusion|final(?:ly)?|consequently|i'd|i|not|given)\b"
)
_FILL = re.compile(
    r"(?:(?:(?-i:an?)\s|(?:the|about|level|approximately|roughly|around|option|choice|answer|score|rating|of|at|as"
    r"|solid|strong|clear|firm|perfect|full|weak|mere|low|high|respectable|only|just|be|it\s{1,3}is|it's|is|un|une|een"
    r"|i'd\s{1,3}say|definitely|probably|likely|straight|therefore|thus|now)\b|[~≈>|:=→{\[(<\"'$-])\s{0,4}){1,5}",
    re.IGNORECASE,
)
_MODIFIERS = re.compile(r"[^\W\d](?:[\w'/&-]|[ ](?=[^\W\d])){0,60}[ ]$")
# What may stand before an answer that begins a line
EDGE = re.compile(
    r"(?:[\s#>→(\[\"'•|_=:$]|-(?!\d)){0,200}(?:(?:an?|level)\s(?=[\d★])|(?:definitely|clearly|surely)\san?\s(?=\d)"
    r"|(?:definitely|clearly|surely|certainly|it's|it\sis|so|therefore|thus|hence),?\s(?=(?:the\s)?(?:summary|option|first|second|yes|no|true|false)\b|[A-E]\W)"
    r"|(?:an?\s)?(?:solid|strong|clear|firm|definite|resounding|weak)\s)?",
    re.IGNORECASE,
)
# Lines and rows of a table that name a quality
NAMED_LINE = re.compile(
    r"^[ #>|•-]{0,12}(?P<name>[^\W\d][^\W\d -]{1,20}(?: [^\W\d]{1,20}){0,3})\s{0,3}"
    r"(?:[:=-]\s{0,4}|\|(?:(?:[^|\n]{0,200}\|){0,8})[ ]{0,9}(?=[^|\n]{1,40}\|?[ ]{0,9}$))",
    re.MULTILINE,
)
QUALITY = re.compile(
    r"(?:ness|(?<!ant)ity|ency|ance|(?<!sent)ence|acy|ism|sion|tion)\b"
    r"|\b(?:coverage|style|grammar|spelling|structure|clarity|output|points|level|précision|therefore|thus|hence|so|assistant)\b"
)
"""Names of qualities that are rated, rather than of what is measured ("Length: 3")."""
FAULTS = re.compile(
    r"reason|explan|confiden|certain|error|hallucinat|missing|wrong|unsupported|contradict|omi(?:t|ss)|incorrect"
    r"|inconsist|unfaithful|fabricat|fault|wors|loser|reject|weak|max|min|count|num|absent|^n_|^(?:not|no)[_\s](?!doubt)"
)
"""Names of what is no verdict, or of what is bad."""
# Names of what is counted, not rated
COUNTED = re.compile(
    r"\b(?:errors?|omissions?|mistakes?|hallucinations?|facts?|claims?|counts?|number|answers?"
    r"|questions?|summary|articles?|sources?|steps?|sentences?|missing|issues?|words?|time|reviewer)\b"
)
# After these a number or letter is a name or a part of something
NOT_AN_ANSWER = re.compile(
    r"(?:(?<!the\s)(?<!this\s)\b(?:summary|summaries|article|source|sentence|paragraph|point|question|from|step|#|no\.|number|all|these|those|scale|keine?|(?<!score\s)(?<!rating\s)of)\s{0,3}|[\w$€£#/.,-])$",
    re.IGNORECASE,
)
# After any other word a bare score is of something else (a film's stars)
AFTER_A_NOUN = re.compile(
    r"(?<!\w)(?!(?:an?|is|at|as|it|this|that|summary|so|thus|overall|be|to|with|solid|only|just"
    r"|about|around|deserves?|scores?|gets?|say|therefore|hence|final|rating|score|perfect|and|but"
    r"|approximately|roughly|get|earns?|rate|give|receives?|merits?|verdict|likely|full|une?|für"
    r"|probably|strong|weak|mere|or|maybe|perhaps|then|now|stay|stays|remains?|by|think|mark|note"
    r"|consistency|coverage|relevance|faithfulness|quality|coherence|fluency|accuracy"
    r"|(?:gett|scor|earn|receiv|deserv|merit|achiev|garner|warrant|giv)ing|поставил)\s)\w+\s{1,3}$",
    re.IGNORECASE,
)
AFTER_A_NAME = re.compile(r"(?:^|[\n,;(])\s{0,9}[^\W\d]\w{0,20}(?:\s\w{1,20})?\s?:\s{0,4}\(?$")
LAST_SENTENCE = re.compile(r"[.!?;:]\s{1,3}([^.!?;:\n]{1,40})[.!)\"' ]{0,5}$")
FOREIGN = re.compile(r"[(\[\"']?(?:[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?)(?![\w+-])")


def after_filler(text: str, place: int) -> tuple[int, ...]:
    """Return where an answer may begin: at `place`, or after "about", "a solid" and such."""
    filler = _FILL.match(text, place)
    return (place, filler.end()) if filler else (place,)


def modifiers(small: str, start: int) -> str:
    """Return the words right before a label on its line: "fluency " of "Fluency score"."""
    line = small.rfind("\n", max(0, start - 60), start) + 1 or max(0, start - 60)
    found = _MODIFIERS.search(small, line, start)
    return found[0] if found else ""
