"""Find the passages nearest to a statement by sentence embeddings.

Cross-encoders are slow and accurate, embeddings fast and rough: a cross-encoder therefore scores
only the few passages per statement that embeddings select.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairjudge.ports import Embedder
from fairjudge.text.particulars import Vocabulary, vocabulary_of
from fairjudge.text.statements import statement_texts
from fairjudge.text.tokens import words

NEAREST = 3
"""Number of sentences to which a statement is compared, each with its neighbours."""
CONTEXT = 1
"""Number of neighbours on each side, as context, for example to resolve pronouns."""
MIN_WORDS = 5
"""Minimum number of words for a part of a sentence to count as a statement."""

Vectors = NDArray[np.float32]


@dataclass(slots=True)
class Vectoriser:
    """Caches the embeddings of sentences."""

    embedder: Embedder
    _rows: dict[str, Vectors] = field(default_factory=dict)

    def rows(self, texts: Sequence[str]) -> Vectors:
        """Return embeddings of shape (n, d), n >= 1; see `fairjudge.ports.Embedder.embed`."""
        self.add(texts)
        return np.stack([self._rows[text] for text in texts])

    def add(self, texts: Sequence[str]) -> None:
        """Embed those of `texts` that are not cached, in one batch."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new_texts:
            self._rows |= dict(zip(new_texts, self.embedder.embed(new_texts), strict=True))


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Texts to search: their sentences in order, and the index of each sentence's text."""

    texts: tuple[str, ...]
    sentences: tuple[str, ...]
    owners: tuple[int, ...]
    vectors: Vectors
    plain_sentences: frozenset[str]
    plain_texts: tuple[str, ...]
    """The sentences and texts reduced to words (see `plain`)."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words and numbers of all texts; computed on first use (not used for coverage)."""
        return vocabulary_of(self.texts)

    def contains(self, statement: str) -> bool:
        """Return whether `statement` occurs verbatim, as a sentence or as `MIN_WORDS` words."""
        words = plain(statement)
        if words in self.plain_sentences:
            return True
        is_long = words.count(" ") + 1 >= MIN_WORDS
        return is_long and any(f" {words} " in f" {text} " for text in self.plain_texts)

    def indices_of_texts_with(self, statement: str) -> tuple[int, ...]:
        """Return the indices of the texts that contain `statement` verbatim."""
        words = plain(statement)
        return tuple(n for n, text in enumerate(self.plain_texts) if f" {words} " in f" {text} ")

    def nearest(self, statement: Vectors) -> tuple[tuple[int, str, str], ...]:
        """Return (text index, nearest sentence, passage) of the nearest passages, nearest first.

        Unlike with `near`, each passage is part of a single text.
        """
        by_passage: dict[str, tuple[int, str, str]] = {}
        for index in self._order(statement, NEAREST):
            start, end = self._span(index)
            passage = " ".join(self.sentences[start:end])
            by_passage.setdefault(passage, (self.owners[index], self.sentences[index], passage))
        return tuple(by_passage.values())

    def near(self, statement: Vectors, *, limit: int = NEAREST) -> tuple[str, ...]:
        """Return the nearest passages to a statement's vector, then the nearest sentences, joined.

        A passage is a sentence with its neighbours; sentences inside an earlier passage are
        skipped. The last item joins the nearest sentences, for statements that combine several.
        """
        order = self._order(statement, limit)
        spans: dict[tuple[int, int], None] = {}
        for index in order:
            if not any(start <= index < end for start, end in spans):
                spans[self._span(index)] = None
        passages = [" ".join(self.sentences[start:end]) for start, end in spans]
        if len(spans) > 1:
            passages.append(" ".join(self.sentences[index] for index in sorted(order)))
        return tuple(dict.fromkeys(passages))

    def _order(self, statement: Vectors, limit: int) -> list[int]:
        order: list[int] = np.argsort(-(self.vectors @ statement), kind="stable")[:limit].tolist()
        return order

    def nearest_passage_and_sentences(self, statement: Vectors) -> tuple[str, ...]:
        """Return the first and the last item of `near`, for coverage: a third of the cost."""
        passages = self.near(statement)
        return tuple(dict.fromkeys((passages[0], passages[-1])))

    def _span(self, index: int) -> tuple[int, int]:
        start, end = index, index + 1
        while start > max(0, index - CONTEXT) and self.owners[start - 1] == self.owners[index]:
            start -= 1
        last = min(len(self.sentences), index + 1 + CONTEXT)
        while end < last and self.owners[end] == self.owners[index]:
            end += 1
        return start, end


def passages_of(texts: Sequence[str], vectoriser: Vectoriser) -> Passages | None:
    """Return the passages of `texts`, None if no text has a sentence."""
    sentences_by_text = [statement_texts(text) for text in texts]
    sentences = tuple(
        sentence for text_sentences in sentences_by_text for sentence in text_sentences
    )
    if not sentences:
        return None
    return Passages(
        texts=tuple(texts),
        sentences=sentences,
        owners=tuple(
            index for index, text_sentences in enumerate(sentences_by_text) for _ in text_sentences
        ),
        vectors=vectoriser.rows(sentences),
        plain_sentences=frozenset(map(plain, sentences)),
        plain_texts=tuple(map(plain, texts)),
    )


def plain(text: str) -> str:
    """Return the words of a text in lower case, without punctuation, joined by spaces."""
    return " ".join(words(text.casefold()))
