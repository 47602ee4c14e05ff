"""Rank every answer in a reply by the words before and after it.

Words are represented by their kinds (`_words`), one letter each. An answer counts where it is
complete (and does not count the noun that follows), is not negated, supposed, asked or reported,
and stands under a label, alone, after a verb that gives it, or (for a pair) before a word of
preference.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import Place, is_denied
from fairjudge.parsing._pairs import COMPARED, OTHER, preferences_at
from fairjudge.parsing._tokens import Words
from fairjudge.parsing._words import LAST
from fairjudge.scales import Scale

_VERB_BEFORE = r"R[fwtaQSGI]*:?f?$"
_RULES: tuple[tuple[str, str, str, Rank], ...] = (
    ("npcy", r"W[ft,:]*$|[WS][^,A]{0,6}wAt$", "", Rank.ASSIGNED),
    ("p", "E[fw]*$", "", Rank.ASSIGNED),
    ("npcy", r"I[fwCMvt]*[RSV][fwtaQSGIx]{0,9}:?f?$", "", Rank.ASSIGNED),
    ("nx", "^[CT,]*f{1,3}Rf*$", r"[.n]|$", Rank.ASSIGNED),
    ("nx", rf"^(?!.*M)(?:|.*[,aCTfwWSQ(=-]){_VERB_BEFORE}", "", Rank.MENTIONED),
    ("nx", r"(?:S[fw]?[=:]?|Q[fw=:])f?$|[QFK]\($", "", Rank.MENTIONED),
    ("x", r"(?:^|[,C(:TRSQw-])f*$", r"[.n)]|[.)|:(-]{0,8}(?:n|$)", Rank.MENTIONED),
    ("i", r"(?:^|[,CTYIa])[fZ]{0,3}=f$", "", Rank.MENTIONED),
    ("pcy", r"(?:^|[,CTYIa])[fZ]{0,3}=$", r"[.,w]|[.)|:(-]{0,8}(?:n|$)", Rank.MENTIONED),
    ("npcy", r"C[f:]*$|^.{4,}[,(T][f:]*$", r"[.)]{0,8}(?:n|$)|\.$", Rank.MENTIONED),
)
"""Rules of prose: scales, pattern before the answer, pattern after it, rank; the first one counts.

Scales: n for numbers, x for numbers whose answer names its maximum, i for numbers after an article;
y for yes and no, c for other choices, p for pairs. Patterns match kinds of words.
"""
_COMPILED = tuple((kinds, re.compile(a), re.compile(b), rank) for kinds, a, b, rank in _RULES)
_LABELLED = re.compile(r"[A-Za-z]\(?[^().n]{0,14}\)?[:|=][f(]*$")
_NO_LABEL = re.compile(r"(?:^|[,CTYIa])[fZ]{0,3}=f?$|(?:^|[.n,])[CfRIWT]*:f?$")
_SUBJECT_OF = re.compile(r"(?:[SVGB]|[gb][xQ])(?:f|C|[(][^()]*[)]|[wt][fxQSK]{1,5}|I?M?R)?f?$")
"""A label before "is": "the score for coverage", "the better summary"."""
_LABEL_VERB = re.compile("[VS][fw]*R[fwt]*$|Vw")
_BARE = re.compile(r"(?:^|(?<=[.n?,TCa-]))f*A(?=[.n,:)?-]|$)")
_CLAIM = re.compile(r"[,:(-]?[^.n?T,A]{0,10}?(?:F|K|Q(?=[.n,]|$))")
_FAITHFUL = re.compile(
    r"\b(?:summary|it)(?:\s(?:is|was)|'s)(?P<not>n't|\s(?:therefore\s|thus\s)?not)?\s"
    r"(?:(?:therefore|thus|also|\w+ly)\s){0,2}(?P<late>not\s)?(?:\w+ly\s)?"
    r"(?P<bad>in(?=con|acc|corr)|un(?=fai|supp))?(?:consistent|faithful|accurate|supported|correct)\b"
)
_SENTENCE_START = re.compile(r"[.!?\n]\s")
_SIDE = re.compile(r"\b[12ab]$")
_IN = re.compile(r"\s(?:in|on|for|with|by|from|at)\b")
_PARTS = re.compile("w[fxQ]{1,4}[a,]f{0,2}A")


class Statements:
    """The answers that a text states, each with its rank.

    `items` are the spans of list items, in order; `aspect` is in lower case.
    """

    def __init__(
        self, text: str, words: Words, scale: Scale, items: list[tuple[int, int]], aspect: str
    ) -> None:
        self.text, self.small, self.words = text, text.lower(), words
        self.scale, self.items, self.aspect = scale, items, aspect
        self.kinds = words.kinds
        self.opening = len(self.kinds) - len(self.kinds.lstrip("n.:"))
        self.last = len(self.kinds.rstrip(".)n|-")) - 1
        self.yes_no = set(scale.answers) == {"yes", "no"}
        bare = _BARE.finditer(self.kinds) if self.yes_no else ()
        self.bare = {words.answers[match.end() - 1].value for match in bare}

    def __iter__(self) -> Iterator[Answer]:
        marks = self._marks()
        yield from self._claims() if self.yes_no else ()
        for at, answer in self.words.answers.items():
            place = Place(self.text, self.small, self.words, self.scale, at, answer)
            if at in marks or place.is_denied:
                continue
            if self.scale.kind == "pair":
                yield from preferences_at(place)
                if COMPARED.match(place.after):
                    continue
            if place.ends:
                yield from self._ranked_statement(place)

    def _ranked_statement(self, place: Place) -> Iterator[Answer]:
        """Yield the answer with its rank; with the problem "several" if it is one of several."""
        statement = self._ranked(place)
        listed = self.scale.kind == "number" and self._in_items(place.answer.start)
        if statement is None or (listed and statement.rank < Rank.STATED):
            return
        other = place.second
        if statement.rank is Rank.MENTIONED and _PARTS.match(place.after):
            statement = replace(statement, value=None, problem="several")
        yield (
            replace(statement, value=None, problem="several", end=other.end) if other else statement
        )

    def _ranked(self, place: Place) -> Answer | None:
        answer, before = place.answer, place.before
        label = self._under_label(place)
        if label or (_LABELLED.search(before) and not _NO_LABEL.search(before)):
            return label
        bare = not re.sub(r"\(?[fx]\)", "", before).strip("fC(-WT,:")
        turned = bare and "W" in before
        if re.search("[o/][f(]*$", before) or (self.yes_no and self._is_loose(place)):
            return None
        if bare and not turned and self.yes_no and self._is_opposed(place):
            return None
        if bare and not turned and self._is_alone(place):
            return replace(answer, rank=Rank.STATED)
        rank = self._rank_in_prose(place)
        after_question = self.kinds[place.start - 1 : place.start] == "?"
        if rank is None and bare and (after_question or "C" in before or place.ends_line):
            rank = Rank.MENTIONED
        if rank is None:
            return None
        return replace(answer, rank=rank, revises="W" in before or before.endswith("wAt"))

    def _rank_in_prose(self, place: Place) -> Rank | None:
        kind = {"number": "n", "pair": "p"}.get(self.scale.kind, "y" if self.yes_no else "c")
        if kind == "n":
            article = self.small[: place.answer.start].rstrip(' *"').endswith((" a", " an"))
            kind += "x" * place.answer.explicit + "i" * article
        for kinds, before, after, rank in _COMPILED:
            if set(kind) & set(kinds) and before.search(place.before) and after.match(place.after):
                return rank
        return None

    def _is_alone(self, place: Place) -> bool:
        """Whether a bare answer opens or closes the reply, and is not the mark of a list item."""
        answer, after = place.answer, place.after
        if place.place == self.last and self.kinds[place.start - 1 : place.start] == "n":
            return True
        if place.start > self.opening or (after and after[0] not in ".n,:(w-)CTYWN|"):
            return False
        one_sign = answer.end - answer.start == 1 and self.last > place.place + 12
        listed = after[:1] == "." and one_sign
        return self.scale.kind != "pair" or not listed

    def _is_loose(self, place: Place) -> bool:
        """Whether a digit counts something, or a yes or no is about a part ("no in the first")."""
        around = self.kinds[place.place : place.place + 6].rstrip("n.")
        digit = place.wording.isdigit() and around not in {"A", "A(A)", "A-A"}
        return digit or bool(_IN.match(self.text, place.answer.end))

    def _is_opposed(self, place: Place) -> bool:
        """Whether a bare yes or no stands beside its contrary, or beside a claim against it."""
        if self.bare - {place.answer.value} and not re.search("[CW][f,:]*$", place.before):
            return True
        if re.search(r"[FN][^.n?]*\?$", self.kinds[max(0, place.start - 48) : place.start]):
            return True
        claim = _CLAIM.match(self.kinds, place.place + 1)
        odd = claim and len(re.findall("[NF]", claim[0])) % 2
        return claim is not None and odd == (place.answer.value == 1.0)

    def _claims(self) -> Iterator[Answer]:
        """Yield descriptions of the summary that imply yes or no: "it is not consistent"."""
        for match in _FAITHFUL.finditer(self.small):
            start, end = match.span()
            if not is_denied(_SENTENCE_START.split(self.small[max(0, start - 160) : start])[-1]):
                negative = bool(match["not"] or match["late"]) != bool(match["bad"])
                yield Answer(start=start, end=end, value=float(not negative), rank=Rank.CLAIMED)

    def _marks(self) -> set[int]:
        """Return the places of answers that only number the items of a list: "1.", "A:"."""
        places_by_sign: dict[str, list[int]] = {}
        opening = len(self.kinds) - len(self.kinds.lstrip("f(-"))
        for place, answer in self.words.answers.items():
            sign, beyond = self.kinds[place + 1 : place + 2], self.kinds[place + 2 : place + 3]
            begins = place <= opening or self.kinds[place - 1] in "n-."
            begins = begins or (sign == ")" and self.kinds[place - 1] != "(")
            if begins and not answer.explicit and sign and sign in ".):-" and beyond.strip("n"):
                places_by_sign.setdefault(sign, []).append(place)
        values = self.words.answers
        lists = (
            at for at in places_by_sign.values() if len({values[place].value for place in at}) > 1
        )
        return {place for places in lists for place in places}

    def _in_items(self, place: int) -> bool:
        at = bisect_right(self.items, (place, len(self.text))) - 1
        return at >= 0 and place < self.items[at][1]

    def _under_label(self, place: Place) -> Answer | None:
        """Return the answer with the rank of its label; None without a label, or if it is none."""
        heading = self._label(place)
        if heading is None:
            return None
        label, words, sign = heading
        rank = self._rank(label, words, sign)
        if rank is Rank.NAMED:
            if not place.answer.explicit and place.after[:1] not in {"", *".n)|-,"}:
                return None
            rank = Rank.MENTIONED if sign == "|" or "(" in place.before else rank
        if rank is None:
            return None
        value = place.answer.value
        if self.scale.kind == "pair" and ("B" in label or ("F" in label) != ("b" in label)):
            if value not in OTHER:
                return None
            value = OTHER[value]
        last = bool(LAST.search(words)) or "W" in label
        return replace(place.answer, value=value, rank=rank, revises=last)

    def _label(self, place: Place) -> tuple[str, str, str] | None:
        """Return the answer's label: its kinds, its words, and the sign between the two."""
        before, start = place.before, place.start
        prefix = re.sub(r"\([fx]\)$", "", before).rstrip("f(~/")
        prefix = re.sub("(?<=[=:])[wC]$", "", prefix)
        sign = prefix[-1:]
        if sign and sign in ":|-":
            prefix = re.sub(r"\([^()]{0,16}\)$", "", prefix.rstrip(":|-"))
        elif sign == "=":
            prefix = prefix[:-1]
        elif prefix and not self._adjoins(prefix, place) and not _LABEL_VERB.search(prefix):
            return None
        begin, end = max(prefix.rfind(mark) for mark in ",(|:?T-") + 1, len(prefix)
        mine = prefix.rfind("I", 0, end) + 1
        begin = max(begin, mine) if re.search("[SV]", prefix[mine:end]) else begin
        side = prefix.rfind("A", begin, end) + 1
        if re.search("A[VSGBf]+$", prefix[begin:end]):
            is_side_name = _SIDE.search(place.words_between(start + begin, start + side))
            begin = side if is_side_name else begin
        label = prefix[begin:end]
        if label.strip("f"):
            if sign == "=" and not _SUBJECT_OF.search(label):
                return None
            return label, place.words_between(start + begin, start + end), sign
        if sign == "=" or self.kinds[start - 1 : start] != "n" or before.strip("f(:-"):
            return None
        begin = max(self.kinds.rfind(mark, 0, start - 1) for mark in ".n?") + 1
        label = self.kinds[begin : start - 1].strip(":")
        words = place.words_between(begin, start - 1)
        return (label, words, "n") if re.fullmatch("[VSfQI]{1,6}", label) else None

    def _adjoins(self, prefix: str, place: Place) -> bool:
        """Whether the label directly precedes the answer: "Score 4", "Option C"."""
        follows = place.after[:1] != ":" or self.scale.kind == "choice"
        return prefix == place.before and prefix[-1] in "SV" and follows and not self.yes_no

    def _rank(self, label: str, words: str, sign: str) -> Rank | None:
        """Return the rank of an answer under `label`; None if the label names no verdict."""
        is_pair = self.scale.kind == "pair"
        several = re.search("f?A[xo/]A$", label) and self.scale.kind != "number"
        own = several or (self.aspect and self.aspect in words)
        other = re.search("[ZA]" if is_pair else "[ZAF]", label)
        if re.search("[NHU?]", label) or (other and not own):
            return None
        if own or (not is_pair and "V" in label):
            return Rank.FINAL
        if is_pair:
            part = "Q" in label and not LAST.search(words) and "overall" not in words
            whole = re.search("V|S|[GB]f*$", label) and not part
            return Rank.FINAL if whole else Rank.RATED if re.search("[GBgbVS]", label) else None
        if "S" in label:
            parts = Rank.RATED if re.search("[xQ]", label) else Rank.STATED
            return Rank.ASSIGNED if sign == "=" else parts
        return Rank.NAMED if sign != "=" and re.search("[QK]", label) else None
