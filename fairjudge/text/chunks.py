"""Chunks of a document: overlapping runs of neighbouring sentences (coverage fairness, A.2)."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.errors import ConfigurationError
from fairjudge.text.scripts import count_words

CHUNK_WORDS = 100
"""W, the most words of a chunk; tuned in the paper's Table 7."""


def chunks(sentences: Sequence[str], *, max_words: int = CHUNK_WORDS) -> tuple[str, ...]:
    """Grow a chunk around every sentence, and keep each chunk once.

    At distance 1, 2, ... the sentence before and the one after are added, the shorter first (the
    one before where they are as long), until one would take the chunk beyond `max_words`.

    Parameters
    ----------
    sentences
        A document's sentences in order.
    max_words
        In words (`fairjudge.text.scripts.count_words`); 0 leaves single sentences.

    Returns
    -------
    tuple of str
        In the order of the sentences grown from, without duplicates; sentences are joined by a
        space. A single sentence of more than `max_words` is a chunk as it is: it is never cut.
    """
    if max_words < 0:
        raise ConfigurationError(f"max_words must be 0 or more, got {max_words!r}")
    lengths = [count_words(sentence) for sentence in sentences]
    spans = (_grow(lengths, place, max_words) for place in range(len(sentences)))
    return tuple(dict.fromkeys(" ".join(sentences[start:end]) for start, end in spans))


def _grow(lengths: Sequence[int], centre: int, max_words: int) -> tuple[int, int]:
    """Return the half-open run of sentences around `centre`."""
    start, end, total = centre, centre + 1, lengths[centre]
    for distance in range(1, len(lengths)):
        around = [
            place for place in (centre - distance, centre + distance) if 0 <= place < len(lengths)
        ]
        for place in sorted(around, key=lambda place: lengths[place]):
            if total + lengths[place] > max_words:
                return start, end
            total += lengths[place]
            start, end = min(start, place), max(end, place + 1)
    return start, end
