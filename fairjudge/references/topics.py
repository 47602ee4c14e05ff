"""Topics of points: noun phrases of the articles; English only.

Without a parser: a name is a run of capitalised words; other noun phrases begin after an article, a
possessive or a preposition and end before punctuation or a form of "be" or "have".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairjudge.domain import Article
from fairjudge.references.points import Point
from fairjudge.references.statements import content_stems
from fairjudge.text.sentences import news_sentences
from fairjudge.text.tokens import ENGLISH_STOP_WORDS

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
    for (
        phrase,
        stems,
    ) in candidates.items():  # "the fed" and "fed" are one phrase: keep the more frequent wording
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
