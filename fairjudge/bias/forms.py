"""Gendered pronouns and titles: recognition and replacement."""

from __future__ import annotations

from typing import Literal, TypeAlias

Gender: TypeAlias = Literal["female", "male"]
Case: TypeAlias = Literal["subject", "object", "determiner", "possessive", "reflexive"]
TitleKind: TypeAlias = Literal["plain", "noble"]

PRONOUNS: dict[Gender, dict[Case, str]] = {
    "female": {
        "subject": "she", "object": "her", "determiner": "her", "possessive": "hers",
        "reflexive": "herself",
    },
    "male": {
        "subject": "he", "object": "him", "determiner": "his", "possessive": "his",
        "reflexive": "himself",
    },
}  # fmt: skip
_CASES: dict[str, Case] = {
    "he": "subject", "she": "subject", "him": "object", "hers": "possessive",
    "himself": "reflexive", "herself": "reflexive",
}  # fmt: skip
_TITLES: dict[str, tuple[TitleKind, Gender]] = {
    "mr": ("plain", "male"), "mrs": ("plain", "female"), "ms": ("plain", "female"),
    "miss": ("plain", "female"), "sir": ("noble", "male"), "lady": ("noble", "female"),
}  # fmt: skip
_NEW_TITLE: dict[tuple[TitleKind, Gender], str] = {
    ("plain", "male"): "Mr.", ("plain", "female"): "Ms.",
    ("noble", "male"): "Sir", ("noble", "female"): "Lady",
}  # fmt: skip


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Tags and words that show that no noun follows "his" or "her": "it was his.", "told her that"
_NO_NOUN_TAGS = frozenset(
    {".", ",", ":", "''", "-RRB-", "IN", "CC", "TO", "MD", "VBD", "VBZ", "VBP", "VB", "DT", "PRP",
     "PRP$", "WDT", "WP", "WRB", "EX", "RP", "POS"}
)  # fmt: skip
_NO_NOUN_WORDS = _set(
    """
    a about after again against all an and any are as at away back because before but by can
    could did do does down during every for from had has have he here how i if in into is it
    later may might must nor not of off on or out over say says said shall she should since so
    some than that the then there they this those through to today told under until up was we
    were what when where whether which while who whom why will with without would yesterday yet
    you
    """
)


def pronoun_case(
    word: str, *, tag: str = "", next_word: str = "", next_tag: str = ""
) -> Case | None:
    """Return the case of a gendered third-person pronoun; None for any other word.

    "her" is a determiner or an object, "his" a determiner or possessive. The Penn tags decide if
    given (``PRP$`` or ``PRP``, and the tag of the next word), else the next word does.
    """
    lower_word = word.lower()
    if lower_word in _CASES:
        return _CASES[lower_word]
    if lower_word == "his":
        return "possessive" if _ends_phrase(next_word, next_tag) else "determiner"
    if lower_word != "her":
        return None
    if tag:
        return "determiner" if tag == "PRP$" else "object"
    return "object" if _ends_phrase(next_word, next_tag) else "determiner"


def _ends_phrase(next_word: str, next_tag: str) -> bool:
    if not next_word or not any(char.isalnum() for char in next_word):
        return next_word not in {"``", "“", '"', "$"}
    return next_tag in _NO_NOUN_TAGS if next_tag else next_word.lower() in _NO_NOUN_WORDS


def title_kind(word: str) -> TitleKind | None:
    """Return the kind of a gendered title, with or without its full stop; None for other words."""
    title = _TITLES.get(word.lower().removesuffix("."))
    return None if title is None else title[0]


def write_pronoun(original: str, case: Case, gender: Gender) -> str:
    """Return the pronoun of `gender`, capitalised as `original` is."""
    return match_case(original, PRONOUNS[gender][case])


def write_title(original: str, gender: Gender) -> str:
    """Return `original` if its gender is `gender`, else the title of the other gender."""
    kind, original_gender = _TITLES[original.lower().removesuffix(".")]
    return original if original_gender == gender else match_case(original, _NEW_TITLE[kind, gender])


def match_case(original: str, word: str) -> str:
    """Return `word` in the letter case of `original`."""
    if len(original) > 1 and original.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if original[:1].isupper() else word
