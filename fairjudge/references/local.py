"""Build references without an LLM: points by topic, and differing numbers.

A point is a set of equivalent statements of different articles, or a statement of one article only
(`points`). Points on the same topic are under one question, "What do the sources say of ...?", each
as an answer group; topics are names and noun phrases of the articles, found without a parser: a
name is a run of capitalised words, other phrases begin after an article, a possessive or a
preposition and end before punctuation or a form of "be" or "have".

Numbers that differ between sources have questions of their own: a clause that counts things in the
passive ("12 people were injured") becomes "How many people were injured?". A trained reader answers
it from each sentence that counts the same things; answers above a probability are kept, and the
question if articles answer it with different numbers. Topics and counts are English only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fairjudge.domain import Answer, Article
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.references.points import Point, PointFinder
from fairjudge.references.ports import Groups, sort_groups
from fairjudge.references.statements import content_stems
from fairjudge.text.particulars import numbers_in, stem
from fairjudge.text.sentences import news_sentences
from fairjudge.text.tokens import ENGLISH_STOP_WORDS
from fairjudge.text.usable import usable

AnswerGroups: TypeAlias = tuple[tuple[Answer, ...], ...]
LEAST_POINTS, MOST_POINTS, MOST_ALONE = 2, 12, 3
"""Minimum and maximum number of points of a topic, and the maximum with a single source."""
UNNAMED = "What else do several sources say?"
MAX_READ = 200
"""Maximum number of sentences of an article that are searched for topics."""

_BE = r"(?:is|are|was|were|has|have|had|will|would)\b"
_END = (
    rf"(?=[,.;:!?)\"\u201d]|['\u2019]s\b|\s+{_BE}"
    r"|\s+(?:and|or|in|on|at|to|for|from|by|with)\b|$)"
)
_NAME = re.compile(
    rf"(?<=[a-z,;] )(?:(the) )?([A-Z][\w-]*\w(?: (?:of the |of |for )?[A-Z][\w-]*\w){{0,3}}){_END}"
)
_PHRASE = re.compile(
    r"\b(?:of|in|on|about|over|for|with|from|to|by) (?:the|a|an|its|his|her|their) "
    rf"([a-z][a-z-]+[a-z](?: [a-z][a-z-]+[a-z])?)(?=[,.;:!?]|\s+{_BE})"
)
_NO_TOPIC = frozenset(
    """jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday
    saturday sunday january february march april may june july august september october november
    december mr mrs ms dr year years month months week weeks day days time times people person man
    woman men women number part lot way ways thing things statement report article story interview
    case fact end beginning same rest past future news morning evening afternoon night claim claims
    term terms source sources document documents country""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's name ("" for the remaining points) and its points."""

    name: str
    points: tuple[Point, ...]

    @property
    def question(self) -> str:
        """The question that the points answer."""
        return f"What do the sources say of {self.name}?" if self.name else UNNAMED


def topics_of(points: Sequence[Point], articles: Sequence[Article]) -> list[Topic]:
    """Return the topics of `points`, each point in one topic, the most valuable topics first.

    A topic has at least one point of several sources. Such points without a topic come last, under
    one question without a name; other points without a topic are dropped.
    """
    about = {
        name: [place for place, point in enumerate(points) if needed <= _stems(point)]
        for name, needed in noun_phrases(articles).items()
    }
    topics: list[Topic] = []
    remaining = set(range(len(points)))
    while about:
        about = {name: [p for p in indices if p in remaining] for name, indices in about.items()}
        name = max(about, key=lambda name: (_worth(points, about[name]), len(name), name))
        places = about.pop(name)
        if len(places) >= LEAST_POINTS and any(_is_shared(points[p]) for p in places):
            several = [points[p] for p in places if _is_shared(points[p])][:MOST_POINTS]
            alone = [points[p] for p in places if not _is_shared(points[p])][:MOST_ALONE]
            topics.append(Topic(name, (*several, *alone)))
            remaining -= set(places)
    unnamed = tuple(points[p] for p in sorted(remaining) if _is_shared(points[p]))[:MOST_POINTS]
    return [*topics, Topic("", unnamed)] if len(unnamed) >= LEAST_POINTS else topics


def _stems(point: Point) -> frozenset[str]:
    """Return the stems in at least half of a point's statements."""
    counts = Counter(word for statement in point.statements for word in statement.stems)
    return frozenset(word for word, n in counts.items() if 2 * n >= len(point.statements))


def _is_shared(point: Point) -> bool:
    return len(point.sources) > 1


def _worth(points: Sequence[Point], places: Sequence[int]) -> int:
    """Return the value of a topic with these points: those of several sources count three times."""
    n_shared = sum(_is_shared(points[place]) for place in places)
    return 3 * n_shared + min(MOST_ALONE, len(places) - n_shared)


def noun_phrases(articles: Sequence[Article]) -> Mapping[str, frozenset[str]]:
    """Return the names and noun phrases in at least two articles, with their stems."""
    counts: Counter[str] = Counter()
    aids_by_phrase: dict[str, set[str]] = defaultdict(set)
    for article in articles:
        for span in news_sentences(article.content)[:MAX_READ]:
            for phrase in _phrases(span.text):
                counts[phrase] += 1
                aids_by_phrase[phrase].add(article.aid)
    candidates = {
        phrase: content_stems(phrase) for phrase in counts if len(aids_by_phrase[phrase]) > 1
    }
    best: dict[frozenset[str], str] = {}
    for phrase, stems in candidates.items():
        # "the fed" and "fed" are one phrase: keep the more frequent wording
        if stems and (stems not in best or counts[phrase] > counts[best[stems]]):
            best[stems] = phrase
    return {phrase: stems for stems, phrase in best.items()}


def _phrases(text: str) -> Iterable[str]:
    for the, name in _NAME.findall(text):
        parts = name.split()
        if not {word.lower() for word in parts} & _NO_TOPIC:
            yield f"{the} {name}".strip()
            yield from (" ".join(parts[start:]) for start in range(1, len(parts)))
    for phrase in _PHRASE.findall(text):
        if not set(phrase.split()) & (_NO_TOPIC | ENGLISH_STOP_WORDS):
            yield f"the {phrase}"


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
class CountQuestion:
    """A question for a number, and the stem of the counted noun."""

    question: str
    noun: str


def count_questions(articles: Sequence[Article], models: TrainedModels) -> dict[str, AnswerGroups]:
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
    best: dict[CountQuestion, dict[str, tuple[float, Answer]]] = defaultdict(dict)
    for (count_question, aid, text), reading in zip(candidates, readings, strict=True):
        span = _answer(text, reading.start, reading.end)
        best_so_far = best[count_question].get(aid, (SURE,))[0]
        if reading.answered >= best_so_far and span:
            best[count_question][aid] = (reading.answered, Answer(aid=aid, answer=span, gloss=text))
    grouped: dict[str, AnswerGroups] = {}
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


def _counted(text: str) -> Iterator[CountQuestion]:
    for things, verb, more in _COUNTED.findall(text):
        question = f"How many {things.lower()} were {verb.lower()}{more}?"
        if len(question.split()) <= MAX_QUESTION_WORDS:
            yield CountQuestion(question, stem(things.lower().split()[-1]))


def _counts(text: str, noun: str) -> bool:
    counted = {stem(word.lower()) for word in _NOUN.findall(text)}
    return noun in counted or (noun in _PEOPLE and bool(_PEOPLE & counted))


def _group_by_numbers(answers: Sequence[Answer]) -> AnswerGroups:
    groups: dict[frozenset[str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[numbers_in(answer.answer)].append(answer)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(group)))


@dataclass(slots=True)
class LocalReferences:
    """Questions with grouped answers for clusters, without an LLM; all parts of a `Builder`.

    The result of each cluster is cached in the object. Not thread-safe.
    """

    embedder: Embedder
    models: TrainedModels
    _known: dict[object, Mapping[str, AnswerGroups]] = field(default_factory=dict)

    def questions(self, articles: Sequence[Article]) -> Mapping[str, AnswerGroups]:
        """Return the questions on a cluster, the best first, with their grouped answers."""
        key = tuple((article.aid, article.content) for article in articles)
        if key not in self._known:
            usable_articles, _ = usable(articles)
            self._known[key] = self._worked_out(usable_articles) if len(usable_articles) > 1 else {}
        return self._known[key]

    def _worked_out(self, articles: Sequence[Article]) -> dict[str, AnswerGroups]:
        points = PointFinder(embedder=self.embedder, models=self.models).find(articles)
        topics = topics_of(points, articles)
        by_topic = {topic.question: tuple(map(_answers, topic.points)) for topic in topics}
        return by_topic | count_questions(articles, self.models)

    async def write(
        self,
        articles: Sequence[Article],  # noqa: ARG002  # the whole cluster is cheap to read
        *,
        cluster: Sequence[Article],
        n: int,
    ) -> tuple[str, ...]:
        """See `fairjudge.references.ports.QuestionWriter`; topics need the whole cluster."""
        return tuple(self.questions(cluster))[:n]

    async def answer(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...]:
        """See `fairjudge.references.ports.Answerer`; answers are verbatim, and often none.

        Only questions that `write` returns have answers.
        """
        groups = self.questions(cluster).get(question, ())
        return tuple(answer for group in groups for answer in group if answer.aid == article.aid)

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups:
        """See `fairjudge.references.ports.Consolidator`; groups are by point, or by number."""
        places = {(answer.aid, answer.answer): i for i, answer in enumerate(answers)}
        indices = [
            [places.get((answer.aid, answer.answer)) for answer in group]
            for group in self.questions(articles).get(question, ())
        ]
        return sort_groups([[i for i in group if i is not None] for group in indices])


def _answers(point: Point) -> tuple[Answer, ...]:
    return tuple(Answer(aid=statement.aid, answer=statement.text) for statement in point.statements)
