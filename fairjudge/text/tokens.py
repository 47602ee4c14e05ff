"""Words, and normalised terms for unigram measures."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import snowballstemmer

from fairjudge.errors import ConfigurationError
from fairjudge.text.folding import fold
from fairjudge.text.scripts import UNSPACED, pieces_of
from fairjudge.text.stop_words import SMART_STOP_WORDS


class _Separators(dict[int, int]):
    """Maps punctuation, symbols, control characters and white space to a space."""

    def __missing__(self, code: int) -> int:
        is_letter_like = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if is_letter_like else 0x20
        return self[code]


_SEPARATORS = _Separators()


def words(text: str) -> list[str]:
    """Return the lower-case runs of letters, marks and digits in `text`, in order, with repeats.

    Apostrophes and hyphens are separators: ``"Don't"`` is ``["don", "t"]``. Characters are folded
    first (`fairjudge.text.folding`). Runs of scripts without spaces are split into overlapping
    pieces (`fairjudge.text.scripts.pieces_of`).
    """
    runs = fold(text).lower().translate(_SEPARATORS).split()
    if text.isascii() or UNSPACED.search(text) is None:
        return runs
    return [piece for word in runs for piece in pieces_of(word)]


def words_of_name(text: str) -> str:
    """Return the words of a name or value in their case, joined by single spaces.

    All characters except letters, marks, digits and the underscore are separators.
    """
    characters = (c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in fold(text))
    return " ".join("".join(characters).split())


def word_parts(entries: Iterable[str]) -> frozenset[str]:
    """Return the `words` in the `entries` of a stop list, to match texts split by `words`."""
    return frozenset(part for entry in entries for part in words(entry))


ENGLISH_STOP_WORDS = word_parts(SMART_STOP_WORDS)


class TermMaker(Protocol):
    """Turns texts into terms, such as `Normaliser`."""

    @property
    def fingerprint(self) -> str:
        """The identity of the normalisation, part of signatures."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """A `TermMaker`: lower-case words without punctuation and stop words, stemmed.

    Parameters
    ----------
    stop_words
        Lower-case words removed before stemming; by default the SMART list, split by `words`.
    stemmer
        A Snowball algorithm (``"porter"`` is Porter's of 1980, ``"english"`` its revision,
        ``"german"`` ...), or None for whole words.

    Raises
    ------
    ConfigurationError
        If the stemmer is unknown.
    """

    stop_words: frozenset[str] = field(default=ENGLISH_STOP_WORDS)
    stemmer: str | None = "porter"

    def __post_init__(self) -> None:
        algorithms = snowballstemmer.algorithms()
        if self.stemmer is not None and self.stemmer not in algorithms:
            raise ConfigurationError(
                f"unknown stemmer {self.stemmer!r}; choose one of {', '.join(sorted(algorithms))}"
            )

    @property
    def fingerprint(self) -> str:
        """The identity of the normalisation, part of signatures."""
        digest = hashlib.sha256("\n".join(sorted(self.stop_words)).encode("utf-8")).hexdigest()
        return f"{self.stemmer or 'unstemmed'}+stop@{digest[:8]}"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repeats."""
        stem = _stem_function(self.stemmer)
        return tuple(stem(word) for word in words(text) if word not in self.stop_words)


@dataclass(frozen=True, slots=True)
class Runs:
    """A `TermMaker` of n-grams: runs of ``length`` terms of the `TermMaker` ``single``."""

    single: TermMaker
    length: int

    @property
    def fingerprint(self) -> str:
        """The identity of the normalisation, part of signatures."""
        return f"{self.single.fingerprint}+{self.length}-grams"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the n-grams of `text`, in order, with repeats; empty for shorter texts."""
        single_terms = self.single.terms(text)
        starts = range(len(single_terms) - self.length + 1)
        return tuple(" ".join(single_terms[start : start + self.length]) for start in starts)


@lru_cache(maxsize=16)
def _stem_function(name: str | None) -> Callable[[str], str]:
    if name is None:
        return str
    # A stemmer keeps state during a call, so each cached function owns one.
    stem_word: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    return lru_cache(maxsize=200_000)(stem_word)
