"""Rank every answer in a reply by the words before and after it.

Words are represented by their kinds (`_words`), one letter each. An answer counts if it is
complete (and does not count the noun that follows), is not negated, hypothetical, asked or
reported, and is under a label, alone, after a verb of rating, or (for a pair) before a word of
preference.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank
from fairjudge.parsing._context import AnswerMatch, is_denied
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

Scales: n for numbers, x for numbers with their maximum, i for numbers after an article; y for yes
and no, c for other choices, p for pairs. Patterns match kinds of words.
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
_PARTIAL_ANSWERS = re.compile("w[fxQ]{1,4}[a,]f{0,2}A")


class Statements:
    """The answers that a text states, each with its rank.

    `items` are the spans of list items, in order; `aspect` is in lower case.
    """

    def __init__(
        self, text: str, words: Words, scale: Scale, items: list[tuple[int, int]], aspect: str
    ) -> None:
        self.text, self.lower_text, self.words = text, text.lower(), words
        self.scale, self.items, self.aspect = scale, items, aspect
        self.kinds = words.kinds
        self.first_index = len(self.kinds) - len(self.kinds.lstrip("n.:"))
        self.last_index = len(self.kinds.rstrip(".)n|-")) - 1
        self.yes_no = set(scale.answers) == {"yes", "no"}
        bare_matches = _BARE.finditer(self.kinds) if self.yes_no else ()
        self.bare_values = {words.answers[match.end() - 1].value for match in bare_matches}

    def __iter__(self) -> Iterator[Answer]:
        list_marks = self._list_marks()
        yield from self._claims() if self.yes_no else ()
        for index, answer in self.words.answers.items():
            candidate = AnswerMatch(
                self.text, self.lower_text, self.words, self.scale, index, answer
            )
            if index in list_marks or candidate.is_denied:
                continue
            if self.scale.kind == "pair":
                yield from preferences_at(candidate)
                if COMPARED.match(candidate.kinds_after):
                    continue
            if candidate.ends:
                yield from self._ranked_statements(candidate)

    def _ranked_statements(self, candidate: AnswerMatch) -> Iterator[Answer]:
        """Yield the answer with its rank, and the problem "several" if it is one of several."""
        statement = self._with_rank(candidate)
        is_in_list = self.scale.kind == "number" and self._in_items(candidate.answer.start)
        if statement is None or (is_in_list and statement.rank < Rank.STATED):
            return
        second = candidate.second
        if statement.rank is Rank.MENTIONED and _PARTIAL_ANSWERS.match(candidate.kinds_after):
            statement = replace(statement, value=None, problem="several")
        yield (
            replace(statement, value=None, problem="several", end=second.end)
            if second
            else statement
        )

    def _with_rank(self, candidate: AnswerMatch) -> Answer | None:
        answer, kinds_before = candidate.answer, candidate.kinds_before
        label = self._answer_under_label(candidate)
        if label or (_LABELLED.search(kinds_before) and not _NO_LABEL.search(kinds_before)):
            return label
        is_bare = not re.sub(r"\(?[fx]\)", "", kinds_before).strip("fC(-WT,:")
        is_revision = is_bare and "W" in kinds_before
        if re.search("[o/][f(]*$", kinds_before) or (self.yes_no and self._is_loose(candidate)):
            return None
        if is_bare and not is_revision and self.yes_no and self._is_opposed(candidate):
            return None
        if is_bare and not is_revision and self._is_alone(candidate):
            return replace(answer, rank=Rank.STATED)
        rank = self._rank_in_prose(candidate)
        after_question = self.kinds[candidate.start - 1 : candidate.start] == "?"
        if (
            rank is None
            and is_bare
            and (after_question or "C" in kinds_before or candidate.ends_line)
        ):
            rank = Rank.MENTIONED
        if rank is None:
            return None
        return replace(
            answer, rank=rank, revises="W" in kinds_before or kinds_before.endswith("wAt")
        )

    def _rank_in_prose(self, candidate: AnswerMatch) -> Rank | None:
        kind = {"number": "n", "pair": "p"}.get(self.scale.kind, "y" if self.yes_no else "c")
        if kind == "n":
            article = (
                self.lower_text[: candidate.answer.start].rstrip(' *"').endswith((" a", " an"))
            )
            kind += "x" * candidate.answer.explicit + "i" * article
        for kinds, before_pattern, after_pattern, rank in _COMPILED:
            if (
                set(kind) & set(kinds)
                and before_pattern.search(candidate.kinds_before)
                and after_pattern.match(candidate.kinds_after)
            ):
                return rank
        return None

    def _is_alone(self, candidate: AnswerMatch) -> bool:
        """Return whether a bare answer opens or closes the reply, and is not a list marker."""
        answer, kinds_after = candidate.answer, candidate.kinds_after
        if (
            candidate.index == self.last_index
            and self.kinds[candidate.start - 1 : candidate.start] == "n"
        ):
            return True
        if candidate.start > self.first_index or (
            kinds_after and kinds_after[0] not in ".n,:(w-)CTYWN|"
        ):
            return False
        one_sign = answer.end - answer.start == 1 and self.last_index > candidate.index + 12
        is_list_mark = kinds_after[:1] == "." and one_sign
        return self.scale.kind != "pair" or not is_list_mark

    def _is_loose(self, candidate: AnswerMatch) -> bool:
        """Return whether a digit is a count, or a yes or no is about a part ("no in the first")."""
        around = self.kinds[candidate.index : candidate.index + 6].rstrip("n.")
        digit = candidate.wording.isdigit() and around not in {"A", "A(A)", "A-A"}
        return digit or bool(_IN.match(self.text, candidate.answer.end))

    def _is_opposed(self, candidate: AnswerMatch) -> bool:
        """Return whether a bare yes or no is next to its contrary, or to a claim against it."""
        if self.bare_values - {candidate.answer.value} and not re.search(
            "[CW][f,:]*$", candidate.kinds_before
        ):
            return True
        if re.search(r"[FN][^.n?]*\?$", self.kinds[max(0, candidate.start - 48) : candidate.start]):
            return True
        claim = _CLAIM.match(self.kinds, candidate.index + 1)
        odd = claim and len(re.findall("[NF]", claim[0])) % 2
        return claim is not None and odd == (candidate.answer.value == 1.0)

    def _claims(self) -> Iterator[Answer]:
        """Yield descriptions of the summary that imply yes or no: "it is not consistent"."""
        for match in _FAITHFUL.finditer(self.lower_text):
            start, end = match.span()
            if not is_denied(
                _SENTENCE_START.split(self.lower_text[max(0, start - 160) : start])[-1]
            ):
                negative = bool(match["not"] or match["late"]) != bool(match["bad"])
                yield Answer(start=start, end=end, value=float(not negative), rank=Rank.CLAIMED)

    def _list_marks(self) -> set[int]:
        """Return the indices of answers that only number the items of a list: "1.", "A:"."""
        indices_by_sign: dict[str, list[int]] = {}
        first_index = len(self.kinds) - len(self.kinds.lstrip("f(-"))
        for index, answer in self.words.answers.items():
            sign, next_sign = self.kinds[index + 1 : index + 2], self.kinds[index + 2 : index + 3]
            begins_item = index <= first_index or self.kinds[index - 1] in "n-."
            begins_item = begins_item or (sign == ")" and self.kinds[index - 1] != "(")
            if (
                begins_item
                and not answer.explicit
                and sign
                and sign in ".):-"
                and next_sign.strip("n")
            ):
                indices_by_sign.setdefault(sign, []).append(index)
        answers = self.words.answers
        lists = (
            indices
            for indices in indices_by_sign.values()
            if len({answers[index].value for index in indices}) > 1
        )
        return {index for indices in lists for index in indices}

    def _in_items(self, start: int) -> bool:
        item_index = bisect_right(self.items, (start, len(self.text))) - 1
        return item_index >= 0 and start < self.items[item_index][1]

    def _answer_under_label(self, candidate: AnswerMatch) -> Answer | None:
        """Return the answer with the rank of its label; None without a label of a verdict."""
        heading = self._label(candidate)
        if heading is None:
            return None
        label, words, sign = heading
        rank = self._rank(label, words, sign)
        if rank is Rank.NAMED:
            if not candidate.answer.explicit and candidate.kinds_after[:1] not in {"", *".n)|-,"}:
                return None
            rank = Rank.MENTIONED if sign == "|" or "(" in candidate.kinds_before else rank
        if rank is None:
            return None
        value = candidate.answer.value
        if self.scale.kind == "pair" and ("B" in label or ("F" in label) != ("b" in label)):
            if value not in OTHER:
                return None
            value = OTHER[value]
        last = bool(LAST.search(words)) or "W" in label
        return replace(candidate.answer, value=value, rank=rank, revises=last)

    def _label(self, candidate: AnswerMatch) -> tuple[str, str, str] | None:
        """Return the kinds and the words of the answer's label, and the sign after it, or None."""
        kinds_before, start = candidate.kinds_before, candidate.start
        prefix = re.sub(r"\([fx]\)$", "", kinds_before).rstrip("f(~/")
        prefix = re.sub("(?<=[=:])[wC]$", "", prefix)
        sign = prefix[-1:]
        if sign and sign in ":|-":
            prefix = re.sub(r"\([^()]{0,16}\)$", "", prefix.rstrip(":|-"))
        elif sign == "=":
            prefix = prefix[:-1]
        elif prefix and not self._adjoins(prefix, candidate) and not _LABEL_VERB.search(prefix):
            return None
        begin, end = max(prefix.rfind(mark) for mark in ",(|:?T-") + 1, len(prefix)
        mine = prefix.rfind("I", 0, end) + 1
        begin = max(begin, mine) if re.search("[SV]", prefix[mine:end]) else begin
        side = prefix.rfind("A", begin, end) + 1
        if re.search("A[VSGBf]+$", prefix[begin:end]):
            is_side_name = _SIDE.search(candidate.words_between(start + begin, start + side))
            begin = side if is_side_name else begin
        label = prefix[begin:end]
        if label.strip("f"):
            if sign == "=" and not _SUBJECT_OF.search(label):
                return None
            return label, candidate.words_between(start + begin, start + end), sign
        if sign == "=" or self.kinds[start - 1 : start] != "n" or kinds_before.strip("f(:-"):
            return None
        begin = max(self.kinds.rfind(mark, 0, start - 1) for mark in ".n?") + 1
        label = self.kinds[begin : start - 1].strip(":")
        words = candidate.words_between(begin, start - 1)
        return (label, words, "n") if re.fullmatch("[VSfQI]{1,6}", label) else None

    def _adjoins(self, prefix: str, candidate: AnswerMatch) -> bool:
        """Return whether the label directly precedes the answer: "Score 4", "Option C"."""
        follows = candidate.kinds_after[:1] != ":" or self.scale.kind == "choice"
        return (
            prefix == candidate.kinds_before and prefix[-1] in "SV" and follows and not self.yes_no
        )

    def _rank(self, label: str, words: str, sign: str) -> Rank | None:
        """Return the rank of an answer under `label`; None if it is not the label of a verdict."""
        is_pair = self.scale.kind == "pair"
        is_choice_list = re.search("f?A[xo/]A$", label) and self.scale.kind != "number"
        is_own = is_choice_list or (self.aspect and self.aspect in words)
        is_other = re.search("[ZA]" if is_pair else "[ZAF]", label)
        if re.search("[NHU?]", label) or (is_other and not is_own):
            return None
        if is_own or (not is_pair and "V" in label):
            return Rank.FINAL
        if is_pair:
            is_part = "Q" in label and not LAST.search(words) and "overall" not in words
            is_overall = re.search("V|S|[GB]f*$", label) and not is_part
            return (
                Rank.FINAL if is_overall else Rank.RATED if re.search("[GBgbVS]", label) else None
            )
        if "S" in label:
            parts = Rank.RATED if re.search("[xQ]", label) else Rank.STATED
            return Rank.ASSIGNED if sign == "=" else parts
        return Rank.NAMED if sign != "=" and re.search("[QK]", label) else None
