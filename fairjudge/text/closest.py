"""Find the passage of the articles that a sentence most likely comes from, by shared words.

Uses no model. It helps a reader to check a verdict: the passage is a hint, not proof of support.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairjudge.text.sentences import sentence_texts
from fairjudge.text.tokens import Normaliser

_LONGEST = 2
"""Maximum number of sentences of a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closest:
    """A passage of article number ``article`` (from 0).

    ``likeness`` in (0, 1] is the cosine similarity of both texts' terms, weighted by their rarity.
    """

    article: int
    text: str
    likeness: float


@dataclass(frozen=True, slots=True)
class _Passage:
    article: int
    text: str
    terms: frozenset[str]


class PassageFinder:
    """Finds passages of one or two sentences in the texts `articles`."""

    def __init__(self, articles: Sequence[str]) -> None:
        self._normaliser = Normaliser()
        self._passages = list(self._split(articles))
        frequency = Counter(term for passage in self._passages for term in passage.terms)
        n = len(self._passages)
        self._weights = {term: math.log(1 + n / times) for term, times in frequency.items()}
        self._lengths = [
            math.sqrt(sum(self._weights[term] ** 2 for term in passage.terms))
            for passage in self._passages
        ]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for place, passage in enumerate(self._passages):
            for term in passage.terms:
                self._holding[term].append(place)

    def closest(self, sentence: str) -> Closest | None:
        """Return the passage most similar to `sentence`, None where no passage shares a term.

        Of equally similar passages the shorter one is returned, then the earlier one.
        """
        terms = frozenset(self._normaliser.terms(sentence))
        shared: dict[int, float] = defaultdict(float)
        for term in terms:
            for place in self._holding.get(term, ()):
                shared[place] += self._weights[term] ** 2
        if not shared:
            return None
        rare = math.log(1 + len(self._passages))  # what a term that no passage has would weigh
        length = math.sqrt(sum(self._weights.get(term, rare) ** 2 for term in terms))

        def likeness(place: int) -> float:
            return shared[place] / (length * self._lengths[place])

        best = max(shared, key=lambda place: (round(likeness(place), 9), -place))
        passage = self._passages[best]
        return Closest(
            article=passage.article, text=passage.text, likeness=min(likeness(best), 1.0)
        )

    def _split(self, articles: Sequence[str]) -> Iterator[_Passage]:
        """Yield single sentences of all articles first, then pairs of neighbours."""
        split = [sentence_texts(text) for text in articles]
        for size in range(1, _LONGEST + 1):
            for article, sentences in enumerate(split):
                for start in range(len(sentences) - size + 1):
                    text = " ".join(sentences[start : start + size])
                    yield _Passage(article, text, frozenset(self._normaliser.terms(text)))
