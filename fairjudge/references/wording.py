"""Clauses as words to ask with: who may act, and how a verb opens a question."""

# ruff: noqa: SIM905 - a word list reads better as running text than as literals

from __future__ import annotations

from typing import TYPE_CHECKING

from fairjudge.references.phrases import phrase_of
from fairjudge.references.syntax import Clause

if TYPE_CHECKING:
    from spacy.tokens import Token

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
