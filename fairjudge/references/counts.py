"""Numbers that sources tell differently: "How many people were injured?"; English.

A clause with a number of things to which something happened is a question. A trained reader reads
it beside each sentence that counts the same things; an answer counts where the reader is sure of
it. The question stays where two articles answer it with different numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Article
from fairjudge.ports import TrainedModels
from fairjudge.text.particulars import numbers_in, stem
from fairjudge.text.sentences import news_sentences

SURE = 0.5
"""P(the sentence answers the question), by the reader, from which an answer counts."""
MAX_QUESTIONS, MAX_SENTENCES = 20, 600
"""Questions of a cluster that are read, and sentences of a cluster that are read for them."""
MAX_QUESTION_WORDS, MOST_WORDS = 14, 8
"""Words of a question, and of an answer."""

_NUMBER = r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_THINGS = r"((?:[a-z]+ )?(?:[a-z]+s|people|men|women|children))"
_COUNTED = re.compile(
    rf"\b{_NUMBER} {_THINGS}(?:,[^,;.]{{1,40}},)? "
    r"(?:were|was|are|is|have been|had been|has been|being) "
    r"([a-z]+(?:ed|en|ing)|hurt|shot|found|left|lost|told|dead|held|put|sent)\b"
    r"( to [a-z]+(?: [a-z]+){0,3}(?=[,.;]))?",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"(?:\bnot |\b{_NUMBER} of (?:its|the|their|his|her) )$", re.IGNORECASE)
"""What an answer goes with where it stands before it: "not one", "32 of its 190"."""
_PEOPLE = frozenset(map(stem, ("people", "residents", "civilians", "villagers", "passengers")))
"""Who are counted as people."""
_NOUN = re.compile(rf"\b(?:{_NUMBER}|not one) (?:[a-z-]+ ){{0,2}}?([a-z]+)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Counted:
    """A question for a number, and the stem of the noun that it counts."""

    question: str
    noun: str


def count_questions(
    articles: Sequence[Article], models: TrainedModels
) -> dict[str, tuple[tuple[Answer, ...], ...]]:
    """Return questions with their answers, those of one number in a group, most sources first."""
    sentences = [
        (article.aid, span.text)
        for article in articles
        for span in news_sentences(article.content)
        if re.search(_NUMBER, span.text, re.IGNORECASE)
    ]
    counted = dict.fromkeys(one for _, text in sentences for one in _counted(text))
    asked = [
        (one, aid, text)
        for one in list(counted)[:MAX_QUESTIONS]
        for aid, text in sentences
        if _counts(text, one.noun)
    ][:MAX_SENTENCES]
    readings = models.read([(one.question, text) for one, _, text in asked])
    best: dict[Counted, dict[str, tuple[float, Answer]]] = defaultdict(dict)
    for (one, aid, text), reading in zip(asked, readings, strict=True):
        span = _answer(text, reading.start, reading.end)
        known = best[one].get(aid, (SURE,))[0]
        if reading.answered >= known and span:
            best[one][aid] = (reading.answered, Answer(aid=aid, answer=span, gloss=text))
    found: dict[str, tuple[tuple[Answer, ...], ...]] = {}
    cited: set[tuple[str, str | None]] = set()
    for one, some in sorted(best.items(), key=lambda item: -len(item[1])):
        answers = [answer for _, answer in some.values()]
        places = {(answer.aid, answer.gloss) for answer in answers}
        groups = _by_number(answers)
        if len(groups) > 1 and not places & cited:  # else the same numbers, asked otherwise
            found[one.question] = groups
            cited |= places
    return found


def _answer(text: str, start: int, end: int) -> str:
    """Return the number in a sentence's characters, with what it goes with; "" for none."""
    before = _BEFORE.search(text[:start])
    span = text[before.start() if before else start : end]
    has_number = bool(numbers_in(span)) or span.lower().startswith("not one")
    return span if has_number and len(span.split()) <= MOST_WORDS else ""


def _counted(text: str) -> Iterator[Counted]:
    for things, verb, more in _COUNTED.findall(text):
        question = f"How many {things.lower()} were {verb.lower()}{more}?"
        if len(question.split()) <= MAX_QUESTION_WORDS:
            yield Counted(question, stem(things.lower().split()[-1]))


def _counts(text: str, noun: str) -> bool:
    counted = {stem(word.lower()) for word in _NOUN.findall(text)}
    return noun in counted or (noun in _PEOPLE and bool(_PEOPLE & counted))


def _by_number(answers: Sequence[Answer]) -> tuple[tuple[Answer, ...], ...]:
    groups: dict[frozenset[str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[numbers_in(answer.answer)].append(answer)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(group)))
