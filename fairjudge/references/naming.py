"""Who and what a sentence speaks of: noun phrases as comparable terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairjudge.references.lexicon import canonical

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

_COUNTRY_NAMES = {"america": "unitedstates", "us": "unitedstates", "usa": "unitedstates"}
_TITLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "mayor",
        "president",
        "senator",
        "councillor",
        "councilor",
        "chief",
        "coach",
        "judge",
        "chair",
        "chairman",
        "chairwoman",
        "minister",
        "governor",
        "professor",
        "sir",
        "captain",
        "sen",
        "rep",
        "gov",
        "prof",
        "secretary",
    ]
)


@dataclass(frozen=True, slots=True)
class Term:
    """A noun phrase reduced to what identifies it.

    ``head`` is the representative of the head noun. ``name`` holds the words of a proper name
    (empty for common nouns), ``modifiers`` the compound nouns before a common head.
    """

    head: str
    name: tuple[str, ...]
    modifiers: frozenset[str]


def term_of(token: Token) -> Term:
    """Return the term whose head is `token`; worked out once a token."""
    known: dict[int, Term] = token.doc.user_data.setdefault("fairjudge terms", {})
    if token.i not in known:
        known[token.i] = _term(token)
    return known[token.i]


def _term(token: Token) -> Term:
    if is_name(token):
        return Term(token.lower_, name_words(token), frozenset())
    return Term(canonical(token.lemma_), (), _modifiers(token))


def is_name(token: Token) -> bool:
    """Whether `token` heads a proper name, not a capitalised common noun."""
    if token.pos_ != "PROPN":
        return False
    starts = token.is_sent_start or token.i == 0
    return not (starts and token.ent_type_ == "" and not _name_parts(token)[:-1])


def name_words(token: Token) -> tuple[str, ...]:
    """Return the words of the proper name that `token` heads, titles left out."""
    words = [part.text for part in _name_parts(token)]
    kept = [word for word in words if word.lower().strip(".") not in _TITLES]
    return tuple(kept or words)


def surface_words(token: Token) -> tuple[str, ...]:
    """Return the words of `token`'s phrase that name it: compounds and the head, as written."""
    if is_name(token):
        return tuple(part.text for part in _name_parts(token))
    left = [c for c in token.lefts if c.dep_ == "compound" and c.pos_ in ("NOUN", "PROPN")]
    words = [part.text if part.pos_ == "PROPN" else part.lower_ for part in left]
    return (*words, token.lower_)


def _name_parts(token: Token) -> list[Token]:
    parts = [token]
    for child in reversed(list(token.lefts)):
        if child.dep_ in ("compound", "flat") and child.pos_ == "PROPN":
            parts[:0] = [*(c for c in child.lefts if c.dep_ == "compound"), child]
    parts.extend(c for c in token.rights if c.dep_ == "flat")
    return parts


def _modifiers(token: Token) -> frozenset[str]:
    return frozenset(
        canonical(child.lemma_) for child in token.lefts if child.dep_ in ("compound", "nmod")
    )


@lru_cache(maxsize=100_000)
def same_name(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two names can stand for one bearer: equal, part of, short form, or initials."""
    one, two = [tuple(_plain(word) for word in name) for name in (left, right)]
    if _joined(one) == _joined(two):
        return True
    short, full = sorted((one, two), key=len)
    if len(short) < len(full) and set(short) <= set(full):
        return short[-1] == full[-1] or short[0] == full[0]
    if len(short) == 1 and len(full) > 1:
        initials = "".join(word[:1] for word in full if word not in ("of", "the", "and"))
        return short[0] == initials or (len(short[0]) >= 3 and full[0].startswith(short[0]))
    return False


def _plain(word: str) -> str:
    return word.lower().replace(".", "").removesuffix("'s").removesuffix("\u2019s")


def _joined(name: tuple[str, ...]) -> str:
    joined = "".join(name)
    return _COUNTRY_NAMES.get(joined, joined)


def same_term(one: Term, other: Term) -> bool:
    """Whether two terms can stand for the same person, body or thing."""
    if one.name:
        return bool(other.name) and same_name(one.name, other.name)
    if other.name or one.head != other.head:
        return False
    return not (one.modifiers and other.modifiers) or bool(one.modifiers & other.modifiers)
