"""Pairwise verdicts in prose: "Summary 2 is more faithful", "they are equally good", "A > B"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from fairjudge.parsing._context import reported
from fairjudge.scales import Position

_NOUN = r"(?:summary|assistant|response|option|candidate|text|system|model|version|output|report)"
_SIDE = re.compile(
    rf"\b{_NOUN}\s{{0,3}}[#(]?\s?(?P<label>[12AB]|one|two)\b\)?"
    rf"|\b(?P<rank>first|second|former|latter)\b(?:\s(?:one|{_NOUN}))?"
    r"|(?<![\w'#])(?P<bare>(?-i:[AB12]))(?=\s(?:is|was|has|does|covers|wins|captures|provides|better|seems|appears|contains|includes|over)\b)",
    re.IGNORECASE,
)
_BARE_SIDE = re.compile(r"(?P<label>[12AB])(?P<rank>)(?P<bare>)(?!\w)", re.IGNORECASE)
_FIRST = {"1", "a", "one", "first", "former"}
_CLAUSE = re.compile(r"[^.!?;\n]+")
_TURN = re.compile(
    rf"\b(?:but|however|although|though|while|whereas|yet|still)\b|,\s(?=(?:the\s)?(?:{_NOUN}\s[#12AB]|first\s|second\s))",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\bequal(?:ly)?\b|\b(?:it'?s|is|are|as|a|call)\s(?:it\s)?(?:a\s)?(?:tied?|draw|toss-up)\b|\btied\b|\bon\spar\b"
    r"|\bno\s(?:\w+\s)?(?:difference|winner|preference)\b|\bneither\b.{0,60}\b(?:better|best|more|superior|stronger|preferred|outperforms?)\b"
    r"|\bthey\stie\b|\bindistinguishable\b|\bidentical(?:ly)?\b|\b(?:are|is)\s(?:\w+ly\s)?(?:comparable|the\ssame)\b|\bsimilar\s(?:in\s)?quality|^\W*(?:a\s)?(?:tie|draw)\W*$|\bsimilarly\s(?:good|bad|faithful|consistent|relevant|accurate|complete|well|poor)"
    r"|\bsame\s(?:level|extent|degree|quality|number|amount|facts)\b|\b(?:as|just\sas)\s(?:good|faithful|accurate|consistent|relevant|complete|comprehensive)\sas\b",
    re.IGNORECASE,
)
_NOT_TIE = re.compile(
    r"\b(?:not|n't|isn't|aren't|nor)\s(?:\w+\s){0,2}(?:equal|tied?|as\s|the\ssame|identical)",
    re.IGNORECASE,
)
_FAULT = (
    r"(?:errors?|mistakes|hallucinat\w*|inaccura\w*|unsupported|omissions?|irrelevan\w*|misleading|vague\w*|fabricat\w*"
    r"|incorrect|inconsisten\w*|factual\serrors|issues|problems|contradict\w*|unfaithful|speculative|redundan\w*|repetiti\w*|biased|flaws|false|wrong|incomplete)"
)
_WORSE = re.compile(
    rf"\b(?:worse|worst|inferior|weaker|poorer|loses|loser|lags)\b|\bless\s(?!{_FAULT})\w+|\bfewer\s(?!(?:\w+\s)?{_FAULT})\w+|\bnot\s(?:as|so)\s\w+|\bmore\s(?:\w+ly\s)?{_FAULT}|\bmore\s(?:\w+\s){{1,2}}(?:errors|mistakes)\b",
    re.IGNORECASE,
)
_BETTER = re.compile(
    rf"\b(?:better|best|superior|stronger|preferred|preferable|wins?|won|winner(?!')|ahead|outperforms?|beats|surpasses|edges?|higher|greater|closer|clearer|favou?red|prevails)\b"
    rf"|\bmore\s(?!{_FAULT})\w+|\bless\s{_FAULT}|\bfewer\s(?:\w+\s)?{_FAULT}|\bmost\s\w+",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:prefer|favou?r|choose|pick|select|go\swith|preference\sfor|vote\sfor|vote\sgoes\sto|goes\sto|(?:winner|preference|choice|verdict|answer|(?:more|most)\s\w+(?:\s\w+)?|(?:better|stronger|superior)\sof\sthe\s\w+|stronger\s\w+|better\s\w+|better|best\s\w+|best|preferred\s\w+)\s?(?:\bis|\bwould\sbe|:|=)|give\sthe\s(?:edge|win|nod)\sto|edge\sto|lean\stowards?)"
    r"[\s:]{1,3}(?:(?:the|is|to|be|for|towards?)\s){0,2}$",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:\bnot|n't|\bnever|\bneither|\bhardly)\s(?:\w+\s){0,2}$", re.IGNORECASE)
_IS_NOT = re.compile(r"\s(?:is|was)(?:n't|\snot)\b", re.IGNORECASE)
_OBJECT = re.compile(
    r"(?:\bunlike|\bthan|\bcompared\s(?:to|with)|\bover|\bversus|\bvs\.?|\bagainst|\bcontrast\sto|\brelative\sto|\bof)\s(?:the\s)?$",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:overall|therefore|thus|hence|so|in\sconclusion|ultimately|in\ssummary|to\sconclude|final(?:ly)?|consequently|on\sbalance|all\sin\sall|as\sa\sresult|i\s(?:would\s)?(?:prefer|choose|pick|select))\b"
    r"|\b(?:is|was|be)\s(?:(?:\w+ly|the|slightly|much|far|a\sbit|marginally)\s){0,2}(?:better|best|superior|preferable|preferred|winner|stronger)\b|\bwins\b|\bwinner\b(?!')|\bi'd\s(?:prefer|choose|pick|go)",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:overall|therefore|thus|hence|so|conclusion|conclude|ultimately|final(?:ly)?|balance|but"
    r"|however|yet|still|although|though|while|whereas|actually|reflection|thoughts?|wait|instead"
    r"|verdict|winner|choice|i|i'd|i'll|my|better\s\w+\sis|more|less|than)\b",
    re.IGNORECASE,
)
_LABEL_BEFORE = re.compile(r"[:>\]]\s{0,3}$")
_COMPARED = re.compile(
    rf"(?:\b{_NOUN}\s)?(?<!\w)(?P<left>[AB12])\s?(?P<sign>>{{1,3}}|<{{1,3}}|={{1,2}}|≈)\s?(?:{_NOUN}\s)?(?P<right>[AB12])(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A clause that prefers one side, or neither.

    ``concludes`` tells it from a passing remark; ``turns`` says that it weighs or takes back what
    came before ("but", "overall", "actually").
    """

    start: int
    end: int
    position: Position
    concludes: bool
    turns: bool
    labelled: bool


def pair_statements(text: str) -> Iterator[Statement]:
    """Yield the clauses of a cleaned text that state a preference, in order."""
    for match in _COMPARED.finditer(text):
        if position := _by_sign(match):
            yield _statement(text, *match.span(), position, sure=True)
    for start, end in _clauses(text):
        if position := _preference(text[start:end]):
            yield _statement(text, start, end, position)


def _statement(
    text: str, start: int, end: int, position: Position, *, sure: bool = False
) -> Statement:
    after_label = _LABEL_BEFORE.search(text[max(0, start - 4) : start])
    return Statement(
        start=start,
        end=end,
        position=position,
        concludes=sure or bool(_CONCLUDES.search(text, start, end)),
        turns=sure or bool(after_label or _TURNS.search(text, start, end)),
        labelled=bool(_LABEL.search(text, max(0, start - 2), end)),
    )


_LABEL = re.compile(
    r"\[\[|\b(?:verdict|winner|answer|conclusion|decision|preference|best|better|worse|worst|loser)\s{0,3}[:=]",
    re.IGNORECASE,
)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    for sentence in _CLAUSE.finditer(text):
        start = sentence.start()
        for turn in _TURN.finditer(sentence[0]):
            yield start, sentence.start() + turn.start()
            start = sentence.start() + turn.start()
        yield start, sentence.end()


def _by_sign(match: re.Match[str]) -> Position | None:
    left, right = (match[side].lower() in _FIRST for side in ("left", "right"))
    if left == right:
        return None
    if match["sign"][0] in "=≈":
        return "tie"
    return "first" if left == (match["sign"][0] == ">") else "second"


_SUPPOSED = re.compile(
    r"\b(?:may|might|could|can|unclear|whether|fails?\sto\sbe|not\sclear|don't\sthink|not\sthink"
    r"|which\s(?:one\s)?is|would\shave|no\sone)\b(?:\s[\w#()]+){0,6}\s$",
    re.IGNORECASE,
)
_IF = re.compile(
    r"(?:\s\w+){0,3},?\s(?:if(?!\s(?:only\sjust|forced|pressed|i\shad))|unless)\b", re.IGNORECASE
)
_WORST = re.compile(
    r"\b(?:worst|worse|weaker|loser|inferior)(?:\s\w+)?\s?(?::|=|\bis)\s", re.IGNORECASE
)


def _preference(clause: str) -> Position | None:
    worst = _WORST.search(clause)
    named = (
        _SIDE.match(clause, worst.end()) or _BARE_SIDE.match(clause, worst.end()) if worst else None
    )
    if named:
        return _position(named, flipped=True)
    if _TIE.search(clause) and not _NOT_TIE.search(clause):
        return "tie"
    sides = list(_SIDE.finditer(clause))
    for side in sides:
        before = clause[max(0, side.start() - 60) : side.start()]
        chosen = _CHOSEN.search(before)
        if not chosen or _WORSE.search(clause, side.end()) or _IS_NOT.match(clause, side.end()):
            continue
        if not _DENIED.search(before[: chosen.start()]):
            return _position(side)
    subjects = [s for s in sides if not _OBJECT.search(clause[max(0, s.start() - 20) : s.start()])]
    subject_ends = [subject.end() for subject in subjects]
    for pattern, better in ((_WORSE, False), (_BETTER, True)):
        for match in pattern.finditer(clause):
            n_before = bisect_right(subject_ends, match.start())
            before = clause[max(0, match.start() - 60) : match.start()]
            if _DENIED.search(before) or _SUPPOSED.search(before) or _IF.match(clause, match.end()):
                continue
            subject = subjects[n_before - 1] if n_before else None
            if subject and not reported(clause, subject.start()):
                return _position(subject, flipped=not better)
    return None


def _position(side: re.Match[str], *, flipped: bool = False) -> Position:
    word = (side["label"] or side["rank"] or side["bare"]).lower()
    return "first" if (word in _FIRST) != flipped else "second"
