"""Lexical features for the coverage head's logistic calibration."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairjudge.text.particulars import stem
from fairjudge.text.tokens import ENGLISH_STOP_WORDS, words

_WINDOW = 30


class UnitFeatures:
    """Shares of a unit's words that a passage has, and how near its nearest words are.

    `embeddings` are those of words and their pieces, shape (vocabulary, d), by the ids of the
    `tokenizer`, a fast one of transformers, lower-casing.
    """

    def __init__(self, embeddings: NDArray[np.float32], tokenizer: Any) -> None:
        self._embeddings, self._tokenizer = embeddings, tokenizer
        vocabulary = tokenizer.get_vocab()
        self._counts = np.zeros(len(embeddings), dtype=bool)
        self._counts[[place for word, place in vocabulary.items() if _is_content(word)]] = True

    def of(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4), the features of (passage, unit), in [0, 1].

        Shares are of the unit's words that are no stop words (of all where there is no other),
        stemmed, and of pairs of neighbours among them. A window is 30 words long. The last one is
        the mean over the unit's words and pieces of the cosine of the nearest in the passage.
        """
        rows = [_shares(passage, unit) for passage, unit in pairs]
        shares = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
        return np.column_stack((shares, self._nearest(pairs)))

    def _nearest(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return np.zeros(0)
        encoded = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        rows = dict(zip(texts, map(self._rows, encoded), strict=True))
        nearest = [
            float((rows[unit] @ rows[passage].T).max(axis=1).mean())
            if len(rows[unit]) and len(rows[passage])
            else 0.0
            for passage, unit in pairs
        ]
        return np.array(nearest)

    def _rows(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return unit vectors of the ids that count; of all where none does."""
        every = np.array(ids, dtype=np.int64)
        weighted_tokens = every[self._counts[every]]
        rows = self._embeddings[weighted_tokens if len(weighted_tokens) else every]
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def _is_content(word: str) -> bool:
    return word.startswith("##") or (word.isalnum() and word not in ENGLISH_STOP_WORDS)


def _shares(passage: str, unit: str) -> tuple[float, float, float]:
    unit_words, passage_words = _content(unit), _content(passage)
    targets = set(unit_words)
    if not targets:
        return (0.0, 0.0, 0.0)
    places = [place for place, word in enumerate(passage_words) if word in targets]
    best = max(
        (
            len({passage_words[i] for i in places if start <= i < start + _WINDOW})
            for start in places
        ),
        default=0,
    )
    pairs = set(itertools.pairwise(unit_words))
    shared = len(pairs & set(itertools.pairwise(passage_words))) / max(1, len(pairs))
    return (len(targets & set(passage_words)) / len(targets), best / len(targets), shared)


@lru_cache(maxsize=4096)
def _content(text: str) -> tuple[str, ...]:
    tokens = words(text)
    content_words = [word for word in tokens if word not in ENGLISH_STOP_WORDS] or tokens
    return tuple(stem(word) for word in content_words)
