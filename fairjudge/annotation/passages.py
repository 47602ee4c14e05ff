"""Find the passage of a text that is most similar to a statement, by words or embeddings.

The page marks it. A mark is a reading aid; it does not mean that the passage supports the
statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.annotation.items import Item
from fairjudge.ports import Embedder
from fairjudge.text.sentences import Span
from fairjudge.text.statements import split_statements
from fairjudge.text.tokens import Normaliser

Mark: TypeAlias = Literal["best", "near", "asked"]
"""The most similar passage, another text's similar passage, or the statement itself."""

MIN_SIMILARITY = 0.1
"""Minimum cosine of a marked passage; a lower one would be arbitrary."""

NEAR = 0.75
"""Minimum ratio to the best passage's cosine for marking another text's passage."""


Similarity: TypeAlias = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
"""Takes statements and sentences; returns cosines, shape (statements, sentences)."""


def word_similarity(statements: Sequence[str], sentences: Sequence[str]) -> NDArray[np.float64]:
    """Return cosines of stems without stop words, weighted by inverse document frequency.

    The frequencies are those of `sentences`; shape (statements, sentences).
    """
    extract_terms = Normaliser().terms
    statement_terms = [frozenset(extract_terms(text)) for text in statements]
    sentence_terms = [frozenset(extract_terms(text)) for text in sentences]
    n_sentences_with = Counter(term for terms in sentence_terms for term in terms)
    weight = {term: log(1.0 + len(sentence_terms) / n) ** 2 for term, n in n_sentences_with.items()}
    unseen = log(1.0 + len(sentence_terms)) ** 2

    def norm(terms: frozenset[str]) -> float:
        return sqrt(sum(weight.get(term, unseen) for term in terms)) or 1.0

    norms = [norm(terms) for terms in sentence_terms]
    return np.array(
        [
            [
                sum(weight[term] for term in terms & candidate_terms) / (norm(terms) * length)
                for candidate_terms, length in zip(sentence_terms, norms, strict=True)
            ]
            for terms in statement_terms
        ]
    ).reshape(len(statement_terms), len(sentence_terms))


def embedding_similarity(embedder: Embedder) -> Similarity:
    """Return the cosine similarity of the embeddings of `embedder`."""

    def similarity(statements: Sequence[str], sentences: Sequence[str]) -> NDArray[np.float64]:
        if not statements or not sentences:
            return np.zeros((len(statements), len(sentences)))
        vectors = embedder.embed([*statements, *sentences]).astype(np.float64)
        return np.asarray(vectors[: len(statements)] @ vectors[len(statements) :].T)

    return similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPassage:
    """A marked passage: characters ``start`` to ``end`` of the text (end-exclusive)."""

    start: int
    end: int
    mark: Mark


Marks: TypeAlias = Mapping[int, MarkedPassage]
"""Marked passages by the number of their text."""


def compared_texts(item: Item) -> tuple[str, ...]:
    """Return the texts to which the statement is compared: the summary, or the articles."""
    if item.unit.startswith("answer:") and item.texts:
        return item.texts
    return tuple(article.content for article in item.articles)


def mark_passages(items: Sequence[Item], similarity: Similarity) -> dict[str, Marks]:
    """Return for each item, by its id, the passages to mark in `compared_texts`.

    The most similar sentence of all texts is ``"best"``; the most similar one of another text is
    ``"near"`` if its cosine is at least `NEAR` of the best one. Items without a statement are
    omitted.
    """
    marks_by_id: dict[str, Marks] = {}
    with_statement = [item for item in items if item.statement]
    for texts, group in groupby(with_statement, key=compared_texts):
        group_items = list(group)
        spans = [
            (number, span) for number, text in enumerate(texts) for span in split_statements(text)
        ]
        cosines = similarity(
            [item.statement for item in group_items], [span.text for _, span in spans]
        )
        for item, row in zip(group_items, cosines, strict=True):
            marks_by_id[item.id] = _marks(row, spans)
    return marks_by_id


def _marks(row: NDArray[np.float64], spans: Sequence[tuple[int, Span]]) -> Marks:
    best: dict[int, tuple[float, Span]] = {}
    for cosine, (number, span) in zip(row.tolist(), spans, strict=True):
        if cosine >= MIN_SIMILARITY and (number not in best or cosine > best[number][0]):
            best[number] = cosine, span
    top = max(best, key=lambda number: best[number][0], default=None)
    min_cosine = NEAR * best[top][0] if top is not None else 0.0
    return {
        number: MarkedPassage(
            start=span.start, end=span.end, mark="best" if number == top else "near"
        )
        for number, (cosine, span) in best.items()
        if cosine >= min_cosine
    }
