"""The passage of a text that is most similar to a statement, to be marked on the page.

A help for the eye, by words or by embeddings; it does not say that the passage supports anything.
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

LEAST_SIMILARITY = 0.1
"""Below this cosine nothing is marked: a random passage would mislead."""

NEAR = 0.75
"""What share of the best passage's cosine another text's passage must have to be marked too."""


Similarity: TypeAlias = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
"""Takes statements and sentences; returns cosines, shape (statements, sentences)."""


def word_similarity(statements: Sequence[str], sentences: Sequence[str]) -> NDArray[np.float64]:
    """Compare stems without stop words, each weighed by how few of the sentences have it."""
    terms_of = Normaliser().terms
    asked = [frozenset(terms_of(text)) for text in statements]
    known = [frozenset(terms_of(text)) for text in sentences]
    seen = Counter(term for terms in known for term in terms)
    weight = {term: log(1.0 + len(known) / n) ** 2 for term, n in seen.items()}
    unseen = log(1.0 + len(known)) ** 2

    def norm(terms: frozenset[str]) -> float:
        return sqrt(sum(weight.get(term, unseen) for term in terms)) or 1.0

    norms = [norm(terms) for terms in known]
    return np.array(
        [
            [
                sum(weight[term] for term in terms & other) / (norm(terms) * length)
                for other, length in zip(known, norms, strict=True)
            ]
            for terms in asked
        ]
    ).reshape(len(asked), len(known))


def embedding_similarity(embedder: Embedder) -> Similarity:
    """Return how sentences are compared by their embeddings."""

    def similarity(statements: Sequence[str], sentences: Sequence[str]) -> NDArray[np.float64]:
        if not statements or not sentences:
            return np.zeros((len(statements), len(sentences)))
        vectors = embedder.embed([*statements, *sentences]).astype(np.float64)
        return np.asarray(vectors[: len(statements)] @ vectors[len(statements) :].T)

    return similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A passage: characters ``start`` to ``end`` of the text, and how it is marked."""

    start: int
    end: int
    mark: Mark


Marks: TypeAlias = Mapping[int, Marked]
"""Number of the text to its marked passage."""


def compared_texts(item: Item) -> tuple[str, ...]:
    """Return the texts in which the statement is looked for: the summary, or the articles."""
    if item.unit.startswith("answer:") and item.texts:
        return item.texts
    return tuple(article.content for article in item.articles)


def mark_passages(items: Sequence[Item], similarity: Similarity) -> dict[str, Marks]:
    """Return for each item, by its id, the passages to mark in `compared_texts`.

    The most similar sentence of all texts is ``"best"``; that of another text ``"near"``, where it
    comes close. Items without a statement have none.
    """
    out: dict[str, Marks] = {}
    asked = [item for item in items if item.statement]
    for texts, some in groupby(asked, key=compared_texts):
        together = list(some)
        spans = [
            (number, span) for number, text in enumerate(texts) for span in split_statements(text)
        ]
        cosines = similarity(
            [item.statement for item in together], [span.text for _, span in spans]
        )
        for item, row in zip(together, cosines, strict=True):
            out[item.id] = _marks(row, spans)
    return out


def _marks(row: NDArray[np.float64], spans: Sequence[tuple[int, Span]]) -> Marks:
    best: dict[int, tuple[float, Span]] = {}
    for cosine, (number, span) in zip(row.tolist(), spans, strict=True):
        if cosine >= LEAST_SIMILARITY and (number not in best or cosine > best[number][0]):
            best[number] = cosine, span
    top = max(best, key=lambda number: best[number][0], default=None)
    least = NEAR * best[top][0] if top is not None else 0.0
    return {
        number: Marked(start=span.start, end=span.end, mark="best" if number == top else "near")
        for number, (cosine, span) in best.items()
        if cosine >= least
    }
