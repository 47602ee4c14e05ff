"""References without an LLM: questions that a cluster suggests, answers word for word.

Proposed questions (`asking`) are put to every sentence of every article; those stay that enough
articles answer and on which the answers differ. What this cannot do is understand: a question has
one of the forms that `asking` knows, and a sentence answers it by being near in meaning and of the
kind asked for (`answering`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Article
from fairjudge.protocols import Embedder
from fairjudge.references import lexicon as lex
from fairjudge.references.answering import Kind, fitness, read_question
from fairjudge.references.asking import propose
from fairjudge.references.consolidation import numbers_in
from fairjudge.references.syntax import Sentence, parse, parse_texts
from fairjudge.references.topics import find_topics
from fairjudge.references.usable import usable
from fairjudge.text.sentences import news_sentences

MIN_SHARE = 0.3
"""Share of the sources that must answer a valid question (DiverseSumm, section 3.1)."""

CONTEXT_WEIGHT = 0.3
"""Weight of the sentence with its neighbours beside the sentence alone: a sentence that says "the
concrete lifted" is about the spillway of the sentence before."""

WORD_MATCH = 0.15
"""What a sentence gains by holding all words of the question: "injuring six people" ends a sentence
that is about something else."""

MIN_Z = {1.0: 0.7, 0.5: 2.0}
"""How many standard deviations above the cluster's sentences an answer's closeness must be, by
how far it is of the kind asked for. These constants and the weights below were tuned by reading the
answers on one bundled story (the dam), three small clusters of court, fire and sport news, and a
crawled cluster on a recession; the other bundled story was held out."""
MIN_COSINE = 0.2
FIRM_COSINE = 0.45
"""From here on a sentence of the kind asked for needs not stand out: in a short article on one
thing all sentences are near the question."""
SECOND_WITHIN = 0.5
"""A second answer of an article stands at most this far behind the first."""

WORD_WEIGHT = 0.03
"""What a word more is worth, up to eight: "told to leave their homes" says more than "moved"."""
MAX_REPEATED = 0.6
"""Share of a question's sentences that a better question may rest on as well."""
ENOUGH = 5
"""Questions from which none of the vaguest kind, "What did ... say?", is added."""

SAME_MEANING = 0.9
"""Cosine from which two answers are taken to say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuestion:
    """A question and what the articles answer: ``answers`` holds (aid, verbatim answer)."""

    question: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """An answer with its place among the sentences of the cluster."""

    text: str
    place: int
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    kind: Kind
    value: float
    found: tuple[tuple[_Found, ...], ...]
    """The answers of each article, in cluster order."""

    @property
    def cited(self) -> frozenset[int]:
        """The sentences used."""
        return frozenset(one.place for some in self.found for one in some)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A cluster's sentences in order, where each article's begin, and their vectors."""

    sentences: tuple[Sentence, ...]
    bounds: tuple[tuple[int, int], ...]
    alone: NDArray[np.float32]
    around: NDArray[np.float32]

    def matched(self, words: frozenset[str]) -> NDArray[np.float32]:
        """Return the share of `words` that every sentence holds."""
        held = [len(words & sentence.keys) for sentence in self.sentences]
        return np.asarray(held, dtype=np.float32) / np.float32(max(len(words), 1))

    def closeness(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of every sentence, its neighbours taken into account."""
        own, wide = self.alone @ question, self.around @ question
        return (own + CONTEXT_WEIGHT * (wide - own)).astype(np.float32)


@dataclass(slots=True)
class LocalReferences:
    """Questions and answers for clusters, without an LLM.

    Parses and vectors are kept for as long as the object lives; the same text is never parsed or
    embedded twice. Not safe for several threads.
    """

    embedder: Embedder
    _parsed: dict[str, tuple[Sentence, ...]] = field(default_factory=dict)
    _readings: dict[tuple[str, ...], _Reading] = field(default_factory=dict)
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    _usable: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _answered: dict[tuple[str, tuple[str, ...]], tuple[tuple[_Found, ...], ...]] = field(
        default_factory=dict
    )

    def generate_questions(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[str, ...]:
        """Return up to `n_questions` questions on a cluster, the best first."""
        return tuple(one.text for one in self._select(articles, n_questions))

    def answer_question(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[str, ...]:
        """Return what `article`, one of `cluster`, answers, word for word; often nothing.

        The cluster is what tells a near sentence from a usual one.
        """
        contents = self._contents(cluster)
        if article.content not in contents:
            return ()
        found = self._all_answers(question, contents)
        return tuple(one.text for one in found[contents.index(article.content)])

    def build(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[LocalQuestion, ...]:
        """Return questions with all their answers, the best first."""
        kept, _ = usable(articles)
        return tuple(
            LocalQuestion(
                question=one.text,
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
        if len(kept) < 2:
            return []
        contents = tuple(one.content for one in kept)
        at_least = max(2, math.ceil(MIN_SHARE * len(kept)))
        parsed = [self._sentences(content) for content in contents]
        proposals = propose(parsed, find_topics(parsed, at_least=2), at_least=at_least)
        self._embed([one.text for one in proposals])
        candidates = [
            candidate
            for one in proposals
            for candidate in [self._candidate(one.text, one.weight, contents)]
            if sum(map(bool, candidate.found)) >= at_least and self._differ(candidate)
        ]
        candidates.sort(key=lambda c: (-c.value, c.text))
        return _without_repeats(candidates, n_questions)

    def _contents(self, cluster: Sequence[Article]) -> tuple[str, ...]:
        given = tuple(one.content for one in cluster)
        if given not in self._usable:
            self._usable[given] = tuple(one.content for one in usable(cluster)[0])
        return self._usable[given]

    def _all_answers(
        self, question: str, contents: tuple[str, ...]
    ) -> tuple[tuple[_Found, ...], ...]:
        """Return the answers of every article; each question is read once a cluster."""
        key = (question, contents)
        if key not in self._answered:
            self._answered[key] = self._answers(question, self._reading(contents))
        return self._answered[key]

    def _candidate(self, text: str, weight: float, contents: tuple[str, ...]) -> _Candidate:
        found = self._all_answers(text, contents)
        scores = [one.score for some in found for one in some]
        share = sum(map(bool, found)) / len(found)
        firmness = min(float(np.mean(scores)), 4.0) / 4.0 if scores else 0.0
        words = len(text.split())
        value = weight + share + 0.8 * firmness + WORD_WEIGHT * min(words, 8)
        return _Candidate(text, read_question(text).kind, value, found)

    def _answers(self, question: str, reading: _Reading) -> tuple[tuple[_Found, ...], ...]:
        query = read_question(question)
        near = reading.closeness(self._embed([question])[0])
        near = near + WORD_MATCH * reading.matched(self._question_words(question))
        z = (near - near.mean()) / max(float(near.std()), 1e-6)
        return tuple(
            _closest([
                _Found(reading.sentences[place].span.text, place, float(z[place]) + fit)
                for place in range(first, last)
                if near[place] >= MIN_COSINE and z[place] > 0.0
                for fit in [fitness(query, reading.sentences[place])]
                if fit and (z[place] >= MIN_Z[fit] or (fit == 1.0 and near[place] >= FIRM_COSINE))
            ])
            for first, last in reading.bounds
        )  # fmt: skip

    def _differ(self, candidate: _Candidate) -> bool:
        """Whether not all say the same: other numbers where asked for, else other meanings."""
        texts = [one.text for some in candidate.found for one in some]
        if candidate.kind in ("count", "amount"):
            return len({numbers_in(text) for text in texts}) > 1
        vectors = self._embed(texts)
        return bool((vectors @ vectors[0] < SAME_MEANING).any())

    def _reading(self, contents: tuple[str, ...]) -> _Reading:
        if contents not in self._readings:
            parsed = [self._sentences(content) for content in contents]
            ends = np.cumsum([len(some) for some in parsed]).tolist()
            texts = [[sentence.span.text for sentence in some] for some in parsed]
            alone = self._embed([text for some in texts for text in some])
            spans = list(zip([0, *ends[:-1]], ends, strict=True))
            self._readings[contents] = _Reading(
                sentences=tuple(sentence for some in parsed for sentence in some),
                bounds=tuple(spans),
                alone=alone,
                around=np.concatenate([_around(alone[a:b]) for a, b in spans]),
            )
        return self._readings[contents]

    def _question_words(self, question: str) -> frozenset[str]:
        if question not in self._parsed:
            self._parsed[question] = parse_texts((question,))
        return self._parsed[question][0].keys - lex.QUESTION_WORDS

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


def _around(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction of each sentence of an article together with its neighbours."""
    padded = np.pad(rows, ((1, 1), (0, 0)))
    summed: NDArray[np.float32] = padded[:-2] + rows + padded[2:]
    around: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
    return around


def _closest(found: Sequence[_Found]) -> tuple[_Found, ...]:
    """Return the best answer of an article, and a second one nearly as good."""
    ranked = sorted(found, key=lambda one: (-one.score, one.place))
    return tuple(one for one in ranked[:2] if one.score >= ranked[0].score - SECOND_WITHIN)


def _without_repeats(candidates: Sequence[_Candidate], n_questions: int) -> list[_Candidate]:
    """Take the best first; leave out what rests on the sentences of a question taken before."""
    chosen: list[_Candidate] = []
    for candidate in candidates:
        if len(chosen) == n_questions or (candidate.kind == "say" and len(chosen) >= ENOUGH):
            break
        if all(_overlap(candidate, other) <= MAX_REPEATED for other in chosen):
            chosen.append(candidate)
    return chosen


def _overlap(one: _Candidate, other: _Candidate) -> float:
    return len(one.cited & other.cited) / min(len(one.cited), len(other.cited))
