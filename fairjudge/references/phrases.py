"""Phrases and clauses as words to ask with, as keys to compare, and as answers."""

# ruff: noqa: SIM905 - a word list reads better as running text than as literals

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

    from fairjudge.references.syntax import Clause

MAX_WORDS = 6
"""The longest phrase in a question."""
_KEPT = frozenset(("det", "compound", "amod", "poss", "nmod", "case", "flat"))
_DATED = ("DATE", "TIME", "MONEY", "PERCENT", "CARDINAL", "ORDINAL")
_POINTING = frozenset(("this", "these", "that", "those"))
_REFERRING = _POINTING | {"such", "it", "its", "their", "his", "her"}
_POSSESSIVE = ("'s", "\u2019s")
_BARE = frozenset(("inflation", "unemployment", "police", "growth", "congress", "parliament"))
"""Singular nouns that stand without an article."""
ACTORS = ("PERSON", "ORG", "GPE", "NORP")
"""Kinds of names of those who act."""
_PERSONS = frozenset(
    """people person man woman child student teacher parent family resident victim passenger worker
    employee staff official officer police authority government administration ministry minister
    president governor mayor senator lawmaker councillor council committee court judge jury
    prosecutor lawyer attorney expert scientist researcher analyst economist doctor critic
    supporter opponent activist protester group organization organisation company firm union
    agency bank airline publisher publicist spokesman spokeswoman spokesperson leader chief
    executive director manager owner investigator witness source outlet newspaper media magazine
    website network rebel militant soldier force troop army military party campaign team club
    player coach fan user customer driver engineer pilot candidate singer actor
    civilian survivor villager migrant refugee homeowner tenant commuter
    hostage""".split()
)
"""Words for people and bodies."""
_BE = frozenset(("is", "are", "was", "were"))
MODALS = frozenset(("will", "would", "could", "should", "may", "might", "must"))


def head_key(token: Token) -> str:
    """Return what phrases about the same person or thing have in common: their head."""
    word = token.text if token.pos_ == "PROPN" else token.lemma_
    return str(word).lower().replace(".", "")


def phrase_of(token: Token) -> str:
    """Return the phrase of a noun, fit to stand in a question; empty where it is not.

    "A" and "this" become "the". Pronouns, and what a pronoun, a number or a date is part of, do
    not stand alone.
    """
    if token.pos_ not in ("NOUN", "PROPN") or token.ent_type_ in _DATED:
        return ""
    kept = sorted(_kept(token), key=lambda one: one.i)
    if any(_is_unclear(one) for one in kept):
        return ""
    words = [one.text if _has_capital(one) else one.lower_ for one in kept]
    if words[0] in _POINTING or words[0] in ("a", "an"):
        words[0] = "the"
    if kept[0].dep_ == "det" and words[0] != "the":
        return ""
    if len(kept) == 1 and token.tag_ == "NN" and token.lemma_ not in _BARE:
        return ""
    of = next((c for c in token.rights if c.lower_ == "of" and c.dep_ == "prep"), None)
    if of is not None:
        noun = next((c for c in of.children if c.dep_ == "pobj"), None)
        inner = "" if noun is None else phrase_of(noun)
        if not inner:
            return ""
        words += ["of", inner]
    return _joined(words)


def _has_capital(token: Token) -> bool:
    """Whether a word has a capital wherever it stands, as names and "Nicaraguan" have."""
    return bool(token.pos_ == "PROPN" or token.ent_type_ == "NORP")


def _is_unclear(token: Token) -> bool:
    return bool(
        token.pos_ == "PRON" or token.like_num or token.is_punct or token.tag_ in ("PRP$", "WP$")
    )


def _joined(words: list[str]) -> str:
    joined = " ".join(words)
    for mark in _POSSESSIVE:
        joined = joined.replace(f" {mark}", mark)
    whole = not joined.endswith(_POSSESSIVE)
    return joined if whole and len(joined.split()) <= MAX_WORDS else ""


def _kept(token: Token) -> list[Token]:
    found = [token]
    for child in token.children:
        if child.dep_ in _KEPT and (child.i < token.i or child.dep_ in ("case", "flat")):
            found += _kept(child)
    return found


def stands_alone(token: Token) -> bool:
    """Whether a phrase says what it means without what came before."""
    return token.pos_ != "PRON" and not any(c.lower_ in _REFERRING for c in token.lefts)


def answer_span(token: Token, *, leave_out: Token | None = None) -> tuple[int, int]:
    """Return the characters of a token's whole phrase, without relative clauses and asides.

    What stands on the other side of `leave_out` is left out.
    """
    inside = _phrase(token)
    if leave_out is not None:
        before = token.i < leave_out.i
        inside = [one for one in inside if (one.i < leave_out.i) == before]
    return _trimmed(inside)


def predicate_span(verb: Token, subject: Token) -> tuple[int, int]:
    """Return the characters of a verb's phrase after its subject."""
    return _trimmed(one for one in _phrase(verb) if one.i > subject.right_edge.i)


def _phrase(token: Token) -> list[Token]:
    noun = token.pos_ in ("NOUN", "PROPN")
    found = [token]
    for child in token.children:
        if not (noun and child.dep_ in ("relcl", "appos")):
            found += _phrase(child)
    return found


def _trimmed(tokens: Iterable[Token]) -> tuple[int, int]:
    inside = sorted(tokens, key=lambda token: token.i)
    while len(inside) > 1 and _is_mark(inside[-1]):
        inside.pop()
    while len(inside) > 1 and (_is_mark(inside[0]) or inside[0].lower_ == "that"):
        inside.pop(0)
    return inside[0].idx, inside[-1].idx + len(inside[-1])


def _is_mark(token: Token) -> bool:
    return bool(token.is_punct or token.is_space)


def is_person(token: Token) -> bool:
    """Whether a noun is a person, or a word for people and bodies."""
    return token.ent_type_ == "PERSON" or token.lemma_.lower() in _PERSONS


def is_somebody(token: Token) -> bool:
    """Whether one may ask who, and say so in a few words."""
    known = token.lemma_.lower() in _PERSONS if token.pos_ == "NOUN" else token.ent_type_ in ACTORS
    return known and not any(c.dep_ == "det" and c.lower_ == "no" for c in token.children)


def can_act(token: Token) -> bool:
    """Whether a subject is a noun and no date or sum."""
    return token.pos_ in ("NOUN", "PROPN") and token.ent_type_ not in ("DATE", "TIME", "MONEY")


def were(noun: Token) -> str:
    """Return "was", or "were" after a plural."""
    return "were" if noun.tag_ in ("NNS", "NNPS") else "was"


def particle(verb: Token) -> str:
    """Return " up" of "ripped up"."""
    return next((f" {c.lower_}" for c in verb.children if c.dep_ == "prt"), "")


def question_verb(verb: Token) -> tuple[str, str]:
    """Return the auxiliary that a question opens with and the rest of the verb, or nothing."""
    helpers = [c for c in verb.children if c.dep_ in ("aux", "auxpass") and c.i < verb.i]
    first = helpers[0].lower_ if helpers else ""
    rest = " ".join([*(c.lower_ for c in helpers[1:]), verb.text]) + particle(verb)
    if first in MODALS or first in ("has", "have", "had"):
        return first, rest
    passive = any(c.dep_ == "auxpass" for c in helpers)
    if first in _BE and (passive or verb.tag_ == "VBG"):
        return first, verb.text + particle(verb)
    aux = {"VBD": "did", "VBZ": "does", "VBP": "do"}.get(verb.tag_, "")
    if helpers or not aux or verb.lemma_ == "be":
        return "", ""
    return aux, verb.lemma_ + particle(verb)


def clause_question(word: str, clause: Clause) -> str:
    """Return a clause as a question after "when", "where" or "why"; nothing if it has no words."""
    who = "" if clause.subject is None else phrase_of(clause.subject)
    aux, rest = question_verb(clause.verb)
    what = phrase_of(clause.objects[0]) if clause.objects else ""
    if not who or not aux or (clause.objects and not what):
        return ""
    return " ".join(part for part in (word, aux, who, rest, what) if part) + "?"
