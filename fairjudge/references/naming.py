"""Who and what a sentence speaks of: noun phrases as comparable terms."""

# ruff: noqa: SIM905 - word lists read better as running text than as literals

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairjudge.references.lexicon import canonical
from fairjudge.references.syntax import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

_COUNTRY_NAMES = {"america": "unitedstates", "us": "unitedstates", "usa": "unitedstates"}
_PRONOUNS = frozenset(("it", "he", "she", "they", "him", "her", "them", "its", "his", "their"))
_STAND_INS = frozenset(
    [
        "company",
        "firm",
        "club",
        "team",
        "bank",
        "agency",
        "group",
        "city",
        "council",
        "chain",
        "airline",
    ]
)
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


ANYTHING = Term("*", (), frozenset())
"""The term that every noun stands for."""


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


def refers(term: Term, token: Token | None, before: Iterable[Sentence] = ()) -> bool:
    """Whether `token` stands for `term`; pronouns and "the company" look back.

    Parameters
    ----------
    before : iterable of Sentence
        The sentences before the one of `token`, nearest first.
    """
    if token is None:
        return False
    if term is ANYTHING:
        return token.pos_ in ("NOUN", "PROPN", "PRON")
    if _direct(term, token) or any(_direct(term, noun) for noun in _carried(token)):
        return True
    if term.name and token.lemma_.lower() in _STAND_INS and _definite(token):
        return any(_direct(term, noun) for noun in _recent_names(token, before))
    if token.lower_ in _PRONOUNS:
        earlier = _antecedent(token, before)
        return earlier is not None and _direct(term, earlier)
    return False


def _direct(term: Term, token: Token) -> bool:
    found = term_of(token)
    if term.name:
        return bool(found.name) and same_name(term.name, found.name)
    if found.name or found.head != term.head:
        return False
    return not (term.modifiers and found.modifiers) or bool(term.modifiers & found.modifiers)


_CARRIERS = frozenset(
    "increase rise surge rate level pace spike decline fall drop end bout wave threat risk rest "
    "half most much part some many majority one all impact effect".split()
)


def _carried(token: Token) -> list[Token]:
    """Return what a carrier noun is about: inflation, in "the rise in inflation"."""
    if token.lemma_.lower() not in _CARRIERS:
        return []
    inside = [c for c in token.lefts if c.dep_ == "compound"]
    for preposition in token.rights:
        if preposition.lower_ in ("of", "in"):
            inside.extend(c for c in preposition.children if c.dep_ == "pobj")
    return inside


def _definite(token: Token) -> bool:
    return any(c.lower_ == "the" for c in token.lefts) and not _modifiers(token)


def _recent_names(token: Token, before: Iterable[Sentence]) -> list[Token]:
    """Return the names in subject place, nearest sentence first, at most three sentences back."""
    found = [t for t in token.doc[: token.i] if t.dep_ == "nsubj" and is_name(t)][::-1]
    for sentence, _ in zip(before, range(3), strict=False):
        found.extend(t for t in sentence.doc if t.dep_.startswith("nsubj") and is_name(t))
    return found[:1]


def _antecedent(token: Token, before: Iterable[Sentence]) -> Token | None:
    """Return the subject that a pronoun most likely stands for: the nearest sentence's first."""
    nearest = next(iter(before), None)
    earlier: list[Token] = [*token.doc[: token.i], *(() if nearest is None else nearest.doc)]
    for noun in earlier:
        subject = noun.dep_ in ("nsubj", "nsubjpass") and noun.pos_ in ("NOUN", "PROPN")
        if subject and _agrees(token.lower_, noun):
            return noun
    return None


def _agrees(pronoun: str, noun: Token) -> bool:
    """Whether number and kind allow `pronoun` to stand for `noun`."""
    if pronoun in ("they", "them", "their"):
        return noun.tag_ in ("NNS", "NNPS")
    if pronoun in ("it", "its"):
        return noun.tag_ in ("NN", "NNP") and noun.ent_type_ != "PERSON"
    return noun.ent_type_ == "PERSON"
