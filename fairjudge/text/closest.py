"""Find the passage of the articles that is most similar to a sentence, by shared words.

No model is used. The passage is a hint for a reader who checks a verdict, not proof of support.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairjudge.text.sentences import sentence_texts
from fairjudge.text.tokens import Normaliser

_MAX_SENTENCES = 2
"""Maximum number of sentences of a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosestPassage:
    """A passage of article number ``article`` (from 0).

    ``similarity`` in (0, 1] is the cosine similarity of both texts' terms, weighted by rarity.
    """

    article: int
    text: str
    similarity: float


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
        self._indices_by_term: dict[str, list[int]] = defaultdict(list)
        for index, passage in enumerate(self._passages):
            for term in passage.terms:
                self._indices_by_term[term].append(index)

    def closest(self, sentence: str) -> ClosestPassage | None:
        """Return the passage most similar to `sentence`, None if no passage shares a term.

        Of equally similar passages the shorter one is returned, then the earlier one.
        """
        terms = frozenset(self._normaliser.terms(sentence))
        shared_weights: dict[int, float] = defaultdict(float)
        for term in terms:
            for index in self._indices_by_term.get(term, ()):
                shared_weights[index] += self._weights[term] ** 2
        if not shared_weights:
            return None
        unseen_weight = math.log(1 + len(self._passages))  # of a term in no passage
        length = math.sqrt(sum(self._weights.get(term, unseen_weight) ** 2 for term in terms))

        def similarity(index: int) -> float:
            return shared_weights[index] / (length * self._lengths[index])

        best_index = max(shared_weights, key=lambda index: (round(similarity(index), 9), -index))
        passage = self._passages[best_index]
        return ClosestPassage(
            article=passage.article, text=passage.text, similarity=min(similarity(best_index), 1.0)
        )

    def _split(self, articles: Sequence[str]) -> Iterator[_Passage]:
        """Yield single sentences of all articles first, then pairs of neighbours."""
        sentences_by_article = [sentence_texts(text) for text in articles]
        for size in range(1, _MAX_SENTENCES + 1):
            for article, sentences in enumerate(sentences_by_article):
                for start in range(len(sentences) - size + 1):
                    text = " ".join(sentences[start : start + size])
                    yield _Passage(article, text, frozenset(self._normaliser.terms(text)))
