"""Pairwise verdicts in sentences: "Summary 2 is better", "I prefer A", "they tie", "A > B".

A sentence counts where it is nothing else: who, a few words that may stand between, and what is
said of them. A word that is not foreseen there ("fails to be", "could be", "is said to be") leaves
it unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairjudge.parsing import _languages as words
from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import denied_before, supposed_after
from fairjudge.scales import Position, Scale

_ARTICLE = r"(?:(?:the|le|la|el|il|o|die|der|das)\s)?"


def _side(name: str, label: str, bare: str, rank: str) -> str:
    return (
        rf"(?P<{name}>{_ARTICLE}(?:{words.NOUN}\s{{0,3}}[#(]?\s?{label}(?![A-Za-z0-9])\)?"
        rf"|#?{bare}(?![\w'])|{rank}(?!\splace)(?![a-z])(?:\s?(?:one\b|{words.NOUN}))?)"
        rf"(?:'s\s{words.NOUN})?(?:,\s(?:unlike|which|compared|with|like)\s[^,]{{1,60}},)?)"
    )


def _either(suffix: str) -> str:
    one = _side(f"one{suffix}", r"(?:1|(?-i:A)|a(?=\))|one)", "(?-i:[A1])", words.FIRST)
    two = _side(f"two{suffix}", r"(?:2|(?-i:B)|b(?=\))|two)", "(?-i:[B2])", words.SECOND)
    return f"(?:{one}|{two})"


_OTHER = re.sub(r"\?P<\w+>", "?:", _either(""))
_FAULT = (
    r"(?:errors?|mistakes|hallucinat\w*|inaccura\w*|unsupported|omi(?:ssions?|ts)|irrelevan\w*|misleading"
    r"|vague\w*|fabricat\w*|invent\w*|incorrect|inconsisten\w*|issues|problems|contradict\w*|unfaithful"
    r"|speculative|redundan\w*|repetiti\w*|biased|flaw\w*|false|wrong|bad|incomplete)"
)
_DOUBTFUL = (
    r"(?:hardly|scarcely|barely|nearly|only|possibly|supposedly|reportedly|allegedly|potentially"
    r"|rarely|partly|equally|merely|initially|seemingly|apparently)\b"
)
_GAP = (
    rf"(?:\s{{0,5}},?\s?(?!{_DOUBTFUL})(?:is|was|does|seems|appears|remains|stands|to\sbe|as|the|an?|my|both|by\sfar"
    r"|much|far|somewhat|overall|therefore|thus|hence|also|still|just|better|clear|obvious|performs|has|contains|shows|(?:comes|ranks|ranked|takes|finishes|places)(?:\s(?:in|out))?"
    rf"|makes|\w+\sand\s(?=hence|thus|therefore)|covers|provides|\w+ly|{words.VERB})(?![a-z])){{0,6}}\s{{0,5}}"
)
_GENERAL = (
    r"(?P<good>(?:better|best|superior|stronger|strongest|preferable|preferred|favou?red|ahead|wins|won"
    r"|winner|choice|prevails|edge|does\sa\sbetter\sjob|one\si(?:'d|\swould)\s(?:choose|pick|prefer|select)|(?:first|1st)(?:\splace)?)\b"
    rf"|(?:beats|outperforms|surpasses|outdoes|bests|edges\sout|over)(?=\s{_OTHER})|(?:{words.BETTER})\w*)"
    r"|(?P<bad>(?:worse|worst|inferior|weaker|weakest|poorer|loser|loses|lost|lags|runner-up|(?:second|2nd|last)(?:\splace)?)\b"
    rf"|(?:beaten|outperformed|surpassed|bested|outdone)\sby|not\s(?:as|so)\s\w+\sas|(?:{words.WORSE})\w*)"
)
_ASPECT = (
    rf"(?P<good_at>more\s(?!(?:\w+\s)?{_FAULT})\w+|most\s(?!{_FAULT})\w+|less\s{_FAULT}|fewer\s(?:\w+\s)?{_FAULT}"
    rf"|{_FAULT}\sless)"
    rf"|(?P<bad_at>less\s(?!{_FAULT})\w+|fewer\s(?!{_FAULT})\w+|more\s(?:\w+\s)?{_FAULT}|{_FAULT}\smore)"
)
_WHOLE = (
    r"(?=(?:\s(?:one|choice|option|summary|job|overall|here|candidate|pick|of\sthe\s(?:two|pair)|as\swell"
    rf"|(?:(?:als|que|di|من|than|to|over|above|as|compared\s(?:to|with))\s{{1,5}})?{_OTHER}|{words.SECOND}|второго|первого"
    rf"|{words.NOUN}|(?:than|then)\s(?:the\s)?other(?:\sone)?))*\W{{0,3}}(?:\s*$|[.,;:!()\-]|\s(?:because|since|as\s(?:it|summary)|due"
    r"|and|but|by|given|with|if\s(?:only\sjust|forced)|for\s(?:this|these|that|the)|on\s(?:balance|the\swhole)"
    r"|in\s(?:my|total|all|every)|(?:of|at|in)\s\w+ing|thanks|despite|even|though|although|owing|weil|parce|porque|so)\b|[かです입니다।]|\sहै))"
)
_START = (
    r"(?:^\W{0,12}(?:[ab12]\)\s)?|[,;:(]\s{0,5}|\s-\s|\b(?:and|but|so|thus|therefore|hence|however|although|though|while|whereas|making|find)\s{1,5})"
    r"(?:(?:so|thus|therefore|hence|overall|ultimately|finally|but|however|and|clearly|then|still|indeed"
    r"|although|though|while|making|fazit"
    r"|(?:in|on)\s(?:my\s(?:view|opinion|judge?ment)|conclusion|summary|short|sum|the\send|balance|the\swhole|total)"
    r"|all\sin\sall|as\sa\sresult|consequently|(?:of|between)\sthe\stwo|after\s\w+ing|at\s(?:last|the\send)"
    r"|(?:i|we)(?:'d|\swould)?\s(?:think|believe|find|feel|conclude|say|judge|consider|deem|evaluate|determine)(?:\sthat)?"
    r"|综上所述)[\s,:]{1,6}){0,4}(?:我(?:认为|觉得))?"
    rf"(?:{_OTHER}より)?"
)
_PARTICLE = rf"(?:\s?[이가은는が]?,?\s?(?:比\s?{_OTHER}|{_OTHER}\s?(?:보다|से\b)))?"
_PREFERS = (
    r"(?:(?:i|we)(?:'d|'ll|'m|\swould|\swill|\smust)?\s(?:\w+ly\s|have\sto\s)?(?:prefer|favou?r|choose|pick|select|rank|go\s(?:with|for)"
    r"|vote\sfor|opt\sfor|lean\s(?:towards?|to)|say|give\s(?:the\s)?(?:edge|win|nod)\sto)"
    r"|my\s(?:preference|choice|pick|vote)\s(?:is|goes\sto|would\sbe)(?:\sfor)?|(?:verdict:\s)?(?:slight\s|clear\s)?preference\sfor"
    r"|je\s(?:choisis|préfère)|prefiero|elijo|ich\s(?:bevorzuge|wähle)|prefiro|я\sвыбираю|我(?:选择?|更喜欢))\s{0,5}"
)
_IS = (
    (
        r"(?:the\s)?(?:(?:clear|overall|final)\s)?(?:(?P<good_is>winner|(?:better|best|stronger|superior|preferred|more\s(?!FAULT)\w+|most\s(?!FAULT)\w+))"
        r"|(?P<bad_is>loser|worse|worst|weaker|weakest|inferior|less\s\w+|least\s\w+))(?:\s(?:one|choice|option|NOUN|of\sthe\stwo|here|overall))?"
        r"\s{1,5}(?:is|goes\sto|would\sbe)\s{1,5}"
    )
    .replace("FAULT", _FAULT)
    .replace("NOUN", words.NOUN)
)
_STATEMENT = re.compile(
    rf"{_START}(?:{_either('_s')}{_PARTICLE}{_GAP}(?:{_GENERAL}|{_ASPECT})(?P<whole>{_WHOLE})?"
    rf"|it{_GAP}(?P<good_o>better|superior|preferable|stronger)\s(?:overall\s)?(?:than|to)\s{{1,5}}{_either('_o')}(?P<whole_o>{_WHOLE})"
    rf"|{_PREFERS}{_either('_p')}(?P<whole_p>{_WHOLE})|{_IS}{_either('_i')}(?P<whole_i>{_WHOLE}))",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\bequal(?:ly)?\b|\b(?:it'?s|is|are|a|call)\s(?:it\s)?(?:a\s)?(?:tied?|draw|toss-up)\b|\bthey\s(?:tie|are\stied)\b|\bon\spar\b"
    r"|\bno\s(?:clear\s|real\s|significant\s)?(?:difference|winner|preference)\b|^\W*(?:a\s)?(?:tie|draw)\W*$"
    r"|\bneither\b[^.]{0,40}\b(?:is|are)\s(?:\w+ly\s)?(?:better|best|superior|stronger|preferable)\b|\bprefer\sneither\b"
    r"|\b(?:indistinguishable|identical)\b|\b(?:comparable|similar|the\ssame)\s(?:in\s)?(?:overall\s)?quality\b"
    rf"|\bsame\snumber\sof\sanswers|(?<![a-zà-ÿа-яё])(?:{words.TIE})",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    rf"(?:\b{words.NOUN}\s)?(?<![\w<>=])(?<![<>=]\s)(?P<left>[AB12])\s?(?P<sign>>{{1,3}}|<{{1,3}}|={{1,2}}(?!\s?\d/)|≈)"
    rf"\s?(?:{words.NOUN}\s)?(?P<right>[AB12])(?![\w/])(?!\s?[<>=]|\?|,)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d)){1,1000}[?]?")
_CONCLUDES = re.compile(
    r"\b(?:overall|therefore|thus|hence|so|conclusion|conclude|ultimately|final(?:ly)?|consequently|on\sbalance|on\sthe\swhole"
    r"|all\sin\sall|as\sa\sresult|(?:i|we)(?:'d|\swould)?\s(?:prefer|choose|pick|select|go)|综上|fazit)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """Whom a clause prefers, and how widely: 2 all in all, 1 by a quality, 0 in some respect."""

    start: int
    end: int
    position: Position
    width: int
    concludes: bool


def preference(text: str, scale: Scale) -> Iterator[Answer]:
    """Yield what the sentences of a cleaned text prefer; where they disagree, that they do.

    The widest count: "better" against "more fluent". Of those, one that concludes ("overall",
    "therefore") takes back what stands before it.
    """
    offered = {level.value for level in scale.levels}
    found = [s for s in _statements(text) if s.position in offered]
    widest = max((s.width for s in found), default=0)
    if not widest:
        return
    top = [s for s in found if s.width == 2] if widest == 2 else found
    last = top[-1]
    answer = Answer(start=last.start, end=last.end, value=last.position, rank=Rank.MENTIONED)
    concluding = {s.position for s in top if s.concludes}
    agreed = len({s.position for s in top}) == 1 or concluding == {last.position}
    yield answer if agreed and last.width else replace(answer, value=None, problem="several")


def compared(text: str) -> Iterator[Answer]:
    """Yield what signs say: "A > B", "2 < 1", "A = B"."""
    for match in _COMPARED.finditer(text):
        left, right = (match[side].lower() in {"1", "a"} for side in ("left", "right"))
        denied = denied_before(text, match.start()) or supposed_after(text, match.end())
        if left == right or denied:
            continue
        won = "first" if left == (match["sign"][0] == ">") else "second"
        value: Position = "tie" if match["sign"][0] in "=≈" else won  # type: ignore[assignment]
        yield Answer(start=match.start(), end=match.end(), value=value, rank=Rank.STATED)


def _statements(text: str) -> Iterator[_Statement]:
    for sentence in _SENTENCE.finditer(text):
        if sentence[0].endswith("?"):
            continue
        base, said = sentence.start(), sentence[0]
        for start, end, position, width in _stated(said):
            concludes = bool(_CONCLUDES.search(said, max(0, start - 40), end + 12))
            if not denied_before(text, base + start) and not supposed_after(text, base + end):
                yield _Statement(
                    start=base + start, end=base + end, position=position, width=width,
                    concludes=concludes,
                )  # fmt: skip


def _stated(sentence: str) -> Iterator[tuple[int, int, Position, int]]:
    for match in _STATEMENT.finditer(sentence):
        if _NOT.search(match[0]) or _NOT.match(sentence, match.end()):
            continue
        first = any(match[f"one_{kind}"] for kind in "spio")
        bad = match["bad"] or match["bad_at"] or match["bad_is"] or match["good_o"]
        position: Position = "first" if first != bool(bad) else "second"
        whole = any(match[name] is not None for name in _WHOLES)
        narrow = match["good_at"] or match["bad_at"]
        side = next(k for k in _SIDES if match[k] is not None)
        yield match.start(side), match.end(), position, (0 if not whole else 1 if narrow else 2)
    for tie in _TIE.finditer(sentence):
        if not denied_before(sentence, tie.start()) and not _NOT.match(sentence, tie.end()):
            yield tie.start(), tie.end(), "tie", 1 if tie[0].lower() == "equally" else 2


_SIDES = ("one_s", "two_s", "one_p", "two_p", "one_i", "two_i", "good_o")
_WHOLES = ("whole", "whole_p", "whole_i", "whole_o")
_NOT = re.compile(rf"(?!not\s(?:as|so)).{{0,12}}(?:{words.NOT})", re.IGNORECASE)


_NAME = rf"(?:the\s)?(?:{words.NOUN}\s{{0,3}})?[#(]?(?:[12AB]|one|two)\)?(?![\w'])"
_RANKED = re.compile(
    rf"^\W{{0,6}}(?:rank(?:ing|ed)?\W{{1,6}})?(?:\#|no\.\s?)?1[.):\s]\s{{0,3}}(?P<name>{_NAME})\s{{0,3}}(?:[,;.\n]|$)"
    rf"|^\W{{0,6}}ranking\s{{0,3}}[:=]\s{{0,4}}\[?(?P<listed>{_NAME})\s{{0,3}}(?:,|then)\s{{0,3}}(?:{_NAME})\]?\W{{0,6}}$",
    re.IGNORECASE | re.MULTILINE,
)
_BOTH_SCORED = re.compile(
    rf"\W*{words.NOUN}?\s?(?P<a>[12AB])\W{{1,4}}(?P<m>\d{{1,3}}(?:\.\d)?)"
    rf"(?:\s?/\s?(?P<d>\d{{1,3}}))?(?![.)]?[ ]?[^\W\d])\W{{1,6}}"
    rf"{words.NOUN}?\s?(?P<b>[12AB])\W{{1,4}}(?P<n>\d{{1,3}}(?:\.\d)?)"
    rf"(?:\s?/\s?(?P<e>\d{{1,3}}))?\W*",
    re.IGNORECASE,
)


def ranked(text: str) -> Answer | None:
    """Return who stands first in a ranking, or has more in a reply of two scores and no more."""
    scored = _BOTH_SCORED.fullmatch(text)
    if scored and scored["a"].lower() != scored["b"].lower() and scored["d"] == scored["e"]:
        first, second = float(scored["m"]), float(scored["n"])
        won = _named(scored["a" if first > second else "b"])
        return _answer(scored, None if first == second else won)
    match = _RANKED.search(text)
    return _answer(match, _named(match["name"] or match["listed"])) if match else None


def _named(name: str) -> Position:
    return "first" if re.search(r"(?:1|a|one)\)?$", name.lower()) else "second"


def _answer(match: re.Match[str], value: Position | None) -> Answer:
    return Answer(
        start=match.start(), end=match.end(), value=value, rank=Rank.STATED,
        problem=None if value else "several",
    )  # fmt: skip
