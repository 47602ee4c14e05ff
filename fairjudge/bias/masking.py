"""Hiding grammar and names before summaries are compared (`news_bias` section 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairjudge.bias.people import Person
from fairjudge.text.tokens import words

FIRST_NAME, LAST_NAME, TITLE = MARKERS = ("FIRST_NAME", "LAST_NAME", "NAME_TITLE")
"""What stands for a hidden name or title; the low line tells it from every word of a text."""

_MARKER = re.compile(rf"(?<!\w)({'|'.join(MARKERS)})(?!\w)")

# "her" answers to both "him" and "his", and "his" to both "her" and "hers". A cue would stay if
# they became different words, so all four become one.
_NEUTRAL = {
    "he": "they", "she": "they", "him": "their", "his": "their", "her": "their", "hers": "their",
    "himself": "themself", "herself": "themself",
}  # fmt: skip
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_NEUTRAL)})\b", re.IGNORECASE)
_TITLES = re.compile(r"\b(?:(?:Mrs|Mr|Ms|Miss|Mx)\b\.?|(?:Sir|Lady|Madam|Ma['’]am)\b)")


def mask(text: str, people: Iterable[Person] = ()) -> str:
    """Neutralise third-person pronouns and gendered titles, and mask the people's names.

    Names are replaced as whole words in the case given (``"Will"`` but not ``"will"``).
    """
    everyone = tuple(people)
    firsts = {person.first_name for person in everyone if person.first_name}
    lasts = {person.last_name for person in everyone if person.last_name} - firsts
    text = _replace(text, firsts, FIRST_NAME)
    text = _replace(text, lasts, LAST_NAME)
    return _PRONOUN.sub(_neutral, _TITLES.sub(TITLE, text))


def masked_words(text: str) -> list[str]:
    """Split masked text as `words` does, with each marker as one word of its own, in capitals."""
    return [
        word
        for piece in _MARKER.split(text)
        for word in ((piece,) if piece in MARKERS else words(piece))
    ]


def _replace(text: str, names: set[str], marker: str) -> str:
    if not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    options = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<!\w)(?:{options})(?!\w)", marker, text)


def _neutral(found: re.Match[str]) -> str:
    word = found.group()
    neutral = _NEUTRAL[word.lower()]
    return neutral.capitalize() if word[0].isupper() else neutral
