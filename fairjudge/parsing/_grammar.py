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
from fairjudge.parsing._tokens import Words, words_of
from fairjudge.parsing._words import LAST
from fairjudge.scales import Position, Scale, options

_SENTENCE_END = re.compile(r"[.n?]")
_LINE_END = re.compile(r"[.)|:(-]{0,8}(?:n|$)")
_REACH, _AHEAD = 48, 16
_ENDS = re.compile(r"$|[.n,:()|wTYCIVWDa?>-]|[VGB]:|<[/|]|f=(?=[.n]|$)|t(?!f?A)")
_TOLD_AFTER = re.compile(r"\)?(?:\?|M|\(W|f?[^.n?A]{0,8}U|[=P]f?[NF])")
_SECOND = re.compile(r"\)*(?:[/~oat|-]|,[oa]?N?|:)\(*f?A")
_BUT = re.compile(r",?[Taf]{1,3}A")
_CLAUSE = re.compile(r"[TYC]|,(?=[aCwf]*R)|,(?=f?I)")
_FILL = "f(~/"
_ASIDE = re.compile(r"\([^()]{0,16}\)$")
_GIVES = re.compile(r"(?:^|[,aCTfwWS(=-])R[fwtaQSGI]*$|I[fwCMvt]*[RSV][fwtaQSGIx]{0,9}$")
_IS = re.compile(r"(?:^|[,CTYIa])[fZ]{0,3}=f?$")
_NOUN = re.compile(r"(?:S[fw]?[=:]?|Q[fw=:])f?$")
_BETTER = re.compile(
    r"\)?(?:,[^,.n?A]{1,10}(?:A[^,.n?A]{0,9})?,)?(?:[fwvat=PQCR]|cA|f?Ap){0,8}?"
    r"(?:(?P<good>G|(?<=[=f])V)|(?P<bad>B)|(?P<more>g[fa]?F|b(?=[fQxKGS])|F(?=g))|(?P<less>g(?=[fQxKGS])|bf?F|F(?=b))"
    r"|(?P<wins>D)f?A|(?P<loses>d)f?A)(?P<rest>[^.n?]*)"
)
_WHOLE = re.compile(r"(?:f|A|wA|[ctD]f?A|G|S|V|w(?=[fV]))*(?:$|[.n,:()TYUCa=-]|w)")
_UNSPACED = re.compile(rf"x{{0,8}}[.n]?$|x{{0,8}},|{_WHOLE.pattern}")
_SUBJECT = re.compile(r"(?:^|[,:(TYCa=HIMp-])[fwCIRTaWM,=]*$")
_SUBJECT_OF = re.compile(r"(?:[SVGB]|[gb][xQ])(?:f|C|[(][^()]*[)]|[wt][fxQSK]{1,5}|I?M?R)?f?$")
_ABOUT = re.compile(r"(?:^|[,CT])f*w[fx]{0,2}Q,?f?$|Q:f?$")
_OTHER: dict[object, Position] = {"first": "second", "second": "first"}


def statements(
    text: str, words: Words, scale: Scale, items: list[tuple[int, int]], aspect: str
) -> Iterator[Answer]:
    """Yield the answers that the text states, each with its rank."""
    reader = _Reader(text, words, scale, items, aspect.lower())
    yield from reader.statements()


class _Reader:
    def __init__(
        self, text: str, words: Words, scale: Scale, items: list[tuple[int, int]], aspect: str
    ) -> None:
        self.text, self.small, self.words = text, text.lower(), words
        self.scale, self.items, self.aspect = scale, items, aspect
        self.kinds = words.kinds
        n = len(self.kinds)
        self.first = n - len(self.kinds.lstrip("n.:"))
        self.first_word = n - len(self.kinds.lstrip("f(-"))
        self.last = len(self.kinds.rstrip(".)n|-")) - 1
        self.choice = set(scale.answers) == {"yes", "no"}
        self.bare = (
            {words.answers[m.end() - 1].value for m in _BARE.finditer(self.kinds)}
            if self.choice
            else set()
        )

    def statements(self) -> Iterator[Answer]:
        marks = self._marks()
        if self.choice:
            yield from self._claims()
        for place, answer in self.words.answers.items():
            start, before = self._before(place)
            after = self.kinds[place + 1 : place + 1 + _AHEAD]
            if before.startswith("N,"):
                before = "W" + before[1:]
            if self.scale.kind == "number" and (
                re.search("cf?$", before) or self._of_another_scale(start, answer)
            ):
                continue
            if place in marks or _denies(before) or _TOLD_AFTER.match(after):
                continue
            if self.scale.kind == "pair":
                yield from self._preference(place, answer, before, after)
                yield from self._tie(place, answer, before)
                if re.match(r"[><~](?![/|])|:+A", after):
                    continue
            if place in self.words.answers and self._is_told(place, start, answer):
                continue
            other = self._second(place, answer, after)
            ends = (
                _ENDS.match(after)
                or (answer.explicit and after[:1] in set("wtfQ"))
                or other
                or (
                    self.scale.kind == "number"
                    and (after[:1] in {"=", "v"} or _RATHER.match(self.text, answer.end))
                )
            )
            ends = (
                ends
                or _NEW_SENTENCE.match(text := self.text, answer.end)
                or (
                    before.endswith("wAt")
                    and "from" in text[answer.start - 14 : answer.start].lower()
                )
            )
            if not ends or (self.scale.kind != "number" and after[:1] in set("=PG")):
                continue
            for rank, flipped, last in self._ranks(place, start, before, after, answer):
                if (
                    rank < Rank.STATED
                    and self._in_items(answer.start)
                    and self.scale.kind == "number"
                ):
                    continue
                value = _OTHER.get(answer.value, answer.value) if flipped else answer.value
                if flipped and value == answer.value:
                    continue
                found = replace(answer, value=value, rank=rank, revises=last)  # type: ignore[arg-type]
                yield (
                    replace(found, value=None, problem="several", end=other.end) if other else found
                )
                break

    def _of_another_scale(self, start: int, answer: Answer) -> bool:
        """Whether the sentence names another maximum: "Score (out of 10): 4"."""
        tops = _TOP.findall(self.text, self.words.starts[start], answer.start)
        return any(
            top and float(top) != self.scale.levels[-1].value for pair in tops for top in pair
        )

    def _is_opposed(self, place: int, before: str, answer: Answer) -> bool:
        """Whether a bare yes or no stands beside its contrary, or before or after what denies it."""
        if not self.choice:
            return False
        if self.bare - {answer.value} and not re.search("[CW][f,:]*$", before):
            return True
        start = place - len(before)
        if re.search(r"[FN][^.n?]*\?$", self.kinds[max(0, start - _REACH) : start]):
            return True
        claim = _CLAIM.match(self.kinds, place + 1)
        if claim is None:
            return False
        denials = len(re.findall("[NF]", claim[0]))
        return denials % 2 == (1 if answer.value == self.scale.levels[-1].value else 0)

    def _before(self, place: int) -> tuple[int, str]:
        low = max(0, place - _REACH)
        start = max(self.kinds.rfind(sign, low, place) for sign in ".n?") + 1
        start = max(start, low)
        return start, self.kinds[start:place]

    def _said(self, start: int, end: int) -> str:
        """Return the words from `start` to before `end`, in small letters."""
        if start >= end:
            return ""
        return self.small[self.words.starts[start] : self.words.ends[end - 1]]

    def _is_told(self, place: int, start: int, answer: Answer) -> bool:
        """Whether a line quotes the material, a score is others', or what a later one starts from."""
        before = self.text[self.words.starts[start] : answer.start]
        if (
            _SOURCE.search(before)
            or (self.scale.kind == "number" and _BY.match(self.text, answer.end))
            or _IF.match(self.text, answer.end)
        ):
            return True
        return self.kinds[place + 1 : place + 2] == "t" and before.lower().rstrip().endswith("from")

    def _second(self, place: int, answer: Answer, after: str) -> Answer | None:
        """Return another answer offered in the same breath: "3 or 4", "1, 2, 3", "yes/no"."""
        found = _SECOND.match(after) or (_BUT.match(after) if self.choice else None)
        if found is None:
            return None
        other = self.words.answers[place + found.end()]
        if other.value == answer.value:
            return None
        beyond = self.kinds[place + found.end() + 1 : place + found.end() + 2]
        between = self.small[answer.end : other.start]
        if "N" in found[0] and not re.search("maybe|perhaps|possibly", between):
            return None
        if ":" in found[0]:
            return other if re.search("[>→≻]", between) else None
        sure = after.lstrip(")")[:1] not in {",", "-"} or "N" in found[0]
        return (
            other
            if (sure and _ENDS.match(beyond)) or (beyond in {",", "", ".", "n", "o", "a", ")"})
            else None
        )

    def _claims(self) -> Iterator[Answer]:
        """Read what is said of the summary that yes or no would mean: "it is not consistent"."""
        for match in _FAITHFUL.finditer(self.small):
            start, end = match.span()
            sentence = _SENTENCE_START.split(self.small[max(0, start - 160) : start])[-1]
            if not is_denied(sentence):
                negative = bool(match["not"] or match["late"]) != bool(match["bad"])
                yield Answer(start=start, end=end, value=float(not negative), rank=Rank.CLAIMED)

    def _marks(self) -> set[int]:
        """Return the answers that but mark the items of a list: "1.", "2."; "A:", "B:"."""
        found: dict[str, list[int]] = {}
        for place, answer in self.words.answers.items():
            first = place == 0 or self.kinds[place - 1] in "n-." or place <= self.first_word
            sign = self.kinds[place + 1 : place + 2]
            first = first or (sign == ")" and self.kinds[place - 1] != "(")
            if (
                first
                and not answer.explicit
                and (
                    sign in {".", ")", ":", "-"}
                    and self.kinds[place + 2 : place + 3] not in {"n", ""}
                )
            ):
                found.setdefault(sign, []).append(place)
        values = self.words.answers
        return {
            place
            for places in found.values()
            if len({values[place].value for place in places}) > 1
            for place in places
        }

    def _in_items(self, place: int) -> bool:
        at = bisect_right(self.items, (place, len(self.text))) - 1
        return at >= 0 and place < self.items[at][1]

    def _ranks(
        self, place: int, start: int, before: str, after: str, answer: Answer
    ) -> Iterator[tuple[Rank, bool, bool]]:
        """Yield how plainly an answer is stated: its rank, if the label is of the worse, if it is the last word."""
        yield from self._under_label(place, start, before, after, answer)
        if re.search(r"[A-Za-z]\(?[^().n]{0,14}\)?[:|=][f(]*$", before) and not (
            _IS.search(before) or re.search(r"(?:^|[.n,])[CfRIWT]*:f?$", before)
        ):
            return
        bare = not re.sub(r"\(?[fx]\)", "", before).strip("fC(-WT,:")
        if (
            self.choice
            and self.text[answer.start : answer.end].isdigit()
            and self.kinds[place : place + 6] not in {"A", "A(A)", "A-A"}
        ):
            return
        ends = place == self.last or bool(_LINE_END.match(self.kinds, place + 1))
        opens = start <= self.first
        if re.search("W[ft,:]*$", before) or (
            before.endswith("wAt") and ("W" in before or "S" in before)
        ):
            yield Rank.SAID, False, True
        if re.search("[o/][f(]*$", before):
            return
        if bare and self._is_opposed(place, before, answer):
            return
        if self.choice and _IN.match(self.text, answer.end):
            return
        listed = (
            self.scale.kind == "pair"
            and after[:1] == "."
            and answer.end - answer.start == 1
            and self.last > place + 12
        )
        if (
            bare
            and opens
            and not listed
            and (after[:1] in ".n,:(w-)CTWN|" or not after)
            and not (
                self.scale.kind == "pair"
                and re.match(r"\s?[:=]\s?(?:\d|\W*$|\n)", self.text[answer.end : answer.end + 9])
            )
        ) or (bare and place == self.last and self.kinds[start - 1 : start] == "n"):
            yield Rank.STATED, False, False
        gives = _GIVES.search(before.rstrip(":"))
        if self.scale.kind == "pair" and _EDGE.search(
            self.text, max(0, answer.start - 30), answer.start
        ):
            yield Rank.SAID, False, False
        if gives and (
            "I" in gives[0]
            or (self.scale.kind == "number" and "M" not in before)
            or (self.scale.kind == "choice" and gives.start())
        ):
            plain = re.fullmatch("[CT,]*f{1,3}Rf*", before) and after[:1] in {"", ".", "n"}
            yield (
                (Rank.SAID if plain or "I" in gives[0][:4] else Rank.MENTIONED),
                False,
                "W" in before,
            )
        if self.scale.kind == "number":
            if _NOUN.search(before) or (
                before.endswith("(") and (answer.explicit or before[-2:-1] in "QFK")
            ):
                yield Rank.MENTIONED, False, "W" in before
            if (
                answer.explicit
                and (not before.rstrip("f") or before.rstrip("f")[-1] in ",C(:-TRSQw")
                and (ends or after[:1] in ".n)")
            ):
                yield Rank.MENTIONED, False, "W" in before
            if _IS.search(before) and self.text[: answer.start].rstrip(' *"').lower().endswith(
                (" a", " an")
            ):
                yield Rank.MENTIONED, False, "W" in before
        elif (
            _IS.search(before)
            and (ends or after[:1] in {".", ",", "w"})
            and not before.endswith("f")
        ):
            yield Rank.MENTIONED, False, "W" in before
        if (bare or before.rstrip("f:")[-1:] in set(",C(T")) and ends and after[:1] in ".)n":
            short = len(before.strip("fC")) > 3 or bare or "C" in before[-2:]
            if bare or short:
                yield Rank.MENTIONED, False, "W" in before
        elif bare and self.scale.kind == "choice":
            yield Rank.MENTIONED, False, False

    def _under_label(
        self, place: int, start: int, before: str, after: str, answer: Answer
    ) -> Iterator[tuple[Rank, bool, bool]]:
        kept = re.sub("(?<=[=:])[wC]$", "", re.sub(r"\([fx]\)$", "", before).rstrip(_FILL))
        sign = kept[-1:]
        end = len(kept)
        if sign and sign in ":|-":
            kept = kept.rstrip(":|-")
            kept = _ASIDE.sub("", kept)
        elif sign == "=":
            kept = kept[:-1]
        elif (
            kept
            and not (
                not self.choice
                and sign in {"S", "V"}
                and (after[:1] != ":" or self.scale.kind == "choice")
                and kept == before
            )
            and not re.search(r"V[fw]*R[fwt]*$|Vw[fw]*$", kept)
        ):
            return
        end = len(kept)
        begin = max(kept.rfind(mark) for mark in ",(|:?T-") + 1
        if sign == "|":
            begin, end = 0, (kept.strip("|") + "|").index("|") + len(kept) - len(kept.lstrip("|"))
        if re.search("[SV]", kept[(mine := kept.rfind("I", 0, end)) + 1 : end]):
            begin = max(begin, mine + 1)
        if re.search("A[VSGBf]+$", kept[begin:end]) and _NAMED_SIDE.search(
            self._said(start + begin, start + kept.rfind("A", begin, end) + 1)
        ):
            begin = kept.rfind("A", begin, end) + 1
        label = kept[begin:end]
        said = self._said(start + begin, start + end)
        if not label.strip("f"):
            if sign == "=" or self.kinds[start - 1 : start] != "n" or before.strip("f(:-"):
                return
            begin = max(self.kinds.rfind(mark, 0, start - 1) for mark in ".n?") + 1
            label = self.kinds[begin : start - 1].strip(":")
            said = self._said(begin, start - 1)
            if not re.fullmatch(r"[VSfQI]{1,6}", label):
                return
        rank = (
            None if sign == "=" and not _SUBJECT_OF.search(label) else self._rank(label, said, sign)
        )
        if rank is None:
            return
        if rank is Rank.NAMED and not (
            answer.explicit or after[:1] in {"", ".", "n", ")", "|", "-", ","}
        ):
            return
        if rank is Rank.NAMED and (sign == "|" or "(" in before):
            rank = Rank.MENTIONED
        flipped = self.scale.kind == "pair" and bool(
            "B" in label or ("F" in label) != ("b" in label)
        )
        yield rank, flipped, bool(LAST.search(said)) or "W" in label

    def _rank(self, label: str, said: str, sign: str) -> Rank | None:
        """Say how plainly an answer under `label` is the verdict; None where it is none."""
        if re.search("[NHU?]", label):
            return None
        if self.scale.kind == "pair":
            if re.search("f?A[xo/]A$", label):
                return Rank.FINAL
            if "Z" in label or "A" in label or not re.search("[VSGBgb]", label):
                return None
            whole = re.search("V|S|[GB]f*$", label) and (
                LAST.search(said) or "overall" in said or "Q" not in label
            )
            return Rank.FINAL if whole else Rank.RATED
        if self.scale.kind == "choice" and re.search("f?A[xo/]A$", label):
            return Rank.FINAL
        if self.aspect and self.aspect in said:
            return Rank.FINAL
        if "Z" in label or "A" in label or "F" in label:
            return None
        if "V" in label:
            return Rank.FINAL
        if "S" in label:
            if sign == "=":
                return Rank.SAID
            return Rank.RATED if re.search("[xQ]", label) else Rank.STATED
        if sign == "=" or not ("Q" in label or "K" in label):
            return None
        return Rank.NAMED

    def _tie(self, place: int, answer: Answer, before: str) -> Iterator[Answer]:
        """Read what says that both are level: "equally good", "neither is better"."""
        said = self.small[answer.start : answer.end]
        if (
            answer.value != "tie"
            or len(said) < 3
            or (before != "A:" and re.search("[o/:][f(]*$|Q:[^:]*$", before))
        ):
            return
        if said.startswith(("both", "same", "the same")) or (
            said.startswith("neither") and not re.match("[^.nT]{0,9}G", self.kinds[place + 1 :])
        ):
            return
        narrow = bool(re.search(r"equally\s(?!good|bad|strong)\w", said))
        yield replace(answer, rank=Rank.MENTIONED if narrow else Rank.NAMED)

    def _preference(self, place: int, answer: Answer, before: str, after: str) -> Iterator[Answer]:
        """Read "Summary 2 is better", "A beats B", "A > B": what is said of the side at `place`."""
        if answer.value not in _OTHER:
            return
        if re.match(r"[><~](?![/|])|:+A", after):
            other = self.words.answers.get(
                place + 1 + len(after[:8]) - len(after[:8].lstrip("><~:"))
            )
            sign = self.text[answer.end : answer.end + 3].strip()[:1]
            told = (
                (other and _TOLD_AFTER.match(self.kinds[place + 3 :]))
                or self.kinds[place + 3 : place + 4] in {">", ":"}
                or self.kinds[max(0, place - 1) : place] == ">"
            )
            if (
                other
                and not told
                and other.value in _OTHER
                and other.value != answer.value
                and sign in "><=≈~≻"
            ):
                value = (
                    answer.value if sign in ">≻" else _OTHER[answer.value] if sign == "<" else "tie"
                )
                yield replace(answer, end=other.end, value=value, rank=Rank.STATED)  # type: ignore[arg-type]
            return
        ranks = re.match("[vR=]f?A", after)
        if ranks and _SUBJECT.search(before):
            other = self.words.answers[place + ranks.end()]
            word = self.small[other.start : other.end].removeprefix("the ")
            if word in {"first", "second"} and _ENDS.match(after[ranks.end() :].lstrip("xR")):
                value = answer.value if word == "first" else _OTHER[answer.value]
                yield replace(answer, end=other.end, value=value, rank=Rank.NAMED)  # type: ignore[arg-type]
            return
        said = _BETTER.match(self.kinds[place + 1 : place + 30])
        if said is None or not _SUBJECT.search(before):
            return
        gap = said[0][: len(said[0]) - len(said["rest"])]
        if (
            "N" in gap
            or "H" in gap
            or before.rstrip("f").endswith("N")
            or re.search("^[CT,]*Yf?$", before)
        ):
            return
        good = bool(said["good"] or said["less"] or said["wins"])
        rest = said["rest"]
        spaced = self.text[self.words.ends[place + said.end() - len(said["rest"])] - 1].isascii()
        respect = _ABOUT.search(before) or re.match(r"(?:cf?A)?w[fxw]{0,2}Q", rest)
        narrow = said["more"] or said["less"]
        if said["more"] or said["less"]:
            rest = rest.lstrip("fQxFKS")
        after = self.kinds[place + 1 + len(gap) : place + 1 + len(gap) + _AHEAD]
        if self.kinds[place + 1 + said.end() : place + 2 + said.end()] == "?":
            return
        if re.match(r"x{0,8}N" if not spaced else "xN|N", rest) or _TOLD_AFTER.match(
            after[len(after) - len(after.lstrip("fQxFK")) :]
        ):
            return
        alone = self.kinds.count(".") + self.kinds.count("n") + self.kinds.count("?") < 3
        if narrow and not (
            alone or "C" in before or "I" in before or re.match(r"[fx]{0,2}[ctD]f?A", rest)
        ):
            return
        if (
            narrow
            and "v" in gap
            and "F" not in gap + rest[:2]
            and not re.match(r"[fx]?[ctD]f?A", rest)
        ):
            return
        whole = said["wins"] or said["loses"] or (_WHOLE if spaced else _UNSPACED).match(rest)
        if not whole:
            return
        value = answer.value if good else _OTHER[answer.value]
        rank = Rank.MENTIONED if narrow else Rank.NAMED
        if rank is Rank.NAMED and re.search(r"[CVI]", before + said[0][-3:]):
            rank = Rank.SAID
        if respect and not narrow:
            yield replace(answer, value=None, problem="several")
            return
        end = self.words.ends[min(place + len(gap), len(self.words.ends) - 1)]
        yield replace(answer, end=end, value=value, rank=rank)  # type: ignore[arg-type]


def _denies(before: str) -> bool:
    """Whether what stands before an answer denies it, supposes it, or tells of others."""
    part = _CLAUSE.split(before.rstrip("(f"))[-1]
    near = re.split(r"[,:(]", part)[-1]
    return "H" in part or "U" in part or "N" in near or bool(re.search("[<>]$|^[^I]*M", near))


_TOP = re.compile(
    r"(?:out\sof|\bmax\w*|(?:\(|\bon\sa\s|\bscale\s|\bof\s|\bfrom\s)[01]\s?(?:-|to|through))\s?(\d{1,3})\b|\b(\d{1,3})-?\s?(?:point\b|点中|段階)",
    re.IGNORECASE,
)
"""The highest score that there is."""
_BARE = re.compile(r"(?:^|(?<=[.n?,TCa-]))f*A(?=[.n,:)?-]|$)")
_CLAIM = re.compile(r"[,:(-]?[^.n?T,A]{0,10}?(?:F|K|Q(?=[.n,]|$))")
_SOURCE = re.compile(
    r"(?:^|\b(?:in|from)\s)\W{0,9}(?:the\s)?(?:summary|text|article|source)\s?:", re.IGNORECASE
)
_IF = re.compile(
    r"[ ]?[(,]?[ ]?(?:only\s)?(?:if(?!\s(?:only\sjust|forced|pressed|i\s(?:must|had|have)))|unless|assuming|provided)\b|\s?=\s?[a-z]",
    re.IGNORECASE,
)
_RATHER = re.compile(r",?\s(?:rather\sthan|instead\sof|not)\b", re.IGNORECASE)
_BY = re.compile(r"\s{1,3}(?:by|from)\s(?!the\s(?:scale|given|range)|me\b)\w", re.IGNORECASE)
_NEW_SENTENCE = re.compile(r"\s{1,4}[A-Z][a-z']*(?:\s[a-z]|:)")
_EDGE = re.compile(r"\b(?:edge|nod|advantage)\s(?:goes\s)?to\s(?:the\s)?\Z", re.IGNORECASE)
_FAITHFUL = re.compile(
    r"\b(?:summary|it)(?:\s(?:is|was)|'s)(?P<not>n't|\s(?:therefore\s|thus\s)?not)?\s(?:(?:therefore|thus|also|\w+ly)\s){0,2}"
    r"(?P<late>not\s)?(?:\w+ly\s)?(?P<bad>in(?=con|acc|corr)|un(?=fai|supp))?(?:consistent|faithful|accurate|supported|correct)\b"
)
_SENTENCE_START = re.compile(r"[.!?\n]\s")
_NAMED_SIDE = re.compile(r"\b[12ab]$")
_IN = re.compile(r"\s(?:in|on|for|with|by|from|at)\b")


def is_denied(before: str) -> bool:
    """Whether the words before a form deny it, suppose it, or tell of others."""
    kinds = words_of(before, _NO_SCALE).kinds
    return kinds.endswith("o") or _denies(kinds)


_NO_SCALE = options(["\0", "\1"])
