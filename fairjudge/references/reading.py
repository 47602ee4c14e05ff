"""From the words of a question to what it asks: the kind of answer, and of whom or what."""

# ruff: noqa: SIM905 - word lists read better as running text than as literals

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fairjudge.references.naming import Term, term_of
from fairjudge.references.syntax import Clause, Sentence, parse_texts

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

Kind: TypeAlias = Literal[
    "cause", "future", "duty", "effect", "likely", "say", "react", "opinion", "level",
    "how_many", "how_much", "when", "where", "who", "why", "whether", "what",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a question asks.

    ``topic`` is what it is about, mostly the subject; ``verb`` the representative of its main
    verb; ``other`` a second thing it names; ``keys`` all its content words.
    """

    kind: Kind
    text: str
    topic: Term | None = None
    verb: str | None = None
    other: Term | None = None
    modality: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


_TOPIC_FORMS: tuple[tuple[Kind, str], ...] = (
    ("cause", r"what (?:caused|causes|is causing|could cause|is to blame for) (?P<t>.+)"),
    ("cause", r"who is (?:to blame|responsible) for (?P<t>.+)"),
    ("future", r"what (?:is expected to|could|will|might|may) happen (?:to|with) (?P<t>.+)"),
    ("future", r"what (?:will|might|could|is) (?P<t>.+?) (?:do next|expected to do)"),
    ("future", r"what (?:does|do) (?P<t>.+?) (?:plan|intend|expect) to do"),
    ("duty", r"what should (?P<t>.+?) do(?: about (?P<o>.+))?"),
    ("duty", r"what should (?:happen to|be done about) (?P<t>.+)"),
    ("effect", r"what effect (?:does|did|do|will|could|would) (?P<t>.+?) have(?: on (?P<o>.+))?"),
    ("effect", r"what effect (?:has|have) (?P<t>.+?) had(?: on (?P<o>.+))?"),
    ("effect", r"how (?:does|did|do|will|could|would|might) (?P<t>.+?) affect (?P<o>.+)"),
    ("likely", r"how likely (?:is|are) (?P<t>.+)"),
    ("opinion", r"what (?:do|did) people think (?:of|about) (?P<t>.+)"),
    ("opinion", r"what (?:is|was|are|were) (?P<t>.+) like"),
    ("say", r"what (?:does|did|do) (?P<t>.+?) (?:say|think)(?: (?:about|of) (?P<o>.+))?"),
    ("react", r"how (?:does|did|do) (?P<t>.+?) (?:respond|react)(?: to (?P<o>.+))?"),
    ("react", r"how (?:has|have) (?P<t>.+?) (?:responded|reacted)(?: to (?P<o>.+))?"),
    ("level", r"how (?:high|low|large|big) (?:is|was|are|were) (?P<t>.+)"),
)  # fmt: skip
_PATTERNS = tuple((kind, re.compile(form + r"\?", re.IGNORECASE)) for kind, form in _TOPIC_FORMS)
_OPENINGS: tuple[tuple[Kind, str], ...] = (
    ("how_many", "how many"),
    ("how_much", "how much"),
    ("when", "when"),
    ("where", "where"),
    ("who", "who"),
    ("why", "why"),
    ("what", "what"),
)
_POLAR = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "will",
        "would",
        "can",
        "could",
        "should",
        "may",
        "might",
        "must",
    ]
)


def read_questions(texts: tuple[str, ...]) -> tuple[Query, ...]:
    """Read questions, in order. A question of no known form has kind ``"what"``."""
    return tuple(_read(sentence) for sentence in parse_texts(texts))


def _read(sentence: Sentence) -> Query:
    text = sentence.span.text.strip()
    for kind, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found:
            groups = found.groupdict()
            return Query(
                kind=kind,
                text=text,
                topic=_term_at(sentence, found.span("t")),
                other=_term_at(sentence, found.span("o")) if groups.get("o") else None,
                keys=sentence.keys,
            )
    query = _read_clause(sentence, text)
    return query if query.verb is not None and query.topic is not None else _reread(query)


_INVERTED = re.compile(
    r"(?:how much |when |why |where )?(?:did|does|do|will|should|would|could) (?P<rest>.+)\?",
    re.IGNORECASE,
)


def _reread(query: Query) -> Query:
    """Read a question again as a statement, where its verb was taken for a noun.

    "When will the mill reopen?" is tried as "The mill will reopen", with the verb at each place.
    """
    found = _INVERTED.fullmatch(query.text)
    if found is None:
        return query
    words = found["rest"].split()
    for place in range(len(words) - 1, 0, -1):
        subject, predicate = " ".join(words[:place]), " ".join(words[place:])
        sentence = parse_texts((f"{subject} will {predicate}.",))[0]
        main = next((c for c in sentence.clauses if c.verb.dep_ == "ROOT"), None)
        if main is not None and main.subject is not None and main.verb.text == words[place]:
            topic, other = _participants(main, query.kind)
            if topic is not None:
                return replace(
                    query,
                    topic=term_of(topic),
                    verb=main.key,
                    other=None if other is None else term_of(other),
                )
    return query


def _term_at(sentence: Sentence, place: tuple[int, int]) -> Term | None:
    phrase = sentence.doc.char_span(*place, alignment_mode="expand")
    if phrase is None:
        return None
    noun = phrase.root
    if noun.pos_ not in ("NOUN", "PROPN"):
        nouns = [token for token in phrase if token.pos_ in ("NOUN", "PROPN")]
        noun = nouns[-1] if nouns else noun
    return term_of(noun)


def _read_clause(sentence: Sentence, text: str) -> Query:
    kind = _kind(text)
    main = next((c for c in sentence.clauses if c.verb.dep_ == "ROOT"), None)
    if main is None and sentence.clauses:
        main = sentence.clauses[0]
    topic, other = (None, None) if main is None else _participants(main, kind)
    return Query(
        kind=kind,
        text=text,
        topic=None if topic is None else term_of(topic),
        verb=None if main is None else main.key,
        other=None if other is None else term_of(other),
        modality=frozenset() if main is None else main.modality,
        keys=sentence.keys,
    )


def _kind(text: str) -> Kind:
    lowered = text.lower()
    for kind, opening in _OPENINGS:
        if lowered.startswith(opening + " "):
            return kind
    return "whether" if lowered.split(" ")[0] in _POLAR else "what"


def _participants(main: Clause, kind: Kind) -> tuple[Token | None, Token | None]:
    """Return what the question is about, and the second thing that it names."""
    nouns = [t for t in (main.subject, *main.objects) if t is not None]
    nouns += [noun for _, noun in main.obliques]
    named = [t for t in nouns if t.pos_ in ("NOUN", "PROPN", "ADJ") and not t.tag_.startswith("W")]
    if kind == "how_many":
        counted = next((t for t in named if any(c.lower_ == "many" for c in t.lefts)), None)
        if counted is not None:
            rest = [t for t in named if t != counted]
            return counted, (rest[0] if rest else None)
    return (named[0] if named else None), (named[1] if len(named) > 1 else None)
