"""Chunks of a document: overlapping runs of neighbouring sentences (coverage fairness, A.2)."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.errors import ConfigurationError
from fairjudge.text.scripts import count_words

CHUNK_WORDS = 100
"""W, the maximum number of words of a chunk; tuned in the paper's Table 7."""


def chunks(sentences: Sequence[str], *, max_words: int = CHUNK_WORDS) -> tuple[str, ...]:
    """Return the chunks grown around every sentence, without duplicates.

    At distance 1, 2, ... the sentences before and after are added, the shorter first (of equal ones
    the one before), until one would make the chunk longer than `max_words`.

    Parameters
    ----------
    sentences
        A document's sentences in order.
    max_words
        In words (`fairjudge.text.scripts.count_words`); with 0 every chunk is one sentence.

    Returns
    -------
    tuple of str
        In the order of their central sentences, without duplicates; the sentences of a chunk are
        joined by a space. A sentence of more than `max_words` is a chunk of its own, uncut.
    """
    if max_words < 0:
        raise ConfigurationError(f"max_words must be 0 or more, got {max_words!r}")
    lengths = [count_words(sentence) for sentence in sentences]
    spans = (_grow(lengths, centre, max_words) for centre in range(len(sentences)))
    return tuple(dict.fromkeys(" ".join(sentences[start:end]) for start, end in spans))


def _grow(lengths: Sequence[int], centre: int, max_words: int) -> tuple[int, int]:
    """Return the half-open range of sentences of the chunk around `centre`."""
    start, end, total = centre, centre + 1, lengths[centre]
    for distance in range(1, len(lengths)):
        neighbours = [
            index for index in (centre - distance, centre + distance) if 0 <= index < len(lengths)
        ]
        for index in sorted(neighbours, key=lambda index: lengths[index]):
            if total + lengths[index] > max_words:
                return start, end
            total += lengths[index]
            start, end = min(start, index), max(end, index + 1)
    return start, end
