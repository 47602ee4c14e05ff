"""Test doubles of the trained models and the embedder, based on word counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class WordBag:
    """An embedder with one dimension per word, the word's count."""

    fingerprint = "word-bag"

    def __init__(self):
        self.places, self.n_texts, self.n_calls = {}, 0, 0

    def embed(self, texts):
        self.n_texts += len(texts)
        self.n_calls += 1
        rows = np.zeros((len(texts), 2048), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[self.places.setdefault(word, len(self.places))] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@dataclass(frozen=True)
class Read:
    answered: float
    start: int
    end: int


@dataclass
class WordModels:
    """A model whose support and coverage are the share of words that are in the passage.

    ``answers`` maps questions to answer spans; two answers are the same if their words are.
    """

    answers: dict[str, list[str]] = field(default_factory=dict)
    identity: str = "word-models:0"
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def _shares(self, pairs):
        self.pairs += pairs
        return np.array([
            np.mean([word in words(passage) for word in words(statement)])
            for passage, statement in pairs
        ])  # fmt: skip

    def support(self, pairs):
        shares = self._shares(pairs)
        return np.column_stack([shares, 1 - shares, np.zeros_like(shares)])

    def support_probabilities(self, pairs, n_missing):
        return self._shares(pairs) / (1 + np.array(n_missing))

    def coverage_probabilities(self, pairs):
        return self._shares(pairs)

    def read(self, pairs):
        return [self._read(question, passage) for question, passage in pairs]

    def _read(self, question, passage):
        for answer in self.answers.get(question, ()):
            if answer in passage:
                start = passage.index(answer)
                return Read(0.95, start, start + len(answer))
        return Read(0.05, 0, 0)

    def same_answer(self, triples):
        return np.array([float(set(words(a)) == set(words(b))) for _, a, b in triples])
