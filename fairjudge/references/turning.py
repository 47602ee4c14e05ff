"""Clauses of the articles turned into questions."""

# ruff: noqa: SIM905 - word lists read better as running text than as literals

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fairjudge.references import lexicon as lex
from fairjudge.references.naming import is_name, same_term, term_of
from fairjudge.references.syntax import Clause, is_count
from fairjudge.references.topics import Parsed, Topic

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

MAX_PREDICATE = 8
"""Words of a clause kept after its subject; longer predicates carry one article's detail."""

_LEFT_OUT = frozenset(
    "advcl parataxis relcl punct cc conj ccomp npadvmod advmod nsubj nsubjpass mark intj".split()
)
_STATES = frozenset(("back", "home", "able", "open", "ready", "available"))
"""What "be" needs beside it for a time to be asked of it."""
_PERSONAL = frozenset(
    "i you he she it we they me him her us them my your his its our this that these those".split()
)


def turned_counts(articles: Sequence[Parsed]) -> Iterator[str]:
    """Yield "How many people were told to leave their homes?" for what clauses count."""
    for clause in _clauses(articles):
        subject = clause.subject
        if subject is None or subject.head != clause.verb or clause.lemma in lex.SAY_VERBS:
            continue
        noun = _counted_subject(subject)
        if noun is None or noun.lemma_.lower() in lex.UNITS:
            continue
        words = _predicate(clause.verb, base=False)
        if words:
            yield f"How many {noun.lower_} {' '.join(words)}?"
        if clause.passive and clause.verb.tag_ == "VBN":
            yield f"How many {noun.lower_} were {clause.verb.lower_}?"
    yield from _counted_objects(articles)


def _counted_objects(articles: Sequence[Parsed]) -> Iterator[str]:
    """Yield "How many people were injured?" for "injuring 14 people"."""
    participles = {
        c.lemma: c.verb.lower_ for c in _clauses(articles) if c.verb.tag_ == "VBN" and c.passive
    }
    for clause in _clauses(articles):
        for noun in clause.objects:
            counted = (
                noun.pos_ == "NOUN" and noun.tag_ == "NNS" and any(is_count(c) for c in noun.lefts)
            )
            if counted and clause.lemma in participles and noun.lemma_.lower() not in lex.UNITS:
                yield f"How many {noun.lower_} were {participles[clause.lemma]}?"


def _counted_subject(subject: Token) -> Token | None:
    if subject.pos_ == "NOUN" and subject.tag_ == "NNS":
        return subject if any(is_count(c) for c in subject.lefts) else None
    if is_count(subject):
        for preposition in subject.children:
            if preposition.lower_ == "of":
                return next((c for c in preposition.children if c.tag_ == "NNS"), None)
    return None


def turned_times(articles: Sequence[Parsed], topics: Sequence[Topic]) -> Iterator[str]:
    """Yield "When will families be back in their beds?" for what clauses foresee at a time."""
    for clause in _clauses(articles):
        subject = clause.subject
        if "future" not in clause.modality and "duty" not in clause.modality:
            continue
        if subject is None or subject.pos_ not in ("NOUN", "PROPN") or clause.passive:
            continue
        perfect = any(c.dep_ == "aux" and c.lemma_ == "have" for c in clause.verb.children)
        if clause.lemma not in lex.TIMED_VERBS and clause.lemma != "be":
            continue
        if perfect or not any(t.ent_type_ in ("DATE", "TIME") for t in clause.verb.subtree):
            continue
        if not any(same_term(topic.term, term_of(subject)) for topic in topics):
            continue
        phrase, words = _noun_phrase(subject), _predicate(clause.verb, base=True)
        if phrase and words:
            yield f"When will {phrase} {' '.join(words)}?"


def _noun_phrase(noun: Token) -> str:
    """Return a short phrase that stands on its own, or nothing."""
    kept = [t for t in noun.lefts if t.dep_ in ("det", "compound", "amod", "poss")]
    if any(t.lower_ in _PERSONAL or t.lower_ in ("a", "an", "some") for t in kept):
        return ""
    first = kept[0].i if kept else noun.i
    phrase = noun.doc[first : noun.i + 1]
    text = phrase.text if is_name(phrase[0]) else phrase.text[0].lower() + phrase.text[1:]
    if any(t.like_num or t.is_punct or t.lower_ in ("any", "no", "every") for t in phrase):
        return ""
    bare = not kept and noun.tag_ == "NN" and not is_name(noun)
    return "" if bare else text


def _predicate(verb: Token, *, base: bool) -> list[str]:
    """Return a verb with what completes it, without its time, its asides and its auxiliaries.

    With ``base`` the verb is put in its base form, to follow "will".
    """
    kept: list[Token] = []
    for child in verb.children:
        aside = child.dep_ in _LEFT_OUT or (base and child.dep_ in ("aux", "neg"))
        aside = aside and not (verb.lemma_ == "be" and child.lower_ in ("back", "home"))
        if not aside and not _is_time(child):
            kept.extend(t for t in child.subtree if not t.is_space)
    after = [t for t in kept if t.i > verb.i]
    before = [t for t in kept if t.i < verb.i and t.dep_ in ("aux", "auxpass", "neg")]
    if any(t.lower_ in _PERSONAL or t.is_punct or t.like_num for t in after):
        return []
    if verb.lemma_ == "be" and not any(t.lower_ in _STATES for t in after):
        return []
    words = [t.text for t in (*before, *after)]
    words.insert(len(before), verb.lemma_ if base else verb.text)
    return words if len(words) <= MAX_PREDICATE else []


def _is_time(token: Token) -> bool:
    return any(t.ent_type_ in ("DATE", "TIME") for t in token.subtree)


def _clauses(articles: Sequence[Parsed]) -> Iterator[Clause]:
    for sentences in articles:
        for sentence in sentences:
            yield from sentence.clauses
