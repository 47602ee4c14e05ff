"""Which passages of a text may say what a statement says: the nearest by sentence embeddings.

A model that reads pairs is slow and exact, embeddings are quick and rough: so few passages are
read for each statement, and these are the ones that embeddings name.
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
"""Sentences that a statement is compared with, each among its neighbours."""
AROUND = 1
"""Neighbours on each side: names that pronouns stand for, and what one sentence adds to another."""
LEAST_QUOTED = 5
"""Words from which on a part of a sentence says something of its own."""

Vectors = NDArray[np.float32]


@dataclass(slots=True)
class Vectoriser:
    """Embeds each sentence once while it lives, however many texts hold it."""

    embedder: Embedder
    _rows: dict[str, Vectors] = field(default_factory=dict)

    def rows(self, texts: Sequence[str]) -> Vectors:
        """Return shape (n, d), as `fairjudge.ports.Embedder.embed`; n is 1 or more."""
        self.add(texts)
        return np.stack([self._rows[text] for text in texts])

    def add(self, texts: Sequence[str]) -> None:
        """Embed what is new of `texts`, all at once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows |= dict(zip(new, self.embedder.embed(new), strict=True))


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Texts to be searched: their sentences in order, and the text that each belongs to."""

    texts: tuple[str, ...]
    sentences: tuple[str, ...]
    owners: tuple[int, ...]
    vectors: Vectors
    plain_sentences: frozenset[str]
    plain_texts: tuple[str, ...]
    """Both as their words alone (see `plain`)."""

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words and numbers of all texts; what judges coverage never asks for them."""
        return vocabulary_of(self.texts)

    def holds(self, statement: str) -> bool:
        """Whether `statement` stands here word for word, as a sentence or a longer part of one."""
        words = plain(statement)
        if words in self.plain_sentences:
            return True
        long_enough = words.count(" ") + 1 >= LEAST_QUOTED
        return long_enough and any(f" {words} " in f" {text} " for text in self.plain_texts)

    def holders(self, statement: str) -> tuple[int, ...]:
        """Return the texts in which `statement` stands word for word, by number."""
        words = plain(statement)
        return tuple(n for n, text in enumerate(self.plain_texts) if f" {words} " in f" {text} ")

    def nearest(
        self, statement: Vectors, *, limit: int = NEAREST
    ) -> tuple[tuple[int, str, str], ...]:
        """Return the passages of `near` that are of one text, nearest first.

        Each with the number of its text and the sentence that is near.
        """
        found: dict[str, tuple[int, str, str]] = {}
        for place in self._order(statement, limit):
            start, end = self._span(place)
            passage = " ".join(self.sentences[start:end])
            found.setdefault(passage, (self.owners[place], self.sentences[place], passage))
        return tuple(found.values())

    def near(self, statement: Vectors, *, limit: int = NEAREST) -> tuple[str, ...]:
        """Return the passages nearest to a statement's vector, and the nearest sentences in one.

        A passage is a sentence with its neighbours; passages that share their middle are read
        once. The last one joins what is nearest in different places, for statements that are made
        of several.
        """
        order = self._order(statement, limit)
        spans: dict[tuple[int, int], None] = {}
        for place in order:
            if not any(start <= place < end for start, end in spans):
                spans[self._span(place)] = None
        found = [" ".join(self.sentences[start:end]) for start, end in spans]
        if len(spans) > 1:
            found.append(" ".join(self.sentences[place] for place in sorted(order)))
        return tuple(dict.fromkeys(found))

    def _order(self, statement: Vectors, limit: int) -> list[int]:
        found: list[int] = np.argsort(-(self.vectors @ statement), kind="stable")[:limit].tolist()
        return found

    def nearest_and_joined(self, statement: Vectors) -> tuple[str, ...]:
        """Return the first and the last of `near`: what coverage reads, at a third of the cost."""
        found = self.near(statement)
        return tuple(dict.fromkeys((found[0], found[-1])))

    def _span(self, place: int) -> tuple[int, int]:
        start, end = place, place + 1
        while start > max(0, place - AROUND) and self.owners[start - 1] == self.owners[place]:
            start -= 1
        last = min(len(self.sentences), place + 1 + AROUND)
        while end < last and self.owners[end] == self.owners[place]:
            end += 1
        return start, end


def passages_of(texts: Sequence[str], vectoriser: Vectoriser) -> Passages | None:
    """Return the passages of `texts`, None where no text has a sentence."""
    split = [statement_texts(text) for text in texts]
    sentences = tuple(sentence for some in split for sentence in some)
    if not sentences:
        return None
    return Passages(
        texts=tuple(texts),
        sentences=sentences,
        owners=tuple(number for number, some in enumerate(split) for _ in some),
        vectors=vectoriser.rows(sentences),
        plain_sentences=frozenset(map(plain, sentences)),
        plain_texts=tuple(map(plain, texts)),
    )


def plain(text: str) -> str:
    """Return the words of a text, one space apart, in lower case and without punctuation."""
    return " ".join(words(text.casefold()))
