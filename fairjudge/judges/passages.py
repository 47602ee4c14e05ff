"""Find the passages of texts nearest to a statement by sentence embeddings.

Cross-encoders are slow and accurate, embeddings fast and rough: a cross-encoder therefore reads
only the few passages for each statement that embeddings select.
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
"""Number of sentences that a statement is compared with, each with its neighbours."""
AROUND = 1
"""Number of neighbours on each side, as context: referents of pronouns, continued thoughts."""
LEAST_QUOTED = 5
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
        """Embed the new ones of `texts` in one batch."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows |= dict(zip(new, self.embedder.embed(new), strict=True))


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Texts to search: their sentences in order, and the index of each one's text."""

    texts: tuple[str, ...]
    sentences: tuple[str, ...]
    owners: tuple[int, ...]
    vectors: Vectors
    plain_sentences: frozenset[str]
    plain_texts: tuple[str, ...]
    """The sentences and texts reduced to words (see `plain`)."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words and numbers of all texts; computed at first use, never for coverage."""
        return vocabulary_of(self.texts)

    def holds(self, statement: str) -> bool:
        """Return whether `statement` occurs verbatim, as a sentence or a longer part of one."""
        words = plain(statement)
        if words in self.plain_sentences:
            return True
        long_enough = words.count(" ") + 1 >= LEAST_QUOTED
        return long_enough and any(f" {words} " in f" {text} " for text in self.plain_texts)

    def holders(self, statement: str) -> tuple[int, ...]:
        """Return the indices of the texts that contain `statement` verbatim."""
        words = plain(statement)
        return tuple(n for n, text in enumerate(self.plain_texts) if f" {words} " in f" {text} ")

    def nearest(self, statement: Vectors) -> tuple[tuple[int, str, str], ...]:
        """Return (text index, nearest sentence, passage) of the nearest passages, nearest first.

        Unlike `near`, each passage is part of one text.
        """
        by_passage: dict[str, tuple[int, str, str]] = {}
        for place in self._order(statement, NEAREST):
            start, end = self._span(place)
            passage = " ".join(self.sentences[start:end])
            by_passage.setdefault(passage, (self.owners[place], self.sentences[place], passage))
        return tuple(by_passage.values())

    def near(self, statement: Vectors, *, limit: int = NEAREST) -> tuple[str, ...]:
        """Return the nearest passages to a statement's vector, and the nearest sentences joined.

        A passage is a sentence with its neighbours; a sentence inside an earlier passage adds no
        new one. The last item joins the nearest sentences of different places, for statements that
        combine several.
        """
        order = self._order(statement, limit)
        spans: dict[tuple[int, int], None] = {}
        for place in order:
            if not any(start <= place < end for start, end in spans):
                spans[self._span(place)] = None
        passages = [" ".join(self.sentences[start:end]) for start, end in spans]
        if len(spans) > 1:
            passages.append(" ".join(self.sentences[place] for place in sorted(order)))
        return tuple(dict.fromkeys(passages))

    def _order(self, statement: Vectors, limit: int) -> list[int]:
        order: list[int] = np.argsort(-(self.vectors @ statement), kind="stable")[:limit].tolist()
        return order

    def nearest_and_joined(self, statement: Vectors) -> tuple[str, ...]:
        """Return the first and the last of `near`, for coverage: a third of the cost."""
        passages = self.near(statement)
        return tuple(dict.fromkeys((passages[0], passages[-1])))

    def _span(self, place: int) -> tuple[int, int]:
        start, end = place, place + 1
        while start > max(0, place - AROUND) and self.owners[start - 1] == self.owners[place]:
            start -= 1
        last = min(len(self.sentences), place + 1 + AROUND)
        while end < last and self.owners[end] == self.owners[place]:
            end += 1
        return start, end


def passages_of(texts: Sequence[str], vectoriser: Vectoriser) -> Passages | None:
    """Return the passages of `texts`, None if no text has a sentence."""
    split = [statement_texts(text) for text in texts]
    sentences = tuple(sentence for text_sentences in split for sentence in text_sentences)
    if not sentences:
        return None
    return Passages(
        texts=tuple(texts),
        sentences=sentences,
        owners=tuple(number for number, text_sentences in enumerate(split) for _ in text_sentences),
        vectors=vectoriser.rows(sentences),
        plain_sentences=frozenset(map(plain, sentences)),
        plain_texts=tuple(map(plain, texts)),
    )


def plain(text: str) -> str:
    """Return the words of a text in lower case, without punctuation, joined by spaces."""
    return " ".join(words(text.casefold()))
