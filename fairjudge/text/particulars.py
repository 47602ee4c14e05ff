"""Names and numbers in a statement, and which of them are missing in its sources.

English only: names are recognised by capitalisation.
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
_TWO_TO_TWELVE = "two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_TWO_TO_TWELVE.split(), 2)}
_MIN_LONG_WORD = 4


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words (with their stems) and the numbers of some texts."""

    words: frozenset[str]
    numbers: frozenset[str]

    def lacks(self, statement: str) -> int:
        """Return the number of distinct names and numbers of `statement` that are missing here.

        Each word of a name counts; numbers are in digits, or words from two to twelve. The first
        word is never a name, since it is always capitalised; if all longer words are, as in
        headlines, there are no names.
        """
        names = {name for name in names_in(statement) if not self._has(name)}
        return len(names) + len(numbers_in(statement) - self.numbers)

    def _has(self, name: str) -> bool:
        return all(word in self.words or stem(word) in self.words for word in words(name))


def vocabulary_of(texts: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of all of `texts`."""
    all_words: set[str] = set()
    numbers: set[str] = set()
    for text in texts:
        all_words.update(words(text))
        numbers |= numbers_in(text)
    return Vocabulary(frozenset(all_words | set(map(stem, all_words))), frozenset(numbers))


def names_in(sentence: str) -> tuple[str, ...]:
    """Return the words of names, in order: all capitalised words except the first."""
    tokens = _TOKEN.findall(sentence)
    if all(word[0].isupper() for word in tokens if len(word) >= _MIN_LONG_WORD):
        return ()
    return tuple(word for word in tokens[1:] if word[0].isupper() and word != "I")


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers in a text, in digits or as words from two to twelve, as digits.

    "One" is ignored: it is a pronoun as often as a number.
    """
    digits = {match.replace(",", "") for match in _DIGITS.findall(text)}
    tokens = re.findall(r"[a-z]+", text.lower())
    return frozenset(digits | {_NUMBER_WORDS[word] for word in tokens if word in _NUMBER_WORDS})


def swap_number(text: str, number: str) -> str:
    """Return `text` with `number` replaced everywhere by a number that `text` does not have.

    `number` is as `numbers_in` returns it; a number in words is replaced by one in digits.
    """
    numbers = numbers_in(text)
    value_or_none = int(number) if number.isdigit() else None
    candidates = (
        str((value_or_none if value_or_none is not None else 0) + step) for step in range(7, 500, 6)
    )
    replacement = next(candidate for candidate in candidates if candidate not in numbers)
    words = [word for word, value in _NUMBER_WORDS.items() if value == number]
    result = _DIGITS.sub(
        lambda match: replacement if match[0].replace(",", "") == number else match[0], text
    )
    for word in words:
        result = re.sub(rf"\b{word}\b", replacement, result, flags=re.IGNORECASE)
    return result


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of an English word (Snowball's English stemmer)."""
    return str(_STEMMER.stemWord(word))
