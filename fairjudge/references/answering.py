"""Which sentences answer a question: near in meaning, and of the kind that the question asks for.

Two tests. The sentence must stand out among all sentences of the cluster by its cosine with the
question: the model was trained on questions with their answers, and the cluster shows what any
sentence on the story has in common with any question on it. And it must hold what the question
word asks for: a number of the counted things, a time, money, a cause, a demand, a judgement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fairjudge.references import lexicon as lex
from fairjudge.references.syntax import Clause, Sentence, is_count

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

Kind: TypeAlias = Literal[
    "count", "amount", "time", "cause", "blame", "duty", "opinion", "likely", "effect", "future",
    "say", "open",
]  # fmt: skip

_OPENINGS: tuple[tuple[Kind, str], ...] = (
    ("count", r"how many\b"),
    ("amount", r"how (?:much|high|low|large|big)\b"),
    ("time", r"when\b|how (?:long|soon)\b"),
    ("cause", r"why\b|what (?:caused|causes|is causing|could cause|led to|is behind|was behind)\b"),
    ("blame", r"who (?:is|was) (?:to blame|responsible)\b"),
    ("likely", r"how likely\b"),
    ("opinion", r"what (?:do|does|did) .+ think\b|how (?:do|did) .+ feel\b"),
    ("say", r"what (?:do|does|did) .+ say\b|how (?:do|does|did|has|have) .+ (?:respond|react)"),
    ("effect", r"what effects?\b|how (?:do|does|did|will|would|has|have|could) .+ affect(?:ed)?\b"),
    ("duty", r"(?:what|who|how)? ?should\b"),
    ("future", r"what (?:will|might|could|is expected|are)\b|(?:how )?will\b"),
)
_PATTERNS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _OPENINGS)


@dataclass(frozen=True, slots=True)
class Query:
    """A question and the kind of answer that it asks for.

    ``counted`` is the noun that "how many" counts; ``subject`` the words that name whom or what a
    question of duty, future or speech is about, empty where an answer need not name it.
    """

    text: str
    kind: Kind
    counted: str = ""
    subject: frozenset[str] = frozenset()


def read_question(text: str) -> Query:
    """Tell from its wording what a question asks for; ``"open"`` where that is not known."""
    stripped = text.strip()
    kind: Kind = next((k for k, pattern in _PATTERNS if pattern.match(stripped)), "open")
    counted = re.match(r"how many ([\w-]+)", stripped, re.IGNORECASE)
    noun = counted[1] if counted else ""
    return Query(text=stripped, kind=kind, counted=noun, subject=_subject(stripped))


_SUBJECT_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"what (?:should|will|might|do|does|did) (?P<s>.+?) (?:do|say)(?: next)?\?",
        r"what (?:will|might|could|is expected to) happen to (?P<s>.+?)\?",
        r"how (?:high|low|likely) (?:is|are|was|were) (?P<s>.+?)\?",
    )
)


def _subject(text: str) -> frozenset[str]:
    found = next(filter(None, (form.fullmatch(text) for form in _SUBJECT_FORMS)), None)
    words = re.findall(r"\w+", found["s"].lower()) if found else []
    return frozenset(word for word in words if word not in ("a", "an", "the"))


def fitness(query: Query, sentence: Sentence) -> float:
    """Return how far a sentence is of the kind asked for: 1 clearly, 0.5 perhaps, 0 not."""
    if sentence.span.text.rstrip("\"'\u201d\u2019) ").endswith("?"):
        return 0.0
    if not sentence.clauses:
        return 0.0
    test = _BY_QUESTION.get(query.kind)
    fit = test(query, sentence) if test else _ALONE[query.kind](sentence)
    return fit if _names_subject(query, sentence) else 0.0


def _names_subject(query: Query, sentence: Sentence) -> bool:
    """Whether a sentence has the question's subject where the question has it."""
    if not query.subject:
        return True
    if not re.search(r"\b(?:do|say|next)\b", query.text.lower()):
        return any(t.lower_ in query.subject for t in sentence.doc)
    suiting = [clause for clause in sentence.clauses if _suits(query.kind, clause)]
    named = sentence.clauses if suiting and query.kind == "future" else suiting
    return any(c.subject is not None and c.subject.lower_ in query.subject for c in named)


def _suits(kind: Kind, clause: Clause) -> bool:
    if kind == "say":
        return clause.lemma in lex.SAY_VERBS
    return kind in clause.modality and not clause.passive


def _count(query: Query, sentence: Sentence) -> float:
    asked = query.counted.lower()
    for number in sentence.numbers:
        if is_count(number):
            noun = counted_noun(number)
            if noun is None and lex.is_people(asked) and number.dep_.startswith(("nsubj", "dobj")):
                return 0.5
            if noun is not None and lex.same_count(asked, noun):
                return 1.0
    for token in sentence.doc:  # "not one tram", "no tram", "a single tram"
        none = token.lower_ in ("no", "single") or (
            token.lower_ == "one" and token.i and token.nbor(-1).lower_ == "not"
        )
        if none and token.head.pos_ == "NOUN" and lex.same_count(asked, token.head.lemma_):
            return 1.0
    return 0.0


def counted_noun(number: Token) -> str | None:
    """Return the lemma of the noun that `number` counts, or None where it stands alone."""
    here = number
    while here.dep_ in ("nummod", "compound", "quantmod", "amod") and here.head.i != here.i:
        here = here.head
        if here.pos_ in ("NOUN", "PROPN"):
            return str(here.lemma_)
    for preposition in number.children:
        if preposition.lower_ == "of":
            return next((str(c.lemma_) for c in preposition.children if c.dep_ == "pobj"), None)
    return None


def _amount(query: Query, sentence: Sentence) -> float:
    cost = re.match(r"how much (?!did)", query.text, re.IGNORECASE) is not None
    for number in sentence.numbers:
        money = number.ent_type_ == "MONEY" or number.head.lemma_.lower() in lex.CURRENCIES
        if money or (not cost and number.ent_type_ in ("PERCENT", "QUANTITY")):
            return 1.0
    unknown = sentence.lemmas & lex.COST_WORDS and sentence.lemmas & lex.UNKNOWN_WORDS
    return 1.0 if cost and unknown else 0.0


def _time(query: Query, sentence: Sentence) -> float:
    clock = not query.text.lower().startswith("how long")
    kinds = ("DATE", "TIME") if clock else ("DATE",)
    timed = any(t.ent_type_ in kinds for t in sentence.doc)
    timed = timed or bool(sentence.lemmas & lex.TIME_WORDS)
    if not timed:
        return 0.0
    if not re.search(r"\bwill\b", query.text, re.IGNORECASE):
        return 1.0
    if _moods(sentence) & {"future", "duty"} or sentence.lemmas & lex.OUTLOOK_WORDS:
        return 1.0
    return 0.0 if any(c.verb.tag_ in ("VBD", "VBN") for c in sentence.clauses) else 0.5


def _cause(query: Query, sentence: Sentence) -> float:
    """Tell causes by their words; else by what happened before, or is asked about the present."""
    asked = query.text.lower()
    causal = any(
        clause.lemma in lex.CAUSE_VERBS and not _names(clause.agent, asked)
        for clause in sentence.clauses
    )
    if causal or sentence.lemmas & (lex.CAUSE_WORDS - lex.CAUSE_VERBS):
        return 1.0
    if re.search(r"\bcould\b", asked) or "future" in _moods(sentence):
        return 0.0
    happened = [c for c in sentence.clauses if c.lemma != "be"]
    if re.search(r"\b(?:did|caused|led)\b", asked):
        happened = [c for c in happened if c.verb.tag_ in ("VBD", "VBN")]
    return 0.5 if happened else 0.0


def _names(token: Token | None, question: str) -> bool:
    return (
        token is not None and token.pos_ in ("NOUN", "PROPN") and token.lemma_.lower() in question
    )


def _blame(sentence: Sentence) -> float:
    if sentence.lemmas & lex.BLAME_WORDS:
        return 1.0
    return 0.5 if sentence.lemmas & lex.CAUSE_WORDS else 0.0


def _duty(sentence: Sentence) -> float:
    if "duty" in _moods(sentence) or sentence.lemmas & lex.DUTY_VERBS:
        return 1.0
    return (
        0.5 if re.search(r"\bhigh time\b|\bway out\b|\bcalls? for\b", sentence.span.text) else 0.0
    )


def _opinion(sentence: Sentence) -> float:
    verbs = {clause.lemma for clause in sentence.clauses}
    if sentence.lemmas & lex.EVALUATION_WORDS or verbs & lex.EVALUATION_VERBS:
        return 1.0
    spoken = any(t.lower_ in ("i", "we", "my", "our") for t in sentence.doc)
    return 0.5 if spoken or sentence.lemmas & lex.FEELING_WORDS else 0.0


def _likely(sentence: Sentence) -> float:
    return 1.0 if sentence.lemmas & lex.LIKELY_WORDS else 0.0


def _effect(sentence: Sentence) -> float:
    verbs = {clause.lemma for clause in sentence.clauses}
    if verbs & lex.EFFECT_VERBS:
        return 1.0
    return 0.5 if sentence.lemmas & lex.CHANGE_WORDS else 0.0


def _future(sentence: Sentence) -> float:
    if "future" in _moods(sentence):
        return 1.0
    return 0.5 if sentence.lemmas & lex.OUTLOOK_WORDS else 0.0


def _say(sentence: Sentence) -> float:
    verbs = {clause.lemma for clause in sentence.clauses}
    return 1.0 if verbs & lex.SAY_VERBS else 0.0


def _moods(sentence: Sentence) -> frozenset[str]:
    return frozenset(mood for clause in sentence.clauses for mood in clause.modality)


_BY_QUESTION: Mapping[Kind, Callable[[Query, Sentence], float]] = {
    "count": _count,
    "amount": _amount,
    "time": _time,
    "cause": _cause,
}
_ALONE: Mapping[Kind, Callable[[Sentence], float]] = {
    "blame": _blame,
    "duty": _duty,
    "opinion": _opinion,
    "likely": _likely,
    "effect": _effect,
    "future": _future,
    "say": _say,
    "open": lambda _: 0.5,
}
