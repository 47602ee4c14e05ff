"""What a cluster speaks of: people, bodies and things that several articles name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairjudge.references import lexicon as lex
from fairjudge.references.naming import Term, is_name, same_name, surface_words, term_of
from fairjudge.references.syntax import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

Parsed = tuple[Sentence, ...]
"""The parsed sentences of one article."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A person, body or thing, with the words to ask about it.

    ``phrase`` is fit to stand in a question ("the fire", "Mayor Luis Ferreira", "inflation");
    ``articles`` are the positions of the articles that name it.
    """

    term: Term
    phrase: str
    plural: bool
    agent: bool
    single: bool
    """Spoken of as one of a kind that may or may not come ("a recession")."""
    articles: frozenset[int]


@dataclass(slots=True)
class _Tally:
    term: Term
    forms: Counter[tuple[str, bool]] = field(default_factory=Counter)
    determiners: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    articles: set[int] = field(default_factory=set)


def find_topics(articles: Sequence[Parsed], *, at_least: int) -> tuple[Topic, ...]:
    """Return what at least `at_least` articles name, most widely named first."""
    heads = [(number, token) for number, some in enumerate(articles) for token in _noun_heads(some)]
    uses = Counter(term_of(token).name for _, token in heads if is_name(token))
    names: list[_Tally] = []
    bearers = {name: _bearer(names, name) for name, _ in uses.most_common()}
    tallies: dict[str, _Tally] = {}
    for number, token in heads:
        tally = bearers[term_of(token).name] if is_name(token) else _noun_tally(tallies, token)
        _count(tally, token, number)
    found = [t for t in (*names, *tallies.values()) if len(t.articles) >= at_least]
    if any(_is_body(tally) for tally in found):
        found = [tally for tally in found if tally.term.head not in _NAMELESS]
    found.sort(key=lambda t: (-len(t.articles), -t.forms.total(), t.term.head))
    return tuple(_topic(tally) for tally in found)


def _noun_heads(sentences: Parsed) -> Iterator[Token]:
    for sentence in sentences:
        for token in sentence.doc:
            if token.pos_ not in ("NOUN", "PROPN") or token.dep_ in (
                "compound",
                "flat",
                "npadvmod",
            ):
                continue
            if token.lemma_.lower() in lex.VAGUE_NOUNS or not token.text[0].isalpha():
                continue
            if token.ent_type_ not in ("DATE", "TIME", "MONEY", "PERCENT", "CARDINAL", "QUANTITY"):
                yield token


def _bearer(names: list[_Tally], name: tuple[str, ...]) -> _Tally:
    """Return the tally of whom `name` names; more frequent names have come before."""
    for tally in names:
        if same_name(tally.term.name, name):
            return tally
    names.append(_Tally(Term(name[-1].lower(), name, frozenset())))
    return names[-1]


def _noun_tally(tallies: dict[str, _Tally], token: Token) -> _Tally:
    term = term_of(token)
    return tallies.setdefault(term.head, _Tally(Term(term.head, (), frozenset())))


def _count(tally: _Tally, token: Token, number: int) -> None:
    words = surface_words(token)
    plural = token.tag_ in ("NNS", "NNPS")
    tally.forms[(" ".join(words), plural)] += 1
    tally.determiners[_determiner(token)] += 1
    tally.labels[token.ent_type_] += 1
    tally.articles.add(number)


def _determiner(token: Token) -> str:
    for child in token.lefts:
        if child.dep_ == "det":
            word = child.lower_
            return {"an": "a", "this": "the", "that": "the"}.get(word, word)
        if child.dep_ == "poss":
            return "the"
    return ""


def _topic(tally: _Tally) -> Topic:
    words, plural = _best_form(tally)
    determiner = _chosen_determiner(tally, plural=plural)
    if determiner == "a" and words[0].lower() in "aeiou":
        determiner = "an"
    label = tally.labels.most_common(1)[0][0] if tally.term.name else ""
    return Topic(
        term=_refined(tally.term, words),
        phrase=f"{determiner} {words}".strip(),
        plural=plural,
        agent=label in ("PERSON", "ORG", "GPE", "NORP")
        or (not tally.term.name and _is_group(tally.term.head)),
        single=determiner in ("a", "an"),
        articles=frozenset(tally.articles),
    )


def _is_body(tally: _Tally) -> bool:
    """Whether a name is that of a company or another body: no person and no place."""
    persons_and_places = sum(tally.labels[label] for label in ("PERSON", "GPE", "LOC", "FAC"))
    return bool(tally.term.name) and persons_and_places * 2 < tally.labels.total()


def _is_group(head: str) -> bool:
    return head in _GROUPS


_NAMELESS = frozenset(map(lex.canonical, ("company", "club", "team", "chain", "agency")))
"""Words that stand for a body which the cluster also names."""
_GROUPS = frozenset(map(lex.canonical, lex.PEOPLE_GROUPS | lex.PEOPLE))


def _refined(term: Term, words: str) -> Term:
    """Keep the compound nouns of the wording, so that "interest rates" is not any rate."""
    if term.name:
        return term
    modifiers = frozenset(lex.canonical(word) for word in words.split()[:-1])
    return Term(term.head, (), modifiers)


def _best_form(tally: _Tally) -> tuple[str, bool]:
    """Return the usual wording; for names the fullest wording that is common."""
    total = tally.forms.total()
    common = [form for form, count in tally.forms.items() if count >= 0.2 * total]
    if tally.term.name and common:
        return max(common, key=lambda f: (min(len(f[0].split()), 3), tally.forms[f], f[0]))
    return max(tally.forms, key=lambda f: (tally.forms[f], f[0]))


def _chosen_determiner(tally: _Tally, *, plural: bool) -> str:
    total = tally.determiners.total()
    the, a = tally.determiners["the"], tally.determiners["a"]
    if the >= 0.4 * total and the >= a:
        return "the"
    if not plural and a >= 0.3 * total and not tally.term.name:
        return "a"
    if not plural and not tally.term.name and the + a >= 0.5 * total:
        return "the" if the >= a else "a"
    return ""
