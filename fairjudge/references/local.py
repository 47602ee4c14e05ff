"""Build references without an LLM: points by topic, and differing numbers.

A point is a set of equivalent statements of different articles, or a statement of one article only
(`points`). The points on a topic are the answer groups of one question, "What do the sources say of
...?". Topics are names and noun phrases of the articles, found without a parser: a name is a run of
capitalised words; other phrases begin after an article, a possessive or a preposition and end
before punctuation or a form of "be" or "have".

Numbers that differ between sources have separate questions: a clause that counts things in the
passive ("12 people were injured") becomes "How many people were injured?". A trained reader answers
it from each sentence that counts the same things. Answers above a probability are used, and
questions that articles answer with different numbers. Topics and counts are English only.
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
MIN_POINTS, MAX_POINTS, MAX_SINGLE_POINTS = 2, 12, 3
"""Minimum and maximum number of points of a topic, and the maximum with a single source."""
OTHER_QUESTION = "What else do several sources say?"
MAX_TOPIC_SENTENCES = 200
"""Maximum number of sentences per article that are searched for topics."""

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
_TOPIC_STOP_WORDS = frozenset(
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
        """The question answered by the points."""
        return f"What do the sources say of {self.name}?" if self.name else OTHER_QUESTION


def group_by_topic(points: Sequence[Point], articles: Sequence[Article]) -> list[Topic]:
    """Return the topics of `points`, each point in one topic, the most valuable topics first.

    A topic has at least one point of several sources. Points of several sources without a topic
    form a last topic without a name; other points without a topic are dropped.
    """
    indices_by_name = {
        name: [index for index, point in enumerate(points) if stems <= _stems(point)]
        for name, stems in noun_phrases(articles).items()
    }
    topics: list[Topic] = []
    free_indices = set(range(len(points)))
    while indices_by_name:
        indices_by_name = {
            name: [p for p in indices if p in free_indices]
            for name, indices in indices_by_name.items()
        }
        name = max(
            indices_by_name,
            key=lambda name: (_topic_value(points, indices_by_name[name]), len(name), name),
        )
        indices = indices_by_name.pop(name)
        if len(indices) >= MIN_POINTS and any(_is_shared(points[p]) for p in indices):
            shared_points = [points[p] for p in indices if _is_shared(points[p])][:MAX_POINTS]
            single_points = [points[p] for p in indices if not _is_shared(points[p])][
                :MAX_SINGLE_POINTS
            ]
            topics.append(Topic(name, (*shared_points, *single_points)))
            free_indices -= set(indices)
    other_points = tuple(points[p] for p in sorted(free_indices) if _is_shared(points[p]))[
        :MAX_POINTS
    ]
    return [*topics, Topic("", other_points)] if len(other_points) >= MIN_POINTS else topics


def _stems(point: Point) -> frozenset[str]:
    """Return the stems that occur in at least half of a point's statements."""
    counts = Counter(word for statement in point.statements for word in statement.stems)
    return frozenset(word for word, n in counts.items() if 2 * n >= len(point.statements))


def _is_shared(point: Point) -> bool:
    return len(point.sources) > 1


def _topic_value(points: Sequence[Point], indices: Sequence[int]) -> int:
    """Return the value of a topic; points of several sources count three times."""
    n_shared = sum(_is_shared(points[index]) for index in indices)
    return 3 * n_shared + min(MAX_SINGLE_POINTS, len(indices) - n_shared)


def noun_phrases(articles: Sequence[Article]) -> Mapping[str, frozenset[str]]:
    """Return the names and noun phrases that occur in at least two articles, with their stems."""
    counts: Counter[str] = Counter()
    aids_by_phrase: dict[str, set[str]] = defaultdict(set)
    for article in articles:
        for span in news_sentences(article.content)[:MAX_TOPIC_SENTENCES]:
            for phrase in _phrases(span.text):
                counts[phrase] += 1
                aids_by_phrase[phrase].add(article.aid)
    candidates = {
        phrase: content_stems(phrase) for phrase in counts if len(aids_by_phrase[phrase]) > 1
    }
    best: dict[frozenset[str], str] = {}
    for phrase, stems in candidates.items():
        # "the fed" and "fed" are one phrase: use the more frequent wording
        if stems and (stems not in best or counts[phrase] > counts[best[stems]]):
            best[stems] = phrase
    return {phrase: stems for stems, phrase in best.items()}


def _phrases(text: str) -> Iterable[str]:
    for the, name in _NAME.findall(text):
        parts = name.split()
        if not {word.lower() for word in parts} & _TOPIC_STOP_WORDS:
            yield f"{the} {name}".strip()
            yield from (" ".join(parts[start:]) for start in range(1, len(parts)))
    for phrase in _PHRASE.findall(text):
        if not set(phrase.split()) & (_TOPIC_STOP_WORDS | ENGLISH_STOP_WORDS):
            yield f"the {phrase}"


MIN_PROBABILITY = 0.5
"""Minimum probability of an answer, from the reader: P(the sentence answers the question)."""
MAX_QUESTIONS, MAX_SENTENCES = 20, 600
"""Maximum numbers per cluster of questions, and of pairs of a question and a sentence."""
MAX_QUESTION_WORDS, MAX_ANSWER_WORDS = 14, 8
"""Maximum number of words of a question, and of an answer."""

_NUMBER = r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_THINGS = r"((?:[a-z]+ )?(?:[a-z]+s|people|men|women|children))"
_COUNT_CLAUSE = re.compile(
    rf"\b{_NUMBER} {_THINGS}(?:,[^,;.]{{1,40}},)? "
    r"(?:were|was|are|is|have been|had been|has been|being) "
    r"([a-z]+(?:ed|en|ing)|hurt|shot|found|left|lost|told|dead|held|put|sent)\b"
    r"( to [a-z]+(?: [a-z]+){0,3}(?=[,.;]))?",
    re.IGNORECASE,
)
_MODIFIERS = (
    "about|almost|around|at least|fewer than|less than|more than|nearly|not|over|up to|upwards of"
)
_MODIFIER = re.compile(
    rf"(?:\b(?:{_MODIFIERS}) |\b{_NUMBER} of (?:its|the|their|his|her) )$", re.IGNORECASE
)
"""Text before a number that belongs to the answer: "not one", "more than 40", "32 of its 190"."""
_PEOPLE = frozenset(map(stem, ("people", "residents", "civilians", "villagers", "passengers")))
"""Stems of nouns that count as people."""
_NOUN = re.compile(rf"\b(?:{_NUMBER}|not one) (?:[a-z-]+ ){{0,2}}?([a-z]+)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CountQuestion:
    """A question about a number, and the stem of the counted noun."""

    question: str
    noun: str


def count_questions(articles: Sequence[Article], models: TrainedModels) -> dict[str, AnswerGroups]:
    """Return questions with answers grouped by number; questions with most sources come first."""
    sentences = [
        (article.aid, span.text)
        for article in articles
        for span in news_sentences(article.content)
        if re.search(_NUMBER, span.text, re.IGNORECASE)
    ]
    questions = dict.fromkeys(
        count_question for _, text in sentences for count_question in _find_count_questions(text)
    )
    candidates = [
        (count_question, aid, text)
        for count_question in list(questions)[:MAX_QUESTIONS]
        for aid, text in sentences
        if _counts_noun(text, count_question.noun)
    ][:MAX_SENTENCES]
    results = models.read(
        [(count_question.question, text) for count_question, _, text in candidates]
    )
    best: dict[CountQuestion, dict[str, tuple[float, Answer]]] = defaultdict(dict)
    for (count_question, aid, text), result in zip(candidates, results, strict=True):
        span = _answer(text, result.start, result.end)
        min_probability = best[count_question].get(aid, (MIN_PROBABILITY,))[0]
        if result.answered >= min_probability and span:
            best[count_question][aid] = (result.answered, Answer(aid=aid, answer=span, gloss=text))
    groups_by_question: dict[str, AnswerGroups] = {}
    used_keys: set[tuple[str, str | None]] = set()
    for count_question, by_article in sorted(best.items(), key=lambda item: -len(item[1])):
        answers = [answer for _, answer in by_article.values()]
        keys = {(answer.aid, answer.gloss) for answer in answers}
        groups = _group_by_numbers(answers)
        if len(groups) > 1 and not keys & used_keys:  # else it repeats an earlier question
            groups_by_question[count_question.question] = groups
            used_keys |= keys
    return groups_by_question


def _answer(text: str, start: int, end: int) -> str:
    """Return the number in characters `start` to `end`, with its modifier, or ""."""
    modifier = _MODIFIER.search(text[:start])
    span = text[modifier.start() if modifier else start : end]
    has_number = bool(numbers_in(span)) or span.lower().startswith("not one")
    return span if has_number and len(span.split()) <= MAX_ANSWER_WORDS else ""


def _find_count_questions(text: str) -> Iterator[CountQuestion]:
    for things, verb, complement in _COUNT_CLAUSE.findall(text):
        question = f"How many {things.lower()} were {verb.lower()}{complement}?"
        if len(question.split()) <= MAX_QUESTION_WORDS:
            yield CountQuestion(question, stem(things.lower().split()[-1]))


def _counts_noun(text: str, noun: str) -> bool:
    nouns = {stem(word.lower()) for word in _NOUN.findall(text)}
    return noun in nouns or (noun in _PEOPLE and bool(_PEOPLE & nouns))


def _group_by_numbers(answers: Sequence[Answer]) -> AnswerGroups:
    groups: dict[frozenset[str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[numbers_in(answer.answer)].append(answer)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(group)))


@dataclass(slots=True)
class LocalReferences:
    """Questions with grouped answers, without an LLM; implements all parts of a `Builder`.

    The result of each cluster is cached. Not thread-safe.
    """

    embedder: Embedder
    models: TrainedModels
    _cache: dict[object, Mapping[str, AnswerGroups]] = field(default_factory=dict)

    def questions(self, articles: Sequence[Article]) -> Mapping[str, AnswerGroups]:
        """Return the questions on a cluster with their grouped answers, the best question first."""
        key = tuple((article.aid, article.content) for article in articles)
        if key not in self._cache:
            usable_articles, _ = usable(articles)
            self._cache[key] = (
                self._build_questions(usable_articles) if len(usable_articles) > 1 else {}
            )
        return self._cache[key]

    def _build_questions(self, articles: Sequence[Article]) -> dict[str, AnswerGroups]:
        points = PointFinder(embedder=self.embedder, models=self.models).find(articles)
        topics = group_by_topic(points, articles)
        by_topic = {topic.question: tuple(map(_to_answers, topic.points)) for topic in topics}
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
        """See `fairjudge.references.ports.Answerer`; answers are verbatim, and often empty.

        Only questions returned by `write` have answers.
        """
        groups = self.questions(cluster).get(question, ())
        return tuple(answer for group in groups for answer in group if answer.aid == article.aid)

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Groups:
        """See `fairjudge.references.ports.Consolidator`; groups are by point, or by number."""
        index_by_answer = {(answer.aid, answer.answer): i for i, answer in enumerate(answers)}
        indices = [
            [index_by_answer.get((answer.aid, answer.answer)) for answer in group]
            for group in self.questions(articles).get(question, ())
        ]
        return sort_groups([[i for i in group if i is not None] for group in indices])


def _to_answers(point: Point) -> tuple[Answer, ...]:
    return tuple(Answer(aid=statement.aid, answer=statement.text) for statement in point.statements)
