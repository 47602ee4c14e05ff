"""The particulars of a statement, its names and numbers, and which of them its sources lack.

English: names are recognised by their capitals, so that there are none in text without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

from fairjudge.text.tokens import words

_STEMMER = snowballstemmer.stemmer("english")
_TOKEN = re.compile(r"[^\W_][\w'\u2019.-]*")
_DIGITS = re.compile(r"\d(?:[\d,.]*\d)?")
_FROM_TWO = "two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_FROM_TWO.split(), 2)}
_LONG = 4


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words (with their stems) and the numbers of some texts."""

    words: frozenset[str]
    numbers: frozenset[str]

    def lacks(self, statement: str) -> int:
        """Return how many different names and numbers of a sentence stand nowhere here.

        A word of a name counts as a name, a number in digits or as a word from two to twelve as
        one. The first word is no name, for any word there has a capital; neither is any where all
        longer words have one, as in headlines.
        """
        names = {name for name in names_in(statement) if not self._has(name)}
        return len(names) + len(numbers_in(statement) - self.numbers)

    def _has(self, name: str) -> bool:
        return all(word in self.words or stem(word) in self.words for word in words(name))


def vocabulary_of(texts: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of all of `texts`."""
    known: set[str] = set()
    numbers: set[str] = set()
    for text in texts:
        known.update(words(text))
        numbers |= numbers_in(text)
    return Vocabulary(frozenset(known | set(map(stem, known))), frozenset(numbers))


def names_in(sentence: str) -> tuple[str, ...]:
    """Return the words of names, in order: those with a capital, but the first."""
    found = _TOKEN.findall(sentence)
    if all(one[0].isupper() for one in found if len(one) >= _LONG):
        return ()
    return tuple(one for one in found[1:] if one[0].isupper() and one != "I")


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers that a text states, in digits or as a word from two to twelve.

    "One" is left out: it is a pronoun as often as a number.
    """
    digits = {match.replace(",", "") for match in _DIGITS.findall(text)}
    said = re.findall(r"[a-z]+", text.lower())
    return frozenset(digits | {_NUMBER_WORDS[word] for word in said if word in _NUMBER_WORDS})


def swap_number(text: str, number: str) -> str:
    """Return `text` with another number, which it does not state, wherever it states `number`.

    `number` is as `numbers_in` gives it; a number in words is swapped for one in digits.
    """
    known = numbers_in(text)
    whole = int(number) if number.isdigit() else None
    candidates = (str((whole if whole is not None else 0) + step) for step in range(7, 500, 6))
    other = next(candidate for candidate in candidates if candidate not in known)
    words = [word for word, value in _NUMBER_WORDS.items() if value == number]
    swapped = _DIGITS.sub(
        lambda found: other if found[0].replace(",", "") == number else found[0], text
    )
    for word in words:
        swapped = re.sub(rf"\b{word}\b", other, swapped, flags=re.IGNORECASE)
    return swapped


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return an English word's stem (Snowball's)."""
    return str(_STEMMER.stemWord(word))
