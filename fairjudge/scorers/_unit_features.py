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
    """Features of a passage and a unit: shares of common words, and similarity of words.

    `embeddings` are of words and word pieces, shape (vocabulary, d), by the ids of `tokenizer`, a
    lower-casing fast tokenizer of transformers.
    """

    def __init__(self, embeddings: NDArray[np.float32], tokenizer: Any) -> None:
        self._embeddings, self._tokenizer = embeddings, tokenizer
        vocabulary = tokenizer.get_vocab()
        self._is_content_id = np.zeros(len(embeddings), dtype=bool)
        self._is_content_id[[index for word, index in vocabulary.items() if _is_content(word)]] = (
            True
        )

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return shape (n, 4), the features of (passage, unit), in [0, 1].

        The first three are the shares of the unit's words in the passage, in its best window of 30
        words, and of adjacent pairs of words. Words are stemmed and exclude stop words, unless
        there are only stop words. The last is the mean over the unit's words and pieces of the
        largest cosine with a word or piece of the passage.
        """
        rows = [_word_shares(passage, unit) for passage, unit in pairs]
        shares = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
        return np.column_stack((shares, self._mean_similarity(pairs)))

    def _mean_similarity(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return np.zeros(0)
        token_ids = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        rows = dict(zip(texts, map(self._unit_vectors, token_ids), strict=True))
        similarities = [
            float((rows[unit] @ rows[passage].T).max(axis=1).mean())
            if len(rows[unit]) and len(rows[passage])
            else 0.0
            for passage, unit in pairs
        ]
        return np.array(similarities)

    def _unit_vectors(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return unit vectors of the ids of content words, or of all ids if there are none."""
        all_ids = np.array(ids, dtype=np.int64)
        content_ids = all_ids[self._is_content_id[all_ids]]
        rows = self._embeddings[content_ids if len(content_ids) else all_ids]
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def _is_content(word: str) -> bool:
    return word.startswith("##") or (word.isalnum() and word not in ENGLISH_STOP_WORDS)


def _word_shares(passage: str, unit: str) -> tuple[float, float, float]:
    unit_words, passage_words = _content_stems(unit), _content_stems(passage)
    targets = set(unit_words)
    if not targets:
        return (0.0, 0.0, 0.0)
    positions = [position for position, word in enumerate(passage_words) if word in targets]
    best = max(
        (
            len({passage_words[i] for i in positions if start <= i < start + _WINDOW})
            for start in positions
        ),
        default=0,
    )
    pairs = set(itertools.pairwise(unit_words))
    pair_share = len(pairs & set(itertools.pairwise(passage_words))) / max(1, len(pairs))
    return (len(targets & set(passage_words)) / len(targets), best / len(targets), pair_share)


@lru_cache(maxsize=4096)
def _content_stems(text: str) -> tuple[str, ...]:
    tokens = words(text)
    content_words = [word for word in tokens if word not in ENGLISH_STOP_WORDS] or tokens
    return tuple(stem(word) for word in content_words)
