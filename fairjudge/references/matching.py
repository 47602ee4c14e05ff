"""Whether a sentence answers a question, by the words and the grammar it would need to do so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairjudge.references import lexicon as lex
from fairjudge.references.naming import ANYTHING, Term, refers
from fairjudge.references.reading import Kind, Query
from fairjudge.references.syntax import Clause, Sentence

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence that can answer: how firmly (0 to 1), and by which clause."""

    strength: float
    clause: Clause | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence with those before it in its article, nearest first."""

    sentence: Sentence
    before: tuple[Sentence, ...]

    def speaks_of(self, term: Term | None, token: Token | None) -> bool:
        """Whether `token` of this sentence stands for `term`."""
        return term is not None and refers(term, token, self.before)

    def mentions(self, term: Term | None) -> bool:
        """Whether any noun of the sentence stands for `term`."""
        return any(
            self.speaks_of(term, t) for t in self.sentence.doc if t.pos_ in ("NOUN", "PROPN")
        )


def match(query: Query, place: Place) -> Match | None:
    """Return how `place` answers `query`, or None when it does not."""
    if place.sentence.span.text.rstrip("\"'\u201d\u2019) ").endswith("?"):
        return None
    return max(_RULES[query.kind](query, place), key=lambda found: found.strength, default=None)


def loosely(query: Query) -> Query | None:
    """Return `query` with its topic left open, or None where that would ask something else.

    What matches the loose form has the grammar of an answer; whether it is on the topic must be
    told in another way, such as the closeness of the sentence to the question.
    """
    if query.kind not in ("cause", "effect", "likely", "future") or query.topic is None:
        return None
    return None if query.topic.name else replace(query, topic=ANYTHING)


def _cause(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        if _cause_verb(query, place, clause):
            yield Match(1.0, clause)
        if place.speaks_of(query.topic, clause.subject) and _has_reason(clause):
            yield Match(0.9, clause)
        if clause.lemma == "be" and _names_cause(clause) and place.mentions(query.topic):
            yield Match(0.9, clause)


def _names_cause(clause: Clause) -> bool:
    """Whether the clause says that something is the cause, the result, or to blame."""
    nouns = (*clause.objects, clause.subject, *clause.verb.children)
    return any(t is not None and t.lemma_.lower() in lex.CAUSE_NOUNS for t in nouns)


def _cause_verb(query: Query, place: Place, clause: Clause) -> bool:
    lemma = clause.lemma
    targets = {noun for prep, noun in clause.obliques if prep in ("to", "in", "for", "behind")}
    if lemma in ("blame", "attribute") or lemma in ("lead", "result", "contribute"):
        targets |= set(clause.patients)
    elif lemma in lex.CAUSE_VERBS:
        targets = set(clause.patients)
    elif lemma in lex.CAUSE_FROM_VERBS and any(prep == "from" for prep, _ in clause.obliques):
        targets = {clause.subject} if clause.subject is not None else set()
    else:
        return False
    return any(place.speaks_of(query.topic, noun) for noun in targets)


def _has_reason(clause: Clause) -> bool:
    """Whether the clause gives a reason: because, due to, thanks to."""
    for child in clause.verb.subtree:
        if child.dep_ == "mark" and child.lower_ == "because":
            return True
        if child.dep_ in ("prep", "pcomp", "amod", "acomp", "advmod") and child.lower_ in _REASON:
            return True
    return False


_REASON = frozenset(("because", "due", "owing", "thanks", "amid"))


def _future(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        if "future" in clause.modality and place.speaks_of(query.topic, clause.subject):
            yield Match(0.9 if clause.verb.pos_ == "VERB" else 0.8, clause)
        elif clause.lemma in lex.PREDICTING_VERBS and any(
            place.speaks_of(query.topic, noun) for noun in clause.objects
        ):
            yield Match(0.8, clause)


def _duty(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        if "duty" in clause.modality and place.speaks_of(query.topic, clause.subject):
            yield Match(1.0, clause)
        elif clause.lemma in lex.DUTY_VERBS and any(
            place.speaks_of(query.topic, noun) for noun in clause.objects
        ):
            yield Match(0.8, clause)


def _effect(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        complete = bool(clause.objects or clause.obliques) and clause.lemma in lex.EFFECT_VERBS
        if complete and place.speaks_of(query.topic, clause.agent):
            yield Match(1.0 if clause.objects else 0.8, clause)


def _likely(query: Query, place: Place) -> Iterator[Match]:
    if not place.sentence.lemmas & lex.LIKELY_WORDS:
        return
    for token in place.sentence.doc:
        if token.lemma_.lower() not in lex.LIKELY_WORDS:
            continue
        near = {token.head, *token.children, *token.head.children, *token.subtree}
        near |= {grandchild for child in token.children for grandchild in child.children}
        if any(place.speaks_of(query.topic, noun) for noun in near if noun != token):
            yield Match(1.0, _clause_of(place.sentence, token))


def _say(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        if clause.passive or clause.lemma not in lex.SAY_VERBS:
            continue
        if not place.speaks_of(query.topic, clause.subject):
            continue
        if query.other is None or place.mentions(query.other):
            yield Match(1.0 if _has_content(clause) else 0.6, clause)


def _has_content(clause: Clause) -> bool:
    return bool(clause.objects) or any(
        child.dep_ in ("ccomp", "xcomp", "advcl") for child in clause.verb.children
    )


def _react(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        complete = _has_content(clause) or bool(clause.obliques)
        reacts = clause.lemma in lex.REACT_VERBS and complete and not clause.passive
        if reacts and place.speaks_of(query.topic, clause.subject):
            yield Match(1.0, clause)


def _opinion(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        words = {token.lemma_.lower() for token in clause.verb.subtree}
        judged = clause.lemma in lex.EVALUATION_VERBS and any(
            place.speaks_of(query.topic, noun)
            for noun in (*clause.patients, *(noun for _, noun in clause.obliques))
        )
        called = bool(words & lex.EVALUATION_WORDS) and (
            place.speaks_of(query.topic, clause.subject)
            or any(place.speaks_of(query.topic, noun) for noun in clause.patients)
        )
        if judged or called:
            yield Match(1.0 if called else 0.8, clause)


def _level(query: Query, place: Place) -> Iterator[Match]:
    if not _has_amount(place.sentence.numbers):
        return
    for token in place.sentence.doc:
        if place.speaks_of(query.topic, token) and _has_amount(_clause_tokens(place, token)):
            yield Match(1.0, _clause_of(place.sentence, token))


def _clause_tokens(place: Place, token: Token) -> list[Token]:
    clause = _clause_of(place.sentence, token)
    return [] if clause is None else list(clause.verb.subtree)


def _has_amount(tokens: Sequence[Token]) -> bool:
    return any(
        t.like_num
        and (
            t.ent_type_ in ("PERCENT", "MONEY", "QUANTITY")
            or t.head.lemma_.lower() in lex.CURRENCIES
        )
        for t in tokens
    )


def _clause_of(sentence: Sentence, token: Token) -> Clause | None:
    """Return the smallest clause that holds `token`."""
    by_verb = {clause.verb.i: clause for clause in sentence.clauses}
    here = token
    while here.i not in by_verb and here.head.i != here.i:
        here = here.head
    return by_verb.get(here.i)


def _how_many(query: Query, place: Place) -> Iterator[Match]:
    if query.topic is None:
        return
    for number in place.sentence.numbers:
        if not is_count(number):
            continue
        clause = _clause_of(place.sentence, number)
        if clause is None or (query.verb is not None and clause.key != query.verb):
            continue
        noun = counted_noun(number)
        if noun is None:
            if query.topic.head in lex.PEOPLE and clause.subject == number:
                yield Match(0.9, clause)
        elif same_count(query.topic.head, noun.lemma_):
            yield Match(1.0, clause)


def is_count(token: Token) -> bool:
    """Whether `token` is a plain number of things: no date, share, sum of money or rank."""
    return bool(
        token.like_num
        and token.pos_ == "NUM"
        and token.ent_type_ not in ("DATE", "TIME", "PERCENT", "MONEY", "ORDINAL", "QUANTITY")
    )


def counted_noun(number: Token) -> Token | None:
    """Return the noun that `number` counts, or None where it stands alone."""
    here = number
    while here.dep_ in ("nummod", "compound", "quantmod") and here.head.i != here.i:
        here = here.head
        if here.pos_ in ("NOUN", "PROPN"):
            return here
    return None


def same_count(asked: str, noun: str) -> bool:
    """Whether two nouns count the same: equal, or both a word for people."""
    found = lex.canonical(noun)
    return asked == found or (asked in lex.PEOPLE and noun.lower() in lex.PEOPLE)


def _how_much(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        if _has_amount(list(clause.verb.subtree)):
            yield Match(1.0, clause)


def _clauses_with_verb(query: Query, place: Place) -> Iterator[Clause]:
    """Yield the clauses with the question's verb and the question's participants."""
    for clause in place.sentence.clauses:
        if clause.key != query.verb:
            continue
        around = [clause.subject, *clause.objects, *(noun for _, noun in clause.obliques)]
        if query.topic is not None and not any(place.speaks_of(query.topic, t) for t in around):
            continue
        if query.other is not None and not _complement(query.other, place, clause, around):
            continue
        yield clause


def _complement(other: Term, place: Place, clause: Clause, around: Sequence[Token | None]) -> bool:
    return any(place.speaks_of(other, t) for t in around) or any(
        lex.canonical(t.lemma_) == other.head for t in clause.verb.subtree
    )


def _when(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        if any(t.ent_type_ in ("DATE", "TIME") for t in clause.verb.subtree):
            yield Match(1.0, clause)


def _where(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        if any(noun.ent_type_ in ("GPE", "LOC", "FAC") for _, noun in clause.obliques):
            yield Match(1.0, clause)
        elif any(prep in ("in", "at", "near", "on") for prep, _ in clause.obliques):
            yield Match(0.6, clause)


def _who(query: Query, place: Place) -> Iterator[Match]:
    for clause in place.sentence.clauses:
        if clause.key == query.verb and clause.agent is not None:
            acted_on = [*clause.patients, *(noun for _, noun in clause.obliques)]
            if any(place.speaks_of(query.topic, noun) for noun in acted_on):
                yield Match(1.0, clause)


def _why(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        if _has_reason(clause) or clause.lemma in ("blame", "attribute"):
            yield Match(1.0, clause)


def _whether(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        yield Match(1.0, clause)


def _what(query: Query, place: Place) -> Iterator[Match]:
    for clause in _clauses_with_verb(query, place):
        if _has_content(clause):
            yield Match(1.0, clause)
    asked = query.keys - {"what", "how", "who", "which"}
    if asked and len(asked & place.sentence.keys) >= 0.75 * len(asked):
        yield Match(0.6)


_RULES: Mapping[Kind, Callable[[Query, Place], Iterator[Match]]] = {
    "cause": _cause,
    "future": _future,
    "duty": _duty,
    "effect": _effect,
    "likely": _likely,
    "say": _say,
    "react": _react,
    "opinion": _opinion,
    "level": _level,
    "how_many": _how_many,
    "how_much": _how_much,
    "when": _when,
    "where": _where,
    "who": _who,
    "why": _why,
    "whether": _whether,
    "what": _what,
}
