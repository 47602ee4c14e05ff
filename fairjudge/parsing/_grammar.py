"""Weighs every answer in a reply by what stands left and right of it.

The words are those of `_words`, one letter a kind. An answer counts where it ends there (and does
not count the noun that follows), is neither denied, supposed, asked, nor told of others, and stands
under a label, alone, after a verb that gives it, or (for a pair) before what makes it the better.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import Place, is_denied
from fairjudge.parsing._pairs import COMPARED, OTHER, said_of_sides
from fairjudge.parsing._tokens import Words
from fairjudge.parsing._words import LAST
from fairjudge.scales import Scale

_GIVEN = r"R[fwtaQSGI]*:?f?$"
_RULES: tuple[tuple[str, str, str, Rank], ...] = (
    ("npcy", r"W[ft,:]*$|[WS][^,A]{0,6}wAt$", "", Rank.SAID),
    ("p", "E[fw]*$", "", Rank.SAID),
    ("npcy", r"I[fwCMvt]*[RSV][fwtaQSGIx]{0,9}:?f?$", "", Rank.SAID),
    ("nx", "^[CT,]*f{1,3}Rf*$", r"[.n]|$", Rank.SAID),
    ("nx", rf"^(?!.*M)(?:|.*[,aCTfwWSQ(=-]){_GIVEN}", "", Rank.MENTIONED),
    ("nx", r"(?:S[fw]?[=:]?|Q[fw=:])f?$|[QFK]\($", "", Rank.MENTIONED),
    ("x", r"(?:^|[,C(:TRSQw-])f*$", r"[.n)]|[.)|:(-]{0,8}(?:n|$)", Rank.MENTIONED),
    ("i", r"(?:^|[,CTYIa])[fZ]{0,3}=f$", "", Rank.MENTIONED),
    ("pcy", r"(?:^|[,CTYIa])[fZ]{0,3}=$", r"[.,w]|[.)|:(-]{0,8}(?:n|$)", Rank.MENTIONED),
    ("npcy", r"C[f:]*$|^.{4,}[,(T][f:]*$", r"[.)]{0,8}(?:n|$)|\.$", Rank.MENTIONED),
)
"""In what scales, after and before what kinds of words an answer has what rank.

Scales: n of numbers, x of numbers where the answer names its maximum, i after an article; y of yes
and no, c of other choices, p of pairs.
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
    """The answers that a text states, each with its rank; `aspect` in small letters."""

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
                yield from said_of_sides(place)
                if COMPARED.match(place.after):
                    continue
            if place.ends:
                yield from self._stated(place)

    def _stated(self, place: Place) -> Iterator[Answer]:
        """Yield the answer with its rank, or that it is one of several."""
        found = self._ranked(place)
        listed = self.scale.kind == "number" and self._in_items(place.answer.start)
        if found is None or (listed and found.rank < Rank.STATED):
            return
        other = place.second
        if found.rank is Rank.MENTIONED and _PARTS.match(place.after):
            found = replace(found, value=None, problem="several")
        yield replace(found, value=None, problem="several", end=other.end) if other else found

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
        asked = self.kinds[place.start - 1 : place.start] == "?"
        if rank is None and bare and (asked or "C" in before or place.ends_line):
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
        """Whether a bare answer opens the reply or closes it, and does not begin a list."""
        answer, after = place.answer, place.after
        if place.place == self.last and self.kinds[place.start - 1 : place.start] == "n":
            return True
        if place.start > self.opening or (after and after[0] not in ".n,:(w-)CTYWN|"):
            return False
        one_sign = answer.end - answer.start == 1 and self.last > place.place + 12
        listed = after[:1] == "." and one_sign
        return self.scale.kind != "pair" or not listed

    def _is_loose(self, place: Place) -> bool:
        """Whether a digit stands for something else than yes or no, or "no" for a part of it."""
        around = self.kinds[place.place : place.place + 6].rstrip("n.")
        digit = place.said.isdigit() and around not in {"A", "A(A)", "A-A"}
        return digit or bool(_IN.match(self.text, place.answer.end))

    def _is_opposed(self, place: Place) -> bool:
        """Whether a bare yes or no stands beside its contrary, or beside what denies it."""
        if self.bare - {place.answer.value} and not re.search("[CW][f,:]*$", place.before):
            return True
        if re.search(r"[FN][^.n?]*\?$", self.kinds[max(0, place.start - 48) : place.start]):
            return True
        claim = _CLAIM.match(self.kinds, place.place + 1)
        odd = claim and len(re.findall("[NF]", claim[0])) % 2
        return claim is not None and odd == (place.answer.value == 1.0)

    def _claims(self) -> Iterator[Answer]:
        """Read what is said of the summary that yes or no would mean: "it is not consistent"."""
        for match in _FAITHFUL.finditer(self.small):
            start, end = match.span()
            if not is_denied(_SENTENCE_START.split(self.small[max(0, start - 160) : start])[-1]):
                negative = bool(match["not"] or match["late"]) != bool(match["bad"])
                yield Answer(start=start, end=end, value=float(not negative), rank=Rank.CLAIMED)

    def _marks(self) -> set[int]:
        """Return the answers that but mark the items of a list: "1.", "2."; "A:", "B:"."""
        found: dict[str, list[int]] = {}
        opening = len(self.kinds) - len(self.kinds.lstrip("f(-"))
        for place, answer in self.words.answers.items():
            sign, beyond = self.kinds[place + 1 : place + 2], self.kinds[place + 2 : place + 3]
            begins = place <= opening or self.kinds[place - 1] in "n-."
            begins = begins or (sign == ")" and self.kinds[place - 1] != "(")
            if begins and not answer.explicit and sign and sign in ".):-" and beyond.strip("n"):
                found.setdefault(sign, []).append(place)
        values = self.words.answers
        lists = (at for at in found.values() if len({values[one].value for one in at}) > 1)
        return {place for places in lists for place in places}

    def _in_items(self, place: int) -> bool:
        at = bisect_right(self.items, (place, len(self.text))) - 1
        return at >= 0 and place < self.items[at][1]

    def _under_label(self, place: Place) -> Answer | None:
        """Return the answer with the rank that its label gives it; None where that gives none."""
        found = self._label(place)
        if found is None:
            return None
        label, said, sign = found
        rank = self._rank(label, said, sign)
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
        last = bool(LAST.search(said)) or "W" in label
        return replace(place.answer, value=value, rank=rank, revises=last)

    def _label(self, place: Place) -> tuple[str, str, str] | None:
        """Return what the answer stands under: kinds, words, and the sign between."""
        before, start = place.before, place.start
        kept = re.sub(r"\([fx]\)$", "", before).rstrip("f(~/")
        kept = re.sub("(?<=[=:])[wC]$", "", kept)
        sign = kept[-1:]
        if sign and sign in ":|-":
            kept = re.sub(r"\([^()]{0,16}\)$", "", kept.rstrip(":|-"))
        elif sign == "=":
            kept = kept[:-1]
        elif kept and not self._adjoins(kept, place) and not _LABEL_VERB.search(kept):
            return None
        begin, end = max(kept.rfind(mark) for mark in ",(|:?T-") + 1, len(kept)
        mine = kept.rfind("I", 0, end) + 1
        begin = max(begin, mine) if re.search("[SV]", kept[mine:end]) else begin
        side = kept.rfind("A", begin, end) + 1
        if re.search("A[VSGBf]+$", kept[begin:end]):
            named = _SIDE.search(place.words_between(start + begin, start + side))
            begin = side if named else begin
        label = kept[begin:end]
        if label.strip("f"):
            if sign == "=" and not _SUBJECT_OF.search(label):
                return None
            return label, place.words_between(start + begin, start + end), sign
        if sign == "=" or self.kinds[start - 1 : start] != "n" or before.strip("f(:-"):
            return None
        begin = max(self.kinds.rfind(mark, 0, start - 1) for mark in ".n?") + 1
        label = self.kinds[begin : start - 1].strip(":")
        said = place.words_between(begin, start - 1)
        return (label, said, "n") if re.fullmatch("[VSfQI]{1,6}", label) else None

    def _adjoins(self, kept: str, place: Place) -> bool:
        """Whether the label stands right before the answer: "Score 4", "Option C"."""
        follows = place.after[:1] != ":" or self.scale.kind == "choice"
        return kept == place.before and kept[-1] in "SV" and follows and not self.yes_no

    def _rank(self, label: str, said: str, sign: str) -> Rank | None:
        """Say how plainly an answer under `label` is the verdict; None where it is none."""
        is_pair = self.scale.kind == "pair"
        several = re.search("f?A[xo/]A$", label) and self.scale.kind != "number"
        own = several or (self.aspect and self.aspect in said)
        other = re.search("[ZA]" if is_pair else "[ZAF]", label)
        if re.search("[NHU?]", label) or (other and not own):
            return None
        if own or (not is_pair and "V" in label):
            return Rank.FINAL
        if is_pair:
            part = "Q" in label and not LAST.search(said) and "overall" not in said
            whole = re.search("V|S|[GB]f*$", label) and not part
            return Rank.FINAL if whole else Rank.RATED if re.search("[GBgbVS]", label) else None
        if "S" in label:
            parts = Rank.RATED if re.search("[xQ]", label) else Rank.STATED
            return Rank.SAID if sign == "=" else parts
        return Rank.NAMED if sign != "=" and re.search("[QK]", label) else None
