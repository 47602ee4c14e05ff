"""References without an LLM: questions from the clauses of a cluster, answers word for word.

Proposed questions (`asking`) are read back (`reading`), put to every sentence of every article
(`matching`), and kept where enough articles answer and the answers differ. What this cannot do is
understand: a question is found only where several articles use one of the grammatical forms that
`matching` knows, and an answer only where the article says so in one sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Article
from fairjudge.protocols import Embedder
from fairjudge.references.asking import propose
from fairjudge.references.matching import Place, loosely, match
from fairjudge.references.reading import Kind, Query, read_questions
from fairjudge.references.syntax import Sentence, parse
from fairjudge.references.topics import find_topics
from fairjudge.references.usable import usable
from fairjudge.text.sentences import news_sentences

MIN_SHARE = 0.3
"""Share of the sources that must answer a valid question (DiverseSumm, section 3.1)."""

MIN_CLOSENESS = 0.25
"""Cosine with the question below which a sentence is no answer, whatever its grammar."""
MIN_CLOSENESS_LOOSE = 0.58
"""The same for a sentence that has the grammar of an answer but does not name the topic."""

SAME_MEANING = 0.9
"""Cosine from which two answers are taken to say the same."""
_NUMBER = re.compile(
    r"\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|dozens?|millions?|billions?)\b"
)

_KIND_WEIGHT: Mapping[Kind, float] = {
    "how_many": 1.0, "cause": 1.0, "likely": 0.95, "why": 0.9, "duty": 0.85, "future": 0.8,
    "whether": 0.75, "how_much": 0.9, "when": 0.9, "level": 0.7, "effect": 0.75, "react": 0.6,
    "say": 0.6, "what": 0.6, "who": 0.8, "where": 0.7, "opinion": 0.7,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuestion:
    """A question and what the articles answer: ``answers`` holds (aid, verbatim answer)."""

    question: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """An answer with its place among the sentences of its article."""

    text: str
    sentence: int
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    query: Query
    found: tuple[tuple[_Found, ...], ...]
    """The answers of each article, in cluster order."""
    vectors: NDArray[np.float32]
    """One row an answer."""

    @property
    def sources(self) -> frozenset[int]:
        """The positions of the articles that answer."""
        return frozenset(i for i, answers in enumerate(self.found) if answers)

    @property
    def cited(self) -> frozenset[tuple[int, int]]:
        """The sentences used: (article, sentence)."""
        return frozenset((i, one.sentence) for i, some in enumerate(self.found) for one in some)


@dataclass(slots=True)
class LocalReferences:
    """Questions and answers for clusters, without an LLM.

    Parses and vectors are kept for as long as the object lives; the same text is never parsed or
    embedded twice. Not safe for several threads.
    """

    embedder: Embedder
    _parsed: dict[str, tuple[Sentence, ...]] = field(default_factory=dict)
    _placed: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    _loose: dict[tuple[Kind, str], list[_Found]] = field(default_factory=dict)
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def generate_questions(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[str, ...]:
        """Return up to `n_questions` questions on a cluster, the best first."""
        return tuple(one.query.text for one in self._select(articles, n_questions))

    def answer_question(self, question: str, article: Article) -> tuple[str, ...]:
        """Return what `article` answers, word for word; often nothing."""
        query = read_questions((question,))[0]
        return tuple(found.text for found in self._answers(query, article))

    def build(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[LocalQuestion, ...]:
        """Return questions with all their answers, the best first."""
        kept, _ = usable(articles)
        return tuple(
            LocalQuestion(
                question=one.query.text,
                answers=tuple(
                    (article.aid, found.text)
                    for article, some in zip(kept, one.found, strict=True)
                    for found in some
                ),
            )
            for one in self._select(articles, n_questions)
        )

    def _select(self, articles: Sequence[Article], n_questions: int) -> list[_Candidate]:
        kept, _ = usable(articles)
        at_least = max(2, math.ceil(MIN_SHARE * len(kept)))
        answered: list[tuple[Query, list[list[_Found]]]] = []
        for query in self._proposals([a.content for a in kept], at_least):
            firm = sum(bool(self._matches(query, article)) for article in kept)
            if firm >= max(2, at_least / 2):
                answered.append((query, [self._all_matches(query, article) for article in kept]))
        self._embed([one.text for _, found in answered for some in found for one in some])
        candidates = [
            candidate
            for query, matches in answered
            for candidate in [self._candidate(query, matches)]
            if len(candidate.sources) >= at_least and _differ(candidate)
        ]
        valued = sorted(candidates, key=lambda c: (-_value(c, len(kept)), c.query.text))
        return _without_repeats(valued, n_questions)

    def _candidate(self, query: Query, matches: Sequence[Sequence[_Found]]) -> _Candidate:
        found = tuple(self._closest(query, some) for some in matches)
        texts = [one.text for some in found for one in some]
        return _Candidate(query, found, self._embed(texts))

    def _proposals(self, contents: Sequence[str], at_least: int) -> tuple[Query, ...]:
        parsed = [self._sentences(content) for content in contents]
        topics = find_topics(parsed, at_least=max(2, at_least - 1))
        texts = propose(parsed, topics, at_least=max(2, at_least - 2))
        self._embed(texts)
        return read_questions(texts)

    def _answers(self, query: Query, article: Article) -> tuple[_Found, ...]:
        return self._closest(query, self._all_matches(query, article))

    def _all_matches(self, query: Query, article: Article) -> list[_Found]:
        strict = self._matches(query, article)
        taken = {one.sentence for one in strict}
        loose = self._loose_matches(query, article)
        return strict + [one for one in loose if one.sentence not in taken]

    def _matches(self, query: Query, article: Article) -> list[_Found]:
        """Return every sentence that has the form of an answer to `query` itself."""
        return [
            _Found(place.sentence.span.text, number, hit.strength)
            for number, place in enumerate(self._places(article.content))
            for hit in [match(query, place)]
            if hit is not None
        ]

    def _loose_matches(self, query: Query, article: Article) -> list[_Found]:
        """Return the sentences that have the form of an answer, whatever their topic."""
        loose = loosely(query)
        if loose is None:
            return []
        key = (loose.kind, article.content)
        if key not in self._loose:
            self._loose[key] = [replace(one, score=0.0) for one in self._matches(loose, article)]
        return self._loose[key]

    def _closest(self, query: Query, found: Sequence[_Found]) -> tuple[_Found, ...]:
        """Return the sentence that is closest in meaning to the question, or the two closest."""
        if not found:
            return ()
        closeness = self._embed([one.text for one in found]) @ self._embed([query.text])[0]
        scored = [
            _Found(one.text, one.sentence, 0.5 * one.score + float(near))
            for one, near in zip(found, closeness, strict=True)
            if near >= (MIN_CLOSENESS if one.score else MIN_CLOSENESS_LOOSE)
        ]
        if not scored:
            return ()
        scored.sort(key=lambda one: (-one.score, one.sentence))
        best = scored[0].score
        return tuple(one for one in scored[:2] if one.score >= best - 0.1)

    def _places(self, content: str) -> tuple[Place, ...]:
        if content not in self._placed:
            sentences = self._sentences(content)
            self._placed[content] = tuple(
                Place(sentence, sentences[max(0, number - 3) : number][::-1])
                for number, sentence in enumerate(sentences)
            )
        return self._placed[content]

    def _sentences(self, content: str) -> tuple[Sentence, ...]:
        if content not in self._parsed:
            self._parsed[content] = parse(news_sentences(content))
        return self._parsed[content]

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            for text, vector in zip(new, self.embedder.embed(new), strict=True):
                self._vectors[text] = vector
        rows = [self._vectors[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _differ(candidate: _Candidate) -> bool:
    """Whether not all answers say the same: other numbers where asked for, else other meanings."""
    if candidate.query.kind in ("how_many", "how_much", "level"):
        texts = [one.text for some in candidate.found for one in some]
        return len({tuple(_NUMBER.findall(text.lower())) for text in texts}) > 1
    return bool((candidate.vectors @ candidate.vectors[0] < SAME_MEANING).any())


def _value(candidate: _Candidate, n_articles: int) -> float:
    """Rate a question: how many answer it, how far they differ, and what kind it is."""
    share = len(candidate.sources) / n_articles
    vectors = candidate.vectors
    similar = float(np.mean(vectors @ vectors.T))
    strength = float(np.mean([one.score for some in candidate.found for one in some]))
    return _KIND_WEIGHT[candidate.query.kind] + min(share, 0.6) + 0.5 * strength - 0.3 * similar


def _without_repeats(valued: Sequence[_Candidate], n_questions: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    for candidate in valued:
        if len(chosen) == n_questions:
            break
        if not any(_overlap(candidate.cited, other.cited) > 0.5 for other in chosen):
            chosen.append(candidate)
    return chosen


def _overlap(one: frozenset[tuple[int, int]], other: frozenset[tuple[int, int]]) -> float:
    return len(one & other) / min(len(one), len(other))
