"""How a person is spoken of: pronouns with their case, titles, and which word is which."""

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


# After "his" or "her" these show that no noun follows: "it was his.", "told her that"
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
    word: str, *, tag: str = "", following: str = "", tag_after: str = ""
) -> Case | None:
    """Return the case of a gendered third-person pronoun; None for any other word.

    "her" is a determiner or an object, "his" a determiner or possessive: the Penn tags decide
    where they are given (``PRP$`` against ``PRP``; what follows), else the following word does.
    """
    lowered = word.lower()
    if lowered in _CASES:
        return _CASES[lowered]
    if lowered == "his":
        return "possessive" if _ends_phrase(following, tag_after) else "determiner"
    if lowered != "her":
        return None
    if tag:
        return "determiner" if tag == "PRP$" else "object"
    return "object" if _ends_phrase(following, tag_after) else "determiner"


def _ends_phrase(following: str, tag_after: str) -> bool:
    if not following or not any(char.isalnum() for char in following):
        return following not in {"``", "“", '"', "$"}
    return tag_after in _NO_NOUN_TAGS if tag_after else following.lower() in _NO_NOUN_WORDS


def title_kind(word: str) -> TitleKind | None:
    """Return the kind of a gendered title, with or without its full stop; None for other words."""
    title = _TITLES.get(word.lower().removesuffix("."))
    return None if title is None else title[0]


def write_pronoun(original: str, case: Case, gender: Gender) -> str:
    """Return the pronoun of `gender`, capitalised as `original` is."""
    return like(original, PRONOUNS[gender][case])


def write_title(original: str, gender: Gender) -> str:
    """Return `original` where it fits `gender` already, else the other title of its kind."""
    kind, of = _TITLES[original.lower().removesuffix(".")]
    return original if of == gender else like(original, _NEW_TITLE[kind, gender])


def like(original: str, word: str) -> str:
    """Return `word` in the letter case of `original`."""
    if len(original) > 1 and original.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if original[:1].isupper() else word
