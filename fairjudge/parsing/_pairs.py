"""Pairwise verdicts in prose: rankings, two scores, "Summary 2 is better", "they tie", "A > B"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from fairjudge.parsing import _languages as words
from fairjudge.parsing._context import reported
from fairjudge.scales import Position

_OPEN, _SHUT = r"\s{0,3}[#(]?\s?", r"(?![A-Za-z0-9])\)?"
_VERBS = (
    r"(?=\s(?:is|was|has|does|covers|wins|loses|beats|captures|provides|better|seems|appears"
    r"|contains|includes|over|comes|ranks)\b)"
)


def _side(name: str, label: str, bare: str, rank: str) -> str:
    noun = rf"(?:\s?(?:one\b|{words.NOUN}))?"
    return (
        rf"(?P<{name}>(?<![^\W\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]){words.NOUN}{_OPEN}{label}{_SHUT}"
        rf"|(?<![\w'#-]){bare}{_VERBS}|(?<!\w){rank}(?!\w{{0,3}}\s(?:place|best|thought))(?![a-z]){noun})"
    )


_SIDE = re.compile(
    _side("one", r"(?:1|(?-i:A)|a(?=\))|one)", "(?-i:[A1])", words.FIRST)
    + "|"
    + _side("two", r"(?:2|(?-i:B)|b(?=\))|two)", "(?-i:[B2])", words.SECOND),
    re.IGNORECASE,
)
_NAME = rf"(?:the\s)?(?:{words.NOUN}\s{{0,3}})?[#(]?(?:[12AB]|one|two)\)?(?![\w'])"
"""A side by its name or label, where nothing but one can stand."""
_CLAUSE = re.compile(r"[^.!?;\n]+\??")
_TURN = re.compile(
    rf"(?<!anything\s)(?<!nothing\s)\b(?:but|however|although|though|while|whereas|yet|still)\b"
    rf"|,\s(?=(?:the\s)?(?:{words.NOUN}\s[#12AB]|first\s|second\s))",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\bequal(?:ly)?\b|\b(?:it'?s|is|are|as|a|call)\s(?:it\s)?(?:a\s)?(?:tied?|draw|toss-up)\b|\btied\b|\bon\spar\b"
    r"|\bno\s(?:\w+\s)?(?:difference|winner|preference)\b|\bneither\b.{0,60}\b(?:better|best|more|superior|stronger|preferred|outperforms?)\b"
    r"|\bthey\stie\b|\bindistinguishable\b|\bidentical(?:ly)?\b|\b(?:are|is)\s(?:\w+ly\s)?(?:comparable|the\ssame)\b|\bsimilar\s(?:in\s)?quality|^\W*(?:a\s)?(?:tie|draw)\W*$|\bsimilarly\s(?:good|bad|faithful|consistent|relevant|accurate|complete|well|poor)"
    r"|\bsame\s(?:level|extent|degree|quality|number|amount|facts)\b|\b(?:as|just\sas)\s(?:good|faithful|accurate|consistent|relevant|complete|comprehensive)\sas\b"
    rf"|(?<![a-zà-ÿа-яё])(?:{words.TIE})",
    re.IGNORECASE,
)
_FAULT = (
    r"(?:errors?|mistakes|hallucinat\w*|inaccura\w*|unsupported|omissions?|irrelevan\w*|misleading|vague\w*|fabricat\w*"
    r"|incorrect|inconsisten\w*|factual\serrors|issues|problems|contradict\w*|unfaithful|speculative|redundan\w*|repetiti\w*|biased|flaws|false|wrong|bad|incomplete)"
)
_WORSE = re.compile(
    rf"\b(?:worse|worst|inferior|weaker|poorer|loses|loser|lags|rejected|eliminated?|runner-up|second\sbest|bottom)\b|\b(?:less|least)\s(?!{_FAULT})\w+"
    rf"|\bfewer\s(?!(?:\w+\s)?{_FAULT})\w+|\bnot\s(?:as|so)\s\w+|\b(?:more|most)\s(?:\w+\s){{0,2}}{_FAULT}|\b{_FAULT}\smore\b|\bmak\w+\smore\s{_FAULT}"
    r"|\b(?:beaten|outperformed|surpassed|bested|outdone|edged\sout)\sby\b"
    rf"|\b(?:comes?|came|ranks?|ranked|takes?|finishes|places?|in)\s(?:in\s)?(?:second|2nd|last)\b(?!\s(?:one|{words.NOUN}))|\b(?:second|2nd|last)\splace\b|(?<![a-zà-ÿа-яё])(?:{words.WORSE})",
    re.IGNORECASE,
)
_BETTER = re.compile(
    rf"\b(?:(?<!was\s)(?<!only\s)better|best|superior|stronger|preferred|preferable|wins?(?!\s(?:on|in)\s(?!all|every|balance))|won|winner(?!')|ahead|outperforms?|beats?|surpasses|edges?|higher|greater|closer|clearer|favou?red|prevails)\b"
    rf"|\bmore\s(?!(?:\w+\s){{0,2}}{_FAULT})\w+|\bless\s{_FAULT}|\b{_FAULT}\sless\b|\bfewer\s(?:\w+\s)?{_FAULT}|\bmost\s\w+"
    rf"|\b(?:comes?|came|ranks?|ranked|takes?|finishes|places?|in)\s(?:in\s)?(?:first|1st)\b(?!\s(?:one|{words.NOUN}))|\b(?:first|1st)\splace\b|(?<![a-zà-ÿа-яё])(?:{words.BETTER})",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:prefer|favou?r|choose|pick|select|go\swith|preference\sfor|vote\sfor|goes\sto|give\sthe\s(?:edge|win|nod)\sto|edge\sto|lean\stowards?"
    r"|(?:winner|preference|choice|verdict|answer|(?:more|most)\s\w+(?:\s\w+)?|(?:better|stronger|superior)\sof\sthe\s\w+|stronger\s\w+|better\s\w+|better|best\s\w+|best|preferred\s\w+)\s?(?:\bis|\bwould\sbe|:|=))"
    r"[\s:]{1,3}(?:(?:the|is|to|be|for|towards?)\s){0,2}$",
    re.IGNORECASE,
)
_WORST_IS = re.compile(
    rf"\b(?:worse|worst|weaker|inferior|loser)(?:\s\w+)?\s?(?::|=|\bis)\s{{1,3}}(?P<name>{_NAME})",
    re.IGNORECASE,
)
_I_WOULD = re.compile(r"\bwould\s(?:\w+ly\s)?$", re.IGNORECASE)
_IS_NOT = re.compile(r"\s(?:is|was)(?:n't|\snot)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|cannot|never|hardly|scarcely|barely|nor|nothing|nobody|none|few|wrong|false|untrue|fails?|doubt\w*|hesitat\w+"
    r"|unclear|whether|if(?!\s(?:only\sjust|forced|pressed|i\s(?:had|have|must)))|unless|may|might|could|can|deny|disagree|refuse|far\sfrom|anything\sbut|short\sof|without|stretch"
    r"|no\s(?:one|way|means|reason|evidence|better|worse)|would(?!\s(?:say|choose|prefer|pick|select|go|argue|rate|conclude|vote|favou?r))|said\sto|tr(?:y|ies)\sto|almost|nearly|some\s(?:say|claim|think)|which\s(?:one\s)?is|tempted)\b|n't\b",
    re.IGNORECASE,
)
_NOT_ELSEWHERE = re.compile(words.NOT, re.IGNORECASE)
_NOT_AFTER = re.compile("(?:てい|では)?ない|ません|않|아니|नहीं")
_UNDONE = re.compile(
    r"(?:\s\w+){0,3},?\s(?:if(?!\s(?:only\sjust|forced|pressed|i\shad))|unless|or\sso)\b"
    r"|[^.!?;\n]{0,60}\b(?:is|are|be)\s(?:\w+\s)?(?:false|wrong|untrue|mistaken|incorrect|not\strue)\b",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    rf"\b(?:and|so|thus|therefore|hence|making|makes|because|since|as|which)\b|,(?=\s(?:the\s)?{words.NOUN})|:",
    re.IGNORECASE,
)
"""Where a denial's reach ends."""
_OBJECT = re.compile(
    r"(?:\bunlike|\bthan|\bcompared\s(?:to|with)|\bover|\bversus|\bvs\.?|\bagainst|\bcontrast\sto|\brelative\sto|\bof|\bals|\bque|\bdi|\bчем)\s(?:the\s)?$"
    r"|[比与和]$",
    re.IGNORECASE,
)
_OBJECT_AFTER = re.compile(r"\s?(?:より|보다)|से\s")
_CONCLUDES = re.compile(
    r"\b(?:overall|therefore|thus|hence|so|in\sconclusion|ultimately|in\ssummary|to\sconclude|final(?:ly)?|consequently|on\sbalance|all\sin\sall|as\sa\sresult|i\s(?:would\s)?(?:prefer|choose|pick|select))\b"
    r"|\b(?:is|was|be)\s(?:(?:\w+ly|the|slightly|much|far|a\sbit|marginally)\s){0,2}(?:better|best|superior|preferable|preferred|winner|stronger)\b|\bwins\b|\bwinner\b(?!')|\bi'd\s(?:prefer|choose|pick|go)"
    rf"|{words.BETTER}",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:overall|therefore|thus|hence|so|conclusion|conclude|ultimately|final(?:ly)?|balance|but"
    r"|however|yet|still|although|though|while|whereas|actually|reflection|thoughts?|wait|instead"
    r"|verdict|winner|choice|i|i'd|i'll|my|better\s\w+\sis|more|less|than)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    rf"(?:\b{words.NOUN}\s)?(?<![\w<>=])(?<![<>=]\s)(?P<left>[AB12])\s?(?P<sign>>{{1,3}}|<{{1,3}}|={{1,2}}(?!\s?\d/)|≈)\s?(?:{words.NOUN}\s)?(?P<right>[AB12])(?![\w/])"
    r"(?!\s?[<>=]|\?|,)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:^|[;,]\s)[\W_]{0,12}(?P<label>(?:\d(?=[a-z]))?[^\W\d][^:=\n.!?;,]{0,40}?)\s{0,2}[:=]\s{0,4}"
    rf"(?P<name>{_NAME})[\s.!)\"]{{0,9}}(?=$|\n|,\s(?!{_NAME})|;|\s(?:2nd|second)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_RANKED = re.compile(
    rf"^\W{{0,6}}(?:rank(?:ing|ed)?\W{{1,6}})?(?:(?:\#|no\.\s?|rank\s)?1[.):\s]|first\s?:|gold\s?:)\s{{0,3}}(?P<name>{_NAME})\s{{0,3}}(?:[,;.\n]|$)"
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
_GOOD_LABEL = re.compile(
    rf"\b(?:verdict|winner|answer|conclusion|decision|preference|choice|better|best|top|preferred|vs)\b|^(?:the\s)?(?:first|1st|gold)(?:\s(?:place|prize|choice))?$|{words.WINNER}",
    re.IGNORECASE,
)
_BAD_LABEL = re.compile(r"\b(?:second|2nd|last|silver|runner-up|loser|lost|worst)\b", re.IGNORECASE)


_REACH = 200
"""Characters before a preference in which a denial of it is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A clause that prefers one side, or neither.

    ``concludes`` tells it from a passing remark; ``turns`` says that it weighs or takes back what
    came before ("but", "overall", "actually").
    """

    start: int
    end: int
    position: Position | None
    concludes: bool
    turns: bool
    labelled: bool = False


def pair_statements(text: str) -> Iterator[Statement]:
    """Yield the clauses of a cleaned text that state a preference, in order."""
    for match in _COMPARED.finditer(text):
        before = text[max(0, match.start() - 20) : match.start()]
        denied = _DENIED.search(before) or _UNDONE.match(text, match.end())
        if (position := _by_sign(match)) and not denied:
            yield _sure(match, position)
    labelled = list(_labels(text))
    yield from labelled
    for start, end in _clauses(text):
        if any(one.start < end and start < one.end for one in labelled):
            continue
        if position := _preference(text[start:end]):
            yield Statement(
                start=start,
                end=end,
                position=position,
                concludes=bool(_CONCLUDES.search(text, start, end)),
                turns=bool(_TURNS.search(text, start, end)),
            )


def ranked(text: str) -> Statement | None:
    """Return who stands first in a ranking, or has more in a reply of two scores and no more.

    Of two that are equal it is not said which is preferred.
    """
    scored = _BOTH_SCORED.fullmatch(text)
    if scored and scored["a"].lower() != scored["b"].lower() and scored["d"] == scored["e"]:
        first, second = float(scored["m"]), float(scored["n"])
        better = _named(scored["a" if first > second else "b"])
        return _sure(scored, None if first == second else better)
    match = _RANKED.search(text)
    return _sure(match, _named(match["name"] or match["listed"])) if match else None


def _sure(match: re.Match[str], position: Position | None, *, labelled: bool = False) -> Statement:
    start, end = match.span()
    return Statement(
        start=start, end=end, position=position, concludes=True, turns=True, labelled=labelled
    )


def _labels(text: str) -> Iterator[Statement]:
    """Yield "Winner: Summary 1", and of what is bad the other one: "More errors: Summary 2"."""
    for match in _LABELLED.finditer(text):
        label = match["label"]
        if _DENIED.search(label):
            continue
        worse = _WORSE.search(label) or _BAD_LABEL.search(label)
        if worse or _BETTER.search(label) or _GOOD_LABEL.search(label):
            yield _sure(match, _named(match["name"], flipped=bool(worse)), labelled=True)


def _named(name: str, *, flipped: bool = False) -> Position:
    first = re.search(r"(?:1|a|one)\)?$", name.lower()) is not None
    return "first" if first != flipped else "second"


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    for sentence in _CLAUSE.finditer(text):
        start = sentence.start()
        if sentence[0].endswith("?"):
            continue
        for turn in _TURN.finditer(sentence[0]):
            yield start, sentence.start() + turn.start()
            start = sentence.start() + turn.start()
        yield start, sentence.end()


def _by_sign(match: re.Match[str]) -> Position | None:
    left, right = (match[side].lower() in {"1", "a"} for side in ("left", "right"))
    if left == right:
        return None
    if match["sign"][0] in "=≈":
        return "tie"
    return "first" if left == (match["sign"][0] == ">") else "second"


def _preference(clause: str) -> Position | None:
    tie = _TIE.search(clause)
    if tie and not _is_denied(clause, tie):
        return "tie"
    sides = list(_SIDE.finditer(clause))
    if worst := _WORST_IS.search(clause):
        return None if _reaches(clause, worst.start()) else _named(worst["name"], flipped=True)
    for side in sides:
        before = clause[max(0, side.start() - 60) : side.start()]
        chosen = _CHOSEN.search(before)
        if chosen and not _WORSE.search(clause):
            at = side.start() - len(before) + chosen.start()
            chooses = _I_WOULD.search(clause, max(0, at - 20), at)
            denied = _reaches(clause, chooses.start() if chooses else at)
            denied = denied or bool(_BAD_LABEL.search(clause, max(0, at - 8), at))
            return None if denied or _IS_NOT.match(clause, side.end()) else _position(side)
    subjects = [s for s in sides if not _is_object(clause, s)]
    ends = [subject.end() for subject in subjects]
    for pattern, better in ((_WORSE, False), (_BETTER, True)):
        for match in pattern.finditer(clause):
            n_before = bisect_right(ends, match.start())
            if _is_denied(clause, match):
                return None
            if n_before and not reported(clause, subjects[n_before - 1].start()):
                return _position(subjects[n_before - 1], flipped=not better)
    return None


def _is_object(clause: str, side: re.Match[str]) -> bool:
    before = clause[max(0, side.start() - 20) : side.start()]
    return bool(_OBJECT.search(before) or _OBJECT_AFTER.match(clause, side.end()))


def _is_denied(clause: str, match: re.Match[str]) -> bool:
    after = _UNDONE.match(clause, match.end()) or _NOT_AFTER.search(
        clause, match.start(), match.end() + 40
    )
    return _reaches(clause, match.start()) or bool(after)


def _reaches(clause: str, place: int) -> bool:
    """Whether a denial or supposition before `place` reaches it."""
    before = _BOUNDARY.split(clause[max(0, place - _REACH) : place])[-1]
    return bool(_DENIED.search(before) or _NOT_ELSEWHERE.search(before))


def _position(side: re.Match[str], *, flipped: bool = False) -> Position:
    return "first" if (side["one"] is not None) != flipped else "second"
