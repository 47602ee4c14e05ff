"""Questions for numbers that differ between sources: "How many people were injured?"; English only.

A clause that counts things in the passive ("12 people were injured") becomes a question. A trained
reader answers it from each sentence that counts the same things; answers above a probability are
kept. The question is kept if articles answer it with different numbers.
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
"""Minimum P(the sentence answers the question), by the reader, of an answer."""
MAX_QUESTIONS, MAX_SENTENCES = 20, 600
"""Maximum numbers, per cluster, of questions and of pairs of question and sentence to read."""
MAX_QUESTION_WORDS, MOST_WORDS = 14, 8
"""Maximum number of words of a question, and of an answer."""

_NUMBER = r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_THINGS = r"((?:[a-z]+ )?(?:[a-z]+s|people|men|women|children))"
_COUNTED = re.compile(
    rf"\b{_NUMBER} {_THINGS}(?:,[^,;.]{{1,40}},)? "
    r"(?:were|was|are|is|have been|had been|has been|being) "
    r"([a-z]+(?:ed|en|ing)|hurt|shot|found|left|lost|told|dead|held|put|sent)\b"
    r"( to [a-z]+(?: [a-z]+){0,3}(?=[,.;]))?",
    re.IGNORECASE,
)
_MODIFIERS = (
    "about|almost|around|at least|fewer than|less than|more than|nearly|not|over|up to|upwards of"
)
_BEFORE = re.compile(
    rf"(?:\b(?:{_MODIFIERS}) |\b{_NUMBER} of (?:its|the|their|his|her) )$", re.IGNORECASE
)
"""Text before a number that belongs to the answer: "not one", "more than 40", "32 of its 190"."""
_PEOPLE = frozenset(map(stem, ("people", "residents", "civilians", "villagers", "passengers")))
"""Stems of nouns that count as people."""
_NOUN = re.compile(rf"\b(?:{_NUMBER}|not one) (?:[a-z-]+ ){{0,2}}?([a-z]+)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Counted:
    """A question for a number, and the stem of the counted noun."""

    question: str
    noun: str


def count_questions(
    articles: Sequence[Article], models: TrainedModels
) -> dict[str, tuple[tuple[Answer, ...], ...]]:
    """Return questions with answers grouped by number, sorted by number of sources, descending."""
    sentences = [
        (article.aid, span.text)
        for article in articles
        for span in news_sentences(article.content)
        if re.search(_NUMBER, span.text, re.IGNORECASE)
    ]
    counted = dict.fromkeys(
        count_question for _, text in sentences for count_question in _counted(text)
    )
    candidates = [
        (count_question, aid, text)
        for count_question in list(counted)[:MAX_QUESTIONS]
        for aid, text in sentences
        if _counts(text, count_question.noun)
    ][:MAX_SENTENCES]
    readings = models.read(
        [(count_question.question, text) for count_question, _, text in candidates]
    )
    best: dict[Counted, dict[str, tuple[float, Answer]]] = defaultdict(dict)
    for (count_question, aid, text), reading in zip(candidates, readings, strict=True):
        span = _answer(text, reading.start, reading.end)
        best_so_far = best[count_question].get(aid, (SURE,))[0]
        if reading.answered >= best_so_far and span:
            best[count_question][aid] = (reading.answered, Answer(aid=aid, answer=span, gloss=text))
    grouped: dict[str, tuple[tuple[Answer, ...], ...]] = {}
    cited: set[tuple[str, str | None]] = set()
    for count_question, by_article in sorted(best.items(), key=lambda item: -len(item[1])):
        answers = [answer for _, answer in by_article.values()]
        places = {(answer.aid, answer.gloss) for answer in answers}
        groups = _group_by_numbers(answers)
        if len(groups) > 1 and not places & cited:  # else it repeats an earlier one
            grouped[count_question.question] = groups
            cited |= places
    return grouped


def _answer(text: str, start: int, end: int) -> str:
    """Return the number in characters `start` to `end`, with its modifier; "" for none."""
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


def _group_by_numbers(answers: Sequence[Answer]) -> tuple[tuple[Answer, ...], ...]:
    groups: dict[frozenset[str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[numbers_in(answer.answer)].append(answer)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(group)))
