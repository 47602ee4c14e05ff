"""Words, and the normalised terms that unigram measures count."""

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
        letter_like = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if letter_like else 0x20
        return self[code]


_SEPARATORS = _Separators()


def words(text: str) -> list[str]:
    """Split `text` into lower-case runs of letters, marks and digits, in order, with repeats.

    Apostrophes and hyphens separate: ``"Don't"`` is ``["don", "t"]``. Characters are folded first
    (`fairjudge.text.folding`). Of scripts written without spaces, a run gives overlapping pieces
    (`fairjudge.text.scripts.pieces_of`).
    """
    found = fold(text).lower().translate(_SEPARATORS).split()
    if text.isascii() or UNSPACED.search(text) is None:
        return found
    return [piece for word in found for piece in pieces_of(word)]


def named_words(text: str) -> str:
    """Return the words of a name or value, in the case given, with single spaces between.

    All but letters, marks, digits and the low line is left out.
    """
    kept = (c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in fold(text))
    return " ".join("".join(kept).split())


def word_parts(entries: Iterable[str]) -> frozenset[str]:
    """Return the words that `entries` fall into, so that a stop list fits `words`."""
    return frozenset(part for entry in entries for part in words(entry))


ENGLISH_STOP_WORDS = word_parts(SMART_STOP_WORDS)


class TermMaker(Protocol):
    """Turns texts into terms; `Normaliser` is ours."""

    @property
    def fingerprint(self) -> str:
        """What identifies the normalisation in a signature."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """How a text becomes terms: lower-cased, punctuation and stop words removed, stemmed.

    Parameters
    ----------
    stop_words
        Lower-case words left out before stemming; the SMART list, split as `words` splits.
    stemmer
        A Snowball algorithm (``"porter"`` is Porter's of 1980, ``"english"`` its revision,
        ``"german"`` ...), or None for whole words.

    Raises
    ------
    ConfigurationError
        For an unknown stemmer.
    """

    stop_words: frozenset[str] = field(default=ENGLISH_STOP_WORDS)
    stemmer: str | None = "porter"

    def __post_init__(self) -> None:
        known = snowballstemmer.algorithms()
        if self.stemmer is not None and self.stemmer not in known:
            raise ConfigurationError(
                f"unknown stemmer {self.stemmer!r}; choose one of {', '.join(sorted(known))}"
            )

    @property
    def fingerprint(self) -> str:
        """What identifies the normalisation in a signature."""
        listed = hashlib.sha256("\n".join(sorted(self.stop_words)).encode("utf-8")).hexdigest()
        return f"{self.stemmer or 'unstemmed'}+stop@{listed[:8]}"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the terms of `text`, in order, with repeats."""
        stem = _stem_function(self.stemmer)
        return tuple(stem(word) for word in words(text) if word not in self.stop_words)


@dataclass(frozen=True, slots=True)
class Runs:
    """A `TermMaker` of runs of ``length`` terms of another (N-gram matching with k above 1)."""

    single: TermMaker
    length: int

    @property
    def fingerprint(self) -> str:
        """What identifies the normalisation in a signature."""
        return f"{self.single.fingerprint}+{self.length}-grams"

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the runs in `text`, in order, with repeats; none in a shorter text."""
        found = self.single.terms(text)
        starts = range(len(found) - self.length + 1)
        return tuple(" ".join(found[start : start + self.length]) for start in starts)


@lru_cache(maxsize=16)
def _stem_function(name: str | None) -> Callable[[str], str]:
    if name is None:
        return str
    # A stemmer keeps state during a call, so each cached function owns one.
    stem_word: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    return lru_cache(maxsize=200_000)(stem_word)
